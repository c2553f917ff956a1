"""How many characters a PDF shows, and how many of its pages draw a picture: an estimate from a bounded look at its pages.

The rule: characters are counted, never decoded. A font of two bytes a character counts half; a wide gap within a line is a space,
a new line a line break, as programs that extract text have it. A sample of the pages stands for all of them.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, TypeAlias

from transom.frozen import Frozen
from transom.probe.pdf_file import Document, Stream
from transom.probe.pdf_syntax import BLANK, LITERAL, Enough, Purse, Value, name

PAGES: Final = 32
"""Pages that are looked at."""
ROOM: Final = 1 << 20
"""Bytes that their contents may inflate to, at most `PAGE_ROOM` for a stream."""
PAGE_ROOM: Final = 1 << 18
STEPS: Final = 50_000
Leaf: TypeAlias = tuple[Value, dict[str, Value]]
"""A page, mostly as a reference, and what it inherits."""
_SIDE: Final = 14_400
"""Points of the longest side that viewers draw (ISO 32000-1, annex C)."""
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


class Shown(Frozen, frozen=True):
    """Characters that all pages show, and how many of them draw a picture."""

    chars: int = 0
    pictured: int = 0


def shown(document: Document, pages: list[Leaf], count: int) -> tuple[Shown, tuple[int, int]]:
    """The estimate for `count` pages, by those of `pages` that can be looked at within the bound; and the sides of the first."""
    document.purse = Purse(STEPS, ROOM)
    chars = pictured = seen = 0
    sides = 0, 0
    try:
        sides = _sides(document, pages[0])
        for node, inherited in _sample(pages):
            look = _Look(document)
            look.page({**inherited, **document.fields(node)})
            chars, pictured, seen = chars + look.chars, pictured + look.pictured, seen + 1
    except Enough:
        pass
    return Shown(round(chars * count / seen), round(pictured * count / seen)) if seen else Shown(), sides


def _sample(pages: list[Leaf]) -> list[Leaf]:
    """Pages from all over the file, one from each of as many stretches, at changing places, since pages may come in a rhythm."""
    bounds = [i * len(pages) // PAGES for i in range(PAGES + 1)]
    return [pages[low + (7 * i + 3) % (high - low)] for i, (low, high) in enumerate(pairwise(bounds)) if high > low]


def _sides(document: Document, page: Leaf) -> tuple[int, int]:
    """Width and height of a page in points, as it is stored (before `/Rotate`); 0 where the box is none."""
    box = document.get(document.fields(page[0]).get("MediaBox", page[1].get("MediaBox")))
    corners = [document.get(one) for one in box] if isinstance(box, list) else []
    sides = [one for one in corners if isinstance(one, int | float)]
    if len(sides) != 4:  # two corners
        return 0, 0
    width, height = (round(min(abs(sides[i + 2] - sides[i]), _SIDE)) for i in (0, 1))
    return width, height


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
    """Characters of one stream: its strings, those of wide fonts apart, and the spaces and line breaks between them."""
    fonts = document.fields(resources.get("Font"))
    wide = {font for font in set(_FONT.findall(content)) if _is_wide(document, fonts.get(name(font)))}
    narrow, broad = _apart(content, wide) if wide else (content, b"")
    chars, bare = _glyphs(narrow)
    if broad:
        more, rest = _glyphs(broad)
        chars, bare = chars + more // 2, bare + rest
    if not chars:
        return 0
    lines = len(_LINE.findall(bare)) + _moves(bare)
    return chars + min(chars, len(_GAP.findall(bare)) + max(0, lines - 1))


def _apart(content: bytes, wide: set[bytes]) -> tuple[bytes, bytes]:
    """What is shown in narrow fonts, and what in wide ones."""
    first, *rest = _FONT.split(content)
    narrow, broad = [first], list[bytes]()
    for font, piece in zip(rest[::2], rest[1::2], strict=True):
        (broad if font in wide else narrow).append(piece)
    return b"\n".join(narrow), b"\n".join(broad)


def _moves(bare: bytes) -> int:
    """How often a line is placed at another height than the one before."""
    placed = _PLACED.findall(bare) if b"Tm" in bare else []
    return sum(one != other for one, other in pairwise(placed))


def _glyphs(piece: bytes) -> tuple[int, bytes]:
    """Bytes of the strings in a piece of content, and the piece with empty strings in their place."""
    bare = _LITERAL.sub(b"()", piece)
    inside = len(piece) - len(bare)
    if b"\\" in piece:
        inside = max(0, inside - _escaped(piece) + _escaped(bare))
    if b"<" in bare:
        pairs = b"".join(_HEX.findall(bare)).translate(None, b"\0\t\n\f\r ")
        return inside + (len(pairs) + 1) // 2, _HEX.sub(b"<>", bare)
    return inside, bare


def _escaped(piece: bytes) -> int:
    """Bytes that escapes take beyond the characters they stand for."""
    return sum(len(found) - 1 for found in _ESCAPE.findall(piece))


def _is_wide(document: Document, font: Value) -> bool:
    """Whether a font takes two bytes a character: all composite ones, as they are written today."""
    return document.fields(font).get("Subtype") == "Type0"
