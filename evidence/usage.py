"""Bills: recorded requests, priced, against the input tokens that the provider reported.

A request is priced by the card of its model on the day it was recorded. The scorer beside the data says which share is within
five percent; a check holds where the share of a provider's text requests reaches what is claimed, and one that nothing failed.

    python -m evidence usage FOLDER             # and writes the predictions to $TRANSOM_PREDICTIONS, where that is set
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from evidence import Check
from evidence.tools import load
from transom import catalog, door
from transom.errors import TransomError
from transom.pricing import PriceList
from transom.tokens import claude
from transom.types import JsonObject
from transom.wire import FORMS

PROVIDERS = ("openai-chat", "anthropic")
BASE = {"openai-chat text": 0.97, "anthropic text": 0.83}
WITH_EXTRA = {"openai-chat text": 0.97, "anthropic text": 0.93}
"""The shares within five percent (or five tokens) that are claimed, without and with the extra `claude`."""


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:
    """A check that every request has a price, and one for the share of each provider's text requests."""
    scorer = load(folder, "usage_score")
    facts: dict[str, JsonObject] = {}
    predicted: dict[str, float | None] = {}
    failed: list[str] = []
    for record in list(load(folder, "usage_records").records(folder))[::every]:
        if record["provider"] not in PROVIDERS and not everything:
            continue
        facts[record["id"]] = scorer.facts_of(record)
        try:
            predicted[record["id"]] = float(price(record))
        except TransomError as error:
            predicted[record["id"]] = None
            failed.append(f"{record['id']}: {error}")
    write(predicted)
    yield Check("every request has a price", not failed, "; ".join(failed[:5]) or f"{len(predicted):,} requests")
    groups = scorer.score(facts, set(), predicted)["dev"]["groups"]
    claimed = WITH_EXTRA if claude.available() else BASE
    for name, figures in sorted(groups.items(), key=lambda group: -group[1]["n"]):
        least = claimed.get(name)
        says = f"{figures['in5']:.1%} within 5 % of {figures['n']:,}, {figures['exact']:.1%} exact"
        if least is not None:
            says += f"; claimed {least:.0%}{' with ctok' if claude.available() else ' without ctok'}"
        yield Check(name, None if least is None else figures["in5"] >= least, says)


def price(record: JsonObject) -> int:
    """The input tokens that transom says a recorded request costs."""
    form = FORMS[record["api"]]
    conversation = form.read(door.admit(record["request"]))
    prices = PriceList(catalog.card(record["model"] or "", api=record["api"], on=record.get("recorded") or ""))
    total = prices.fixed(conversation)
    for message in conversation.messages:
        total += prices.message(message)
    return total.tokens


def write(predicted: dict[str, float | None]) -> None:
    """The predictions as the scorer reads them, where somebody wants them."""
    wanted = os.environ.get("TRANSOM_PREDICTIONS")
    if wanted:
        lines = (json.dumps({"id": name, "predicted": value}) for name, value in predicted.items())
        Path(wanted).write_text("\n".join(lines) + "\n", encoding="utf-8")
