"""What became of a request: the bytes that are sent, why, and what is known of them."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from transom.frozen import Frozen
from transom.plan import Ask, Size
from transom.proxy.record import UNKNOWN, Record
from transom.report import Report

Outcome: TypeAlias = Literal["untouched", "fitted", "over-budget", "unread", "failed", "refused"]

NOTHING: Final = Size()


class Refusal(Frozen, frozen=True, kw_only=True):
    """An answer that is given in the provider's place."""

    status: int
    words: str


class Planned(Frozen, frozen=True, kw_only=True):
    """What is sent, and what is known of it.

    data: the bytes to send; the very bytes that came where nothing changed.
    before, after: the request's sizes as it came and as it is sent; `exact` and `guessed` tokens of what is sent.
    key, record: what to remember where the provider takes it; no key: nothing.
    trouble: why it goes out as it came although it should not, or is refused.
    asks: summaries that are wanted.
    """

    unshown = ("data", "report", "key", "asks")

    data: bytes
    outcome: Outcome
    model: str = ""
    card: str = ""
    known: bool = False
    before: Size = NOTHING
    after: Size = NOTHING
    exact: int = 0
    guessed: int = 0
    report: Report | None = None
    key: bytes = b""
    record: Record = UNKNOWN
    trouble: str = ""
    refusal: Refusal | None = None
    asks: tuple[Ask, ...] = ()

    @property
    def stubs(self) -> int:
        """How many pictures became placeholders."""
        return self._count("stub")

    @property
    def drops(self) -> int:
        """How many messages were left out, by this fit or an earlier one."""
        lines = self.report.decisions if self.report is not None else ()
        return sum(max(1, line.last - line.seq + 1) for line in lines if line.verb == "drop")

    @property
    def cuts(self) -> int:
        """How many texts were cut short."""
        return self._count("cut")

    @property
    def folds(self) -> int:
        """How many summaries stand for messages."""
        return self._count("fold")

    @property
    def breaks(self) -> int:
        """How many cache breaks the request has."""
        return len(self.report.breaks) if self.report is not None else 0

    def _count(self, verb: str) -> int:
        return sum(line.verb == verb for line in self.report.decisions) if self.report is not None else 0
