"""PDF: the pages that its tree holds, the size of the first, the text they show, and why it cannot be read.

The rule: pages are counted by walking the tree, within a bound; `/Count` is a claim that stands only where the walk was stopped
by the bound. What cannot be found out within the bound stays unknown, and unknown is no fault of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from transom.parts import Facts
from transom.probe.pdf_file import Document
from transom.probe.pdf_syntax import Enough, Purse, Value, whole
from transom.probe.pdf_text import Leaf, shown
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


def read_pdf(head: Head) -> Facts:
    """PDF, also behind up to 1,024 bytes of rubbish."""
    if b"%PDF-" in head.data[: _NEAR + 5]:
        return Facts(mime="application/pdf")
    if not head.complete and len(head.data) < _NEAR:
        raise Short(_NEAR + 5)
    raise Other


@dataclass(slots=True)
class _Walk:
    """What a walk through the tree saw: the pages, each with what it inherits, how many kids were missing, if it was stopped."""

    pages: list[Leaf] = field(default_factory=list)
    lost: int = 0
    stopped: bool = False


def measure_pdf(source: Source, facts: Facts) -> Facts:
    """The facts with `pages`, `width` and `height` (points of the first page), `text_chars`, `image_pages`, and the problem."""
    size = source.size()
    if size > LARGEST or not source.part(size - 1, 1):
        return facts
    return measure_document(Document(source, size, Purse(STEPS, INFLATED)), facts)


def measure_document(document: Document, facts: Facts) -> Facts:
    """The same of an open document, as far as its purse goes."""
    try:
        walk, claim, locked = _walked(document)
    except Enough:
        return facts
    count = len(walk.pages)
    pages = max(count, min(claim, document.size)) if walk.stopped else count
    problem = LOCKED if locked else _problem(document, walk, claim)
    if problem or not pages:
        return replace(facts, pages=pages, problem=problem)
    text, (width, height) = shown(document, walk.pages, pages)
    return replace(facts, pages=pages, width=width, height=height, text_chars=text.chars, image_pages=text.pictured)


def _problem(document: Document, walk: _Walk, claim: int) -> str:
    """What a search, which is made where the tables lead to no whole tree, could not mend."""
    if not document.searched or walk.stopped:
        return ""
    ends = document.data.rfind(b"%%EOF") > document.data.rfind(b"obj")
    if not walk.pages:
        return NO_OBJECT if b"obj" not in document.data else NO_PAGE if ends else CUT_OFF
    return CUT_OFF if not ends and (walk.lost or len(walk.pages) < claim) else ""


def _walked(document: Document) -> tuple[_Walk, int, bool]:
    """The walk by the tables, or where they lead to no page, by a search; the count that the root claims; if it is locked."""
    document.open()
    walk, claim = _from_root(document)
    locked = _locked(document)
    if (not walk.pages or walk.lost) and not document.searched and not locked:
        document.search()
    if document.searched and not locked:
        walk, claim = _from_root(document)
        locked = _locked(document)
    return walk, claim, locked


def _locked(document: Document) -> bool:
    return any("Filter" in document.fields(trailer.get("Encrypt")) for trailer in document.trailers)


def _from_root(document: Document) -> tuple[_Walk, int]:
    for trailer in document.trailers:
        tree = document.fields(trailer.get("Root")).get("Pages")
        if tree is not None:
            walk = _walk(document, tree)
            if walk.pages:
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
        if document.is_leaf(node):
            walk.pages.append((node, inherited))
            continue
        found = document.get(node)
        if not isinstance(found, dict):
            walk.lost += 1
            continue
        inherited = {**inherited, **{key: found[key] for key in _INHERITED if key in found}}
        kids = document.get(found.get("Kids"))
        if isinstance(kids, list):
            if id(found) not in seen:
                seen.add(id(found))
                space = NODES + 1 - len(todo)
                todo += [(kid, inherited) for kid in reversed(kids[: max(0, space)])]
                walk.stopped = walk.stopped or len(kids) > space
        elif found.get("Type") != "Pages":
            walk.pages.append((node, inherited))
    walk.stopped = walk.stopped or bool(todo)
    return walk
