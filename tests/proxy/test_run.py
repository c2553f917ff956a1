"""`transom run`: the command's exit code, signals that are passed on to it, and where its calls go on to."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from transom.cli import app
from transom.proxy import command
from transom.proxy.command import settings

WAITS = """
import signal, sys
def told(number, _):
    sys.exit(40 + number)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, told)
print("ready", flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_proxy_alone_is_passed_on(number: int) -> None:
    line = [sys.executable, "-m", "transom", "run", "--", sys.executable, "-c", WAITS]
    with subprocess.Popen(line, stdout=subprocess.PIPE, start_new_session=True, text=True) as child:  # noqa: S603 - this one
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.wait(20) == 40 + number


def test_a_terminals_interrupt_reaches_the_command_without_being_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the foreground the terminal tells the command itself; once more would be once too often."""
    ours, theirs = pty.openpty()
    try:
        monkeypatch.setattr(os, "ctermid", lambda: os.ttyname(theirs))
        monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
        assert command.terminal_tells_child()
        monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
        assert not command.terminal_tells_child()
        monkeypatch.setattr(os, "ctermid", lambda: "/nothing/like/a/terminal")
        assert not command.terminal_tells_child()
    finally:
        os.close(ours)
        os.close(theirs)


def said(*words: str) -> tuple[int, str]:
    """How `transom run` with this command ends, and what it says, on one line."""
    result = CliRunner().invoke(app, ["run", "--", *words], catch_exceptions=False)
    return result.exit_code, " ".join(result.stderr.split())


def test_a_command_that_cannot_be_started_ends_as_in_a_shell(tmp_path: Path) -> None:
    assert said("no-such-command-here") == (
        127,
        "error: there is no command 'no-such-command-here'; give one that can be run, after --",
    )
    file = tmp_path / "agent.py"
    file.write_text("print(1)")
    code, words = said(str(file))
    assert (code, "Permission denied" in words) == (126, True)
    assert f"such as -- python {file}" in words
    file.write_text("#!/no/such/interpreter\n")
    file.chmod(0o700)
    code, words = said(str(file))
    assert (code, "what its first line names is not there" in words) == (126, True)


def test_the_commands_exit_code_is_its_own() -> None:
    assert said(sys.executable, "-c", "raise SystemExit(9)")[0] == 9


def test_a_file_that_names_no_upstream_leaves_the_usual_ones(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    usual = {"openai": "https://usual.example/v1", "gemini": "https://g.example"}
    file.write_text("mode = 'shadow'")
    one = settings({}, str(file), ["gemini=https://flag.example"], {}, usual=usual)
    assert {name: up.host for name, up in one.upstreams.items()} == {"openai": "usual.example", "gemini": "flag.example"}
    file.write_text("[upstream]\nanthropic = 'https://file.example'")
    assert [*settings({}, str(file), [], {}, usual=usual).upstreams] == ["anthropic"]
