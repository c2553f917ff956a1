"""What a result may hold in its form: a string or parts, in Gemini an object. Hosts put a tool's value there as it came.

The rule: a value becomes what its form has a place for, and nothing that it says is lost. What is answered otherwise, 2026-11:
"Invalid type for 'messages[2].content': expected one of a string or array of objects, but got an object instead" (OpenAI).
"""

from __future__ import annotations

from typing import Final

from transom import canon, edit
from transom.types import Json, JsonObject
from transom.wire.keyed import RESPONSES, inner, spelled, told

ENVELOPE: Final = "_multimodal"
"""The key of an object of parts that a host unpacks before it sends it."""

_TOLD: Final = ("function_call_output", "custom_tool_call_output")
"""Outputs of Responses that are text or parts."""


def fitting(raw: Json) -> Json:
    """A raw result that holds what its form takes; the same one where it does already."""
    if not isinstance(raw, dict):
        return raw
    key = spelled(raw, *RESPONSES)
    if key in raw:
        response = inner(raw, key).get("response")
        return (
            raw
            if response is None or isinstance(response, dict)
            else edit.replace(raw, {(key, "response"): {"output": response}})
        )
    if "toolResult" in raw:
        content = inner(raw, "toolResult").get("content")
        return edit.replace(raw, {("toolResult", "content"): _listed(content)}) if _loose(content) else raw
    return _plain(raw)


def _loose(content: Json) -> bool:
    """Whether the content of one of Bedrock's results is no list."""
    return content is not None and not isinstance(content, list)


def _listed(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"text": content}] if content.strip() else []
    part = isinstance(content, dict) and {"text", "json", "image"} & content.keys()
    return [told(content if part else {"json": content})]


def _plain(raw: JsonObject) -> JsonObject:
    """A result whose content is a string or a list of parts."""
    key = "output" if "output" in raw and "content" not in raw else "content"
    held = raw.get(key)
    if held is None or isinstance(held, (str, list)) or (key == "output" and raw.get("type") not in _TOLD):
        return raw
    if isinstance(held, dict) and (held.get(ENVELOPE) or (key == "output" and isinstance(held.get("type"), str))):
        return raw
    if isinstance(held, dict) and isinstance(held.get("content"), list):  # an MCP result as it came
        return {**raw, key: held["content"]} if raw.get("type") == "tool_result" else {**raw, key: canon.text(held)}
    if isinstance(held, dict) and isinstance(held.get("type"), str):
        return {**raw, key: [held]}
    return {**raw, key: canon.text(held)}
