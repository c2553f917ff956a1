"""The proxy's own pages as an OpenAPI document; the APIs it passes on are their providers' to describe."""

from __future__ import annotations

from typing import Final

from transom.types import JsonObject

_COUNT: Final[JsonObject] = {"type": "integer", "minimum": 0}


def _page(summary: str, kind: str, schema: JsonObject) -> JsonObject:
    return {
        "get": {
            "summary": summary,
            "responses": {"200": {"description": summary, "content": {kind: {"schema": schema}}}},
        }
    }


SCHEMA: Final[JsonObject] = {
    "openapi": "3.1.0",
    "info": {"title": "transom proxy", "version": "1"},
    "paths": {
        "/transom/status": _page(
            "What the proxy has done since it began",
            "application/json",
            {
                "type": "object",
                "required": ["version", "mode", "upstreams", "seconds", "requests", "faults", "planning", "tokens_in"],
                "properties": {
                    "version": {"type": "string"},
                    "mode": {"enum": ["fit", "shadow", "strict"]},
                    "upstreams": {"type": "object", "additionalProperties": {"type": "string"}},
                    "seconds": {"type": "number", "minimum": 0},
                    "requests": {"type": "array", "items": {"type": "object"}},
                    "faults": {"type": "object", "additionalProperties": _COUNT},
                    "tokens_in": _COUNT,
                },
            },
        ),
        "/transom/metrics": _page("The same for Prometheus", "text/plain", {"type": "string"}),
        "/transom/health": _page(
            "Whether it serves",
            "application/json",
            {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
        ),
        "/transom/openapi.json": _page("This document", "application/json", {"type": "object"}),
    },
}
