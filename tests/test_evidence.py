"""The evidence runs on any folder of its layout and holds on the one beside this checkout, where there is one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evidence import Check, naming
from evidence.__main__ import main
from evidence.sums import least
from evidence.wires import Answered, calls, kept_anyway, results
from transom.types import JsonObject

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"


def folder(kind: str) -> Path:
    if not (DATA / kind).is_dir():
        pytest.skip(f"the {kind} are not beside this checkout")
    return DATA / kind


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cases", "prices", "usage"])
def test_it_holds(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([kind, str(folder(kind)), "--quiet"])
    held(code, capsys.readouterr().out)


@pytest.mark.slow
def test_so_do_the_transcripts() -> None:
    # A process of its own, as one would run it by hand: measured for coverage, they would take many times as long.
    command = [sys.executable, "-m", "evidence", "transcripts", str(folder("transcripts")), "--every", "150", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    held(done.returncode, done.stdout + done.stderr)


def held(code: int, printed: str) -> None:
    lines = printed.splitlines()
    assert code == 0, "\n".join(line for line in lines if not line.startswith("left"))
    assert "0 failed" in lines[-1]


def test_a_folder_that_is_none_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", str(tmp_path / "nowhere")]) == 2
    assert "is no folder" in capsys.readouterr().out


def test_a_check_says_how_it_came_out() -> None:
    assert str(Check("prices", True)) == "ok      prices"
    assert str(Check("prices", False, "7 of 8")) == "FAILED  prices: 7 of 8"
    assert str(Check("prices", None, "not read yet")) == "left    prices: not read yet"


def test_a_number_is_found_with_and_without_separators_and_only_whole() -> None:
    assert naming.literal("60000", "60,000 px a side")
    assert naming.literal("9000", "1280x9000 px")
    assert not naming.literal("900", "9000 px")
    assert not naming.literal("t1", "t12: dropped")


def test_what_must_stay_is_the_newest_request_and_the_newest_group() -> None:
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "seen"}
    messages: list[JsonObject] = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    assert kept_anyway(messages, "anthropic") == [2, 3, 4]
    body = json.loads(json.dumps({"model": "claude-sonnet-4-5", "messages": messages}))
    assert 0 < least(body, "anthropic", None) < 500


CALLED: dict[str, JsonObject] = {
    "anthropic": {
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {"n": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "seen", "is_error": True}]},
        ]
    },
    "openai-chat": {
        "messages": [
            {"role": "assistant", "tool_calls": [{"id": "t", "function": {"name": "look", "arguments": '{"n": 1}'}}]},
            {"role": "tool", "tool_call_id": "t", "content": "seen"},
        ]
    },
    "openai-responses": {
        "input": [
            {"type": "function_call", "call_id": "t", "name": "look", "arguments": '{"n": 1}'},
            {"type": "function_call_output", "call_id": "t", "output": "seen"},
        ]
    },
    "gemini": {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {"n": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"error": "seen"}}}]},
        ]
    },
}


@pytest.mark.parametrize("api", CALLED)
def test_calls_and_results_are_found_in_every_form_that_the_oracle_reads(api: str) -> None:
    assert list(calls(CALLED[api], api)) == [("t", '{"n": 1}')]
    holds = {"error": "seen"} if api == "gemini" else "seen"
    failed = True if api in ("anthropic", "gemini") else None
    assert list(results(CALLED[api], api)) == [Answered("t", holds, failed)]
