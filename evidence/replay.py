"""A transcript's requests in order with the state carried, as an agent would send them: does the prefix stand?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

import transom
from evidence import Check
from evidence.wires import turns
from transom.pricing import PriceList
from transom.types import JsonObject

STANDS = 0.98
"""Share of the messages of a request that must head the next one, outside named breaks."""
REFIT = 0.5
UNCACHED, CACHED = 1.25, 0.1
"""What a token costs that is written to the cache, and one that is read from it, in input tokens (Anthropic, 2026-11)."""


@dataclass(slots=True)
class Run:
    """What was seen so far."""

    before: list[bytes]
    state: transom.State | None = None
    steps: int = 0
    over: int = 0
    heads: int = 0
    all: int = 0
    breaks: int = 0
    rewritten: int = 0
    refits: int = 0
    nameless: str = ""
    idle: str = ""
    short: str = ""
    at_refit: int = 0
    last: int = 0
    came: int = 0


def replay(title: str, bodies: list[JsonObject], api: str, prices: PriceList) -> Iterator[Check]:
    """The checks of one replay, at half the price of the last request."""
    if not bodies:
        yield Check(f"{title}: replay", None, "it holds no request")
        return
    bill = transom.price(bodies[-1], api=api, model=prices.card.name)
    budget = bill.tokens // 2
    run = Run(before=[])
    for number, body in enumerate(bodies):
        try:
            made = transom.fit(body, api=api, prices=prices, budget=budget, state=run.state)
        except transom.OverBudget:
            run.over += 1  # a refused fit leaves no trace: the state stays
            continue
        _step(run, number, made, bill.fixed.tokens, api)
    share = run.heads / run.all if run.all else 1.0
    yield Check(f"{title}: replay, the prefix stands", share >= STANDS, f"{share:.2%} of {run.all:,} messages")
    yield Check(f"{title}: replay, a refit only where it is needed", not run.idle, run.idle or f"{run.refits} refits")
    yield Check(f"{title}: replay, the window grows between refits", not run.short, run.short)
    cost = round(run.rewritten * (UNCACHED - CACHED))
    said = f"{run.breaks} breaks, {run.rewritten:,} tokens rewritten, which cost as much as {cost:,} of input"
    yield Check(
        f"{title}: replay, every break is named",
        not run.nameless,
        f"{run.nameless}{said}; {run.steps} requests, {run.over} over budget",
    )


def _step(run: Run, number: int, made: transom.Fit, fixed: int, api: str) -> None:
    now = [msgspec.json.encode(message) for message in turns(made.request, api)]
    report = made.report
    common = next((i for i, (a, b) in enumerate(zip(run.before, now, strict=False)) if a != b), min(len(run.before), len(now)))
    if run.steps and not report.breaks:
        run.heads, run.all = run.heads + common, run.all + len(run.before)
    if common < len(run.before) and not (report.breaks and all(one.cause for one in report.breaks)):
        run.nameless = run.nameless or f"request {number} differs at message {common}, and no break says why; "
    moved = run.state is not None and made.state.anchor > run.state.anchor
    if moved:
        _refit(run, number, made, fixed)
    elif not run.steps:
        run.at_refit = report.after.tokens
    run.breaks += len(report.breaks)
    run.rewritten += sum(one.tokens for one in report.breaks)
    run.came = report.before.tokens
    run.before, run.state, run.last, run.steps = now, made.state, report.after.tokens, run.steps + 1


def _refit(run: Run, number: int, made: transom.Fit, fixed: int) -> None:
    """The window moved: without that, the last request and what is new since would have been too much."""
    budget = made.report.budget.tokens  # the card's, where that is less
    news = made.report.before.tokens - run.came
    would = run.last + news
    if would <= budget:
        run.idle = run.idle or f"request {number}: {would:,} of {budget:,.0f} tokens"
    largest = max((one.tokens for one in made.state.sent), default=0)
    if run.refits and would - run.at_refit < (1 - REFIT) * (budget - fixed) - largest - news:
        run.short = run.short or f"request {number}: {run.at_refit:,} to {would:,} of {budget:,.0f}"
    run.refits += 1
    run.at_refit = made.report.after.tokens
