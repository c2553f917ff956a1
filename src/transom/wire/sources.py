"""How a piece of media is carried: base64, a data URL, a URL, a file id or plain text, under which keys.

The rule: one table of keys for all forms. Nothing here asks what a part means, only what it carries and where.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from transom import probe
from transom.parts import Facts, Media, MediaKind, Source
from transom.probe.office import DOCX, XLSX
from transom.types import Json, JsonObject, Place

PAYLOADS: Final = ("data", "base64", "bytes", "blob", "file_data", "b64_json", "result", "image", "audio")
"""Keys of inline payloads (Anthropic and MCP, LangChain, Bedrock, MCP resources, OpenAI files, image generation, AI SDK)."""
URLS: Final = (
    "url",
    "image_url",
    "video_url",
    "audio_url",
    "document_url",
    "file_url",
    "uri",
    "fileUri",
    "file_uri",
    "s3Location",
)
_STORED: Final = "result"
"""The payload of a generated picture; null where the provider has it and goes by the item's id."""
IDS: Final = ("file_id", "fileId", "id")
MIMES: Final = ("media_type", "mimeType", "mime_type", "mediaType", "format")
NAMES: Final = ("filename", "displayName", "display_name", "name", "title")
WRAPPERS: Final = (
    "source", "image_url", "input_audio", "file", "resource", "inlineData", "inline_data", "fileData", "file_data",
    "image", "document", "audio", "video", "video_url", "audio_url", "document_url", "s3Location",
)  # fmt: skip
"""Keys of an object that holds the payload's keys in its turn."""

_FAMILIES: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video"}
_FORMATS: Final = {
    "png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "bmp": "image/bmp", "tiff": "image/tiff", "avif": "image/avif", "heic": "image/heic", "svg+xml": "image/svg+xml",
    "wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus", "pcm16": "audio/pcm",
    "pdf": "application/pdf", "txt": "text/plain", "md": "text/markdown", "html": "text/html", "csv": "text/csv",
    "docx": DOCX, "xlsx": XLSX, "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
}  # fmt: skip
"""What bare format names stand for (OpenAI `input_audio.format`, Bedrock `image.format` and `document.format`)."""
_SCHEME: Final = 16
"""Characters in which a URL shows itself by `://`."""
_MAX_WRAPPERS: Final = 3


def carried(raw: JsonObject, place: Place, kind: MediaKind | None, *, generated: bool = False) -> Media | None:
    """The media that a part carries, or None when it carries none. `kind` None: what its type says, else a document."""
    found = _found(raw, place, _MAX_WRAPPERS)
    if found is None:
        return None
    source, payload, at, holders = found
    mime, mime_at = _mime(holders)
    return replace(
        _made(source, payload, at, kind, mime=mime, mime_at=mime_at),
        detail=_first(holders, ("detail",)),
        name=_first(holders, NAMES),
        stamp=None if generated else raw.get("tokenEstimate"),
        generated=generated,
    )


def bare(text: str, place: Place, kind: MediaKind | None) -> Media:
    """The media that a bare string is: a data URL, a URL or base64."""
    return _made("url" if "://" in text[:_SCHEME] else "base64", text, place, kind)


def _made(  # noqa: PLR0913 - what was found, and where
    source: Source, payload: str, at: Place, kind: MediaKind | None, *, mime: str = "", mime_at: Place = ()
) -> Media:
    if source in ("base64", "url") and _is_data_url(payload):
        head, _, payload = payload.partition(",")
        source, mime, mime_at = "data-url", _head_mime(head), ()
    inlined = source not in ("url", "file")
    facts = probe.facts(payload, source, mime or _promised(kind)) if inlined else Facts()
    return Media(
        kind=kind or _kind(facts.mime or mime),
        source=source,
        payload=payload,
        inline=len(payload) if inlined else 0,
        declared=mime,
        facts=facts,
        payload_at=at,
        mime_at=mime_at,
    )


def written(media: Media, old: Json) -> str:
    """The string that stands at `media.payload_at` in place of `old`. A data URL keeps its parameters with its payload."""
    if media.source != "data-url":
        return media.payload
    head, _, payload = old.partition(",") if isinstance(old, str) else ("", "", "")
    same = payload == media.payload
    parameters = head.partition(";")[2] if same else "base64"
    return f"data:{media.declared}{';' if parameters else ''}{parameters},{media.payload}"


def mime_word(place: Place, mime: str) -> str:
    """How `mime` is spelled at `place`: keys named `format` take the bare name."""
    return mime.partition("/")[2].replace("mpeg", "mp3") if place[-1] == "format" else mime


_Holders = list[tuple[JsonObject, Place]]
_Found = tuple[Source, str, Place, _Holders]


def _found(raw: JsonObject, place: Place, depth: int) -> _Found | None:
    """Where the payload is: through the wrappers, then by key. The objects on the way are the holders, innermost first."""
    for key in WRAPPERS if depth else ():
        inner = raw.get(key)
        if isinstance(inner, dict):
            found = _found(inner, (*place, key), depth - 1)
            if found is not None:
                found[3].append((raw, place))
                return found
    return _direct(raw, place)


def _direct(raw: JsonObject, place: Place) -> _Found | None:
    holders: _Holders = [(raw, place)]
    said = raw.get("type") if raw.get("type") in ("text", "url", "file", "base64") else raw.get("source_type")
    if said == "text" and isinstance(raw.get("data", raw.get("text")), str):
        key = "data" if "data" in raw else "text"
        return "text", raw[key], (*place, key), holders
    for key in PAYLOADS:
        if isinstance(raw.get(key), str):
            return "url" if "://" in raw[key][:_SCHEME] else "base64", raw[key], (*place, key), holders
    for key in URLS:
        if isinstance(raw.get(key), str):
            return "url", raw[key], (*place, key), holders
    for key in IDS:
        if isinstance(raw.get(key), str) and (key != "id" or said in ("file", "id")):
            return "file", raw[key], (*place, key), holders
    if said == "base64" or any(key in raw and (raw[key] is not None or key != _STORED) for key in PAYLOADS):
        return "base64", "", (*place, next((key for key in PAYLOADS if key in raw), "data")), holders
    return None


def _mime(holders: _Holders) -> tuple[str, Place]:
    for holder, place in holders:
        for key in MIMES:
            mime: Any = holder.get(key)
            if isinstance(mime, str):
                return (_FORMATS.get(mime.lower(), mime) if "/" not in mime else mime), (*place, key)
    return "", ()


def _first(holders: _Holders, keys: tuple[str, ...]) -> str:
    for holder, _ in holders:
        for key in keys:
            if isinstance(holder.get(key), str):
                return str(holder[key])
    return ""


def _is_data_url(text: str) -> bool:
    return text[:5].lower() == "data:" or text[:32].lstrip()[:5].lower() == "data:"


def _head_mime(head: str) -> str:
    """The type that the head of a data URL declares, without its parameters."""
    return head.lstrip()[len("data:") :].partition(";")[0].strip().lower()


def _kind(mime: str) -> MediaKind:
    return _FAMILIES.get(mime.partition("/")[0].strip().lower(), "document")


def _promised(kind: MediaKind | None) -> str:
    """The family that a part of this kind promises where it declares no type."""
    return f"{kind}/" if kind in _FAMILIES else ""


def is_media_string(value: Json) -> bool:
    """Whether a bare string's first bytes are a known media signature (as base64, or in a data URL)."""
    return isinstance(value, str) and bool(probe.sniff(value))
