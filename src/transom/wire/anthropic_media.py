"""Pictures, documents and parts of other forms, as Anthropic takes them: what it refuses of each, and what stands there instead.

The rule: what another form's part says or shows goes out in this form's own shape; what this form has no shape for is told as
text. A type that nobody knows stays: new ones appear all the time. Sources of the words, 2026-11: answers quoted in issues:
livekit/agents 3867, anthropics/anthropic-sdk-typescript 603 (base64), AstrBotDevs/AstrBot 4444 (types of other forms),
SEMOSS/Semoss 2323 (pictures in answers), langchain-ai/langchainjs 11156 (types of documents).
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import Final

from transom import edit
from transom.parts import Media, Part
from transom.placeholder import placeholder
from transom.probe import NOT_BASE64
from transom.types import Json, JsonObject, Place
from transom.wire.form import Slip

PDF: Final = "application/pdf"
PLAIN: Final = "text/plain"

_MARK: Final = "cache_control"
_TEXTS: Final = ("input_text", "output_text")
_PICTURES: Final = ("image_url", "input_image")
_OTHERS: Final = ("resource", "resource_link", "audio", "input_audio")
_ODD: Final = (" ", "\n", "\r", "\t", "-", "_")
"""Characters that show that base64 is spelled in another way; each is looked for at the speed of memory."""
_SPELLING: Final = str.maketrans("-_", "+/", " \t\r\n\f\v")


def content_slips(part: Part, json: JsonObject, at: str, *, answers: bool = False) -> Iterator[Slip]:
    """The slips of a part of the message `json`, or of what stands in one of its results; `at` is the place in the provider's
    words. `answers`: the message is the assistant's.
    """
    raw = part.raw
    kind = raw.get("type") if isinstance(raw, dict) else None
    if kind in ("image", "document") and answers:
        what, so = f"{'a picture' if kind == 'image' else 'a document'} in an answer of the assistant", "tell it as text"
        answer = f"'{kind}' blocks are not permitted within assistant turns"
        now = _text(raw, _told(part, json))
        yield Slip(place=part.place, code="assistant-media", what=what, so=so, answer=answer, now=now)
    elif kind == "image":
        yield from _image(part, json, f"{at}.image")
    elif kind == "document":
        yield from _document(part, json, f"{at}.document")
    else:
        yield from _foreign(part, json, at, answers=answers)


def _foreign(part: Part, json: JsonObject, at: str, *, answers: bool) -> Iterator[Slip]:
    """Parts as other forms have them."""
    raw = part.raw
    kind = raw.get("type") if isinstance(raw, dict) else None
    if kind in _TEXTS and isinstance(raw.get("text"), str):
        now = _text(raw, raw["text"])
    elif kind in _PICTURES or (kind in _OTHERS and "source" not in raw):
        now = (None if answers else _shown(part, json)) or _text(raw, _told(part, json))
    else:
        return
    what, so = f"a part of the type `{kind}`, which other forms have", "send it in a type of this form"
    answer = f"{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    yield Slip(place=part.place, code="part-type", what=what, so=so, answer=answer, now=now)


def _shown(part: Part, json: JsonObject) -> JsonObject | None:
    """The picture or the PDF that a part of another form is; None where it is neither."""
    media = part.media
    source = None if media is None else _source(media, json)
    if media is None or source is None:
        return None
    pdf = media.kind == "document" and source.get("media_type") == PDF
    return _marked(part.raw, {"type": media.kind, "source": source}) if pdf or media.kind == "image" else None


def _image(part: Part, json: JsonObject, at: str) -> Iterator[Slip]:
    """A picture stands in its `source`: as base64 under its type, or by its address."""
    raw = part.raw
    given = raw.get("source")
    made = None if part.media is None else _source(part.media, json)
    if made is None:
        return
    if not isinstance(given, dict):
        what, so, answer = "a picture without a `source`", "put what it holds there", f"{at}.source: Field required"
        now = _marked(raw, {"type": "image", "source": made})
        yield Slip(place=part.place, code="part-type", what=what, so=so, answer=answer, now=now)
    elif given.get("type") in ("base64", "url"):
        if isinstance(given.get("media_type"), str) and "media_type" in made:
            made["media_type"] = given["media_type"]
        yield from _sourced(part, made, at)


def _document(part: Part, json: JsonObject, at: str) -> Iterator[Slip]:
    """A document in base64 is a PDF; a text goes as text, and what is neither is told."""
    media, given = part.media, part.raw.get("source")
    if media is None or not isinstance(given, dict):
        return
    said = given.get("media_type")
    made = _source(media, json)
    if given.get("type") == "text" and isinstance(given.get("data"), str):
        yield from _sourced(part, {"type": "text", "media_type": PLAIN}, at)
    elif made is not None and made["type"] == "base64" and given.get("type") in ("base64", "url"):
        if PDF in (said, made["media_type"], media.facts.mime):
            yield from _sourced(part, {**made, "media_type": PDF}, at)
            return
        what, so = f"a document that is declared as {said}", "send a text as text, and a file only if it is a PDF"
        answer = f"{at}.source.base64.media_type: Input should be '{PDF}'"
        place, now = _unfiled(part, made)
        yield Slip(place=place, code="document-type", what=what, so=so, answer=answer, now=now)


def _unfiled(part: Part, made: JsonObject) -> tuple[Place, Json]:
    """What stands for a document that is no PDF, and where: its words, the picture that it is, or what it was."""
    words = _words(made["data"], made["media_type"])
    if words:
        return (*part.place, "source"), {"type": "text", "media_type": PLAIN, "data": words}
    if made["media_type"].startswith("image/"):
        return part.place, _marked(part.raw, {"type": "image", "source": made})
    about = (part.text, placeholder(part.media) if part.media is not None else "")
    return part.place, _text(part.raw, "\n".join(filter(None, about)))


def _sourced(part: Part, made: JsonObject, at: str) -> Iterator[Slip]:
    """A source that is not the one that it should be."""
    given = part.raw["source"]
    wrong = [key for key in made if given.get(key) != made[key]]
    if not wrong:
        return
    same, kind = given.get("type") == made["type"], given.get("type")
    if same and wrong == ["media_type"]:
        code, what, so = "document-type", f"declared as {given.get('media_type')}", f"declare it as {made['media_type']}"
        wanted = f"Input should be '{made['media_type']}'" if "media_type" in given else "Field required"
        answer = f"{at}.source.{kind}.media_type: {wanted}"
    else:
        code, what, so = "base64", "a payload that is not plain base64", "send base64 alone, in its plain alphabet, or an address"
        answer = f"{at}.source.base64: invalid base64 data" if kind == "base64" else ""
    now = {**given, **made} if same else made
    yield Slip(place=(*part.place, "source"), code=code, what=what, so=so, answer=answer, now=now)


def _source(media: Media, json: JsonObject) -> JsonObject | None:
    """The source that a medium has in this form; None where it has none."""
    payload = media.payload
    if media.source == "url":
        return {"type": "url", "url": payload} if payload[:8].lower().startswith(("http://", "https://")) else None
    if media.facts.problem == NOT_BASE64:
        return None
    if media.source == "data-url":
        given = edit.look(json, media.payload_at)
        if not isinstance(given, str) or ";base64" not in given.partition(",")[0].lower():
            return None
    elif media.source != "base64":
        return None
    mime = media.declared or media.facts.mime or ("image/png" if media.kind == "image" else "")
    return {"type": "base64", "media_type": mime, "data": _plain(payload)}


def _plain(payload: str) -> str:
    """Base64 in its plain alphabet, padded and without white space; the very same string where it is that, or is none at all."""
    if not len(payload) % 4 and not any(odd in payload for odd in _ODD):
        return payload
    spelled = payload.translate(_SPELLING).rstrip("=")
    return payload if len(spelled) % 4 == 1 else spelled + "=" * (-len(spelled) % 4)


def _words(payload: str, declared: str) -> str:
    """The words of a text in base64; "" where it is none."""
    try:
        data = binascii.a2b_base64(payload)
    except ValueError:
        return ""
    try:
        words = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        words = data.decode("cp1252", "replace") if declared.startswith("text/") else ""
    return words if words.strip() and "\0" not in words else ""


def _told(part: Part, json: JsonObject) -> str:
    """What a part says, as text; a picture or a file says what it was."""
    media, raw = part.media, part.raw
    if media is not None and media.source != "text":
        filed = media.kind == "document" and media.facts.mime != PDF
        source = _source(media, json) if filed else None
        said = [(source and _words(source.get("data", ""), source.get("media_type", ""))) or placeholder(media)]
    elif part.kind == "opaque" and raw.get("type") == "resource":
        held = raw["resource"] if isinstance(raw.get("resource"), dict) else {}
        blob = held.get("blob")
        return (_words(_plain(blob), "") if isinstance(blob, str) else "") or f"[resource {part.text} left out]"
    else:
        said = [_told(inner, json) for inner in part.parts]
    return "\n".join(filter(None, (part.text, *said)))


def _text(raw: JsonObject, words: str) -> JsonObject:
    return _marked(raw, {"type": "text", "text": words})


def _marked(raw: JsonObject, made: JsonObject) -> JsonObject:
    """What stands for a part, with its cache mark."""
    return {**made, _MARK: raw[_MARK]} if raw.get(_MARK) is not None else made
