"""Which form a body is in, for the commands. The rule: a guess from what only one form has; Python callers say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.types import Json, JsonObject

_LOOKED_AT: Final = 200
_HOSTS: Final = frozenset({"rawItem", "rawXml", "tokenEstimate", "toolUseId", "mimeType", "source_type"})
_ANTHROPIC: Final = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "image", "document"}
)
_CONVERSE: Final = frozenset({"modelId", "inferenceConfig", "toolConfig", "additionalModelRequestFields"})
_PARTS: Final = frozenset(
    {"text", "toolUse", "toolResult", "cachePoint", "reasoningContent", "guardContent", "document", "image"}
)
_OPENAI: Final = frozenset({"image_url", "input_audio", "file", "refusal"})


def guess(body: JsonObject) -> str:
    """The name of the form that `body` is most likely in; a talk of plain strings reads as OpenAI's."""
    if "messages" not in body and "contents" not in body:
        return "openai-responses"
    return looks(body) or "openai-chat"


def looks(body: JsonObject) -> str:
    """The name of the form that something in `body` tells of; "" where nothing does."""
    if "messages" not in body:
        return "gemini" if "contents" in body else "openai-responses" if "input" in body else ""
    if _is_bedrock(body):
        return "bedrock"
    votes = {"blocks": 0, "openai-chat": 0, "anthropic": 0}
    for vote in (*_top(body), *_messages(body.get("messages"))):
        votes[vote] += 1
    best = max(votes.values())
    if not best:
        return ""
    if votes["blocks"] and not votes["openai-chat"]:
        return "blocks"
    return next((api for api in ("openai-chat", "anthropic") if votes[api] == best), "blocks")


def _is_bedrock(body: JsonObject) -> bool:
    """Whether only Converse has such a body: fields of its own, or parts without a type that a key names."""
    if not _CONVERSE.isdisjoint(body):
        return True
    messages = body["messages"] if isinstance(body["messages"], list) else []
    parts = [part for message in messages[:_LOOKED_AT] if isinstance(message, dict) for part in _listed(message.get("content"))]
    return any(isinstance(part, dict) and "type" not in part and not _PARTS.isdisjoint(part) for part in parts)


def _listed(content: Json) -> list[Json]:
    return content if isinstance(content, list) else []


def _top(body: JsonObject) -> Iterator[str]:
    if body.get("system") is not None or "anthropic_version" in body or "stop_sequences" in body:
        yield "anthropic"
    if isinstance(body.get("model"), str) and "claude" in body["model"] and "max_tokens" in body:
        yield "anthropic"
    tools = body.get("tools")
    for tool in tools[:1] if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            yield "openai-chat" if "function" in tool or "custom" in tool else "anthropic"


def _messages(messages: Json) -> Iterator[str]:
    for message in messages[:_LOOKED_AT] if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        if "participant" in message or "api_content" in message:
            yield "blocks"
        if message.get("role") in ("system", "developer", "tool", "function") or "tool_calls" in message:
            yield "openai-chat"
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                yield from _block(block)


def _block(block: JsonObject) -> Iterator[str]:
    said = block.get("type")
    kind = said if isinstance(said, str) else ""
    if kind == "generated_image" or not _HOSTS.isdisjoint(block):
        yield "blocks"
    elif kind in _ANTHROPIC:
        yield "anthropic"
    elif kind in _OPENAI:
        yield "openai-chat"
