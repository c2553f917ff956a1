"""Slips of `bedrock`: what its provider refuses in one message, in its own words."""

from __future__ import annotations

from collections.abc import Sequence

from transom.parts import Message
from transom.wire.form import Slip


def slips_of(_message: Message, _quirks: frozenset[str]) -> Sequence[Slip]:
    """Each slip of one message."""
    return ()
