"""Who speaks, and which conversation it is: digests under a key that only this server has.

The rule: a conversation is known by what its messages are, not by a name; system, tools and model are no part of it.
Everything is under the tenant's key, so that two tenants with the same conversation share nothing, and no digest tells what
was digested.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Final

from transom.frozen import Frozen

SIZE: Final = 16
SECRET: Final = 32


def fresh() -> bytes:
    """A new server key."""
    return secrets.token_bytes(SECRET)


class Chain:
    """A conversation as far as it was read: `K0 = keyed(tenant, api, session)`, and Ki one running hash under it, read after
    message i. JSON objects say themselves where they end, so no two conversations are the same bytes.
    """

    __slots__ = ("_running",)

    def __init__(self, running: hashlib.blake2b) -> None:
        self._running = running

    def keys(self, messages: Sequence[bytes], *, newest: int | None = None) -> tuple[bytes, ...]:
        """The key after each of these messages, or after each of the `newest`. They belong to the chain from now on."""
        if newest is not None and len(messages) > newest:
            self._running.update(b"".join(messages[:-newest]))
            messages = messages[-newest:]
        update, read = self._running.update, self._running.digest  # looked up once: this runs for each message of each request
        keys: list[bytes] = []
        for message in messages:
            update(message)
            keys.append(read())
        return tuple(keys)

    def key(self) -> bytes:
        """The key after what was read so far."""
        return self._running.digest()

    def copy(self) -> Chain:
        """The same conversation, to be read on in another way."""
        return Chain(self._running.copy())


class Identity(Frozen, frozen=True):
    """The names that one server key gives."""

    secret: bytes

    def tenant(self, *, credential: bytes, named: bytes) -> bytes:
        """A tenant: the one that a trusted header named, else whoever holds this credential."""
        return self._keyed(b"named", named) if named else self._keyed(b"credential", credential)

    def talk(self, tenant: bytes, *, api: str, session: bytes, spelt: bool = False) -> Chain:
        """A conversation before its first message. `spelt`: known by how its messages are spelt, which is another one."""
        kind = b"spelt" if spelt else b"talk"
        return Chain(hashlib.blake2b(key=self._keyed(kind, tenant, api.encode(), session), digest_size=SIZE))

    def _keyed(self, *words: bytes) -> bytes:
        said = b"".join([len(word).to_bytes(8, "big") + word for word in words])
        # BLAKE2's own keyed mode (RFC 7693, section 2.9): a quarter of the time that an HMAC takes
        return hashlib.blake2b(said, key=self.secret, digest_size=SIZE).digest()
