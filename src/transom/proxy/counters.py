"""What the proxy has done, in numbers. The rule: every label comes from a fixed set, so that no client can make the figures
grow.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from transom.proxy.exchange import Exchange, Told
from transom.types import JsonObject

TOTALS: Final = {
    "stubs": "Pictures that became placeholders.",
    "drops": "Messages that were left out of requests.",
    "cuts": "Texts that were cut short in requests.",
    "folds": "Summaries that stood for messages in requests.",
    "cache_breaks": "Places where the provider's prompt cache ended.",
    "tokens_in": "Tokens of requests as they came, as planned.",
    "tokens_planned": "Tokens of requests as they were sent, as planned.",
    "tokens_billed": "Input tokens that providers reported.",
    "tokens_cached": "Of these, tokens read from the provider's prompt cache.",
    "tokens_out": "Output tokens that providers reported.",
    "bytes_received": "Bytes of planned bodies as they came.",
    "bytes_sent": "Bytes of planned bodies as they were sent.",
    "retries": "Requests sent a second time, smaller, after a refusal.",
    "summaries_asked": "Summaries that were asked of the summary model.",
    "summaries_made": "Of these, those that came.",
    "summary_tokens_in": "Input tokens that the summary model reported.",
    "summary_tokens_out": "Output tokens that the summary model reported.",
}
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Seconds of planning."""


class Counters:
    """Counts exchanges. One writer at a time; readers see whole numbers."""

    def __init__(self) -> None:
        self.began = time.time()
        self._lock = threading.Lock()
        self.requests: Counter[tuple[str, str, str]] = Counter()
        self.faults: Counter[str] = Counter()
        self.totals: Counter[str] = Counter(dict.fromkeys(TOTALS, 0))
        self.planning: Counter[float] = Counter()
        self.planned = 0
        self.planning_seconds = 0.0

    def ended(self, exchange: Exchange) -> None:
        """Count an exchange."""
        with self._lock:
            status = f"{exchange.status // 100}xx" if exchange.status else "none"
            self.requests[exchange.api or exchange.family, exchange.outcome, status] += 1
            if exchange.fault:
                self.faults[exchange.fault] += 1
            if exchange.planned is not None:
                self._plan(exchange)
            if exchange.summaries is not None:
                self._fold(exchange.summaries)
            if exchange.usage is not None:
                self.totals["tokens_billed"] += exchange.usage.prompt
                self.totals["tokens_cached"] += exchange.usage.cached
                self.totals["tokens_out"] += exchange.usage.output

    def _fold(self, told: Told) -> None:
        self.totals["summaries_asked"] += told.asked
        self.totals["summaries_made"] += told.made
        self.totals["summary_tokens_in"] += told.prompt
        self.totals["summary_tokens_out"] += told.output
        for why, count in told.failed.items():
            self.faults[f"summary {why}"] += count

    def _plan(self, exchange: Exchange) -> None:
        planned = exchange.planned
        if planned is None:
            return
        self.planned += 1
        self.planning_seconds += exchange.planning
        self.planning[next((edge for edge in BUCKETS if exchange.planning <= edge), float("inf"))] += 1
        self.totals["stubs"] += planned.stubs
        self.totals["drops"] += planned.drops
        self.totals["cuts"] += planned.cuts
        self.totals["folds"] += planned.folds
        self.totals["cache_breaks"] += planned.breaks
        self.totals["tokens_in"] += planned.before.tokens
        self.totals["tokens_planned"] += planned.after.tokens
        self.totals["bytes_received"] += exchange.received
        self.totals["bytes_sent"] += exchange.sent
        self.totals["retries"] += exchange.retried

    def to_dict(self) -> JsonObject:
        """The figures as JSON."""
        with self._lock:
            return {
                "seconds": round(time.time() - self.began, 1),
                "requests": [
                    {"api": api, "outcome": outcome, "status": status, "count": count}
                    for (api, outcome, status), count in sorted(self.requests.items())
                ],
                "faults": dict(sorted(self.faults.items())),
                "planning": {
                    "count": self.planned,
                    "mean_ms": round(1_000 * self.planning_seconds / self.planned, 3) if self.planned else 0.0,
                },
                **self.totals,
            }

    def prometheus(self) -> str:
        """The figures in Prometheus's text format."""
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# HELP transom_requests_total Requests by wire form, what was done, and the answer's status."
        yield "# TYPE transom_requests_total counter"
        for (api, outcome, status), count in sorted(self.requests.items()):
            yield f'transom_requests_total{{api="{api}",outcome="{outcome}",status="{status}"}} {count}'
        yield "# HELP transom_faults_total Exchanges in which something went wrong on the way."
        yield "# TYPE transom_faults_total counter"
        for fault, count in sorted(self.faults.items()):
            yield f'transom_faults_total{{fault="{fault}"}} {count}'
        for name, says in TOTALS.items():
            yield f"# HELP transom_{name}_total {says}"
            yield f"# TYPE transom_{name}_total counter"
            yield f"transom_{name}_total {self.totals[name]}"
        yield "# HELP transom_planning_seconds Time that planning took."
        yield "# TYPE transom_planning_seconds histogram"
        below = 0
        for edge in BUCKETS:
            below += self.planning[edge]
            yield f'transom_planning_seconds_bucket{{le="{edge}"}} {below}'
        yield f'transom_planning_seconds_bucket{{le="+Inf"}} {self.planned}'
        yield f"transom_planning_seconds_sum {self.planning_seconds:.6f}"
        yield f"transom_planning_seconds_count {self.planned}"
