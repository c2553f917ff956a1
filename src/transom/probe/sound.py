"""Sound and film, known by their signature only; seconds are counted elsewhere."""

from __future__ import annotations

from transom.parts import Facts
from transom.probe.window import CUT_OFF, Head, Other

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
_SYNC = 0xFFE


def read_wav(head: Head) -> Facts:
    """WAV: the stated size is not believed, since what writes to a pipe cannot know it; there must be samples."""
    if head.complete and len(head.data) <= 44 and b"data" not in head.data[12:40]:  # the shortest head
        return Facts(mime="audio/wav", problem=CUT_OFF)
    return Facts(mime="audio/wav")


def accept_frames(start: bytes) -> bool:
    """Whether an MPEG audio or ADTS frame may start here."""
    return len(start) > 3 and start[0] == 0xFF and start[1] & 0xE0 == 0xE0  # eleven bits set


def read_frames(head: Head) -> Facts:
    """MP3 or AAC without a tag: a frame head whose length leads to another one of its kind, or to the very end."""
    for mime, length_of, mask in (("audio/mpeg", _mpeg_frame, b"\xff\xfe\x0c"), ("audio/aac", _adts_frame, b"\xff\xf6\x3c")):
        if length := length_of(head.take(0, 6)):
            if head.complete and length == len(head.data):
                return Facts(mime=mime)
            ours, next_one = head.take(0, 3), head.take(length, 3)
            if all(a & m == b & m for a, b, m in zip(ours, next_one, mask, strict=True)):
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


def read_ogg(head: Head) -> Facts:
    """Ogg: film if the first stream is Theora, else sound."""
    return Facts(mime="video/ogg" if head.take(28, 7) == b"\x80theora" else "audio/ogg")


def read_ebml(head: Head) -> Facts:
    """WebM or Matroska, by the document type in its head."""
    return Facts(mime="video/webm" if b"webm" in head.data[:64] else "video/x-matroska")
