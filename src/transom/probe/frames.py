"""Sound as a run of frames: MPEG audio (MP3) and AAC in ADTS, tagged or not, and how long it lasts.

The rule: a frame is one if its length leads to another of its kind. A run is walked for a bounded number of frames; what is
behind them is taken to be like them. A count that a header states holds only as far as the bytes are there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.parts import Facts
from transom.probe.window import Head, Other, Reach, Source

_BITRATES = {
    (3, 1): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (3, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (3, 3): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (2, 1): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
}
"""Kilobits a second by version (3: MPEG 1, 2: MPEG 2 and 2.5) and layer bits (1: III, 2: II, 3: I); ISO/IEC 11172-3."""
_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
"""Samples a second by version bits."""
_SAMPLES = {(3, 3): 384, (2, 3): 384, (3, 2): 1152, (2, 2): 1152, (3, 1): 1152, (2, 1): 576}
_ADTS_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)
"""Samples a second by index (ISO/IEC 14496-3, table 1.18)."""
_MPEG, _AAC = "audio/mpeg", "audio/aac"
_TAGS = 4
_FRAMES = 4_096
"""Frames that are walked: 107 seconds of MP3 at 44,100 Hz."""
_GAPS = 32
"""Gaps between frames that are passed over."""
_WINDOW = 1 << 15
_NEAR = 4_096
"""Bytes within which the next frame is looked for where one is missing."""
_LEAST_FRAME, _SLACK = 24, 4_096
"""Bytes of the smallest frame of layer III at the lowest rate, and how far a stated count may be beyond what is there."""


def accept_frames(start: bytes) -> bool:
    """Whether an MPEG audio or ADTS frame may start here."""
    return len(start) > 3 and start[0] == 0xFF and start[1] & 0xE0 == 0xE0  # eleven bits set


def read_frames(head: Head) -> Facts:
    """MP3 or AAC without a tag: a frame head whose length leads to another one of its kind, or to the very end."""
    for mime, kind in _KINDS.items():
        if length := kind.length(head.take(0, 6)):
            if head.complete and length == len(head.data):
                return Facts(mime=mime)
            if kind.same(head.take(0, 3), head.take(length, 3)):
                return Facts(mime=mime)
    raise Other


def _mpeg_frame(start: bytes) -> int:
    """The length of an MPEG audio frame from its head; 0 where it is none."""
    version, layer = start[1] >> 3 & 3, start[1] >> 1 & 3
    row = (3 if version == 3 else 2, layer)  # MPEG 1
    bits, rate = start[2] >> 4, start[2] >> 2 & 3
    if version not in _RATES or row not in _BITRATES or bits in {0, 15} or rate == 3:  # reserved
        return 0
    spare = (start[2] >> 1 & 1) * (4 if layer == 3 else 1)  # layer I pads by four
    kilobits, samples = _BITRATES[row][bits - 1], _RATES[version][rate]
    if layer == 3:  # layer I counts in slots of four bytes
        return 12_000 * kilobits // samples * 4 + spare
    return _SAMPLES[row] * 125 * kilobits // samples + spare


def _adts_frame(start: bytes) -> int:
    """The length of an ADTS frame (AAC) from its head; 0 where it is none."""
    if start[1] & 0xF6 != 0xF0 or start[2] >> 2 & 15 > 12:  # layer bits 0; known rates
        return 0
    length = (start[3] & 3) << 11 | start[4] << 3 | start[5] >> 5
    return length if length > 7 else 0  # the head alone


def accept_id3(start: bytes) -> bool:
    """Whether an ID3 tag of a known version stands at the start; its size has no high bits."""
    return start[:3] == b"ID3" and len(start) > 9 and start[3] in {2, 3, 4} and not any(byte & 0x80 for byte in start[6:10])


def read_mp3(_head: Head) -> Facts:
    """A file with an ID3 tag in front: MP3, as nearly all such are."""
    return Facts(mime="audio/mpeg")


def measure_frames(source: Source, facts: Facts) -> Facts:
    """The facts with seconds: by the count of a Xing, Info or VBRI header, else by walking the frames."""
    reach = Reach(source)
    kind = _KINDS[facts.mime]
    at = _resync(reach, kind, _past_tags(reach), b"")
    if at < 0:
        return facts
    end = reach.size - (128 if reach.some(reach.size - 128, 3) == b"TAG" else 0)  # ID3 version 1
    stated = _stated(reach, at, end) if facts.mime == _MPEG else 0.0
    return replace(facts, seconds=stated or _walked(reach, kind, at, end))


def _past_tags(reach: Reach) -> int:
    """Where the sound starts: behind the ID3 tags."""
    at = 0
    for _ in range(_TAGS):
        start = reach.some(at, 10)
        if not accept_id3(start):
            break
        at += 10 + sum((byte & 0x7F) << shift for byte, shift in zip(start[6:], (21, 14, 7, 0), strict=True))
        at += 10 if start[5] & 0x10 else 0  # a footer
    return at


def _resync(reach: Reach, kind: _Kind, at: int, like: bytes) -> int:
    """The next frame at or after `at` that another one follows, or that ends the file; -1 where none is near."""
    window = reach.some(at, _NEAR + 6)
    found = window.find(b"\xff")
    while 0 <= found < _NEAR:
        start = window[found : found + 6]
        length = kind.length(start) if len(start) == 6 else 0  # the head of an ADTS frame, less its last byte
        if length and (not like or kind.same(start, like)):
            after = reach.some(at + found + length, 6)
            if at + found + length == reach.size or (len(after) == 6 and kind.same(after, start) and kind.length(after)):
                return at + found
        found = window.find(b"\xff", found + 1)
    return -1


def _walked(reach: Reach, kind: _Kind, at: int, end: int) -> float:
    """Seconds of the frames from `at` on; where there are more than the bound, the rest counts like those that were walked."""
    frames, sound, gaps, like, window, start = 0.0, 0, 0, reach.some(at, 6), b"", 0
    for _ in range(_FRAMES):
        if not start <= at <= start + len(window) - 6:
            window, start = reach.some(at, _WINDOW), at
        head = window[at - start : at - start + 6]
        length = kind.length(head) if len(head) == 6 and kind.same(head, like) else 0
        if not length:
            gaps += 1
            at = _resync(reach, kind, at, like) if at < end and gaps <= _GAPS else -1
            if at < 0:
                return _seconds(kind, like, frames)
            continue
        here = max(0, min(length, end - at))
        frames += here / length
        sound += here
        at += length
    return _seconds(kind, like, frames * (1 + max(0, end - at) / sound))


def _seconds(kind: _Kind, head: bytes, frames: float, less: float = 0.0) -> float:
    samples, rate = kind.timing(head)
    return max(0.0, frames * samples - less) / rate


def _stated(reach: Reach, at: int, end: int) -> float:
    """Seconds by the first frame's own table of contents; 0.0 where it has none, or one that the bytes belie."""
    frame = reach.some(at, 192)
    mono, old = frame[3] >> 6 == 3, frame[1] >> 3 & 3 != 3  # one channel; MPEG 2 and 2.5
    place = 4 + (9 if mono and old else 17 if mono or old else 32)
    if frame[place : place + 4] in {b"Xing", b"Info"}:
        flags, place = int.from_bytes(frame[place + 4 : place + 8], "big"), place + 8
        frames, size = int.from_bytes(frame[place : place + 4], "big"), int.from_bytes(frame[place + 4 : place + 8], "big")
        frames, size = (frames if flags & 1 else 0), (size if flags & 3 == 3 else 0)  # flags: count, bytes
    elif frame[36:40] == b"VBRI":
        size, frames = int.from_bytes(frame[46:50], "big"), int.from_bytes(frame[50:54], "big")
    else:
        return 0.0
    here = end - at
    share = min(1.0, here / size) if size else 1.0
    if frames * share * _LEAST_FRAME > here + _SLACK:
        return 0.0
    return _seconds(_KINDS[_MPEG], frame, frames * share, _silence(frame, place) if share == 1.0 else 0)


def _silence(frame: bytes, place: int) -> int:
    """Samples that the encoder put before and behind the sound, as LAME and libavcodec note behind a whole table of contents."""
    note = frame[place + 112 : place + 136]  # behind count, bytes, 100 marks and quality
    if note[:4] not in {b"LAME", b"Lavc", b"Lavf"} or len(note) < 24:
        return 0
    both = int.from_bytes(note[21:24], "big")
    return (both >> 12) + (both & 0xFFF)


def _mpeg_timing(start: bytes) -> tuple[int, int]:
    version, layer = start[1] >> 3 & 3, start[1] >> 1 & 3
    return _SAMPLES[3 if version == 3 else 2, layer], _RATES[version][start[2] >> 2 & 3]


def _adts_timing(start: bytes) -> tuple[int, int]:
    """1,024 samples for each raw block, of which the last two bits of the head (that we do not read) say how many: one."""
    return 1_024, _ADTS_RATES[start[2] >> 2 & 15]


class _Kind(Frozen, frozen=True):
    """A kind of frame: its length, and its samples and their rate, from its head, and the bits that all frames of a run share."""

    length: Callable[[bytes], int]
    timing: Callable[[bytes], tuple[int, int]]
    mask: bytes

    def same(self, one: bytes, other: bytes) -> bool:
        """Whether two heads are of the same run."""
        return all(a & m == b & m for a, b, m in zip(one, other, self.mask, strict=False))


_KINDS: Final = {
    _MPEG: _Kind(_mpeg_frame, _mpeg_timing, b"\xff\xfe\x0c"),
    _AAC: _Kind(_adts_frame, _adts_timing, b"\xff\xf6\x3c"),
}
