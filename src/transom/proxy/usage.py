"""Usage, read from answers as they pass. The rule: a chunk is looked at and never held back, and what is kept of it is bounded.

A stream's usage comes in pieces (Anthropic: input first, output last) or with every event (Gemini): the newest figure of
each name holds.
"""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec

from transom.errors import BadRequest
from transom.proxy.coding import Decoder, decoder
from transom.types import Json, JsonObject
from transom.wire.form import Form, Usage

LONGEST: Final = 2 * 2**20
"""Bytes of one event, or of a whole answer that is no stream, that are kept to be parsed; of a longer one the end is searched."""
TAIL: Final = 65_536
MOST: Final = 256 * 2**20
"""Bytes of an answer that are decoded for its usage; what comes after is only passed on."""
KEYS: Final = ("usage", "usageMetadata")
_SIGNS: Final = tuple(f'"{key}"'.encode() for key in KEYS)
_PARSER: Final = json.JSONDecoder()


class Reader:
    """Reads the usage of one answer. Feed it every chunk as it is passed on; `usage` says what it found."""

    def __init__(self, form: Form, *, kind: bytes, coding: bytes) -> None:
        self._form = form
        self._lines = kind.startswith((b"text/event-stream", b"application/x-ndjson"))
        self._decoder: Decoder | None = decoder(coding) if coding else None
        self._blind = bool(coding) and self._decoder is None
        self._left = MOST
        self._kept = bytearray()
        self._found: JsonObject = {}

    def feed(self, chunk: bytes) -> None:
        """Look at a chunk."""
        if self._blind:
            return
        if self._decoder is not None:
            try:
                chunk = self._decoder.feed(chunk, self._left)
            except BadRequest:
                self._blind = True
                return
        self._left -= len(chunk)
        if self._lines:
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                self._keep(line)
                self._take()
            self._keep(rest)
        else:
            self._keep(chunk)

    def usage(self) -> Usage | None:
        """The usage of the answer as far as it came; None where it told none."""
        self._take()
        return self._form.usage(self._found) if self._found else None

    def _keep(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > LONGEST:
            del self._kept[:-TAIL]

    def _take(self) -> None:
        """Read the line, or the whole answer, that is kept."""
        data = bytes(self._kept)
        self._kept.clear()
        if any(sign in data for sign in _SIGNS):
            for key, value in _usages(data):
                old = self._found.get(key)
                self._found[key] = {**old, **value} if isinstance(old, dict) else value


def _usages(data: bytes) -> list[tuple[str, JsonObject]]:
    """The usage objects in a line or an answer."""
    text = data.strip().removeprefix(b"data:").strip()
    try:
        parsed: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return [found for key in KEYS if (found := _searched(data, key)) is not None]
    events = parsed if isinstance(parsed, list) else [parsed]
    return [
        (key, place[key])
        for event in events
        if isinstance(event, dict)
        for place in (event, event.get("message"), event.get("response"))
        if isinstance(place, dict)
        for key in KEYS
        if isinstance(place.get(key), dict)
    ]


def _searched(data: bytes, key: str) -> tuple[str, JsonObject] | None:
    """The last object under `key` in JSON that is not whole."""
    text = data.decode("utf-8", "replace")
    opens = [found.end() - 1 for found in re.finditer(rf'"{key}"\s*:\s*\{{', text)]
    if not opens:
        return None
    try:
        found, _ = _PARSER.raw_decode(text, opens[-1])
    except (ValueError, RecursionError):
        return None
    return (key, found) if isinstance(found, dict) else None
