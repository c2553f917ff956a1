"""The commands. Each reads its input, calls one function of the public API, and shows or writes what came out."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from typing import Annotated

import typer

from transom.cli import fitting, inspecting, proxy, run, sessions
from transom.cli.answers import Exit, sentences
from transom.errors import BadSetting

STDOUT = 1
"""The number of standard output."""

app = typer.Typer(
    help="Decides what a language model will see: what fits, what it costs, and what had to go.",
    epilog="Exit codes: 0 done, 1 faults found, 2 bad input, 3 over budget, 4 a fault of transom's own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="fit", epilog="Example: transom fit body.json --budget 60000 --max-images 6 -o out.json")(fitting.fit)
app.command(name="repair", epilog="Example: transom repair session.jsonl -o mended.jsonl")(fitting.repair)
app.command(name="price", epilog="Example: transom price shot.png --model claude-opus-5 --model gpt-5")(inspecting.price)
app.command(name="lint", epilog="Example: transom lint body.json")(inspecting.lint)
app.command(name="models", epilog="Example: transom models claude")(inspecting.models)
app.command(name="view", epilog="Example: transom view body.json --budget 60000 -o report.html")(inspecting.view_)
app.command(name="proxy", epilog="Example: transom proxy --upstream anthropic=https://api.anthropic.com")(proxy.proxy)
app.command(name="run", epilog="Example: transom run -- python agent.py")(run.run)
app.add_typer(sessions.app, name="sessions")


def _version(asked: bool) -> None:  # noqa: FBT001 - Typer's callback
    if asked:
        typer.echo(f"transom {metadata.version('transom')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    """Decides what a language model will see: what fits, what it costs, and what had to go."""


def main() -> None:
    """Run the command line; answers with one of the exit codes, never with a traceback."""
    try:
        with sentences():
            if sys.stdout is None:
                raise BadSetting("standard output is closed; let it go somewhere, such as to a file")
            try:
                app(prog_name="transom")
            finally:
                sys.stdout.flush()
    except typer.Exit as done:
        _silence()
        sys.exit(done.exit_code)
    except BrokenPipeError:
        # The reader went away (`transom ... | head`): nothing is wrong.
        _silence()
        sys.exit(Exit.DONE)


def _silence() -> None:
    """What is still buffered for a standard output that cannot be written goes nowhere, and ends nothing with a traceback."""
    try:
        sys.stdout.flush()
    except (AttributeError, OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != STDOUT:
            os.dup2(nowhere, STDOUT)
