"""The notation of PDF: names, numbers, strings, references, arrays and dictionaries (ISO 32000-1, section 7.3).

The rule: an object is read in one pass over a bounded stretch, without recursion, and every token and every inflated byte is
paid for from one purse, so that no file decides how long we work.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

WINDOW: Final = 1 << 18
"""Bytes within which an object must end; the list of 20,000 pages takes as many."""
BLANK: Final = rb"\0\t\n\f\r "
_SKIP: Final = rb"[" + BLANK + rb"]*+(?:%[^\r\n]*+[" + BLANK + rb"]*+)*+"
_PLAIN: Final = rb"(?:[^()\\]++|\\.)*+"
LITERAL: Final = rb"\(" + _PLAIN + rb"(?:\(" + _PLAIN + rb"(?:\(" + _PLAIN + rb"\)" + _PLAIN + rb")*+\)" + _PLAIN + rb")*+\)"
"""A string in brackets, with brackets inside it down to the third level."""
_TOKEN: Final = re.compile(
    _SKIP
    + rb"(?:/(?P<name>[^()<>\[\]{}/%" + BLANK + rb"]*+)"
    + rb"|(?P<ref>[0-9]{1,10})[" + BLANK + rb"]++[0-9]{1,5}[" + BLANK + rb"]++R(?![A-Za-z0-9])"
    + rb"|(?P<number>[+-]?(?:[0-9]{1,18}(?:\.[0-9]*+)?|\.[0-9]++))"
    + rb"|(?P<open><<|\[)|(?P<close>>>|\])"
    + rb"|(?P<hex><[0-9A-Fa-f" + BLANK + rb"]*+>)|(?P<string>" + LITERAL + rb")"
    + rb"|(?P<word>[A-Za-z'\"*]++))",
    re.DOTALL,
)  # fmt: skip
_HEX: Final = re.compile(r"#([0-9A-Fa-f]{2})")
_ENDS: Final = frozenset({b"obj", b"endobj", b"stream", b"endstream", b"xref", b"trailer", b"startxref"})


class Ref(int):
    """A reference to an object by its number; generations are not told apart."""

    __slots__ = ()


Value: TypeAlias = "bool | float | str | bytes | Ref | list[Value] | dict[str, Value] | None"
"""An object: null, a truth value, a number, a name (str), a string (bytes), a reference, an array, a dictionary."""


class Enough(Exception):  # an answer, not an error
    """The purse is empty: what was asked for stays unknown."""


class Torn(Exception):  # an answer, not an error
    """What stands here is no object."""


class Purse:
    """What may still be spent: `steps` of work, and `room`, bytes that streams may inflate to."""

    __slots__ = ("room", "steps")

    def __init__(self, steps: int, room: int) -> None:
        """Start with so many steps and so many bytes."""
        self.steps = steps
        self.room = room

    def spend(self, steps: int) -> None:
        """Pay for work. Raises Enough."""
        self.steps -= steps
        if self.steps < 0:
            raise Enough


def parse(data: bytes | bytearray, at: int, last: int, purse: Purse) -> tuple[Value, int]:
    """The object at `at`, and where it ends, before `last`. Raises Torn where there is none, Enough if the purse is empty."""
    begun: list[list[Value]] = []
    steps = purse.steps
    try:
        while token := _TOKEN.match(data, at, last):
            at, steps = token.end(), steps - 1
            if steps < 0:
                raise Enough
            kind = token.lastgroup
            if kind == "open":
                begun.append([])
                continue
            value = _closed(begun, token["close"]) if kind == "close" else _atom(str(kind), token, inside=bool(begun))
            if not begun:
                return value, at
            begun[-1].append(value)
        steps -= (last - at) >> 6
        raise Torn
    finally:
        purse.steps = steps


def _closed(begun: list[list[Value]], mark: bytes) -> Value:
    if not begun:
        raise Torn
    items = begun.pop()
    if mark == b"]":
        return items
    return {key: value for key, value in zip(items[::2], items[1::2], strict=False) if isinstance(key, str)}


def _atom(kind: str, token: re.Match[bytes], *, inside: bool) -> Value:
    text = token[kind]
    if kind == "name":
        return name(text)
    if kind == "ref":
        return Ref(text)
    if kind == "number":
        return float(text) if b"." in text else int(text)
    if kind == "word":
        if inside and text in _ENDS:
            raise Torn
        return {b"true": True, b"false": False}.get(text)
    return text


def name(text: bytes) -> str:
    """A name as it is meant: `#20` stands for a space."""
    plain = text.decode("latin-1")
    return _HEX.sub(lambda found: chr(int(found[1], 16)), plain) if "#" in plain else plain


def whole(value: object) -> int:
    """A number that must be whole and not negative; -1 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool | Ref) and value >= 0 else -1
