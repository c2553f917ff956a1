"""How long sound and film last, and the sides of film, by bounded looks at a file."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from probe.drawn import adts, box, heic, mp3, text, wav
from probe.written import (
    FILMS,
    OPUS,
    SOUNDING,
    THEORA,
    VORBIS,
    Counted,
    aiff,
    asf,
    avi,
    cluster,
    element,
    flac,
    flv,
    fmt,
    frames,
    information,
    matroska,
    mp4,
    mpeg,
    mvhd,
    ogg,
    ogg_page,
    riff,
    tagged,
    track,
    tracks,
    vbri,
    xing,
)
from transom import probe
from transom.parts import Facts
from transom.probe.table import look, measured

ALL = [data for _, data, _ in (*SOUNDING.values(), *FILMS.values())]


def read(data: bytes) -> Facts:
    return probe.facts(text(data), "base64", "audio/wav")


def seconds(data: bytes) -> float:
    return read(data).seconds


@pytest.mark.parametrize("name", SOUNDING)
def test_the_length_of_sound(name: str) -> None:
    mime, data, length = SOUNDING[name]
    assert read(data) == Facts(mime=mime, seconds=read(data).seconds)
    assert seconds(data) == pytest.approx(length, abs=1e-9)
    assert probe.facts_of_bytes(data, len(data)) == read(data)


@pytest.mark.parametrize("name", FILMS)
def test_the_length_and_the_sides_of_film(name: str) -> None:
    mime, data, (length, width, height, silent) = FILMS[name]
    found = read(data)
    assert found == Facts(mime=mime, seconds=found.seconds, width=width, height=height, silent=silent)
    assert found.seconds == pytest.approx(length, abs=1e-9)
    assert probe.facts_of_bytes(data, len(data)) == found


@pytest.mark.parametrize("data", ALL)
@pytest.mark.parametrize("rubbish", [b"\0", b"\n\n", b"rubbish " * 100])
def test_rubbish_behind_the_end_adds_nothing(data: bytes, rubbish: bytes) -> None:
    """What is behind a WAV's samples is no sound; an old tag is one only at the very end."""
    found = read(data + rubbish)
    assert replace(found, seconds=0.0) == replace(read(data), seconds=0.0)
    assert found.seconds == pytest.approx(seconds(data), rel=0.02)


@pytest.mark.parametrize("data", ALL)
def test_every_prefix_is_read_and_none_lasts_longer(data: bytes) -> None:
    full = read(data)
    for end in (*range(min(400, len(data))), *range(400, len(data), max(1, len(data) // 60))):
        found = read(data[:end])
        assert 0 <= found.seconds <= full.seconds * 1.2 + 0.05
        assert (found.width, found.height) in {(0, 0), (full.width, full.height)}
        probe.facts_of_bytes(data[:end], len(data))


# ------------------------------------------------------------------------------------------------------------------ WAV


@pytest.mark.parametrize("stated", [0, 0xFFFFFFFF, 0x7FFFFFFF, 900_000])
def test_a_size_that_is_not_there_is_counted(stated: int) -> None:
    """What writes to a pipe cannot know it; a header that claims hours is no longer than its bytes."""
    assert seconds(wav(2, stated=stated)) == 2.0


def test_a_size_that_is_there_is_believed() -> None:
    assert seconds(wav(2) + b"LIST" + b"\0" * 9_000) == 2.0


@pytest.mark.parametrize(
    "head",
    [fmt(channels=0), fmt(rate=0), fmt(rate=900), fmt(rate=2_000_000), fmt(17, bits=4, stated=9), fmt(1, bits=0, stated=0)],
)
def test_a_rate_that_is_none_leaves_the_length_unknown(head: tuple[bytes, bytes]) -> None:
    assert seconds(riff(head, (b"data", b"\0" * 8_000))) == 0.0


def test_a_wav_without_a_format_or_samples_has_no_length() -> None:
    assert seconds(riff((b"data", b"\0" * 8_000))) == 0.0
    assert seconds(riff(fmt(), (b"LIST", b"\0" * 80))) == 0.0
    assert seconds(riff(*[(b"LIST", b"")] * 100, fmt(), (b"data", b"\0" * 8_000))) == 0.0


# ----------------------------------------------------------------------------------------------------- AIFF, FLAC, Ogg


def test_an_aiff_is_as_long_as_its_samples() -> None:
    assert seconds(aiff(80_000, there=8_000)) == 1.0
    assert seconds(aiff(power=0)) == seconds(aiff(power=17_000)) == seconds(aiff(power=16_383 + 2)) == 0.0
    assert seconds(aiff().replace(b"SSND", b"XXXX")) == seconds(aiff(0)) == 0.0
    assert seconds(aiff().replace(b"COMM", b"XXXX")) == 0.0


def test_a_flac_that_knows_no_count_has_no_length() -> None:
    assert seconds(flac(0)) == seconds(flac(rate=0)) == 0.0


def test_an_ogg_is_as_long_as_its_last_page_says() -> None:
    data = ogg(VORBIS, 44_100)
    assert seconds(data + ogg_page(b"other", 99_999_999, b"efgh") + ogg_page(b"", (1 << 64) - 1)) == 2.0
    assert seconds(ogg(OPUS, 0)) == pytest.approx(0.0)
    assert seconds(ogg(b"unknown" * 9, 48_000)) == seconds(data + b"\0" * 70_000) == seconds(ogg(VORBIS[:-20], 0)[:50]) == 0.0
    assert seconds(ogg_page(VORBIS, 0) + b"OggS\0" * 100) == 0.0
    assert read(ogg(THEORA[:30], 1)).width == 0


@pytest.mark.parametrize(
    "data",
    [flac(1 << 35), ogg(VORBIS, 1 << 60), mp4(mvhd(1 << 31, 1)), matroska(information(1e18)), matroska(information(float("nan"))),
     matroska(information(float("inf"))), flv(duration=1e300), flv(duration=-1.0), flv(duration=float("nan")), asf(1e9),
     avi(0xFFFFFFFF, 0xFFFFFFFF), mpeg(0, 1 << 32), aiff(1 << 31, kind=b"AIFC", coding=b"ima4\0\0", there=9), mp4(mvhd(9, 0)),
     mp4(mvhd((1 << 32) - 1)), mp4(mvhd((1 << 64) - 1, wide=True)), matroska(information(9.0, scale=0)), mpeg(9, 3)],
)  # fmt: skip
def test_hours_in_a_few_bytes_are_not_believed(data: bytes) -> None:
    assert seconds(data) == 0.0


# ---------------------------------------------------------------------------------------------------------- MP3 and AAC

FRAME = 1_152 / 44_100


def test_a_count_that_the_bytes_belie_is_counted() -> None:
    assert seconds(frames(100, head=xing(4_000_000_000))) == pytest.approx(101 * FRAME)
    assert seconds(frames(100, head=xing(100, 202 * 417))) == pytest.approx(50 * FRAME)
    assert seconds(frames(100, head=vbri(0, 0))) == pytest.approx(101 * FRAME)
    assert seconds(frames(100, head=xing(100, flags=0))) == pytest.approx(101 * FRAME)
    assert seconds(frames(100, head=xing(100, flags=1, tool=b"other"))) == pytest.approx(100 * FRAME)
    assert seconds(frames(100, head=xing(1, silence=0xFFFFFF))) == pytest.approx(101 * FRAME)


def test_the_table_of_contents_stands_where_the_channels_have_it() -> None:
    mono = b"\xff\xfb\x90\xc4" + b"\0" * 17 + xing(50) + b"\0" * 300
    assert seconds(mono[:417] + (b"\xff\xfb\x90\xc4" + b"\0" * 413) * 50) == pytest.approx(50 * FRAME)
    old = b"\xff\xf3\x84\xc4" + b"\0" * 9 + xing(50) + b"\0" * 300
    assert seconds(old[:192] + (b"\xff\xf3\x84\xc4" + b"\0" * 188) * 50) == pytest.approx(50 * 576 / 24_000)


def test_frames_of_several_rates_are_walked() -> None:
    slow = b"\xff\xfb\x50\x64" + b"\0" * 204  # 64 kbit/s
    assert seconds(mp3(50) + slow * 50) == pytest.approx(100 * FRAME)


def test_a_long_run_goes_on_as_it_began() -> None:
    data = mp3(9_000)
    source = Counted(data)
    found, row = look(source)
    assert row is not None
    assert measured(source, row, found).seconds == pytest.approx(9_000 * FRAME)
    assert source.asked < 4_096 * 417 * 2


def test_rubbish_between_frames_is_passed_over() -> None:
    assert seconds(mp3(50) + b"\xff\xff rubbish \xff\xfb\x90\x64" * 9 + mp3(50)) == pytest.approx(100 * FRAME)
    assert seconds(mp3(50) + b"\0" * 9_000 + mp3(50)) == pytest.approx(50 * FRAME)
    assert seconds(adts(50) + b"\0" * 500 + adts(50)) == pytest.approx(100 * 1_024 / 44_100)


def test_a_tag_without_sound_has_no_length() -> None:
    assert seconds(tagged(b"", 3_000)) == seconds(tagged(b"\0" * 500)) == 0.0
    assert seconds(tagged(tagged(tagged(mp3(10), 200), 200))) == pytest.approx(10 * FRAME)
    assert seconds(b"ID3\4\0\0\x7f\x7f\x7f\x7f" + mp3(10)) == 0.0
    assert seconds(b"ID3\4\0\0\0\0\0\0" * 9 + mp3(10)) == pytest.approx(10 * FRAME)


def test_the_last_frame_may_be_short() -> None:
    assert seconds(mp3(100)[:-200]) == pytest.approx(99.5 * FRAME, abs=FRAME)


# --------------------------------------------------------------------------------------------------------------- film


def test_a_film_without_its_description_has_no_length() -> None:
    head = box(b"ftyp", b"isom\0\0\2\0isom")
    for data in (head, head + box(b"mdat", b"\0" * 99), head + b"\0\0\0\3moov", head + b"\0\0\0\1moov" + b"\0" * 8, mp4()):
        assert read(data) == Facts(mime="video/mp4")
    assert read(head + box(b"free", b"") * 600 + box(b"moov", mvhd(900))).seconds == 0.0


def test_a_box_of_a_long_length_or_to_the_end_is_stepped_into() -> None:
    head, inside = box(b"ftyp", b"isom\0\0\2\0isom"), mvhd(1_000) + track(b"vide", 16, 8)
    wide = struct.pack(">I4sQ", 1, b"mdat", 16 + 500) + b"\0" * 500
    assert read(head + wide + struct.pack(">I", 0) + b"moov" + inside).width == 16


def test_the_description_may_be_torn() -> None:
    data = mp4(mvhd(1_000), track(b"vide", 16, 8))
    for end in range(3_000, len(data)):
        assert read(data[:end]).seconds in {0.0, 1.0}
    bare = mp4(mvhd(0), box(b"mvex", b""), box(b"trak", box(b"mdia", b"")), box(b"trak", b""))
    assert read(bare) == Facts(mime="video/mp4")


def test_only_the_first_film_track_counts() -> None:
    data = mp4(mvhd(1_000), track(b"text", 9, 9), track(b"vide", 16, 8), track(b"vide", 32, 64))
    assert (read(data).width, read(data).height) == (16, 8)


def test_pictures_in_boxes_are_no_film() -> None:
    assert read(heic((512, 512))).seconds == 0.0


def test_a_recording_that_says_no_length_is_as_long_as_its_last_cluster() -> None:
    start = (information(), tracks(64, 48, sound=True))
    assert seconds(matroska(*start, cluster(0, 0), cluster(5_000, 100), b"\0\0", open_=True)) == 5.1
    assert seconds(matroska(*start)) == seconds(matroska(*start, element(0x1F43B675, b""))) == 0.0
    assert seconds(matroska(*start, element(0x1F43B675, element(0xA0, b"") + element(0xA3, b"\x81")))) == 0.0
    assert seconds(matroska(cluster(900, 100))) == 1.0
    assert read(matroska(*start[1:], cluster(900, 100))).width == 64


@pytest.mark.parametrize(
    "data",
    [b"\x1aE\xdf\xa3", b"\x1aE\xdf\xa3\0", b"\x1aE\xdf\xa3\x84webm\x18S\x80g", b"\x1aE\xdf\xa3\x84webm\x18S\x80g\1",
     b"\x1aE\xdf\xa3\x84webm\0\0", b"\x1aE\xdf\xa3\x84webm" + element(0x18538067, element(0x1654AE6B, element(0xAE, b"")))],
)  # fmt: skip
def test_torn_elements_end_the_search(data: bytes) -> None:
    assert read(data).seconds == 0.0


def test_headers_that_are_not_there_say_nothing() -> None:
    assert read(b"RIFF\0\1\0\0AVI LIST" + b"\0" * 60) == Facts(mime="video/x-msvideo")
    assert read(b"FLV\1" + b"\0" * 60) == Facts(mime="video/x-flv")
    assert read(asf(3)[:30] + b"\0" * 99).seconds == 0.0
    assert read(b"\0\0\1\xba" + b"\0" * 8).seconds == 0.0
    assert read(mpeg(0, 90_000)[:119]).seconds == 0.0


# -------------------------------------------------------------------------------------------------------------- bounds

HOSTILE = {
    "boxes": box(b"ftyp", b"isom\0\0\2\0isom") + box(b"free", b"") * 100_000,
    "boxes in boxes": mp4(mvhd(0), *[box(b"trak", box(b"mdia", box(b"free", b"") * 50))] * 5_000),
    "elements": matroska(information(), *[element(0xEC, b"")] * 100_000),
    "blocks": matroska(information(), cluster(0, *[0] * 20_000)),
    "chunks": riff(*[(b"LIST", b"")] * 100_000),
    "pages": ogg(VORBIS, 0, more=b"OggS\0" * 100_000),
    "frames": mp3(20_000),
    "small frames": (b"\xff\xe3\x18\xc4" + b"\0" * 68) * 50_000,
    "rubbish": mp3(2) + (b"\xff\xfb\x90\x64" + b"\xff" * 100) * 20_000,
    "marks": mp3(2) + b"\xff" * 2_000_000,
    "frames and rubbish": (mp3(2) + b"\xff" * 3_000) * 500,
    "tags": b"ID3\4\0\0\0\0\0\0" * 100_000,
    "an index": mp4(mvhd(0), box(b"mvex", b""), last=False, after=box(b"sidx", b"\0" * 18 + b"\xff\xff" + b"\1" * 800_000)),
}


class Looked(Counted):
    """Counts how often it is asked, too."""

    __slots__ = ("times",)

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.times = 0

    def part(self, at: int, count: int) -> bytes:
        self.times += 1
        return super().part(at, count)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_looked_at_a_bounded_number_of_times(name: str) -> None:
    source = Looked(HOSTILE[name])
    found, row = look(source)
    assert row is not None
    assert measured(source, row, found).problem == ""
    assert source.times < 30_000
    assert source.asked < 40 << 20


@settings(max_examples=400)
@given(
    st.sampled_from(ALL), st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), max_size=8),
    st.integers(0, 9_000), st.booleans(),
)  # fmt: skip
def test_damaged_files_never_raise(data: bytes, damage: list[tuple[int, int]], cut: int, end: bool) -> None:
    broken = bytearray(data)
    for at, byte in damage:
        broken[-1 - at % len(broken) if end else at % len(broken)] = byte
    found = read(bytes(broken[: len(broken) - cut % len(broken)]))
    assert 0.0 <= found.seconds < len(data)
