"""What is seen of an end: cut off, whole, with rubbish behind it, and of bytes that are not at hand."""

from __future__ import annotations

import pytest

from probe.drawn import PICTURES, SOUND, draw, jpeg, pdf, segment, text, wav
from transom import probe
from transom.parts import Facts

ENDING = [name for name in PICTURES if name.startswith(("png", "apng", "jpeg", "webp"))]


@pytest.mark.parametrize("name", [*PICTURES, *SOUND])
def test_no_prefix_raises_and_none_claims_other_sides(name: str) -> None:
    mime, data = (PICTURES | SOUND)[name]
    full = probe.facts(text(data), "base64", mime)
    step = max(1, len(data) // 400)
    for end in [*range(min(300, len(data))), *range(300, len(data), step)]:
        found = probe.facts(text(data[:end]), "base64", mime)
        probe.sniff(text(data[:end]))
        assert found.mime in {"", full.mime, "audio/ogg", "video/x-matroska"}
        assert (found.width, found.height) in {(0, 0), (full.width, full.height)}
        assert found.mime or found.problem
        assert probe.facts_of_bytes(data[:end], len(data)).width in {0, full.width}


@pytest.mark.parametrize("name", ENDING)
def test_a_cut_off_picture_is_seen_wherever_it_was_cut(name: str) -> None:
    mime, data = PICTURES[name]
    # A WebP may lack its last padding byte.
    for end in (len(data) - 2, len(data) - 13, len(data) - 200, len(data) * 2 // 3, len(data) // 2, 40):
        if not 20 < end < len(data) - 1:
            continue
        found = probe.facts(text(data[:end]), "base64", mime)
        assert (found.mime, found.problem) == (mime, "cut off"), end


@pytest.mark.parametrize("cut", range(1, 9))
def test_base64_cut_at_any_character_is_seen(cut: int) -> None:
    payload = text(draw("PNG", 200, 100))
    assert probe.facts(payload[:-20][:-cut], "data-url", "image/png").problem == "cut off"


@pytest.mark.parametrize("name", [*PICTURES, *SOUND])
@pytest.mark.parametrize("rubbish", [b"\0", b"\n\n", b"\0" * 1_000, b"rubbish " * 500])
def test_rubbish_behind_the_end_changes_nothing(name: str, rubbish: bytes) -> None:
    mime, data = (PICTURES | SOUND)[name]
    assert probe.facts(text(data + rubbish), "base64", mime) == probe.facts(text(data), "base64", mime)


def test_the_end_of_a_thumbnail_is_not_the_end_of_the_picture() -> None:
    data = jpeg(segment(0xE1, b"Exif\0\0" + jpeg(width=16, height=12)))
    assert probe.facts(text(data[:-2]), "base64", "image/jpeg") == Facts(
        mime="image/jpeg", width=300, height=200, problem="cut off"
    )
    before_scan = data[: data.rindex(b"\xff\xda")]
    assert probe.facts(text(before_scan + b"\0" * 300), "base64", "image/jpeg").problem == "cut off"


def test_an_end_that_is_not_at_hand_is_not_judged() -> None:
    for name in ENDING:
        mime, data = PICTURES[name]
        head = data[: len(data) - 20]
        found = probe.facts_of_bytes(head, len(data))
        assert (found.mime, found.problem) == (mime, "")
    assert probe.facts_of_bytes(pdf()[:60], 9_000) == Facts(mime="application/pdf")


def test_a_header_that_is_not_at_hand_leaves_the_sides_unknown() -> None:
    data = jpeg(segment(0xE1, b"Exif" + b"\0" * 9_000))
    assert probe.facts_of_bytes(data[:4_000], len(data)) == Facts(mime="image/jpeg")
    assert probe.facts_of_bytes(b"plain words " * 9, 5_000_000).problem == "no known media format"


def test_a_file_without_bytes_is_empty() -> None:
    assert probe.facts_of_bytes(b"", 0) == Facts(problem="empty")


@pytest.mark.parametrize("stated", [0, 8_000, 900_000, 0xFFFFFFFF])
def test_the_size_that_a_wav_states_is_not_believed(stated: int) -> None:
    """What writes to a pipe cannot know it."""
    assert probe.facts(text(wav(stated=stated)), "base64", "audio/wav") == Facts(mime="audio/wav", seconds=1.0)


def test_a_wav_without_samples_is_cut_off() -> None:
    assert probe.facts(text(wav()[:20]), "base64", "audio/wav") == Facts(mime="audio/wav", problem="cut off")


def test_a_text_that_only_starts_like_a_pdf_holds_no_object() -> None:
    found = probe.facts(text(b"%PDF-1.4 this is not one"), "base64", "application/pdf")
    assert found == Facts(mime="application/pdf", problem="no PDF object inside")


def test_a_pdf_that_lost_its_end_is_no_problem() -> None:
    whole = Facts(mime="application/pdf", pages=1, width=9, height=9)
    assert probe.facts(text(pdf()[:-30]), "base64", "application/pdf") == whole
    assert probe.facts(text(pdf() + b"\0" * 5_000), "base64", "application/pdf") == whole
