"""Aliases and protocols that several layers share. Nothing here does anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object of a provider's wire form. transom reads it in place and never changes it."""

Json: TypeAlias = Any
"""Any JSON value: object, array, string, number, boolean or null."""

Place: TypeAlias = tuple[str | int, ...]
"""Where something stands in JSON: keys and indices from the top, `("messages", 3, "content", 1)`."""

Key: TypeAlias = tuple[int, Place]
"""What a verdict belongs to: the number of the stored message, and the place inside it where the part was written.

It survives moves and copies, since a moved part keeps the key of the place it came from."""

Api: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "blocks"]

Basis: TypeAlias = Literal["exact", "rule", "observed", "estimate", "flat"]
"""How a figure is known, best first."""

Cut: TypeAlias = Callable[[JsonObject, int], JsonObject]
"""The cap's hook: a message's JSON and its cap in tokens in, the message that is sent instead out (the same object
when nothing needs cutting). It is called once per message and fit, and its answer is what is priced and sent."""

OnlineCount: TypeAlias = Callable[[JsonObject], int]
"""A counter of whole requests, such as a provider's count endpoint: the body in, its input tokens out."""

Count: TypeAlias = Callable[[str], int]
"""A text counter: text in, tokens out."""
