"""The same store on a server: `TRANSOM_SERVER=postgresql+psycopg://me@localhost/scratch pytest tests/store/test_server.py`, in a
database that is there for it. Without one, these are left out.
"""

from __future__ import annotations

import base64
import os
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

import transom
from transom import Policy, canon
from transom.store.database import shown

URL = os.environ.get("TRANSOM_SERVER", "")
server = pytest.mark.skipif(not URL, reason="no server is named in TRANSOM_SERVER")
Json = dict[str, Any]


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def picture(shade: int) -> Json:
    data = base64.b64encode(bytes([shade]) * 3_000).decode()
    return {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]}


def both(work: Callable[[str], object]) -> None:
    """Do something at the same moment under two names."""
    at_once = Barrier(2)

    def one(name: str) -> object:
        at_once.wait()
        return work(name)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, "xy"))


@pytest.fixture
def store() -> Any:
    with transom.Store(URL, tenant=uuid.uuid4().hex) as opened:
        yield opened


def session(store: transom.Store, name: str = "a") -> transom.Session:
    return store.session(name, api="anthropic", model="claude-opus-4-8", policy=Policy.sliding(budget=2_000))


@server
def test_a_session_lives_and_is_read_back_byte_for_byte(store: transom.Store) -> None:
    chat = session(store)
    given = [
        picture(1),
        user("é \u0001 \u2028 words"),
        picture(1),
        {"role": "assistant", "content": "yes", "extra": {"b": 1, "a": 2}},
    ]
    chat.append(given)
    assert [canon.encode(one) for one in chat.messages()] == [canon.encode(one) for one in given]
    chat.append(user("go"))
    first = chat.compile(system="Be short.")
    again = session(store).compile(system="Be short.")
    assert (again.request, again.report.breaks) == (first.request, ())
    other = chat.fork("b", at=2)
    chat.delete()
    assert other.messages() == tuple(given[:2])
    with pytest.raises(transom.BadSetting, match="already"):
        other.fork("b")


@server
def test_two_writers_at_once_lose_nothing(store: transom.Store) -> None:
    """Appends and answers wait for each other; equal pictures of two sessions are stored once."""
    session(store).append(user("go"))

    def work(who: str) -> None:
        mine, own = session(store), session(store, who)
        for n in range(20):
            mine.append(user(f"{who} {n}"))
            mine.record({"role": "assistant", "content": [{"type": "text", "text": f"{who} said {n}"}]})
            own.append(picture(n))

    both(work)
    said = [str(one["content"]) for one in session(store).messages(1)]
    assert len(said) == 80
    for who in "xy":
        assert [one for one in said if one.startswith(f"{who} ")] == [f"{who} {n}" for n in range(20)]
        assert len(session(store, who).messages()) == 20


@server
def test_a_picture_that_is_stored_while_its_last_session_goes_is_not_lost(store: transom.Store) -> None:
    def work(who: str) -> None:
        for n in range(20):
            chat = session(store, who)
            chat.append(picture(n % 3))
            assert len(chat.messages()) == 1
            chat.delete()

    both(work)


@server
def test_one_name_made_and_forked_twice_at_once_is_one_session(store: transom.Store) -> None:
    both(lambda _who: session(store, "new"))
    assert [one.name for one in store.sessions()] == ["new"]
    refused: list[str] = []

    def fork(_who: str) -> None:
        try:
            store.fork("new", "fork")
        except transom.BadSetting as error:
            refused.append(str(error))

    both(fork)
    assert len(refused) == 1
    assert [one.name for one in store.sessions()] == ["fork", "new"]


def test_a_password_is_in_no_error() -> None:
    assert shown("postgresql+psycopg://me:secret@localhost/a") == "postgresql+psycopg://me:***@localhost/a"
    assert shown("nothing of the kind") == "nothing of the kind"
    with pytest.raises(transom.BadSetting) as refused:
        transom.Store("nosuch://me:secret@localhost/a")
    assert "secret" not in str(refused.value)
