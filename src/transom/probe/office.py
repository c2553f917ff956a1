"""Office documents: the words in a Word, Excel, PowerPoint or OpenDocument file, which is what providers read of one.

The rule: an archive's own figures are claims. Nothing inflates beyond a bound and no more tags than a bound are looked at; of a
document that is longer, the share that was read is known.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from transom.parts import Facts
from transom.probe.window import Head, Source

ZIP: Final = "application/zip"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OFFICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "word/document.xml": DOCX,
        "xl/workbook.xml": XLSX,
        "ppt/presentation.xml": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "content.xml": "application/vnd.oasis.opendocument",
    }
)
"""The entry that makes an archive a document, and the type of that."""
LARGEST: Final = 64 << 20
"""Bytes beyond which an archive is not read. Providers take 32 to 50 MB (2026-09)."""
ENTRIES: Final = 4_096
INFLATED: Final = 4 << 20
"""Bytes that all entries together may inflate to."""
TAGS: Final = 100_000
"""Tags that are looked at: some hundred pages of text, or twenty-five thousand cells."""
LETTERS: Final = 1 << 20
"""Characters of an entry's words that are read."""
CELL: Final = 32_767
"""Characters that a cell may hold (support.microsoft.com, Excel specifications and limits)."""
_END: Final = b"PK\5\6"
_NEAR: Final = 65_557
"""Bytes from the end within which the table's end stands (APPNOTE 4.3.16)."""
_FIELDS: Final = ((10, 12), (20, 24), (28, 30), (30, 32), (32, 34), (42, 46))
"""Where an entry of the table has its method, packed size, lengths of name, extra field and comment, and its start."""
_SHOWN: Final = re.compile(r"(?:word/(?:document|footnotes|endnotes)|ppt/slides/slide\d+|xl/worksheets/sheet\d+|content)\.xml")
_STRINGS: Final = "xl/sharedStrings.xml"
_NUMBER: Final = re.compile(r"\d{1,9}")
_BREAKS: Final = MappingProxyType({"p": "\n", "h": "\n", "tr": "\n", "table-row": "\n", "br": "\n", "tab": "\t"})
"""What ends a line, by the names of its elements."""
_SHARED: Final = re.compile(r"""\bt=["']s["']""")


class Words(NamedTuple):
    """A document's type and words, and what share of it they are; a type of "" where it is no document that is known."""

    mime: str = ""
    text: str = ""
    share: float = 1.0

    @property
    def letters(self) -> int:
        """Characters of the whole document."""
        return round(len(self.text) / self.share)


@dataclass(slots=True)
class _Bounds:
    """What may still be spent, and the packed bytes that were read of those that hold words."""

    room: int = INFLATED
    tags: int = TAGS
    read: float = 0.0
    all: int = 0
    shared: list[str] = field(default_factory=list)


def read_zip(_head: Head) -> Facts:
    """An archive; what it holds, and so its type, stands at its end."""
    return Facts(mime=ZIP)


def measure_zip(source: Source, facts: Facts) -> Facts:
    """The document's type and the characters of its words; an archive that is no document has no type that a model reads."""
    data = source.whole() if source.size() <= LARGEST else None
    found = read(data) if data else Words()
    return replace(facts, mime=found.mime, text_chars=found.letters if found.mime else 0)


def read(data: bytes) -> Words:
    """The words of a document; no more than the bounds allow."""
    entries = dict(_listed(data))
    mime = next((kind for name, kind in OFFICE.items() if name in entries), "")
    if not mime:
        return Words()
    bounds = _Bounds()
    words: list[str] = []
    names = sorted(filter(_SHOWN.fullmatch, entries), key=lambda name: [int(one) for one in _NUMBER.findall(name)])
    for name in (*((_STRINGS,) if _STRINGS in entries else ()), *names):
        text, packed, share = _inflated(data, entries[name], bounds)
        before = bounds.tags
        said, seen = _said(name, text, mime, bounds)
        bounds.all += packed
        bounds.read += packed * share * seen
        words += [said] if name != _STRINGS and before else []
    share = max(bounds.read / bounds.all, 1e-3) if bounds.all else 1.0
    return Words(mime, "\n\n".join(words), min(1.0, share))


def _said(name: str, text: str, mime: str, bounds: _Bounds) -> tuple[str, float]:
    """The words of an entry, and the share of it that was looked at."""
    if name == _STRINGS:
        bounds.shared, seen = _strings(text, bounds)
        return "", seen
    return _rows(text, bounds) if mime == XLSX else _lines(text, bounds, everything=name == "content.xml")


def _listed(data: bytes) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Each entry of the table at the end: its name, and where it starts, its packed size and how it is packed."""
    end = data.rfind(_END, max(0, len(data) - _NEAR))
    at = int.from_bytes(data[end + 16 : end + 20], "little") if end >= 0 else len(data)
    for _ in range(ENTRIES):
        row = data[at : at + 46]
        if len(row) < 46 or row[:4] != b"PK\1\2":
            return
        method, packed, named, extra, comment, start = (int.from_bytes(row[first:last], "little") for first, last in _FIELDS)
        yield data[at + 46 : at + 46 + named].decode("utf-8", "replace"), (start, packed, method)
        at += 46 + named + extra + comment


def _inflated(data: bytes, entry: tuple[int, int, int], bounds: _Bounds) -> tuple[str, int, float]:
    """An entry's text, its packed size, and the share that was inflated; no text where it is torn, locked or packed oddly."""
    start, packed, method = entry
    head = data[start : start + 30]
    if len(head) < 30 or head[:4] != b"PK\3\4" or head[6] & 1 or method not in {0, 8}:
        return "", 0, 1.0
    first = start + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    body, left = data[first : first + packed], b""
    if method == 8 and bounds.room > 0:
        inflater = zlib.decompressobj(-15)
        try:
            out = inflater.decompress(body, bounds.room)
        except zlib.error:
            return "", 0, 1.0
        left = inflater.unconsumed_tail
    else:
        out = body[: max(0, bounds.room)] if method == 0 else b""  # or there is no room left
        left = body[len(out) :]
    bounds.room -= len(out)
    return out.decode("utf-8", "replace"), len(body), 1 - len(left) / max(1, len(body))


class _Tag(NamedTuple):
    """A tag: where it starts and ends, its element's name without a prefix, and what it says."""

    start: int
    end: int
    text: str

    @property
    def closing(self) -> bool:
        """Whether it ends an element."""
        return self.text.startswith("/")

    @property
    def empty(self) -> bool:
        """Whether it is an element by itself."""
        return self.text.endswith("/")

    @property
    def name(self) -> str:
        """The element's."""
        words = self.text.strip("/").split(None, 1)
        return words[0].rpartition(":")[2] if words else ""


def _tags(text: str, bounds: _Bounds) -> Iterator[_Tag]:
    """The tags of a text, as many as the bound allows."""
    at = 0
    while bounds.tags > 0:
        start = text.find("<", at)
        end = text.find(">", start) if start >= 0 else -1
        if end < 0:
            return
        bounds.tags -= 1 + (end - at >> 6)
        at = end + 1
        yield _Tag(start, at, text[start + 1 : end])


def _lines(text: str, bounds: _Bounds, *, everything: bool = False) -> tuple[str, float]:
    """The words of a text document or of slides, a line a paragraph. `everything`: words stand outside `t` elements, too."""
    out: list[str] = []
    at, said = 0, everything
    for tag in _tags(text, bounds):
        if said:
            out.append(text[at : tag.start])
        name = tag.name
        said = everything or (name == "t" and not tag.closing and not tag.empty)
        if name in _BREAKS and (tag.closing or name in {"br", "tab"}):
            out.append(_BREAKS[name])
        at = tag.end
    words = "".join(out) + text[at : at + LETTERS] * said
    seen = _seen(text, at, bounds) * min(1.0, LETTERS / max(1, len(words)))
    return html.unescape(words[:LETTERS]).strip(), seen


def _seen(text: str, at: int, bounds: _Bounds) -> float:
    """The share of a text that was looked at."""
    return at / len(text) if bounds.tags <= 0 and text else 1.0


def _strings(text: str, bounds: _Bounds) -> tuple[list[str], float]:
    """The strings that a workbook's cells name by their number."""
    out: list[str] = []
    at = 0
    while bounds.tags > 0 and (end := text.find("</si>", at)) >= 0:
        bounds.tags -= 1
        out.append(_lines(text[at:end], bounds)[0])
        at = end + len("</si>")
    return out, _seen(text, at, bounds)


def _rows(text: str, bounds: _Bounds) -> tuple[str, float]:
    """A sheet as a table of HTML, as the one bill of a workbook has it (Claude in Converse, 2026-08: 124 of 128 tokens)."""
    table: list[list[str]] = []
    by_number, at, held = False, 0, False
    for tag in _tags(text, bounds):
        name = tag.name
        if held and tag.closing and table:
            said = html.unescape(text[at : min(tag.start, at + CELL)])
            number = int(said) if by_number and _NUMBER.fullmatch(said) else -1
            table[-1].append(bounds.shared[number] if 0 <= number < len(bounds.shared) else said)
            bounds.tags -= len(table[-1][-1]) >> 6
        if name == "row" and not tag.closing:
            table.append([])
        elif name == "c" and not tag.closing:
            by_number = _SHARED.search(tag.text) is not None
        held = name in {"v", "t"} and not tag.closing and not tag.empty
        at = tag.end
    if held and table:
        table[-1].append(html.unescape(text[at : at + CELL]))
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in table if row)
    return f"<table>{rows}</table>", _seen(text, at, bounds)
