"""What a command does where a name is no ordinary file, where a stream is closed, and where input is not what it seems."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bodies import chat, loop
from transom.cli import app

DEVICES = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


def run(*words: str | Path, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=given, catch_exceptions=False)


def shell(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = f'"{sys.executable}" -m transom {words}'
    return subprocess.run(["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own line


def saved(folder: Path, name: str = "body.json", *bodies: object) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies or (chat(),)), encoding="utf-8")
    return path


def a_sentence(result: Result, *words: str) -> None:
    assert result.exit_code == 2
    last = result.stderr.rstrip().rpartition("error: ")[2]
    assert all(word in last for word in words), last
    assert "transom broke" not in result.stderr


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    body = saved(tmp_path)
    for name, target in (("link", "there.json"), ("early", "not-yet.json")):
        (tmp_path / name).symlink_to(tmp_path / target)
    saved(tmp_path, "there.json", {"old": 1})
    for name in ("link", "early"):
        assert run("fit", body, "-o", tmp_path / name, "--state", tmp_path / "state").exit_code == 0
        assert (tmp_path / name).is_symlink()
        assert json.loads((tmp_path / name).read_text()) == chat()


def test_a_link_that_leads_in_a_circle_is_refused(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / one).symlink_to(tmp_path / other)
    a_sentence(run("fit", saved(tmp_path), "-o", tmp_path / "a"), "circle")
    assert (tmp_path / "a").is_symlink()


def test_a_linked_state_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "state").symlink_to(tmp_path / "kept.json")
    assert run("fit", saved(tmp_path), "--state", tmp_path / "state").exit_code == 0
    assert (tmp_path / "state").is_symlink()
    assert json.loads((tmp_path / "kept.json").read_text())["format"]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert run("fit", saved(tmp_path), "-o", pipe).exit_code == 0
    reader.join(5)
    assert json.loads(read[0]) == chat()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@DEVICES
def test_devices_stay_devices(tmp_path: Path) -> None:
    body = saved(tmp_path)
    assert run("fit", body, "-o", "/dev/null", "--state", tmp_path / "state").exit_code == 0
    assert run("fit", body, "--state", "/dev/null").exit_code == 0
    a_sentence(run("fit", body, "-o", "/dev/full"), "/dev/full cannot be written")
    for name in ("/dev/null", "/dev/full"):
        assert stat.S_ISCHR(Path(name).stat().st_mode)
    assert json.loads(shell("fit body.json -o /dev/stdout > out.json; cat out.json", tmp_path).stdout) == chat()


def test_one_file_cannot_be_the_result_and_the_state(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "x")
    for other in ("x", "link"):
        a_sentence(run("fit", saved(tmp_path), "-o", tmp_path / "x", "--state", tmp_path / other), "same file")
        assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("words", ["", "5", "{}", "[]", '{"format": 1}', "{torn"])
def test_a_damaged_state_is_named_with_a_remedy(tmp_path: Path, words: str) -> None:
    state = tmp_path / "state.json"
    state.write_text(words, encoding="utf-8")
    a_sentence(run("fit", saved(tmp_path), "--state", state), "state.json", "start afresh")
    assert state.read_text(encoding="utf-8") == words


def test_a_folder_is_no_state_and_no_result(tmp_path: Path) -> None:
    a_sentence(run("fit", saved(tmp_path), "--state", tmp_path), "is a folder")
    a_sentence(run("fit", saved(tmp_path), "-o", tmp_path), "is a folder")


@pytest.mark.parametrize("option", ["-o", "--state"])
def test_an_empty_name_is_a_sentence(tmp_path: Path, option: str) -> None:
    result = run("fit", saved(tmp_path), option, "")
    assert result.exit_code == 2
    assert "give" in result.stderr


@DEVICES
@pytest.mark.parametrize("words", ["price body.json", "fit body.json --json", "fit body.json -o -", "models", "--version"])
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"])
def test_standard_output_that_cannot_be_written_is_a_sentence(tmp_path: Path, words: str, where: str) -> None:
    saved(tmp_path)
    done = shell(f"{words} {where}", tmp_path)
    assert done.returncode == 2
    assert "error: standard output" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_closed_standard_input_is_a_sentence(tmp_path: Path) -> None:
    done = shell("fit - <&-", tmp_path)
    assert (done.returncode, "standard input is closed" in done.stderr) == (2, True)


def test_a_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    done = shell("models | head -1", tmp_path)
    assert done.stderr == ""


def test_a_log_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    a_sentence(run("run", "--log", tmp_path / "no" / "log", "--", "true"), "--log", "cannot be written")


@pytest.mark.parametrize(("words", "what"), [("5", "a number"), ("null", "null"), ('"abc"', "a string"), ("true", "true")])
@pytest.mark.parametrize("command", ["fit", "price", "lint", "repair"])
def test_json_that_is_no_object_is_called_so(command: str, words: str, what: str) -> None:
    a_sentence(run(command, "-", given=words), f"is JSON, but {what}")


@pytest.mark.parametrize("command", ["fit", "price", "lint", "repair"])
def test_packed_and_converted_files_are_named_with_the_way_out(tmp_path: Path, command: str) -> None:
    packed, wide = tmp_path / "body.gz", tmp_path / "wide.json"
    packed.write_bytes(gzip.compress(json.dumps(chat()).encode()))
    a_sentence(run(command, packed), "gzip", "gunzip")
    for coding in ("utf-16", "utf-16-le", "utf-16-be"):
        wide.write_bytes(json.dumps(chat()).encode(coding))
        a_sentence(run(command, wide), "UTF-16", "iconv")


def test_a_session_file_is_read_as_one_request(tmp_path: Path) -> None:
    session = saved(tmp_path, "session.jsonl", *loop(2)["messages"])
    assert "messages are read as one request" in run("fit", session, "-o", tmp_path / "out.json").stderr
    assert json.loads((tmp_path / "out.json").read_text()) == {"messages": loop(2)["messages"]}
    assert "an unknown model" in run("price", session).stdout
    assert "an unknown model" in run("fit", session).stdout
    assert run("lint", session).exit_code == 0
    assert run("view", session, "-o", tmp_path / "page.html").exit_code == 0
    assert "an unknown model" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_repairing_a_session_in_place_keeps_what_could_not_be_read(tmp_path: Path) -> None:
    session = saved(tmp_path, "s.jsonl", *loop(1)["messages"])
    whole = session.read_text(encoding="utf-8")
    for torn in ('{"role": "assi', "\x00\x00\x00"):
        session.write_text(whole + torn + "\n", encoding="utf-8")
        result = run("repair", session, "-o", session, "--force")
        assert "s.jsonl.unread" in result.stderr
        assert session.read_text(encoding="utf-8") == whole
    assert (tmp_path / "s.jsonl.unread").read_bytes() == b'{"role": "assi\n\x00\x00\x00\n'


def test_the_place_in_a_line_is_said_once(tmp_path: Path) -> None:
    session = tmp_path / "bodies.jsonl"
    session.write_text(json.dumps(chat()) + "\n{torn\n" + json.dumps(chat()) + "\n", encoding="utf-8")
    said = run("fit", session).stderr
    assert "line 2: column" in said
    assert "line 1" not in said


def test_neighbours_that_are_left_out_are_one_line_with_their_sum(tmp_path: Path) -> None:
    body = saved(tmp_path, "body.json", loop(12))
    shown = run("fit", body, "--budget", "1200").stdout
    report = json.loads(run("fit", body, "--budget", "1200", "--json").stdout)
    drops = [one for one in report["decisions"] if one["verb"] == "drop"]
    assert len(drops) > 3
    lines = [line for line in shown.splitlines() if "messages[" in line]
    assert sum(line.lstrip().startswith("messages[1]..") for line in lines) == 1
    assert f"{sum(one['tokens'][0] for one in drops):,} -> " in shown


def test_live_pictures_are_counted(tmp_path: Path) -> None:
    body = saved(tmp_path, "body.json", loop(12))
    report = json.loads(run("fit", body, "--max-images", "4", "--json").stdout)
    left = 12 - sum(one["verb"] == "stub" for one in report["decisions"])
    assert f"{left} pictures in what goes out" in run("fit", body, "--max-images", "4").stdout


def test_a_line_without_sizes_shows_none(tmp_path: Path) -> None:
    assert "- tokens, - bytes" not in run("repair", saved(tmp_path, "body.json", broken())).stdout


def broken() -> dict[str, object]:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "And?"},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    ]
    return {"model": "gpt-4o", "messages": messages}


def test_budgets_are_whole_numbers_in_json(tmp_path: Path) -> None:
    budget = json.loads(run("fit", saved(tmp_path, "body.json", loop(2)), "--budget", "9000", "--json").stdout)["budget"]
    assert {type(value) for value in budget.values()} <= {int, type(None)}


@pytest.mark.parametrize("setting", ["budget=x", "max_images=x", "strict=x", "pins=5", "shed=5", "cut=5", "results_per_tool=x"])
def test_settings_are_refused_without_words_of_python(tmp_path: Path, setting: str) -> None:
    result = run("fit", saved(tmp_path), "--set", setting)
    assert result.exit_code == 2
    assert not any(word in result.stderr.partition("it is ")[2] for word in ("None", "True", "tuple", "dict"))


def test_help_says_what_no_limit_is() -> None:
    assert "0: no limit" in " ".join(run("fit", "--help").stdout.replace("│", " ").split())
