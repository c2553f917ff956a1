"""PDF: the pages that its tree holds, the size of the first, the text they show, and why it cannot be read.

The rule: pages are counted by walking the tree, within a bound; `/Count` is a claim that stands only where the walk was stopped
by the bound. What cannot be found out within the bound stays unknown, and unknown is no fault of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from transom.parts import Facts
from transom.probe.pdf_file import Document
from transom.probe.pdf_syntax import Enough, Purse, Ref, Value, whole
from transom.probe.pdf_text import shown
from transom.probe.window import CUT_OFF, Head, Other, Short, Source

NO_OBJECT: Final = "no PDF object inside"
NO_PAGE: Final = "no page inside"
LOCKED: Final = "password or encrypted"
LARGEST: Final = 64 << 20
"""Bytes beyond which a PDF is not read. Providers take 32 to 50 MB (2026-09)."""
STEPS: Final = 200_000
"""Tokens, table lines and the like that the tree may take."""
INFLATED: Final = 16 << 20
"""Bytes that tables and object streams may inflate to."""
NODES: Final = 4_000
"""Pages and nodes that are walked through. No provider takes more than 1,000 pages (2026-09)."""
_NEAR: Final = 1_024
"""Bytes within which readers look for the head of a PDF (ISO 32000-1, annex H, note 13)."""
_INHERITED: Final = ("Resources", "MediaBox")
_SIDE: Final = 14_400
"""Points of the longest side that viewers draw (ISO 32000-1, annex C)."""


def read_pdf(head: Head) -> Facts:
    """PDF, also behind up to 1,024 bytes of rubbish."""
    if b"%PDF-" in head.data[: _NEAR + 5]:
        return Facts(mime="application/pdf")
    if not head.complete and len(head.data) < _NEAR:
        raise Short(_NEAR + 5)
    raise Other


@dataclass(slots=True)
class _Walk:
    """What a walk through the tree saw: how many pages, their dictionaries, how many kids were missing, and if it was stopped."""

    count: int = 0
    pages: list[dict[str, Value]] = field(default_factory=list)
    lost: int = 0
    stopped: bool = False


def measure_pdf(source: Source, facts: Facts) -> Facts:
    """The facts with `pages`, `width` and `height` (points of the first page), `text_chars`, `image_pages`, and the problem."""
    data = source.whole() if source.size() <= LARGEST else None
    if data is None:
        return facts
    if b"obj" not in data:
        return replace(facts, problem=NO_OBJECT)
    document = Document(data, Purse(STEPS, INFLATED))
    try:
        walk, claim, locked = _walked(document)
    except Enough:
        return facts
    pages = max(walk.count, min(claim, len(data))) if walk.stopped else walk.count
    problem = LOCKED if locked else _problem(walk, claim, data)
    if problem or not pages:
        return replace(facts, pages=pages, problem=problem)
    width, height = _sides(document, walk.pages[0])
    text = shown(document, walk.pages, pages)
    return replace(facts, pages=pages, width=width, height=height, text_chars=text.chars, image_pages=text.pictured)


def _problem(walk: _Walk, claim: int, data: bytes) -> str:
    ends = data.rfind(b"%%EOF") >= 0
    if not walk.count and not walk.stopped:
        return NO_PAGE if ends else CUT_OFF
    return CUT_OFF if not ends and (walk.lost or walk.count < claim) and not walk.stopped else ""


def _walked(document: Document) -> tuple[_Walk, int, bool]:
    """The walk by the tables, or where they lead to no page, by a search; the count that the root claims; if it is locked."""
    document.open()
    walk, claim = _from_root(document)
    locked = _locked(document)
    if (not walk.count or walk.lost) and not document.searched and not locked:
        document.search()
    if document.searched and not locked:
        walk, claim = _from_root(document)
        if not walk.count:
            walk = _all_pages(document)
        locked = _locked(document)
    return walk, claim, locked


def _locked(document: Document) -> bool:
    return any(document.get(trailer.get("Encrypt")) is not None for trailer in document.trailers)


def _from_root(document: Document) -> tuple[_Walk, int]:
    for trailer in document.trailers:
        tree = document.fields(trailer.get("Root")).get("Pages")
        if tree is not None:
            walk = _walk(document, tree)
            if walk.count:
                return walk, whole(document.get(document.fields(tree).get("Count")))
    return _Walk(), -1


def _walk(document: Document, tree: Value) -> _Walk:
    """Each page in its order; a node that was seen is not walked again, a page that is shown again is a page more."""
    walk, seen = _Walk(), set[int]()
    todo: list[tuple[Value, dict[str, Value]]] = [(tree, {})]
    for _ in range(NODES):
        if not todo:
            return walk
        node, inherited = todo.pop()
        found = document.get(node)
        if not isinstance(found, dict):
            walk.lost += 1
            continue
        inherited = {**inherited, **{key: found[key] for key in _INHERITED if key in found}}
        kids = document.get(found.get("Kids"))
        if isinstance(kids, list):
            if id(found) not in seen:
                seen.add(id(found))
                todo += [(kid, inherited) for kid in reversed(kids)]
        elif found.get("Type") != "Pages":
            walk.count += 1
            walk.pages.append({**found, **inherited})
    walk.stopped = bool(todo)
    return walk


def _all_pages(document: Document) -> _Walk:
    """Every object that says it is a page, of a file whose tree is gone."""
    walk = _Walk()
    for number in document.numbers():
        page = document.fields(Ref(number))
        if page.get("Type") == "Page" and len(walk.pages) < NODES:
            walk.pages.append(page)
    walk.count = len(walk.pages)
    return walk


def _sides(document: Document, page: dict[str, Value]) -> tuple[int, int]:
    """Width and height of a page in points, as it is stored (before `/Rotate`); 0 where the box is none."""
    box = document.get(page.get("MediaBox"))
    corners = [document.get(one) for one in box] if isinstance(box, list) else []
    sides = [one for one in corners if isinstance(one, int | float)]
    if len(sides) != 4:  # two corners
        return 0, 0
    width, height = (round(min(abs(sides[i + 2] - sides[i]), _SIDE)) for i in (0, 1))
    return width, height
