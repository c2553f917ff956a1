"""A stored session as JSON lines: what can be read of a damaged one, and what to write behind it.

The rules: nothing that was readable is lost because of what is not, and every byte that is left out is named by its line. A store
that was interrupted leaves runs of NUL bytes, lines that were cut off, and the next message written right behind such a cut.
Nothing here reads or writes a file.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from json import JSONDecoder
from typing import Final

from transom import canon, door
from transom.errors import BadRequest
from transom.frozen import Frozen
from transom.types import JsonObject
from transom.wire.openai_responses_items import is_item

_NOTHING: Final = " \t\r\n\x00"
_OPENINGS: Final = ('{"role"', '{"content"', '{ "role"', '{ "content"', '{"type"', '{"id"')
"""How a message that was written behind a cut can begin."""
_MOST_TRIED: Final = 64
"""Openings in one line that are tried: a hostile line of nothing else costs no more than this."""
_DECODER: Final = JSONDecoder()


class Loss(Frozen, frozen=True, kw_only=True):
    """What could not be read of a line: the line's number from 1 and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        """The loss as a report says it."""
        return f"line {self.line}: {self.reason}"


class Log(Frozen, frozen=True, kw_only=True):
    """The messages of a session, oldest first, with the line each stood in, and what was lost.

    `whole` is False where bytes written next would be read as part of a torn line.
    """

    unshown = ("messages",)

    messages: tuple[JsonObject, ...]
    lines: tuple[int, ...] = ()
    lost: tuple[Loss, ...] = ()
    whole: bool = True


def read(data: bytes | str, *, items: bool = False) -> Log:
    """The messages in JSON lines. Never raises: what cannot be read is in `lost`. Empty lines are no loss. `items`: those of
    Responses, which have a type and no role, are messages too.
    """
    text = decoded(data)
    messages: list[JsonObject] = []
    lines: list[int] = []
    lost: list[Loss] = []
    for number, row in enumerate(text.split("\n"), 1):
        for found in _row(row, items=items):
            if isinstance(found, str):
                lost.append(Loss(line=number, reason=found))
            else:
                messages.append(found)
                lines.append(number)
    return Log(messages=tuple(messages), lines=tuple(lines), lost=tuple(lost), whole=not text or text.endswith("\n"))


def decoded(data: bytes | str) -> str:
    """The text of a store, without a byte order mark; bytes that are no UTF-8 become signs that say so."""
    text = data if isinstance(data, str) else data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    return text.removeprefix("\ufeff")


def appended(data: bytes | str, message: JsonObject) -> bytes:
    """The bytes to write behind a store so that `message` can be read again, whatever the store ends with."""
    line = canon.encode(message) + b"\n"
    return line if read(data[-1:]).whole else b"\n" + line


def _row(row: str, *, items: bool) -> Iterator[JsonObject | str]:
    """The messages of a line and what is lost of it, in order."""
    body = row.strip(_NOTHING)
    nuls = row.count("\x00") - body.count("\x00")
    if nuls:
        yield f"{nuls:,} NUL bytes, as an interrupted write leaves them"
    while body:
        found, body = _first(body, items=items)
        yield found


def _first(body: str, *, items: bool) -> tuple[JsonObject | str, str]:
    """The first message of a text, or why there is none, and what follows it."""
    try:
        return _message(door.parse(body), items=items), ""
    except BadRequest as error:
        reason = str(error).removeprefix("line 1, ")
    try:
        found, end = _DECODER.raw_decode(body)
    except (ValueError, RecursionError):
        behind = _resumed(body, items=items)
        return reason, body[behind:] if behind else ""
    try:
        return _message(door.admit(found), items=items), body[end:].lstrip(_NOTHING)
    except BadRequest as error:
        return str(error), body[end:].lstrip(_NOTHING)


def _message(found: JsonObject, *, items: bool) -> JsonObject | str:
    is_message = "role" in found or "participant" in found or (items and is_item(found))
    return found if is_message else "an object without a role, and so no message"


def _resumed(body: str, *, items: bool) -> int:
    """Where a whole message stands behind a cut, up to the end of the line; 0 where none does."""
    at = 0
    for _ in range(_MOST_TRIED):
        at = min((found for opening in _OPENINGS if (found := body.find(opening, at + 1)) > 0), default=0)
        if not at:
            break
        try:
            found, end = _DECODER.raw_decode(body, at)
        except (ValueError, RecursionError):
            continue
        if end == len(body) and isinstance(found, dict) and ("role" in found or (items and is_item(found))):
            return at
    return 0
