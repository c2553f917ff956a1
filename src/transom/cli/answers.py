"""How a command ends: a sentence instead of a traceback, and one of the exit codes below."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from transom.errors import OverBudget, PlanMismatch, TransomError
from transom.types import Json, JsonObject

PATIENCE = 1.0
"""Seconds before progress is shown."""
CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that a terminal obeys, or cannot show."""
TURNS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of what stands behind them."""


class Exit(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FAULTS = 1
    BAD_INPUT = 2
    OVER_BUDGET = 3
    OWN_FAULT = 4


def out() -> Console:
    """Where results go. Made when it is needed, so that it is the standard output of that moment."""
    return Console(highlight=False, soft_wrap=False)


def err() -> Console:
    """Where everything else goes."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def code(error: TransomError) -> Exit:
    """The exit code that an error stands for."""
    if isinstance(error, OverBudget):
        return Exit.OVER_BUDGET
    return Exit.OWN_FAULT if isinstance(error, PlanMismatch) else Exit.BAD_INPUT


@contextmanager
def sentences() -> Iterator[None]:
    """Whatever goes wrong inside becomes one sentence on standard error, and an exit code."""
    try:
        yield
    except TransomError as error:
        say_error(str(error))
        raise typer.Exit(code(error)) from error
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except OSError as error:  # files say what is wrong with them where they are opened: this is a stream
        what = error.filename or "standard output"
        say_error(f"{what} cannot be written ({error.strerror or error}); make room, or write elsewhere")
        raise typer.Exit(Exit.BAD_INPUT) from error
    except Exception as error:
        say_error(f"transom broke on this input ({type(error).__name__}: {error}); please report it with the input")
        raise typer.Exit(Exit.OWN_FAULT) from error


def plain(words: str) -> str:
    """Words that somebody else chose, without what a terminal obeys: control characters are spelled out."""
    return "".join(ascii(one)[1:-1] if unicodedata.category(one) in CONTROLS or one in TURNS else one for one in words)


def say_error(words: str) -> None:
    """One sentence on standard error."""
    err().print(f"error: {plain(words)}", style="red", markup=False)


def note(words: str) -> None:
    """A remark on standard error."""
    err().print(plain(words), style="dim", markup=False)


def said(api: str, heard: set[str] | None = None) -> str:
    """The wire form that was guessed, after saying so; once for each form where `heard` keeps those that were said."""
    if heard is None or api not in heard:
        note(f"read as {api} (--api says otherwise)")
    if heard is not None:
        heard.add(api)
    return api


def say_json(value: Json | JsonObject) -> None:
    """One JSON value on a line of standard output."""
    typer.echo(msgspec.json.encode(value))


@contextmanager
def progress(words: str, total: int) -> Iterator[Callable[[], None]]:
    """Progress on standard error, once it takes longer than a second; call what it yields after each item."""
    console = err()
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(words, total=total)
    starter = threading.Timer(PATIENCE, bar.start)
    starter.daemon = True
    starter.start()
    try:
        yield lambda: bar.advance(task)
    finally:
        starter.cancel()
        starter.join()
        bar.stop()
