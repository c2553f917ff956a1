"""The options that several commands share, each with its help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias, TypeVar

import msgspec
import typer

from transom.errors import BadSetting
from transom.types import JsonObject
from transom.wire import FORMS

Given = TypeVar("Given", bound=str | list[str] | None)


class Newest(StrEnum):
    """The values of --newest."""

    keep = "keep"
    limit = "limit"


class Late(StrEnum):
    """The values of --late-results."""

    move = "move"
    append = "append"


STANDARD_OUTPUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
"""Names that some systems have for it; writing there goes to standard output, wherever that goes."""


def target(name: str | None) -> str | None:
    """The value of -o. Refuses the empty name."""
    if name == "":
        raise typer.BadParameter("the name is empty; give a file, or - for standard output")
    return "-" if name in STANDARD_OUTPUT else name


def filled(value: Given) -> Given:
    """The value of an option that names something. Refuses the empty name, as `"$UNSET"` gives it to a script."""
    if value is not None and not all(one.strip() for one in ([value] if isinstance(value, str) else value)):
        raise typer.BadParameter("the name is empty; give one, or leave the option out")
    return value


def state_file(name: str | None) -> str | None:
    """The value of --state. Refuses what can be no file that is read and then written."""
    if name in ("", "-"):
        raise typer.BadParameter("a state is read and written back; give the name of a file")
    return name


FITTING, IMAGES, KEEPING = "Budget", "Pictures", "What stays"

Body: TypeAlias = Annotated[
    str, typer.Argument(metavar="BODY", help="A request body as JSON, JSON lines, or - for standard input.")
]
Fields: TypeAlias = Annotated[
    str, typer.Argument(metavar="BODY", help="A request body as JSON, JSON lines, or - for standard input.", show_default=False)
]
ApiName: TypeAlias = Annotated[
    str | None,
    typer.Option("--api", metavar="FORM", callback=filled, help=f"{', '.join(FORMS)}. Guessed, and said, when left out."),
]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", callback=filled, help="Who bills: its prices and limits. Default: the body's own model."),
]
Out: TypeAlias = Annotated[
    str | None,
    typer.Option("-o", "--out", metavar="OUT", callback=target, help="Where the result is written; - is standard output."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="The report as JSON on standard output, and nothing else there.")]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="OUT may be the very file that was read.")]

Budget: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Most tokens of the whole request. Default: what the model takes.", rich_help_panel=FITTING),
]
Reserve: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Tokens kept for the answer. Default: the body's own max tokens.", rich_help_panel=FITTING),
]
MaxBodyBytes: TypeAlias = Annotated[
    int | None, typer.Option(help="Most bytes of the body. Default: what the provider takes.", rich_help_panel=FITTING)
]
MaxMessages: TypeAlias = Annotated[int | None, typer.Option(help="Most messages. 0: no limit.", rich_help_panel=FITTING)]
Trigger: TypeAlias = Annotated[
    float | None, typer.Option(help="Share of the budget at which the window moves (1).", rich_help_panel=FITTING)
]
Refit: TypeAlias = Annotated[float | None, typer.Option(help="Share of the budget it moves to (0.5).", rich_help_panel=FITTING)]
MaxImages: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Most live pictures. 0: no limit but the model's own. Default: what the model takes.", rich_help_panel=IMAGES
    ),
]
MaxImageBytes: TypeAlias = Annotated[
    int | None, typer.Option(help="Most base64 characters of all live pictures together.", rich_help_panel=IMAGES)
]
ImageDepth: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Pictures further back than so many tokens become placeholders.", rich_help_panel=IMAGES),
]
NewestRule: TypeAlias = Annotated[
    Newest | None,
    typer.Option("--newest", help="Whether the newest turn's own pictures count.", rich_help_panel=IMAGES),
]
KeepRequests: TypeAlias = Annotated[
    int | None, typer.Option(help="How many of the user's requests stay in any case (1).", rich_help_panel=KEEPING)
]
Pins: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--pin", help="A place such as messages[3] that always stays. Repeatable.", rich_help_panel=KEEPING),
]
ResultsPerTool: TypeAlias = Annotated[
    int | None, typer.Option(help="How many results of each tool stay whole.", rich_help_panel=KEEPING)
]
LateResults: TypeAlias = Annotated[
    Late | None,
    typer.Option("--late-results", help="Move a late result up to its call, or append its words.", rich_help_panel=KEEPING),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of Policy, its value as JSON. Repeatable."),
]
STORE = "sqlite:///transom.db"
StoreUrl: TypeAlias = Annotated[
    str, typer.Option("--store", metavar="URL", envvar="TRANSOM_STORE", help="The database that sessions are kept in.")
]
Tenant: TypeAlias = Annotated[str, typer.Option("--tenant", help="Whose sessions. Default: those of nobody in particular.")]
SessionName: TypeAlias = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="The request of a stored session; BODY holds the fields around its messages."),
]
StateFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--state", metavar="FILE", callback=state_file, help="Read the state from FILE if it is there; write the next one back."
    ),
]


def others(settings: list[str] | None) -> JsonObject:
    """The values of --set by name. Raises BadSetting where one is not NAME=VALUE; a value that is not JSON is text."""
    out: JsonObject = {}
    for setting in settings or ():
        name, is_there, value = setting.partition("=")
        if not is_there or not name:
            raise BadSetting(f"--set {setting!r} is not NAME=VALUE, such as --set image_ratio=0")
        try:
            read = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            read = value
        out[name.replace("-", "_")] = tuple(read) if isinstance(read, list) else read
    return out


def given(**settings: object) -> JsonObject:
    """Only the settings that were given on the command line."""
    return {name: value for name, value in settings.items() if value is not None}
