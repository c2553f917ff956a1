"""TIFF in both byte orders, and BigTIFF: the sides of the first directory."""

from __future__ import annotations

from typing import Literal

from transom.parts import Facts
from transom.probe.window import Head, picture

_ORDERS: dict[bytes, Literal["little", "big"]] = {b"II": "little", b"MM": "big"}
_WIDTH, _HEIGHT = 256, 257
_SIZES = {1: 1, 3: 2, 4: 4, 16: 8}
"""Bytes of the whole-number types of TIFF 6.0 and BigTIFF: BYTE, SHORT, LONG, LONG8."""
_ENTRIES = 512
_BIG = 43


def accept_tiff(start: bytes) -> bool:
    """Whether a byte order and its check number stand at the start."""
    return start[:4] in {b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"}


def read_tiff(head: Head) -> Facts:
    """Sides from the first directory, which may stand far behind the start; beyond the bound they stay unknown."""
    order = _ORDERS[head.take(0, 2)]

    def number(at: int, count: int) -> int:
        return int.from_bytes(head.take(at, count), order)

    wide = number(2, 2) == _BIG
    at = number(8, 8) if wide else number(4, 4)
    entries, at = (number(at, 8), at + 8) if wide else (number(at, 2), at + 2)
    step, offset = (20, 12) if wide else (12, 8)
    sides: dict[int, int] = {}
    for _ in range(min(entries, _ENTRIES)):
        tag, kind = number(at, 2), number(at + 2, 2)
        if tag in {_WIDTH, _HEIGHT} and kind in _SIZES:
            sides[tag] = number(at + offset, _SIZES[kind])
        if tag >= _HEIGHT:
            break
        at += step
    if len(sides) < 2:  # both sides
        return Facts(mime="image/tiff", problem="no picture inside")
    return picture("image/tiff", sides[_WIDTH], sides[_HEIGHT])
