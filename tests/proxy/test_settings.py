"""Settings: what is not known is refused, with the place and what could be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from transom.errors import BadSetting
from transom.proxy.command import environment, settings, upstreams
from transom.proxy.settings import build, is_local, listening, upstream

UP = {"upstream": {"openai": "https://api.example.com/v1"}}


@pytest.mark.parametrize(
    "url, path, whole",
    [
        ("https://api.openai.com/v1", "/v1/chat/completions", "/v1/chat/completions"),
        ("https://api.openai.com", "/v1/chat/completions", "/v1/chat/completions"),
        ("https://openrouter.ai/api/v1/", "/v1/chat/completions", "/api/v1/chat/completions"),
        ("https://host/openai", "/v1/responses", "/openai/v1/responses"),
        ("https://host/v1", "/chat/completions", "/v1/chat/completions"),
    ],
)
def test_a_version_is_written_once(url: str, path: str, whole: str) -> None:
    assert upstream("openai", url).below(path) == whole


@pytest.mark.parametrize(
    "name, url",
    [
        ("cohere", "https://x"),
        ("openai", "ftp://x"),
        ("openai", "api.openai.com"),
        ("openai", "https://user:secret@x"),
        ("openai", "https://x?key=1"),
        ("openai", "https://x:99999"),
    ],
)
def test_an_upstream_that_is_none_is_refused(name: str, url: str) -> None:
    with pytest.raises(BadSetting):
        upstream(name, url)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"upstream": {}},
        {**UP, "unknown": 1},
        {**UP, "mode": "loud"},
        {**UP, "max_body": 0},
        {**UP, "idle": float("nan")},
        {**UP, "policy": {"max_imagos": 3}},
        {**UP, "models": {"x": {"window": -1}}},
        {**UP, "models": {"x": {"nothing": 1}}},
        {**UP, "models": 7},
    ],
)
def test_a_setting_that_cannot_be_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(BadSetting):
        build(raw)


def test_a_file_with_flags_laid_over_it(tmp_path: Path) -> None:
    file = tmp_path / "proxy.toml"
    file.write_text(
        """
listen = "127.0.0.1:9000"
mode = "shadow"
[upstream]
anthropic = "https://one.example"
[policy]
max-images = 5
budget = 50_000
[models."claude-*"]
max_images = 9
[models."my-local"]
window = 8_192
bills = "gpt-4o"
"""
    )
    one = settings({"mode": "strict"}, str(file), ["anthropic=https://two.example"], {"budget": 60_000})
    assert one.mode == "strict"
    assert one.upstreams["anthropic"].host == "two.example"
    assert one.of_model("gpt-4o", "openai-chat")[0].max_images == 5
    policy, card = one.of_model("claude-opus-5", "anthropic")
    assert (policy.max_images, policy.budget) == (9, 60_000)
    assert card.vendor == "anthropic"
    _, local = one.of_model("my-local", "openai-chat")
    assert (local.window, local.vendor) == (8_192, "openai")


def test_a_file_that_is_no_toml_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("what = [")
    for name in ("x.toml", "missing.toml"):
        with pytest.raises(BadSetting):
            settings({}, str(tmp_path / name), [], {})


@pytest.mark.parametrize(
    "text, meant",
    [
        ("127.0.0.1:8100", ("127.0.0.1", 8100)),
        (":8100", ("127.0.0.1", 8100)),
        ("8100", ("127.0.0.1", 8100)),
        ("[::1]:80", ("::1", 80)),
    ],
)
def test_where_to_listen(text: str, meant: tuple[str, int]) -> None:
    assert listening(text) == meant


@pytest.mark.parametrize("text", ["", "here", "127.0.0.1:", "1.2.3.4:99999", "1.2.3.4:-1"])
def test_where_nobody_can_listen(text: str) -> None:
    with pytest.raises(BadSetting):
        listening(text)


def test_what_other_machines_can_reach() -> None:
    assert is_local("127.0.0.1")
    assert is_local("::1")
    assert is_local("localhost")
    assert not is_local("0.0.0.0")  # noqa: S104 - that is the point
    assert not is_local("host.example")


def test_a_command_finds_the_proxy_and_the_proxy_what_was_meant() -> None:
    before = {"OPENAI_BASE_URL": "https://mine.example/v1/", "NO_PROXY": "intranet", "PATH": "/bin"}
    assert upstreams(before)["openai"] == "https://mine.example/v1"
    assert upstreams(before)["anthropic"] == "https://api.anthropic.com"
    after = environment(before, "http://127.0.0.1:5", ("openai", "anthropic"))
    assert after["OPENAI_BASE_URL"] == "http://127.0.0.1:5/openai/v1"
    assert after["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:5/anthropic"
    assert "GOOGLE_GEMINI_BASE_URL" not in after
    assert after["NO_PROXY"] == "intranet,127.0.0.1,localhost"
    assert after["PATH"] == "/bin"
