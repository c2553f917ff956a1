"""Which wire form a body is in. The commands guess it and say so; in Python it is an argument."""

from __future__ import annotations

from collections.abc import Mapping

from transom import wire
from transom.errors import BadRequest
from transom.types import JsonObject
from transom.wire import content

LISTS: Mapping[str, str] = {"messages": "", "contents": "gemini", "input": "openai-responses"}
"""What bodies call the list of their turns, and the form that alone calls it so."""


def guess(body: JsonObject) -> str:
    """The form of `body`. Raises BadRequest where it can be none of those that are read."""
    for key, form in LISTS.items():
        if isinstance(body.get(key), list if key == "messages" else (list, dict, str)):
            if form and form not in wire.FORMS:
                raise BadRequest(f"the list {key!r} makes this a request of the form {form}, which is not read yet")
            return wire.guess(body)
    found = next((key for key in LISTS if key in body), None)
    if found is not None:
        raise BadRequest(f"`{found}` is {content.name(body[found])}; it must be a list of objects", place=found)
    raise BadRequest("there is no list 'messages', so this is no request; give the body as it would be sent")
