"""Numbers that a provider reports. The rule: what is missing, negative or no whole number is not a number."""

from __future__ import annotations

from transom.types import Json, JsonObject
from transom.wire.form import Usage


def holder(answer: JsonObject, key: str, own: str) -> JsonObject:
    """The usage object of an answer: under `key`, in the message of a stream's first event, or the answer itself."""
    for place in (answer, answer.get("message"), answer.get("response")):
        if isinstance(place, dict) and isinstance(place.get(key), dict):
            found: JsonObject = place[key]
            return found
    return answer if own in answer else {}


def count(found: JsonObject, key: str) -> int | None:
    """The count at `key`, or None where there is none that can be used."""
    value: Json = found.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    whole = value >= 0 and value == value // 1 and value != float("inf")
    return int(value) if whole else None


def openai_usage(answer: JsonObject, *, prompt: str, output: str) -> Usage | None:
    """The usage of an answer of OpenAI's, whose two APIs name its counts differently; cached tokens are part of the prompt."""
    found = holder(answer, "usage", prompt)
    tokens = count(found, prompt)
    if not tokens:
        return None
    details: Json = found.get(f"{prompt}_details")
    details = details if isinstance(details, dict) else {}
    cached, written = (count(details, key) or 0 for key in ("cached_tokens", "cache_write_tokens"))
    return Usage(prompt=tokens, output=count(found, output) or 0, cached=min(cached, tokens), written=written)
