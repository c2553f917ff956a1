"""Whether the conversation in a body is known, and up to where. The rule: it is known by what its messages say; how they are
spelt is remembered only so that those which were read before are not read again.

A client that keeps no session sends the whole conversation each time, and nearly always spells it as it did before. So the
messages are first told apart as slices of the body, which costs a fraction of reading them, and a beginning of the same bytes
takes the place of its messages. Of the newest ones cache marks are left out, since the next request moves them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import msgspec

from transom import canon
from transom.frozen import Frozen
from transom.proxy.bounded import Bounded
from transom.proxy.identity import Caller, Identity
from transom.proxy.record import UNKNOWN, Record
from transom.proxy.states import Shelf, States
from transom.types import JsonObject

NEWEST: Final = 8
"""Messages behind which a known beginning of the conversation is looked for first: nearly always all but these are known."""
SPELT: Final = 8
"""Messages behind which a beginning that is spelt as before is looked for; cache marks are looked past in these alone."""
TURNED: Final = 4
"""Newest messages that the next request may spell in another way: some clients write a text that carries a mark as a list of
parts, and as a string again when the mark has moved on.
"""
LARGEST: Final = 256 * 1_024
"""Bytes of a body above which it is read at once: most of that size hold pictures or files, which are read anyway."""
MOST: Final = 10_000
"""Beginnings whose spelling is remembered: 1.2 MiB when full."""
_MARKS: Final = re.compile(
    rb',\s*+"(?:%b)"\s*+:\s*+\{(?:\s*+"\w*+"\s*+:\s*+"\w*+"\s*+,?+)*+\s*+\}'
    % "|".join(key for key in canon.MARKS if key != canon.POINT).encode()
)
"""A mark with the comma before it. No text can hold one: quotation marks are escaped in it. Nothing is tried twice, whatever
stands there.
"""

_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_slices: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_values: Final = msgspec.json.Decoder().decode


class Known(Frozen, frozen=True, kw_only=True):
    """A conversation: `at`, how many of its messages are known; its keys up to there (b"": none) and as it is now; what is
    remembered there.
    """

    unshown = ("keys", "record")

    at: int
    keys: tuple[bytes, bytes]
    record: Record


class Spelling(Frozen, frozen=True, kw_only=True):
    """A body in pieces: its fields but the messages, and the messages, as they are spelt. `keys` are those of the spelling behind
    each of the newest messages; `marked`: a cache mark may stand in one of these, or around the messages.
    """

    unshown = ("data", "fields", "messages", "keys")

    data: bytes
    fields: dict[str, msgspec.Raw]
    messages: list[msgspec.Raw]
    keys: tuple[bytes, ...]
    marked: bool


class Came(Frozen, frozen=True, kw_only=True):
    """A request of a known conversation, as far as it had to be read: the body without its messages, and the messages since,
    of which `since` is what they are known by. `marks`: how many cache marks the body has; 0 where none can have come since.
    """

    unshown = ("around", "tail", "since")

    around: JsonObject
    tail: Sequence[JsonObject]
    since: Sequence[bytes]
    known: Known
    marks: int


class Recall:
    """Finds conversations. What it keeps itself are keys."""

    def __init__(self, identity: Identity, states: States) -> None:
        self._identity, self._states = identity, states
        self._begun: Bounded[bytes, bytes] = Bounded(MOST)  # the key of a spelling: the conversation's

    def known(self, caller: Caller, api: str, messages: Sequence[bytes], spelling: Spelling | None = None) -> Known:
        """What is known of a conversation whose messages were all read; with its spelling, that is remembered."""
        keys = tuple(accumulate(messages, canon.rolling, initial=self._identity.talk(caller, api=api)))
        if spelling is not None:
            self._remember(spelling, keys)
        shelf, last = self._states.for_tenant(caller.tenant), keys[-1] if messages else b""
        for first in (max(1, len(keys) - NEWEST), 1):
            found = shelf.longest(keys[first:])
            if found is not None:
                at, value = found
                return Known(at=first + at, keys=(keys[first + at], last), record=Record.from_bytes(value))
            if first == 1:
                break
        return Known(at=0, keys=(b"", last), record=UNKNOWN)

    def spelling(self, data: bytes, caller: Caller, api: str, key: str) -> Spelling | None:
        """A body in pieces; None where it is none that could be known by its spelling. `key` is its name for the messages."""
        try:
            if len(data) > LARGEST or not (data.isascii() or data.decode()):
                return None
            fields = _fields(data)
            messages = _slices(fields.pop(key, b""))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        newest: list[bytes] = [*messages[-SPELT:]]
        marked = canon.SIGN in b"".join([*newest, *fields.values(), *map(str.encode, fields)])
        if marked:
            newest = [_unmarked(bytes(message)) for message in newest]
        keys = self._identity.spelt(caller, api=api, older=b"".join(messages[:-SPELT]), newest=newest)
        return Spelling(data=data, fields=fields, messages=messages, keys=keys, marked=marked)

    def came(self, spelling: Spelling, caller: Caller) -> Came | None:
        """A request whose beginning was spelt like this before, in a conversation that is known; None where it has to be read."""
        shelf = self._states.for_tenant(caller.tenant)
        for back, key in enumerate(reversed(spelling.keys)):
            begun = self._begun.get(key)
            found = self._since(spelling, begun, back, shelf) if begun is not None else None
            if found is not None:
                return found
        return None

    def _since(self, spelling: Spelling, begun: bytes, back: int, shelf: Shelf) -> Came | None:
        """The newest `back` messages are read, and what is around all of them; None where none up to there are known."""
        count = len(spelling.messages)
        try:
            around = {name: _values(value) for name, value in spelling.fields.items()}
            tail = [_values(message) for message in spelling.messages[count - back :]]
        except (msgspec.DecodeError, RecursionError):
            return None
        if any(type(message) is not dict for message in tail):
            return None
        plain = list(map(canon.plain, tail))
        keys = tuple(accumulate(plain, canon.rolling, initial=begun))
        found = shelf.longest(keys)
        if found is None:
            return None
        at, value = found
        self._remember(spelling, keys)
        known = Known(at=count - back + at, keys=(keys[at], keys[-1]), record=Record.from_bytes(value))
        marks = canon.marks(spelling.data) if spelling.marked else 0
        return Came(around=around, tail=tail[at:], since=plain[at:], known=known, marks=marks)

    def _remember(self, spelling: Spelling, keys: Sequence[bytes]) -> None:
        """Remember how the whole is spelt, and all but what the next request may spell in another way. `keys`: the
        conversation's, behind each of its newest messages.
        """
        for behind in (1, 1 + TURNED):
            if behind <= min(len(keys), len(spelling.keys)):
                self._begun[spelling.keys[-behind]] = keys[-behind]


def _unmarked(message: bytes) -> bytes:
    """A message as it would be spelt without its marks; one with a mark that is an item of its own stays as it is."""
    return message if canon.POINT.encode() in message else _MARKS.sub(b"", message)
