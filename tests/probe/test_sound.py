"""Sound, film and documents by their signature; how long they last is in `test_seconds`."""

from __future__ import annotations

import pytest

from probe.drawn import SOUND, adts, mp3, text
from transom import probe


@pytest.mark.parametrize("name", SOUND)
def test_the_type_is_read_and_nothing_else_is_claimed(name: str) -> None:
    mime, data = SOUND[name]
    found = probe.facts(text(data), "base64", "audio/wav")
    assert (found.mime, found.problem, found.animated) == (mime, "", False)
    assert probe.facts_of_bytes(data, len(data)) == found


@pytest.mark.parametrize(
    "head,length",
    [
        (b"\xff\xfb\x90\x64", 417),  # MPEG 1 layer III, 128 kbit/s, 44,100 Hz
        (b"\xff\xfb\x92\x64", 418),  # the same with a byte of padding
        (b"\xff\xf3\x84\xc4", 192),  # MPEG 2 layer III, 64 kbit/s, 24,000 Hz
        (b"\xff\xe3\x18\xc4", 72),  # MPEG 2.5 layer III, 8 kbit/s, 8,000 Hz
        (b"\xff\xfd\x80\x04", 417),  # MPEG 1 layer II, 128 kbit/s, 44,100 Hz
        (b"\xff\xff\x80\xc4", 276),  # MPEG 1 layer I, 256 kbit/s, 44,100 Hz
    ],
)
def test_mpeg_frames_are_known_by_the_next_one(head: bytes, length: int) -> None:
    frame = head + b"\0" * (length - 4)
    one = probe.facts(text(frame), "base64", "audio/mpeg")
    assert (one.mime, one.problem) == ("audio/mpeg", "")
    three = probe.facts(text(frame * 3), "base64", "audio/mpeg")
    assert three.mime == one.mime
    assert three.seconds == pytest.approx(3 * one.seconds)
    assert probe.facts(text(frame + b"\0" * 900), "base64", "audio/mpeg").problem == "no known media format"


@pytest.mark.parametrize(
    "head", [b"\xff\xeb\x90\x64", b"\xff\xf9\x00\x00", b"\xff\xfb\xf0\x64", b"\xff\xfb\x0c\x64", b"\xff\xfb\x9c\x64"]
)
def test_reserved_values_are_no_frame(head: bytes) -> None:
    assert probe.facts(text(head + b"\0" * 900), "base64", "audio/mpeg").problem == "no known media format"


def test_sound_of_one_kind_is_not_taken_for_the_other() -> None:
    assert probe.facts(text(adts()), "base64", "audio/mpeg").mime == "audio/aac"
    assert probe.facts(text(mp3()), "base64", "audio/aac").mime == "audio/mpeg"


def test_a_tag_of_no_known_version_is_no_tag() -> None:
    assert probe.facts(text(b"ID3 is a kind of tag" * 9), "base64", "audio/mpeg").problem == "no known media format"
