"""Which wire form a body is in. The commands guess it and say so; in Python it is an argument.

A sign is something that only one form has. The form with the most signs wins; a plain conversation, which looks the same
in two forms, goes by the name of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from transom.errors import BadRequest
from transom.types import Api, Json, JsonObject

APIS: tuple[Api, ...] = ("anthropic", "openai-chat", "blocks")

PARTS: Mapping[str, Api] = {
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "thinking": "anthropic",
    "redacted_thinking": "anthropic",
    "server_tool_use": "anthropic",
    "search_result": "anthropic",
    "image_url": "openai-chat",
    "input_audio": "openai-chat",
    "refusal": "openai-chat",
    "generated_image": "blocks",
    "resource": "blocks",
    "resource_link": "blocks",
    "text-plain": "blocks",
    "non_standard": "blocks",
}
"""Types of parts that one form alone has."""

PLANNED: Mapping[str, str] = {"contents": "Gemini", "input": "OpenAI Responses"}
"""Lists by which a body of a form that is not read yet is known."""


def guess(body: JsonObject) -> Api:
    """The form of `body`. Raises BadRequest where it can be none of those that are read."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        for key, name in PLANNED.items():
            if key in body:
                raise BadRequest(f"{key!r} is the list of a {name} request, and that form is not read yet")
        raise BadRequest("there is no list 'messages', so this is no request; or name its form with --api")
    signs = Counter(_signs(body, messages))
    if signs:
        return signs.most_common(1)[0][0]
    return "anthropic" if "claude" in str(body.get("model", "")).lower() else "openai-chat"


def _signs(body: JsonObject, messages: list[Json]) -> Iterator[Api]:
    if "system" in body:
        yield "anthropic"
    for tool in body.get("tools") or ():
        if isinstance(tool, dict):
            yield "anthropic" if "input_schema" in tool else "openai-chat" if "function" in tool else "anthropic"
    for message in messages:
        if not isinstance(message, dict):
            continue
        if message.get("role") in ("system", "developer", "tool", "function") or message.get("tool_calls"):
            yield "openai-chat"
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                yield from _part_signs(part)


def _part_signs(part: JsonObject) -> Iterator[Api]:
    kind = part.get("type")
    if isinstance(kind, str) and kind in PARTS:
        yield PARTS[kind]
    if isinstance(part.get("source"), dict):
        yield "anthropic"
    if "tokenEstimate" in part or "rawItem" in part or ("mimeType" in part and "data" in part):
        yield "blocks"
