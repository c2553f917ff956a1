"""`transom sessions` and `transom fit --session` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import transom
from session.speech import SPEECHES
from transom.cli import app

TALK = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
    {"role": "user", "content": [{"type": "text", "text": "three"}]},
]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'chat.db'}"


def run(*words: str | Path, given: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=given, catch_exceptions=False)


def imported(tmp_path: Path, url: str, name: str = "a", tail: str = "") -> Result:
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in TALK) + tail, encoding="utf-8")
    return run("sessions", "import", path, name, "--store", url, "--api", "anthropic", "--model", "claude-opus-4-8")


def test_what_is_imported_is_listed_shown_and_exported(tmp_path: Path, url: str) -> None:
    assert "3 messages of anthropic appended" in imported(tmp_path, url).stderr
    listed = json.loads(run("sessions", "list", "--store", url, "--json").stdout)
    assert (listed["name"], listed["count"], listed["api"]) == ("a", 3, "anthropic")
    assert "anthropic" in run("sessions", "list", "--store", url).stdout
    shown = run("sessions", "show", "a", "--store", url)
    assert [line.split()[:2] for line in shown.stdout.strip().split("\n")] == [["0", "user"], ["1", "assistant"], ["2", "user"]]
    exported = run("sessions", "export", "a", "--store", url).stdout
    assert [json.loads(line) for line in exported.strip().split("\n")] == TALK


def test_lines_that_cannot_be_read_are_named_and_kept_aside(tmp_path: Path, url: str) -> None:
    torn = '\x00\x00\x00\n{"role": "user", "content": "cut o\n' + json.dumps(TALK[0]) + "\n"
    result = imported(tmp_path, url, tail=torn)
    assert "line 4: left out, 3 NUL bytes" in result.stderr
    assert "line 5: left out" in result.stderr
    kept = (tmp_path / "talk.jsonl.unread").read_bytes()
    assert kept.split(b"\n")[1] == b'{"role": "user", "content": "cut o'
    with transom.Store(url) as store:
        assert len(store.session("a")) == 4


def test_a_second_import_is_refused_unless_it_is_meant(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    again = imported(tmp_path, url)
    assert again.exit_code == 2
    assert "a already holds 3 messages" in again.stderr
    meant = run("sessions", "import", tmp_path / "talk.jsonl", "a", "--append", "--store", url, "--api", "anthropic")
    assert meant.exit_code == 0
    with transom.Store(url) as store:
        assert len(store.session("a")) == 6


def test_a_fork_and_a_deletion(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    assert "b holds 2 messages" in run("sessions", "fork", "a", "b", "--at", "2", "--store", url).stderr
    assert run("sessions", "delete", "a", "--store", url, given="n\n").exit_code == 2
    unanswered = run("sessions", "delete", "a", "--store", url, given="")
    assert (unanswered.exit_code, "--yes" in unanswered.stderr) == (2, True)
    assert run("sessions", "delete", "a", "--yes", "--store", url).exit_code == 0
    names = [json.loads(line)["name"] for line in run("sessions", "list", "--store", url, "--json").stdout.strip().split("\n")]
    assert names == ["b"]


def test_a_request_of_a_session_is_made_and_the_session_left_as_it_is(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    body = tmp_path / "fields.json"
    body.write_text(json.dumps({"system": "Be short.", "max_tokens": 500}))
    made = tmp_path / "out.json"
    result = run("fit", body, "--session", "a", "--store", url, "-o", made)
    assert result.exit_code == 0
    request = json.loads(made.read_text())
    assert (request["system"], request["model"], len(request["messages"])) == ("Be short.", "claude-opus-4-8", 3)
    with transom.Store(url) as store:
        assert store.session("a").log.head().version == 0
    assert run("fit", "--session", "a", "--store", url).exit_code == 0
    assert run("fit", "--session", "a", "--store", url, "--budget", "1").exit_code == 3


def test_a_message_is_left_out_by_hand(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    assert run("sessions", "leave-out", "a", "messages[1]", "--store", url).exit_code == 0
    with transom.Store(url) as store:
        assert "two" not in str(store.session("a").compile().request)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sessions", "show", "a"], "there is no store at"),
        (["fit"], "no BODY was given"),
        (["sessions", "import", "nothing.jsonl", "a"], "cannot be read"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_session_that_is_not_there_is_said(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    for words in (["show", "b"], ["export", "b"], ["fork", "b", "c"], ["delete", "b", "--yes"]):
        result = run("sessions", *words, "--store", url)
        assert result.exit_code == 2
        assert "no session 'b'" in result.stderr


def test_tenants_are_apart(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    assert run("sessions", "list", "--store", url, "--tenant", "other", "--json").stdout == ""
    found: Any = run("sessions", "show", "a", "--store", url, "--tenant", "other")
    assert found.exit_code == 2


MIXED = [
    json.dumps(TALK[0]),
    json.dumps({"role": "wizard", "content": "x"}),
    json.dumps({"role": "user", "content": [5]}),
    json.dumps(TALK[1]),
]


def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(MIXED) + "\n", encoding="utf-8")
    return path


def names(url: str) -> list[str]:
    return [one.name for one in transom.Store(url).sessions()]


def test_an_object_that_is_no_message_is_named_and_kept_aside_and_the_rest_is_taken(tmp_path: Path, url: str) -> None:
    result = run("sessions", "import", mixed(tmp_path), "a", "--store", url, "--api", "anthropic")
    assert result.exit_code == 0
    assert "line 2: left out, role: the role is 'wizard'" in result.stderr
    assert "line 3: left out, content[0]: this part is a number" in result.stderr
    assert (tmp_path / "mixed.jsonl.unread").read_text().split("\n")[:2] == MIXED[1:3]
    with transom.Store(url) as store:
        assert store.session("a").messages() == (TALK[0], TALK[1])


def test_a_refused_import_leaves_no_session_behind(tmp_path: Path, url: str) -> None:
    blocked = run("sessions", "import", mixed(tmp_path), "a", "--store", url, "--api", "anthropic", "--aside", tmp_path)
    assert (blocked.exit_code, "is a folder" in blocked.stderr) == (2, True)
    path = tmp_path / "other.jsonl"
    path.write_text('{"role": "model", "parts": [{"text": "x"}]}\n')
    other = run("sessions", "import", path, "a", "--store", url, "--api", "bedrock")
    assert other.exit_code == 2
    assert "holds no message of bedrock (line 1: " in other.stderr
    assert "give another --api" in other.stderr
    long = run("sessions", "import", tmp_path / "mixed.jsonl", "x" * 256, "--store", url, "--api", "anthropic")
    assert (long.exit_code, "has 256 characters" in long.stderr) == (2, True)
    assert names(url) == []
    imported(tmp_path, url)
    form = run("sessions", "import", path, "a", "--append", "--store", url, "--api", "gemini")
    assert (form.exit_code, "holds messages of anthropic, not of gemini" in form.stderr) == (2, True)
    with transom.Store(url) as store:
        assert len(store.session("a")) == 3


def test_messages_are_taken_with_their_session_or_not_at_all(url: str) -> None:
    with transom.Store(url) as store:
        with pytest.raises(transom.BadRequest) as caught:
            store.take("a", [TALK[0], {"role": "wizard"}], api="anthropic")
        assert caught.value.place == "messages[1].role"
        assert store.sessions() == ()
        assert store.take("a", TALK, api="anthropic", model="m") == (0, 1, 2)
        with pytest.raises(transom.BadSetting, match="'a' already holds 3 messages; say that these go behind them"):
            store.take("a", TALK, api="anthropic")
        assert store.take("a", TALK, api="anthropic", behind=True) == (3, 4, 5)
        assert store.session("a").model == "m"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('{"max_tokens": 5}\n{"max_tokens": 6}\n', "holds 2 lines; with --session, BODY is one JSON object"),
        ('{"messages": []}', "has messages of its own, and --session sends those that it holds"),
        ('{"role": "user", "content": "x"}', "is a message; with --session, BODY holds the fields"),
        ('{"max_tokens": 5', "not complete"),
        ("GIF89a", "is not JSON"),
    ],
)
def test_a_body_around_a_session_is_one_object_of_fields(tmp_path: Path, url: str, body: str, says: str) -> None:
    imported(tmp_path, url)
    path = tmp_path / "fields.json"
    path.write_text(body)
    result = run("fit", path, "--session", "a", "--store", url)
    assert result.exit_code == 2
    assert says in result.stderr.replace("\n", " ")


def test_a_session_takes_no_state_of_a_file(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    result = run("fit", "--session", "a", "--store", url, "--state", tmp_path / "state.json")
    assert (result.exit_code, "--state: a session keeps its own state" in result.stderr) == (2, True)


def test_names_are_printed_without_what_a_terminal_obeys(tmp_path: Path, url: str) -> None:
    name = "a\x1b[31m\x07\u202eb\nc\x9b"
    imported(tmp_path, url, name=name)
    with transom.Store(url) as store:
        store.session(name).append({"role": "user", "content": "\x1b]0;title\x07"})
    results = [
        run("sessions", "list", "--store", url),
        run("sessions", "show", name, "--store", url),
        run("sessions", "fork", name, "b\x1bb", "--store", url),
        run("sessions", "leave-out", name, "messages[0]", "--store", url),
        run("sessions", "show", "\x1b[2J", "--store", url),
        run("fit", "--session", name, "--store", url),
        run("sessions", "delete", name, "--yes", "--store", url),
    ]
    for result in results:
        assert not {*"\x1b\x07\u202e\x9b"} & {*result.output}
    assert "a\\x1b[31m" in results[0].output


def test_a_fork_wants_a_name(tmp_path: Path, url: str) -> None:
    imported(tmp_path, url)
    for into in ("", "x" * 256):
        result = run("sessions", "fork", "a", into, "--store", url)
        assert (result.exit_code, "characters; it has between 1 and 255" in result.stderr) == (2, True)
    assert names(url) == ["a"]


def test_a_line_of_another_kind_does_not_make_a_log_one_of_responses(tmp_path: Path, url: str) -> None:
    file = tmp_path / "log.jsonl"
    lines = [
        TALK[0],
        {"type": "compaction", "encrypted_content": "x"},
        {"role": "user", "content": [{"type": "image", "source": {}}]},
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    made = run("sessions", "import", file, "a", "--store", url)
    assert "2 messages of anthropic appended" in made.stderr
    assert "line 2: left out" in made.stderr


@pytest.mark.parametrize("api", SPEECHES)
def test_what_is_exported_can_be_imported_again(tmp_path: Path, url: str, api: str) -> None:
    """Items of Responses, which have no role, among them; and a log of them says itself what it is."""
    speech = SPEECHES[api]
    talk = [speech.user([speech.text("look")]), *speech.answer([speech.text("so")], [("call_1", {"n": 1})])]
    talk += speech.results([("call_1", [speech.text("seen")])], [])
    with transom.Store(url) as store:
        store.session("a", api=api, model=speech.models[0]).append(*talk)
    file = tmp_path / "out.jsonl"
    assert run("sessions", "export", "a", "--store", url, "-o", file).exit_code == 0
    given = [] if api == "openai-responses" else ["--api", api]
    made = run("sessions", "import", file, "b", "--store", url, *given)
    assert (made.exit_code, f"messages of {api} appended" in made.stderr) == (0, True)
    assert not list(tmp_path.glob("*.unread"))
    with transom.Store(url) as store:
        assert list(store.session("b", api=api).messages()) == talk
