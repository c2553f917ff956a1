"""A store, bound to one tenant: its sessions by name, and what happens to a session as a whole."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, insert, literal, select
from sqlalchemy.exc import IntegrityError

from transom import canon
from transom.errors import BadSetting, NoSession
from transom.frozen import Frozen
from transom.store import statements
from transom.store.database import Database
from transom.store.log import StoredLog
from transom.store.rows import Head, chunks, decoded, head_of, now
from transom.store.schema import BLOBS, CALLS, MESSAGES, NAME, OWNED, PAYLOADS, SESSIONS, STATES
from transom.types import JsonObject

TAKEN = "there is a session {!r} already; give the fork another name, or delete that one"


class Summary(Frozen, frozen=True, kw_only=True):
    """A session in a list: its form and model, how many messages it holds, and when it was made and changed last (UTC)."""

    name: str
    api: str
    model: str
    count: int
    created: str
    changed: str


class Shelf:
    """The sessions of one tenant in a database. It asks for nothing without that tenant."""

    def __init__(self, database: Database, tenant: str) -> None:
        if len(tenant) > NAME:
            raise BadSetting(f"a tenant's name has {len(tenant)} characters; it may have {NAME}")
        self.database, self.tenant = database, tenant

    def sessions(self) -> tuple[Summary, ...]:
        """Every session, by name."""
        columns = [SESSIONS.c[name] for name in ("name", "api", "model", "count", "created", "changed")]
        query = select(*columns).where(SESSIONS.c.tenant == self.tenant).order_by(SESSIONS.c.name)
        with self.database.reading() as connection:
            return tuple(Summary(**row) for row in connection.execute(query).mappings())

    def find(self, name: str) -> Head | None:
        """A session as it stands; None where there is none of this name."""
        with self.database.reading() as connection:
            return self._find(connection, name)

    def open(self, name: str) -> tuple[StoredLog, Head]:
        """A session that is there. Raises NoSession where there is none of this name."""
        head = self.find(name)
        if head is None:
            raise NoSession(f"there is no session {name!r}; `transom sessions list` names those that are there")
        return self._log(head), head

    def make(self, name: str, *, api: str, model: str) -> tuple[StoredLog, Head]:
        """A session, made if there is none of this name."""
        if not 0 < len(name) <= NAME:
            raise BadSetting(f"a session's name has {len(name)} characters; it has between 1 and {NAME}")
        head = self.find(name)
        if head is None:
            try:
                with self.database.writing() as connection:
                    self._make(connection, name, api=api, model=model)
            except IntegrityError:  # somebody else made it in the meantime
                pass
            return self.open(name)
        return self._log(head), head

    def fork(self, name: str, into: str, *, count: int | None = None) -> None:
        """A copy of a session's first `count` messages (all of them) under another name, with the newest state that was made
        on no more than these. Payloads are shared. Raises NoSession, and BadSetting for a name that is taken or a count out of
        range.
        """
        try:
            with self.database.writing() as connection:
                self._fork(connection, name, into, count)
        except IntegrityError as error:  # somebody else made it in the meantime
            raise BadSetting(TAKEN.format(into)) from error

    def _fork(self, connection: Connection, name: str, into: str, count: int | None) -> None:
        head = self._find(connection, name, lock=True)
        if head is None:
            raise NoSession(f"there is no session {name!r} to fork")
        upto = head.count if count is None else count
        if not 0 <= upto <= head.count:
            raise BadSetting(f"the session {name!r} holds {head.count} messages; a fork takes from 0 to {head.count} of them")
        if self._find(connection, into) is not None:
            raise BadSetting(TAKEN.format(into))
        session = self._make(connection, into, api=head.api, model=head.model)
        for table in (MESSAGES, PAYLOADS, CALLS):
            _copy(connection, table, _of(table, self.tenant, head.session), table.c.seq < upto, session)
        self._settle(connection, head, session, upto)

    def delete(self, name: str) -> None:
        """Take a session away, and every payload that no other session of the tenant holds. Raises NoSession."""
        with self.database.writing() as connection:
            head = self._find(connection, name, lock=True)
            if head is None:
                raise NoSession(f"there is no session {name!r} to delete")
            held = select(PAYLOADS.c.digest).where(_of(PAYLOADS, self.tenant, head.session)).distinct()
            digests = list(connection.execute(held).scalars())
            for table in OWNED:
                connection.execute(delete(table).where(_of(table, self.tenant, head.session)))
            connection.execute(delete(SESSIONS).where(SESSIONS.c.tenant == self.tenant, SESSIONS.c.name == name))
            self._sweep(connection, digests)

    def _find(self, connection: Connection, name: str, *, lock: bool = False) -> Head | None:
        query = statements.LOCKED if lock else statements.FIND
        row = connection.execute(query, {"of_tenant": self.tenant, "of_name": name}).mappings().first()
        return head_of(row) if row is not None else None

    def _log(self, head: Head) -> StoredLog:
        return StoredLog(self.database, self.tenant, head.name, head.session)

    def _make(self, connection: Connection, name: str, *, api: str, model: str) -> str:
        session, made = uuid.uuid4().hex, now()
        values = {
            "tenant": self.tenant, "name": name, "session": session, "api": api, "model": model, "count": 0, "key": b"",
            "kinds": "[]", "version": 0, "slot": b"{}", "created": made, "changed": made,
        }  # fmt: skip
        connection.execute(insert(SESSIONS).values(values))
        return session

    def _settle(self, connection: Connection, head: Head, session: str, upto: int) -> None:
        """Give a fork its count and key, and the newest state that fits."""
        last = _of(MESSAGES, self.tenant, head.session), MESSAGES.c.seq == upto - 1
        key = connection.execute(select(MESSAGES.c.key).where(*last)).scalar() or b""
        fitting = select(STATES.c.body).where(_of(STATES, self.tenant, head.session), STATES.c.count <= upto)
        body = connection.execute(fitting.order_by(STATES.c.version.desc()).limit(1)).scalar()
        slot: JsonObject = head.slot if upto == head.count else decoded(body) if body is not None else {}
        values = {"count": upto, "key": key, "kinds": canon.text(sorted(head.kinds)), "slot": canon.encode(slot)}
        here = and_(SESSIONS.c.tenant == self.tenant, SESSIONS.c.session == session)
        connection.execute(SESSIONS.update().where(here).values(values))

    def _sweep(self, connection: Connection, digests: Sequence[bytes]) -> None:
        """Take away those of these payloads that nothing of the tenant holds any more.

        They are locked first: who is about to hold one then has either committed, or finds it gone and stores it again.
        """
        held = exists().where(PAYLOADS.c.tenant == self.tenant, PAYLOADS.c.digest == BLOBS.c.digest)
        for chunk in chunks(digests):
            connection.execute(statements.THERE, {"of_tenant": self.tenant, "digests": chunk})
            connection.execute(delete(BLOBS).where(BLOBS.c.tenant == self.tenant, BLOBS.c.digest.in_(chunk), ~held))


def _of(table: Table, tenant: str, session: str) -> ColumnElement[bool]:
    return and_(table.c.tenant == tenant, table.c.session == session)


def _copy(connection: Connection, table: Table, own: ColumnElement[bool], upto: ColumnElement[bool], session: str) -> None:
    columns = [literal(session).label("session") if one.name == "session" else one for one in table.c]
    connection.execute(insert(table).from_select([one.name for one in table.c], select(*columns).where(own, upto)))
