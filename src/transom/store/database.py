"""The connection to a database: transactions for reading and for writing, and every failure as a sentence.

The rule: a transaction that writes takes its lock when it begins, so that it never finds at its end that somebody was faster.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from transom.errors import BadSetting, SchemaTooNew, StoreError
from transom.store.schema import REVISIONS, VERSION_TABLE

PATIENCE: Final = 30.0
"""Seconds that a writer waits for another one."""
_STORES: Final = "give a SQLite file, as sqlite:///chat.db, or a PostgreSQL server, as postgresql+psycopg://me@host/chats"
_PACKAGES: Final = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary"}
"""Drivers by the name that they are imported by, and what is installed for them."""
_REMEDIES: Final = (
    ("disk is full", "the disk is full, and nothing of this call was stored; make room and repeat it"),
    (
        "disk i/o error",
        "the disk does not take what is written, and nothing of this call was stored; look at its space and health",
    ),
    ("malformed", "the file is damaged; restore a copy of it, or save what is readable with `sqlite3 FILE .recover`"),
    ("not a database", "the file is no database; give another one, or remove it"),
    ("locked", f"another process has been writing for more than {PATIENCE:.0f} seconds; repeat the call"),
    ("readonly", "the file may not be written; check who owns it"),
    ("unable to open", "the file cannot be opened; check that its folder is there and may be written"),
    ("connection", "the server cannot be reached; check that it runs, and its address in the URL"),
)


class _Cursor(Protocol):
    def execute(self, sql: str, /) -> object:
        """Run one statement."""

    def close(self) -> None:
        """Give it back."""


class _Raw(Protocol):
    isolation_level: str | None

    def cursor(self) -> _Cursor:
        """A cursor."""


class Database:
    """A database by its URL, with a current schema.

    Raises BadSetting for what is no URL of a database, SchemaTooNew for one that a newer version wrote, StoreError for one that
    cannot be used.
    """

    def __init__(self, url: str) -> None:
        _typed(url)
        self.url = shown(url)
        self._engine = _engine(url)
        self._reader = self._engine
        if self._engine.dialect.name == "sqlite":
            _prepare(self._engine)
        else:
            self._reader = self._engine.execution_options(isolation_level="REPEATABLE READ")  # SQLite has no other way to read
        self._writer = self._engine.execution_options(writes=True)
        try:
            self._current()
        except BaseException:
            self.close()
            raise

    def reading(self) -> AbstractContextManager[Connection]:
        """One consistent view of what is stored."""
        return self._transaction(self._reader)

    def writing(self) -> AbstractContextManager[Connection]:
        """All of what is done inside, or nothing."""
        return self._transaction(self._writer)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        with told(self.url), engine.begin() as connection:
            yield connection

    def _current(self) -> None:
        with self.reading() as connection:
            found = _revision(connection)
        if found == REVISIONS[-1]:
            return
        if found and found not in REVISIONS:
            raise SchemaTooNew(
                f"the store {self.url} has the schema {found!r}, and this version of transom knows up to {REVISIONS[-1]!r}; "
                f"update transom, or give another store"
            )
        try:
            with self.writing() as connection:
                if _revision(connection) != REVISIONS[-1]:
                    importlib.import_module("transom.store.migrate").upgrade(connection)
        except (StoreError, IntegrityError):
            with self.reading() as connection:  # a server lets two begin at once, and the other one was faster
                if _revision(connection) != REVISIONS[-1]:
                    raise


def _typed(url: object) -> None:
    if not isinstance(url, str):
        raise BadSetting(f"the store {url!r} cannot be opened: its URL must be a text; {_STORES}")


def shown(url: str) -> str:
    """A URL without its password, nor what may be one in a text that is no URL."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return re.sub(r":[^:]*@", ":***@", url)


@contextmanager
def told(url: str) -> Iterator[None]:
    """What goes wrong in the database becomes a StoreError with a remedy; a key that is there already is the caller's matter."""
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        cause = str(error.orig).lower()
        remedy = next((words for sign, words in _REMEDIES if sign in cause), "look at the database")
        raise StoreError(f"the store {url} answered {str(error.orig)!r}: {remedy}") from error


def _engine(url: str) -> Engine:
    """The engine of a URL. Raises BadSetting with what can be given instead, or with how its driver is installed."""
    remedy = _STORES
    try:
        if not make_url(url).get_dialect().is_async:
            return create_engine(url, connect_args=_arguments(url))
        reason = "its driver is one for asyncio, and a store waits for its answers"
    except NoSuchModuleError:
        reason = "no database or driver of this name is known"
    except ImportError as error:
        reason = f"its driver {error.name} is not installed"
        if error.name in _PACKAGES:
            remedy = f"install it with: pip install '{_PACKAGES[error.name]}', or {_STORES}"
    except (ArgumentError, ValueError):
        reason = "it is no URL of a database"
    raise BadSetting(f"the store {shown(url)!r} cannot be opened: {reason}; {remedy}")


def _arguments(url: str) -> dict[str, float]:
    return {"timeout": PATIENCE} if make_url(url).get_backend_name() == "sqlite" else {}


def _prepare(engine: Engine) -> None:
    """SQLite as it is safe: a log that is written ahead, each commit on the disk before it returns, transactions as they are
    begun.
    """

    @event.listens_for(engine, "connect")
    def _opened(raw: _Raw, _entry: ConnectionPoolEntry) -> None:
        raw.isolation_level = None  # the driver begins nothing by itself; `_begun` does
        cursor = raw.cursor()
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _revision(connection: Connection) -> str:
    """The revision of the schema; "" where there is none yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return ""
    return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar() or "")  # noqa: S608 - a constant
