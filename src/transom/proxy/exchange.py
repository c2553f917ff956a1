"""One request and its answer as those who watch see it: numbers and names of models, never content or a credential."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from transom.proxy.planned import Planned
from transom.types import JsonObject
from transom.wire.form import Usage

LONGEST_NAME = 100


@dataclass(slots=True, kw_only=True)
class Told:
    """A round of summaries: how many were asked for and made, and why others were not, in words out of few; what they cost in
    tokens.
    """

    asked: int = 0
    made: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    prompt: int = 0
    output: int = 0

    def to_dict(self) -> JsonObject:
        """The round as it stands in a line of the log."""
        return {"asked": self.asked, "made": self.made, "failed": dict(self.failed), "billed": [self.prompt, self.output]}


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What is known when the answer has ended. Times are seconds; `status` is the answer's, 0 where the client left before one.

    `fault` names what went wrong on the way ("ConnectError", "client left", ...), "" where nothing did. `refused`: it belongs to
    no API that is served, and nobody was asked; `host` is "" then.
    """

    family: str
    api: str
    headers: Mapping[bytes, bytes] = field(default_factory=dict, repr=False)
    tenant: bytes = field(default=b"", repr=False)
    host: str = ""
    status: int = 0
    began: float = 0.0
    seconds: float = 0.0
    planning: float = 0.0
    received: int = 0
    sent: int = 0
    planned: Planned | None = field(default=None, repr=False)
    retried: bool = False
    usage: Usage | None = None
    summaries: Told | None = None
    fault: str = ""
    refused: bool = False

    @property
    def outcome(self) -> str:
        """What was done: an outcome of planning; "passed" where nothing was planned; "refused" where it goes nowhere."""
        if self.planned is not None:
            return self.planned.outcome
        return "refused" if self.refused else "passed"

    @property
    def model(self) -> str:
        """The model's name, cut short: it is the client's to write."""
        return self.planned.model[:LONGEST_NAME] if self.planned is not None else ""

    @property
    def saved(self) -> int:
        """Tokens that did not go out."""
        return max(0, self.planned.before.tokens - self.planned.after.tokens) if self.planned is not None else 0

    def to_dict(self) -> JsonObject:
        """The exchange as a line of the log."""
        out: JsonObject = {
            "tenant": self.tenant.hex()[:8],
            "upstream": self.family if self.host else "",
            "api": self.api,
            "status": self.status,
            "outcome": self.outcome,
            "ms": round(1_000 * self.seconds, 1),
            "bytes": [self.received, self.sent],
        }
        if self.planned is not None:
            out |= {
                "model": self.model,
                "planning_ms": round(1_000 * self.planning, 1),
                "tokens": [self.planned.before.tokens, self.planned.after.tokens],
                "stubs": self.planned.stubs,
                "drops": self.planned.drops,
                "cuts": self.planned.cuts,
                "folds": self.planned.folds,
                "breaks": self.planned.breaks,
                "retried": self.retried,
            }
            if self.planned.trouble:
                out["trouble"] = self.planned.trouble
        if self.summaries is not None:
            out["summaries"] = self.summaries.to_dict()
        if self.usage is not None:
            out["billed"] = {"input": self.usage.prompt, "cached": self.usage.cached, "output": self.usage.output}
        if self.fault:
            out["fault"] = self.fault
        return out


class Watcher(Protocol):
    """Somebody who is told of each exchange when it has ended."""

    def ended(self, exchange: Exchange) -> None:
        """Take note of an exchange. Must not raise or wait."""
