"""`transom proxy`: unmodified clients through a `base_url`."""

from __future__ import annotations

import importlib
from enum import StrEnum
from types import ModuleType
from typing import Annotated, TypeAlias

import typer

from transom.cli import options
from transom.cli.answers import err, sentences
from transom.errors import BadSetting
from transom.types import JsonObject

WAYS, WHERE, FOLDING = "How", "Where", "Summaries"


class Log(StrEnum):
    """The values of --log."""

    json = "json"
    live = "live"
    none = "none"


Upstreams: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--upstream", metavar="NAME=URL", help="anthropic, openai or gemini, and its URL. Repeatable.", rich_help_panel=WHERE
    ),
]
Config: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.toml", callback=options.filled, help="Settings as TOML; flags win over it.", rich_help_panel=WHERE
    ),
]
StoreFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE",
        callback=options.filled,
        help="Remember conversations in a SQLite file: digests and numbers.",
        rich_help_panel=WHERE,
    ),
]
Shadow: TypeAlias = Annotated[
    bool, typer.Option("--shadow", help="Observe only; every request passes as it came.", rich_help_panel=WAYS)
]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Refuse rather than send too much.", rich_help_panel=WAYS)]
Listen: TypeAlias = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", callback=options.filled, help="Default: 127.0.0.1:8100.", rich_help_panel=WHERE)
]
TenantHeader: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=options.filled,
        help="A header that your gateway sets and that names the tenant.",
        rich_help_panel=WAYS,
    ),
]
Fold: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--fold", help="Sum up what would be left out, with --summary-model; summaries are kept.", rich_help_panel=FOLDING
    ),
]
SummaryModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", callback=options.filled, help="The model that sums up.", rich_help_panel=FOLDING)
]
SummaryUpstream: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", callback=options.filled, help="The upstream that has it. Default: the only one.", rich_help_panel=FOLDING
    ),
]
SummaryKeyEnv: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="VARIABLE",
        callback=options.filled,
        help="Where its key stands. Default: the caller's own credential.",
        rich_help_panel=FOLDING,
    ),
]
LogWay: TypeAlias = Annotated[
    Log | None,
    typer.Option("--log", help="Default: live on a terminal, else JSON lines on standard error.", rich_help_panel=WAYS),
]


def proxy(  # the options are the command
    upstream: Upstreams = None,
    listen: Listen = None,
    config: Config = None,
    store: StoreFile = None,
    shadow: Shadow = False,
    strict: Strict = False,
    tenant_header: TenantHeader = None,
    fold: Fold = False,
    summary_model: SummaryModel = None,
    summary_upstream: SummaryUpstream = None,
    summary_key_env: SummaryKeyEnv = None,
    log: LogWay = None,
    settings: options.Settings = None,
    budget: options.Budget = None,
    reserve: options.Reserve = None,
    max_body_bytes: options.MaxBodyBytes = None,
    max_images: options.MaxImages = None,
    image_depth: options.ImageDepth = None,
    keep_requests: options.KeepRequests = None,
    results_per_tool: options.ResultsPerTool = None,
) -> None:
    """Stand between clients and providers: each request goes out so that it fits, each answer comes back as it is.

    Point a client's base URL at it. What need not change passes byte for byte; no content and no credential is stored or logged.
    """
    with sentences():
        command = loaded()
        policy = options.given(
            budget=budget, reserve=reserve, max_body_bytes=max_body_bytes, max_images=max_images, image_depth=image_depth,
            keep_requests=keep_requests, results_per_tool=results_per_tool,
        )  # fmt: skip
        flags = options.given(store=store, tenant_header=tenant_header, mode=mode_of(shadow=shadow, strict=strict))
        folding = folding_of(fold=fold, model=summary_model, upstream=summary_upstream, key_env=summary_key_env)
        one = command.settings(flags, config, upstream or (), policy | options.others(settings), folding)
        at = listen or command.listen_in(config) or "127.0.0.1:8100"
        command.serve(one, listen=at, log=log.value if log else "", console=err())


def mode_of(*, shadow: bool, strict: bool) -> str | None:
    """The mode that flags name; None where they name none. Raises BadSetting where they name two."""
    if shadow and strict:
        raise BadSetting("--shadow changes nothing and --strict refuses; give one of them")
    return "shadow" if shadow else "strict" if strict else None


def folding_of(*, fold: bool, **named: str | None) -> JsonObject | None:
    """What flags say of folding; None where none turns it on. Raises BadSetting for one that belongs to it without it."""
    given = options.given(**named)
    if given and not fold:
        raise BadSetting(f"--summary-{next(iter(given)).replace('_', '-')} belongs to --fold; add it, or leave this out")
    return given if fold else None


def loaded() -> ModuleType:
    """The proxy's part, which is not loaded for other commands. Raises BadSetting where its extra is not installed."""
    try:
        return importlib.import_module("transom.proxy.command")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "transom":
            raise
        raise BadSetting(f"the proxy needs {error.name}; install it with: pip install 'transom[proxy]'") from error
