"""Compressed bodies, and bombs: a bound holds while decoding, whatever a few bytes claim."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest

from transom.errors import BadRequest
from transom.proxy.coding import TooLarge, decoder, plain

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    import backports.zstd as zstd  # noqa: PLR0402 - a namespace that types do not know

TEXT = b'{"messages": "' + b"all work and no play " * 2_000 + b'"}'
MOST = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return engine.compress(data) + engine.flush()


CODINGS: list[tuple[bytes, Callable[[bytes], bytes]]] = [
    (b"gzip", gzip.compress),
    (b"deflate", zlib.compress),
    (b"deflate", raw_deflate),
    (b"br", brotli.compress),
    (b"zstd", zstd.compress),
]
IDS = ["gzip", "deflate", "raw deflate", "br", "zstd"]


@pytest.mark.parametrize("coding, pack", CODINGS, ids=IDS)
def test_a_body_is_read_whole(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    assert plain(pack(TEXT), coding, MOST) == TEXT
    assert plain(pack(b""), coding, MOST) == b""


@pytest.mark.parametrize("coding, pack", CODINGS, ids=IDS)
def test_a_stream_is_read_byte_by_byte(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    engine = decoder(coding)
    assert engine is not None
    packed = pack(TEXT)
    assert b"".join(engine.feed(packed[i : i + 1], MOST) for i in range(len(packed))) == TEXT


@pytest.mark.parametrize("coding, pack", CODINGS, ids=IDS)
def test_a_bomb_is_refused_within_bounds(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(bytes(50_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            plain(bomb, coding, MOST)
        assert tracemalloc.get_traced_memory()[1] < 20 * MOST
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("coding, pack", CODINGS, ids=IDS)
def test_the_limit_itself_is_inside(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    assert len(plain(pack(bytes(MOST)), coding, MOST)) == MOST


def test_many_members_are_one_body() -> None:
    assert plain(gzip.compress(b"one") + gzip.compress(b"two"), b"gzip", MOST) == b"onetwo"
    assert plain(zstd.compress(b"one") + zstd.compress(b"two"), b"zstd", MOST) == b"onetwo"


@pytest.mark.parametrize("coding", [b"gzip", b"deflate", b"br", b"zstd"])
def test_what_is_not_of_its_coding_is_said_so(coding: bytes) -> None:
    with pytest.raises(BadRequest, match="content coding"):
        plain(b"\x00\x01 this is no such thing \xff" * 10, coding, MOST)


def test_a_coding_that_is_not_known_is_refused() -> None:
    with pytest.raises(BadRequest, match="snappy"):
        plain(b"x", b"snappy", MOST)
    assert plain(b"x", b"identity", MOST) == b"x"
