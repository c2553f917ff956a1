"""PNG, GIF, WebP and BMP: sides, and whether they move.

Each reader takes the head and gives the facts, or raises Short for more bytes or Other for another format. A flaw says what
is wrong with the end; it looks at the tail first and at everything only where the tail does not settle it.
"""

from __future__ import annotations

from transom.parts import Facts
from transom.probe.window import CUT_OFF, Head, Other, Short, Source, picture

PNG = b"\x89PNG\r\n\x1a\n"
_IEND = b"IEND\xaeB`\x82"
_NEAR = 65_536
"""Bytes within which a PNG's animation chunk is looked for; it stands before the pixels, behind at most a colour profile."""
_CHUNKS = 64
"""Chunks looked at. Ordinary files have a handful before the pixels."""

_GIF_NEAR = 4_096
_GIF_BLOCKS = 512
_GIF_FRAME, _GIF_EXTENSION = 0x2C, 0x21
_GIF_LOOPS = frozenset({b"\x0bNETSCAPE2.0", b"\x0bANIMEXTS1.0"})

_BMP_CORE = 12
_BMP_HEADERS = frozenset({12, 16, 40, 52, 56, 64, 108, 124})
"""Sizes of the known BMP headers, OS/2 1.x (12) to version 5 (124)."""


def read_png(head: Head) -> Facts:
    """PNG, also with chunks before the header (CgBI of iPhone tools), and APNG (acTL before the pixels)."""
    at, sides, kind = len(PNG), None, b""
    for _ in range(_CHUNKS):
        try:
            length, kind = head.big(at, 4), head.take(at + 4, 4)
            if kind == b"IHDR":
                sides = head.big(at + 8, 4), head.big(at + 12, 4)
        except Short as short:
            if sides is None or (not head.complete and short.until <= _NEAR):
                raise
            break
        if kind in {b"acTL", b"IDAT", b"IEND"}:
            break
        at += 12 + length
    if sides is None:
        raise Other
    return picture("image/png", *sides, animated=kind == b"acTL")


def flaw_png(source: Source) -> str:
    """A PNG ends with IEND; rubbish may follow."""
    if _IEND in source.tail():
        return ""
    data = source.whole()
    return "" if data is None or _IEND in data else CUT_OFF


def read_gif(head: Head) -> Facts:
    """GIF: the logical screen. It moves if a second frame or a loop count stands in the first 4 KiB."""
    width, height = head.little(6, 2), head.little(8, 2)
    moves = False
    try:
        moves = _gif_moves(Head(head.data, head.complete), 13 + _colours(head.big(10, 1)))
    except Short as short:
        # A file that ends between two blocks lacks only its trailer, which decoders do not need.
        if head.complete and short.until > len(head.data) + 1:
            raise
        if not head.complete and short.until <= _GIF_NEAR:
            raise Short(_GIF_NEAR) from None
    return picture("image/gif", width, height, animated=moves)


def _gif_moves(head: Head, at: int) -> bool:
    """Whether a loop count or a second frame is seen. Raises Short."""
    frames = 0
    for _ in range(_GIF_BLOCKS):
        # The first block is asked for with its label, so that a file without one is short by two bytes.
        mark = head.take(at, 1 if frames else 2)[0]
        if mark == _GIF_FRAME:
            frames += 1
            if frames > 1:
                return True
            at = _past_blocks(head, at + 11 + _colours(head.big(at + 9, 1)))
        elif mark == _GIF_EXTENSION:
            if head.take(at + 2, 12) in _GIF_LOOPS:
                return True
            at = _past_blocks(head, at + 2)
        else:
            break
    return False


def _colours(flags: int) -> int:
    """The length of the colour table that the flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _past_blocks(head: Head, at: int) -> int:
    for _ in range(_GIF_BLOCKS):
        length = head.big(at, 1)
        at += 1 + length
        if not length:
            break
    return at


def read_webp(head: Head) -> Facts:
    """WebP in its three forms: VP8 (lossy), VP8L (lossless), VP8X (extended; its flags say whether it moves)."""
    match head.take(12, 4):
        case b"VP8 ":
            if head.take(23, 3) != b"\x9d\x01\x2a":
                raise Other
            return picture("image/webp", head.little(26, 2) & 0x3FFF, head.little(28, 2) & 0x3FFF)
        case b"VP8L":
            bits = head.little(21, 4)
            if head.take(20, 1) != b"\x2f":
                raise Other
            return picture("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            moving = bool(head.big(20, 1) & 2)
            return picture("image/webp", head.little(24, 3) + 1, head.little(27, 3) + 1, animated=moving)
        case _:
            raise Other


def flaw_webp(source: Source) -> str:
    """The size that the file states for itself must be there."""
    stated = source.head(12).little(4, 4) + 8
    # Some writers count the padding byte of the last chunk without writing it.
    return "" if stated <= source.size() + 1 else CUT_OFF


def read_bmp(head: Head) -> Facts:
    """BMP: OS/2 headers have sides of two bytes; a negative height means rows from the top."""
    header = head.little(14, 4)
    if header not in _BMP_HEADERS:
        raise Other
    if header == _BMP_CORE:
        return picture("image/bmp", head.little(18, 2), head.little(20, 2))
    width, height = (int.from_bytes(head.take(at, 4), "little", signed=True) for at in (18, 22))
    return picture("image/bmp", abs(width), abs(height))
