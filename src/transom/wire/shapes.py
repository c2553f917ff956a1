"""What a part is: the one table of part shapes, shared by all forms.

The rule: nothing else in transom looks at `"type": "image"`. A part whose type nobody knows survives as it is; a string in it
whose first bytes are a known media signature is that medium, and its other strings are its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from transom import canon
from transom.parts import Facts, Kind, Media, MediaKind, Part
from transom.types import Json, JsonObject, Place
from transom.wire import keyed
from transom.wire.keyed import signed
from transom.wire.keyed import string as _string
from transom.wire.sources import bare, carried, is_media_string

Reader: TypeAlias = Callable[[JsonObject, Place, int], Part]

MAX_DEPTH: Final = 24
"""Parts nested deeper than this are read as one opaque part: real bodies have three levels."""
RESULT_IDS: Final = ("tool_use_id", "toolUseId", "tool_call_id")
"""The keys under which a result names its call."""
SHORT_FILE: Final = 1_000
"""Base64 characters of a plain text that is sent as a file and read as the text it is; a longer one stays a file."""
CALL_IDS: Final = ("id", "toolUseId")


def part(raw: Json, place: Place, depth: int = 0) -> Part:
    """One part of a content list. Never raises: what cannot be read is opaque."""
    if isinstance(raw, dict):
        kind = raw.get("type")
        if kind == "text":
            return _text(raw, place, depth)
        if depth < MAX_DEPTH:
            reader = SHAPES.get(kind) if isinstance(kind, str) else _keyed(raw)
            if reader is None and isinstance(kind, str) and kind.endswith("_tool_result"):
                reader = _server_result
            return _opaque(raw, place, depth) if reader is None else reader(raw, place, depth)
    elif isinstance(raw, str):
        return Part(kind="text", place=place, raw=raw, text=raw)
    return _opaque(raw, place, depth)


def parts(content: list[Json], place: Place, depth: int = 0) -> tuple[Part, ...]:
    """The parts of a content list that stands at `place`."""
    return tuple([part(raw, (*place, number), depth) for number, raw in enumerate(content)])


def marked(raw: JsonObject) -> bool:
    """Whether a part carries a cache mark."""
    return raw.get("cache_control") is not None or raw.get("prompt_cache_breakpoint") is not None


def picture(raw: Json, place: Place) -> Part:
    """What stands in a list of pictures (Ollama's `images`, LangChain's and OpenRouter's answers): a bare string is one."""
    if isinstance(raw, str):
        return Part(kind="image", place=place, raw=raw, media=bare(raw, place, "image"))
    return part(raw, place)


def _text(raw: JsonObject, place: Place, _: int) -> Part:
    words = raw.get("text")
    return Part(kind="text", place=place, raw=raw, text=words if isinstance(words, str) else "", marked=marked(raw))


def _said(raw: JsonObject, place: Place, _: int) -> Part:
    """A text without a type, or a thought (Gemini)."""
    kind: Kind = "reasoning" if raw.get("thought") is True else "text"
    return Part(kind=kind, place=place, raw=raw, text=_string(raw, "text"), signed=signed(raw))


def _plain(kind: Kind, *keys: str) -> Reader:
    """A part that is a string under one of `keys`."""

    def read(raw: JsonObject, place: Place, _: int) -> Part:
        return Part(kind=kind, place=place, raw=raw, text=_string(raw, *keys), marked=marked(raw))

    return read


def _media(kind: MediaKind | None, *, generated: bool = False) -> Reader:
    """A piece of media. `kind` None: an image, a sound, a film or a document, as its type says."""

    def read(raw: JsonObject, place: Place, depth: int) -> Part:
        media = carried(raw, place, kind, generated=generated)
        if media is None:
            return _bare_of_payload(raw, place, depth, kind)
        return Part(kind=media.kind, place=place, raw=raw, media=media, marked=marked(raw), signed=signed(raw))

    return read


def _bare_of_payload(raw: JsonObject, place: Place, depth: int, kind: MediaKind | None) -> Part:
    """A part that says it is a medium and carries none where such parts do: what stands in it, else a medium of nothing."""
    found = _opaque(raw, place, depth)
    if kind is None or found.media is not None or found.parts:
        return found
    media = Media(kind=kind, source="none", payload="", inline=0, facts=Facts(problem="nothing in it"))
    return Part(kind=kind, place=place, raw=raw, text=found.text, media=media, marked=found.marked)


def _inline(raw: JsonObject, place: Place, depth: int) -> Part:
    """A medium without a type. A short plain text that is sent as a file is that text: where only files may stand, that is how
    placeholders are sent (Gemini's `functionResponse.parts`).
    """
    found = _media(None)(raw, place, depth)
    media = found.media
    if media is None or not media.declared.startswith("text/plain") or not 0 < media.inline <= SHORT_FILE:
        return found
    words = keyed.plain(media.payload)
    return found if words is None else Part(kind="text", place=place, raw=raw, text=words, signed=found.signed)


def _document(raw: JsonObject, place: Place, depth: int) -> Part:
    """A document: media, or blocks of its own. Its title and context are its text, and so is a plain text source."""
    about = "\n".join(filter(None, (_string(raw, "title"), _string(raw, "context"))))
    source = raw.get("source")
    content = source.get("content") if isinstance(source, dict) else raw.get("content")
    where = (*place, "source", "content") if isinstance(source, dict) else (*place, "content")
    if isinstance(content, (str, list)):
        inner = _content(content, where, depth)
        return Part(kind="document", place=place, raw=raw, text=about, marked=marked(raw), parts=inner)
    media = carried(raw, place, "document")
    if media is None:
        return _opaque(raw, place, depth)
    text = "\n".join(filter(None, (about, media.payload if media.source == "text" else "")))
    return Part(kind="document", place=place, raw=raw, text=text, media=media, marked=marked(raw))


def _search_result(raw: JsonObject, place: Place, depth: int) -> Part:
    about = "\n".join(filter(None, (_string(raw, "title"), _string(raw, "source"))))
    inner = _content(raw.get("content"), (*place, "content"), depth)
    return Part(kind="document", place=place, raw=raw, text=about, marked=marked(raw), parts=inner)


def _resource(raw: JsonObject, place: Place, depth: int) -> Part:
    """An MCP embedded resource: text is a text, a picture a picture; other bytes are nothing that a model reads."""
    inner = raw.get("resource")
    if not isinstance(inner, dict):
        return _opaque(raw, place, depth)
    if isinstance(inner.get("text"), str):
        return Part(kind="text", place=place, raw=raw, text=inner["text"], marked=marked(raw))
    media = carried(raw, place, None)
    readable = media is not None and (media.facts.mime or media.kind != "document" or "pdf" in media.declared)
    if media is None or not readable:
        return Part(kind="opaque", place=place, raw=raw, text=_string(inner, "uri"), marked=marked(raw))
    return Part(kind=media.kind, place=place, raw=raw, media=media, marked=marked(raw))


def _link(raw: JsonObject, place: Place, _: int) -> Part:
    """An MCP link to a resource: its address and what is said of it, not what it leads to."""
    words = (_string(raw, key) for key in ("uri", "name", "title", "description"))
    return Part(kind="opaque", place=place, raw=raw, text="\n".join(filter(None, words)), marked=marked(raw))


def _call(kind: Kind) -> Reader:
    def read(raw: JsonObject, place: Place, _: int) -> Part:
        given = raw.get("input", raw.get("args", raw.get("arguments")))
        return Part(
            kind=kind,
            place=place,
            raw=raw,
            text=given if isinstance(given, str) else "" if given is None else canon.text(given),
            id=_string(raw, *CALL_IDS),
            name=_string(raw, "name"),
            marked=marked(raw),
        )

    return read


def _result(kind: Kind) -> Reader:
    def read(raw: JsonObject, place: Place, depth: int) -> Part:
        content = raw.get("content")
        where = (*place, "content")
        if isinstance(content, dict) and isinstance(content.get("content"), list):  # an MCP result as it came
            content, where = content["content"], (*where, "content")
        alone = content is None and raw.get("structuredContent") is not None
        return Part(
            kind=kind,
            place=place,
            raw=raw,
            text=content if isinstance(content, str) else canon.text(raw["structuredContent"]) if alone else "",
            id=_string(raw, *RESULT_IDS),
            name=_string(raw, "name", "toolName"),
            failed=bool(raw.get("is_error") or raw.get("isError")),
            marked=marked(raw),
            parts=() if isinstance(content, str) else _content(content, where, depth),
        )

    return read


def result(raw: JsonObject, place: Place) -> Part:
    """A result, whatever its `type` says: a message can be one."""
    return _result("result")(raw, place, 0)


def _content(content: Json, place: Place, depth: int) -> tuple[Part, ...]:
    """What stands inside a result or a document: a list of parts, one part, or a string."""
    if content is None:
        return ()
    if isinstance(content, list):
        return parts(content, place, depth + 1)
    return (part(content, place, depth + 1),)


def _non_standard(raw: JsonObject, place: Place, depth: int) -> Part:
    """LangChain's wrapper around a provider's own block."""
    value = raw.get("value")
    if not isinstance(value, dict):
        return _opaque(raw, place, depth)
    inner = part(value, (*place, "value"), depth + 1)
    return Part(kind="opaque", place=place, raw=raw, marked=marked(raw), parts=(inner,))


def _opaque(raw: Json, place: Place, depth: int) -> Part:
    """A part that nobody knows. One string that is a medium and it is that medium; else media stand in it. The rest is text."""
    words: list[str] = []
    found = list(_inside(raw, place, depth, words))
    text = "\n".join(words)
    mark = isinstance(raw, dict) and marked(raw)
    only = found[0].media if len(found) == 1 and isinstance(found[0].raw, str) else None
    if only is not None:
        return Part(kind=only.kind, place=place, raw=raw, text=text, media=only, marked=mark)
    return Part(kind="opaque", place=place, raw=raw, text=text, marked=mark, parts=tuple(found))


def _inside(raw: Json, place: Place, depth: int, words: list[str]) -> Iterator[Part]:
    """The media in an unknown part, in document order; every other string goes to `words`."""
    todo: list[tuple[Json, Place]] = [(raw, place)]
    while todo:
        node, at = todo.pop()
        if isinstance(node, dict):
            kind = node.get("type")
            if at != place and isinstance(kind, str) and kind in _MEDIA_TYPES and depth < MAX_DEPTH:
                yield part(node, at, depth + 1)
                continue
            todo.extend((value, (*at, key)) for key, value in reversed(node.items()) if key not in _UNREAD)
        elif isinstance(node, list):
            todo.extend((value, (*at, number)) for number, value in reversed(list(enumerate(node))))
        elif is_media_string(node):
            media = bare(node, at, None)
            yield Part(kind=media.kind, place=at, raw=node, media=media)
        elif isinstance(node, str):
            words.append(node)


SHAPES: Final[dict[str, Reader]] = {
    # text
    "input_text": _text,
    "output_text": _text,
    "summary_text": _text,
    "text-plain": _plain("text", "text", "base64", "url"),
    "refusal": _plain("text", "refusal"),
    "reasoning_text": _text,
    # reasoning; `redacted_thinking.data` and signatures are not text
    "thinking": _plain("reasoning", "thinking"),
    "redacted_thinking": _plain("reasoning"),
    "reasoning": _plain("reasoning", "reasoning", "text"),
    # pictures
    "image": _media("image"),
    "image_url": _media("image"),
    "input_image": _media("image"),
    "computer_screenshot": _media("image"),
    "generated_image": _media("image", generated=True),
    "image_generation_call": _media("image", generated=True),
    # sound and film
    "audio": _media("audio"),
    "input_audio": _media("audio"),
    "audio_url": _media("audio"),
    "video": _media("video"),
    "input_video": _media("video"),
    "video_url": _media("video"),
    # files
    "document": _document,
    "document_url": _media("document"),
    "file": _media(None),
    "input_file": _media(None),
    "media": _media(None),
    "search_result": _search_result,
    # MCP
    "resource": _resource,
    "resource_link": _link,
    # calls and results
    "tool_use": _call("call"),
    "tool_call": _call("call"),
    "tool_result": _result("result"),
    "server_tool_use": _call("server-call"),
    "server_tool_call": _call("server-call"),
    "mcp_tool_use": _call("server-call"),
    "mcp_tool_result": _result("server-result"),
    "non_standard": _non_standard,
}
"""Each `type` and how it is read. A type that is not here is opaque."""

KEYED: Final[dict[str, Reader]] = {
    # Gemini, in the spelling of the wire and of the Python SDK
    "functionCall": keyed.function_call,
    "function_call": keyed.function_call,
    "functionResponse": keyed.function_response(parts),
    "function_response": keyed.function_response(parts),
    "inlineData": _inline,
    "inline_data": _inline,
    "fileData": _media(None),
    "file_data": _media(None),
    # Bedrock
    "toolUse": keyed.tool_use,
    "toolResult": keyed.tool_result(parts),
    "reasoningContent": keyed.reasoning_content,
    "guardContent": keyed.guard_content,
    "citationsContent": keyed.citations_content,
    "searchResult": keyed.search_result(parts),
    "json": keyed.json_content,
    "image": _media("image"),
    "image_url": _media("image"),
    "document": keyed.document(parts),
    "video": _media("video"),
    "audio": _media("audio"),
    "text": _said,
}
"""Shapes without a `type`: the key says what it is. Of several the first here."""
_ORDER: Final = {key: number for number, key in enumerate(KEYED)}

_UNREAD: Final = frozenset({"type", *keyed.SIGNATURES})
"""Keys whose strings the model does not read."""
_MEDIA_TYPES: Final = frozenset(
    {"image", "image_url", "input_image", "computer_screenshot", "generated_image", "image_generation_call", "document"}
    | {"audio", "input_audio", "audio_url", "video", "input_video", "video_url", "file", "input_file", "media", "resource"}
    | {"document_url"}
)


def _server_result(raw: JsonObject, place: Place, depth: int) -> Part:
    return _result("server-result")(raw, place, depth)


def _keyed(raw: JsonObject) -> Reader | None:
    """The reader of a part without a type. A key that holds nothing says nothing: an SDK's object that was dumped whole has every
    key that a part may have.
    """
    if "type" in raw:
        return None
    found = [key for key in raw if key in KEYED]
    if len(found) > 1:
        found = [key for key in found if raw[key] is not None] or found
    return KEYED[min(found, key=_ORDER.__getitem__)] if found else None
