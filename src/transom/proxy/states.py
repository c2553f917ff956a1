"""Where the proxy remembers conversations: keys, digests and numbers, never content.

The rule: a shelf is bound to a tenant and offers no question without one; what is held is bounded, and where it is full,
the tenant that holds most gives way with what it used longest ago: so none can push out another that holds less. Losing a
state costs one rewrite of the prompt cache and nothing else.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Protocol

from transom.errors import BadSetting
from transom.proxy import identity

FILE_URL: Final = "sqlite:///"
"""What stands before a file's name in the URL of a SQLite database."""
MOST_BYTES: Final = 128 * 2**20
"""What the memory may hold in all."""
MOST_ROWS: Final = 500_000
ENTRY: Final = 200
"""Bytes that an entry takes beside its value."""
LOOKED_UP: Final = 200
"""Keys that are asked for at once; the longest known one is nearly always among the newest few."""
SWEPT: Final = 1_000
"""Writes between two looks at how many rows there are."""

FREED: Final = 64
"""One part of so many is freed at once where the memory is full, so that whoever holds most is seldom looked for."""

HEAVIEST: Final = "SELECT tenant, count(*) FROM states GROUP BY tenant ORDER BY 2 DESC LIMIT 1"
SWEEP: Final = """
    DELETE FROM states WHERE rowid IN (SELECT rowid FROM states WHERE tenant = ? ORDER BY used, rowid LIMIT ?)
"""


class Shelf(Protocol):
    """The conversations of one tenant."""

    def longest(self, keys: Sequence[bytes]) -> tuple[int, bytes] | None:
        """Of the keys of a conversation, oldest first, the position of the last one that is known, and its value."""

    def put(self, key: bytes, value: bytes) -> None:
        """Remember `value` under `key`."""


class States(Protocol):
    """The shelves of all tenants, and the server key that their names are made with."""

    secret: bytes

    def for_tenant(self, tenant: bytes) -> Shelf:
        """The shelf of a tenant."""

    def close(self) -> None:
        """Let go of what is open."""


class Memory:
    """States that live as long as the process."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.secret = identity.fresh()
        self.held = 0
        self._most = most
        self._shelves: dict[bytes, _Own] = {}
        self._lock = threading.Lock()

    def for_tenant(self, tenant: bytes) -> Shelf:
        """As States says."""
        return _MemoryShelf(self, tenant)

    def close(self) -> None:
        """Forget all."""
        self._shelves.clear()
        self.held = 0

    def get(self, tenant: bytes, keys: Sequence[bytes]) -> tuple[int, bytes] | None:
        """The last of a tenant's keys that is known and its value, which is then the newest used of its own."""
        with self._lock:
            shelf = self._shelves.get(tenant)
            if shelf is None:
                return None
            for at in range(len(keys) - 1, -1, -1):
                found = shelf.rows.get(keys[at])
                if found is not None:
                    shelf.rows.move_to_end(keys[at])
                    return at, found
        return None

    def set(self, tenant: bytes, key: bytes, value: bytes) -> None:
        """Remember a value, and make room beyond the bound."""
        with self._lock:
            shelf = self._shelves.get(tenant)
            if shelf is None:
                shelf = self._shelves[tenant] = _Own(tenant)
            old = shelf.rows.pop(key, None)
            shelf.rows[key] = value
            self._grow(shelf, len(value) - len(old) if old is not None else ENTRY + len(value))
            if self.held > self._most:
                self._free(self.held - self._most + self._most // FREED)

    def _free(self, size: int) -> None:
        """Free so many bytes, of whoever holds most; the newest value of all stays."""
        while size > 0 and self.held > 0:
            shelf = max(self._shelves.values(), key=lambda one: one.held)
            if len(shelf.rows) == 1 and len(self._shelves) == 1:
                return
            _, gone = shelf.rows.popitem(last=False)
            self._grow(shelf, -ENTRY - len(gone))
            size -= ENTRY + len(gone)
            if not shelf.rows:
                del self._shelves[shelf.tenant]

    def _grow(self, shelf: _Own, size: int) -> None:
        shelf.held += size
        self.held += size


class _Own:
    """What the memory holds of one tenant, the oldest used first."""

    __slots__ = ("held", "rows", "tenant")

    def __init__(self, tenant: bytes) -> None:
        self.tenant = tenant
        self.rows: OrderedDict[bytes, bytes] = OrderedDict()
        self.held = 0


class _MemoryShelf:
    __slots__ = ("_memory", "_tenant")

    def __init__(self, memory: Memory, tenant: bytes) -> None:
        self._memory, self._tenant = memory, tenant

    def longest(self, keys: Sequence[bytes]) -> tuple[int, bytes] | None:
        return self._memory.get(self._tenant, keys)

    def put(self, key: bytes, value: bytes) -> None:
        self._memory.set(self._tenant, key, value)


class Rows:
    """States in a SQLite file, which several processes may share. The file holds the server key, so only its owner may read
    it.
    """

    def __init__(self, name: str, most: int = MOST_ROWS) -> None:
        try:
            path = _file(name)
            path.touch(mode=0o600)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
            self.secret = self._opened()
        except (OSError, ValueError, sqlite3.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadSetting(f"the store {name} cannot be opened ({reason}); give another file") from error
        self._most, self._writes, self.faults = most, 0, 0
        self._lock = threading.Lock()

    def for_tenant(self, tenant: bytes) -> Shelf:
        """As States says."""
        return _RowShelf(self, tenant)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def ask(self, words: str, values: Sequence[object]) -> list[tuple[bytes, bytes]]:
        """The rows that a question has; none where the file cannot answer."""
        try:
            with self._lock, closing(self._db.execute(words, values)) as found:
                return found.fetchall()
        except sqlite3.Error:
            self.faults += 1
            return []

    def set(self, tenant: bytes, key: bytes, value: bytes) -> None:
        """Remember a value, and now and then make room beyond the bound. A file that takes nothing is no fault."""
        try:
            with self._lock:
                self._db.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", (tenant, key, int(time.time()), value))
                self._writes += 1
                if self._writes % SWEPT == 0:
                    self._sweep()
        except sqlite3.Error:
            self.faults += 1

    def _sweep(self) -> None:
        over = self._db.execute("SELECT count(*) FROM states").fetchone()[0] - self._most
        while over > 0:
            tenant, count = self._db.execute(HEAVIEST).fetchone()
            gone = min(over, max(1, count // 2))  # then another may be the one that holds most
            self._db.execute(SWEEP, (tenant, gone))
            over -= gone

    def _opened(self) -> bytes:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS server (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL)")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS states"
            " (tenant BLOB, key BLOB, used INTEGER, value BLOB NOT NULL, PRIMARY KEY (tenant, key))"
        )
        self._db.execute("CREATE INDEX IF NOT EXISTS by_use ON states (used)")
        self._db.execute("INSERT OR IGNORE INTO server VALUES (1, ?)", (identity.fresh(),))
        return bytes(self._db.execute("SELECT secret FROM server").fetchone()[0])


class _RowShelf:
    __slots__ = ("_rows", "_tenant")

    def __init__(self, rows: Rows, tenant: bytes) -> None:
        self._rows, self._tenant = rows, tenant

    def longest(self, keys: Sequence[bytes]) -> tuple[int, bytes] | None:
        for end in range(len(keys), 0, -LOOKED_UP):
            some = keys[max(0, end - LOOKED_UP) : end]
            marks = ",".join("?" * len(some))
            words = f"SELECT key, value FROM states WHERE tenant = ? AND key IN ({marks})"  # noqa: S608 - only question marks
            known = {bytes(key): bytes(value) for key, value in self._rows.ask(words, (self._tenant, *some))}
            for at in range(len(some) - 1, -1, -1):
                if some[at] in known:
                    return end - len(some) + at, known[some[at]]
        return None

    def put(self, key: bytes, value: bytes) -> None:
        self._rows.set(self._tenant, key, value)


def _file(name: str) -> Path:
    """The file that a store's name or URL means. Raises BadSetting where there can be none."""
    kind, is_url, _ = name.partition("://")
    if is_url and not (name.startswith(FILE_URL) and name != FILE_URL):
        raise BadSetting(
            f"the store is a URL that begins with {kind}://, and the proxy keeps states in a SQLite file alone; "
            f"give the file, such as --store states.db or --store {FILE_URL}states.db"
        )
    path = Path(name.removeprefix(FILE_URL))
    if path.is_dir():
        raise BadSetting(
            f"the store {name} cannot be opened: it is a folder; give the name of a file in it, such as {path / 'states.db'}"
        )
    if not path.parent.is_dir():
        raise BadSetting(f"the store {name} cannot be opened: there is no folder {path.parent}; make it, or give another file")
    return path


def opened(name: str) -> States:
    """The states that a setting names: a SQLite file, or memory."""
    return Rows(name) if name else Memory()
