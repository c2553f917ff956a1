"""Bills: recorded requests, priced, against the input tokens that the provider reported.

A request is priced by the card of its model, by who answered and on the day it was recorded. The scorer beside the data says
which share is within five percent (or five tokens); a check holds where a share reaches what is claimed, and one that nothing
failed.

    python -m evidence usage FOLDER             # and writes the predictions to $TRANSOM_PREDICTIONS, where that is set

With $TRANSOM_GEMMA, the path of a Gemma `tokenizer.json`, Gemini's text is counted with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType

from evidence import Check
from evidence.tools import load
from transom import catalog, door
from transom.errors import TransomError
from transom.pricing import PriceList
from transom.tokens import claude, supplied
from transom.types import Count, JsonObject
from transom.wire import FORMS

NAMES = MappingProxyType({"bedrock-converse": "bedrock"})
"""Wire forms whose name differs."""
SIX = frozenset({"openai-chat", "anthropic", "openai-responses", "gemini", "bedrock-converse", "bedrock", "blocks"})
HOSTS = MappingProxyType(
    {
        "azure-anthropic": "azure_ai", "copilot": "github_copilot", "ollama-cloud": "ollama", "vertex-anthropic": "vertex_ai",
        "vercel-gateway": "vercel_ai_gateway", "vertex": "vertex_ai", "bedrock-mantle": "bedrock_mantle",
    }
)  # fmt: skip
"""Who answered, as people write it before a model's name, where that differs."""
OWN = frozenset({"openai", "anthropic", "gemini", "cohere", "local", "moonshot"})
"""Vendors of their own models: their names stand alone."""
ALL, UNDER, MACRO = "in5", "under5", "macro"
CLAIMED = MappingProxyType({ALL: 0.91, UNDER: 0.055, MACRO: 0.88})
BASE = MappingProxyType({ALL: 0.885, UNDER: 0.06, MACRO: 0.86})
"""The shares that are claimed over all records of the six forms, with extras and without."""
LEAST = 20
"""Records of a group that counts in the mean over groups."""


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:  # noqa: ARG001 - as the other kinds have it
    """A check that every request of the six forms has a price, one a group of requests, and one for each share over all."""
    scorer = load(folder, "usage_score")
    facts: dict[str, JsonObject] = {}
    predicted: dict[str, float | None] = {}
    failed: list[str] = []
    for record in list(load(folder, "usage_records").records(folder))[::every]:
        if record["api"] not in SIX:
            continue
        facts[record["id"]] = scorer.facts_of(record)
        try:
            predicted[record["id"]] = float(price(record))
        except TransomError as error:
            predicted[record["id"]] = None
            failed.append(f"{record['id']}: {error}")
    write(predicted)
    yield Check("every request has a price", not failed, "; ".join(failed[:5]) or f"{len(predicted):,} requests")
    side = scorer.score(facts, set(), predicted, min_n=LEAST)["dev"]
    for name, figures in sorted(side["groups"].items(), key=lambda group: -group[1]["n"]):
        yield Check(name, None, f"{figures['in5']:.1%} within 5 % of {figures['n']:,}, {figures['exact']:.1%} exact")
    yield from shares(side, complete=every == 1)


def shares(side: JsonObject, *, complete: bool) -> Iterator[Check]:
    """The figures over all records beside what is claimed; a sample of the records proves nothing."""
    extras = claude.available()
    claimed, with_extras = (CLAIMED, " with ctok") if extras else (BASE, " without ctok")
    found = {ALL: side["all"]["in5"], UNDER: side["all"]["under5"], MACRO: side["macro"]["in5"]}
    says = {ALL: "within 5 %", UNDER: "under by more than 5 %", MACRO: f"mean over groups of {LEAST} and more"}
    for name, value in found.items():
        if value is None:
            continue
        holds = value <= claimed[name] if name == UNDER else value >= claimed[name]
        yield Check(f"all: {says[name]}", holds if complete else None, f"{value:.1%}; claimed {claimed[name]:.1%}{with_extras}")


def price(record: JsonObject) -> int:
    """The input tokens that transom says a recorded request costs."""
    api = NAMES.get(record["api"], record["api"])
    card = catalog.card(named(record), api=api, on=record.get("recorded") or "")
    conversation = FORMS[api].read(door.admit(body(record)))
    prices = PriceList(card, count=gemma() if card.counter.name == "gemma3" else None).at(conversation)
    return prices.fixed(conversation).tokens + sum(prices.message(message).tokens for message in conversation.messages)


def named(record: JsonObject) -> str:
    """The model with who answered before it."""
    vendor = record["provider"].rsplit("-", 1)[0] if record["provider"] not in HOSTS else record["provider"]
    host = HOSTS.get(vendor, vendor)
    model = record["model"] or ""
    return model if host in OWN else f"{host}/{model}"


def body(record: JsonObject) -> JsonObject:
    """The body of a recorded request, without what a counting call wraps it in."""
    request: JsonObject = record["request"]
    request = request.get("generateContentRequest", request)
    inner = request.get("input")
    if record["api"] == "bedrock-converse" and isinstance(inner, dict):
        request = inner.get("converse", request)
    return request


@cache
def gemma() -> Count | None:
    """A counter with the vocabulary that the caller names; counts are kept, since many records say the same."""
    path = os.environ.get("TRANSOM_GEMMA")
    return cache(supplied(Path(path).read_text(encoding="utf-8"))) if path else None


def write(predicted: dict[str, float | None]) -> None:
    """The predictions as the scorer reads them, where somebody wants them."""
    wanted = os.environ.get("TRANSOM_PREDICTIONS")
    if wanted:
        lines = (json.dumps({"id": name, "predicted": value}) for name, value in predicted.items())
        Path(wanted).write_text("\n".join(lines) + "\n", encoding="utf-8")
