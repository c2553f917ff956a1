"""Spans and metrics by the OpenTelemetry API, in the names of the GenAI conventions. Without the extra `otel` nothing
happens here.

The rule: attributes are numbers, the model's name and the upstream's host; no content, no tenant. Names: OpenTelemetry semantic
conventions for generative AI, as of 1.38 (2026-11); what they have no name for begins with `transom.`.
"""

from __future__ import annotations

import time
from typing import Final

try:
    from opentelemetry import metrics, propagate, trace
    from opentelemetry.trace import SpanKind, StatusCode
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True

import transom
from transom.proxy.exchange import Exchange, Watcher

PROVIDERS: Final = {"anthropic": "anthropic", "openai": "openai", "gemini": "gcp.gemini"}
"""`gen_ai.provider.name` by family."""
FAILED: Final = 400

Attributes = dict[str, str | int | float | bool]


class Telemetry:
    """Tells of each exchange: a client span, and the two metrics of the conventions."""

    def __init__(self) -> None:
        self._tracer = trace.get_tracer("transom", transom.__version__)
        meter = metrics.get_meter("transom", transom.__version__)
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens of a request, by kind")
        self._seconds = meter.create_histogram("gen_ai.client.operation.duration", "s", "How long a request took")
        self._left_out = meter.create_counter("transom.tokens.saved", "{token}", "Tokens that did not go out")
        self._requests = meter.create_counter("transom.requests", "{request}", "Requests by what was done")

    def ended(self, exchange: Exchange) -> None:
        """Tell of an exchange. Only those whose body was planned are model calls."""
        if exchange.planned is None:
            return
        named = _named(exchange)
        end = time.time_ns()
        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in exchange.headers.items()}
        span = self._tracer.start_span(
            f"{named['gen_ai.operation.name']} {exchange.model}".strip(),
            context=propagate.extract({key: carrier[key] for key in ("traceparent", "tracestate") if key in carrier}),
            kind=SpanKind.CLIENT,
            start_time=end - int(exchange.seconds * 1e9),
            attributes={**named, **_planned(exchange)},
        )
        if exchange.fault or exchange.status >= FAILED:
            span.set_attribute("error.type", exchange.fault or str(exchange.status))
            span.set_status(StatusCode.ERROR)
        span.end(end)
        self._measure(exchange, named)

    def _measure(self, exchange: Exchange, named: Attributes) -> None:
        self._seconds.record(exchange.seconds, named)
        self._requests.add(1, {**named, "transom.outcome": exchange.outcome})
        self._left_out.add(exchange.saved, named)
        if exchange.usage is not None:
            self._tokens.record(exchange.usage.prompt, {**named, "gen_ai.token.type": "input"})
            self._tokens.record(exchange.usage.output, {**named, "gen_ai.token.type": "output"})


def _named(exchange: Exchange) -> Attributes:
    operation = "generate_content" if exchange.family == "gemini" else "chat"
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": PROVIDERS[exchange.family],
        "gen_ai.request.model": exchange.model,
        "server.address": exchange.host,
    }


def _planned(exchange: Exchange) -> Attributes:
    planned = exchange.planned
    out: Attributes = {"http.response.status_code": exchange.status, "transom.outcome": exchange.outcome}
    if planned is not None:
        out |= {
            "transom.tokens.before": planned.before.tokens,
            "transom.tokens.planned": planned.after.tokens,
            "transom.stubs": planned.stubs,
            "transom.drops": planned.drops,
            "transom.cuts": planned.cuts,
            "transom.folds": planned.folds,
            "transom.cache_breaks": planned.breaks,
            "transom.retried": exchange.retried,
        }
    if exchange.summaries is not None:
        out |= {"transom.summaries.asked": exchange.summaries.asked, "transom.summaries.made": exchange.summaries.made}
    if exchange.usage is not None:
        out |= {
            "gen_ai.usage.input_tokens": exchange.usage.prompt,
            "gen_ai.usage.output_tokens": exchange.usage.output,
            "gen_ai.usage.cache_read.input_tokens": exchange.usage.cached,
            "gen_ai.usage.cache_creation.input_tokens": exchange.usage.written,
        }
    return out


def watchers() -> tuple[Watcher, ...]:
    """Whoever tells OpenTelemetry; nobody where its API is not installed."""
    return (Telemetry(),) if INSTALLED else ()
