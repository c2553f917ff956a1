"""The wire forms, and which of them a body is in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from transom.wire import anthropic, openai_chat
from transom.wire.form import Form

FORMS: Final[Mapping[str, Form]] = MappingProxyType({"anthropic": anthropic, "openai-chat": openai_chat})
"""Each api and its form."""
