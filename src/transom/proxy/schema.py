"""The proxy's own pages as an OpenAPI document; the APIs it passes on are their providers' to describe."""

from __future__ import annotations

from typing import Final

from transom.proxy.counters import TOTALS
from transom.proxy.settings import MODES
from transom.types import JsonObject

_TEXT: Final[JsonObject] = {"type": "string"}
_COUNT: Final[JsonObject] = {"type": "integer", "minimum": 0}
_AMOUNT: Final[JsonObject] = {"type": "number", "minimum": 0}


def _page(summary: str, kind: str, schema: JsonObject) -> JsonObject:
    return {
        "get": {
            "summary": summary,
            "responses": {"200": {"description": summary, "content": {kind: {"schema": schema}}}},
        }
    }


def _record(**fields: JsonObject) -> JsonObject:
    """An object with these fields and no others."""
    return {"type": "object", "required": list(fields), "properties": fields, "additionalProperties": False}


_STATUS: Final = _record(
    version=_TEXT,
    mode={"enum": list(MODES)},
    upstreams={"type": "object", "additionalProperties": _TEXT},
    seconds=_AMOUNT,
    requests={"type": "array", "items": _record(api=_TEXT, outcome=_TEXT, status=_TEXT, count=_COUNT)},
    faults={"type": "object", "additionalProperties": _COUNT},
    planning=_record(count=_COUNT, mean_ms=_AMOUNT),
    **{name: {**_COUNT, "description": says} for name, says in TOTALS.items()},
)

SCHEMA: Final[JsonObject] = {
    "openapi": "3.1.0",
    "info": {"title": "transom proxy", "version": "1"},
    "paths": {
        "/transom/status": _page("What the proxy has done since it began", "application/json", _STATUS),
        "/transom/metrics": _page("The same for Prometheus", "text/plain", {"type": "string"}),
        "/transom/health": _page("Whether it serves", "application/json", _record(status={"const": "ok"})),
        "/transom/openapi.json": _page("This document", "application/json", {"type": "object"}),
    },
}
