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


def read(form: Form, api: str, messages: Iterable[object], first: int = 0, whose: str = "those given") -> list[Message]:
    """Messages as they are read, the first one with the number `first`. Raises BadRequest with the number among `whose`."""
    views = []
    for number, message in enumerate(messages):
        try:
            views.append(_one(form, message, first + number))
        except BadRequest as error:
            place = f"{bodies.key(api)}[{number}]{error.place}"
            raise BadRequest(f"message {number} of {whose}: {_says(error)}", place=place) from error
    return views


def _one(form: Form, message: object, number: int) -> Message:
    """A message as it is read. Raises BadRequest with the place inside of it, as it goes on behind the message's own."""
    try:
        plain = door.admit(message, door.NO_MESSAGE)
    except BadRequest as error:
        place = f".{error.place}" if error.place and error.place[0] != "[" else error.place
        raise BadRequest(_says(error), place=place) from error
    try:
        return form.read_message(plain, number)
    except BadRequest as error:
        raise BadRequest(_says(error), place=_MESSAGE.sub("", error.place, count=1)) from error


def _says(error: BadRequest) -> str:
    """What an error says, without its place."""
    return str(error).removeprefix(f"{error.place}: ") if error.place else str(error)
