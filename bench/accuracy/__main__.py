"""Price recorded requests in the base install and with extras, beside other libraries, and write the tables.

    python -m bench.accuracy ../shared/data/usage [--gemma tokenizer.json] [--out docs/accuracy.md] [--rivals]

Shares are of requests within five percent of the bill, or five tokens where it is short. "Other repositories" re-estimates each
framing's constant from all repositories but the request's own, over the requests whose like another one recorded as well.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from bench.accuracy.readers import READERS
from bench.accuracy.rivals import installed
from evidence.tools import load
from evidence.usage import NAMES, SIX, body, named
from transom import catalog, door
from transom.catalog import ModelCard
from transom.errors import TransomError
from transom.pricing import PriceList
from transom.tokens import claude, extras, supplied
from transom.types import Count, JsonObject
from transom.wire import FORMS

LOOPS = ("tool_calls", "tool_use", "toolUse", "functionCall", "function_call_output")
"""What a tool loop is told by."""
LOOKED_AT = 200_000
"""Characters of a body in which that is looked for."""
LEAST = 8
"""Records of a group that gets a line of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One request: what was billed, what is said of it by each way of asking, and where it belongs."""

    id: str
    repo: str
    family: str
    medium: str
    api: str
    cell: tuple[str, ...]
    billed: int
    said: dict[str, float | None]


def met(said: float | None, billed: int) -> bool:
    """Within five percent, or five tokens."""
    return said is not None and abs(said - billed) <= max(5, 0.05 * billed)


def without_extras(card: ModelCard) -> ModelCard:
    """The card as the base install has it: text by what occurs in it where a package would count."""
    plain = card.counter.engine in {"claude", "open"}
    return replace(card, counter=replace(card.counter, engine="features")) if plain else card


def priced(api: str, request: JsonObject, card: ModelCard, count: Count | None) -> float | None:
    """Tokens of a request; None where it cannot be read."""
    try:
        conversation = FORMS[api].read(door.admit(request))
    except TransomError:
        return None
    prices = PriceList(card, count=count).at(conversation)
    return float(prices.fixed(conversation).tokens + sum(prices.message(one).tokens for one in conversation.messages))


def read(record: JsonObject) -> tuple[str, JsonObject] | None:
    """The form that a record is priced in, and its body there."""
    if record["api"] in SIX:
        return NAMES.get(record["api"], record["api"]), body(record)
    reader = READERS.get(record["api"])
    return reader(record["request"]) if reader else None


def row(record: JsonObject, facts: JsonObject, family: str, gemma: Count | None, *, rivals: bool) -> Row:
    """A record with all that is said of it."""
    found = read(record)
    said: dict[str, float | None] = {"base": None, "extras": None}
    cell: tuple[str, ...] = ()
    if found is not None:
        api, request = found
        card = catalog.card(named(record), api=api, on=record.get("recorded") or "")
        said["base"] = priced(api, request, without_extras(card), None)
        said["extras"] = priced(api, request, card, gemma if card.counter.name == "gemma3" else None)
        written = str(request)[:LOOKED_AT]
        shape = "loop" if any(word in written for word in LOOPS) else ""
        cell = (str(card.frame), "tools" if facts["tools"] else "", shape, "media" if facts["kind"] != "text" else "")
        if rivals:
            said |= {name: rival(record, request) for name, rival in installed().items()}
    medium = "text" if facts["kind"] == "text" else "media"
    return Row(
        id=record["id"],
        repo=record["repo"],
        family=family,
        medium=medium,
        api=record["api"],
        cell=cell,
        billed=facts["actual"],
        said=said,
    )


def elsewhere(rows: Sequence[Row]) -> dict[str, bool]:
    """Whether each request is met when its framing's constant comes from other repositories alone."""
    cells: defaultdict[tuple[str, ...], list[tuple[str, float]]] = defaultdict(list)
    for one in rows:
        said = one.said["extras"]
        if said is not None:
            cells[one.cell].append((one.repo, one.billed - said))
    out: dict[str, bool] = {}
    for one in rows:
        said = one.said["extras"]
        others = [off for repo, off in cells[one.cell] if repo != one.repo]
        if others and said is not None:
            out[one.id] = met(said + statistics.median(others), one.billed)
    return out


def table(title: str, groups: dict[str, list[Row]], names: Sequence[str], loro: dict[str, bool] | None) -> Iterable[str]:
    """A table with a line a group, the largest first."""
    heads = [*names, *(["other repositories"] if loro is not None else [])]
    yield f"\n## {title}\n\n| requests | of | " + " | ".join(heads) + " |\n| --- | --: |" + " --: |" * len(heads)
    for name, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        if len(rows) < LEAST and name != "all":
            continue
        shares = [
            share([met(one.said.get(way), one.billed) for one in rows if way in one.said and asked_of(one, way)]) for way in names
        ]
        if loro is not None:
            known = [loro[one.id] for one in rows if one.id in loro]
            shares.append(f"{share(known)} of {len(known):,}" if known else "-")
        yield f"| {name} | {len(rows):,} | " + " | ".join(shares) + " |"


def asked_of(one: Row, way: str) -> bool:
    """Whether a library was asked: others are measured on what they take."""
    return way in {"base", "extras"} or one.said.get(way) is not None


def share(hits: Sequence[bool]) -> str:
    """A share in percent; a dash where nothing was asked."""
    return f"{100 * sum(hits) / len(hits):.1f} %" if hits else "-"


def by(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Rows in groups, and all of them."""
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for one in rows:
        groups[key(one)].append(one)
        groups["all"].append(one)
    return dict(groups)


def text_of(rows: Sequence[Row], *, gemma: bool, rivals: bool) -> str:
    """The page."""
    six = [one for one in rows if one.api in SIX]
    loro = elsewhere(six)
    others = [name for name in (rows[0].said if rows else ()) if name not in {"base", "extras"}]
    packages = [name for name, there in (("ctok", claude.available()), *((name, True) for name in sorted(extras.FOUND))) if there]
    lines = [
        "# How accurate the figures are\n",
        "Made by `python -m bench.accuracy`; every figure is measured. A request counts as met within five percent of the input",
        "tokens that its provider reported, or five tokens where it is short. Requests whose own content does not decide their",
        "tokens are left out.",
        f"With extras: {', '.join(packages) or 'none installed'}{', and a Gemma vocabulary for Gemini' if gemma else ''}.",
        '"Other repositories" re-estimates the constant of each framing from all repositories but the one that recorded the',
        "request, over the requests whose like another repository recorded as well.",
        *table("By family and medium", by(six, lambda one: f"{one.family}, {one.medium}"), ("base", "extras"), loro),
        *table("By wire form", by(six, lambda one: one.api), ("base", "extras"), loro),
    ]
    if rivals:
        lines += table(
            "Beside other libraries, on what they take",
            by(six, lambda one: f"{one.family}, {one.medium}"),
            ("base", "extras", *others),
            None,
        )
    rest = [one for one in rows if one.api not in SIX]
    lines += table("Forms that are only priced", by(rest, lambda one: one.api), ("base", "extras"), None)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Price, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.accuracy", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gemma", type=Path, help="a Gemma tokenizer.json of your own, for Gemini's text")
    parser.add_argument("--out", type=Path, help="where the page is written; else it is printed")
    parser.add_argument("--rivals", action="store_true", help="ask the other libraries that are installed")
    given = parser.parse_args()
    scorer = load(given.folder, "usage_score")
    gemma = cache(supplied(given.gemma.read_text(encoding="utf-8"))) if given.gemma else None
    rows = []
    for record in load(given.folder, "usage_records").records(given.folder):
        facts = scorer.facts_of(record)
        if not facts["skip"]:
            family = scorer.family(facts["provider"], facts["api"], facts["model"])
            rows.append(row(record, facts, family, gemma, rivals=given.rivals))
    page = text_of(rows, gemma=gemma is not None, rivals=given.rivals)
    if given.out:
        given.out.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
