"""Which wire form a body is in. The commands guess it and say so; in Python it is an argument."""

from __future__ import annotations

from collections.abc import Mapping

from transom import wire
from transom.errors import BadRequest
from transom.types import JsonObject

PLANNED: Mapping[str, str] = {"contents": "Gemini", "input": "OpenAI Responses"}
"""Lists by which a body of a form that is not read yet is known."""


def guess(body: JsonObject) -> str:
    """The form of `body`. Raises BadRequest where it can be none of those that are read."""
    if isinstance(body.get("messages"), list):
        return wire.guess(body)
    for key, name in PLANNED.items():
        if key in body:
            raise BadRequest(f"the list {key!r} makes this a {name} request, and that form is not read yet")
    raise BadRequest("there is no list 'messages', so this is no request; give the body as it would be sent")
