"""Settings: what is not known is refused, with the place and what could be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from transom.cli import app
from transom.errors import BadSetting
from transom.proxy.command import environment, settings, upstreams
from transom.proxy.settings import build, is_local, listening, upstream

UPSTREAM = ("--upstream", "openai=https://api.example.com/v1")
NOWHERE = ("--listen", "192.0.2.1:1")  # an address that no machine has: what is not refused before does not serve for ever
UP = {"upstream": {"openai": "https://api.example.com/v1"}}


def refused(*words: str) -> str:
    """What a command that is refused says, on one line."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return " ".join(result.stderr.replace("│", " ").split())


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
        ("openai", "https://x/a b"),
        ("openai", "https://x/größe"),
        ("openai", "https://bücher.example"),
        ("openai", "https://a b.example"),
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


@pytest.mark.parametrize("command", [["proxy", *NOWHERE], ["run", "--", "true"]], ids=["proxy", "run"])
@pytest.mark.parametrize(
    "name, text, reason",
    [("missing.toml", None, "No such file"), ("folder.toml", "", "Is a directory"), ("x.toml", "what = [", "is no TOML")],
)
def test_a_file_of_settings_that_is_none_is_one_sentence(
    tmp_path: Path, command: list[str], name: str, text: str | None, reason: str
) -> None:
    path = tmp_path / name
    if text == "":
        path.mkdir()
    elif text:
        path.write_text(text)
    said = refused(command[0], "--config", str(path), *command[1:])
    assert said.startswith(f"error: --config {path} ")
    assert reason in said
    assert said.endswith("give the path of a TOML file, or leave --config out")


@pytest.mark.parametrize(
    "text, says",
    [
        ("store = 5", "store is 5; it is text"),
        ("tenant_header = 5", "tenant_header is 5; it is text"),
        ("threaded = 'x'", "threaded is 'x'; it is a positive whole number"),
        ("max_body = 1.5", "max_body is 1.5; it is a positive whole number"),
        ("max_held = true", "max_held is True; it is a positive whole number"),
        ("tenant_header = 'x team'", "tenant_header is 'x team', which is no name of a header; give one such as x-team"),
        ("policy.max_images = -1", "x.toml: policy.max_images is -1; it is a positive number, 0 for no limit"),
        ("policy.trigger = 5", "x.toml: policy: trigger is 5; it is a share of the budget"),
        ("models.x.keep_requests = 0", "x.toml: models.'x': keep_requests is 0; it is a whole number"),
        ("models.x.max_images = -2", "x.toml: models.'x'.max_images is -2;"),
        ("models.x.bills = 7", "models.'x'.bills is 7; it is the name of a model whose prices are known"),
        ("models.x.bills = 'nobody-1'", "models.'x'.bills is 'nobody-1'; it is the name of a model whose prices are known"),
        ("fold.model = 7", "fold.model is 7; it is the name of a model"),
        ("fold = { model = 'x', most = 1.5 }", "fold.most is 1.5; it is a positive whole number"),
        ("fold = { model = 'x', key_env = 7 }", "fold.key_env is 7; it is the name of a variable"),
        ("unheard = 7", "there is no setting 'unheard'; there are connect, fold, idle, listen, max_body"),
        ("retry = 'no'", "retry is 'no'; it is true or false"),
        ("policy = 5", "policy is 5; it is a table"),
        ("fold = 5", "fold is 5; it is a table"),
        ("upstream = 5", "upstream is 5; it is a table"),
        ("upstream.openai = 5", "upstream openai='5' is no http or https URL"),
    ],
)
def test_a_value_of_another_type_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.toml").write_text(text + ("" if "upstream" in text else "\n[upstream]\nopenai = 'https://x.example'"))
    folding = ("--fold", "--summary-model", "x") if text == "fold = 5" else ()
    assert says in refused("proxy", "--config", str(tmp_path / "x.toml"), *folding, *NOWHERE)


def test_a_flag_that_cannot_be_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("mode = 'shadow'")
    said = refused("proxy", "--config", str(tmp_path / "x.toml"), "--max-images", "-1", *UPSTREAM, *NOWHERE)
    assert said.startswith("error: policy.max_images is -1; it is a positive number, 0 for no limit but the model's")
    said = refused("proxy", "--config", str(tmp_path / "x.toml"), "--upstream", "foo=http://x", *NOWHERE)
    assert said.startswith("error: upstream 'foo' is none")


@pytest.mark.parametrize(
    "store, says",
    [
        ("sqlite:///{}/no/x.db", "cannot be opened: there is no folder {}/no; make it, or give another file"),
        ("{}/no/x.db", "cannot be opened: there is no folder {}/no; make it, or give another file"),
        ("{}", "cannot be opened: it is a folder; give the name of a file in it, such as {}/states.db"),
        (
            "postgres://me:secret@host/x",
            "begins with postgres://, and the proxy keeps states in a SQLite file alone; give the file",
        ),
        ("mysql://host/x", "begins with mysql://, and the proxy keeps states in a SQLite file alone; give the file"),
        ("postgresql+nosuch://host/x", "begins with postgresql+nosuch://, and the proxy keeps"),
        ("sqlite://", "give the file, such as --store states.db"),
    ],
)
@pytest.mark.parametrize("command", [["proxy", *NOWHERE, *UPSTREAM], ["run", *UPSTREAM, "--", "true"]], ids=["proxy", "run"])
def test_a_store_that_cannot_be_is_one_sentence(tmp_path: Path, command: list[str], store: str, says: str) -> None:
    said = refused(command[0], "--store", store.format(tmp_path), *command[1:])
    assert says.format(tmp_path) in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "option", ["config", "store", "listen", "tenant-header", "summary-model", "summary-upstream", "summary-key-env"]
)
def test_an_empty_name_is_not_taken_as_left_out(option: str) -> None:
    said = refused(
        "proxy", f"--{option}", "", "--shadow", "--strict"
    )  # two that are refused together, so that it serves in no case
    assert f"'--{option}': the name is empty; give one, or leave the option out" in said


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
