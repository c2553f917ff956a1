"""One session's messages: appended in order, read by number, byte for byte what they were.

The rule: what is read is what was asked for. No method here reads the whole log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from msgspec.structs import replace
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from transom import canon
from transom.errors import NoSession, StateConflict, StoreError
from transom.frozen import Frozen
from transom.parts import Message, walk
from transom.store import statements
from transom.store.database import Database
from transom.store.names import Names
from transom.store.payloads import lift, restore
from transom.store.rows import Facts, Head, Row, chunks, decoded, facts, facts_of, head_of, now, payload, place, runs
from transom.types import JsonObject, Place

KEPT_STATES: Final = 16
"""States that are kept, newest first, so that a fork at an earlier message finds one to go on from."""


class Opening(Frozen, frozen=True, kw_only=True):
    """All that a request starts from beside messages, in one view: the session as it stands, the calibration record of a card
    ("" where there is none), and the summaries that are kept.
    """

    unshown = ("folds",)

    head: Head
    record: str
    folds: tuple[JsonObject, ...]


class StoredLog:
    """A session's log in the store of one tenant. `rows_read` counts the messages that were read through it."""

    def __init__(self, database: Database, tenant: str, name: str, session: str) -> None:
        self._database, self._name = database, name
        self._own = {"tenant": tenant, "session": session}
        self._mine = {"of_tenant": tenant, "of_session": session}
        self._here = {**self._mine, "of_name": name}
        self.rows_read = 0

    def head(self) -> Head:
        """The session as it stands. Raises NoSession where it was deleted."""
        with self._database.reading() as connection:
            return self._head(connection)

    def opening(self, card: str) -> Opening:
        """The session as it stands, and what was learned and summed up. Raises NoSession where it was deleted."""
        with self._database.reading() as connection:
            found = connection.execute(statements.SUMMARIES, self._mine)
            return Opening(
                head=self._head(connection),
                record=self._record(connection, card),
                folds=tuple(decoded(body) for (body,) in found),
            )

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
            head = self._head(connection, lock=True)
            if slot is not None and head.version != over:
                raise self._conflict()
            if slot is not None:
                self._learn(connection, records or {})
            return self.add(connection, head, messages, model=model, api=api, slot=slot)

    def add(  # noqa: PLR0913 - messages, and what is stored with them
        self,
        connection: Connection,
        head: Head,
        messages: Sequence[Message],
        *,
        model: str,
        api: str,
        slot: JsonObject | None = None,
    ) -> Head:
        """As `append`, inside of a transaction that locked the session as `head` says."""
        try:
            key = self._insert(connection, head, messages, model=model, api=api)
        except IntegrityError as error:
            there = f"holds messages behind the {head.count:,} that it says it has"
            raise StoreError(f"the session {self._name!r} {there}; restore a copy of the store") from error
        kinds = head.kinds.union(part.kind for message in messages for part in walk(message.parts))
        after = replace(head, count=head.count + len(messages), key=key, changed=now(), kinds=kinds)
        changes = {"count": after.count, "key": key, "changed": after.changed, "kinds": canon.text(sorted(kinds))}
        if slot is not None:
            after = replace(after, slot=slot, version=head.version + 1)
            changes |= {"slot": canon.encode(slot), "version": after.version}
        connection.execute(statements.GROW, {**self._here, **changes})
        return after

    def commit(
        self,
        slot: JsonObject,
        *,
        over: int,
        count: int | None = None,
        records: Mapping[str, str] | None = None,
        settled: Iterable[tuple[str, JsonObject]] = (),
    ) -> None:
        """Put `slot` in the place of version `over`, and calibration `records` by card with it. `count`: it holds a fit of so
        many messages, to be kept for a fork. `settled`: summaries, as they were kept, that the slot holds now or that were
        refused. Raises StateConflict where the session is at another version.
        """
        body, version = canon.encode(slot), over + 1
        with self._database.writing() as connection:
            changes = {"slot": body, "version": version, "changed": now()}
            if connection.execute(statements.COMMIT, {**self._here, "over": over, **changes}).rowcount != 1:
                self._head(connection)
                raise self._conflict()
            if count is not None:
                connection.execute(statements.INSERTS["states"], {**self._own, "version": version, "count": count, "body": body})
                connection.execute(statements.OLD_STATES, {**self._mine, "upto": version - KEPT_STATES})
            self._learn(connection, records or {})
            for key, one in settled:
                connection.execute(statements.SETTLE, {**self._mine, "of_key": key, "of_body": canon.encode(one)})

    def fold(self, key: str, body: JsonObject) -> None:
        """Keep a summary that was made. One of the same key is replaced."""
        with self._database.writing() as connection:
            self._head(connection, lock=True)
            connection.execute(statements.UNFOLD, {**self._mine, "of_key": key})
            connection.execute(statements.INSERTS["folds"], {**self._own, "key": key, "body": canon.encode(body)})

    def read(self, seqs: Iterable[int]) -> tuple[Row, ...]:
        """These messages, oldest first; numbers that are not stored are left out."""
        found: list[Row] = []
        with self._database.reading() as connection:
            for first, last in runs(seqs):
                found += self._read(connection, first, last)
        self.rows_read += len(found)
        return tuple(found)

    def facts(self, first: int, last: int) -> tuple[Facts, ...]:
        """What is known of the messages from number `first` to `last` without reading them, newest first."""
        with self._database.reading() as connection:
            found = connection.execute(statements.FACTS, {**self._mine, "first": first, "last": last})
            return tuple(facts_of(row.seq, row.facts) for row in found)

    def instructions(self, before: int) -> tuple[int, ...]:
        """The numbers of the messages ahead of `before` that are instructions and no one's turn."""
        with self._database.reading() as connection:
            return tuple(connection.execute(statements.INSTRUCTIONS, {**self._mine, "before": before}).scalars())

    def later_calls(self, seqs: Sequence[int], before: int) -> tuple[int, ...]:
        """The newest messages ahead of `before` that call with an id that one of the messages `seqs` calls with, too."""
        with self._database.reading() as connection:
            ids: set[str] = set()
            for chunk in chunks(seqs):
                ids.update(connection.execute(statements.GIVEN, {**self._mine, "seqs": chunk}).scalars())
            found: set[int] = set()
            for names in chunks(sorted(ids)):
                found.update(connection.execute(statements.LATER, {**self._mine, "before": before, "ids": names}).scalars())
        return tuple(sorted(found.difference(seqs)))

    def _conflict(self) -> StateConflict:
        return StateConflict(f"the session {self._name!r} went on in another place; read it again and retry")

    def _head(self, connection: Connection, *, lock: bool = False) -> Head:
        row = connection.execute(statements.LOCKED_HEAD if lock else statements.HEAD, self._here).mappings().first()
        if row is None:
            raise NoSession(f"the session {self._name!r} is not there any more")
        return head_of(row)

    def _record(self, connection: Connection, card: str) -> str:
        return connection.execute(statements.RECORD, {**self._mine, "of_card": card}).scalar() or ""

    def _learn(self, connection: Connection, records: Mapping[str, str]) -> None:
        for card, record in records.items():
            connection.execute(statements.FORGET, {**self._mine, "of_card": card})
            connection.execute(statements.INSERTS["calibrations"], {**self._own, "card": card, "record": record})

    def _insert(self, connection: Connection, head: Head, messages: Sequence[Message], *, model: str, api: str) -> bytes:
        names = Names(connection, self._mine)
        rows: dict[str, list[dict[str, object]]] = {"messages": [], "payloads": [], "calls": []}
        blobs: dict[bytes, bytes] = {}
        key, stored = head.key, now()
        for seq, message in enumerate(messages, head.count):
            digest = canon.digest(message.json)
            key = canon.rolling(key, digest)
            body, payloads = lift(message.json)
            own = {**self._own, "seq": seq}
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
        for name, given in rows.items():
            for chunk in chunks(given):
                connection.execute(statements.INSERTS[name], chunk)
        return key

    def _keep(self, connection: Connection, blobs: Mapping[bytes, bytes]) -> None:
        tenant = self._own["tenant"]
        for digests in chunks(sorted(blobs)):
            there = set(connection.execute(statements.THERE, {"of_tenant": tenant, "digests": digests}).scalars())
            for digest in digests:
                if digest not in there:
                    keep_blob(connection, {"tenant": tenant, "digest": digest, "data": blobs[digest]})

    def _read(self, connection: Connection, first: int, last: int) -> Iterator[Row]:
        span = {**self._mine, "first": first, "last": last}
        lifted = connection.execute(statements.LIFTED, span).all()
        payloads = {seq: [payload(row) for row in rows] for seq, rows in groupby(lifted, key=lambda row: row.seq)}
        names: dict[int, list[tuple[Place, str]]] = {}
        for seq, path, name in connection.execute(statements.RENAMED, span):
            names.setdefault(seq, []).append((place(path), name))
        for row in connection.execute(statements.ROWS, span):
            yield Row(
                seq=row.seq,
                json=restore(decoded(row.body), payloads.get(row.seq, ())),
                digest=row.digest,
                key=row.key,
                model=row.model,
                api=row.api,
                names=tuple(names.get(row.seq, ())),
            )


def keep_blob(connection: Connection, row: Mapping[str, object]) -> None:
    """Store a payload, unless another writer stored the same one at this moment."""
    try:
        with connection.begin_nested():
            connection.execute(statements.INSERTS["blobs"], row)
    except IntegrityError:
        connection.execute(statements.THERE, {"of_tenant": row["tenant"], "digests": [row["digest"]]})  # held until the end
