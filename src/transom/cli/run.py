"""`transom run -- COMMAND`: a client behind the proxy, without a line of it changed."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from transom.cli import options
from transom.cli.answers import err, say_error, sentences
from transom.cli.proxy import (
    Config,
    Fold,
    Shadow,
    StoreFile,
    Strict,
    SummaryKeyEnv,
    SummaryModel,
    SummaryUpstream,
    Upstreams,
    folding_of,
    loaded,
    mode_of,
)


def run(  # the options are the command
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command and its arguments, after --.")],
    upstream: Upstreams = None,
    config: Config = None,
    store: StoreFile = None,
    shadow: Shadow = False,
    strict: Strict = False,
    fold: Fold = False,
    summary_model: SummaryModel = None,
    summary_upstream: SummaryUpstream = None,
    summary_key_env: SummaryKeyEnv = None,
    log: Annotated[
        str | None, typer.Option("--log", metavar="FILE", callback=options.filled, help="Append a line of JSON for each request.")
    ] = None,
    settings: options.Settings = None,
    budget: options.Budget = None,
    reserve: options.Reserve = None,
    max_images: options.MaxImages = None,
    image_depth: options.ImageDepth = None,
) -> None:
    """Run a command with its model calls going through transom, and say at its end what was saved.

    OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL and their like are set for it; where they were set before,
    that is where the calls go on to, else to the official addresses; an [upstream] of --config takes their place. The exit
    code is the command's own; 127 where there is no such command, 126 where it cannot be run.
    """
    with sentences():
        proxy = loaded()
        policy = options.given(budget=budget, reserve=reserve, max_images=max_images, image_depth=image_depth)
        flags = options.given(store=store, mode=mode_of(shadow=shadow, strict=strict))
        usual = proxy.upstreams(os.environ)
        folding = folding_of(fold=fold, model=summary_model, upstream=summary_upstream, key_env=summary_key_env)
        one = proxy.settings(flags, config, upstream or (), policy | options.others(settings), folding, usual=usual)
        try:
            ended = proxy.run(one, command, log=log, console=err())
        except proxy.NotStarted as error:
            say_error(str(error))
            ended = error.code
        raise typer.Exit(ended)
