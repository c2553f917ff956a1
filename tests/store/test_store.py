"""What is stored comes back byte for byte; payloads once per tenant; sessions as a whole."""

from __future__ import annotations

import base64
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

import transom
from bodies import picture
from transom import canon
from transom.session import Store
from transom.store import Database, payloads, schema

LONG = base64.b64encode(bytes(range(256)) * 12).decode()
SPELLINGS = st.sampled_from([
    LONG, LONG.rstrip("="), LONG[:-1], LONG + "\n", LONG[:80] + "\r\n" + LONG[80:], " " + LONG, "data:image/png;base64," + LONG,
    "DATA:," + LONG, "data:image/svg+xml,%3Csvg " + "x" * 2_000, "data:" + "x" * 2_000, "data:image/png;base64," + "A" * 1_001,
    base64.urlsafe_b64encode(b"\xff\xfb" * 900).decode(), "A" * 1_023, "A" * 1_025, "A=" * 600, "\u00e9" * 1_200,
])  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | SPELLINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(extras=st.lists(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), min_size=1, max_size=4))
def test_what_is_read_back_is_byte_for_byte_what_was_appended(extras: list[dict[str, Any]]) -> None:
    """CM-174: JSON, order of keys and spelling of payloads, nested ones included (OP-43 of the store: no place is special)."""
    given_ = [{**extra, "role": "user", "content": "words"} for extra in extras]
    with Store("sqlite://") as store:
        chat = store.session("a", api="anthropic", model="m")
        chat.append(given_)
        assert [canon.encode(one) for one in chat.messages()] == [canon.encode(one) for one in given_]


@given(SPELLINGS)
def test_a_payload_is_kept_as_bytes_only_where_these_spell_the_same_text(text: str) -> None:
    _, found = payloads.lift({"a": {"b": [text]}})
    for one in found:
        assert one.text() == text
        assert one.encoding == "text" or len(one.data) < len(text)


def count(store: Store, table: Any) -> int:
    with store._database.reading() as connection:  # noqa: SLF001 - the rows themselves are the subject
        return connection.execute(select(func.count()).select_from(table)).scalar() or 0


def shown(shade: int) -> dict[str, Any]:
    return {"role": "user", "content": [picture(shade, width=640, height=480)]}


def test_equal_pictures_are_stored_once_in_a_tenant_and_swept_with_the_last_session_that_holds_them() -> None:
    big = base64.b64encode(bytes(range(256)) * 40).decode()
    message = {
        "role": "user",
        "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": big}}],
    }
    with Store("sqlite://") as store:
        for name in ("a", "b"):
            store.session(name, api="anthropic", model="m").append(message, message)
        store.for_tenant("other").session("a", api="anthropic", model="m").append(message)
        assert count(store, schema.BLOBS) == 2  # one a tenant
        store.delete("a")
        assert count(store, schema.BLOBS) == 2
        store.delete("b")
        assert count(store, schema.BLOBS) == 1
        assert store.for_tenant("other").session("a").messages() == (message,)
        store.for_tenant("other").delete("a")
        assert [count(store, table) for table in schema.METADATA.tables.values()] == [0] * len(schema.METADATA.tables)


def test_a_tenant_sees_nothing_of_another() -> None:
    with Store("sqlite://") as store:
        store.session("a", api="anthropic", model="m").append({"role": "user", "content": "x"})
        other = store.for_tenant("other")
        assert other.sessions() == ()
        with pytest.raises(transom.NoSession, match="no session 'a'"):
            other.session("a")
        with pytest.raises(transom.NoSession):
            other.delete("a")


def test_every_key_begins_with_the_tenant() -> None:
    for table in schema.METADATA.tables.values():
        assert next(iter(table.primary_key)).name == "tenant"
        assert all(next(iter(index.columns)).name == "tenant" for index in table.indexes)


def test_a_missing_or_damaged_payload_is_an_error() -> None:
    """CM-174: a missing blob is an error."""
    big = {"role": "user", "content": LONG}
    with Store("sqlite://") as store:
        chat = store.session("a", api="anthropic", model="m")
        chat.append(big)
        with store._database.writing() as connection:  # noqa: SLF001 - damage is done to rows
            connection.execute(schema.BLOBS.update().values(data=b"other"))
        with pytest.raises(transom.StoreError, match="damaged"):
            chat.messages()
        with store._database.writing() as connection:  # noqa: SLF001
            connection.execute(schema.BLOBS.delete())
        with pytest.raises(transom.StoreError, match="missing"):
            chat.messages()


def test_the_migrations_make_the_tables_that_the_code_reads() -> None:
    database = Database("sqlite://")
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": schema.VERSION_TABLE})
        assert compare_metadata(context, schema.METADATA) == []
    database.close()
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    found = [one.revision for one in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(found)) == schema.REVISIONS


def test_a_current_file_is_opened_without_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    Store(url).close()
    code = f"import sys, transom; transom.Store({url!r}).close(); print([n for n in sys.modules if n.startswith('alembic')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout.strip() == "[]"


def test_a_fork_takes_the_first_messages_and_neither_changes_the_other() -> None:
    with Store("sqlite://") as store:
        chat = store.session("a", api="anthropic", model="claude-opus-4-8")
        for n in range(6):
            chat.append({"role": "user", "content": f"{n} " + LONG})
            chat.compile()
        other = chat.fork("b", at=3)
        assert other.messages() == chat.messages(0, 3)
        other.append({"role": "user", "content": "elsewhere"})
        assert (len(chat), len(other)) == (6, 4)
        fit = other.compile()
        assert not fit.report.breaks  # the state made on three messages went with it
        chat.delete()
        assert len(other.messages()) == 4
        with pytest.raises(transom.BadSetting, match="already"):
            other.fork("b")
        with pytest.raises(transom.BadSetting, match="from 0 to 4"):
            other.fork("c", at=5)


def test_a_session_is_opened_in_its_own_form_only() -> None:
    with Store("sqlite://") as store:
        store.session("a", api="anthropic", model="m")
        assert store.session("a").api == "anthropic"
        with pytest.raises(transom.BadSetting, match="not of openai-chat"):
            store.session("a", api="openai-chat")
        with pytest.raises(transom.BadSetting, match="api is 'smoke'"):
            store.session("b", api="smoke")


def test_a_message_that_is_none_is_named_and_nothing_of_the_call_is_stored() -> None:
    with Store("sqlite://") as store:
        chat = store.session("a", api="anthropic", model="m")
        with pytest.raises(transom.BadRequest, match="message 1 of those given"):
            chat.append([{"role": "user", "content": "x"}, {"role": "nobody", "content": "x"}])
        assert len(chat) == 0
        with pytest.raises(transom.BadRequest):
            chat.append({"role": "user", "content": float("nan")})


def test_a_compile_of_a_hundred_thousand_messages_reads_the_window() -> None:
    """The rows that are read follow the window and what is new, not the log."""
    messages = [{"role": "assistant" if n % 2 else "user", "content": f"message {n}"} for n in range(100_000)]
    with Store("sqlite://") as store:
        chat = store.session("a", api="anthropic", model="m", policy=transom.Policy.sliding(budget=3_000, max_messages=60))
        for at in range(0, 60_000, 20_000):
            chat.append(messages[at : at + 20_000])
        head = chat.log.head()
        chat.log.commit({}, over=head.version)
        chat.append(messages[:200])
        chat.compile()
        before = chat.log.rows_read
        assert before < 600  # also of a session that never made a request only the end is read
        for n in range(40):
            chat.append(messages[n])
            chat.compile()
        assert chat.log.rows_read - before == 40
        again = store.session("a", policy=transom.Policy.sliding(budget=3_000, max_messages=60))
        again.append(messages[41])
        again.compile()
        assert again.log.rows_read <= 100
        assert msgspec.json.decode(msgspec.json.encode(again.messages(60_239, 60_241)))


@pytest.mark.parametrize(
    "url, says",
    [
        ("postgres://me:secret@host/x", "no database or driver of this name is known"),
        ("postgresql+nosuch://me:secret@host/x", "no database or driver of this name is known"),
        ("postgresql+asyncpg://me:secret@host/x", "its driver is one for asyncio"),
        ("postgresql+psycopg://me:secret@host:x/x", "it is no URL of a database"),
        ("postgresql+psycopg//me:secret@host", "it is no URL of a database"),
        ("sqlite://host/x.db", "it is no URL of a database"),
        ("", "it is no URL of a database"),
    ],
)
def test_what_is_no_store_is_refused_with_what_can_be_one(url: str, says: str) -> None:
    with pytest.raises(transom.BadSetting) as caught:
        Store(url)
    assert f"cannot be opened: {says}" in str(caught.value)
    assert "give a SQLite file, as sqlite:///chat.db, or a PostgreSQL server, as postgresql+psycopg://me@host/chats" in str(
        caught.value
    )
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(find_spec("psycopg") is not None, reason="the driver is installed")
def test_a_driver_that_is_not_installed_is_named_with_its_command() -> None:
    with pytest.raises(
        transom.BadSetting, match=r"driver psycopg is not installed; install it with: pip install 'psycopg\[binary\]'"
    ):
        Store("postgresql+psycopg://me:secret@host/x")
