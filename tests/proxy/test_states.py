"""What is remembered: bounded, under a tenant's name, and nothing that anybody could read."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from transom import canon
from transom.errors import BadSetting
from transom.plan import Sent, State
from transom.proxy.fitting import Fitter
from transom.proxy.identity import Caller, Identity
from transom.proxy.overflow import Overflow
from transom.proxy.recall import NEWEST
from transom.proxy.record import Learned, Record
from transom.proxy.routes import find
from transom.proxy.settings import build
from transom.proxy.states import Memory, Rows, States
from transom.wire.form import Usage

ONE, TWO = b"1" * 16, b"2" * 16


@pytest.fixture(params=["memory", "file"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> States:
    return Memory() if request.param == "memory" else Rows(str(tmp_path / "state.db"))


def test_the_longest_known_key_wins(states: States) -> None:
    shelf = states.for_tenant(ONE)
    keys = [bytes([i]) * 16 for i in range(250)] * 2
    keys = [key + bytes([i // 250]) for i, key in enumerate(keys)]
    shelf.put(keys[3], b"early")
    shelf.put(keys[7], b"late")
    assert shelf.longest(keys) == (7, b"late")
    assert shelf.longest(keys[:7]) == (3, b"early")
    assert shelf.longest(keys[:3]) is None
    assert shelf.longest([]) is None


def test_a_tenant_sees_its_own_only(states: States) -> None:
    states.for_tenant(ONE).put(b"key", b"value")
    assert states.for_tenant(TWO).longest([b"key"]) is None


def test_memory_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    memory = Memory(most=10_000)
    shelf = memory.for_tenant(ONE)
    for number in range(1_000):
        shelf.put(b"%d" % number, b"x" * 100)
        shelf.longest([b"0"])
    assert memory.held <= 10_000
    assert shelf.longest([b"0"]) == (0, b"x" * 100)
    assert shelf.longest([b"500"]) is None


def test_a_tenant_that_fills_the_memory_pushes_out_its_own() -> None:
    memory = Memory(most=10_000)
    memory.for_tenant(TWO).put(b"key", b"value")
    for number in range(1_000):
        memory.for_tenant(ONE).put(b"%d" % number, b"x" * 100)
    assert memory.held <= 10_000
    assert memory.for_tenant(TWO).longest([b"key"]) == (0, b"value")
    assert memory.for_tenant(ONE).longest([b"999"]) == (0, b"x" * 100)


def test_many_tenants_share_what_there_is() -> None:
    memory = Memory(most=10_000)
    for number in range(1_000):
        memory.for_tenant(b"%d" % number).put(b"key", b"x" * 100)
    assert memory.held <= 10_000
    assert memory.for_tenant(b"0").longest([b"key"]) is None
    assert memory.for_tenant(b"999").longest([b"key"]) == (0, b"x" * 100)


def test_a_value_that_is_larger_than_all_is_kept_alone() -> None:
    memory = Memory(most=1_000)
    for number in range(3):
        memory.for_tenant(ONE).put(b"%d" % number, b"x" * 2_000)
    assert memory.for_tenant(ONE).longest([b"0", b"1", b"2"]) == (2, b"x" * 2_000)
    assert memory.held < 4_000


def test_a_tenant_that_fills_the_file_pushes_out_its_own(tmp_path: Path) -> None:
    rows = Rows(str(tmp_path / "state.db"), most=100)
    rows.for_tenant(TWO).put(b"key", b"value")
    for number in range(999):
        rows.for_tenant(ONE).put(b"%d" % number, b"x")
    assert rows.for_tenant(TWO).longest([b"key"]) == (0, b"value")
    assert rows.for_tenant(ONE).longest([b"0"]) is None
    assert rows.for_tenant(ONE).longest([b"998"]) == (0, b"x")
    rows.close()


def test_a_file_is_bounded(tmp_path: Path) -> None:
    rows = Rows(str(tmp_path / "state.db"), most=100)
    shelf = rows.for_tenant(ONE)
    for number in range(1_000):
        shelf.put(b"%d" % number, b"x")
    rows.close()
    with sqlite3.connect(tmp_path / "state.db") as db:
        assert db.execute("SELECT count(*) FROM states").fetchone() == (100,)
    db.close()


def test_a_file_keeps_its_key_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    first = Rows(str(file))
    secret = first.secret
    first.close()
    again = Rows(f"sqlite:///{file}")
    assert again.secret == secret
    again.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"no database at all, but long enough to look at" * 100)
    for name in (str(tmp_path / "other"), str(tmp_path / "missing" / "state.db")):
        with pytest.raises(BadSetting, match="cannot be opened"):
            Rows(name)


def test_a_file_that_fails_later_costs_no_request(tmp_path: Path) -> None:
    rows = Rows(str(tmp_path / "state.db"))
    rows.close()
    shelf = rows.for_tenant(ONE)
    shelf.put(b"key", b"value")
    assert shelf.longest([b"key"]) is None
    assert rows.faults == 2


def test_a_record_comes_back_as_it_went() -> None:
    state = State(anchor=4, front=frozenset({0}), sent=(Sent(b"d" * 16, 7),), count=9, key=b"k" * 16, policy="p", card="c")
    record = Record(learned=Learned(card="c", multiplier=1.25, samples=3, images=5), state=state)
    assert Record.from_bytes(record.to_bytes()) == record
    assert Record.from_bytes(Record().to_bytes()) == Record()


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x93\x90\xa1c\xc0", b"not a record"])
def test_a_record_that_is_damaged_is_an_empty_one(data: bytes) -> None:
    assert Record.from_bytes(data) == Record()


def test_what_the_prices_of_another_card_taught_is_forgotten() -> None:
    learned = Learned(card="one", multiplier=1.4, images=5)
    assert learned.under("one") is learned
    assert learned.under("two") == Learned(card="two")


def test_a_refusal_teaches_the_limit_that_it_names() -> None:
    after = Learned().after(Overflow(kind="tokens", need=2_000, limit=1_000), tokens=1_000, size=0)
    assert 400 < after.input_limit < 500
    assert Learned().after(Overflow(kind="tokens"), tokens=1_000, size=0).input_limit == 750
    assert Learned().after(Overflow(kind="bytes"), tokens=0, size=1_000).body_bytes == 750
    assert Learned().after(Overflow(kind="images", limit=5), tokens=0, size=0).images == 5


def test_names_differ_by_tenant_api_session_and_server() -> None:
    one, two = Identity(b"a" * 32), Identity(b"b" * 32)

    def named(identity: Identity, tenant: bytes, api: str, session: bytes) -> set[bytes]:
        caller = Caller(tenant=tenant, session=session)
        return {identity.talk(caller, api=api), *identity.spelt(caller, api=api, older=b"{1}", newest=[b"{2}"])}

    names = (
        named(one, ONE, "anthropic", b"")
        | named(one, TWO, "anthropic", b"")
        | named(one, ONE, "gemini", b"")
        | named(one, ONE, "anthropic", b"s")
        | named(two, ONE, "anthropic", b"")
    )
    assert len(names) == 10
    assert one.tenant(credential=b"k", named=b"") != one.tenant(credential=b"k", named=b"t")
    assert one.tenant(credential=b"k", named=b"t") == one.tenant(credential=b"other", named=b"t")


def test_a_spelling_has_the_same_keys_wherever_its_newest_messages_begin() -> None:
    identity, caller = Identity(b"a" * 32), Caller(tenant=ONE)
    messages = [b"{%d}" % number for number in range(20)]
    whole = identity.spelt(caller, api="a", older=b"", newest=messages)
    for newest in (1, 8, 19):
        assert identity.spelt(caller, api="a", older=b"".join(messages[:-newest]), newest=messages[-newest:]) == whole[-newest:]
    assert identity.spelt(caller, api="a", older=b"", newest=[]) == ()


@pytest.mark.parametrize("ahead", [0, 1, NEWEST - 1, NEWEST, NEWEST + 1, 3 * NEWEST])
def test_a_conversation_is_known_however_many_messages_came_since(ahead: int) -> None:
    """What its provider taught holds on, though the first look is at the newest few alone."""
    fitter = Fitter(build({"upstream": {"openai": "http://127.0.0.1:9"}}), Memory())
    route = find("POST", "/openai/v1/chat/completions", {})
    assert route is not None
    caller = fitter.caller(credential=b"k", named=b"", session=b"")
    messages = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"{at} " + "word " * 200} for at in range(3 + ahead)]
    first, then = (canon.encode({"model": "some-model", "messages": some}) for some in (messages[:3], messages))
    planned = fitter.plan(first, route, caller)
    fitter.keep(planned, caller, Usage(prompt=planned.after.tokens * 3 // 2, output=9))
    taught = fitter.plan(then, route, caller).record.learned
    assert taught.samples == 1
    assert fitter.plan(then, route, fitter.caller(credential=b"other", named=b"", session=b"")).record.learned.samples == 0
