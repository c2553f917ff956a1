"""PDF, known by its signature; pages are counted elsewhere."""

from __future__ import annotations

from transom.parts import Facts
from transom.probe.window import Head, Other, Short, Source

_NEAR = 1_024
"""Bytes within which readers look for the head of a PDF (ISO 32000-1, annex H, note 13)."""


def read_pdf(head: Head) -> Facts:
    """PDF, also behind up to 1,024 bytes of rubbish."""
    if b"%PDF-" in head.data[: _NEAR + 5]:
        return Facts(mime="application/pdf")
    if not head.complete and len(head.data) < _NEAR:
        raise Short(_NEAR + 5)
    raise Other


def flaw_pdf(source: Source) -> str:
    """A PDF without a single object is only a text that starts like one. Readers mend a lost end, so that is no flaw."""
    if b"%%EOF" in source.tail():
        return ""
    data = source.whole()
    return "" if data is None or b" obj" in data else "no PDF object inside"
