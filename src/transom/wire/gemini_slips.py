"""Slips of `gemini`: what its provider refuses in one message, in its own words.

Sources of the words: router-for-me/CLIProxyAPI 1292 (2026-01-28) and firebase/genkit 3816 (parts with nothing in them; recorded
requests show that a signed thought without a text is taken), crmne/ruby_llm 521 (2026-03-09, signatures that are no base64; the
word in their place: Google's guide to thought signatures, 2026-11). A data URL is no base64 either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from transom.parts import Message, Part, walk
from transom.types import Json, JsonObject
from transom.wire.form import Slip
from transom.wire.keyed import SIGNATURES

SKIP: Final = "skip_thought_signature_validator"
"""What stands for the signature of a call that another model made: the provider looks for none there."""
MIMES: Final = (("inlineData", "mimeType"), ("inline_data", "mime_type"))
"""Where inline media declare their type, in both spellings."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\s-]*=*\s*")
_UNDATA: Final = frozenset({"thought", *SIGNATURES})
"""Keys of a part that are no data by themselves."""
_NO_DATA: Final = (
    "* GenerateContentRequest.contents[{index}].parts[%d].data: required oneof field 'data' must have one initialized field"
)
_UNDECODED: Final = "Invalid value at 'contents[{index}].%s' (TYPE_BYTES), Base64 decoding failed for \"%s\""
_SHOWN: Final = 40


def slips_of(message: Message, quirks: frozenset[str]) -> Sequence[Slip]:
    """Each slip of one message."""
    out: list[Slip] = []
    called = False
    for part in message.parts:
        raw = part.raw
        if not isinstance(raw, dict):
            continue
        if part.kind in ("opaque", "text", "reasoning"):
            out += _bare(part, raw)
        first = part.kind == "call" and not called
        called = called or first
        if part.signed:
            out += _signature(part, raw, needed=first and "signed-calls" in quirks)
        if part.media is not None or part.parts:
            for inner in walk((part,)):
                out += _headed(inner)
    return out


def _bare(part: Part, raw: JsonObject) -> Iterator[Slip]:
    """A part holds data: one that only says that it is a thought is nothing, one that is only signed is an empty text."""
    if any(key not in _UNDATA and value is not None for key, value in raw.items()):
        return
    answer = _NO_DATA % part.place[-1]
    if not part.signed and not any(raw.get(key) for key in SIGNATURES):
        if part.kind == "opaque":
            yield Slip(place=part.place, code="no-data", what="a part with nothing in it", so="leave it out", answer=answer)
    elif raw.get("thought") is not True:
        what, so = "a signature alone", "let an empty text stand beside it"
        yield Slip(place=(*part.place, "text"), code="no-data", what=what, so=so, answer=answer, now="")


def _signature(part: Part, raw: JsonObject, *, needed: bool) -> Iterator[Slip]:
    """A signature is bytes in base64. `needed`: the model wants one here, or the word that stands for it."""
    for key in SIGNATURES:
        given = raw.get(key)
        if isinstance(given, str) and not _decodes(given):
            answer = _UNDECODED % (f"parts[{part.place[-1]}].thought_signature", given[:_SHOWN])
            what, place = "a signature that is no base64", (*part.place, key)
            if needed:
                so = f"write {SKIP} in its stead"
                yield Slip(place=place, code="signature", what=what, so=so, answer=answer, now=SKIP)
            else:
                yield Slip(place=place, code="signature", what=what, so="leave it out", answer=answer)


def _decodes(given: str) -> bool:
    """Whether a string is base64 in either alphabet, as far as its letters and its length show."""
    return _BASE64.fullmatch(given) is not None and len("".join(given.split()).rstrip("=")) % 4 != 1


def _headed(part: Part) -> Iterator[Slip]:
    """Inline data is base64, without the head of a data URL; what the head declares stands beside it, if nothing does."""
    media, raw = part.media, part.raw
    if media is None or media.source != "data-url" or not isinstance(raw, dict):
        return
    for key, mime in MIMES:
        held = raw.get(key)
        if media.payload_at == (*part.place, key, "data") and isinstance(held, dict):
            given = held["data"]
            if not given.partition(",")[0].rstrip().lower().endswith(";base64"):
                return
            now: Json = {**held, "data": media.payload}
            if not isinstance(held.get(mime), str) and media.declared:
                now[mime] = media.declared
            answer = _UNDECODED % (f"parts[{part.place[1]}].{MIMES[1][0]}.data", given[:_SHOWN])
            what, so = "inline data that is a data URL", "send its base64 alone"
            yield Slip(place=(*part.place, key), code="data-url", what=what, so=so, answer=answer, now=now)
