"""JSON as bytes: one spelling for sizes, digests and prefix keys. The rule: compact UTF-8, keys in the order given.

Cache marks are outside digests, so that moving one changes no key: neither the mark itself nor the single text part that a
string has to become to carry one.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from transom.types import Json, JsonObject

POINT: Final = "cachePoint"
"""The key of a cache mark that is an item of its own in a list (Bedrock)."""
MARKS: Final = ("cache_control", "prompt_cache_breakpoint", POINT)
"""The keys of cache marks: Anthropic's, OpenAI's explicit breakpoint, and Bedrock's."""

SIGN: Final = b"ache"
"""What the names of all cache marks hold: where it is missing there is none, unless its name is written with escapes."""

_encode: Final = msgspec.json.Encoder().encode
_NAMED: Final = tuple(f'"{key}"'.encode() for key in MARKS)
_MARKED: Final = tuple(name + b":" for name in _NAMED)
_BARE: Final = ("role", "content")
_DIGEST_SIZE: Final = 16


def encode(json: Json) -> bytes:
    """JSON as compact UTF-8. The value has come through the door: no NaN, no lone surrogates, no endless nesting."""
    return _encode(json)


def size(json: Json) -> int:
    """How many bytes `json` has in a body."""
    return len(_encode(json))


def text(json: Json) -> str:
    """JSON as compact text."""
    return _encode(json).decode()


def plain(message: JsonObject) -> bytes:
    """A message as bytes, without its cache marks: what it is known by."""
    content = message.get("content")
    encoded = _encode(message)
    if isinstance(content, str) and len(message) == len(_BARE) and "role" in message:
        return encoded  # nothing that a mark could stand in: this runs for every message of every request
    if SIGN in encoded and any(mark in encoded for mark in _MARKED):
        message = unmarked(message)
        content, encoded = message.get("content"), b""
    if isinstance(content, list) and len(content) == 1:
        words = _only_text(content[0])
        if words is not None:
            message = {**message, "content": words}
            encoded = b""
    return encoded or _encode(message)


def marks(spelt: bytes) -> int:
    """How many cache marks are in JSON, whatever white space it has; those whose names are written with escapes are not seen."""
    return sum(spelt.count(mark) for mark in _NAMED) if SIGN in spelt else 0


def digest(message: JsonObject) -> bytes:
    """What a message is known by, in 16 bytes."""
    return short(plain(message))


def short(encoded: bytes) -> bytes:
    """16 bytes that stand for these."""
    return hashlib.blake2b(encoded, digest_size=_DIGEST_SIZE).digest()


def rolling(previous: bytes, following: bytes) -> bytes:
    """The key of a prefix: that of all messages before, and the next one or its digest."""
    return hashlib.blake2b(following, key=previous, digest_size=_DIGEST_SIZE).digest()


def unmarked(json: Json) -> Json:
    """`json` without cache marks; the same object where there are none."""
    if isinstance(json, dict):
        out = {key: unmarked(value) for key, value in json.items() if key not in MARKS}
        return out if len(out) != len(json) or any(out[key] is not json[key] for key in out) else json
    if isinstance(json, list):
        items = [unmarked(item) for item in json if not (isinstance(item, dict) and POINT in item and len(item) == 1)]
        return items if len(items) != len(json) or any(new is not old for new, old in zip(items, json, strict=True)) else json
    return json


def _only_text(part: Json) -> str | None:
    """The words of a part that is text and nothing else."""
    if isinstance(part, dict) and len(part) == len(("type", "text")) and part.get("type") == "text":
        words = part.get("text")
        return words if isinstance(words, str) else None
    return None
