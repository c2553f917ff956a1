"""Payloads: long strings of base64 are taken out of a message's JSON by their place, and put back exactly.

The rule: what comes back is the same text. A payload is kept as its bytes only where spelling these again gives that text;
else the text is kept. Nothing marks the place inside the JSON, so no message can be taken for one that was lifted.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from transom import edit
from transom.errors import StoreError
from transom.frozen import Frozen
from transom.types import Json, JsonObject, Place

Encoding: TypeAlias = Literal["base64", "text"]

LEAST: Final = 1_024
"""Characters below which a string stays where it is: a row of its own costs more."""
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_SPELLED: Final = re.compile(r"[A-Za-z0-9+/_=\r\n-]+")
"""Base64 in other spellings: with line ends, with the letters of URLs."""


class Payload(Frozen, frozen=True, kw_only=True):
    """A string that was lifted: its place, what stands in front of it there, and its bytes."""

    unshown = ("data",)

    place: Place
    prefix: str
    encoding: Encoding
    data: bytes

    @property
    def digest(self) -> bytes:
        """What its bytes are known by: SHA-256."""
        return hashlib.sha256(self.data).digest()

    def text(self) -> str:
        """The string as it was."""
        if self.encoding == "text":
            return self.prefix + self.data.decode()
        return self.prefix + binascii.b2a_base64(self.data, newline=False).decode()


def lift(message: JsonObject) -> tuple[JsonObject, tuple[Payload, ...]]:
    """A message with its payloads emptied, and the payloads; the same object where it has none."""
    found = tuple(_found(message, ()))
    return (edit.replace(message, {one.place: "" for one in found}) if found else message), found


def restore(message: JsonObject, payloads: Sequence[Payload]) -> JsonObject:
    """Put payloads back into a message that was just decoded; it is changed in place. Raises StoreError where one has no
    place.
    """
    for one in payloads:
        node: Json = message
        if edit.look(message, one.place) != "":
            raise StoreError(f"a stored message has no place {list(one.place)!r} for its payload; restore a copy of the store")
        for step in one.place[:-1]:
            node = node[step]
        node[one.place[-1]] = one.text()
    return message


def _found(node: Json, place: Place) -> Iterator[Payload]:
    if isinstance(node, str):
        if len(node) >= LEAST:
            yield from _payload(node, place)
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, str | dict | list):
                yield from _found(value, (*place, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            if isinstance(value, str | dict | list):
                yield from _found(value, (*place, index))


def _payload(text: str, place: Place) -> Iterator[Payload]:
    head, comma, _ = text.partition(",") if text[:5].lower() == "data:" else ("", "", "")
    rest = text[len(head) + len(comma) :]
    if _BASE64.fullmatch(rest):
        data = _decoded(rest)
        if data is not None:
            yield Payload(place=place, prefix=head + comma, encoding="base64", data=data)
            return
    if comma or _SPELLED.fullmatch(rest):
        yield Payload(place=place, prefix=head + comma, encoding="text", data=rest.encode())


def _decoded(text: str) -> bytes | None:
    """The bytes, where spelling them again gives the same text."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except binascii.Error:
        return None
    return data if binascii.b2a_base64(data, newline=False).decode() == text else None
