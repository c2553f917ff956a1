"""What the evidence knows of the wire forms by itself, without the library's readers: who speaks, and what answers what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from transom.types import Json, JsonObject

FORMS = ("anthropic", "openai-chat", "openai-responses", "gemini")
"""Forms that the oracle reads."""
KEYS = {"openai-responses": "input", "gemini": "contents"}
SYSTEM = {"openai-responses": "instructions", "gemini": "systemInstruction"}
"""Where a form has the list of its turns and the system prompt; others have `messages` and `system`."""


def key_of(api: str) -> str:
    """The name of a body's list of turns."""
    return KEYS.get(api, "messages")


def turns(body: JsonObject, api: str) -> list[JsonObject]:
    """The turns of a body."""
    found: list[JsonObject] = body[key_of(api)]
    return found


def body_of(talk: JsonObject) -> JsonObject:
    """A transcript's body without its turns."""
    api = talk["api"]
    body = {key: talk[key] for key in ("model", "tools") if talk.get(key)}
    system = talk.get("system")
    if system:
        body[SYSTEM.get(api, "system")] = {"parts": [{"text": system}]} if api == "gemini" and isinstance(system, str) else system
    return body


def is_assistant(item: JsonObject) -> bool:
    """Whether an item is the model's."""
    return item.get("role") in ("assistant", "model") or ("role" not in item and not is_answer(item))


def is_answer(item: JsonObject) -> bool:
    """Whether an item or one of its parts answers a call."""
    if item.get("role") == "tool" or str(item.get("type", "")).endswith("_output"):
        return True
    return any(part.get("type") == "tool_result" or "functionResponse" in part for part in _parts(item))


def is_request(item: JsonObject) -> bool:
    """Whether an item is the user's own turn: words or pictures, not results alone."""
    if item.get("role") != "user":
        return False
    parts = _parts(item)
    whole = isinstance(item.get("content"), str)
    return whole or any(part.get("type") != "tool_result" and "functionResponse" not in part for part in parts)


def kept_anyway(items: list[JsonObject], api: str) -> list[int]:
    """Indices of the items that must stay: system messages, the newest request, the newest group with its results."""
    system = [i for i, one in enumerate(items) if one.get("role") in ("system", "developer")]
    requests = [i for i, one in enumerate(items) if is_request(one)]
    newest = start = len(items) - 1
    while start > 0 and (is_answer(items[start]) or _same_turn(items[start - 1], items[start], api)):
        start -= 1
    return sorted({*system, *requests[-1:], *range(start, newest + 1)})


def _same_turn(first: JsonObject, second: JsonObject, api: str) -> bool:
    """Whether neighbours are one turn: of the model, or, where the provider merges them, of either side."""
    if api == "openai-chat":
        return False
    if api == "anthropic":
        return bool(first.get("role") == second.get("role"))
    return is_assistant(first) and is_assistant(second)


@dataclass(frozen=True, slots=True)
class Answered:
    """A result: the id of its call or, where the form has none, its name; what it holds; whether a flag says that it failed.

    `failed` is None where the form has no flag.
    """

    id: str
    holds: Json
    failed: bool | None = None


def results(body: JsonObject, api: str) -> Iterator[Answered]:
    """The results of a body, in order."""
    for item in turns(body, api):
        if item.get("role") == "tool" or str(item.get("type", "")).endswith("_output"):
            yield Answered(str(item.get("tool_call_id") or item.get("call_id")), item.get("content", item.get("output")))
        for part in _parts(item):
            held = part.get("functionResponse")
            if part.get("type") == "tool_result":
                yield Answered(str(part.get("tool_use_id")), part.get("content"), part.get("is_error") is True)
            elif isinstance(held, dict):
                response = held.get("response")
                failed = isinstance(response, dict) and "error" in response
                yield Answered(str(held.get("id") or held.get("name")), response, failed)


def calls(body: JsonObject, api: str) -> Iterator[tuple[str, str]]:
    """The calls of a body, in order: the id, or the name where there is none, and what was asked."""
    for item in turns(body, api):
        for call in item.get("tool_calls") or ():
            yield call["id"], call["function"]["arguments"]
        if item.get("type") == "function_call":
            yield item["call_id"], item["arguments"]
        for part in _parts(item):
            held = part.get("functionCall")
            if part.get("type") == "tool_use":
                yield part["id"], json.dumps(part["input"])
            elif isinstance(held, dict):
                yield str(held.get("id") or held.get("name")), json.dumps(held.get("args"))


def _parts(item: JsonObject) -> list[JsonObject]:
    content = item.get("content", item.get("parts"))
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
