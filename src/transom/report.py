"""What a fit did, for people and programs: sizes before and after, every decision, every cache break."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from transom.frozen import Frozen
from transom.parts import spell
from transom.plan import OUTSIDE, Break, Budget, Decision, Size
from transom.types import Basis, JsonObject

PAST: Mapping[str, str] = {
    "stub": "stubbed",
    "cut": "cut",
    "prune": "pruned",
    "drop": "dropped",
    "repair": "repaired",
    "mend": "mended",
    "mark": "marks moved",
    "fold": "summed up",
}
THINGS: Mapping[str, str] = {"drop": "group", "fold": "run"}
MEDIA: Mapping[str | None, str] = {"image": "picture", "document": "document", "audio": "sound", "video": "film"}


class Report(Frozen, frozen=True, kw_only=True):
    """The account of one fit. Sizes are of the whole request: tokens by `card`'s prices, bytes as compact JSON.

    `basis` gives the share of the tokens that each way of knowing stands for. `notes` are sentences about the fit as a whole:
    the reserve that was taken, a state that was reset, a model that nobody knows.
    """

    api: str
    card: str
    key: str
    before: Size
    after: Size
    budget: Budget
    decisions: tuple[Decision, ...] = ()
    breaks: tuple[Break, ...] = ()
    basis: Mapping[Basis, float]
    notes: tuple[str, ...] = ()

    def where(self, decision: Decision) -> str:
        """The place of a decision in the request that came in: `messages[3].content[1]`."""
        first = spell(decision.place if decision.seq == OUTSIDE else (self.key, decision.seq, *decision.place))
        return f"{first}..{spell((self.key, decision.last))}" if decision.last > decision.seq else first

    def at(self, place: str) -> tuple[Decision, ...]:
        """The decisions at a place or inside it: `at("messages[3]")`."""
        return tuple(
            one
            for one in self.decisions
            if self.where(one) == place
            or self.where(one).startswith((f"{place}.", f"{place}["))
            or any(spell((self.key, seq)) == place for seq in range(one.seq, one.last + 1))
        )

    def lines(self) -> list[str]:
        """Each decision on a line."""
        return [
            f"{self.where(one)}: {PAST[one.verb]}{f' ({one.name})' if one.name else ''}, {one.reason}, "
            f"{one.tokens_before:,} -> {one.tokens_after:,} tokens, {one.bytes_before:,} -> {one.bytes_after:,} bytes"
            for one in self.decisions
        ]

    def summary(self) -> str:
        """The fit in one sentence."""
        done = []
        for verb, past in PAST.items():
            things = (THINGS.get(verb) or MEDIA.get(one.media, "place") for one in self.decisions if one.verb == verb)
            counted = [many(count, thing) for thing, count in Counter(things).items()]
            if counted:
                done.append(f"{' and '.join(counted)} {past}")
        what = ", ".join(done) or "nothing changed"
        cache = f", {many(len(self.breaks), 'cache break')}" if self.breaks else ""
        return (
            f"{what}; {self.after.tokens:,} of {self.before.tokens:,} tokens, "
            f"{self.after.bytes:,} of {self.before.bytes:,} bytes{cache}"
        )

    def __str__(self) -> str:
        """The summary, a line for each decision and break, and the notes."""
        breaks = [
            f"cache break at message {one.at} of the new request: {one.cause}, {one.tokens:,} tokens read again uncached"
            for one in self.breaks
        ]
        return "\n".join([self.summary(), *self.lines(), *breaks, *self.notes])

    def to_dict(self) -> JsonObject:
        """The report as JSON."""
        return {
            "api": self.api,
            "model": self.card,
            "summary": self.summary(),
            "before": _size(self.before),
            "after": _size(self.after),
            "budget": {
                name: math.floor(value) if math.isfinite(value) else None
                for name, value in (
                    ("tokens", self.budget.tokens),
                    ("bytes", self.budget.bytes),
                    ("messages", self.budget.messages),
                )
            },
            "decisions": [
                {
                    "place": self.where(one),
                    "verb": one.verb,
                    "name": one.name,
                    "reason": one.reason,
                    "tokens": [one.tokens_before, one.tokens_after],
                    "bytes": [one.bytes_before, one.bytes_after],
                }
                for one in self.decisions
            ],
            "breaks": [{"at": one.at, "cause": one.cause, "tokens": one.tokens} for one in self.breaks],
            "basis": dict(self.basis),
            "notes": list(self.notes),
        }


def many(count: int, thing: str) -> str:
    """A number of things, in words."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _size(size: Size) -> JsonObject:
    return {"tokens": size.tokens, "bytes": size.bytes, "messages": size.messages}
