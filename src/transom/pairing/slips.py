"""Slips mended, before anything else is looked at: each message by itself, by its form's own rules.

The rule: a message without slips stays the very object that was given.
"""

from __future__ import annotations

from collections.abc import Iterable

from transom.pairing.draft import reread
from transom.parts import Message
from transom.plan import Decision
from transom.wire import slips
from transom.wire.form import Form


def without_slips(messages: Iterable[Message], form: Form, quirks: frozenset[str], decisions: list[Decision]) -> list[Message]:
    """The messages as the provider takes each of them by itself."""
    out = []
    for message in messages:
        found = form.slips(message, quirks)
        if not found:
            out.append(message)
            continue
        out.append(reread(message, slips.mended(message.json, found), form))
        decisions += [Decision(verb="mend", seq=message.index, place=slip.place, reason=slip.what) for slip in found]
    return out
