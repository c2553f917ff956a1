"""What the commands do: settings out of flags and a file, the server in front, or a command of the user's behind it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Final

from rich.console import Console

from transom.errors import BadSetting
from transom.proxy import telemetry
from transom.proxy.app import application
from transom.proxy.counters import Counters
from transom.proxy.exchange import Watcher
from transom.proxy.logs import JsonLog, Summary, saved
from transom.proxy.serving import bound, running, server, settle, url_of
from transom.proxy.settings import Folding, Settings, build, from_file, is_local, listening, mapping
from transom.types import JsonObject

OFFICIAL: Final[Mapping[str, str]] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com",
}
VARIABLES: Final[Mapping[str, tuple[str, str]]] = {
    "OPENAI_BASE_URL": ("openai", "/v1"),
    "OPENAI_API_BASE": ("openai", "/v1"),
    "ANTHROPIC_BASE_URL": ("anthropic", ""),
    "ANTHROPIC_API_BASE": ("anthropic", ""),
    "GOOGLE_GEMINI_BASE_URL": ("gemini", ""),
    "GEMINI_API_BASE": ("gemini", ""),
}
"""Variables that clients read their base URL from: the family, and what stands behind it. The official SDKs read the first
of each family, LiteLLM and older clients the second."""
DIRECT: Final = ("NO_PROXY", "no_proxy")
"""Variables that keep a client from going to the proxy by way of another one."""
NOT_FOUND, NOT_RUN = 127, 126
"""Exit codes of shells for a command that is not there, or cannot be run."""
PASSED_ON: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class NotStarted(BadSetting):
    """The command of `run` cannot be started; `code` is the exit code that shells give then."""

    def __init__(self, words: str, code: int) -> None:
        super().__init__(words)
        self.code = code


def settings(  # noqa: PLR0913 - what a command was given
    flags: JsonObject,
    file: str | None,
    upstreams: Sequence[str],
    policy: JsonObject,
    fold: JsonObject | None = None,
    *,
    usual: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a file with the flags laid over them; `fold` are those of folding where a flag turns it on, `usual` the
    upstreams where the file names none. Raises BadSetting.
    """
    in_file = from_file(file) if file else {}
    in_file.pop("listen", None)
    raw = {**in_file, **flags}
    named = mapping(raw.get("upstream", {}), "upstream")
    raw["upstream"] = {**(named or usual or {}), **dict(_pair(one) for one in upstreams)}
    raw["policy"] = {**mapping(raw.get("policy", {}), "policy"), **policy}
    if fold is not None:
        raw["fold"] = {**mapping(raw.get("fold", {}), "fold"), **fold}
    try:
        return build(raw)
    except BadSetting as error:
        if file and _refused({"upstream": dict(OFFICIAL), **in_file}) == str(error):
            raise BadSetting(f"--config {file}: {error}") from error
        raise


def _refused(raw: JsonObject) -> str:
    """Why settings are refused; "" where they are not."""
    try:
        build(raw)
    except BadSetting as error:
        return str(error)
    return ""


def listen_in(file: str | None) -> str:
    """Where a file says to listen; "" where it does not."""
    return str(from_file(file).get("listen", "")) if file else ""


def serve(one: Settings, *, listen: str, log: str, console: Console) -> None:
    """Serve until a signal comes. `log` is "json", "live" or "none"; "": live on a terminal, else JSON. Raises BadSetting."""
    host, port = listening(listen)
    if not is_local(host):
        console.print(f"warning: {host} can be reached from other machines, and whoever reaches it is served", style="yellow")
    counters = Counters()
    live = log == "live" or (not log and console.is_terminal)
    watchers: tuple[Watcher, ...] = telemetry.watchers()
    if log == "json" or (not log and not live):
        watchers = (*watchers, JsonLog(sys.stderr))
    app = application(one, counters, watchers)
    listener = bound(host, port)
    title = f"transom proxy at {url_of(listener)}, mode {one.mode}, for {', '.join(one.upstreams)}"
    with listener, contextlib.suppress(KeyboardInterrupt), _ended_by_sigterm():
        if one.folding is not None:
            console.print(_folds(one.folding), highlight=False)
        console.print(title, highlight=False)
        with Summary(counters, console, title) if live else contextlib.nullcontext():
            settle()
            server(app, head=one.slow_client).run(sockets=[listener])
    console.print(spoken(counters), highlight=False)


def run(one: Settings, command: Sequence[str], *, log: str | None, console: Console) -> int:
    """Run a command behind the proxy; answers its exit code, and says at its end what was saved. Raises BadSetting,
    NotStarted.
    """
    counters = Counters()
    with contextlib.ExitStack() as stack:
        watchers: tuple[Watcher, ...] = telemetry.watchers()
        if log:
            watchers = (*watchers, JsonLog(stack.enter_context(_opened(log))))
        url = stack.enter_context(running(application(one, counters, watchers), bound("127.0.0.1", 0), head=one.slow_client))
        code = _child(command, environment(os.environ, url, tuple(one.upstreams)))
    console.print(f"transom: {spoken(counters)}", highlight=False)
    return code


def upstreams(environ: Mapping[str, str]) -> dict[str, str]:
    """The upstreams of `run`: where the user's own variables point, else the official ones."""
    found = dict(OFFICIAL)
    for name in reversed(list(VARIABLES)):
        family, behind = VARIABLES[name]
        if environ.get(name):
            found[family] = environ[name].rstrip("/") if behind else environ[name]
    return found


def environment(environ: Mapping[str, str], url: str, families: Sequence[str]) -> dict[str, str]:
    """The variables that the command is run with."""
    out = dict(environ)
    for name, (family, behind) in VARIABLES.items():
        if family in families:
            out[name] = f"{url}/{family}{behind}"
    for name in DIRECT:
        out[name] = ",".join(filter(None, (environ.get(name, ""), "127.0.0.1,localhost")))
    return out


def spoken(counters: Counters) -> str:
    """What was done and saved, in one sentence."""
    figures = counters.to_dict()
    count = sum(row["count"] for row in figures["requests"])
    lines = [f"{value} {name}" for name, value in saved(figures)]
    return "; ".join([f"{count:,} request{'' if count == 1 else 's'}", *lines])


def _folds(one: Folding) -> str:
    """What folding means, in a sentence: whose model sees what, at whose cost, and what is kept."""
    whose = "the operator's key" if one.key else "each caller's own credential"
    return f"folding: {one.model} at {one.upstream} sums up, with {whose}; summaries are kept with the states"


def _opened(log: str) -> IO[str]:
    try:
        return Path(log).open("a", encoding="utf-8")
    except OSError as error:
        raise BadSetting(f"--log {log} cannot be written ({error.strerror}); give another file") from error


def _child(command: Sequence[str], environ: dict[str, str]) -> int:
    """Run a command to its end. Signals to end are passed on to it, but for the terminal's Ctrl-C, which it gets itself."""
    with _passing() as child_is:
        try:
            child = subprocess.Popen(command, env=environ)  # noqa: S603 - the user's own command
        except OSError as error:
            raise _not_started(command[0], error) from error
        child_is(child)
        code = child.wait()
    return code if code >= 0 else 128 - code


def _not_started(name: str, error: OSError) -> NotStarted:
    if isinstance(error, FileNotFoundError) and shutil.which(name) is None:
        return NotStarted(f"there is no command {name!r}; give one that can be run, after --", NOT_FOUND)
    what = "what its first line names is not there" if isinstance(error, FileNotFoundError) else error.strerror
    return NotStarted(
        f"{name} cannot be run ({what}); make it a program (chmod +x, and a first line such as #!/bin/sh), or give what runs it, "
        f"such as -- python {name}",
        NOT_RUN,
    )


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does: uvicorn ends what is open, and then raises the signal once more."""

    def end(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


@contextlib.contextmanager
def _passing() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Pass signals on; yields what must be told of the child. What comes before it is there is kept for it.

    A signal that is ignored already (nohup) stays so, for the child too.
    """
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def hand_on(number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT and terminal_tells_child():
            return
        for child in children:
            child.send_signal(number)
        if not children:
            early.append(number)

    def child_is(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    taken = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    old = {number: signal.signal(number, hand_on) for number in taken}
    try:
        yield child_is
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def terminal_tells_child() -> bool:
    """Whether a terminal's Ctrl-C reaches this process, and so its child too: whether it is in the terminal's foreground."""
    if not hasattr(os, "tcgetpgrp"):  # Windows: the console tells all of its processes
        return True
    try:
        terminal = os.open(os.ctermid(), os.O_RDONLY)
    except OSError:  # there is no terminal
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _pair(text: str) -> tuple[str, str]:
    name, is_there, url = text.partition("=")
    if not is_there:
        raise BadSetting(f"--upstream {text!r} is not NAME=URL, such as anthropic=https://api.anthropic.com")
    return name, url
