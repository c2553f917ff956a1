"""Documents and sound: what their kind, their place and the day make of the price."""

from __future__ import annotations

import base64
from typing import Any

import pytest

import transom
from probe.test_office import archive
from transom import catalog, probe
from transom.parts import Facts, Media
from transom.pricing import PriceList
from transom.wire import FORMS

PAGE = Facts(mime="application/pdf", pages=1, width=612, height=792)
DOCX = base64.b64encode(archive({"word/document.xml": "<w:p><w:t>four words of text</w:t></w:p>"})).decode()
ZIP = base64.b64encode(archive({"notes.bin": "four words of text"})).decode()


def words(text: str) -> int:
    return len(text.split())


def price(api: str, content: Any, model: str, on: str = "") -> int:
    conversation = FORMS[api].read({"model": model, "messages": [{"role": "user", "content": content}]})
    prices = PriceList(catalog.card(model, api=api, on=on), count=words).at(conversation)
    return prices.message(conversation.messages[0]).tokens


def file(data: str, mime: str) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": "f", "file_data": f"data:{mime};base64,{data}"}}


@pytest.mark.parametrize(
    "model, around", [("gpt-4o", 4), ("gpt-5.4", 32), ("claude-sonnet-4-5", 38), ("mistral-small-latest", 15)]
)
def test_an_office_document_costs_its_words(model: str, around: int) -> None:
    """A workbook and a Word file, 2 of 2 requests within 5 percent (docs/pricing.md)."""
    mime = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    base = price("openai-chat", "", model)
    assert price("openai-chat", [file(DOCX, mime)], model) == base + 4 + around


def test_the_words_of_an_office_document_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them takes longer than the rest of a fit; what was counted is remembered with the texts' counts."""
    read: list[str] = []
    words_of = probe.words

    def counted(payload: str) -> str:
        read.append(payload)
        return words_of(payload)

    monkeypatch.setattr(probe, "words", counted)
    mime = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    body = {"messages": [{"role": "user", "content": [file(DOCX, mime)]}]}
    first = transom.fit(body, api="openai-chat", model="gpt-4o")
    again = transom.fit(body, api="openai-chat", model="gpt-4o", state=first.state)
    assert (again.report.after, read) == (first.report.after, [DOCX])


def test_an_archive_of_which_nothing_is_known_costs_the_flat_price() -> None:
    assert price("openai-chat", [file(ZIP, "application/zip")], "mistral-small-latest") == 2 + 1_000


def test_bedrock_names_the_format_of_an_office_document() -> None:
    document = {"document": {"format": "docx", "name": "d", "source": {"bytes": DOCX}}}
    part = FORMS["bedrock"].read({"messages": [{"role": "user", "content": [document]}]}).messages[0].parts[0]
    assert part.media is not None
    assert part.media.declared == part.media.facts.mime


def test_a_document_under_document_url_is_one() -> None:
    """Mistral's shape (docs.mistral.ai, document understanding): a URL or a data URL."""
    url = {"type": "document_url", "document_url": f"data:application/pdf;base64,{base64.b64encode(b'%PDF-').decode()}"}
    far = {"type": "document_url", "document_url": "https://example.com/a.pdf", "document_name": "a.pdf"}
    parts = FORMS["openai-chat"].read({"messages": [{"role": "user", "content": [url, far]}]}).messages[0].parts
    assert [(part.kind, part.media and part.media.source) for part in parts] == [("document", "data-url"), ("document", "url")]


@pytest.mark.parametrize(
    "on, first, further",
    [("2025-06-30", 216, 216), ("2025-07-01", 216, 13), ("2026-02-28", 216, 13), ("2026-03-01", 996, 996), ("", 996, 996)],
)
def test_the_picture_of_a_page_by_day(on: str, first: int, further: int) -> None:
    """docs/pricing.md: the second document of a message is billed without the file's share from July 2025 on (3 requests)."""
    rule = catalog.card("gpt-4.1-nano", on=on).media
    assert rule.document(PAGE) == first + 4
    assert rule.document(PAGE, further=True) == further + 4
    assert catalog.card("gpt-4.1-nano", api="openai-responses", on=on).media.document(PAGE, further=True) == 4


def test_only_documents_of_the_same_message_are_further_ones() -> None:
    pdf = base64.b64encode(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>\n%%EOF"
    ).decode()
    one = file(pdf, "application/pdf")
    single, two = (price("openai-chat", [one] * n, "gpt-4.1-nano", "2025-09-01") for n in (1, 2))
    assert (single, two) == (4 + 220, 4 + 220 + 17)


def test_sound_has_four_tokens_around_it_on_openai() -> None:
    """6 of 6 recorded requests; the seconds are by the guide."""
    sound = Media(kind="audio", source="base64", payload="x", inline=1, facts=Facts(seconds=2.5))
    assert PriceList(catalog.card("gpt-4o")).price_media(sound).tokens == 25 + 4
    assert PriceList(catalog.card("gpt-4o")).explain(sound) == "2.50 seconds x 10 + 4 = 29 tokens"
