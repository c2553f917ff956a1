"""Parts without a `type`, which a key of theirs names: Gemini's and Bedrock's. Their readers, for the table of shapes.

The rule: both spellings of Gemini's keys are read, the wire's and the Python SDK's, and none is written anew. Source of the
shapes: google-genai 3.6.1 and the service model of botocore's bedrock-runtime, November 2026.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from transom import canon
from transom.parts import Kind, Media, Part
from transom.types import Json, JsonObject, Place
from transom.wire.sources import carried

Parts: TypeAlias = Callable[[list[Json], Place, int], tuple[Part, ...]]
"""The reader of a list of parts, from the table that knows them all."""
Reader: TypeAlias = Callable[[JsonObject, Place, int], Part]

SIGNATURES: Final = ("thoughtSignature", "thought_signature")
"""Keys of a part that hold what its provider signed it with (Gemini)."""
ANSWERS: Final = ("output", "result", "content", "error")
"""Keys of a response that is an object and holds one string under one of them: that string is what it says (google-genai)."""
CALLS: Final = ("functionCall", "function_call")
RESPONSES: Final = ("functionResponse", "function_response")
HOLDERS: Final = (*((key, "args") for key in CALLS), ("toolUse", "input"))
"""The keys that name a call, and where its arguments stand in what they hold; Gemini's may be missing."""


def string(raw: JsonObject, *keys: str) -> str:
    """The string under the first of `keys` that has one."""
    for key in keys:
        if isinstance(raw.get(key), str):
            return str(raw[key])
    return ""


def inner(raw: JsonObject, *keys: str) -> JsonObject:
    """The object under the first of `keys` that the part has."""
    held = raw.get(spelled(raw, *keys))
    return held if isinstance(held, dict) else {}


def spelled(raw: JsonObject, *keys: str) -> str:
    """Which of `keys` the part has; one that holds something, where there are several."""
    return next((key for key in keys if raw.get(key) is not None), next((key for key in keys if key in raw), keys[0]))


def signed(raw: JsonObject) -> bool:
    """Whether a part carries its provider's signature."""
    return raw.get("thoughtSignature") is not None or raw.get("thought_signature") is not None


def plain(payload: str) -> str | None:
    """The words of a short plain text in base64; None where it is none."""
    try:
        return base64.b64decode(payload, validate=True).decode()
    except ValueError:
        return None


def written(words: Json) -> str:
    """What a value reads as: a string as it is, anything else as JSON, nothing as nothing."""
    return words if isinstance(words, str) else "" if words is None else canon.text(words)


def wordless(raws: Iterable[Json]) -> bool:
    """Whether parts show Bedrock's documents and say nothing."""
    shown = False
    for raw in raws:
        if isinstance(raw, str) or (isinstance(raw, dict) and string(raw, "text").strip()):
            return False
        shown = shown or (isinstance(raw, dict) and isinstance(raw.get("document"), dict))
    return shown


def told(raw: Json) -> Json:
    """What stands in one of Bedrock's results, its value as text where that is no object; the same one where it is."""
    if not isinstance(raw, dict) or "json" not in raw or isinstance(raw["json"], dict) or "text" in raw or "type" in raw:
        return raw
    value = raw["json"]
    words = value if isinstance(value, str) else canon.text(value)
    return {**{key: held for key, held in raw.items() if key != "json"}, "text": words}


def function_call(raw: JsonObject, place: Place, _: int) -> Part:
    """Gemini's call; its id is optional."""
    held = inner(raw, *CALLS)
    text, name = written(held.get("args")), string(held, "name")
    return Part(kind="call", place=place, raw=raw, text=text, id=string(held, "id"), name=name, signed=signed(raw))


def function_response(parts: Parts) -> Reader:
    """Gemini's result: an object, and media beside it."""

    def read(raw: JsonObject, place: Place, depth: int) -> Part:
        key, held = spelled(raw, *RESPONSES), inner(raw, *RESPONSES)
        response, media = held.get("response"), held.get("parts")
        answer = response if isinstance(response, dict) and len(response) == 1 else {}
        only = next(iter(answer), "")
        plainly = only in ANSWERS and isinstance(answer[only], str)
        return Part(
            kind="result",
            place=place,
            raw=raw,
            text=answer[only] if plainly else written(response),
            id=string(held, "id"),
            name=string(held, "name"),
            failed=only == "error",
            signed=signed(raw),
            parts=parts(media, (*place, key, "parts"), depth + 1) if isinstance(media, list) else (),
        )

    return read


def tool_use(raw: JsonObject, place: Place, _: int) -> Part:
    """Bedrock's call."""
    held = inner(raw, "toolUse")
    kind: Kind = "server-call" if held.get("type") == "server_tool_use" else "call"
    text = written(held.get("input"))
    return Part(kind=kind, place=place, raw=raw, text=text, id=string(held, "toolUseId"), name=string(held, "name"))


def tool_result(parts: Parts) -> Reader:
    """Bedrock's result."""

    def read(raw: JsonObject, place: Place, depth: int) -> Part:
        held = inner(raw, "toolResult")
        content, said = held.get("content"), held.get("type")
        served = isinstance(said, str) and said != "tool_result"
        return Part(
            kind="server-result" if served else "result",
            place=place,
            raw=raw,
            text=content if isinstance(content, str) else "",
            id=string(held, "toolUseId"),
            failed=held.get("status") == "error",
            parts=parts(content, (*place, "toolResult", "content"), depth + 1) if isinstance(content, list) else (),
        )

    return read


def reasoning_content(raw: JsonObject, place: Place, _: int) -> Part:
    """Bedrock's reasoning: a text with a signature, or redacted bytes."""
    held = inner(raw, "reasoningContent")
    words = inner(held, "reasoningText")
    return Part(kind="reasoning", place=place, raw=raw, text=string(words, "text"), signed=True)


def guard_content(raw: JsonObject, place: Place, _: int) -> Part:
    """A text or picture that Bedrock's guardrail looks at."""
    held = inner(raw, "guardContent")
    if isinstance(held.get("image"), dict):
        media = carried(held, (*place, "guardContent"), "image")
        return Part(kind="image", place=place, raw=raw, media=media)
    words = inner(held, "text")
    return Part(kind="text", place=place, raw=raw, text=string(words, "text"))


def citations_content(raw: JsonObject, place: Place, _: int) -> Part:
    """An answer with citations: its texts as one."""
    held = inner(raw, "citationsContent")
    content = held.get("content")
    words = [string(one, "text") for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return Part(kind="text", place=place, raw=raw, text="".join(words))


def json_content(raw: JsonObject, place: Place, _: int) -> Part:
    """JSON in one of Bedrock's results."""
    return Part(kind="text", place=place, raw=raw, text=written(raw.get("json")))


def search_result(parts: Parts) -> Reader:
    """What a search of the caller's found, for citations."""

    def read(raw: JsonObject, place: Place, depth: int) -> Part:
        held = inner(raw, "searchResult")
        content = held.get("content")
        about = "\n".join(filter(None, (string(held, "title"), string(held, "source"))))
        within = parts(content, (*place, "searchResult", "content"), depth + 1) if isinstance(content, list) else ()
        return Part(kind="document", place=place, raw=raw, text=about, parts=within)

    return read


def document(parts: Parts) -> Reader:
    """Bedrock's document: bytes, a place in S3, a text, or blocks of its own. Its context is its text."""

    def read(raw: JsonObject, place: Place, depth: int) -> Part:
        held = inner(raw, "document")
        source, about, name = inner(held, "source"), string(held, "context"), string(held, "name")
        at = (*place, "document", "source")
        if isinstance(source.get("content"), list):
            text = "\n".join(filter(None, (name, about)))
            within = parts(source["content"], (*at, "content"), depth + 1)
            return Part(kind="document", place=place, raw=raw, text=text, name=name, parts=within)
        if not isinstance(source.get("text"), str):
            media = carried(raw, place, "document")
            return Part(kind="document" if media else "opaque", place=place, raw=raw, text=about, media=media)
        words, mime = source["text"], string(held, "format")
        media = Media(
            kind="document",
            source="text",
            payload=words,
            inline=len(words),
            declared=f"text/{mime or 'plain'}",
            name=name,
            payload_at=(*at, "text"),
        )
        return Part(kind="document", place=place, raw=raw, text="\n".join(filter(None, (about, words))), media=media)

    return read
