"""The page stands by itself, escapes everything, and draws only pictures that are safe to draw."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from typing import Any

import pytest

import transom
from bodies import loop, picture, png
from transom import view


class Tags(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def drawn(body: dict[str, Any], **settings: Any) -> str:
    fit = transom.fit(body, api="anthropic", **settings)
    return view.page(body, api="anthropic", fit=fit, name="body.json")


def test_it_has_no_script_and_loads_nothing() -> None:
    tags = Tags(drawn(loop(4), max_images=1))
    assert not {tag for tag, _ in tags.found} & {"script", "link", "iframe", "object", "embed", "form", "base", "svg"}
    for tag, attributes in tags.found:
        for name in ("src", "href", "srcset", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/")), (tag, value)
        assert not any(name.startswith("on") for name in attributes)
    policies = [a.get("content") or "" for tag, a in tags.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]


@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</pre></style><b>", "{{ 7 * 7 }}"]
)
def test_words_of_the_request_are_escaped(words: str) -> None:
    body = loop(1)
    body["messages"][0]["content"] = words
    body["messages"][1]["content"][0]["name"] = words
    page = view.page(body, api="anthropic", fit=None, name=words, trouble=words)
    plain = Tags(view.page(loop(1), api="anthropic", fit=None, name="x", trouble="x"))
    found = Tags(page)
    assert {tag for tag, _ in found.found} <= {tag for tag, _ in plain.found}
    assert sum(tag == "img" for tag, _ in found.found) == 1
    assert not any("onerror" in attributes for _, attributes in found.found)
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", page)


def test_each_message_is_drawn_with_its_price_and_verdict() -> None:
    body = loop(4)
    page = drawn(body, max_images=1)
    for index in range(len(body["messages"])):
        assert f'id="m{index}"' in page
    assert "badge stub" in page
    assert "640 x 480 px" in page
    assert "640x480, " in page


def test_pictures_of_four_formats_get_a_thumbnail() -> None:
    page = drawn(loop(2))
    assert len(re.findall(r'<img src="data:image/png;base64,[A-Za-z0-9+/=]+"', page)) == 2


def hostile(data: bytes, mime: str) -> dict[str, Any]:
    source = {"type": "base64", "media_type": mime, "data": base64.b64encode(data).decode()}
    return {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/png"),
        (b"<!doctype html><script>alert(1)</script>", "image/png"),
        (b"", "image/png"),
        (png()[:8] + b"\0\0\0\rIHDR" + (60_000).to_bytes(4) * 2 + b"\x08\0\0\0\0", "image/png"),
    ],
    ids=["svg", "svg called png", "html called png", "nothing", "60,000 px"],
)
def test_what_is_no_safe_picture_gets_no_thumbnail(data: bytes, mime: str) -> None:
    assert "<img" not in view.page(hostile(data, mime), api="anthropic", fit=None)


def test_a_payload_with_markup_in_it_gets_no_thumbnail() -> None:
    body: dict[str, Any] = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": [picture()]}]}
    body["messages"][0]["content"][0]["source"]["data"] += '"><script>alert(1)</script>'
    assert "<script" not in view.page(body, api="anthropic", fit=None)


def test_the_same_request_makes_the_same_page() -> None:
    assert drawn(loop(3), max_images=1) == drawn(loop(3), max_images=1)


def luminance(colour: str) -> float:
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    shares = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_words_can_be_read_on_what_they_stand_on() -> None:
    """WCAG 2.2, 1.4.3: a contrast of at least 4.5, in light and in dark; and no words are faded."""
    style = drawn(loop(1)).partition("<style>")[2].partition("</style>")[0]
    light, dark = (dict(re.findall(r"--(\w+): #(\w+)", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL))
    words = {
        **dict.fromkeys(("soft", "ink"), ("back", "card", "line")),
        **dict.fromkeys(("accent", "gone", "stub", "mend", "ok"), ("card",)),
        "on": ("system", "user", "assistant", "tool"),
    }
    for scheme in (light, light | dark):
        for one, behind in ((one, behind) for one, grounds in words.items() for behind in grounds):
            pair = sorted((luminance(scheme[one]), luminance(scheme[behind])))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (one, scheme[one], behind, scheme[behind])
    assert not [rule for rule in re.findall(r"([^{}]+)\{[^{}]*opacity", style) if not rule.strip().endswith((" i", "img"))]
