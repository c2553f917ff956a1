"""What comes in, as plain JSON: the one check of values, so that nothing behind it meets NaN, cycles or foreign objects.

The rule: a body that is plain already comes back as the same object; otherwise only the nodes on the way to a foreign one are
copied. Everything that cannot be JSON is refused with its place. An object that stands in many places is written in each of them,
so it counts in each: the work is bounded by the body's size as it would be written, and that by two numbers.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType
from typing import Final

import msgspec

from transom.errors import BadRequest
from transom.parts import spell
from transom.types import Json, JsonObject, Place

MAX_DEPTH: Final = 200
"""Levels of nesting that are read. Bodies have some ten, tool schemas some thirty."""
MAX_DIGITS: Final = 4_300
"""Digits of a whole number: beyond them Python itself refuses to write it as text."""
MAX_VALUES: Final = 2_000_000
"""Values in a body as it is written, each as often as it stands there. A talk of 100,000 messages has about a million."""
MAX_CHARACTERS: Final = 1_000_000_000
"""Characters of all texts, keys and numbers of a body as it is written. Providers take up to 512 MB."""

NO_REQUEST: Final = "the request is {}; it must be an object with the fields of the body"
NO_MESSAGE: Final = "the message is {}; it must be an object with the fields of a message"
NO_ANSWER: Final = "the answer is {}; it must be the provider's whole answer, as its SDK gave it or as an object"

_MAX_BITS: Final = int(MAX_DIGITS * math.log2(10))
_SHORT: Final = 40
_NESTING: Final = f"this is nested deeper than {MAX_DEPTH} levels; make it flatter, or send it as text"
_SURROGATE: Final = "this text holds half a surrogate pair, which UTF-8 cannot carry; put U+FFFD in its place"
_DIGITS: Final = f"this whole number has more than {MAX_DIGITS:,} digits; send it as text"
_MANY: Final = f"up to here are more than {MAX_VALUES:,} values, as they would be written; send less, or send it as text"
_LONG: Final = f"up to here are more than {MAX_CHARACTERS:,} characters, as they would be written; send less"
_UNREMEMBERED: Final = 200_000
"""Values that are walked before nodes are remembered: most bodies are done by then."""
_LONG_STEP: Final = 200
_STEPS: Final = 12
"""Steps of a place that an error shows."""
_LONG_NUMBER: Final = re.compile(rb"\d{%d,}" % (MAX_DIGITS + 1))
_PLAIN: Final = frozenset({bool, type(None)})


class _Refused(Exception):
    """A value that is no JSON; `steps` is its place, innermost first."""

    def __init__(self, says: str) -> None:
        self.says = says
        self.steps: list[str | int] = []
        super().__init__(says)


class _Walk:
    """One walk through a body: `path` holds the containers around a node, `values` and `characters` how many may still come.

    `known` are containers that were found plain, each with the depth it stood at and what it took: a shared one is walked once.
    They are all part of the answer, so that no other object can have the id of one.
    """

    __slots__ = ("characters", "known", "path", "values")

    def __init__(self) -> None:
        self.path: set[int] = set()
        self.known: dict[int, tuple[int, int, int]] = {}
        self.values = MAX_VALUES
        self.characters = MAX_CHARACTERS

    def take(self, values: int, characters: int) -> None:
        """So much is written here."""
        self.values -= values
        self.characters -= characters
        if self.values < 0 or self.characters < 0:
            raise _Refused(_MANY if self.values < 0 else _LONG)


def admit(request: object, what: str = NO_REQUEST) -> JsonObject:
    """The request as plain JSON. `what` says of a value that is no object what it must be.

    Objects of an SDK become what that SDK would send, bytes become base64 text, tuples lists; a body that is plain already
    is returned as it is. Raises BadRequest with the place of what cannot be sent.
    """
    try:
        body = _node(request, 0, _Walk())
    except _Refused as refused:
        place: Place = tuple(reversed(refused.steps))
        deep = "..." if len(place) > _STEPS else ""
        raise BadRequest(refused.says, place=spell(place[:_STEPS]) + deep) from None
    except RecursionError:
        raise BadRequest(_NESTING) from None
    if not isinstance(body, dict):
        raise BadRequest(what.format(_kind(body)))
    return body


def parse(data: bytes | str) -> JsonObject:
    """The request that is written in `data`. Raises BadRequest with the line and column of what is no JSON."""
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    text = text.removeprefix(b"\xef\xbb\xbf")
    if not text.strip():
        raise BadRequest("the input is empty; it must be a JSON object")
    try:
        body = msgspec.json.decode(text)
    except RecursionError:
        raise BadRequest(_NESTING) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        body = _reread(text)
    return admit(body)


def _reread(data: bytes) -> Json:
    """The same bytes by the standard library, which says where it stops; what it takes beyond JSON, `admit` names."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        says = f"byte 0x{data[error.start]:02x} is no UTF-8; the body must be JSON in UTF-8"
        raise BadRequest(f"{_position(data, error.start)}: {says}") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise BadRequest(_NESTING) from None
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode())
        what = "the JSON ends here and is not complete" if error.pos >= len(text.rstrip()) else error.msg
        raise BadRequest(f"{_position(data, at)}: {what}; the body must be one JSON object") from None
    except ValueError:
        found = _LONG_NUMBER.search(data)
        raise BadRequest(f"{_position(data, found.start() if found else 0)}: {_DIGITS}") from None


def _position(data: bytes, at: int) -> str:
    line = data.count(b"\n", 0, at) + 1
    column = len(data[data.rfind(b"\n", 0, at) + 1 : at].decode(errors="replace")) + 1
    return f"line {line}, column {column} (byte {at:,})"


def _node(node: Json, depth: int, walk: _Walk) -> Json:
    """A node as plain JSON, the same object if it is plain."""
    kind = type(node)
    if kind is str:
        _text(node, walk)
        return node
    if kind is dict or kind is list:
        return _container(node, depth, walk)
    if kind in _PLAIN:
        return node
    if kind is int or kind is float:
        _number(node, walk)
        return node
    return _foreign(node, depth, walk)


def _container(node: Json, depth: int, walk: _Walk) -> Json:
    known = walk.known.get(id(node))
    if known is not None and depth <= known[0]:
        walk.take(*known[1:])
        return node
    values, characters = walk.values, walk.characters
    _enter(node, depth, walk)
    out = _object(node, depth + 1, walk) if type(node) is dict else _list(node, depth + 1, walk)
    walk.path.discard(id(node))
    walk.take(len(node), 0)
    if out is node and walk.values < MAX_VALUES - _UNREMEMBERED:
        walk.known[id(node)] = depth, values - walk.values, characters - walk.characters
    return out


def _enter(node: object, depth: int, walk: _Walk) -> None:
    if depth >= MAX_DEPTH:
        raise _Refused(_NESTING)
    if id(node) in walk.path:
        raise _Refused("this holds itself; a request has no cycles, copy what belongs here")
    walk.path.add(id(node))


def _object(node: dict[object, Json], depth: int, walk: _Walk) -> JsonObject:
    fresh: dict[object, Json] | None = None
    for key, value in node.items():
        if type(key) is not str:
            return _object(_keyed(node), depth, walk)
        try:
            if key.isascii():
                walk.characters -= len(key)
            else:
                _text(key, walk)
            if type(value) is str and value.isascii():
                walk.characters -= len(value)
                continue
            new = _node(value, depth, walk)
        except _Refused as refused:
            refused.steps.append(key if key.isprintable() and len(key) <= _LONG_STEP else _short(key))
            raise
        if new is not value:
            fresh = dict(node) if fresh is None else fresh
            fresh[key] = new
    return node if fresh is None else fresh  # type: ignore[return-value]


def _keyed(node: dict[object, Json]) -> dict[object, Json]:
    """The same object with plain strings for keys that are strings of a class of their own."""
    out: dict[object, Json] = {}
    for key, value in node.items():
        if not isinstance(key, str):
            refused = _Refused(f"the key {_short(key)} is {_kind(key)}; keys are strings")
            refused.steps.append(_short(key))
            raise refused
        out[str.__str__(key.value if isinstance(key, Enum) else key)] = value
    return out


def _list(node: list[Json], depth: int, walk: _Walk) -> list[Json]:
    fresh: list[Json] | None = None
    for index, value in enumerate(node):
        try:
            new = _node(value, depth, walk)
        except _Refused as refused:
            refused.steps.append(index)
            raise
        if new is not value:
            fresh = list(node) if fresh is None else fresh
            fresh[index] = new
    return node if fresh is None else fresh


def _text(text: str, walk: _Walk) -> None:
    walk.characters -= len(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Refused(_SURROGATE) from None


def _number(number: float, walk: _Walk) -> None:
    if isinstance(number, int):
        if number.bit_length() > _MAX_BITS:
            raise _Refused(_DIGITS)
        walk.characters -= number.bit_length() // 4
    elif not math.isfinite(number):
        raise _Refused(f"this number is {number}; JSON has only finite ones, leave the field out")


def _foreign(node: object, depth: int, walk: _Walk) -> Json:
    """A value that is no plain JSON: what it stands for, checked in its turn."""
    _enter(node, depth, walk)
    for kinds, convert in _CONVERSIONS:
        if isinstance(node, kinds):
            out = _node(convert(node), depth, walk)
            break
    else:
        out = _node(_dumped(node), depth, walk)
    walk.path.discard(id(node))
    return out


_CONVERSIONS: Final[tuple[tuple[type | tuple[type, ...], Callable[[Json], Json]], ...]] = (
    (Enum, lambda node: node.value),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    ((bytes, bytearray, memoryview), lambda node: base64.b64encode(node).decode()),
    (dict, dict),
    (Mapping, dict),
    ((tuple, list), list),
)
"""What stands for JSON without being it, first match first."""


_DUMPS: Final = (dict, Mapping, list, tuple, str, int, float, NoneType)
"""What dumping an object may give. One that gives a further object to be dumped may go on for ever (a mock does)."""


def _dumped(node: object) -> Json:
    """The JSON of an SDK's object, with the fields that the SDK itself would send back: those that were set."""
    out: Json = node
    if not isinstance(node, type):
        dump = getattr(node, "model_dump", None)
        if callable(dump):
            out = _model(node, dump)
        else:
            dump = getattr(node, "to_dict", None)
            out = _called(node, dump) if callable(dump) else node
    if not isinstance(out, _DUMPS):
        raise _Refused(f"this is {_kind(node)}, which is no JSON; pass its fields as a dict")
    return out


def _model(node: object, dump: Callable[..., Json]) -> Json:
    """The official SDKs dump with `exclude_unset` and without the fields they mark as not for the API (anthropic 2.14)."""
    unsent = getattr(type(node), "__api_exclude__", None)
    try:
        return dump(mode="json", by_alias=True, exclude_unset=True, exclude=unsent)
    except (TypeError, ValueError):
        return _called(node, dump)


def _called(node: object, dump: Callable[[], Json]) -> Json:
    try:
        return dump()
    except Exception as error:  # noqa: BLE001 - foreign code
        raise _Refused(
            f"{_kind(node)} could not be turned into JSON ({type(error).__name__}); pass its fields as a dict"
        ) from None


def _kind(node: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if node is None else names.get(type(node), f"an object of the class {type(node).__name__}")


def _short(key: object) -> str:
    text = ascii(key) if isinstance(key, (str, int, float, bool, bytes, type(None))) else f"<{type(key).__name__}>"
    return text if len(text) <= _SHORT else text[:_SHORT] + "..."
