"""JPEG: the sides stand in the first frame header, behind any number of tables, profiles and thumbnails.

Segments are skipped by their length, so that a thumbnail inside EXIF is never taken for the picture.
"""

from __future__ import annotations

from transom.parts import Facts
from transom.probe.window import CUT_OFF, Head, Other, Short, Source, picture

_FRAMES = frozenset({*range(0xC0, 0xD0), 0xF7} - {0xC4, 0xC8, 0xCC})
"""Start-of-frame markers: all of C0 to CF but DHT, JPG and DAC (ITU-T T.81, table B.1), and F7 of JPEG-LS."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers that have no length: TEM, RST0 to RST7, SOI."""
_SCAN, _END = 0xDA, 0xD9
_SEGMENTS = 2_000
"""Segments looked at. A colour profile of 1 MiB takes 17, a long EXIF a few more."""


def _segment(head: Head, at: int) -> tuple[int, int]:
    """The next marker at or after `at` (rubbish and fill bytes are passed over) and where its segment's length stands."""
    start = head.take(at, 2)
    if start[0] == 0xFF and start[1] != 0xFF:
        return start[1], at + 2
    found = head.data.find(b"\xff", at)
    if found < 0:
        raise Short(max(at, len(head.data)) + 2)
    past = found + 1
    while rest := head.data[past : past + 4_096]:
        past += len(rest) - len(rest := rest.lstrip(b"\xff"))
        if rest:
            return rest[0], past + 1
    raise Short(past + 1)


def _find(head: Head, wanted: frozenset[int]) -> tuple[int, int]:
    """The first marker of `wanted`, and where its segment's length stands. Raises Short, or Other where there is none."""
    at = 2
    for _ in range(_SEGMENTS):
        code, at = _segment(head, at)
        if code in wanted:
            return code, at
        if code == _END:
            break
        if code not in _BARE and code:
            at += max(head.big(at, 2), 2)
    raise Other


def read_jpeg(head: Head) -> Facts:
    """Sides from the first frame header; baseline, progressive, lossless, CMYK alike."""
    try:
        code, at = _find(head, _FRAMES | {_SCAN})
    except Other:
        return Facts(mime="image/jpeg", problem="no picture inside")
    if code == _SCAN:
        return Facts(mime="image/jpeg", problem="no picture inside")
    return picture("image/jpeg", head.big(at + 5, 2), head.big(at + 3, 2))


def flaw_jpeg(source: Source) -> str:
    """A JPEG has an end marker behind its scan; rubbish may follow."""
    if b"\xff\xd9" in source.tail():
        return ""
    data = source.whole()
    if data is None:
        return ""
    try:
        _, at = _find(Head(data, complete=True), frozenset({_SCAN}))
    except (Short, Other):
        return CUT_OFF
    return "" if data.find(b"\xff\xd9", at) >= 0 else CUT_OFF
