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


class Caller(Frozen, frozen=True, kw_only=True):
    """Who asks: the tenant, and the session that a header may name. Both are bytes that nothing can be read from."""

    tenant: bytes
    session: bytes = b""


class Identity(Frozen, frozen=True):
    """The names that one server key gives."""

    secret: bytes

    def tenant(self, *, credential: bytes, named: bytes) -> bytes:
        """A tenant: the one that a trusted header named, else whoever holds this credential."""
        return self._keyed(b"named", named) if named else self._keyed(b"credential", credential)

    def talk(self, caller: Caller, *, api: str) -> bytes:
        """The key of a conversation before its first message. `canon.rolling` gives the one behind each message: a hash that is
        still under way is never kept, since it would hold the end of what it read.
        """
        return self._keyed(b"talk", caller.tenant, api.encode(), caller.session)

    def spelt(self, caller: Caller, *, api: str, older: bytes, newest: Sequence[bytes]) -> tuple[bytes, ...]:
        """The key of a spelling behind each of its newest messages. JSON objects say themselves where they end, so no two are the
        same bytes.
        """
        key = self._keyed(b"spelt", caller.tenant, api.encode(), caller.session)
        running = hashlib.blake2b(older, key=key, digest_size=SIZE)
        keys: list[bytes] = []
        for message in newest:
            running.update(message)
            keys.append(running.digest())
        return tuple(keys)

    def _keyed(self, *words: bytes) -> bytes:
        said = b"".join([len(word).to_bytes(8, "big") + word for word in words])
        # BLAKE2's own keyed mode (RFC 7693, section 2.9): a quarter of the time that an HMAC takes
        return hashlib.blake2b(said, key=self.secret, digest_size=SIZE).digest()
