"""The request around the messages that were planned. Copy on write."""

from __future__ import annotations

from collections.abc import Sequence

from transom.parts import Conversation
from transom.types import JsonObject


def body(conversation: Conversation, messages: Sequence[JsonObject]) -> JsonObject:
    """The request with these messages; the very body that was read where they are the ones it had."""
    old = conversation.messages
    if len(messages) == len(old) and all(new is one.json for new, one in zip(messages, old, strict=True)):
        return conversation.body
    return {**conversation.body, conversation.key: list(messages)}
