"""The table of part shapes: what each shape is, what it carries and where."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest

from transom.parts import Part, walk
from transom.wire import shapes


def png(width: int, height: int) -> str:
    """A grey PNG as base64."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


PNG = png(8, 6)
WAV = base64.b64encode(
    b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\4\0\0\0\x80\x80\x80\x80"
).decode()
URL = f"data:image/png;base64,{PNG}"
REMOTE = "https://example.org/cat.png"

PICTURES: list[tuple[str, dict[str, Any], str, str, tuple[str | int, ...]]] = [
    ("anthropic", {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, "base64", PNG,
     ("source", "data")),
    ("anthropic url", {"type": "image", "source": {"type": "url", "url": REMOTE}}, "url", REMOTE, ("source", "url")),
    ("anthropic data url", {"type": "image", "source": {"type": "url", "url": URL}}, "data-url", PNG, ("source", "url")),
    ("anthropic file", {"type": "image", "source": {"type": "file", "file_id": "f_1"}}, "file", "f_1", ("source", "file_id")),
    ("openai", {"type": "image_url", "image_url": {"url": URL, "detail": "low"}}, "data-url", PNG, ("image_url", "url")),
    ("openai remote", {"type": "image_url", "image_url": {"url": REMOTE}}, "url", REMOTE, ("image_url", "url")),
    ("bare string", {"type": "image_url", "image_url": URL}, "data-url", PNG, ("image_url",)),
    ("responses", {"type": "input_image", "image_url": URL}, "data-url", PNG, ("image_url",)),
    ("responses file", {"type": "input_image", "file_id": "file-2"}, "file", "file-2", ("file_id",)),
    ("mcp", {"type": "image", "data": PNG, "mimeType": "image/png"}, "base64", PNG, ("data",)),
    ("generated", {"type": "generated_image", "data": PNG, "mimeType": "image/png"}, "base64", PNG, ("data",)),
    ("image generation", {"type": "image_generation_call", "result": PNG}, "base64", PNG, ("result",)),
    ("langchain v1", {"type": "image", "base64": PNG, "mime_type": "image/png"}, "base64", PNG, ("base64",)),
    ("langchain v1 url", {"type": "image", "url": REMOTE}, "url", REMOTE, ("url",)),
    ("langchain v1 id", {"type": "image", "file_id": "f"}, "file", "f", ("file_id",)),
    ("langchain v0", {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"}, "base64", PNG, ("data",)),
    ("langchain v0 id", {"type": "image", "source_type": "id", "id": "f"}, "file", "f", ("id",)),
    ("bedrock", {"image": {"format": "png", "source": {"bytes": PNG}}}, "base64", PNG, ("image", "source", "bytes")),
    ("gemini", {"inlineData": {"mimeType": "image/png", "data": PNG}}, "base64", PNG, ("inlineData", "data")),
    ("gemini python", {"inline_data": {"mime_type": "image/png", "data": PNG}}, "base64", PNG, ("inline_data", "data")),
    ("gemini file", {"fileData": {"mimeType": "image/png", "fileUri": REMOTE}}, "url", REMOTE, ("fileData", "fileUri")),
    ("file that is a picture", {"type": "file", "base64": PNG, "mime_type": "image/png"}, "base64", PNG, ("base64",)),
    ("screenshot", {"type": "computer_screenshot", "image_url": URL}, "data-url", PNG, ("image_url",)),
]  # fmt: skip


@pytest.mark.parametrize("raw, source, payload, at", [row[1:] for row in PICTURES], ids=[row[0] for row in PICTURES])
def test_each_shape_of_a_picture_is_one(raw: dict[str, Any], source: str, payload: str, at: tuple[str | int, ...]) -> None:
    """CM-02, CM-09, HE-06: one walker knows every shape of a picture, the MCP form with its data beside a type included."""
    part = shapes.part(raw, ("content", 0))
    assert part.kind == "image"
    assert part.media is not None
    assert (part.media.source, part.media.payload) == (source, payload)
    assert part.media.payload_at == ("content", 0, *at)
    inline = source in ("base64", "data-url")
    assert part.media.inline == (len(PNG) if inline else 0)
    assert (part.media.facts.width, part.media.facts.height) == ((8, 6) if inline else (0, 0))


@pytest.mark.parametrize(
    "url, payload",
    [
        (URL, PNG),
        (f"DATA:IMAGE/PNG;BASE64,{PNG}", PNG),
        (f"data:image/png;charset=utf-8;base64,{PNG}", PNG),
        (f"data:image/png;base64,{PNG.rstrip('=')}", PNG.rstrip("=")),
        (f"data:image/png;base64, {PNG[:20]}\n{PNG[20:]}", f" {PNG[:20]}\n{PNG[20:]}"),
        (f"  data:image/png;base64,{PNG}", PNG),
    ],
)
def test_inline_size_of_a_data_url_is_its_payload(url: str, payload: str) -> None:
    """CM-04: the inline size of a data URL is the payload after the comma, however its head is spelled."""
    media = shapes.part({"type": "image_url", "image_url": {"url": url}}, ()).media
    assert media is not None
    assert (media.source, media.payload, media.inline) == ("data-url", payload, len(payload))
    assert (media.declared, media.facts.width, media.facts.height) == ("image/png", 8, 6)


def test_a_data_url_without_a_payload_is_an_empty_picture() -> None:
    media = shapes.part({"type": "image_url", "image_url": {"url": "data:image/png;base64"}}, ()).media
    assert media is not None
    assert (media.source, media.payload, media.inline, media.facts.problem) == ("data-url", "", 0, "empty")


def test_inline_sizes() -> None:
    """CM-04, CM-05, CM-06: base64 counts its text, a generated image its own data, a remote picture nothing."""
    rows = [
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, len(PNG)),
        ({"type": "generated_image", "data": PNG, "mimeType": "image/png"}, len(PNG)),
        ({"type": "image", "source": {"type": "url", "url": REMOTE}}, 0),
    ]
    for raw, inline in rows:
        media = shapes.part(raw, ()).media
        assert media is not None
        assert media.inline == inline


def test_a_generated_image_has_no_stamp_and_an_image_has() -> None:
    """CM-47, CM-48: a stamp is taken from an image as it stands; a generated image has none."""
    image = shapes.part({"type": "image", "data": PNG, "mimeType": "image/png", "tokenEstimate": 7}, ()).media
    made = shapes.part({"type": "generated_image", "data": PNG, "mimeType": "image/png", "tokenEstimate": 7}, ()).media
    assert image is not None
    assert made is not None
    assert (image.stamp, image.generated, made.stamp, made.generated) == (7, False, None, True)


@pytest.mark.parametrize(
    "raw, kind, source",
    [
        ({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}, "audio", "base64"),
        ({"type": "audio", "data": WAV, "mimeType": "audio/wav"}, "audio", "base64"),
        ({"type": "audio", "base64": WAV, "mime_type": "audio/wav"}, "audio", "base64"),
        ({"type": "audio_url", "audio_url": {"url": "https://example.org/a.mp3"}}, "audio", "url"),
        ({"type": "file", "base64": WAV, "mime_type": "audio/wav"}, "audio", "base64"),
        ({"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}, "video", "url"),
        ({"type": "video", "file_id": "f", "mime_type": "video/mp4"}, "video", "file"),
        ({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b.mp4"}}}}, "video", "url"),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0x", "filename": "a.pdf"}},
            "document",
            "data-url",
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, "document", "file"),
        ({"type": "input_file", "file_url": "https://example.org/a.pdf"}, "document", "url"),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"}},
            "document",
            "base64",
        ),
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}}, "document", "text"),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, "document", "file"),
        ({"document": {"format": "pdf", "name": "a", "source": {"bytes": "JVBERi0x"}}}, "document", "base64"),
    ],
)
def test_other_media(raw: dict[str, Any], kind: str, source: str) -> None:
    media = shapes.part(raw, ()).media
    assert media is not None
    assert (media.kind, media.source) == (kind, source)


def test_names_types_and_details_are_found_on_the_way_in() -> None:
    media = shapes.part({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}, ("content", 1)).media
    assert media is not None
    assert (media.declared, media.mime_at) == ("audio/wav", ("content", 1, "input_audio", "format"))
    media = shapes.part({"type": "image_url", "image_url": {"url": REMOTE, "detail": "high"}}, ()).media
    assert media is not None
    assert media.detail == "high"
    media = shapes.part({"type": "file", "file": {"file_id": "f", "filename": "plan.pdf"}}, ()).media
    assert media is not None
    assert media.name == "plan.pdf"


def test_a_result_that_is_text_about_a_picture_holds_none() -> None:
    """CM-10: a host that stores a result as text with placeholders gives the walker nothing to count."""
    part = shapes.part({"type": "tool_result", "tool_use_id": "a", "content": "[image: cat.png]"}, ())
    assert (part.parts, part.text) == ((), "[image: cat.png]")


def test_a_result_holds_its_parts() -> None:
    """CM-03: pictures are listed in document order, results with a list are descended into, a string holds none."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    made = {"type": "generated_image", "data": PNG, "mimeType": "image/png"}
    document = {
        "type": "document",
        "title": "t",
        "source": {"type": "content", "content": [image, {"type": "text", "text": "in"}]},
    }
    raw = {
        "type": "tool_result",
        "tool_use_id": "a",
        "is_error": True,
        "content": [{"type": "text", "text": "x"}, made, document],
    }
    part = shapes.part(raw, ("content", 0))
    assert (part.kind, part.id, part.failed, part.text) == ("result", "a", True, "")
    found = [(inner.kind, inner.place) for inner in walk(part.parts)]
    assert found == [
        ("text", ("content", 0, "content", 0)),
        ("image", ("content", 0, "content", 1)),
        ("document", ("content", 0, "content", 2)),
        ("image", ("content", 0, "content", 2, "source", "content", 0)),
        ("text", ("content", 0, "content", 2, "source", "content", 1)),
    ]
    string = shapes.part({"type": "tool_result", "tool_use_id": "a", "content": URL}, ())
    assert (string.text, string.parts) == (URL, ())


def test_a_document_of_plain_text_or_blocks_has_its_title_as_text() -> None:
    plain = shapes.part({"type": "document", "title": "T", "source": {"type": "text", "data": "words"}}, ())
    blocks = shapes.part(
        {"type": "document", "title": "T", "context": "C", "source": {"type": "content", "content": "words"}}, ()
    )
    found = shapes.part(
        {"type": "search_result", "title": "T", "source": "u", "content": [{"type": "text", "text": "words"}]}, ()
    )
    assert plain.text == "T\nwords"
    assert (blocks.text, blocks.media, [inner.text for inner in blocks.parts]) == ("T\nC", None, ["words"])
    assert (found.kind, found.text, [inner.text for inner in found.parts]) == ("document", "T\nu", ["words"])


def test_an_mcp_result_is_read_where_it_stands() -> None:
    raw = {
        "type": "tool_result",
        "toolUseId": "a",
        "content": {"content": [{"type": "text", "text": "x"}, {"type": "image", "data": PNG, "mimeType": "image/png"}]},
    }
    part = shapes.part(raw, ())
    assert [(inner.kind, inner.place) for inner in part.parts] == [
        ("text", ("content", "content", 0)),
        ("image", ("content", "content", 1)),
    ]
    structured = shapes.part({"type": "tool_result", "tool_use_id": "a", "structuredContent": {"a": 1}}, ())
    assert structured.text == '{"a":1}'


@pytest.mark.parametrize(
    "resource, kind, text",
    [
        ({"uri": "u", "mimeType": "text/plain", "text": "row"}, "text", "row"),
        ({"uri": "u", "mimeType": "application/zip", "blob": "UEsDBGRlbW8="}, "opaque", "u"),
        ({"uri": "u", "mimeType": "image/png", "blob": PNG}, "image", ""),
        ({"uri": "u", "blob": PNG}, "image", ""),
        ("odd", "opaque", "odd"),
    ],
)
def test_embedded_resources(resource: object, kind: str, text: str) -> None:
    part = shapes.part({"type": "resource", "resource": resource}, ())
    assert (part.kind, part.text) == (kind, text)


@pytest.mark.parametrize(
    "raw, kind, text",
    [
        ({"type": "thinking", "thinking": "so", "signature": "x"}, "reasoning", "so"),
        ({"type": "redacted_thinking", "data": "EncryptedX"}, "reasoning", ""),
        ({"type": "reasoning", "reasoning": "so"}, "reasoning", "so"),
        ({"type": "refusal", "refusal": "no"}, "text", "no"),
        ({"type": "tool_use", "id": "a", "name": "n", "input": {"x": [1, "é"]}}, "call", '{"x":[1,"é"]}'),
        ({"type": "tool_call", "id": "a", "name": "n", "args": {}}, "call", "{}"),
        ({"type": "server_tool_use", "id": "a", "name": "n", "input": {}}, "server-call", "{}"),
        ({"type": "mcp_tool_use", "id": "a", "name": "n", "input": {}}, "server-call", "{}"),
        ({"type": "mcp_tool_result", "tool_use_id": "a", "content": "x"}, "server-result", "x"),
        ({"type": "advisor_tool_result", "tool_use_id": "a", "content": "x"}, "server-result", "x"),
        ({"type": "resource_link", "uri": "u", "name": "n"}, "opaque", "u\nn"),
        ({"type": "compaction", "content": "what was"}, "opaque", "what was"),
        ({"type": "new_thing", "a": {"b": ["one", 2, "two"]}}, "opaque", "one\ntwo"),
        ({"type": 7, "a": "one"}, "opaque", "one"),
        ({"type": "text", "text": 7}, "text", ""),
        ("bare", "text", "bare"),
        (None, "opaque", ""),
        ({"type": "resource", "resource": {"blob": 3}}, "opaque", ""),
        ({"type": "document"}, "opaque", ""),
        ({"type": "search_result", "title": "T"}, "document", "T"),
    ],
)
def test_other_parts(raw: object, kind: str, text: str) -> None:
    part = shapes.part(raw, ())
    assert (part.kind, part.text) == (kind, text)
    assert part.raw is raw


def test_a_medium_in_an_unknown_part_is_that_medium() -> None:
    """CM-08: a picture in an item that nobody knows counts as a picture; the item's other strings stay its text."""
    part = shapes.part({"type": "new_screenshot", "note": "the page", "shot": {"png": PNG}}, ("content", 2))
    assert (part.kind, part.text, part.place) == ("image", "the page", ("content", 2))
    assert part.media is not None
    assert (part.media.payload_at, part.media.facts.width) == (("content", 2, "shot", "png"), 8)


def test_several_media_in_an_unknown_part_stand_in_it() -> None:
    inner = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    part = shapes.part({"type": "gallery", "one": PNG, "two": URL, "three": inner, "four": "words"}, ("content", 0))
    assert (part.kind, part.text) == ("opaque", "words")
    assert [(found.kind, found.place) for found in part.parts] == [
        ("image", ("content", 0, "one")),
        ("image", ("content", 0, "two")),
        ("image", ("content", 0, "three")),
    ]


def test_a_fetched_page_holds_its_document() -> None:
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"}}
    raw = {
        "type": "web_fetch_tool_result",
        "tool_use_id": "a",
        "content": {"type": "web_fetch_result", "url": "u", "content": document},
    }
    part = shapes.part(raw, ())
    assert part.kind == "server-result"
    assert [found.kind for found in walk(part.parts)] == ["opaque", "document"]


def test_a_data_url_inside_a_text_stays_text() -> None:
    part = shapes.part({"type": "text", "text": f"![]({URL})"}, ())
    assert (part.kind, part.media, part.parts) == ("text", None, ())


def test_a_picture_that_carries_nothing_is_not_free() -> None:
    """INV-07: a part that says it is a picture is one, whatever is missing."""
    for raw in (
        {"type": "image"},
        {"type": "image", "source": {}},
        {"type": "image", "source": {"type": "base64"}},
        {"type": "image_url", "image_url": None},
    ):
        part = shapes.part(raw, ())
        assert part.media is not None
        assert (part.kind, part.media.inline, bool(part.media.facts.problem)) == ("image", 0, True)


def test_a_picture_under_a_key_that_nobody_knows_is_found() -> None:
    media = shapes.part({"type": "image", "pixels": PNG}, ()).media
    assert media is not None
    assert (media.payload_at, media.facts.width) == (("pixels",), 8)


def test_a_langchain_wrapper_is_looked_into() -> None:
    part = shapes.part({"type": "non_standard", "value": {"type": "image", "data": PNG, "mimeType": "image/png"}}, ())
    assert [found.kind for found in part.parts] == ["image"]
    assert shapes.part({"type": "non_standard", "value": 3}, ()).kind == "opaque"


def test_endless_nesting_ends() -> None:
    raw: dict[str, Any] = {"type": "text", "text": "x"}
    for _ in range(60):
        raw = {"type": "tool_result", "tool_use_id": "a", "content": [raw]}
    part = shapes.part(raw, ())
    depth = 0
    while part.parts:
        part, depth = part.parts[0], depth + 1
    assert depth == shapes.MAX_DEPTH
    assert part.kind == "opaque"


def test_a_repr_shows_no_payload() -> None:
    part = shapes.part({"type": "image", "data": PNG, "mimeType": "image/png"}, ())
    assert isinstance(part, Part)
    assert PNG[:12] not in repr(part)
