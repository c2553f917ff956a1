"""Messages as they are handed in: read, or refused with the place of what is wrong in which of them.

The rule: all of them are read before anything is done with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from transom import door
from transom.errors import BadRequest
from transom.parts import Message
from transom.session import bodies
from transom.wire.form import Form

_MESSAGE: Final = re.compile(r"\w+\[-?\d+\]")
"""How the place of what is wrong in a message begins: with the message's own."""


def flat(messages: Iterable[object]) -> Iterable[object]:
    """Messages, those in lists among them, one by one."""
    for one in messages:
        if isinstance(one, list | tuple):
            yield from one
        else:
            yield one


def read(form: Form, api: str, messages: Iterable[object], first: int = 0) -> list[Message]:
    """Messages as they are read, the first one with the number `first`. Raises BadRequest with the number among those given."""
    return [_one(form, api, message, number, first) for number, message in enumerate(messages)]


def _one(form: Form, api: str, message: object, number: int, first: int) -> Message:
    try:
        plain = door.admit(message, door.NO_MESSAGE)
    except BadRequest as error:
        inside = f".{error.place}" if error.place and error.place[0] != "[" else error.place
        raise _misread(error, api, number, inside) from error
    try:
        return form.read_message(plain, first + number)
    except BadRequest as error:
        raise _misread(error, api, number, _MESSAGE.sub("", error.place, count=1)) from error


def _misread(error: BadRequest, api: str, number: int, inside: str) -> BadRequest:
    says = str(error).removeprefix(f"{error.place}: ") if error.place else str(error)
    return BadRequest(f"message {number} of those given: {says}", place=f"{bodies.key(api)}[{number}]{inside}")
