"""Sessions: transcripts with usage, replayed as they were lived: append, compile, record, under each preset.

The budget is half of the largest input that the provider reported, or half way between the first and the largest where the
fixed parts alone take most of that. Most logs lack the system prompt and the tools, so a system text of that size stands for
what the first report holds beside its messages. Summaries are `transom.summaries.digest`, made between rounds. A report is
recorded only where the whole history went out, since only then is it one of that request: so the error of the projection is of
those rounds, and of the first epoch of a log.

    python -m evidence sessions FOLDER          # a check for each transcript and preset, and last the tables
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

import transom
from evidence import Check, naming
from evidence.learning import LEAST, quantile
from evidence.steps import answer, answered_by
from evidence.wires import FORMS, body_of, key_of, turns
from transom import summaries
from transom.policy import Policy
from transom.session import Session, bodies
from transom.types import JsonObject
from transom.wire.form import Usage

PRESETS: MappingProxyType[str, Callable[..., Policy]] = MappingProxyType(
    {"sliding": Policy.sliding, "folding": Policy.folding, "shedding": Policy.shedding, "compacting": Policy.compacting}
)
WORD = "lorem "
WORDS = 1_000
"""What a stand-in is made of, and how many are priced to know how many it takes."""
CROWDED = 1.5
"""The fixed parts take most of half the largest input where the first request is more than that divided by this."""
COLUMNS = (
    "transcript", "preset", "budget", "turns", "whole", "next prompt, median (p90)", "pictures, mean (most)", "tokens a turn",
    "as recorded", "breaks in 100 turns", "refused",
)  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n|{' --- |' * 2}{' --: |' * (len(COLUMNS) - 2)}"
SUMS = (
    "preset", "turns", "breaks in 100 turns", "tokens a turn", "as recorded", "pictures, mean (most)",
    "next prompt, median (p90)", "too low", "refused",
)  # fmt: skip
SUM_HEAD = f"| {' | '.join(SUMS)} |\n| --- |{' --: |' * (len(SUMS) - 1)}"


@dataclass(slots=True, kw_only=True)
class Lived:
    """What was seen of one transcript under one preset. `errors` below 0 are prompts that turned out longer than foreseen."""

    budget: int
    errors: list[float] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    recorded: list[int] = field(default_factory=list)
    breaks: int = 0
    refused: int = 0
    whole: int = 0
    over: str = ""

    def row(self, name: str, preset: str) -> str:
        """The figures as a row of the table."""
        turns_ = len(self.recorded)
        sizes = [abs(error) for error in self.errors]
        off = f"{quantile(sizes, 0.5):.2%} ({quantile(sizes, 0.9):.2%})" if sizes else "none whole"
        shown = f"{fmean(self.pictures):.1f} ({max(self.pictures)})" if self.pictures else "-"
        each = f"{fmean(self.tokens):,.0f}" if self.tokens else "-"
        cells = (
            name, preset, f"{self.budget:,}", turns_, self.whole, off, shown, each, f"{fmean(self.recorded):,.0f}",
            f"{100 * self.breaks / turns_:.1f}", self.refused,
        )  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |"

    def take(self, other: Lived) -> None:
        """Put what was seen of another transcript behind it."""
        for name in ("errors", "pictures", "tokens", "recorded"):
            getattr(self, name).extend(getattr(other, name))
        self.breaks, self.refused, self.whole = self.breaks + other.breaks, self.refused + other.refused, self.whole + other.whole

    def summed(self, preset: str) -> str:
        """The figures of all transcripts as a row of the table by preset."""
        turns_, low = len(self.recorded), sum(error < 0 for error in self.errors)
        sizes = [abs(error) for error in self.errors]
        cells = (
            preset, f"{turns_:,}", f"{100 * self.breaks / turns_:.1f}", f"{fmean(self.tokens):,.0f}",
            f"{fmean(self.recorded):,.0f}", f"{fmean(self.pictures):.1f} ({max(self.pictures)})",
            f"{quantile(sizes, 0.5):.2%} ({quantile(sizes, 0.9):.2%})", f"{low} of {len(sizes)}", self.refused,
        )  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |"


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:  # noqa: ARG001 - as the other kinds have it
    """A check for each transcript and preset: each request that was made is within the budget. Last, the tables."""
    rows, sums = [HEAD], {preset: Lived(budget=0) for preset in PRESETS}
    for path in sorted(folder.glob("*.json.gz"))[::every]:
        talk = json.loads(gzip.decompress(path.read_bytes()))
        reports = [one for one in talk.get("usage") or () if one.get("epoch", 0) == talk["usage"][0].get("epoch", 0)]
        if talk["api"] not in FORMS or len(reports) < LEAST:
            yield Check(talk["id"], None, "it has too few usages")
            continue
        for preset in PRESETS:
            lived = live(talk, reports, preset)
            rows.append(lived.row(talk["id"], preset))
            sums[preset].take(lived)
            yield Check(f"{talk['id']}: {preset}", not lived.over, lived.over or rows[-1])
    if rows[1:]:
        summed = [SUM_HEAD, *(lived.summed(preset) for preset, lived in sums.items())]
        yield Check("tables", None, "\n" + "\n".join([*summed, "", *rows]))


def live(talk: JsonObject, reports: list[JsonObject], preset: str) -> Lived:
    """One transcript under one preset."""
    api, items = talk["api"], turns(talk, talk["api"])
    budget = budget_of(reports)
    lived = Lived(budget=budget)
    asked = {name: value for name, value in fixed(talk, reports[0]).items() if name not in (key_of(api), "model")}
    with tempfile.TemporaryDirectory() as folder, transom.Store(f"sqlite:///{Path(folder) / 'talk.db'}") as store:
        policy = PRESETS[preset](budget=budget, reserve=0)
        session = store.session("talk", api=api, model=talk["model"], policy=policy)
        session.append(items[: reports[0]["message"]])
        whole = True  # so far, every request was the whole history, and its report one of what was sent
        for number, report in enumerate(reports):
            if whole and number:
                lived.errors.append((session.project().tokens - report["input"]) / report["input"])
            made = compiled(session, asked, lived)
            whole = whole and made is not None and not made.report.decisions and not made.state.anchor and not made.state.folds
            lived.whole += whole
            lived.recorded.append(report["input"])
            end = reports[number + 1]["message"] if number + 1 < len(reports) else report["message"]
            answered(session, items[report["message"] : end], report if whole else None, api)
    return lived


def budget_of(reports: list[JsonObject]) -> int:
    """Half of the largest input; where the first request takes most of that already, half way between the two."""
    first, most = reports[0]["input"], max(one["input"] for one in reports)
    return int(most // 2 if first * CROWDED <= most / 2 else (first + most) // 2)


def compiled(session: Session, asked: JsonObject, lived: Lived) -> transom.Fit | None:
    """The next request, and what it shows; None where nothing fits. Summaries that it asks for are there for the next."""
    try:
        made = session.compile(**asked)
    except transom.OverBudget:
        lived.refused += 1
        return None
    for ask in made.asks:
        session.fulfil(ask, summaries.digest(ask))
    after = made.report.after.tokens
    if after > made.report.budget.tokens:
        lived.over = lived.over or f"{after:,} tokens of {made.report.budget.tokens:,.0f}"
    lived.tokens.append(after)
    lived.pictures.append(sum(one.kind == "image" for *_, one in naming.media(naming.talk(made.request, session.api))))
    lived.breaks += bool(made.report.breaks)
    return made


def answered(session: Session, items: list[JsonObject], report: JsonObject | None, api: str) -> None:
    """Record the answer with its usage, and store what came in behind it."""
    own = answered_by(items, api)
    if report is not None and own:
        session.record(answer(api, items[:own], {}), usage=Usage(prompt=report["input"], output=report["output"]))
        items = items[own:]
    if items:
        session.append(*items)


def fixed(talk: JsonObject, first: JsonObject) -> JsonObject:
    """The body around the messages, with a system text for what the log lacks of the first report."""
    api = talk["api"]
    body = body_of(talk)
    if talk.get("system"):
        return body
    sent = turns(talk, api)[: first["message"]]
    missing = first["input"] - transom.price({**body, key_of(api): sent}, api=api, model=talk["model"]).tokens
    around, message = bodies.around(api, talk["model"], {"system": WORD * WORDS})
    sample = {**around, key_of(api): [message] if message is not None else []}
    each = transom.price(sample, api=api, model=talk["model"]).tokens
    return {**body, "system": WORD * max(1, missing * WORDS // each)}
