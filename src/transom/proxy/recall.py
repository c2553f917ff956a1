"""Whether the conversation in a body is known, and up to where. The rule: it is known by what its messages say; how they are
spelt is remembered only so that those which were read before are not read again.

A client that keeps no session sends the whole conversation each time, and nearly always spells it as it did before. So the
messages are first told apart as slices of the body, which costs a fraction of reading them, and a beginning of the same bytes
takes the place of its messages. Of the newest ones cache marks are left out, since the next request moves them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from transom import canon
from transom.frozen import Frozen
from transom.proxy.bounded import Bounded
from transom.proxy.identity import Chain, Identity
from transom.proxy.record import Record
from transom.proxy.states import States
from transom.types import JsonObject

NEWEST: Final = 8
"""Messages behind which a known beginning of the conversation is looked for first."""
MOST: Final = 10_000
"""Beginnings whose spelling is remembered: 6 MiB when full."""
_MARK: Final = b"ache"
"""What the names of all cache marks hold."""
_MARKS: Final = re.compile(
    rb',\s*+"(?:%b)"\s*+:\s*+\{(?:\s*+"\w*+"\s*+:\s*+"\w*+"\s*+,?+)*+\s*+\}' % "|".join(canon.MARKS).encode()
)
"""A mark with the comma before it. No text can hold one: quotation marks are escaped in it. Nothing is tried twice, whatever
stands there.
"""
UNKNOWN: Final = Record()

_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_slices: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_values: Final = msgspec.json.Decoder().decode


class Caller(Frozen, frozen=True, kw_only=True):
    """Who asks: the tenant, and the session that a header may name. Both are bytes that nothing can be read from."""

    tenant: bytes
    session: bytes = b""


class Known(Frozen, frozen=True, kw_only=True):
    """A conversation: `at`, how many of its messages are known; its keys up to there (b"": none) and as it is now; what is
    remembered there. `chain` goes on behind its newest message.
    """

    unshown = ("keys", "record", "chain")

    at: int
    keys: tuple[bytes, bytes]
    record: Record
    chain: Chain


class Spelling(Frozen, frozen=True, kw_only=True):
    """A body in pieces: its fields but the messages, and the messages, as they are spelt. `keys` are those of the spelling behind
    each of the newest messages; `marked`: one of these carries a cache mark.
    """

    unshown = ("fields", "messages", "keys")

    fields: dict[str, msgspec.Raw]
    messages: list[msgspec.Raw]
    keys: tuple[bytes, ...]
    marked: bool


class Begun(Frozen, frozen=True):
    """A beginning whose messages were read: its chain, and whether one of them may carry a cache mark."""

    unshown = ("chain",)

    chain: Chain
    marked: bool


class Came(Frozen, frozen=True, kw_only=True):
    """A request of a known conversation, as far as it had to be read: the body without its messages, and the messages since,
    of which `since` is what they are known by. `marks`: how many cache marks it has.
    """

    unshown = ("around", "tail", "since")

    around: JsonObject
    tail: Sequence[JsonObject]
    since: Sequence[bytes]
    known: Known
    marks: int


class Recall:
    """Finds conversations. What it keeps itself are keys and running hashes."""

    def __init__(self, identity: Identity, states: States) -> None:
        self._identity, self._states = identity, states
        self._begun: Bounded[bytes, Begun] = Bounded(MOST)

    def known(self, caller: Caller, api: str, messages: Sequence[bytes]) -> Known:
        """What is known of a conversation. Nearly always all but the newest few messages are, so that these are asked for
        first.
        """
        found, chain, keys = self._asked(caller, api, messages, NEWEST)
        if found is None and len(messages) > NEWEST:
            found, chain, keys = self._asked(caller, api, messages, len(messages))
        if found is None:
            return Known(at=0, keys=(b"", keys[-1] if keys else b""), record=UNKNOWN, chain=chain)
        at, value = found
        before = len(messages) - len(keys) + at + 1
        return Known(at=before, keys=(keys[at], keys[-1]), record=Record.from_bytes(value), chain=chain)

    def _asked(
        self, caller: Caller, api: str, messages: Sequence[bytes], newest: int
    ) -> tuple[tuple[int, bytes] | None, Chain, tuple[bytes, ...]]:
        """The last of the keys behind the `newest` messages that is known, and what stands there; the chain, and those keys."""
        chain = self._identity.talk(caller.tenant, api=api, session=caller.session)
        keys = chain.keys(messages, newest=newest)
        return self._states.for_tenant(caller.tenant).longest(keys), chain, keys

    def spelling(self, data: bytes, caller: Caller, api: str, key: str) -> Spelling | None:
        """A body in pieces; None where it is none that could be known by its spelling. `key` is its name for the messages."""
        try:
            fields = _fields(data)
            messages = _slices(fields.pop(key, b""))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if not messages:
            return None
        newest = [bytes(message) for message in messages[-NEWEST:]]
        marked = any(_MARK in message for message in newest)
        if marked:
            newest = [_MARKS.sub(b"", message) for message in newest]
        chain = self._identity.talk(caller.tenant, api=api, session=caller.session, spelt=True)
        keys = chain.keys([b"".join(messages[:-NEWEST]), *newest])[1:]
        return Spelling(fields=fields, messages=messages, keys=keys, marked=marked)

    def came(self, data: bytes, spelling: Spelling, caller: Caller) -> Came | None:
        """A request whose beginning was spelt like this before, in a conversation that is known; None where it has to be read."""
        for back, key in enumerate(reversed(spelling.keys)):
            begun = self._begun.get(key)
            if begun is not None:
                return self._read(data, spelling, begun, back, caller)
        return None

    def remember(self, data: bytes, spelling: Spelling, chain: Chain) -> None:
        """Remember how a conversation is spelt that was read whole."""
        self._begun[spelling.keys[-1]] = Begun(chain, _MARK in data)

    def _read(self, data: bytes, spelling: Spelling, begun: Begun, back: int, caller: Caller) -> Came | None:
        """The newest `back` messages, and what is around all of them."""
        try:
            around = {name: _values(value) for name, value in spelling.fields.items()}
            tail = [_values(message) for message in spelling.messages[len(spelling.messages) - back :]]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if any(type(message) is not dict for message in tail):
            return None
        chain, plain = begun.chain.copy(), [canon.plain(message) for message in tail]
        keys = (begun.chain.key(), *chain.keys(plain))
        found = self._states.for_tenant(caller.tenant).longest(keys)
        if found is None:
            return None
        marked = begun.marked or spelling.marked
        self._begun[spelling.keys[-1]] = Begun(chain, marked)
        at, value = found
        known = Known(
            at=len(spelling.messages) - back + at, keys=(keys[at], keys[-1]), record=Record.from_bytes(value), chain=chain
        )
        marks = canon.marks(data) if marked else sum(canon.marks(bytes(value)) for value in spelling.fields.values())
        return Came(around=around, tail=tail[at:], since=plain[at:], known=known, marks=marks)
