"""Matroska and WebM: sides, seconds, and whether there is sound.

The rule: elements are stepped over by position; a length that is not known (as in what a browser records) ends the steps at the
first cluster, and the last one near the end of the file tells the time instead.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from transom.parts import Facts
from transom.probe.window import Head, Reach, Source, claimed

_SEGMENT, _INFO, _TRACKS, _CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
_SCALE, _DURATION = 0x2AD7B1, 0x4489
_TRACK, _TYPE, _VIDEO, _WIDTH, _HEIGHT = 0xAE, 0x83, 0xE0, 0xB0, 0xBA
_TIME, _BLOCK, _GROUP, _INNER = 0xE7, 0xA3, 0xA0, 0xA1
_HOLDERS = frozenset({_SEGMENT, _INFO, _TRACKS, _TRACK, _VIDEO, _CLUSTER})
"""Elements of which the start is of use where the file ends within them."""
_FILM, _SOUND = 1, 2
_ELEMENTS: Final = 512
"""Elements of one level that are stepped over."""
_LAST: Final = 1 << 20
"""Bytes at the end in which the last cluster must start."""
_BLOCKS: Final = 4_096
_USUAL: Final = 1_000_000
"""Nanoseconds of a unit of time where none is stated."""


def read_ebml(head: Head) -> Facts:
    """WebM or Matroska, by the document type in its head."""
    return Facts(mime="video/webm" if b"webm" in head.data[:64] else "video/x-matroska")


def measure_ebml(source: Source, facts: Facts) -> Facts:
    """The facts with sides of the first film track, seconds, and whether there is sound."""
    reach = Reach(source)
    spans: dict[int, list[int]] = {}
    for kind, start, end in _elements(reach, 0, reach.size, _ELEMENTS):
        if kind == _SEGMENT:
            for inner, *span in _elements(reach, start, end, _ELEMENTS):
                if inner == _CLUSTER and _INFO in spans:
                    break
                spans.setdefault(inner, span)
            break
    scale, length = _information(reach, spans[_INFO]) if _INFO in spans else (_USUAL, 0.0)
    sides, sound = _tracks(reach, spans[_TRACKS]) if _TRACKS in spans else ((0, 0), True)
    length = length or _last_time(reach)
    seconds = claimed(length * scale, 1_000_000_000, reach.size)
    return replace(facts, seconds=seconds, width=sides[0], height=sides[1], silent=any(sides) and not sound)


def _elements(reach: Reach, at: int, end: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Each element from `at` to `end`: its kind, where its content starts and ends. It stops where one is torn."""
    for _ in range(most):
        head = reach.some(at, 12)
        if at >= end or not head or not head[0] >> 4:  # kinds have at most four bytes
            return
        width = 9 - head[0].bit_length()
        kind, rest = int.from_bytes(head[:width], "big"), head[width:]
        if not rest or not rest[0]:
            return
        wide = 9 - rest[0].bit_length()
        if len(rest) < wide:
            return
        length = int.from_bytes(rest[:wide], "big") & (1 << 7 * wide) - 1
        start = at + width + wide
        past = end if length == (1 << 7 * wide) - 1 else min(start + length, end)
        if start + length > past and kind not in _HOLDERS:
            return
        yield kind, start, past
        at = past


def _number(reach: Reach, start: int, end: int) -> int:
    return int.from_bytes(reach.some(start, min(end - start, 8)), "big")


def _information(reach: Reach, span: list[int]) -> tuple[int, float]:
    """Nanoseconds of a unit, and how many units the film lasts; 0.0 where that is not said."""
    scale, length = _USUAL, 0.0
    for kind, start, end in _elements(reach, span[0], span[1], _ELEMENTS):
        if kind == _SCALE:
            scale = _number(reach, start, end)
        elif kind == _DURATION and end - start in {4, 8}:
            length = struct.unpack(">d" if end - start == 8 else ">f", reach.take(start, end - start))[0]
    return scale, length if length > 0 else 0.0


def _tracks(reach: Reach, span: list[int]) -> tuple[tuple[int, int], bool]:
    """Sides of the first film track, and whether a track of sound is there."""
    sides, sound = (0, 0), False
    for kind, start, end in _elements(reach, span[0], span[1], _ELEMENTS):
        if kind != _TRACK:
            continue
        inside = {inner: (at, past) for inner, at, past in _elements(reach, start, end, _ELEMENTS)}
        what = _number(reach, *inside[_TYPE]) if _TYPE in inside else 0
        sound = sound or what == _SOUND
        if what == _FILM and _VIDEO in inside and not any(sides):
            video = {inner: _number(reach, at, past) for inner, at, past in _elements(reach, *inside[_VIDEO], _ELEMENTS)}
            sides = (video[_WIDTH], video[_HEIGHT]) if _WIDTH in video and _HEIGHT in video else sides
    return sides, sound


def _last_time(reach: Reach) -> float:
    """Units from the start to the last block, by the last cluster near the end; 0.0 where none is there."""
    first = max(0, reach.size - _LAST)
    at = reach.some(first, _LAST).rfind(_CLUSTER.to_bytes(4, "big"))
    cluster = next(_elements(reach, first + at, reach.size, 1), None) if at >= 0 else None
    if cluster is None:
        return 0.0
    time = last = 0
    for kind, start, end in _elements(reach, cluster[1], cluster[2], _BLOCKS):
        if kind == _TIME:
            time = _number(reach, start, end)
        block = start if kind == _BLOCK else -1
        if kind == _GROUP:
            block = next((inner for name, inner, _ in _elements(reach, start, end, 8) if name == _INNER), -1)
        if block >= 0 and len(head := reach.some(block + 1, 2)) == 2:  # behind the track's number, of one byte
            last = max(last, int.from_bytes(head, "big", signed=True))
    return float(time + last)
