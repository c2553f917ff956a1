"""Office documents: their types, their words in order, and archives that are none or mean harm."""

from __future__ import annotations

import io
import time
import tracemalloc
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.drawn import text
from transom import probe
from transom.parts import Facts
from transom.probe import office

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
WORD = (
    '<?xml version="1.0"?><w:document xmlns:w="x"><w:body><w:p><w:pPr><w:jc w:val="x"/></w:pPr><w:r><w:t xml:space="preserve">'
    "Fish &amp; chips</w:t><w:tab/><w:t>now</w:t></w:r></w:p><w:p><w:r><w:t/><w:t>later</w:t></w:r></w:p></w:body></w:document>"
)
STRINGS = "<sst><si><t>label</t></si><si><r><t>two </t></r><r><t>runs</t></r></si></sst>"
SHEET = (
    '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c><v>7.5</v></c>'
    '<c t="inlineStr"><is><t>here</t></is></c><c t="s"><v>99</v></c></row><row r="3"/></sheetData></worksheet>'
)


def archive(files: Mapping[str, str | bytes], *, packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", packed) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return data.getvalue()


def slide(words: str) -> str:
    return f"<p:sld><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:sld>"


WORDS = archive({"word/document.xml": WORD})
CASES = [
    (WORDS, DOCX, "Fish & chips\tnow\nlater"),
    (archive({"word/document.xml": WORD}, packed=zipfile.ZIP_STORED), DOCX, "Fish & chips\tnow\nlater"),
    (
        archive({"xl/workbook.xml": "", "xl/sharedStrings.xml": STRINGS, "xl/worksheets/sheet1.xml": SHEET}),
        office.XLSX,
        "<table><tr><td>label</td><td>two runs</td></tr><tr><td>7.5</td><td>here</td><td>99</td></tr></table>",
    ),
    (
        archive({"ppt/presentation.xml": "", **{f"ppt/slides/slide{i}.xml": slide(f"slide {i}") for i in (10, 1, 2)}}),
        PPTX,
        "slide 1\n\nslide 2\n\nslide 10",
    ),
    (
        archive({"content.xml": "<o><text:h>Title</text:h><text:p>One <text:span>two</text:span></text:p></o>"}),
        "application/vnd.oasis.opendocument",
        "Title\nOne two",
    ),
]


@pytest.mark.parametrize("data, mime, words", CASES)
def test_the_words_of_a_document_are_read_in_order(data: bytes, mime: str, words: str) -> None:
    assert probe.facts(text(data), "base64", "") == Facts(mime=mime, text_chars=len(words))
    assert probe.words(text(data)) == words


def test_an_archive_that_is_no_document_has_no_type() -> None:
    assert probe.facts(text(archive({"a.txt": "words"})), "base64", "application/zip") == Facts()
    assert probe.words(text(archive({"a.txt": "words"}))) == probe.words(text(b"words")) == ""


@pytest.mark.parametrize("declared", ["image/png", "application/pdf", "audio/wav"])
def test_an_archive_is_no_picture_and_no_pdf(declared: str) -> None:
    assert probe.facts(text(WORDS), "base64", declared).problem == "no known media format"


@pytest.mark.parametrize("data", [case[0] for case in CASES])
def test_no_prefix_and_no_rubbish_raises(data: bytes) -> None:
    whole = office.read(data)
    for end in range(len(data)):
        assert set(office.read(data[:end]).text) <= set(whole.text) | {"�"}
    assert office.read(data + b"rubbish" * 100) == whole


@given(st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), max_size=8))
def test_a_damaged_archive_never_raises(damage: list[tuple[int, int]]) -> None:
    broken = bytearray(CASES[2][0])
    for at, byte in damage:
        broken[at % len(broken)] = byte
    found = office.read(bytes(broken))
    assert 0 < found.share <= 1


def test_a_locked_entry_and_an_odd_packing_hold_no_words() -> None:
    for at, value in ((6, 1), (8, 9)):
        broken = bytearray(WORDS)
        broken[at] = value
        table = broken.rindex(b"PK\1\2")
        broken[table + at + 2] = value
        assert office.read(bytes(broken)) == (DOCX, "", 1.0)


def test_a_table_is_read_up_to_a_bound_of_entries() -> None:
    """The bound is a few thousand; what stands behind it is not seen."""
    padding = {f"{i}": "" for i in range(office.ENTRIES)}
    assert office.read(archive({**padding, "word/document.xml": WORD})) == office.Words()
    assert office.read(archive({"word/document.xml": WORD, **padding})).mime == DOCX


def test_what_is_beyond_the_bounds_is_reckoned_with() -> None:
    """A book of 30,000 paragraphs: the first part is read, the length of the whole known within 3 percent."""
    line = "word " * 15
    book = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for _ in range(30_000))
    found = probe.facts(text(archive({"word/document.xml": book})), "base64", "")
    assert found.text_chars == pytest.approx(30_000 * (len(line) + 1), rel=0.03)
    assert len(probe.words(text(archive({"word/document.xml": book})))) < found.text_chars / 2


BIG = "a" * 30_000
HOSTILE = {
    "bomb": {"word/document.xml": b"<w:t>" + b"a" * 50_000_000},
    "tags": {"word/document.xml": b"<a>" * 3_000_000},
    "openings": {"word/document.xml": b"<" * 8_000_000},
    "entities": {"word/document.xml": b"<w:t>" + b"&lt;" * 2_000_000},
    "strings": {"xl/workbook.xml": b"", "xl/sharedStrings.xml": b"</si>" * 2_000_000},
    "one string again and again": {
        "xl/workbook.xml": b"",
        "xl/sharedStrings.xml": f"<si><t>{BIG}</t></si>".encode(),
        "xl/worksheets/sheet1.xml": b"<row>" + b'<c t="s"><v>0</v></c>' * 100_000,
    },
    "digits": {"xl/workbook.xml": b"", "xl/worksheets/sheet1.xml": b'<row><c t="s"><v>' + b"9" * 5_000_000},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_take_neither_time_nor_memory(name: str) -> None:
    """Bounds: some seconds of processor time (a bound that did not hold would take minutes), 40 MiB."""
    payload = text(archive(HOSTILE[name]))
    tracemalloc.start()
    started = time.process_time()
    try:
        found = probe.facts(payload, "base64", "")
        spent, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.mime
    assert spent < 10
    assert peak < 40 << 20
