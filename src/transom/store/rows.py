"""What the store's rows are as values, and how they are spelled."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

import msgspec
from sqlalchemy import Row as Fetched
from sqlalchemy import RowMapping

from transom import canon
from transom.errors import StoreError
from transom.frozen import Frozen
from transom.parts import Message, walk
from transom.store.payloads import Payload
from transom.types import Json, JsonObject, Place

T = TypeVar("T")

AT_ONCE: Final = 500
"""Rows that one statement writes or looks for."""


class Head(Frozen, frozen=True, kw_only=True):
    """A session as it stands: `count` messages with the rolling `key`, the `version` of its state, and its `slot`."""

    unshown = ("slot",)

    name: str
    session: str
    api: str
    model: str
    count: int
    key: bytes
    kinds: frozenset[str]
    version: int
    slot: JsonObject
    created: str
    changed: str


class Row(Frozen, frozen=True, kw_only=True):
    """A stored message: its number, its JSON, what it and all before it are known by, and who wrote it.

    `names` are the ids under which its calls go out where they are not their own.
    """

    unshown = ("json",)

    seq: int
    json: JsonObject
    digest: bytes
    key: bytes
    model: str
    api: str
    names: tuple[tuple[Place, str], ...] = ()


class Facts(Frozen, frozen=True, kw_only=True):
    """What is known of a stored message without reading it: its number, and the bytes of its JSON less those of its media."""

    seq: int
    text: int


def head_of(row: RowMapping) -> Head:
    """A session's row as a value."""
    plain = {name: row[name] for name in ("name", "session", "api", "model", "count", "key", "version", "created", "changed")}
    kinds = _json(row["kinds"])
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise _unread("the kinds of a session's parts are no list of names")
    return Head(**plain, kinds=frozenset(kinds), slot=decoded(row["slot"]))


def payload(row: Fetched[Json]) -> Payload:
    """A payload's row, with its bytes. Raises StoreError where these are missing or not the ones that were stored."""
    found = Payload(place=place(row.path), prefix=row.prefix, encoding=row.encoding, data=row.data or b"")
    if row.data is None or found.digest != row.digest:
        what = "missing" if row.data is None else "damaged"
        raise StoreError(f"the payload of message {row.seq} at {row.path} is {what} in the store; restore a copy of it")
    return found


def facts(message: Message) -> JsonObject:
    """What costs something to find out about a message and does not depend on a model."""
    media = [part.media for part in walk(message.parts) if part.media is not None]
    sides = [[one.facts.width, one.facts.height] for one in media if one.kind == "image"]
    return {"bytes": canon.size(message.json), "inline": sum(one.inline for one in media), "pictures": sides}


def facts_of(seq: int, words: str) -> Facts:
    """The facts of a stored message as a value."""
    plain = decoded(words)
    size, inline = plain.get("bytes"), plain.get("inline")
    if not isinstance(size, int) or not isinstance(inline, int):
        raise _unread(f"the size of message {seq} is no number")
    return Facts(seq=seq, text=size - inline)


def decoded(data: bytes | str) -> JsonObject:
    """A JSON object as it was stored. Raises StoreError where it is none any more."""
    found = _json(data)
    if not isinstance(found, dict):
        raise _unread("it is no object")
    return found


def place(path: str) -> Place:
    """A stored path. Raises StoreError where it is none any more."""
    found = _json(path)
    if not isinstance(found, list):
        raise _unread("a place is no list")
    return tuple(found)


def _json(data: bytes | str) -> Json:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unread(str(error)) from error


def _unread(why: str) -> StoreError:
    return StoreError(f"a row of the store cannot be read ({why}); restore a copy of it")


def now() -> str:
    """The time as a text that sorts: UTC, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def runs(seqs: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Numbers as stretches without a gap, first and last."""
    first = last = -2
    for seq in sorted(set(seqs)):
        if seq == last + 1:
            last = seq
            continue
        if first >= 0:
            yield first, last
        first = last = seq
    if first >= 0:
        yield first, last


def chunks(items: Sequence[T]) -> Iterator[list[T]]:
    """Items in lists that one statement takes."""
    source = iter(items)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk
