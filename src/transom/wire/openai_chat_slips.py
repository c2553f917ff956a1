"""Slips of `openai-chat`: what its provider refuses in one message, in its own words.

Sources of the words: answers quoted in issues: openai/openai-python 2061 (2025-01), chatboxai/chatbox 2079 (2025-02),
anomalyco/opencode 41860 (2026-08, DeepSeek: empty `tool_calls`), docker/docker-agent 63 (2025-07), run-llama/llama_index 17555
(content that is null), dataprofessor/builder 3 (2024-06: a picture as a string), langchain-ai/langchain 35054 (2026-02: `name`).
Types of another form's parts: reference of Chat Completions, 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from transom.parts import Message, Part
from transom.types import Json, JsonObject
from transom.wire import openai_checks as checks
from transom.wire.form import Slip

_MUST_SAY: Final = ("system", "developer", "tool")
"""Roles whose messages hold content; what answers leave out is theirs to leave out, and pairing says so of the user's."""
_ODD: Final = re.compile(r"[\s<|\\/>]+")
_NAME: Final = (
    "Invalid 'messages[{index}].name': string does not match pattern. Expected a string that matches the pattern "
    "'^[^\\s<|\\\\/>]+$'."
)
_NO_CALLS: Final = (
    "Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array "
    "instead."
)
_NULL: Final = "Invalid value for 'content': expected a string, got null."
_TYPE: Final = "Invalid value: '%s'. Supported values are: 'text' and 'image_url'."
_URL: Final = (
    "Invalid image URL: 'messages[{index}].content[%s].image_url.url'. Expected a base64-encoded data URL with an image MIME "
    "type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got %s."
)
_BARE: Final = "a value without the 'data:' prefix"
_TELL_BARE: Final = "write what it is in front of it, as a data URL does"
_OBJECT: Final = "Invalid type for 'messages[{index}].content[%s].image_url': expected an object, but got a string instead."


def slips_of(message: Message, quirks: frozenset[str]) -> Sequence[Slip]:
    """Each slip of one message."""
    json = message.json
    checked = checks.CHECKED in quirks
    out: list[Slip] = []
    if "tool_calls" in json and json["tool_calls"] == []:
        out.append(
            Slip(place=("tool_calls",), code="no-calls", what="a list of calls without one", so="leave it out", answer=_NO_CALLS)
        )
    if checked and "name" in json:
        out += _named(json)
    content = json.get("content")
    if isinstance(content, list):
        out += _listed(message, content, checked=checked)
    if content in (None, []) and json.get("role") in _MUST_SAY:
        out.append(_nothing())
    return out


def _nothing() -> Slip:
    return Slip(
        place=("content",), code="no-content", what="a message without content", so="say an empty text", answer=_NULL, now=""
    )


def _named(json: JsonObject) -> Iterator[Slip]:
    """The name of who speaks; that of a tool says what its result answers."""
    name = json["name"]
    if not isinstance(name, str) or json.get("role") in ("tool", "function"):
        return
    if not name:
        yield Slip(place=("name",), code="name", what="a speaker's name that is empty", so="leave it out", answer=_NAME)
    elif _ODD.search(name):
        now = _ODD.sub("_", name)
        yield Slip(
            place=("name",), code="name", what=f"the speaker's name {name!r}", so=f"spell it {now!r}", answer=_NAME, now=now
        )


def _listed(message: Message, content: list[Json], *, checked: bool) -> Iterator[Slip]:
    """Of a content that is a list: texts that are none, and parts in another form's shape."""
    unsaid = [number for number, raw in enumerate(content) if checks.unsaid(raw)]
    if unsaid and len(unsaid) == len(content):
        now: Json = None if message.role == "assistant" else ""
        so = "say what it says, which is nothing"
        yield Slip(place=("content",), code="no-content", what=checks.UNSAID, so=so, answer=_NULL, now=now)
        return
    for number in unsaid:
        yield Slip(place=("content", number), code="no-content", what=checks.UNSAID, so="leave it out", answer=_NULL)
    for part in message.parts[0].parts if message.role == "tool" else message.parts:
        if part.place[:1] == ("content",) and isinstance(part.raw, dict):
            yield from _shaped(part, part.raw, checked=checked)


def _shaped(part: Part, raw: JsonObject, *, checked: bool) -> Iterator[Slip]:
    """A part in the shape of this form."""
    said = raw.get("type")
    if said == "text":
        return
    if said == "image_url":
        yield from _picture(part, raw, checked=checked)
    elif said in checks.TEXTS and raw.get("text") is not None:
        yield _typed(part, str(said), checks.said_as(raw, "text"))
    elif said in ("input_image", "image"):
        now = _made(part, raw, checked=checked)
        if now is not None:
            yield _typed(part, str(said), now)


def _typed(part: Part, said: str, now: JsonObject) -> Slip:
    what = f"a part of the type {said!r}"
    return Slip(place=part.place, code="type", what=what, so="say it as this form does", answer=_TYPE % said, now=now)


def _made(part: Part, raw: JsonObject, *, checked: bool) -> JsonObject | None:
    """Another form's picture in the shape of this one; None where it cannot stand there, as one that the provider keeps."""
    given = raw.get("image_url")
    url = given if isinstance(given, str) else given.get("url") if isinstance(given, dict) else None
    if not isinstance(url, str):
        url = checks.carried(part) or None
    if url is None:
        return None
    if checks.unreadable(url, checked=checked):
        return {"type": "text", "text": checks.instead(url)}
    held = {"url": checks.address(url)}
    if isinstance(raw.get("detail"), str):
        held["detail"] = raw["detail"]
    return {**_marks(raw), "type": "image_url", "image_url": {**(given if isinstance(given, dict) else {}), **held}}


def _marks(raw: JsonObject) -> JsonObject:
    return {key: raw[key] for key in ("cache_control", "prompt_cache_breakpoint") if key in raw}


def _picture(part: Part, raw: JsonObject, *, checked: bool) -> Iterator[Slip]:
    """A picture of this form: its address is one that the provider can read."""
    held, number = raw.get("image_url"), part.place[-1]
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str):
        return
    if checks.unreadable(url, checked=checked):
        now = {**_marks(raw), "type": "text", "text": checks.instead(url)}
        answer = _URL % (number, "an unsupported image URL")
        yield Slip(
            place=part.place, code="image-url", what=checks.UNLIT, so="say so in words", answer=answer if url else "", now=now
        )
        return
    full = checks.address(url)
    if not isinstance(held, dict):
        if checked or full is not url:
            what, so = "the address of a picture as a string", "put it into an object, under `url`"
            fresh = {**raw, "image_url": {"url": full}}
            yield Slip(place=part.place, code="image-url", what=what, so=so, answer=_OBJECT % number, now=fresh)
    elif full is not url:
        place = (*part.place, "image_url", "url")
        what = "a picture in base64 that does not say so"
        yield Slip(place=place, code="image-url", what=what, so=_TELL_BARE, answer=_URL % (number, _BARE), now=full)
