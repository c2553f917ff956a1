"""`transom price`, `lint`, `models` and `view`: the commands that look and do not touch."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer

import transom
from transom import catalog, view
from transom.cli import files, measuring, options, tables
from transom.cli.answers import Exit, code, note, out, progress, said, say_error, say_json, sentences
from transom.cli.guess import guess
from transom.errors import BadRequest, BadSetting, OverBudget, TransomError
from transom.types import JsonObject
from transom.wire import FORMS

DEFAULT_MODELS = ("claude-opus-5", "claude-sonnet-4-5", "gpt-5", "gpt-4o")
"""Who prices a picture when nobody is named."""

Models = Annotated[
    list[str] | None,
    typer.Option("--model", callback=options.filled, help="Who bills. Repeatable. Default: the body's own model."),
]


def price(
    body: Annotated[
        str, typer.Argument(metavar="BODY", help="A request body as JSON, JSON lines, or a picture; - for standard input.")
    ],
    api: options.ApiName = None,
    model: Models = None,
    against: Annotated[
        bool, typer.Option("--against", help="BODY holds logged requests with their usage: show how near the prices come.")
    ] = False,
    money: Annotated[bool, typer.Option("--money", help="What the tokens cost, too (the extra `money`).")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what a request costs, by message and part, and how each figure is known.

    BODY can be a picture, too: its price by each model, with the arithmetic. With --against it is JSON lines such as
    {"request": ..., "usage": ...}: the error of each model, and which kind of part is off.
    """
    with sentences():
        if money:
            measuring.refuse_without_prices()
        source = files.read(body)
        if against:
            if money or len(model or ()) > 1:
                raise BadSetting("--against measures tokens by one price; leave out --money, and give one --model at most")
            found, lost = measuring.samples(source, api, model[0] if model else None)
            if as_json:
                say_json({"models": measuring.to_dicts(found), "lost": lost})
            else:
                measuring.show_against(out(), found, lost)
            return
        if source.kind == "media":
            _price_media(source, model or DEFAULT_MODELS, as_json=as_json)
            return
        raise typer.Exit(_price_bodies(files.requests(source), api, model or [], as_json=as_json, money=money))


def lint(body: options.Body, api: options.ApiName = None, model: options.Model = None, as_json: options.AsJson = False) -> None:
    """Name each rule of the provider that a request breaks, its place, and what the provider would answer.

    Exit code 1 when there is a fault that the provider refuses.
    """
    with sentences():
        read = files.read(body)
        source, worst, heard = files.requests(read), Exit.DONE, set[str]()
        with progress("reading", len(source.items)) as advance:
            for item in source.items:
                name = item.where or files.shown(source.name)
                try:
                    request = item.body()
                    faults = transom.lint(request, api=api or said(guess(request), heard), model=model)
                except TransomError as error:
                    worst = max(worst, _refused(item, error, many=source.kind == "lines"))
                else:
                    if read.kind == "session":  # a session has messages and none of the other fields of a body
                        faults = [fault for fault in faults if fault.place.partition("[")[0] in ("", *request)]
                    _show_faults(faults, name, line=item.line, as_json=as_json)
                    worst = max(worst, Exit.FAULTS if any(fault.refused for fault in faults) else Exit.DONE)
                advance()
        raise typer.Exit(worst)


def models(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A model, or the beginning of a name.")] = "",
    as_json: options.AsJson = False,
) -> None:
    """List what is known of each model: sizes, limits, and where the figures come from."""
    with sentences():
        cards = sorted((card for card in catalog.cards() if card.name.startswith(name)), key=lambda card: card.name)
        if not cards:
            card = catalog.card(name)
            if not card.known:
                raise BadSetting(tables.unknown(card))
            note(f"{name} is not listed by this name; this is the card that it finds")
            cards = [card]
        if as_json:
            for card in cards:
                typer.echo(msgspec.json.encode(_plain(card)))
        elif len(cards) > 1:
            tables.show_models(out(), cards)
        if not as_json and (len(cards) == 1 or cards[0].name == name):  # the shortest name that begins with it stands first
            tables.show_model(out(), cards[0])


def view_(  # the options are the command
    body: options.Body,
    output: Annotated[
        str, typer.Option("-o", "--out", metavar="OUT", callback=options.target, help="The page; - is standard output.")
    ],
    api: options.ApiName = None,
    model: options.Model = None,
    budget: options.Budget = None,
    max_images: options.MaxImages = None,
    settings: options.Settings = None,
    force: options.Force = False,
) -> None:
    """Draw the window as one page: each message to scale, each picture, its price and what becomes of it."""
    with sentences():
        source = files.requests(files.read(body))
        if len(source.items) != 1:
            raise BadRequest(
                f"{files.shown(body)} holds {len(source.items):,} requests; `transom view` draws one, so give it one"
            )
        request = source.items[0].body()
        form = api or said(guess(request))
        fields = options.given(max_images=max_images) | options.others(settings) | options.given(budget=budget)
        done, fit, trouble = Exit.DONE, None, ""
        try:
            fit = transom.fit(request, api=form, model=model, **fields)
        except OverBudget as error:
            done, trouble = Exit.OVER_BUDGET, str(error)
            say_error(trouble)
        page = view.page(request, api=form, model=model, fit=fit, name=files.shown(source.name), trouble=trouble)
        files.write(output, page.encode(), source=source.name, force=force)
        raise typer.Exit(done)


def _price_bodies(source: files.Source, api: str | None, models: Sequence[str], *, as_json: bool, money: bool) -> Exit:
    worst, heard = Exit.DONE, set[str]()
    with progress("pricing", len(source.items)) as advance:
        for item in source.items:
            try:
                request = item.body()
                form = api or said(guess(request), heard)
                bills = [transom.price(request, api=form, model=model) for model in models or (None,)]
            except TransomError as error:
                worst = max(worst, _refused(item, error, many=source.kind == "lines"))
            else:
                for bill in bills:
                    if as_json:
                        say_json(({"line": item.line} if item.line else {}) | bill.to_dict())
                    else:
                        tables.show_bill(out(), bill, item.where or files.shown(source.name))
                if (len(bills) > 1 or money) and not as_json:
                    measuring.show_side_by_side(out(), bills, money=money)
            advance()
    return worst


def _price_media(source: files.Source, models: Sequence[str], *, as_json: bool) -> None:
    part = {"type": "base64", "media_type": "", "data": base64.b64encode(source.data).decode()}
    request = {"messages": [{"role": "user", "content": [{"type": "image", "source": part}]}]}
    problem = next(iter(FORMS["anthropic"].read(request).messages[0].parts)).media
    if problem is not None and problem.facts.problem:
        raise BadRequest(f"{files.shown(source.name)} is neither JSON nor a picture that can be read ({problem.facts.problem})")
    for model in models:
        row = next(row for row in transom.price(request, api="anthropic", model=model).rows if row.kind == "image")
        if as_json:
            price = row.price
            say_json({"model": model, "tokens": price.tokens, "bytes": price.bytes, "basis": price.basis, "how": row.how})
        else:
            out().print(f"{model}: {row.how}, {row.price.basis}", markup=False, soft_wrap=True)


def _refused(item: files.Item, error: TransomError, *, many: bool) -> Exit:
    """Name the line that cannot be read, so that the others go on; raises where there are no others."""
    if not many:
        raise error
    say_error(str(error) if item.where in str(error) else f"{item.where}: {error}")
    return code(error)


def _show_faults(faults: Sequence[transom.Fault], name: str, *, line: int, as_json: bool) -> None:
    if not as_json:
        tables.show_faults(out(), faults, name)
        return
    rows = [
        {"place": one.place, "code": one.code, "says": one.says, "answer": one.answer, "refused": one.refused} for one in faults
    ]
    say_json(({"line": line} if line else {}) | {"faults": rows})


def _plain(card: catalog.ModelCard) -> JsonObject:
    plain: JsonObject = msgspec.to_builtins(card)
    return plain
