"""The tables. The rule: the tenant is the first column of every key, and nothing here is special to one database."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, String, Table, Text

METADATA: Final = MetaData()
VERSION_TABLE: Final = "transom_version"
REVISIONS: Final = ("0001",)
"""Every revision of the schema that this code can read, oldest first; the last is the one it writes."""

NAME: Final = 255
"""Characters of a tenant or of a session's name."""
_ID: Final = 32


def _table(name: str, *columns: Column[str] | Column[int] | Column[bytes] | Column[float]) -> Table:
    tenant = Column("tenant", String(NAME), primary_key=True)
    return Table(f"transom_{name}", METADATA, tenant, *columns)


def _session() -> Column[str]:
    return Column("session", String(_ID), primary_key=True)


def _number(name: str, *, key: bool = False) -> Column[int]:
    return Column(name, Integer, primary_key=key, nullable=False, autoincrement=False)


def _words(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _bytes(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)


SESSIONS: Final = _table(
    "sessions",
    Column("name", String(NAME), primary_key=True),
    Column("session", String(_ID), nullable=False),
    _words("api"),
    _words("model"),
    _number("count"),  # how many messages are stored
    _bytes("key"),  # the rolling key over them
    _words("kinds"),  # JSON: the kinds of parts that its messages hold
    _number("version"),  # of the state; the next one is committed only over this one
    _bytes("slot"),  # what the session must know to go on, as JSON
    _words("created"),
    _words("changed"),
)
MESSAGES: Final = _table(
    "messages",
    _session(),
    _number("seq", key=True),
    _bytes("body"),  # the JSON with each payload emptied
    _bytes("digest"),
    _bytes("key"),
    _words("role"),
    _words("model"),  # who wrote it, and in which form
    _words("api"),
    _words("facts"),  # JSON: what costs something to find out and does not depend on a model
    _words("stored"),
)
PAYLOADS: Final = _table(
    "payloads",
    _session(),
    _number("seq", key=True),
    _number("number", key=True),
    _words("path"),  # JSON: where in the message the string stands
    _bytes("digest"),
    _words("prefix"),  # what stands in front of the payload in its string
    _words("encoding"),  # how its bytes are spelled: "base64" or "text"
)
BLOBS: Final = _table("blobs", Column("digest", LargeBinary(32), primary_key=True), _bytes("data"))
CALLS: Final = _table(
    "calls",
    _session(),
    _number("seq", key=True),
    _number("number", key=True),
    _words("path"),  # JSON: where in the message the call stands
    _words("given"),  # the id it came with, or the name made for one without
    _words("name"),  # the id under which it goes out
    _number("times"),  # the number behind the id
)
STATES: Final = _table("states", _session(), _number("version", key=True), _number("count"), _bytes("body"))
CALIBRATIONS: Final = _table("calibrations", _session(), Column("card", String(NAME), primary_key=True), _words("record"))
FOLDS: Final = _table("folds", _session(), Column("key", String(NAME), primary_key=True), _bytes("body"))

Index("transom_payloads_by_digest", PAYLOADS.c.tenant, PAYLOADS.c.digest)
Index("transom_calls_by_given", CALLS.c.tenant, CALLS.c.session, CALLS.c.given)
Index("transom_calls_by_name", CALLS.c.tenant, CALLS.c.session, CALLS.c.name)

OWNED: Final = (MESSAGES, PAYLOADS, CALLS, STATES, CALIBRATIONS, FOLDS)
"""What goes with its session."""
