"""Transcripts of real agents: each of their requests at five budgets, and all of them in order with the state carried.

A request is everything before an answer that has a usage; without usages, everything before each run of the assistant's items.
One check is one claim about one transcript, over all of its requests.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

import transom
from evidence import Check
from evidence.replay import replay
from evidence.sums import least
from evidence.tools import load
from evidence.wires import FORMS, SYSTEM, body_of, is_assistant, is_request, kept_anyway, key_of, turns
from transom import catalog
from transom.pricing import PriceList
from transom.types import JsonObject
from transom.wire import required

SHARES = (1.0, 0.75, 0.5, 0.25, 0.1)
SETTINGS: tuple[dict[str, Any], ...] = ({}, {"max_images": 2})


@dataclass(slots=True)
class Tally:
    """How often each claim was looked at and how often it failed, with the first failure."""

    seen: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def claim(self, name: str, ok: bool, where: str) -> None:  # noqa: FBT001 - the claim's outcome
        """Count one look at a claim."""
        self.seen[name] = self.seen.get(name, 0) + 1
        if not ok:
            self.failed[name] = self.failed.get(name, 0) + 1
            self.first.setdefault(name, where)

    def checks(self, title: str) -> Iterator[Check]:
        """A check for each claim."""
        for name, seen in self.seen.items():
            bad = self.failed.get(name, 0)
            says = f"{seen - bad:,} of {seen:,}" + (f"; first: {self.first[name]}" if bad else "")
            yield Check(f"{title}: {name}", bad == 0, says)


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:  # noqa: ARG001 - one shape for all kinds
    """The checks of each transcript in `folder`; `every` takes each Nth request (the replay takes all)."""
    judge = load(folder, "wire_oracle")
    for path in sorted(folder.glob("*.json.gz")):
        talk = json.loads(gzip.decompress(path.read_bytes()))
        if talk["api"] not in FORMS:
            yield Check(talk["id"], None, f"the form {talk['api']} is not read yet")
            continue
        bodies = list(requests(talk))
        prices = PriceList(catalog.card(talk["model"], api=talk["api"]))
        tally = Tally()
        for number, body in list(enumerate(bodies))[::every]:
            look(body, api=talk["api"], prices=prices, judge=judge, tally=tally, name=f"request {number}")
        yield from tally.checks(talk["id"])
        yield from replay(talk["id"], bodies, talk["api"], prices)


def requests(talk: JsonObject) -> Iterator[JsonObject]:
    """The requests of a transcript, oldest first."""
    items = turns(talk, talk["api"])
    ends = [one["message"] for one in talk.get("usage") or ()]
    if not ends:
        model = [is_assistant(one) for one in items]
        ends = [i for i, own in enumerate(model) if own and i and not model[i - 1]]
    for end in dict.fromkeys(ends):
        if items[:end]:
            yield {**body_of(talk), key_of(talk["api"]): items[:end]}


def look(  # noqa: PLR0913 - the request, and what it is looked at with
    body: JsonObject, *, api: str, prices: PriceList, judge: ModuleType, tally: Tally, name: str
) -> None:
    """Fit one request at each share of its price, under each of the settings, and see what must hold."""
    whole = transom.fit(body, api=api, prices=prices, budget=10**9).report.before.tokens
    sound = not judge.refused(body, api) and not [
        one
        for one in transom.lint(body, api=api, model=prices.card.name)
        if one.refused and one.code not in required.CODES  # a transcript has none of these
    ]
    for share in SHARES:
        for settings in SETTINGS:
            where = f"{name} at {share:.0%}{' with ' + str(settings) if settings else ''}"
            one = _One(body, api, prices, judge, tally, where, max(int(whole * share), 1), settings)
            one.look(untouched=share == 1 and not settings and sound)


@dataclass(slots=True)
class _One:
    """One request at one budget."""

    body: JsonObject
    api: str
    prices: PriceList
    judge: ModuleType
    tally: Tally
    where: str
    budget: int
    settings: dict[str, Any]

    def fit(self, body: JsonObject) -> transom.Fit:
        """Fit under the settings, strictly."""
        return transom.fit(body, api=self.api, prices=self.prices, budget=self.budget, strict=True, **self.settings)

    def look(self, *, untouched: bool) -> None:
        """Fit, and look at each claim."""
        before = msgspec.json.encode(self.body)
        try:
            made = self.fit(self.body)
        except transom.OverBudget as error:
            needs = least(self.body, self.api, self.prices)
            self.claim("over budget only where what must stay exceeds it", needs > self.budget, f"needs {needs:,}; {error}")
            return
        except Exception as error:  # noqa: BLE001 - a failed check, not a traceback
            self.claim("no other error, strict check clean", False, f"{type(error).__name__}: {error}")
            return
        self.claim("no other error, strict check clean", True)
        self.claim("the input is unchanged", msgspec.json.encode(self.body) == before)
        self.output(made)
        self.kept(made)
        self.added_up(made)
        self.tight(made)
        if untouched:
            self.claim("nothing to do: the same object", made.request is self.body, made.report.summary())

    def output(self, made: transom.Fit) -> None:
        """What comes out is legal, fits, and comes out again."""
        refused = self.judge.refused(made.request, self.api)
        self.claim("nothing that the provider refuses", not refused, str(refused[:2]))
        tokens = transom.price(made.request, api=self.api, model=self.prices.card.name).tokens
        self.claim("within budget", tokens <= self.budget, f"{tokens:,} of {self.budget:,}")
        encoded = msgspec.json.encode(made.request)
        self.claim("the same bytes twice", msgspec.json.encode(self.fit(self.body).request) == encoded)
        again = self.fit(made.request)
        self.claim("fitting the output again changes nothing", again.request is made.request, again.report.summary())

    def kept(self, made: transom.Fit) -> None:
        """What must stay is there as it came: system, tools, the newest request, the newest group."""
        for key in (SYSTEM.get(self.api, "system"), "tools"):
            self.claim("system and tools unchanged", made.request.get(key) == self.body.get(key))
        there = turns(made.request, self.api)
        messages = turns(self.body, self.api)
        mended = {one.seq for one in made.report.decisions if one.verb in ("mend", "repair")}
        for index in kept_anyway(messages, self.api):
            if index not in mended:
                same = any(one == messages[index] for one in reversed(there))
                self.claim("newest request and group unchanged", same, f"item {index}")

    def added_up(self, made: transom.Fit) -> None:
        """The report's lines add up to before minus after."""
        report = made.report
        tokens = sum(one.tokens_before - one.tokens_after for one in report.decisions)
        size = sum(one.bytes_before - one.bytes_after for one in report.decisions)
        gaps = report.before.tokens - report.after.tokens, report.before.bytes - report.after.bytes
        self.claim("the report's lines add up", (tokens, size) == gaps, f"{(tokens, size)} for {gaps}")

    def tight(self, made: transom.Fit) -> None:
        """After a refit no older stretch that a window could open with is left out although it would fit."""
        dropped = [one for one in made.report.decisions if one.verb == "drop"]
        if not dropped or any(one.verb == "stub" for one in made.report.decisions):
            return
        fixed = transom.price({**self.body, key_of(self.api): []}, api=self.api, model=self.prices.card.name).tokens
        goal = fixed + 0.5 * (made.report.budget.tokens - fixed)
        tokens = made.report.after.tokens
        for group in sorted(dropped, key=lambda one: -one.seq):
            tokens += group.tokens_before - group.tokens_after
            if tokens > goal:
                return
            if is_request(turns(self.body, self.api)[group.seq]):
                self.claim("nothing left out that would fit", False, f"from item {group.seq}: {tokens:,} of {goal:,.0f}")
                return
        self.claim("nothing left out that would fit", True)

    def claim(self, name: str, ok: bool, says: str = "") -> None:  # noqa: FBT001 - the claim's outcome
        """Count one look at a claim about this request."""
        self.tally.claim(name, ok, f"{self.where}{f': {says}' if says else ''}")
