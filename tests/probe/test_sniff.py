"""Media that stand as base64 in a string of which nothing is known, and text that is none."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.drawn import PICTURES, SOUND, draw, text
from transom import probe

SMALL = [name for name in PICTURES | SOUND if name != "wav"]


@pytest.mark.parametrize("name", [*PICTURES, *SOUND])
def test_media_are_known_in_every_spelling(name: str) -> None:
    mime, data = (PICTURES | SOUND)[name]
    payload = text(data)
    for spelled in (
        payload,
        f"data:{mime};base64,{payload}",
        f"DATA:;a=b;BASE64,{payload}",
        f" \n{payload}\n",
        base64.encodebytes(data).decode(),
    ):
        assert probe.sniff(spelled) == mime
    assert probe.sniff(base64.urlsafe_b64encode(data).decode().rstrip("=")) == mime


def test_svg_is_known() -> None:
    assert probe.sniff(text(b'<svg width="10" height="20"></svg>')) == "image/svg+xml"
    assert probe.sniff(text(b"<?xml version='1.0'?><rss></rss>" + b" " * 50)) == ""


@pytest.mark.parametrize(
    "words",
    [
        "",
        "iVBORw0KGgo",
        "iVBORw0KGgoAAAANSUhEUgAA... and so on, which is how a PNG starts in base64",
        "data:image/png;base64, is how such an address starts; what follows is base64",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAAAAAAA: see above, where the whole of it stands",
        "A" * 500,
        "AAAAIGZ0eXBub25l" + "A" * 500,
        "Qk" * 300,
        "//" * 300,
        "/9j/" + "A" * 500,
        "SUkqAAgAAAA" + "A" * 500,
        "The quick brown fox jumps over the lazy dog. " * 20,
        "https://example.org/9j/" + "a" * 100,
        "deadbeef" * 20,
        "eyJhbGciOiJIUzI1NiJ9." + "e" * 80,
        " " * 100_000,
        "\ud800" * 100,
    ],
)
def test_other_text_is_text(words: str) -> None:
    assert probe.sniff(words) == ""


def test_a_picture_with_prose_behind_it_is_text() -> None:
    assert probe.sniff(text(draw("PNG")) + " is the picture that you asked for") == ""


def test_a_pdf_behind_rubbish_is_no_proof_in_a_string_of_which_nothing_is_known() -> None:
    data = b"rubbish\n" + SOUND["pdf"][1]
    assert probe.sniff(text(data)) == ""
    assert probe.facts(text(data), "base64", "application/pdf").mime == "application/pdf"
    assert probe.facts(text(b"\n" * 900 + data), "base64", "application/pdf").mime == "application/pdf"
    assert probe.facts(text(b"\n" * 1_100 + data), "base64", "application/pdf").mime == ""


@given(st.text(max_size=300))
def test_no_text_is_taken_for_media(words: str) -> None:
    assert probe.sniff(words) == ""


@given(st.binary(min_size=40, max_size=400))
def test_no_random_bytes_are_taken_for_media(data: bytes) -> None:
    if data[:2] not in {b"BM", b"II", b"MM"} and data[0] != 0xFF:
        assert probe.sniff(text(data)) == ""
