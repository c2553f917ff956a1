"""Files made of boxes (ISO/IEC 14496-12): AVIF and HEIC with their sides, MP4, QuickTime and 3GP by their brand.

A box's stated length is only compared with where we stand; one that is no larger than its own head ends the search.
"""

from __future__ import annotations

from collections.abc import Iterator

from transom.parts import Facts
from transom.probe.window import Head, Other, picture

_BRANDS = {
    b"avif": "image/avif", b"avis": "image/avif",
    b"heic": "image/heic", b"heix": "image/heic", b"heim": "image/heic", b"heis": "image/heic",
    b"hevc": "image/heic", b"hevx": "image/heic", b"mif1": "image/heif", b"msf1": "image/heif",
    b"qt  ": "video/quicktime", b"M4A ": "audio/mp4", b"M4B ": "audio/mp4",
    b"isom": "video/mp4", b"iso2": "video/mp4", b"iso4": "video/mp4", b"iso5": "video/mp4", b"iso6": "video/mp4",
    b"mp41": "video/mp4", b"mp42": "video/mp4", b"avc1": "video/mp4", b"M4V ": "video/mp4", b"dash": "video/mp4",
    b"MSNV": "video/mp4", b"f4v ": "video/mp4",
    b"3gp4": "video/3gpp", b"3gp5": "video/3gpp", b"3gp6": "video/3gpp", b"3gp7": "video/3gpp", b"3ge6": "video/3gpp",
}  # fmt: skip
"""Major brands (https://mp4ra.org/registered-types/brands, read 2025-11)."""
_MOVING = frozenset({b"avis", b"msf1", b"hevc", b"hevx"})
_ANY_PICTURE = frozenset({b"mif1", b"msf1"})
_BRAND_LIST = 96
"""Bytes of the first box that are looked at for compatible brands."""
_BOXES = 256
_PICTURE = "image/"


def accept_boxes(start: bytes) -> bool:
    """Whether the first box is a file type box with a known brand."""
    return start[4:8] == b"ftyp" and start[8:12] in _BRANDS


def name_boxes(start: bytes) -> str:
    """The type that the major brand states, or for a general brand of pictures the compatible ones."""
    major = start[8:12]
    if major in _ANY_PICTURE:
        end = min(int.from_bytes(start[:4], "big"), _BRAND_LIST, len(start))
        for at in range(16, end - 3, 4):
            if (found := _BRANDS.get(start[at : at + 4], "")) in {"image/avif", "image/heic"}:
                return found
    return _BRANDS[major]


def read_boxes(head: Head) -> Facts:
    """The type of any such file, and the sides of AVIF and HEIC: the largest extent of any item (tiles are smaller)."""
    brand = head.take(8, 4)
    mime = name_boxes(head.data)
    if not mime.startswith(_PICTURE):
        return Facts(mime=mime)
    spans = sorted(_extents(head), key=lambda sides: sides[0] * sides[1])
    if not spans:
        return Facts(mime=mime, animated=brand in _MOVING)
    return picture(mime, *spans[-1], animated=brand in _MOVING)


def _boxes(head: Head, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Each box from `at` to `end`: kind, where its content starts and ends. `end` 0 means: to the end of the file."""
    for _ in range(_BOXES):
        if end and at + 8 > end:
            return
        if head.complete and at == len(head.data):
            return
        length, kind = head.big(at, 4), head.take(at + 4, 4)
        start = at + 8
        if length == 1:
            length, start = head.big(at + 8, 8), at + 16
        past = at + length if length else end or len(head.data)
        if past < start:
            return
        yield kind, start, min(past, end) if end else past
        at = past


def _inside(head: Head, kind: bytes, at: int, end: int) -> tuple[int, int]:
    for found, start, past in _boxes(head, at, end):
        if found == kind:
            return start, past
    raise Other


def _extents(head: Head) -> list[tuple[int, int]]:
    """Sides that the file's item properties state. Raises Short."""
    try:
        start, end = _inside(head, b"meta", 0, 0)
        start, end = _inside(head, b"iprp", start + 4, end)
        start, end = _inside(head, b"ipco", start, end)
        found = [at for kind, at, _ in _boxes(head, start, end) if kind == b"ispe"]
    except Other:
        return []
    return [(head.big(at + 4, 4), head.big(at + 8, 4)) for at in found]
