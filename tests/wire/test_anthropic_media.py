"""Pictures, documents and parts of other forms that Anthropic refuses in one message, and what goes out instead."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from bodies import png
from wire.anthropic_bodies import MARK, SAID, Json, answers, asked, claude, first, fitted, mended, taken, text

# ---------------------------------------------------------------------------------------------------- pictures and documents


PNG = base64.b64encode(png()).decode()
ODD = next(code for code in (base64.b64encode(png(shade=n)).decode() for n in range(256)) if "/" in code and "=" in code)
PDF = base64.b64encode(
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
).decode()
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def source(data: str, mime: str | None = "image/png") -> Json:
    return {"type": "base64", **({"media_type": mime} if mime else {}), "data": data}


def image(data: str = PNG, mime: str | None = "image/png") -> Json:
    return {"type": "image", "source": source(data, mime)}


def document(data: str, mime: str | None, **more: Any) -> Json:
    return {"type": "document", "source": source(data, mime), **more}


def encoded(words: str, encoding: str = "utf-8") -> str:
    return base64.b64encode(words.encode(encoding)).decode()


@pytest.mark.parametrize(
    ("data", "mime", "goes"),
    [
        (f"data:image/png;base64,{PNG}", "image/png", image()),
        (f"data:image/png;base64,{PNG}", None, image()),
        (f"data:image/png;base64,{PNG}", "image/jpeg", image()),
        ("\n".join(PNG[n : n + 76] for n in range(0, len(PNG), 76)), "image/png", image()),
        (f" {PNG}\r\n", "image/png", image()),
        (ODD.replace("+", "-").replace("/", "_"), "image/png", image(ODD)),
        (ODD.rstrip("="), "image/png", image(ODD)),
    ],
)
def test_base64_goes_out_alone_and_in_its_plain_alphabet(data: str, mime: str | None, goes: Json) -> None:
    body = asked(image(data, mime))
    assert answers(body)["base64"] == "messages.0.content.0.image.source.base64: invalid base64 data"
    assert first(body) == [goes]
    result = {"type": "tool_result", "tool_use_id": "a", "content": [image(data, mime)]}
    talk = asked(SAID, said=({"type": "tool_use", "id": "a", "name": "look", "input": {}},))
    talk["messages"][2]["content"] = [result]
    place = "messages.2.content.0.tool_result.content.0"
    assert answers(talk)["base64"] == f"{place}.image.source.base64: invalid base64 data"
    assert fitted(talk)["messages"][2]["content"] == [{**result, "content": [goes]}]


def test_a_picture_under_another_kind_of_source_moves_to_its_own() -> None:
    url = {"type": "url", "url": "https://example.com/a.png"}
    assert first(asked({"type": "image", "source": {"type": "url", "url": f"data:image/png;base64,{PNG}"}})) == [image()]
    assert first(asked({"type": "image", "source": source(url["url"])})) == [{"type": "image", "source": url}]
    body = asked(image(PNG, None))
    assert answers(body) == {"document-type": "messages.0.content.0.image.source.base64.media_type: Field required"}
    assert first(body) == [image()]


@pytest.mark.parametrize(
    "part",
    [
        image(),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        {"type": "document", "source": source(PDF, "application/pdf")},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "so"}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "so"}, image()]}},
        {"type": "image", "source": {"type": "unheard_of", "data": f" {PNG}"}},
        {"type": "hologram", "source": {"type": "base64", "data": "a-b"}},
        {"type": "audio", "source": {"type": "base64", "media_type": "audio/wav", "data": PNG}},
    ],
)
def test_what_the_provider_takes_or_nobody_knows_stays(part: Json) -> None:
    taken(asked(part))


def test_what_is_no_base64_is_left_out_as_ever() -> None:
    [part] = first(asked(image("data:image/png;base64,@@ no @@")))
    assert part["text"].startswith("[image ")
    [part] = first(asked({"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "data:,<svg/>"}}))
    assert part["text"].startswith("[image ")
    assert first(asked(image(PNG[:-3])))[0]["type"] == "text"


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (image(), "[image 64x48 "),
        ({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}, "[image "),
        (document(PDF, "application/pdf", title="a.pdf"), 'a.pdf\n[document 9x9 "a.pdf" '),
        (document(encoded("so it is"), "text/plain", title="T"), "T\nso it is"),
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "so"}}, "so"),
        ({"type": "document", "source": {"type": "content", "content": [text("in"), image()]}}, "in\n[image 64x48 "),
    ],
)
def test_pictures_and_documents_in_an_answer_are_told_as_text(part: Json, says: str) -> None:
    body = claude(SAID, {**part, "cache_control": MARK})
    assert answers(body) == {"assistant-media": f"'{part['type']}' blocks are not permitted within assistant turns"}
    kept, told = mended(body)
    assert kept == SAID
    assert told["text"].startswith(says)
    assert told["cache_control"] == MARK


@pytest.mark.parametrize(
    ("part", "goes"),
    [
        (document(encoded("# so"), "text/markdown", title="T"), {**text("# so"), "title": "T"}),
        (document(encoded("a;ä", "cp1252"), "text/csv"), text("a;ä")),
        (document(encoded('{"a": 1}'), "application/json"), text('{"a": 1}')),
        (document(f"data:text/plain;base64,{encoded('so')}", "text/plain"), text("so")),
    ],
)
def test_a_text_that_is_sent_as_a_file_goes_out_as_text(part: Json, goes: Json) -> None:
    body = asked(part)
    words = "messages.0.content.0.document.source.base64.media_type: Input should be 'application/pdf'"
    assert answers(body) == {"document-type": words}
    plain = {"type": "text", "media_type": "text/plain", "data": goes.pop("text")}
    assert first(body) == [{**goes, "type": "document", "source": plain}]


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (document("UEsDBBQAAAAIAAAAIQA=", DOCX, title="r.docx", cache_control=MARK), 'r.docx\n[document "r.docx" '),
        (document(encoded(" "), "application/json"), "[document "),
        (document("QUJDR", "text/plain"), "[document "),
        (document(encoded("ä", "cp1252"), "application/json"), "[document "),
    ],
)
def test_a_file_that_is_neither_says_what_it_was(part: Json, says: str) -> None:
    [told] = first(asked(part))
    assert told["text"].startswith(says)
    assert told.get("cache_control") == part.get("cache_control")


def test_a_document_is_declared_as_what_it_is() -> None:
    assert first(asked(document(PDF, "application/octet-stream"))) == [document(PDF, "application/pdf")]
    body = asked(document(PDF, None))
    assert answers(body) == {"document-type": "messages.0.content.0.document.source.base64.media_type: Field required"}
    assert first(body) == [document(PDF, "application/pdf")]
    assert first(asked(document(f"data:application/pdf;base64,{PDF}", None))) == [document(PDF, "application/pdf")]
    assert first(asked(document(PNG, "image/png", title="a"))) == [image()]
    body = asked({"type": "document", "source": {"type": "text", "media_type": "text/markdown", "data": "so"}})
    assert answers(body) == {
        "document-type": "messages.0.content.0.document.source.text.media_type: Input should be 'text/plain'"
    }
    assert first(body) == [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "so"}}]


# ------------------------------------------------------------------------------------------------------ parts of other forms


SHOT = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
RESOURCE = "resource"


def embedded(**more: Any) -> Json:
    return {"type": RESOURCE, "resource": {"uri": "file:///a", **more}}


@pytest.mark.parametrize(
    ("part", "goes"),
    [
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}, image()),
        ({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, SHOT),
        ({"type": "image_url", "image_url": "https://example.com/a.png", "cache_control": MARK}, {**SHOT, "cache_control": MARK}),
        ({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}, image()),
        ({"type": "input_text", "text": "so"}, text("so")),
        ({"type": "output_text", "text": "so", "annotations": []}, text("so")),
        (embedded(mimeType="text/plain", text="so"), text("so")),
        (embedded(mimeType="image/png", blob=PNG), image()),
        (embedded(mimeType="application/pdf", blob=PDF), document(PDF, "application/pdf")),
        (embedded(mimeType="application/json", blob=encoded("{}")), text("{}")),
        (embedded(mimeType="application/zip", blob="AAAA"), text("[resource file:///a left out]")),
        (embedded(), text("[resource file:///a left out]")),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, text("file:///a\na")),
    ],
)
def test_a_part_of_another_form_goes_out_in_this_one_s_shape(part: Json, goes: Json) -> None:
    body = asked(text("go"), part)
    kind = part["type"]
    words = f"messages.0.content.1: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    assert answers(body) == {"part-type": words}
    assert first(body) == [text("go"), goes]


def test_a_part_that_this_form_has_no_shape_for_says_what_it_was() -> None:
    sound = {"type": "audio", "data": "UklGRiQAAABXQVZF", "mimeType": "audio/wav"}
    stored = {"type": "input_image", "file_id": "file-1"}
    assert [part["text"][:7] for part in first(asked(sound, stored))] == ["[audio ", "[image "]
    told = mended(claude(SAID, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}))[1]["text"]
    assert told.startswith("[image ")


def test_an_mcp_picture_stands_in_a_source() -> None:
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    body = asked(text("go"), said=(call,))
    result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    body["messages"][2]["content"] = [result]
    place = "messages.2.content.0.tool_result.content.0"
    assert answers(body) == {"part-type": f"{place}.image.source: Field required"}
    assert fitted(body)["messages"][2]["content"] == [{**result, "content": [image()]}]
