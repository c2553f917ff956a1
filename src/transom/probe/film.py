"""Film: sides and seconds of MP4 and its kin, Matroska and WebM, AVI, FLV, WMV and MPEG program streams.

The rule: boxes and elements are stepped over by position, so that a film is never read; a stated length only says where the next
one would be, and stated seconds hold only where the bytes could be enough for them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from transom.parts import Facts
from transom.probe.window import Reach, Source, claimed

_BOXES: Final = 512
"""Boxes of one level that are stepped over."""
_TRACKS: Final = 16
_NEAR: Final = 1 << 16
_SIDE: Final = float(1 << 16)


def measure_boxes(source: Source, facts: Facts) -> Facts:
    """The facts of MP4, QuickTime or 3GP with seconds, sides of the first film track, and whether there is sound."""
    if facts.mime.startswith("image/"):
        return facts
    reach = Reach(source)
    moov = next((span for kind, *span in boxes(reach, 0, reach.size) if kind == b"moov"), None)
    if moov is None:
        return facts
    inside = list(boxes(reach, moov[0], moov[1]))
    seconds = next((_header_seconds(reach, start) for kind, start, _ in inside if kind == b"mvhd"), 0.0)
    sides, sound = (0, 0), False
    for start, end in [(start, end) for kind, start, end in inside if kind == b"trak"][:_TRACKS]:
        found, handler = _track(reach, start, end)
        sound = sound or handler == b"soun"
        if handler == b"vide" and not any(sides):
            sides = found
    seconds = seconds or _fragments(reach, inside)
    film = any(sides) and facts.mime.startswith("video/")
    return replace(facts, seconds=seconds, width=sides[0], height=sides[1], silent=film and not sound)


def boxes(reach: Reach, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Each box from `at` to `end`: its kind, where its content starts and ends. It stops where one is torn."""
    for _ in range(_BOXES):
        head = reach.some(at, 16)
        if at + 8 > end or len(head) < 8:
            return
        length, kind, start = int.from_bytes(head[:4], "big"), head[4:8], at + 8
        if length == 1:
            length, start = int.from_bytes(head[8:16], "big"), at + 16
        past = at + length if length else end
        if past < start:
            return
        yield kind, start, min(past, end)
        at = past


def _header_seconds(reach: Reach, at: int) -> float:
    """Seconds of a movie or media header: units and their rate, of 4 bytes, or 8 in version 1; all ones stand for unknown."""
    wide = reach.big(at, 1) == 1
    rate, amount = (reach.big(at + 20, 4), reach.big(at + 24, 8)) if wide else (reach.big(at + 12, 4), reach.big(at + 16, 4))
    return 0.0 if amount == (1 << (64 if wide else 32)) - 1 else claimed(amount, rate, reach.size)


def _track(reach: Reach, at: int, end: int) -> tuple[tuple[int, int], bytes]:
    """Sides of a track and its handler, `vide` or `soun`."""
    sides, handler = (0, 0), b""
    for kind, start, past in boxes(reach, at, end):
        if kind == b"tkhd":
            place = start + (88 if reach.big(start, 1) == 1 else 76)
            sides = reach.big(place, 2), reach.big(place + 4, 2)
        elif kind == b"mdia":
            handler = next((reach.some(inner + 8, 4) for name, inner, _ in boxes(reach, start, past) if name == b"hdlr"), b"")
    return sides, handler


def _fragments(reach: Reach, inside: list[tuple[bytes, int, int]]) -> float:
    """Seconds of a film in fragments: as its header states them, or the sum of its index."""
    rate = next((reach.big(at + (20 if reach.big(at, 1) == 1 else 12), 4) for kind, at, _ in inside if kind == b"mvhd"), 0)
    for start, end in [(start, end) for kind, start, end in inside if kind == b"mvex"]:
        for kind, at, _ in boxes(reach, start, end):
            if kind == b"mehd":
                return claimed(reach.big(at + 4, 8 if reach.big(at, 1) == 1 else 4), rate, reach.size)
    index = next((at for kind, at, _ in boxes(reach, 0, reach.size) if kind == b"sidx"), 0)
    if not index:
        return 0.0
    rate, place = reach.big(index + 8, 4), index + (28 if reach.big(index, 1) == 1 else 20)
    entries = min(reach.big(place + 2, 2), 4 * _BOXES)
    lengths = struct.unpack(f">{entries * 3}I", reach.take(place + 4, entries * 12))[1::3]
    return claimed(sum(lengths), rate, reach.size)


def measure_avi(source: Source, facts: Facts) -> Facts:
    """The facts of an AVI by its main header, which stands first in its first list."""
    reach = Reach(source)
    if reach.take(12, 4) + reach.take(20, 8) != b"LISThdrlavih":
        return facts
    step, frames, width, height = (reach.little(at, 4) for at in (32, 48, 64, 68))
    return replace(facts, seconds=claimed(step * frames, 1_000_000, reach.size), width=width, height=height)


def measure_flv(source: Source, facts: Facts) -> Facts:
    """The facts of an FLV by what its metadata state as numbers."""
    reach = Reach(source)
    start = reach.some(0, _NEAR)
    seconds, width, height = (_number(start, name) for name in (b"duration", b"width", b"height"))
    sides = (int(min(width, _SIDE)), int(min(height, _SIDE))) if width and height else (0, 0)
    return replace(facts, seconds=claimed(seconds, 1, reach.size), width=sides[0], height=sides[1])


def _number(start: bytes, name: bytes) -> float:
    """A number of the metadata: its name with its length in front, a zero, eight bytes."""
    at = start.find(bytes([0, len(name)]) + name + b"\0")
    piece = start[at + len(name) + 3 : at + len(name) + 11]
    number = struct.unpack(">d", piece)[0] if at >= 0 and len(piece) == 8 else 0.0
    return float(number) if number > 0 else 0.0


_ASF_FILE: Final = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")


def measure_asf(source: Source, facts: Facts) -> Facts:
    """The facts of a WMV with seconds, by its file properties: the play time less what is buffered first."""
    reach = Reach(source)
    at = reach.some(0, _NEAR).find(_ASF_FILE)
    if at < 0:
        return facts
    played, buffered = reach.little(at + 64, 8), reach.little(at + 80, 8)
    return replace(facts, seconds=claimed(played - buffered * 10_000, 10_000_000, reach.size))


def measure_mpeg(source: Source, facts: Facts) -> Facts:
    """The facts of a program stream with seconds, from the clock of its first pack to that of its last."""
    reach = Reach(source)
    start = reach.some(0, 14)
    first = max(0, reach.size - _NEAR)
    tail = reach.some(first, _NEAR)
    end = tail[at : at + 14] if (at := tail.rfind(b"\0\0\1\xba")) >= 0 else b""
    if len(start) < 14 or len(end) < 14:
        return facts
    return replace(facts, seconds=claimed(_clock(end) - _clock(start), 90_000, reach.size))


def _clock(pack: bytes) -> int:
    """The clock of a pack, 90,000 a second: 33 bits in three runs between mark bits, placed by version."""
    bits = int.from_bytes(pack[4:9], "big")
    if pack[4] >> 6 == 1:  # MPEG 2
        return (bits >> 35 & 7) << 30 | (bits >> 19 & 0x7FFF) << 15 | bits >> 3 & 0x7FFF
    return (bits >> 33 & 7) << 30 | (bits >> 17 & 0x7FFF) << 15 | bits >> 1 & 0x7FFF
