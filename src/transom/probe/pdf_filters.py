"""The filters of PDF streams that hold structure or text: Flate, ASCII 85, ASCII hexadecimal, and PNG prediction.

The rule: nothing inflates beyond what is asked for and what the purse has room for. Filters of pictures are not undone.
"""

from __future__ import annotations

import binascii
import struct
import zlib
from typing import Final

from transom.probe.pdf_syntax import Enough, Purse

_BLANKS: Final = b"\0\t\n\f\r "


def undone(filter_: str, data: bytes, most: int, purse: Purse) -> bytes:
    """At most `most` bytes of what one filter hides. Raises ValueError, zlib.error or struct.error where it is torn."""
    most = min(most, purse.room)
    match filter_:
        case "FlateDecode" | "Fl":
            out = zlib.decompressobj().decompress(data, max(1, most))
        case "ASCII85Decode" | "A85":
            text = data[: most * 2].partition(b"~")[0]
            purse.spend(len(text) >> 6)
            out = _ascii85(text.removeprefix(b"<~").translate(None, _BLANKS))
        case "ASCIIHexDecode" | "AHx":
            text = data[: most * 2].partition(b">")[0].translate(None, _BLANKS)
            out = binascii.a2b_hex(text + b"0" * (len(text) % 2))
        case _:
            raise ValueError(filter_)
    purse.room -= len(out)
    if purse.room <= 0:
        raise Enough
    purse.spend(len(out) >> 12)
    return out


def unpredicted(data: bytes, columns: int, purse: Purse) -> bytes:
    """Rows as they were before PNG prediction: none, left and up, which is what is met in tables and object streams."""
    out, above = bytearray(), bytes(columns)
    for at in range(0, len(data), columns + 1):
        purse.spend(1 + (columns >> 6))
        kind, row = data[at], data[at + 1 : at + 1 + columns]
        if kind == 2:  # up
            row = bytes([(a + b) & 255 for a, b in zip(row, above, strict=False)])
        elif kind == 1:
            left = 0
            row = bytes([left := (left + a) & 255 for a in row])
        elif kind:
            raise ValueError(kind)
        out += row
        above = row
    return bytes(out)


def _ascii85(text: bytes) -> bytes:
    """Five characters for four bytes, `z` for four zeros. Raises struct.error where they stand for more."""
    text = text.replace(b"z", b"!!!!!")
    short = -len(text) % 5
    text += b"u" * short
    columns = zip(*(text[i::5] for i in range(5)), strict=True)
    zero = 33 * (85**4 + 85**3 + 85**2 + 85 + 1)
    groups = [(((a * 85 + b) * 85 + c) * 85 + d) * 85 + e - zero for a, b, c, d, e in columns]
    out = struct.pack(f">{len(groups)}I", *groups)
    return out[: len(out) - short]
