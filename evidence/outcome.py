"""What came of running a case."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import transom
from transom.pricing import PriceList
from transom.types import JsonObject


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of one run: the request, or the error that stands in its place, and what was seen on the way."""

    case: JsonObject
    request: JsonObject
    prices: PriceList | None = None
    made: transom.Fit | None = None
    error: Exception | None = None
    again: bool = True
    unchanged: bool = True
    seconds: float = 0.0
    loaded: int = 0
    session: bytes = b""
    lost: list[JsonObject] = field(default_factory=list)

    @property
    def output(self) -> JsonObject:
        """The request that came out; an empty one where none did."""
        return self.made.request if self.made else {}

    @property
    def reports(self) -> list[transom.Report]:
        """What was reported of it: one report, or none."""
        return [self.made.report] if self.made else []

    @property
    def words(self) -> str:
        """All that the library says about it: report, lines that were left out, error."""
        said = [str(self.made.report), json.dumps(self.made.report.to_dict())] if self.made else []
        said += [f"line {row['line']}: {row['reason']}" for row in self.lost]
        return "\n".join([*said, str(self.error or "")])
