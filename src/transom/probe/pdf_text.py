"""How many characters a PDF shows, and how many of its pages draw a picture: an estimate from a bounded look at its pages.

The rule: characters are counted, never decoded. A font of two bytes a character counts half; a wide gap within a line is a space,
a new line a line break, as programs that extract text have it. A sample of the pages stands for all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from transom.probe.pdf_file import Document, Stream
from transom.probe.pdf_syntax import BLANK, LITERAL, Enough, Purse, Value, name

PAGES: Final = 64
"""Pages that are looked at, spread evenly."""
ROOM: Final = 2 << 20
"""Bytes that their contents may inflate to, at most `PAGE_ROOM` for a stream."""
PAGE_ROOM: Final = 1 << 18
STEPS: Final = 100_000
_FORMS: Final = 3
"""Levels of forms within a page."""
_DRAWN: Final = 200
"""Forms and pictures of one page that are looked at."""

_FONT: Final = re.compile(rb"/([^()<>\[\]{}/%" + BLANK + rb"]{1,127})[" + BLANK + rb"]+[-+0-9.]+[" + BLANK + rb"]+Tf\b")
_DRAW: Final = re.compile(rb"/([^()<>\[\]{}/%" + BLANK + rb"]{1,127})[" + BLANK + rb"]+Do\b")
_MARKED: Final = re.compile(rb"<<[^<>]*+(?:<[^<>]*+>[^<>]*+)*+>>")
_LITERAL: Final = re.compile(LITERAL, re.DOTALL)
_HEX: Final = re.compile(rb"<([0-9A-Fa-f" + BLANK + rb"]*+)>")
_ESCAPE: Final = re.compile(rb"\\(?:[0-7]{1,3}|\r\n|.)", re.DOTALL)
_GAP: Final = re.compile(rb"[)>][" + BLANK + rb"]*+-(?:[2-9][0-9]{2}|[0-9]{4,6})(?:\.[0-9]*+)?[" + BLANK + rb"]*+(?=[(<])")
"""A gap of 0.2 of the font's size and more."""
_LINE: Final = re.compile(rb"[" + BLANK + rb"][-+]?(?=[0-9.]*[1-9])[0-9.]{1,20}[" + BLANK + rb"]+T[dD]\b|\bT\*")
_PLACED: Final = re.compile(rb"([-+0-9.]{1,20})[" + BLANK + rb"]+Tm\b")


@dataclass(frozen=True, slots=True)
class Shown:
    """Characters that all pages show, and how many of them draw a picture."""

    chars: int = 0
    pictured: int = 0


def shown(document: Document, pages: list[dict[str, Value]], count: int) -> Shown:
    """The estimate for `count` pages, by those of `pages` that can be looked at within the bound."""
    step = max(1, -(-len(pages) // PAGES))
    document.purse = Purse(STEPS, ROOM)
    chars = pictured = seen = 0
    for page in pages[step // 2 :: step]:
        look = _Look(document)
        try:
            look.page(page)
        except Enough:
            break
        chars, pictured, seen = chars + look.chars, pictured + look.pictured, seen + 1
    return Shown(round(chars * count / seen), round(pictured * count / seen)) if seen else Shown()


class _Look:
    """One page."""

    __slots__ = ("chars", "document", "drawn", "pictured")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.chars = 0
        self.drawn = 0
        self.pictured = False

    def page(self, page: dict[str, Value]) -> None:
        contents = self.document.get(page.get("Contents"))
        streams = contents if isinstance(contents, list) else [page.get("Contents")]
        pieces = [self._content(self.document.get(one)) for one in streams]
        self._read(b"\n".join(pieces), self.document.fields(page.get("Resources")), 0)

    def _content(self, stream: Value | Stream) -> bytes:
        if not isinstance(stream, Stream):
            return b""
        self.document.purse.spend(1)
        if self.document.purse.room <= 0:
            raise Enough
        return self.document.inflated(stream, PAGE_ROOM)

    def _read(self, content: bytes, resources: dict[str, Value], depth: int) -> None:
        self.document.purse.spend(len(content) >> 8)
        content = self._without_pictures(content)
        objects = self.document.fields(resources.get("XObject"))
        for found in _DRAW.finditer(content) if objects else ():
            self._draw(self.document.get(objects.get(name(found[1]))), resources, depth)
        self.chars += _count(_MARKED.sub(b"", content), self.document, resources)

    def _draw(self, drawn: Value | Stream, resources: dict[str, Value], depth: int) -> None:
        self.drawn += 1
        if not isinstance(drawn, Stream) or self.drawn > _DRAWN:
            return
        if drawn.head.get("Subtype") == "Image":
            self.pictured = True
        elif drawn.head.get("Subtype") == "Form" and depth < _FORMS:
            own = self.document.fields(drawn.head.get("Resources"))
            self._read(self._content(drawn), own or resources, depth + 1)

    def _without_pictures(self, content: bytes) -> bytes:
        """The content without the bytes of pictures that stand in it."""
        kept, at = [], 0
        for _ in range(_DRAWN):
            start = content.find(b"ID", at)
            end = content.find(b"EI", start)
            begin = content.rfind(b"BI", at, start)
            if start < 0 or end < 0 or begin < 0:
                break
            self.pictured = True
            kept.append(content[at:begin])
            at = end + 2
        return b"".join([*kept, content[at:]])


def _count(content: bytes, document: Document, resources: dict[str, Value]) -> int:
    """Characters of one stream: its strings, font by font, and the spaces and line breaks between them."""
    first, *rest = list[bytes](_FONT.split(content))
    fonts = document.fields(resources.get("Font"))
    chars = _glyphs(first)
    wide = {font: _is_wide(document, fonts.get(name(font))) for font in set(rest[::2])}
    for font, piece in zip(rest[::2], rest[1::2], strict=True):
        chars += _glyphs(piece) // (2 if wide[font] else 1)
    if not chars:
        return 0
    placed = _PLACED.findall(content)
    lines = len(_LINE.findall(content)) + sum(one != other for one, other in pairwise(placed))
    return chars + min(chars, len(_GAP.findall(content)) + max(0, lines - 1))


def _glyphs(piece: bytes) -> int:
    """Bytes of the strings in a piece of content."""
    literals: list[bytes] = _LITERAL.findall(piece)
    text = _ESCAPE.sub(b".", b"".join(literals))
    pairs = b"".join(_HEX.findall(_LITERAL.sub(b"", piece) if literals else piece)).translate(None, b"\0\t\n\f\r ")
    return len(text) - 2 * len(literals) + (len(pairs) + 1) // 2


def _is_wide(document: Document, font: Value) -> bool:
    """Whether a font takes two bytes a character: all composite ones, as they are written today."""
    return document.fields(font).get("Subtype") == "Type0"
