"""Every spelling of base64 that people send, and what is none."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.drawn import PICTURES, SOUND, draw, text
from transom import probe
from transom.parts import Facts
from transom.probe.encoded import Encoded, Raw

SPELLINGS: dict[str, Callable[[str], str]] = {
    "url-safe": lambda payload: payload.replace("+", "-").replace("/", "_"),
    "no padding": lambda payload: payload.rstrip("="),
    "lines of 76": lambda payload: "\r\n".join(textwrap.wrap(payload, 76)) + "\r\n",
    "lines of 64, no padding": lambda payload: "\n".join(textwrap.wrap(payload.rstrip("="), 64)),
    "lines of 500": lambda payload: "\n".join(textwrap.wrap(payload, 500)),
    "white space around": lambda payload: f" \n\t{payload} \n",
    "a late space": lambda payload: payload[: len(payload) * 3 // 4] + " " + payload[len(payload) * 3 // 4 :],
    "percent": lambda payload: payload.replace("+", "%2B").replace("/", "%2f").replace("=", "%3D"),
    "percent lines": lambda payload: "%0D%0A".join(textwrap.wrap(payload, 76)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", [*PICTURES, *SOUND])
def test_every_spelling_reads_alike(name: str, spelling: str) -> None:
    mime, data = (PICTURES | SOUND)[name]
    for more in (0, 1, 2):
        payload = text(data + b"\0" * more)
        assert probe.facts(SPELLINGS[spelling](payload), "data-url", mime) == probe.facts(payload, "base64", mime)


@pytest.mark.parametrize("payload", ["", " ", "\n\t\r ", " " * 10_000])
@pytest.mark.parametrize("declared", ["image/png", "text/plain", ""])
def test_nothing_is_empty(payload: str, declared: str) -> None:
    for source in ("base64", "data-url", "text"):
        assert probe.facts(payload, source, declared) == Facts(problem="empty")


@pytest.mark.parametrize(
    "payload", ["<html><body>no</body></html>", '{"ok": true}', "[object Object]", "data:image/png;base64,AAAA", "é" * 99]
)
def test_other_text_is_not_base64(payload: str) -> None:
    assert probe.facts(payload, "base64", "image/png") == Facts(problem="not base64")


@pytest.mark.parametrize("cut", [100, 1_000, -50])
def test_base64_with_something_else_in_its_start_or_its_end_is_not_base64(cut: int) -> None:
    payload = text(draw("PNG", 1_000, 1_000, compress_level=0))
    assert probe.facts(payload[:cut] + "... [truncated]", "base64", "image/png").problem == "not base64"
    assert probe.facts(payload[:cut] + "=" + payload[cut:], "base64", "image/png").problem in {"not base64", ""}


@pytest.mark.parametrize("data", [b"<!DOCTYPE html><html>no</html>", b'{"ok": true}', b"plain words " * 200, b"\0" * 500, b"x"])
def test_bytes_of_no_known_format_are_a_problem_only_where_media_are_declared(data: bytes) -> None:
    for declared in ("image/png", "IMAGE/JPEG", "image/", "audio/wav", "application/pdf", " video/mp4"):
        assert probe.facts(text(data), "base64", declared) == Facts(problem="no known media format")
    for declared in ("text/plain", "application/json", "application/octet-stream", ""):
        assert probe.facts(text(data), "base64", declared) == Facts()


def test_of_an_address_or_an_id_nothing_is_known() -> None:
    assert probe.facts("https://example.org/a.png", "url", "image/png") == Facts()
    assert probe.facts("file_1", "file", "image/png") == Facts()
    assert probe.facts("", "none", "") == Facts()


def test_plain_text_is_plain_text() -> None:
    assert probe.facts("words", "text", "text/plain") == Facts(mime="text/plain")
    assert probe.facts("<svg", "text", "text/plain") == Facts(mime="text/plain")


@given(st.binary(max_size=400), st.integers(0, 400), st.integers(0, 3))
def test_heads_and_tails_are_what_the_whole_decodes_to(data: bytes, limit: int, spaces: int) -> None:
    payload = " " * spaces + base64.b64encode(data).decode()
    head = Encoded(payload).head(limit)
    assert data.startswith(head.data)
    assert len(head.data) >= min(limit, len(data))
    assert not head.complete or head.data == data
    assert data.endswith(Encoded(payload).tail())
    assert len(Encoded(payload).tail()) >= min(110, len(data))
    assert Encoded(payload).whole() == data
    assert Encoded(payload).size() == len(data)
    broken = "\n".join(textwrap.wrap(payload, 20))
    assert Encoded(broken).whole() == data
    ran = Encoded(broken)
    ran.head(99)
    assert ran.size() == len(data)
    assert data.endswith(ran.tail())


@given(st.binary(max_size=60), st.integers(90, 200), st.integers(0, 9))
def test_far_bytes_are_what_stands_there(end: bytes, at: int, count: int) -> None:
    data = bytes(range(110)) + end
    far = Encoded(base64.b64encode(data).decode()).head(96).far
    assert far is not None
    assert far(at, count) in {data[at : at + count], b""}
    if at + count <= len(data):
        assert far(at, count) == data[at : at + count]


def test_a_file_says_of_its_end_only_what_is_at_hand() -> None:
    part = Raw(b"abc", 9)
    assert (part.tail(), part.whole(), part.size()) == (b"", None, 9)
    full = Raw(b"abc", 3)
    assert (full.tail(), full.whole(), full.size()) == (b"abc", b"abc", 3)
