"""Compressed bodies, and bombs: a bound holds while decoding, whatever a few bytes claim."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest

from proxy.rig import Start
from transom.errors import BadRequest
from transom.proxy.coding import SMALL, TooLarge, decoder, plain
from transom.proxy.inlet import Busy, Held, Hold

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


@pytest.mark.parametrize("coding, pack", CODINGS, ids=IDS)
def test_what_is_cut_off_is_said_so(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(TEXT)
    for length in (1, len(packed) // 2, len(packed) - 1):
        with pytest.raises(BadRequest, match="in the middle of its content coding"):
            plain(packed[:length], coding, MOST)


def test_zeros_behind_a_member_are_padding() -> None:
    assert plain(gzip.compress(b"one") + bytes(512), b"gzip", MOST) == b"one"
    assert plain(gzip.compress(b"one") + bytes(9) + gzip.compress(b"two") + bytes(9), b"gzip", MOST) == b"onetwo"
    engine = decoder(b"gzip")
    assert engine is not None
    assert b"".join(engine.feed(bytes([byte]), MOST) for byte in gzip.compress(b"one") + bytes(9)) == b"one"
    assert engine.ended


@pytest.mark.parametrize("coding, pack", CODINGS, ids=IDS)
def test_what_grows_out_of_all_proportion_is_refused(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    assert len(plain(pack(bytes(SMALL)), coding, 10 * SMALL)) == SMALL
    with pytest.raises(TooLarge, match="100-fold"):
        plain(pack(bytes(2 * SMALL)), coding, 10 * SMALL)


def test_what_a_body_grows_to_is_counted_as_it_grows() -> None:
    told: list[int] = []

    def grow(size: int) -> None:
        told.append(size)
        if sum(told) > MOST:
            raise Busy("full")

    with pytest.raises(Busy):
        plain(gzip.compress(bytes(8 * MOST)), b"gzip", 10 * MOST, grow)
    assert len(told) == 1
    assert sum(told) < 6 * MOST


def test_what_is_held_of_a_request_that_is_over_is_given_back() -> None:
    """A thread that still decodes for a client that left must not hold anything for ever."""
    held = Held(100)
    with Hold(held) as hold:
        hold.grow(60)
    with pytest.raises(Busy):
        hold.grow(1)
    assert held.now == 0


def test_coded_bodies_are_decoded_beside_the_loop_and_within_what_may_be_held(start: Start) -> None:
    begun = start(max_held=20_000)
    packed = gzip.compress(json.dumps({"messages": [{"role": "user", "content": "x " * 50_000}]}).encode())
    answer = begun.post("/v1/messages", packed, headers={"content-encoding": "gzip"})
    assert answer.status_code == 503
    cut = begun.post("/v1/messages", packed[:-20], headers={"content-encoding": "gzip"})
    assert cut.status_code in {400, 503}
    assert begun.post("/v1/messages", gzip.compress(b"{}"), headers={"content-encoding": "gzip"}).status_code != 503


def test_a_bomb_is_a_413_in_the_clients_form(start: Start) -> None:
    answer = start().post("/v1/messages", gzip.compress(bytes(2 * SMALL)), headers={"content-encoding": "gzip"})
    assert answer.status_code == 413
    assert answer.json()["type"] == "error"
