"""One session's messages: appended in order, read by number, byte for byte what they were.

The rule: what is read is what was asked for. No method here reads the whole log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select, update

from transom import canon
from transom.errors import NoSession, StateConflict
from transom.parts import Message, walk
from transom.store.database import Database
from transom.store.names import Names
from transom.store.payloads import lift, restore
from transom.store.rows import Head, Row, chunks, decoded, facts, head_of, now, payload, place, runs
from transom.store.schema import BLOBS, CALIBRATIONS, CALLS, FOLDS, MESSAGES, PAYLOADS, SESSIONS, STATES
from transom.types import JsonObject, Place

KEPT_STATES: Final = 16
"""States that are kept, newest first, so that a fork at an earlier message finds one to go on from."""


class StoredLog:
    """A session's log in the store of one tenant. `rows_read` counts the messages that were read through it."""

    def __init__(self, database: Database, tenant: str, name: str, session: str) -> None:
        self._database, self._tenant, self._name, self._session = database, tenant, name, session
        self.rows_read = 0

    def head(self) -> Head:
        """The session as it stands. Raises NoSession where it was deleted."""
        with self._database.reading() as connection:
            return self._head(connection)

    def append(  # noqa: PLR0913 - messages, and what is stored with them
        self,
        messages: Sequence[Message],
        *,
        model: str,
        api: str,
        slot: JsonObject | None = None,
        over: int = -1,
        records: Mapping[str, str] | None = None,
    ) -> Head:
        """Store messages behind the last one, and with them `slot` and calibration `records` where they are given. The session
        as it stands then.

        `over`: the version that `slot` was made from. Raises StateConflict where the session is at another one: nothing of this
        call was stored then.
        """
        with self._database.writing() as connection:
            head = self._head(connection)
            if slot is not None and head.version != over:
                raise StateConflict(f"the session {self._name!r} went on in another place; read it again and retry")
            key = self._insert(connection, head, messages, model=model, api=api)
            kinds = head.kinds.union(part.kind for message in messages for part in walk(message.parts))
            changes = {"count": head.count + len(messages), "key": key, "changed": now(), "kinds": canon.text(sorted(kinds))}
            if slot is not None:
                changes |= {"slot": canon.encode(slot), "version": over + 1}
                self._learn(connection, records or {})
            connection.execute(update(SESSIONS).where(self._here()).values(changes))
            return self._head(connection)

    def commit(self, slot: JsonObject, *, over: int, count: int | None = None, records: Mapping[str, str] | None = None) -> None:
        """Put `slot` in the place of version `over`, and calibration `records` by card with it. `count`: it holds a fit of so
        many messages, to be kept for a fork. Raises StateConflict where the session is at another version.
        """
        body = canon.encode(slot)
        with self._database.writing() as connection:
            of = and_(self._here(), SESSIONS.c.version == over)
            done = connection.execute(update(SESSIONS).where(of).values(slot=body, version=over + 1, changed=now()))
            if done.rowcount != 1:
                self._head(connection)
                raise StateConflict(f"the session {self._name!r} went on in another place; read it again and retry")
            if count is not None:
                connection.execute(insert(STATES).values(**self._own(), version=over + 1, count=count, body=body))
                old = and_(STATES.c.tenant == self._tenant, STATES.c.session == self._session)
                connection.execute(delete(STATES).where(old, STATES.c.version <= over + 1 - KEPT_STATES))
            self._learn(connection, records or {})

    def _learn(self, connection: Connection, records: Mapping[str, str]) -> None:
        where = and_(CALIBRATIONS.c.tenant == self._tenant, CALIBRATIONS.c.session == self._session)
        for card, record in records.items():
            connection.execute(delete(CALIBRATIONS).where(where, CALIBRATIONS.c.card == card))
            connection.execute(insert(CALIBRATIONS).values(**self._own(), card=card, record=record))

    def calibration(self, card: str) -> str:
        """The record of what was learned under a card; "" where there is none."""
        table = CALIBRATIONS
        where = and_(table.c.tenant == self._tenant, table.c.session == self._session, table.c.card == card)
        with self._database.reading() as connection:
            return connection.execute(select(table.c.record).where(where)).scalar() or ""

    def fold(self, key: str, body: JsonObject) -> None:
        """Keep a summary that was made. One of the same key is replaced."""
        with self._database.writing() as connection:
            where = and_(FOLDS.c.tenant == self._tenant, FOLDS.c.session == self._session)
            connection.execute(delete(FOLDS).where(where, FOLDS.c.key == key))
            connection.execute(insert(FOLDS).values(**self._own(), key=key, body=canon.encode(body)))

    def folds(self) -> tuple[JsonObject, ...]:
        """The summaries that are kept."""
        where = and_(FOLDS.c.tenant == self._tenant, FOLDS.c.session == self._session)
        with self._database.reading() as connection:
            return tuple(decoded(body) for (body,) in connection.execute(select(FOLDS.c.body).where(where)))

    def read(self, seqs: Iterable[int]) -> tuple[Row, ...]:
        """These messages, oldest first; numbers that are not stored are left out."""
        found: list[Row] = []
        with self._database.reading() as connection:
            for first, last in runs(seqs):
                found += self._read(connection, first, last)
        self.rows_read += len(found)
        return tuple(found)

    def later_calls(self, seqs: Sequence[int], before: int) -> tuple[int, ...]:
        """The newest messages ahead of `before` that call with an id that one of the messages `seqs` calls with, too."""
        mine = and_(CALLS.c.tenant == self._tenant, CALLS.c.session == self._session)
        with self._database.reading() as connection:
            ids: set[str] = set()
            for chunk in chunks(seqs):
                ids.update(connection.execute(select(CALLS.c.given).where(mine, CALLS.c.seq.in_(chunk))).scalars())
            found: set[int] = set()
            for names in chunks(sorted(ids)):
                latest = select(func.max(CALLS.c.seq)).where(mine, CALLS.c.seq < before, CALLS.c.given.in_(names))
                found.update(connection.execute(latest.group_by(CALLS.c.given)).scalars())
        return tuple(sorted(found.difference(seqs)))

    def _head(self, connection: Connection) -> Head:
        row = connection.execute(select(SESSIONS).where(self._here())).mappings().first()
        if row is None:
            raise NoSession(f"the session {self._name!r} is not there any more")
        return head_of(row)

    def _here(self) -> ColumnElement[bool]:
        return and_(SESSIONS.c.tenant == self._tenant, SESSIONS.c.name == self._name, SESSIONS.c.session == self._session)

    def _own(self) -> dict[str, str]:
        return {"tenant": self._tenant, "session": self._session}

    def _insert(self, connection: Connection, head: Head, messages: Sequence[Message], *, model: str, api: str) -> bytes:
        names = Names(connection, self._tenant, self._session)
        rows: dict[str, list[dict[str, object]]] = {"messages": [], "payloads": [], "calls": []}
        blobs: dict[bytes, bytes] = {}
        key, stored = head.key, now()
        for seq, message in enumerate(messages, head.count):
            digest = canon.digest(message.json)
            key = canon.rolling(key, digest)
            body, payloads = lift(message.json)
            own = {**self._own(), "seq": seq}
            rows["messages"].append({
                **own, "body": canon.encode(body), "digest": digest, "key": key, "role": message.role, "model": model,
                "api": api, "facts": canon.text(facts(message)), "stored": stored,
            })  # fmt: skip
            for number, one in enumerate(payloads):
                digest = one.digest
                blobs[digest] = one.data
                path = canon.text(list(one.place))
                spelled = {"prefix": one.prefix, "encoding": one.encoding}
                rows["payloads"].append({**own, "number": number, "path": path, "digest": digest, **spelled})
            rows["calls"] += [{**own, **call} for call in names.of(message)]
        self._keep(connection, blobs)
        for table in (MESSAGES, PAYLOADS, CALLS):
            given = rows[table.name.removeprefix("transom_")]
            for chunk in chunks(given):
                connection.execute(insert(table), chunk)
        return key

    def _keep(self, connection: Connection, blobs: Mapping[bytes, bytes]) -> None:
        for digests in chunks(sorted(blobs)):
            of = and_(BLOBS.c.tenant == self._tenant, BLOBS.c.digest.in_(digests))
            there = set(connection.execute(select(BLOBS.c.digest).where(of)).scalars())
            for digest in digests:
                if digest not in there:
                    connection.execute(insert(BLOBS).values(tenant=self._tenant, digest=digest, data=blobs[digest]))

    def _read(self, connection: Connection, first: int, last: int) -> Iterator[Row]:
        mine = [
            and_(t.c.tenant == self._tenant, t.c.session == self._session, t.c.seq.between(first, last))
            for t in (MESSAGES, PAYLOADS, CALLS)
        ]
        held = and_(BLOBS.c.tenant == PAYLOADS.c.tenant, BLOBS.c.digest == PAYLOADS.c.digest)
        order = (PAYLOADS.c.seq, PAYLOADS.c.number)
        lifted = connection.execute(select(PAYLOADS, BLOBS.c.data).outerjoin(BLOBS, held).where(mine[1]).order_by(*order)).all()
        payloads = {seq: [payload(row) for row in rows] for seq, rows in groupby(lifted, key=lambda row: row.seq)}
        renamed = select(CALLS.c.seq, CALLS.c.path, CALLS.c.name).where(mine[2], CALLS.c.given != CALLS.c.name)
        names: dict[int, list[tuple[Place, str]]] = {}
        for seq, path, name in connection.execute(renamed.order_by(CALLS.c.seq, CALLS.c.number)):
            names.setdefault(seq, []).append((place(path), name))
        for row in connection.execute(select(MESSAGES).where(mine[0]).order_by(MESSAGES.c.seq)):
            yield Row(
                seq=row.seq,
                json=restore(decoded(row.body), payloads.get(row.seq, ())),
                digest=row.digest,
                key=row.key,
                model=row.model,
                api=row.api,
                names=tuple(names.get(row.seq, ())),
            )
