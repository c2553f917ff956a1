"""`transom sessions`: what is in a store, and messages in and out of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from msgspec.structs import replace
from rich import box
from rich.table import Table
from rich.text import Text

import transom
from transom import canon, log
from transom.cli import files, options
from transom.cli.answers import err, note, out, plain, say_json, sentences
from transom.cli.guess import guess
from transom.errors import BadRequest, BadSetting
from transom.fit import form_of
from transom.types import JsonObject
from transom.wire.guess import looks
from transom.wire.openai_responses_items import is_item

WORDS = 100
"""Characters of a message that `show` prints."""
FILE_URL = "sqlite:///"

Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The session's name.")]

app = typer.Typer(
    help="Lists, shows, exports, imports, forks and deletes stored sessions.",
    epilog="Example: transom sessions import talk.jsonl thread-7 --store sqlite:///chat.db",
    no_args_is_help=True,
)


@contextmanager
def opened(url: str, tenant: str, *, make: bool = False) -> Iterator[transom.Store]:
    """The store at `url` as `tenant` sees it. Raises BadSetting where there is no such file, unless it may be made."""
    path = url.removeprefix(FILE_URL)
    if not make and path != url and path and not Path(path).exists():
        raise BadSetting(f"there is no store at {url}; give another --store, or `transom sessions import` makes one")
    with transom.Store(url, tenant=tenant) as store:
        yield store


@app.command(name="list")
def list_(store: options.StoreUrl = options.STORE, tenant: options.Tenant = "", as_json: options.AsJson = False) -> None:
    """List every session: its form, its model, how many messages it holds, when it changed last."""
    with sentences(), opened(store, tenant) as shelf:
        found = shelf.sessions()
        if as_json:
            for one in found:
                say_json({name: getattr(one, name) for name in ("name", "api", "model", "count", "created", "changed")})
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for name in ("session", "form", "model", "messages", "changed (UTC)"):
            table.add_column(name, justify="right" if name == "messages" else "left")
        for one in found:
            table.add_row(
                Text(plain(one.name)),
                one.api,
                Text(plain(one.model) or "-"),
                f"{one.count:,}",
                one.changed[:19].replace("T", " "),
            )
        out().print(table)


@app.command()
def show(
    name: Name,
    store: options.StoreUrl = options.STORE,
    tenant: options.Tenant = "",
    first: Annotated[int, typer.Option("--from", help="The number of the first message.", min=0)] = 0,
    count: Annotated[int, typer.Option("--count", help="How many messages.", min=1)] = 20,
) -> None:
    """Show messages of a session, a line each, and what the session has learned about prices."""
    with sentences(), opened(store, tenant) as shelf:
        chat = shelf.session(name)
        total = len(chat)
        console = out()
        for number, message in enumerate(chat.messages(first, min(total, first + count)), first):
            said = message.get("role", message.get("participant", message.get("type", "")))
            words = plain(canon.text(message))
            short = words if len(words) <= WORDS else f"{words[:WORDS]}... ({len(words):,} characters)"
            console.print(Text.assemble((f"{number:>6} ", "dim"), (f"{plain(str(said))} ", "bold"), short), soft_wrap=True)
        stats = chat.stats()
        learned = f"factor {stats.multiplier:.3f} from {stats.samples} samples" if stats.samples else "nothing learned yet"
        note(f"{total:,} messages of {chat.api} for {chat.model or 'an unnamed model'}; {learned}")
        if stats.reset is not None:
            why = f"new prices of {', '.join(stats.reset.kinds)}"
            note(f"the factor {stats.reset.multiplier:.3f} was given up {stats.reset.time}: {why}")


@app.command()
def export(
    name: Name,
    store: options.StoreUrl = options.STORE,
    tenant: options.Tenant = "",
    output: options.Out = files.STREAM,
    force: Annotated[bool, typer.Option("--force", help="OUT may be there already: it is replaced.")] = False,
) -> None:
    """Write the messages of a session as JSON lines, as they were appended."""
    with sentences(), opened(store, tenant) as shelf:
        lines = b"".join(canon.encode(message) + b"\n" for message in shelf.session(name).messages())
        target = output or files.STREAM
        if target != files.STREAM and Path(target).exists() and not force:
            raise BadRequest(f"{target} is there already; give another -o, or --force to replace it")
        files.write(target, lines, force=True)


@app.command(name="import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines, a message a line; or - for standard input.")],
    name: Name,
    api: options.ApiName = None,
    model: options.Model = None,
    store: options.StoreUrl = options.STORE,
    tenant: options.Tenant = "",
    aside: Annotated[
        str | None, typer.Option("--aside", metavar="FILE", help="Where unreadable lines are kept. Default: FILE.unread.")
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="NAME may hold messages already.")] = False,
) -> None:
    """Store the messages of FILE as a session. Lines that are no message are named and kept aside, and the others are stored."""
    with sentences():
        data = files.read(file).data
        found = log.read(data, items=True)
        if not found.messages:
            raise BadRequest(f"{files.shown(file)} holds no message; give JSON lines, a message a line")
        form = api or _guessed(found.messages)
        found = _of_form(found, form)
        if not found.messages:
            what = f"{files.shown(file)} holds no message of {form}"
            raise BadRequest(f"{what} (line {found.lost[0].line}: {found.lost[0].reason}); give another --api")
        with opened(store, tenant, make=True) as shelf:
            _refuse_taken(shelf, name, append=append)
            kept = _aside(data, found, aside or (f"{file}.unread" if file != files.STREAM else "unread.jsonl"))
            seqs = shelf.take(name, found.messages, api=form, model=model, behind=append)
        note(f"{len(seqs):,} messages of {form} appended to {name} (numbers {seqs[0]} to {seqs[-1]})")
        for words in kept:
            note(words)


def _guessed(messages: Sequence[JsonObject]) -> str:
    """The form that messages are in: by those that have a role; where these tell of none, items without one are of Responses."""
    spoken = [one for one in messages if "role" in one or not is_item(one)]
    return looks({"messages": spoken}) or ("openai-responses" if len(spoken) < len(messages) else guess({"messages": spoken}))


def _of_form(found: log.Log, form: str) -> log.Log:
    """The messages that are such of this form; the others are lost with what is wrong with them."""
    good: list[tuple[JsonObject, int]] = []
    lost = list(found.lost)
    for message, line in zip(found.messages, found.lines, strict=True):
        try:
            form_of(form).read_message(message, len(good))
        except BadRequest as error:
            says = str(error).removeprefix(f"{error.place}: ")
            inside = error.place.partition("]")[2].lstrip(".")
            lost.append(log.Loss(line=line, reason=f"{inside}: {says}" if inside else says))
        else:
            good.append((message, line))
    messages, lines = tuple(message for message, _ in good), tuple(line for _, line in good)
    return replace(found, messages=messages, lines=lines, lost=tuple(sorted(lost, key=lambda one: one.line)))


def _refuse_taken(shelf: transom.Store, name: str, *, append: bool) -> None:
    """Raises BadSetting where a session holds messages and these are not to go behind them."""
    held = next((one.count for one in shelf.sessions() if one.name == name), 0)
    if held and not append:
        what = f"{name} already holds {held:,} messages"
        raise BadSetting(f"{what}; --append puts these behind them, another NAME keeps them apart")


@app.command()
def fork(
    name: Name,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The new session's name.")],
    at: Annotated[int | None, typer.Option("--at", help="How many messages it takes. Default: all.", min=0)] = None,
    store: options.StoreUrl = options.STORE,
    tenant: options.Tenant = "",
) -> None:
    """Copy a session's first messages under another name. Neither changes the other."""
    with sentences(), opened(store, tenant) as shelf:
        shelf.fork(name, into, count=at)
        note(f"{into} holds {len(shelf.session(into)):,} messages of {name}")


@app.command()
def delete(
    name: Name,
    store: options.StoreUrl = options.STORE,
    tenant: options.Tenant = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a session, and every payload that no other session holds."""
    with sentences(), opened(store, tenant) as shelf:
        count = len(shelf.session(name))
        if not (yes or _confirmed(f"Delete {name} with its {count:,} messages?")):
            raise BadSetting(f"{name} is kept, since its deletion was not confirmed; --yes deletes without asking")
        shelf.delete(name)
        note(f"{name} and its {count:,} messages are deleted")


@app.command(name="leave-out")
def leave_out(
    name: Name,
    place: Annotated[
        str, typer.Argument(metavar="PLACE", help="messages[3], or a picture or file in it: messages[3].content[1].")
    ],
    store: options.StoreUrl = options.STORE,
    tenant: options.Tenant = "",
) -> None:
    """Leave one message, picture or file out of every later request. It stays stored."""
    with sentences(), opened(store, tenant) as shelf:
        told = shelf.session(name).leave_out(place)
        note(f"{place} of {name} goes into no later request" + (f"; {told}" if told else ""))


def _confirmed(question: str) -> bool:
    """Whether the question is answered with yes; no answer at all (a closed standard input) is a no."""
    with contextlib.suppress(typer.Abort):
        return typer.confirm(question, err=True)
    return False


def _aside(data: bytes, found: log.Log, target: str) -> list[str]:
    """Say which lines could not be read, and keep them, before anything is stored; what is to be said of that then."""
    if not found.lost:
        return []
    for one in found.lost:
        err().print(plain(f"line {one.line}: left out, {one.reason}"), markup=False)
    numbers = sorted({one.line for one in found.lost})
    files.keep_aside(target, data, numbers)
    return [files.kept(len(numbers), target)]
