"""What the benchmarks' conversations are made of: words that never repeat in one order, and pictures with a head and an end."""

from __future__ import annotations

import random
import struct
import zlib
from base64 import b64encode
from typing import Final

_WORDS: Final = (
    "the",
    "model",
    "reads",
    "each",
    "page",
    "that",
    "it",
    "is",
    "shown",
    "and",
    "says",
    "what",
    "was",
    "asked",
    "of",
    "seats",
)


def words(rng: random.Random, count: int) -> str:
    """So many words."""
    return " ".join(rng.choices(_WORDS, k=count))


def shot(width: int, height: int, size: int) -> str:
    """A PNG of these sides in pixels as base64, with `size` bytes where its pixels would be: no reader here looks at them."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", bytes(size)), (b"IEND", b""))
    return b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
