"""`transom price --against` and models side by side: how near prices come to a user's bills, and what each model would cost.

The rule of this file: a logged line is measured or named with why it is not; usage that is no number of tokens is never used.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec

from rich import box
from rich.console import Console
from rich.table import Table

import transom
from transom import catalog, door
from transom.cli.answers import note
from transom.cli.files import Source
from transom.errors import BadRequest, BadSetting, TransomError
from transom.frozen import Frozen
from transom.parts import Conversation, walk
from transom.rules import openai, tools
from transom.types import JsonObject
from transom.wire import FORMS, guess

KEYS = ("request", "body")
ANSWERS = ("usage", "response", "answer")
NEAR, FEW = 0.05, 5
"""A price is near within five percent, or five tokens."""
APART = 5
"""Tokens by which requests with a kind of part differ from the others before the kind is said to be off."""


class Sample(Frozen, frozen=True, kw_only=True):
    """One logged request: the model, what was billed and what transom says, and the kinds of part in it."""

    model: str
    billed: int
    priced: int
    kinds: frozenset[str]

    @property
    def off(self) -> int:
        """The error in tokens."""
        return self.priced - self.billed

    @property
    def near(self) -> bool:
        """Whether the price is near the bill."""
        return abs(self.off) <= max(FEW, NEAR * self.billed)


def samples(source: Source, api: str | None, model: str | None) -> tuple[list[Sample], list[str]]:
    """Every logged request that can be measured, and why the others cannot."""
    found: list[Sample] = []
    lost: list[str] = []
    for item in source.items:
        try:
            found.append(sample(item.body(), api, model))
        except TransomError as error:
            lost.append(f"{item.where or 'the file'}: {error}")
    return found, lost


def sample(line: JsonObject, api: str | None, model: str | None) -> Sample:
    """A logged line: `{"request": ..., "usage": ...}`; the usage is the provider's answer, its usage, or a number of tokens.

    `api`, `model` and `day` may stand beside them. Raises BadRequest for a line that lacks the request or a usable usage.
    """
    request = next((line[key] for key in KEYS if isinstance(line.get(key), dict)), None)
    if request is None:
        raise BadRequest('there is no `request`; a logged line is {"request": ..., "usage": ...}')
    form = api or tools.words(line.get("api")) or guess(request)
    if form not in FORMS:
        raise BadSetting(f"api is {form!r}; it is one of {', '.join(sorted(FORMS))}")
    conversation = FORMS[form].read(door.admit(request))
    name = model or tools.words(line.get("model")) or conversation.model
    card = catalog.card(name, api=form, on=tools.words(line.get("day")))
    bill = transom.price(request, api=form, card=card)
    return Sample(model=name, billed=billed(line, form), priced=bill.tokens, kinds=kinds(conversation))


def billed(line: JsonObject, form: str) -> int:
    """The input tokens that the provider reported. Raises BadRequest where none can be used."""
    given = line.get("input_tokens", next((line[key] for key in ANSWERS if key in line), None))
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    usage = FORMS[form].usage(given if "usage" in given else {**given, "usage": given}) if isinstance(given, dict) else None
    if usage is None:
        raise BadRequest("there is no usage with the input tokens that the provider reported; put its answer under `usage`")
    return usage.prompt


def kinds(conversation: Conversation) -> frozenset[str]:
    """The kinds of part in a request, and what it asks for beside them."""
    found = {part.kind for message in conversation.messages for part in walk(message.parts)} - {"text"}
    declared = {"tools"} if tools.declared(conversation.body) else set()
    schema = {"response schema"} if openai.wanted(conversation.body) else set()
    return frozenset({*found, *declared, *schema}) or frozenset({"text alone"})


def show_against(console: Console, found: Sequence[Sample], lost: Sequence[str]) -> None:
    """The error of each model, and which kinds of part are off."""
    for loss in lost:
        note(f"left aside: {loss}")
    if not found:
        raise BadRequest("no line could be measured")
    table = _table("model", "requests", "near", "median error", "p90", "off")
    for model, rows in grouped(found).items():
        errors = sorted(abs(row.off) / row.billed for row in rows)
        table.add_row(
            model,
            f"{len(rows):,}",
            f"{sum(row.near for row in rows) / len(rows):.0%}",
            f"{statistics.median(row.off for row in rows):+,.0f} tokens, {statistics.median(errors):.1%}",
            f"{errors[round(0.9 * (len(errors) - 1))]:.1%}",
            "; ".join(suspects(rows)) or "-",
        )
    console.print(table)


def grouped(found: Iterable[Sample]) -> dict[str, list[Sample]]:
    """The samples by model, the most frequent first."""
    groups: defaultdict[str, list[Sample]] = defaultdict(list)
    for row in found:
        groups[row.model].append(row)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def suspects(rows: Sequence[Sample]) -> list[str]:
    """Kinds whose requests are off by more than the others are."""
    out: list[tuple[float, str]] = []
    for kind in sorted({kind for row in rows for kind in row.kinds}):
        with_it = [row.off for row in rows if kind in row.kinds]
        without = [row.off for row in rows if kind not in row.kinds]
        apart = statistics.median(with_it) - (statistics.median(without) if without else 0)
        if abs(apart) > APART:
            out.append((-abs(apart), f"{kind} {apart:+,.0f}"))
    return [words for _, words in sorted(out)]


def to_dicts(found: Sequence[Sample]) -> list[JsonObject]:
    """The same as JSON, a model each."""
    return [
        {
            "model": model,
            "requests": len(rows),
            "near": sum(row.near for row in rows) / len(rows),
            "median_error": statistics.median(row.off for row in rows),
            "off": suspects(rows),
        }
        for model, rows in grouped(found).items()
    ]


def show_side_by_side(console: Console, bills: Sequence[transom.Bill], *, money: bool) -> None:
    """A line for each model: tokens, how they are known, and what they cost."""
    table = _table("model", "tokens", "basis", *(["US dollars"] if money else []))
    for bill in bills:
        cost = [dollars(bill.model, bill.tokens)] if money else []
        table.add_row(bill.model or "unknown", f"{bill.tokens:,}", bill.basis if bill.known else f"{bill.basis}, unknown", *cost)
    console.print(table)


def refuse_without_prices() -> None:
    """Raises BadSetting where the extra `money` is not installed."""
    if find_spec("genai_prices") is None:
        raise BadSetting("money needs the package genai-prices; install transom[money]")


def dollars(model: str, tokens: int) -> str:
    """What input tokens cost by the package genai-prices (the extra `money`); a dash for a model that it does not know."""
    prices = import_module("genai_prices")
    try:
        found = prices.calc_price(prices.Usage(input_tokens=tokens), model_ref=model.rsplit("/", 1)[-1])
    except LookupError:
        return "-"
    return f"{found.input_price:.6f}"


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number in {0, len(heads) - 1} else "right", overflow="fold")
    return table
