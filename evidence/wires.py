"""What the evidence knows of the wire forms by itself, without the library's readers: who speaks, and what answers what."""

from __future__ import annotations

from transom.types import JsonObject

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


def _parts(item: JsonObject) -> list[JsonObject]:
    content = item.get("content", item.get("parts"))
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
