"""PDFs that are hostile, damaged or no PDF at all: read within a bound, and never with an error."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from probe.drawn import text
from probe.written import DOCUMENTS, Counted, classic, packed, read, stream, tree
from transom.parts import Facts
from transom.probe import pdf as reader
from transom.probe.encoded import Encoded
from transom.probe.pdf_file import Document
from transom.probe.pdf_syntax import Enough, Purse, Torn, parse


def test_what_stands_between_is_not_decoded() -> None:
    objects = tree(3) | {50: stream(b"\x77" * 5_000_000, deflate=False)}
    source = Counted(classic(objects))
    assert reader.measure_pdf(source, Facts()).pages == 3
    assert source.asked < 200_000


def bomb(levels: int = 1) -> bytes:
    data = b"\0" * 200_000_000
    for _ in range(levels):
        data = zlib.compress(data, 9)
    return data


def rising(count: int) -> bytes:
    """A file of object streams, the length of each of which stands in the next."""
    objects = tree(1) | {3: b"<</Length 100 0 R>>stream\nBT (ab) Tj ET\nendstream"}
    for n in range(count):
        objects[1_000 + n] = b"<</Type/ObjStm/N 1/First 7/Length %d 0 R>>stream\n%6d 0 13\nendstream" % (101 + n, 100 + n)
    data, rows = b"%PDF-1.5\n", [bytes(6)] * 2_000
    for number, value in objects.items():
        rows[number] = struct.pack(">BIB", 1, len(data), 0)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, value)
    rows[100 : 100 + count] = [struct.pack(">BIB", 2, 1_000 + n, 0) for n in range(count)]
    table = stream(b"".join(rows), b"/Type/XRef/Size 2000/W[1 4 1]/Root 1 0 R")
    return data + b"2001 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, len(data))


HOSTILE = {
    "a bomb of content": classic(tree(9) | {3: b"<</Filter/FlateDecode/Length 9>>stream\n%s\nendstream" % bomb()}),
    "subsections": classic({n: b"<</Pages 2 0 R/Kids[%d 0 R]>>" % (n + 2) for n in range(1, 30_000, 2)}),
    "a bomb of objects": packed(tree(3)).replace(b"/Type/ObjStm", b"/Type/ObjStm /X 1"),
    "strings without end": b"%PDF-1.4\n" + b"".join(b"%d 0 obj (aaaa\n" % n for n in range(60_000)),
    "brackets": b"%PDF-1.4\n1 0 obj " + b"[" * 500_000,
    "brackets of strings": classic(tree(1, b"(" * 200_000)),
    "strings in strings": classic(tree(1, b"(a" * 100_000)),
    "tags": classic(tree(1, b"<<" * 100_000 + b"<" * 100_000)),
    "moves": classic(tree(1, b" 1.1.1.1.1.1.1.1" * 16_000)),
    "pictures": classic(tree(1, b"BI ID x EI " * 300)),
    "pictures without end": classic(tree(1, b"BI ID " * 40_000)),
    "fonts": classic(tree(1, b"/F1 1 Tf (a) Tj " * 16_000)),
    "draws": classic(tree(1, b"/F1 Do " * 30_000, b"/Resources<</XObject<</F1 3 0 R>>>>")),
    "streams without end": classic(tree(1) | dict.fromkeys(range(50, 20_000), b"<</Length 9>>stream\n")),
    "kids that are shared": classic(
        {1: b"<</Pages 2 0 R>>", 2: b"<</Kids[%s]>>" % b" ".join(b"%d 0 R" % n for n in range(4, 3_000))}
        | {3: b"[%s]" % (b"9999 0 R " * 20_000)} | dict.fromkeys(range(4, 3_000), b"<</Kids 3 0 R>>")
    ),
    "many kids": classic({1: b"<</Pages 2 0 R>>", 2: b"<</Count 99999999999/Kids[%s]>>" % (b"3 0 R " * 20_000), 3: b"<<>>"}),
    "a count": classic({1: b"<</Pages 2 0 R>>", 2: b"<</Count 99999999999/Kids[3 0 R]>>", 3: b"<</Type/Page>>"}),
    "objects": b"%PDF-1.4\n" + b"1 0 obj\n" * 300_000,
    "trailers": b"%PDF-1.4\n1 0 obj\n" + b"trailer<</Root 1 0 R>>\n" * 60_000,
    "lengths in lengths": rising(500),
    "references": classic({1: b"2 0 R"} | {n: b"%d 0 R" % (n + 1) for n in range(2, 2_000)}),
    "a wide table": packed(tree(3)).replace(b"/W[1 4 1]", b"/W[9 9 9]"),
    "an empty table": packed(tree(3)).replace(b"/W[1 4 1]", b"/W[0 0 0]"),
    "a short table": packed(tree(3)).replace(b"/W[1 4 1]", b"/W[1 4]  "),
    "a long table": classic(tree(3)).replace(b"xref\n1 1", b"xref\n0 9999999999"),
    "a prediction": packed(tree(3), predict=2).replace(b"/Columns 6", b"/Columns 99999999"),
    "a bomb of tables": b"%PDF-1.5\n1 0 obj\n<</Type/XRef/W[1 1 1]/Size 9/Filter/FlateDecode/Length 9>>stream\n" + bomb()
    + b"\nendstream\nendobj\nstartxref\n9\n%%EOF",
    "a bomb in a bomb": b"%PDF-1.5\n1 0 obj\n<</Type/XRef/W[1 1 1]/Size 9/Filter[/FlateDecode/FlateDecode]/Length 9>>stream\n"
    + bomb(2) + b"\nendstream\nendobj\nstartxref\n9\n%%EOF",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_no_more_than_the_purse(name: str) -> None:
    """Steps and bytes are paid for; what is owed at the end is one step of work at the most."""
    data = HOSTILE[name]
    document = Document(Encoded(text(data)), len(data), first := Purse(reader.STEPS, reader.INFLATED))
    found = reader.measure_document(document, Facts())
    assert found == replace(read(data), mime="")
    assert 0 <= found.pages <= len(data)
    for purse in (first, document.purse):
        assert purse.room >= 0
        assert purse.steps > -10_000


@settings(max_examples=300)
@given(
    st.sampled_from(sorted(DOCUMENTS)[:7]),
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 255)), max_size=8),
    st.integers(0, 3_000),
)
def test_damaged_files_never_raise(name: str, damage: list[tuple[int, int]], cut: int) -> None:
    broken = bytearray(DOCUMENTS[name][0])
    for at, byte in damage:
        broken[at % len(broken)] = byte
    read(bytes(broken[: len(broken) - cut % len(broken)]))


@pytest.mark.parametrize("data", [b">>", b"]", b"[1 2", b"<< /A endobj >>", b"(a", b"{", b""])
def test_what_is_no_object_is_torn(data: bytes) -> None:
    with pytest.raises(Torn):
        parse(data, 0, len(data), Purse(9, 0))


def test_an_empty_purse_ends_the_reading() -> None:
    with pytest.raises(Enough):
        parse(b"[1 2 3 4 5]", 0, 11, Purse(4, 0))


PIECES = [
    b"<<", b">>", b"[", b"]", b"(", b")", b"<41>", b"/Type", b"/Page", b"/Pages", b"/Kids", b"/Count", b"1 0 R", b"2 0 R",
    b"1 0 obj", b"2 0 obj", b"endobj", b"stream\n", b"endstream", b"/Length 5", b"trailer", b"/Root 1 0 R", b"/ObjStm",
    b"/N 3", b"/First 4", b"/XRef", b"/W[1 1 1]", b"xref\n0 3\n", b"startxref 9", b"%", b"\n", b"/Catalog", b"true", b"-1.5",
    b"/Encrypt 2 0 R", b"/Contents 2 0 R", b"#41", b"/Filter/FlateDecode", b"0 1 2 3 4 5", b"/Resources", b"/Prev 0", b"{",
    b"9" * 30,
]  # fmt: skip


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_pieces_in_any_order_never_raise(pieces: list[bytes]) -> None:
    read(b"%PDF-1.5\n" + b" ".join(pieces))
