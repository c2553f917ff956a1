"""A body as JSON, and as a request of its form. The rule: what is JSON and no request is told apart from what is no JSON, since
the first may be a request that is only not known here.
"""

from __future__ import annotations

import json
from typing import Final

import msgspec

from transom import door
from transom.errors import BadRequest
from transom.parts import Conversation
from transom.types import Json, JsonObject
from transom.wire.form import Form

LISTS: Final = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "gemini": "contents"}
"""What each form calls its list of messages."""


class Unread(BadRequest):
    """The body is JSON, but no request of its form."""


def simple(data: bytes) -> JsonObject | None:
    """The body as JSON, where it is such in every way. The parser that is used here takes no NaN and no half of a surrogate pair,
    and bounds its depth; what else must be looked at, a whole fit looks at (`read`).
    """
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def is_json(data: bytes) -> bool:
    """Whether a body that is not taken here is JSON all the same, by a reader that is as lenient as JSON allows: any value,
    numbers of any size, halves of surrogate pairs, and whatever is nested too deep for it.
    """
    try:
        json.loads(data.decode("utf-8-sig"), parse_constant=_no_number, parse_int=len, parse_float=len)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _no_number(word: str) -> None:
    """NaN and its like, which Python writes and JSON does not have."""
    raise ValueError(word)


def is_list(given: Json) -> bool:
    """Whether the messages are a list of objects, as they nearly always are; some forms take a string, or a lone one."""
    return isinstance(given, list) and set(map(type, given)) <= {dict}


def read(form: Form, body: JsonObject) -> Conversation:
    """The request in a body. Raises Unread where it is none."""
    body = door.admit(body)
    try:
        return form.read(body)
    except BadRequest as error:
        raise Unread(str(error)) from error
