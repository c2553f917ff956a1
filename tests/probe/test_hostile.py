"""Random bytes and damaged headers: no exception, no memory, no time."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probe.drawn import PICTURES, SOUND, heic, jpeg, segment, text
from transom import probe
from transom.parts import Facts

MEDIA = [data for _, data in (PICTURES | SOUND | {"heic": ("", heic((512, 512), (900, 800)))}).values()]
SIGNATURES = sorted({data[:count] for data in MEDIA for count in (4, 12, 20, 30)})


def look(data: bytes) -> Facts:
    payload = text(data)
    probe.sniff(payload)
    probe.facts_of_bytes(data[:100], len(data))
    return probe.facts(payload, "base64", "image/png")


@given(st.binary(max_size=600))
def test_random_bytes_never_raise(data: bytes) -> None:
    look(data)


@given(st.sampled_from(SIGNATURES), st.binary(max_size=600))
def test_random_bytes_behind_a_signature_never_raise(start: bytes, data: bytes) -> None:
    look(start + data)


@settings(max_examples=400)
@given(st.sampled_from(MEDIA), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6), st.integers(0, 3_000))
def test_damaged_headers_never_raise(data: bytes, damage: list[tuple[int, int]], cut: int) -> None:
    broken = bytearray(data)
    for at, byte in damage:
        broken[at % len(broken)] = byte
    look(bytes(broken[: len(broken) - cut % len(broken)]))


@given(st.text(max_size=300), st.sampled_from(["base64", "data-url", "text", "url", "file", "none"]), st.text(max_size=20))
def test_no_text_raises(payload: str, source: str, declared: str) -> None:
    probe.facts(payload, source, declared)  # type: ignore[arg-type]


HOSTILE = {
    "jpeg of fill bytes": b"\xff\xd8" + b"\xff" * 2_000_000,
    "jpeg of rubbish": b"\xff\xd8\xff\xe0\0\2" + b"\0" * 2_000_000,
    "jpeg of empty segments": b"\xff\xd8" + segment(0xE0, b"") * 500_000,
    "jpeg of short segments": jpeg(*[segment(0xE0, b"abc")] * 200_000),
    "png of small chunks": b"\x89PNG\r\n\x1a\n" + b"\0\0\0\0abcd\0\0\0\0" * 150_000,
    "gif of small blocks": b"GIF89a\x10\0\x10\0\0\0\0\x21\xfe" + b"\1a" * 1_000_000,
    "gif of empty frames": b"GIF89a\x10\0\x10\0\0\0\0" + b"\x21\xfe\0" * 600_000,
    "tiff of many entries": b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0" + b"\xff" * 8 + b"\0" * 2_000_000,
    "tiff far away": b"MM\0*\xff\xff\xff\xff" + b"\0" * 2_000_000,
    "boxes of 8 bytes": heic()[:24] + b"\0\0\0\x08free" * 250_000,
    "boxes that claim all": heic()[:24] + b"\0\0\0\1free" + b"\xff" * 8 + b"\0" * 2_000_000,
    "svg of spaces": b"<svg" + b" " * 2_000_000,
    "svg of attributes": b"<svg " + b"a='b' " * 300_000,
    "svg of comments": b"<!---->" * 300_000,
    "svg with a long type": b"<!DOCTYPE svg" + b" " * 2_000_000,
    "svg with an open subset": b"<!DOCTYPE svg [" + b"a" * 2_000_000,
    "svg with long names": b"<svg " + (b"a" * 150 + b" ") * 15_000,
    "mp3 of zeros": b"\xff\xfb\x90\x64" + b"\0" * 2_000_000,
    "pdf of zeros": b"%PDF-" + b"\0" * 2_000_000,
    "spaces": b" " * 2_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_take_neither_time_nor_memory(name: str) -> None:
    """Bounds: 3 s of processor time, under a tracer on a slow machine, where a quadratic reader takes minutes; and, beside one
    decoded copy where an end is in doubt, 8 MiB.
    """
    payload = text(HOSTILE[name])
    spaced = payload[:50] + "\n" + payload[50:]
    tracemalloc.start()
    try:
        for spelled in (payload, spaced):
            probe.sniff(spelled)
        started = time.process_time()
        probe.facts(payload, "base64", "image/png")
        assert time.process_time() - started < 3
        probe.facts(spaced, "base64", "image/png")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(payload) + (8 << 20)


def test_a_long_payload_is_not_decoded() -> None:
    """A whole picture costs the same memory whatever its length."""
    peaks = []
    for rubbish in (0, 4_000_000):
        data = PICTURES["png"][1]
        payload = text(data[:-12] + b"\0" * rubbish + data[-12:])
        tracemalloc.start()
        assert probe.facts(payload, "data-url", "image/png").problem == ""
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 20_000
