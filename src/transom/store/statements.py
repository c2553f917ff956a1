"""The statements that a session needs again and again, each built once: building one costs ten times what running it does.

The rules: every one of them names the tenant. What a row is looked for by is called `of_...`, apart from what is written into
it. What writes behind a row locks it first, so that of two writers one waits; SQLite has one writer anyway, and passes over it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Insert, Table, and_, bindparam, delete, func, insert, select, update

from transom.store.schema import BLOBS, CALIBRATIONS, CALLS, FOLDS, MESSAGES, PAYLOADS, SESSIONS, STATES


def _mine(table: Table) -> ColumnElement[bool]:
    return and_(table.c.tenant == bindparam("of_tenant"), table.c.session == bindparam("of_session"))


def _between(table: Table) -> ColumnElement[bool]:
    return and_(_mine(table), table.c.seq.between(bindparam("first"), bindparam("last")))


_NAMED: Final = and_(SESSIONS.c.tenant == bindparam("of_tenant"), SESSIONS.c.name == bindparam("of_name"))
_HERE: Final = and_(_NAMED, SESSIONS.c.session == bindparam("of_session"))

FIND: Final = select(SESSIONS).where(_NAMED)
LOCKED: Final = FIND.with_for_update()
HEAD: Final = select(SESSIONS).where(_HERE)
LOCKED_HEAD: Final = HEAD.with_for_update()
GROW: Final = update(SESSIONS).where(_HERE)
COMMIT: Final = update(SESSIONS).where(_HERE, SESSIONS.c.version == bindparam("over"))

INSERTS: Final[dict[str, Insert]] = {
    name: insert(table)
    for name, table in {
        "messages": MESSAGES, "payloads": PAYLOADS, "calls": CALLS, "blobs": BLOBS, "states": STATES,
        "calibrations": CALIBRATIONS, "folds": FOLDS,
    }.items()
}  # fmt: skip
OLD_STATES: Final = delete(STATES).where(_mine(STATES), STATES.c.version <= bindparam("upto"))

RECORD: Final = select(CALIBRATIONS.c.record).where(_mine(CALIBRATIONS), CALIBRATIONS.c.card == bindparam("of_card"))
FORGET: Final = delete(CALIBRATIONS).where(_mine(CALIBRATIONS), CALIBRATIONS.c.card == bindparam("of_card"))
SUMMARIES: Final = select(FOLDS.c.body).where(_mine(FOLDS))
UNFOLD: Final = delete(FOLDS).where(_mine(FOLDS), FOLDS.c.key == bindparam("of_key"))
SETTLE: Final = delete(FOLDS).where(_mine(FOLDS), FOLDS.c.key == bindparam("of_key"), FOLDS.c.body == bindparam("of_body"))

_HELD: Final = and_(BLOBS.c.tenant == PAYLOADS.c.tenant, BLOBS.c.digest == PAYLOADS.c.digest)
ROWS: Final = select(MESSAGES).where(_between(MESSAGES)).order_by(MESSAGES.c.seq)
LIFTED: Final = (
    select(PAYLOADS, BLOBS.c.data).outerjoin(BLOBS, _HELD).where(_between(PAYLOADS)).order_by(PAYLOADS.c.seq, PAYLOADS.c.number)
)
RENAMED: Final = (
    select(CALLS.c.seq, CALLS.c.path, CALLS.c.name)
    .where(_between(CALLS), CALLS.c.given != CALLS.c.name)
    .order_by(CALLS.c.seq, CALLS.c.number)
)
FACTS: Final = select(MESSAGES.c.seq, MESSAGES.c.facts).where(_between(MESSAGES)).order_by(MESSAGES.c.seq.desc())
INSTRUCTIONS: Final = (
    select(MESSAGES.c.seq)
    .where(_mine(MESSAGES), MESSAGES.c.seq < bindparam("before"), MESSAGES.c.role == "system")
    .order_by(MESSAGES.c.seq)
)

THERE: Final = (
    select(BLOBS.c.digest)
    .where(BLOBS.c.tenant == bindparam("of_tenant"), BLOBS.c.digest.in_(bindparam("digests", expanding=True)))
    .order_by(BLOBS.c.digest)
    .with_for_update()
)
GIVEN: Final = select(CALLS.c.given).where(_mine(CALLS), CALLS.c.seq.in_(bindparam("seqs", expanding=True)))
LATER: Final = (
    select(func.max(CALLS.c.seq))
    .where(_mine(CALLS), CALLS.c.seq < bindparam("before"), CALLS.c.given.in_(bindparam("ids", expanding=True)))
    .group_by(CALLS.c.given)
)
NAMED: Final = select(CALLS.c.seq).where(_mine(CALLS), CALLS.c.name == bindparam("of_name")).limit(1)
TIMES: Final = select(func.max(CALLS.c.times)).where(_mine(CALLS), CALLS.c.given == bindparam("of_given"))
