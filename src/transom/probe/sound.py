"""Sound in containers: WAV, AIFF, FLAC and Ogg, and how long it lasts.

The rule: a stated length is believed only as far as the bytes are there; what writes to a pipe cannot know it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from transom.parts import Facts
from transom.probe.window import CUT_OFF, Head, Reach, Source, claimed

_CHUNKS: Final = 64
"""Chunks of a WAV or AIFF that are looked at."""
_SLOWEST, _FASTEST = 1_000, 1_000_000
"""Samples a second between which a rate is one."""
_LAST: Final = 1 << 16
"""Bytes at the end in which the last page of an Ogg must start; a page has at most 65,307."""
_PAGES: Final = 64
"""Places of the capture pattern that are looked at there."""
_NO_GRANULE: Final = (1 << 64) - 1


def read_wav(head: Head) -> Facts:
    """WAV, also of 64 bits (RF64, BW64): there must be samples."""
    if head.complete and len(head.data) <= 44 and b"data" not in head.data[12:40]:  # the shortest head
        return Facts(mime="audio/wav", problem=CUT_OFF)
    return Facts(mime="audio/wav")


def measure_wav(source: Source, facts: Facts) -> Facts:
    """The facts with seconds: the samples that are there by the rate at which they play."""
    reach, rate = Reach(source), 0.0
    for kind, at, length in _chunks(reach, "little"):
        if kind == b"fmt ":
            rate = _bytes_a_second(reach, at)
        elif kind == b"data":
            there = reach.size - at
            return replace(facts, seconds=(length if 0 < length < there else there) / rate) if rate else facts
    return facts


def _bytes_a_second(reach: Reach, at: int) -> float:
    """By the format chunk at `at`: reckoned for PCM, as stated for what is compressed; 0.0 where that is nonsense."""
    coding, channels, rate = (reach.little(at + step, width) for step, width in ((0, 2), (2, 2), (4, 4)))
    stated, bits = reach.little(at + 8, 4), reach.little(at + 14, 2)
    if not _SLOWEST <= rate <= _FASTEST or not channels:
        return 0.0
    if coding in {1, 3, 0xFFFE} and bits:  # PCM, floating point, extensible
        return rate * channels * -(-bits // 8)
    return stated if stated >= _SLOWEST // 8 else 0.0


def _chunks(reach: Reach, order: str) -> Iterator[tuple[bytes, int, int]]:
    """Each chunk: its kind, where its content starts, the length that it states."""
    at = 12
    for _ in range(_CHUNKS):
        kind = reach.take(at, 4)
        length = reach.little(at + 4, 4) if order == "little" else reach.big(at + 4, 4)
        yield kind, at + 8, length
        at += 8 + length + length % 2


def measure_aiff(source: Source, facts: Facts) -> Facts:
    """The facts with seconds: the frames that the common chunk states, as far as the samples are there."""
    reach, frames, rate, width = Reach(source), 0, 0.0, 0
    plain = reach.take(8, 4) == b"AIFF"
    for kind, at, _ in _chunks(reach, "big"):
        if kind == b"COMM":
            channels, frames, bits = reach.big(at, 2), reach.big(at + 2, 4), reach.big(at + 6, 2)
            rate = _extended(reach.take(at + 8, 10))
            width = channels * -(-bits // 8) if plain or reach.some(at + 18, 4) in {b"NONE", b"sowt", b"twos"} else 0
        elif kind == b"SSND" and width:
            frames = min(frames, max(0, reach.size - at - 8) // width)
        if frames and kind in {b"COMM", b"SSND"} and (kind == b"SSND" or not width):
            return replace(facts, seconds=claimed(frames, rate, reach.size)) if rate >= _SLOWEST else facts
    return facts


def _extended(number: bytes) -> float:
    """A floating point number of 80 bits, as rates are stored; 0.0 for one that no rate has."""
    power = int.from_bytes(number[:2], "big") - 16_383 - 63
    return int.from_bytes(number[2:], "big") * 2.0**power if -64 <= power <= 0 else 0.0


def measure_flac(source: Source, facts: Facts) -> Facts:
    """The facts with seconds: samples and rate of the first block, where it knows them."""
    reach = Reach(source)
    return replace(facts, seconds=_flac_seconds(reach.big(18, 8), reach.size))


def _flac_seconds(bits: int, size: int) -> float:
    """The 20 bits of the rate, 8 of channels and width, 36 of the count of samples."""
    return claimed(bits & (1 << 36) - 1, bits >> 44, size)


def read_ogg(head: Head) -> Facts:
    """Ogg: film if the first stream is Theora, else sound."""
    return Facts(mime="video/ogg" if head.take(28, 7) == b"\x80theora" else "audio/ogg")


def measure_ogg(source: Source, facts: Facts) -> Facts:
    """The facts with seconds (and sides of Theora): the position of the last page, in units that the first packet states."""
    reach = Reach(source)
    serial, packet = reach.take(14, 4), reach.some(28, min(reach.big(27, 1), 80))
    last = _last_granule(reach, serial)
    if packet[:8] == b"OpusHead":
        skipped = int.from_bytes(packet[10:12], "little")
        return replace(facts, seconds=claimed(last - skipped, 48_000, reach.size))
    if packet[:7] == b"\x01vorbis":
        return replace(facts, seconds=claimed(last, int.from_bytes(packet[12:16], "little"), reach.size))
    if packet[:8] == b"Speex   ":
        return replace(facts, seconds=claimed(last, int.from_bytes(packet[36:40], "little"), reach.size))
    if packet[:5] == b"\x7fFLAC":
        rate = int.from_bytes(packet[27:35], "big") >> 44
        return replace(facts, seconds=claimed(last, rate, reach.size))
    return _theora(packet, last, reach.size, facts) if packet[:7] == b"\x80theora" and len(packet) > 41 else facts


def _theora(packet: bytes, last: int, size: int, facts: Facts) -> Facts:
    """Sides of the picture, and frames: those up to the last key frame and those since, which share the position."""
    number = int.from_bytes(packet[40:42], "big")
    shift = number >> 5 & 31  # five bits behind six of quality and before the pixel format
    frames = (last >> shift) + (last & (1 << shift) - 1)
    above, below = int.from_bytes(packet[22:26], "big"), int.from_bytes(packet[26:30], "big")
    width, height = int.from_bytes(packet[14:17], "big"), int.from_bytes(packet[17:20], "big")
    return replace(facts, width=width, height=height, seconds=claimed(frames * below, above, size))


def _last_granule(reach: Reach, serial: bytes) -> int:
    """The position of the last page of a stream that has one; 0 where none is near the end."""
    first = max(0, reach.size - _LAST)
    tail = reach.some(first, _LAST)
    at = tail.rfind(b"OggS\0")
    for _ in range(_PAGES):
        if at < 0:
            break
        granule = int.from_bytes(tail[at + 6 : at + 14], "little")
        if tail[at + 14 : at + 18] == serial and granule not in {0, _NO_GRANULE}:
            return granule
        at = tail.rfind(b"OggS\0", 0, at)
    return 0
