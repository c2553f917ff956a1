"""The wire forms, and which of them a body is in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from transom.wire import anthropic, bedrock, blocks, gemini, openai_chat, openai_responses
from transom.wire.form import Form
from transom.wire.guess import guess

__all__ = ["FORMS", "guess"]

FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "anthropic": anthropic,
        "openai-chat": openai_chat,
        "openai-responses": openai_responses,
        "gemini": gemini,
        "bedrock": bedrock,
        "blocks": blocks,
    }
)
"""Each api and its form."""
