"""The commands as a user runs them: exit code, what is on standard output, what was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bodies import chat, loop, png
from transom.cli import app


def run(*words: str | Path, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=given, catch_exceptions=False)


def saved(folder: Path, name: str, *bodies: dict[str, Any]) -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(body) for body in bodies) + "\n", encoding="utf-8")
    return path


def test_a_body_that_fits_is_written_as_the_bytes_that_it_was(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text(json.dumps(chat(), indent=7), encoding="utf-8")
    result = run("fit", body, "-o", tmp_path / "out.json")
    assert result.exit_code == 0
    assert (tmp_path / "out.json").read_bytes() == body.read_bytes()


def test_a_body_that_does_not_fit_is_made_to(tmp_path: Path) -> None:
    body, out = saved(tmp_path, "body.json", loop(12)), tmp_path / "out.json"
    result = run("fit", body, "--budget", "1200", "--max-images", "2", "-o", out)
    assert result.exit_code == 0
    assert json.loads(out.read_text())["messages"][-1] == loop(12)["messages"][-1]
    assert "drop" in result.stdout
    assert "stub" in result.stdout or "tokens" in result.stdout


def test_the_report_is_json_and_nothing_else_on_standard_output(tmp_path: Path) -> None:
    result = run("fit", saved(tmp_path, "body.json", loop(12)), "--max-images", "2", "--json")
    report = json.loads(result.stdout)
    assert report["after"]["tokens"] < report["before"]["tokens"]
    assert {one["verb"] for one in report["decisions"]} == {"stub"}


def test_standard_input_and_output_are_a_dash() -> None:
    given = json.dumps(chat())
    result = run("fit", "-", "-o", "-", given=given)
    assert result.exit_code == 0
    assert result.stdout == given


def test_the_form_is_guessed_and_said(tmp_path: Path) -> None:
    assert "read as anthropic" in run("fit", saved(tmp_path, "a.json", loop(1))).stderr
    assert "read as openai-chat" in run("fit", saved(tmp_path, "b.json", chat())).stderr
    assert "read as" not in run("fit", saved(tmp_path, "b.json", chat()), "--api", "openai-chat").stderr


def test_json_lines_give_a_line_for_each_and_a_bad_line_stops_nothing(tmp_path: Path) -> None:
    body = tmp_path / "bodies.jsonl"
    body.write_text(json.dumps(chat("one")) + "\n{torn\n" + json.dumps(chat("three")) + "\n", encoding="utf-8")
    result = run("fit", body, "-o", tmp_path / "out.jsonl", "--json")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert result.exit_code == 2
    assert json.loads(lines[0]) == chat("one")
    assert json.loads(lines[2]) == chat("three")
    assert "transom_error" in json.loads(lines[1])
    assert [json.loads(line)["line"] for line in result.stdout.splitlines()] == [1, 2, 3]
    assert "line 2" in result.stderr


def test_over_budget_is_exit_code_3_with_the_numbers(tmp_path: Path) -> None:
    result = run("fit", saved(tmp_path, "body.json", chat("word " * 500)), "--budget", "50", "-o", tmp_path / "out.json")
    assert result.exit_code == 3
    assert "of 50" in result.stderr
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json at all",
        "[1, 2]",
        '{"messages": "no list"}',
        '{"model": "gpt-4o"}',
        '{"prompt": "Hello"}',
        '{"messages": [{"role": "user", "content": "cut off',
        '{"messages": [{"role": "user", "content": NaN}]}',
        '{"messages": [{"role": "user", "content": "\\ud800"}]}',
        '{"messages": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"messages": [' + "9" * 5_000 + "]}",
        '{"messages": [5]}',
    ],
    ids=lambda text: text[:30] or "nothing",
)
@pytest.mark.parametrize("command", ["fit", "price", "lint", "repair"])
def test_bad_input_is_a_sentence_and_exit_code_2(tmp_path: Path, command: str, text: str) -> None:
    body = tmp_path / "body.json"
    body.write_text(text, encoding="utf-8")
    result = run(command, body)
    assert result.exit_code == 2
    assert result.stderr.rstrip().rpartition("error: ")[2]
    assert "Traceback" not in result.output
    assert "transom broke" not in result.output


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    result = run("fit", tmp_path / "nowhere.json")
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr


def test_the_file_that_was_read_is_replaced_only_when_asked(tmp_path: Path) -> None:
    body = saved(tmp_path, "body.json", loop(8))
    before = body.read_bytes()
    refused = run("fit", body, "--max-images", "1", "-o", body)
    assert refused.exit_code == 2
    assert body.read_bytes() == before
    assert run("fit", body, "--max-images", "1", "-o", body, "--force").exit_code == 0
    assert body.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["body.json"]


def test_a_state_file_keeps_the_prefix(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    for rounds in (10, 11, 12):
        body = saved(tmp_path, "body.json", loop(rounds))
        assert run("fit", body, "--budget", "5000", "--state", state, "-o", tmp_path / f"{rounds}.json").exit_code == 0
    sent = [json.loads((tmp_path / f"{rounds}.json").read_text())["messages"] for rounds in (10, 11, 12)]
    assert sent[1][: len(sent[0])] == sent[0]
    assert sent[2][: len(sent[1])] == sent[1]


def test_a_state_that_is_none_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text("[]", encoding="utf-8")
    assert run("fit", saved(tmp_path, "body.json", chat()), "--state", state).exit_code == 2


def test_any_setting_can_be_set_by_name(tmp_path: Path) -> None:
    body = saved(tmp_path, "body.json", loop(6))
    assert run("fit", body, "--max-images", "2", "--set", "image_ratio=0", "--json").exit_code == 0
    assert run("fit", body, "--set", "no_such=1").exit_code == 2
    assert run("fit", body, "--set", "nonsense").exit_code == 2


def test_lint_finds_faults_with_exit_code_1(tmp_path: Path) -> None:
    broken = loop(2)
    del broken["messages"][2]
    result = run("lint", saved(tmp_path, "body.json", broken), "--json")
    assert result.exit_code == 1
    faults = json.loads(result.stdout)["faults"]
    assert {"place", "code", "says", "answer", "refused"} <= faults[0].keys()
    assert run("lint", saved(tmp_path, "body.json", loop(2))).exit_code == 0


def test_repair_mends_and_mends_no_further(tmp_path: Path) -> None:
    broken = loop(2)
    del broken["messages"][2]
    once, twice = tmp_path / "once.json", tmp_path / "twice.json"
    assert run("repair", saved(tmp_path, "body.json", broken), "-o", once).exit_code == 0
    assert run("lint", once).exit_code == 0
    assert run("repair", once, "-o", twice).exit_code == 0
    assert twice.read_bytes() == once.read_bytes()


def test_a_torn_session_is_read_past_what_is_torn(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    whole = [json.dumps(message, separators=(", ", ":")) for message in loop(1)["messages"]]
    session.write_bytes("\n".join([whole[0], "\0" * 90, *whole[1:], '{"role": "assi']).encode())
    result = run("repair", session, "-o", tmp_path / "mended.jsonl", "--json")
    assert result.exit_code == 0
    assert [one["line"] for one in json.loads(result.stdout)["lost"]] == [2, 5]
    assert (tmp_path / "mended.jsonl").read_text().splitlines() == whole


def test_a_picture_is_priced_with_its_arithmetic(tmp_path: Path) -> None:
    shot = tmp_path / "shot.png"
    shot.write_bytes(png(1280, 800))
    result = run("price", shot, "--model", "claude-opus-5", "--model", "gpt-4o")
    assert result.exit_code == 0
    assert "46 x 29 = 1,334 tokens" in result.stdout
    assert "gpt-4o" in result.stdout


def test_price_lists_each_message_and_part(tmp_path: Path) -> None:
    result = run("price", saved(tmp_path, "body.json", loop(1)), "--json")
    bill = json.loads(result.stdout)
    assert bill["tokens"] == bill["fixed"]["tokens"] + sum(r["tokens"] for r in bill["rows"] if r["kind"] == "message")
    assert run("price", saved(tmp_path, "body.json", loop(1))).exit_code == 0


def test_models_are_listed_and_shown() -> None:
    assert "claude-sonnet-4-5" in run("models").stdout
    assert "picture formats" in run("models", "gpt-4o").stdout
    assert json.loads(run("models", "gpt-4o", "--json").stdout.splitlines()[0])["name"] == "gpt-4o"
    for name in ("claude", "gpt-4"):
        assert f"{name}-" in run("models", name).stdout
    unknown = run("models", "nobody-knows-it")
    assert unknown.exit_code == 2
    assert "nobody knows a model" in unknown.stderr
    assert "CM-" not in run("models", "flat").stdout


def test_the_page_is_written(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert run("view", saved(tmp_path, "body.json", loop(3)), "--max-images", "1", "-o", out).exit_code == 0
    assert "messages[6]" in out.read_text(encoding="utf-8")


def test_the_page_of_what_cannot_fit_says_so(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    result = run("view", saved(tmp_path, "body.json", chat("word " * 500)), "--budget", "50", "-o", out)
    assert result.exit_code == 3
    assert "Over budget" in out.read_text(encoding="utf-8")


def test_the_version_is_said() -> None:
    assert run("--version").stdout.startswith("transom ")


def test_blank_lines_between_bodies_are_no_bodies(tmp_path: Path) -> None:
    path = tmp_path / "bodies.jsonl"
    path.write_text(f"\n{json.dumps(chat())}\n\n  \n{json.dumps(chat('More'))}\n\n", encoding="utf-8")
    result = run("price", path, "--json")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize("key", ["messages", "contents", "input"])
def test_a_list_that_is_none_is_named_with_what_it_is(tmp_path: Path, key: str) -> None:
    result = run("price", saved(tmp_path, "body.json", {"model": "gpt-5", key: 5}))
    assert result.exit_code == 2
    assert f"`{key}` is a number; it must be a list" in " ".join(result.stderr.split())


@pytest.mark.parametrize("option", ["--model", "--api"])
@pytest.mark.parametrize("command", [["fit"], ["price"], ["lint"], ["view", "-o", "-"]], ids=lambda words: words[0])
def test_an_empty_name_is_not_taken_as_left_out(tmp_path: Path, command: list[str], option: str) -> None:
    result = run(*command, saved(tmp_path, "body.json", chat()), option, "")
    assert result.exit_code == 2
    assert result.stdout == ""
    said = " ".join(result.stderr.replace("│", " ").split())
    assert f"'{option}': the name is empty; give one, or leave the option out" in said


def test_one_empty_name_among_several_is_refused(tmp_path: Path) -> None:
    assert run("price", saved(tmp_path, "body.json", chat()), "--model", "gpt-4o", "--model", "").exit_code == 2
