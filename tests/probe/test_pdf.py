"""Pages, sides, text and faults of PDFs. What they may cost stands in test_pdf_bounds.py."""

from __future__ import annotations

import base64
import io
import re
import zlib
from collections.abc import Callable

import pytest
from PIL import Image

from probe.drawn import pdf, text
from probe.written import CONTENT, DOCUMENTS, Objects, classic, packed, read, stream, tree, update
from transom import probe
from transom.parts import Facts
from transom.probe import pdf as reader

FIRST_TABLE = re.compile(rb"startxref\n(\d+)")


def made(objects: Objects, extra: bytes = b"") -> Facts:
    return read(classic(objects, extra))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_pages_are_counted_in_every_spelling(name: str) -> None:
    data, pages = DOCUMENTS[name]
    found = read(data)
    assert (found.pages, found.problem, found.width, found.height) == (pages, "", 612, 792)
    assert probe.facts("\n".join(re.findall(".{1,76}", text(data))), "base64", "") == found
    assert probe.facts_of_bytes(data, len(data)) == found
    assert probe.facts_of_bytes(data[:99], len(data)) == Facts(mime="application/pdf")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_characters_are_those_that_are_shown(name: str) -> None:
    """Hello, a break, wor(ld), a, a space, bc, AB: 5 + 1 + 7 + 1 + 1 + 2 + 2."""
    data, pages = DOCUMENTS[name]
    assert read(data).text_chars == 19 * pages


def test_pillow_writes_pages_of_pictures() -> None:
    each = [Image.new("RGB", (80, 60), colour) for colour in ("red", "green", "blue", "white")]
    out = io.BytesIO()
    each[0].save(out, "PDF", save_all=True, append_images=each[1:])
    found = read(out.getvalue())
    assert (found.pages, found.image_pages, found.text_chars, found.width, found.height) == (4, 4, 0, 80, 60)


def test_the_newest_table_stands() -> None:
    old = classic(tree(3))
    place = int(FIRST_TABLE.findall(old)[-1])
    fewer = {2: b"<</Type/Pages/Kids[5 0 R 6 0 R]/Count 2>>"}
    assert read(update(old, fewer, b"/Root 1 0 R/Prev %d" % place)).pages == 2


def test_a_table_beside_a_stream_is_read_too() -> None:
    """A hybrid: what a classic table leaves out stands in a cross-reference stream."""
    old = packed(tree(3))
    place = int(FIRST_TABLE.findall(old)[-1])
    assert read(update(old, {90: b"null"}, b"/Root 1 0 R/XRefStm %d" % place)).pages == 3


def test_tables_that_lead_in_a_circle_end() -> None:
    data = classic(tree(3), b"/Prev 0000000000")
    assert read(data.replace(b"0000000000/Size", b"%010d/Size" % data.index(b"xref\n"))).pages == 3


@pytest.mark.parametrize("place", [b"0", b"7", b"99999999", b"x", b""])
def test_a_table_that_is_not_there_is_replaced_by_a_search(place: bytes) -> None:
    for make in (classic, packed):
        data = FIRST_TABLE.sub(b"startxref\n" + place, make(tree(3, CONTENT)))
        assert (read(data).pages, read(data).text_chars) == (3, 57)


@pytest.mark.parametrize("shift", [1, 20, -3])
def test_places_that_are_off_are_replaced_by_a_search(shift: int) -> None:
    data = re.sub(rb"(\d{10}) 00000 n", lambda found: b"%010d 00000 n" % (int(found[1]) + shift), classic(tree(3)))
    assert read(data).pages == 3


def test_a_line_of_a_table_that_is_none_is_replaced_by_a_search() -> None:
    assert read(re.sub(rb"\d{10} 00000 n", b"what is this, then", classic(tree(3)))).pages == 3
    assert read(re.sub(rb"(?<=\n2 1\n)\d{10} 00000 n", b"what is this, then", classic(tree(3)))).pages == 3


def test_a_line_that_is_none_for_a_page_alone_is_replaced_too() -> None:
    data = classic(tree(3))
    lines = data.index(b"xref\n") + len(b"xref\n1 7\n")
    at = lines + 20 * 5  # object 6, the second page
    assert read(data[:at] + b"what is this, then" + data[at + 18 :]).pages == 3


@pytest.mark.parametrize("trailer", [b"trailer(a)", b"trailer[]", b"nothing"])
def test_a_trailer_that_is_none_is_replaced_by_a_search(trailer: bytes) -> None:
    assert read(classic(tree(3)).replace(b"trailer\n", trailer)).pages == 3


def test_what_only_looks_like_a_page_is_none() -> None:
    """Comments, strings, names that start alike, pages of an older version."""
    lure = b"/Type /Page 3 0 obj << /Type /Pages /Count 99 /Kids [7 0 R] >> endobj trailer << /Encrypt 1 0 R >>"
    objects = tree(2, b"BT (%s) Tj ET" % lure)
    objects[20] = b"(" + lure + b")"
    objects[21] = b"<</Type/PageLabel/A<</Type/Page>>>>"
    objects[22] = stream(b"<</Type/Page>>" + lure, b"/Type/EmbeddedFile", deflate=False)
    data = classic(objects)
    for one in (data, data.replace(b"xref\n1 1", b"% " + lure + b"\nxref\n1 1")):  # the second has its table elsewhere
        assert (read(one).pages, read(one).problem) == (2, "")


def test_names_numbers_strings_and_comments_are_read_as_written() -> None:
    objects = {
        1: b"<</Type /Catalog % comment >> \n /Names null/Flag true/Pages 2 0 R/Note(a(b(c\\))))>>",
        2: b"<< /K#69ds [ 5 0 R % ) \n 6 0 R ] /Size -1.5 /Other .5 /Hex <41 4> >>",
        5: b"<</Type/Page/MediaBox[0 0 9.5 20 0 R]>>",
        6: b"<</Type/Page/MediaBox 21 0 R>>",
        20: b"7.25",
        21: b"[0 0 4 4]",
    }
    assert made(objects) == Facts(mime="application/pdf", pages=2, width=10, height=7)


@pytest.mark.parametrize("box", [b"", b"/MediaBox[1 2 3]", b"/MediaBox[(a)/b null true]", b"/MediaBox 1"])
def test_a_page_without_sides_has_none(box: bytes) -> None:
    found = made({1: b"<</Pages 2 0 R>>", 2: b"<</Kids[3 0 R]>>", 3: b"<</Type/Page%s>>" % box})
    assert (found.pages, found.width, found.height, found.problem) == (1, 0, 0, "")


def test_a_dictionary_may_be_that_of_a_stream() -> None:
    objects = tree(1, b"BT /F1 9 Tf (abcd) Tj ET") | {5: b"<</Type/Page/Contents 3 0 R/Resources 6 0 R>>"}
    assert made(objects | {6: stream(b"", b"/Font<</F1<</Subtype/Type0>>>>")}).text_chars == 2


def test_a_prediction_of_another_kind_is_replaced_by_a_search() -> None:
    assert read(packed(tree(3), predict=4)).pages == 3


def test_many_pages_are_those_that_the_root_claims() -> None:
    assert made(tree(5_000)).pages == 5_000
    assert made(tree(5_000) | {2: tree(5_000)[2].replace(b"/Count 5000", b"/Count 3")}).pages == reader.NODES - 1


def test_a_tree_of_many_levels_is_walked() -> None:
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R 4 0 R 9 0 R]/MediaBox[0 0 8 8]>>"}
    objects |= {3: b"<</Type/Pages/Kids[5 0 R]>>", 4: b"<</Type/Pages/Kids 6 0 R>>", 5: b"<</Type/Page>>", 6: b"[5 0 R 5 0 R]"}
    found = made(objects | {9: b"<</Type/Pages/Count 0>>"})
    assert (found.pages, found.width, found.problem) == (3, 8, "")


def test_a_tree_that_bites_its_tail_ends() -> None:
    objects = {1: b"<</Pages 2 0 R>>", 2: b"<</Kids[3 0 R 2 0 R 4 0 R]/Count 9>>", 3: b"<</Kids[2 0 R]>>", 4: b"<</Type/Page>>"}
    assert made(objects).pages == 1
    assert made(objects | {4: b"4 0 R"}).problem == "no page inside"


def test_missing_pages_are_not_counted() -> None:
    objects = tree(5)
    del objects[7]
    assert (made(objects).pages, made(objects).problem) == (4, "")


@pytest.mark.parametrize("make", [classic, packed])
def test_a_locked_file_is_named(make: Callable[..., bytes]) -> None:
    objects = tree(2) | {30: b"<</Filter/Standard/V 1/R 2>>"}
    found = read(make(objects, extra=b"/Encrypt 30 0 R"))
    assert (found.problem, found.pages) == ("password or encrypted", 2)
    assert read(make(objects, extra=b"/Encrypt null")).problem == ""
    torn = FIRST_TABLE.sub(b"", make(objects, extra=b"/Encrypt 30 0 R"))
    assert read(torn).problem == "password or encrypted"


def test_what_holds_no_page_is_named() -> None:
    assert made({1: b"<</Type/Catalog>>"}).problem == "no page inside"
    assert made({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Kids[]>>"}).problem == "no page inside"
    assert read(b"%PDF-1.4\nnothing at all\n%%EOF").problem == "no PDF object inside"
    assert read(b"%PDF-1.4\n1 0 obj\n<</Type/Cata").problem == "cut off"


def test_a_file_that_lost_pages_with_its_end_is_cut_off() -> None:
    data = classic(tree(20))
    cut = read(data[: data.index(b"\n15 0 obj")])
    assert (cut.problem, cut.pages) == ("cut off", 10)
    assert read(data[: data.index(b"xref")]).problem == ""


def test_every_prefix_is_read_and_none_claims_more() -> None:
    for data in (pdf(), classic(tree(3)), packed(tree(3)), packed(tree(3), predict=2)):
        for end in range(5, len(data)):
            found = read(data[:end])
            assert found.pages in range(4)
            assert found.problem in {"", "cut off", "no PDF object inside", "no page inside"}
            assert found.pages or found.problem


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("rubbish", [b"\0" * 5_000, b"\n\n", b"rubbish " * 300, b"1 0 obj", b"trailer <<"])
def test_rubbish_behind_the_end_changes_nothing(name: str, rubbish: bytes) -> None:
    data, _ = DOCUMENTS[name]
    assert read(data + rubbish) == read(data)


# ----------------------------------------------------------------------------------------------------------------- text

IMAGE = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/Length 1>>stream\nx\nendstream"


def shown(content: bytes, resources: bytes = b"", **more: bytes) -> Facts:
    objects = tree(1, content)
    objects[2] = objects[2].replace(b"/Resources<</Font<</F1 4 0 R>>>>", b"")
    objects[5] = b"<</Type/Page/Contents 3 0 R/Resources<<%s>>>>" % resources
    return made(objects | {int(number[1:]): value for number, value in more.items()})


def test_a_font_of_two_bytes_counts_half() -> None:
    fonts = b"/Font<</N 10 0 R/W 11 0 R>>"
    content = b"BT /N 9 Tf (abcd) Tj /W 9 Tf <00410042> Tj (\\000A\\000B\\000C) Tj /N 9 Tf (ef) Tj ET"
    found = shown(content, fonts, o10=b"<</Subtype/Type1>>", o11=b"<</Subtype/Type0>>")
    assert found.text_chars == 4 + 2 + 3 + 2


def test_gaps_are_spaces_and_other_heights_are_breaks() -> None:
    assert shown(b"BT [(ab)-250(cd)-100(ef)-1200.5 (gh)] TJ ET").text_chars == 10
    assert shown(b"BT 1 0 0 1 0 700 Tm (ab) Tj 1 0 0 1 50 700 Tm (cd) Tj 1 0 0 1 0 680 Tm (ef) Tj ET").text_chars == 6
    assert shown(b"BT 1 0 0 1 0 9 Tm (ab) Tj 1 0 0 1 0 8 Tm (cd) Tj 1 0 0 1 0 7 Tm (ef) Tj ET").text_chars == 7
    assert shown(b"BT 0 9 Td (ab) Tj 4 0 Td (cd) Tj T* (ef) Tj ET").text_chars == 7


def test_escapes_outside_of_strings_take_nothing_away() -> None:
    assert shown(b"BT (a) Tj ET \\000\\000\\000").text_chars == 1
    assert shown(b"BT <00> Tj (\\ ET \\(\\123").text_chars == 1


def test_marks_are_no_text() -> None:
    assert shown(b"/P <</MCID 0/Lang (en-US)/ActualText <FEFF>>> BDC BT (ab) Tj ET EMC").text_chars == 2


def test_pictures_are_seen_in_the_page_in_its_forms_and_inline() -> None:
    draws = b"/XObject<</I 10 0 R/F 11 0 R/G 12 0 R/X null>>"
    form = stream(b"/I Do BT (in a form) Tj ET", b"/Subtype/Form/Resources<</XObject<</I 10 0 R>>>>")
    assert shown(b"/I Do BT (a) Tj ET", draws, o10=IMAGE).image_pages == 1
    inner = shown(b"/F Do", draws, o10=IMAGE, o11=form)
    assert (inner.image_pages, inner.text_chars) == (1, 9)
    assert shown(b"/X Do BT (a) Tj ET", draws, o10=IMAGE).image_pages == 0
    assert shown(b"BT (a) Tj ET", draws, o10=IMAGE).image_pages == 0
    inline = shown(b"BI /W 1 /H 1 ID (((<< EI BT (ab) Tj ET")
    assert (inline.image_pages, inline.text_chars) == (1, 2)
    assert shown(b"BT (BID for it) Tj ET").image_pages == 0
    itself = stream(b"/G Do BT (abc) Tj ET", b"/Subtype/Form")
    assert shown(b"/G Do", draws, o12=itself).text_chars == 9


def test_contents_come_in_pieces_and_through_filters() -> None:
    plain = b"BT (Hello) Tj ET"
    ascii85 = base64.a85encode(zlib.compress(plain), adobe=True)[2:]
    objects = tree(1) | {
        10: b"<</Length 11 0 R/Filter[/ASCII85Decode/FlateDecode]>>stream\r\n%s\nendstream" % ascii85,
        11: b"%d" % len(ascii85),
        12: b"<</Length 999/Filter/AHx>>stream\n%s>\nendstream" % plain.hex().encode(),
        13: b"<</Filter/LZWDecode/Length 3>>stream\nabc\nendstream",
        14: b"<</Filter/FlateDecode/Length 3>>stream\nabc\nendstream",
        15: b"<</Length 2>>stream\n%s" % plain,
        16: b"<</Filter/A85/Length 6>>stream\n\xff\xff\xff\xff\xff\xff\nendstream",
        17: b"<</Filter/A85/Length 2>>stream\nz~>\nendstream",
        5: b"<</Type/Page/Contents[10 0 R 12 0 R 13 0 R 14 0 R 4 0 R 16 0 R 17 0 R 15 0 R]>>",
    }
    assert made(objects).text_chars == 15


def test_a_sample_stands_for_all_pages() -> None:
    objects = tree(300)
    objects |= {1_000: stream(b"BT (twice as long) Tj ET")}
    objects |= {n: objects[n].replace(b"3 0 R", b"1000 0 R") for n in range(5, 305, 10)}
    truth = 5 * 270 + 13 * 30
    assert made(objects).text_chars == pytest.approx(truth, rel=0.1)
