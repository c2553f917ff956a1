"""A store, bound to one tenant: its sessions by name, and what happens to a session as a whole."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, insert, literal, select, true
from sqlalchemy.exc import IntegrityError

from transom import canon
from transom.errors import BadSetting, NoSession
from transom.frozen import Frozen
from transom.parts import Message
from transom.store import statements
from transom.store.database import Database
from transom.store.log import StoredLog
from transom.store.rows import Head, chunks, decoded, head_of, now
from transom.store.schema import BLOBS, CALIBRATIONS, CALLS, MESSAGES, NAME, OWNED, PAYLOADS, SESSIONS, STATES
from transom.types import Json, JsonObject

MADE: Final = ("first", "last", "level", "text", "key")
"""What a summary says of itself; all else is of the state that it stands in."""
OTHER_FORM = "the session {name!r} holds messages of {api}, not of {other}; open it as {api}"
HOLDS = "{name!r} already holds {count:,} messages; say that these go behind them, or give another name"
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
        checked(tenant, "a tenant's name", least=0)
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
        head = self.find(checked(name, least=0))
        if head is None:
            raise NoSession(f"there is no session {name!r}; `transom sessions list` names those that are there")
        return self._log(head), head

    def make(self, name: str, *, api: str, model: str) -> tuple[StoredLog, Head]:
        """A session, made if there is none of this name."""
        head = self.find(checked(name))
        if head is None:
            try:
                with self.database.writing() as connection:
                    self._make(connection, name, api=api, model=model)
            except IntegrityError:  # somebody else made it in the meantime
                pass
            return self.open(name)
        return self._log(head), head

    def take(self, name: str, messages: Sequence[Message], *, api: str, model: str, behind: bool) -> Head:
        """Messages behind the last one of a session, which is made if there is none of this name; all of it or nothing.

        Raises BadSetting where the session is of another form, or holds messages and these are not meant to go `behind` them.
        """
        checked(name)
        try:
            return self._take(name, messages, api=api, model=model, behind=behind)
        except IntegrityError:  # somebody else made it in the meantime
            return self._take(name, messages, api=api, model=model, behind=behind)

    def _take(self, name: str, messages: Sequence[Message], *, api: str, model: str, behind: bool) -> Head:
        with self.database.writing() as connection:
            head = self._find(connection, name, lock=True)
            if head is None:
                self._make(connection, name, api=api, model=model)
                head = self._there(connection, name)
            if head.api != api:
                raise BadSetting(OTHER_FORM.format(name=name, api=head.api, other=api))
            if head.count and not behind:
                raise BadSetting(HOLDS.format(name=name, count=head.count))
            return self._log(head).add(connection, head, messages, model=model, api=api)

    def fork(self, name: str, into: str, *, count: int | None = None) -> None:
        """A copy of a session's first `count` messages (all of them) under another name, with the newest state that was made
        on no more than these, what of them was left out by hand, the summaries of them that are kept, and what was learned.
        Payloads are shared. Raises NoSession, and BadSetting for a name that is taken or none, or a count out of range.
        """
        checked(name, least=0)
        checked(into, "the fork's name")
        if count is not None and not is_whole(count):
            raise BadSetting(f"a fork at {count!r}: it must be the number of messages that it takes")
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
        _copy(connection, CALIBRATIONS, _of(CALIBRATIONS, self.tenant, head.session), true(), session)
        slot = self._settle(connection, head, session, upto)
        self._keep_summaries(connection, head, session, upto, slot)

    def delete(self, name: str) -> None:
        """Take a session away, and every payload that no other session of the tenant holds. Raises NoSession."""
        with self.database.writing() as connection:
            head = self._find(connection, checked(name, least=0), lock=True)
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

    def _there(self, connection: Connection, name: str) -> Head:
        return head_of(connection.execute(statements.FIND, {"of_tenant": self.tenant, "of_name": name}).mappings().one())

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

    def _settle(self, connection: Connection, head: Head, session: str, upto: int) -> JsonObject:
        """Give a fork its count and key, and the newest state that fits, which is the answer."""
        last = _of(MESSAGES, self.tenant, head.session), MESSAGES.c.seq == upto - 1
        key = connection.execute(select(MESSAGES.c.key).where(*last)).scalar() or b""
        fitting = select(STATES.c.body).where(_of(STATES, self.tenant, head.session), STATES.c.count <= upto)
        body = connection.execute(fitting.order_by(STATES.c.version.desc()).limit(1)).scalar()
        slot: JsonObject = head.slot if upto == head.count else decoded(body) if body is not None else {}
        left_out = [key for key in _left_out(head.slot) if key[0] < upto]
        slot = {**slot, "left_out": left_out} if slot or left_out else {}
        values = {"count": upto, "key": key, "kinds": canon.text(sorted(head.kinds)), "slot": canon.encode(slot)}
        here = and_(SESSIONS.c.tenant == self.tenant, SESSIONS.c.session == session)
        connection.execute(SESSIONS.update().where(here).values(values))
        return slot

    def _keep_summaries(self, connection: Connection, head: Head, session: str, upto: int, slot: JsonObject) -> None:
        """Give a fork the summaries that were made of its messages, whether they wait for their place or have it: the state that
        it goes on from, `slot`, may be older than that. What that state holds is there already.
        """
        mine = {"of_tenant": self.tenant, "of_session": head.session}
        held = {fold.get("key") for fold in _standing(slot)}
        made = [*_standing(head.slot), *(decoded(body) for (body,) in connection.execute(statements.SUMMARIES, mine))]
        for key, fold in {str(fold.get("key")): fold for fold in made if fold.get("key") not in held}.items():
            last = fold.get("last")
            if isinstance(last, int) and last < upto:
                own = {"tenant": self.tenant, "session": session, "key": key, "body": canon.encode(fold)}
                connection.execute(statements.INSERTS["folds"], own)

    def _sweep(self, connection: Connection, digests: Sequence[bytes]) -> None:
        """Take away those of these payloads that nothing of the tenant holds any more.

        They are locked first: who is about to hold one then has either committed, or finds it gone and stores it again.
        """
        held = exists().where(PAYLOADS.c.tenant == self.tenant, PAYLOADS.c.digest == BLOBS.c.digest)
        for chunk in chunks(digests):
            connection.execute(statements.THERE, {"of_tenant": self.tenant, "digests": chunk})
            connection.execute(delete(BLOBS).where(BLOBS.c.tenant == self.tenant, BLOBS.c.digest.in_(chunk), ~held))


def checked(name: object, what: str = "a session's name", *, least: int = 1) -> str:
    """A name as the store takes it. Raises BadSetting for what is no text of `least` to 255 characters."""
    if not isinstance(name, str):
        raise BadSetting(f"{what} is {name!r}; it must be a text of at most {NAME} characters")
    if not least <= len(name) <= NAME:
        raise BadSetting(f"{what} has {len(name)} characters; it has between {least} and {NAME}")
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise BadSetting(f"{what} is {name!r}, which holds half a surrogate pair; decode it with errors='replace'")
    return name


def is_whole(value: object) -> bool:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _standing(slot: JsonObject) -> list[JsonObject]:
    """The summaries in a stored state, as they were when they were made; none where it cannot be read."""
    state = slot.get("state")
    found = [*state.get("folds", ()), *state.get("ready", ())] if isinstance(state, dict) else []
    return [{name: fold[name] for name in MADE if name in fold} for fold in found if isinstance(fold, dict)]


def _left_out(slot: JsonObject) -> list[Json]:
    """What a stored state says was left out by hand; nothing where it cannot be read."""
    found = slot.get("left_out")
    return [key for key in found if isinstance(key, list) and key and isinstance(key[0], int)] if isinstance(found, list) else []


def _of(table: Table, tenant: str, session: str) -> ColumnElement[bool]:
    return and_(table.c.tenant == tenant, table.c.session == session)


def _copy(connection: Connection, table: Table, own: ColumnElement[bool], upto: ColumnElement[bool], session: str) -> None:
    columns = [literal(session).label("session") if one.name == "session" else one for one in table.c]
    connection.execute(insert(table).from_select([one.name for one in table.c], select(*columns).where(own, upto)))
