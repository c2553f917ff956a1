"""What is wrong with figures and files is a sentence and costs nothing that is stored; a restart makes the same bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

import transom
from bodies import picture
from session.opening import ANSWER, GO, NAN, opened
from transom import Policy, Store, Usage, canon, extension
from transom.session.slot import Slot
from transom.store import schema

Json = dict[str, Any]


def rounds(chat: transom.Session, first: int, last: int, shown: Callable[[int], list[Json]]) -> Json:
    """A tool loop; the last request of it."""
    made: Json = {}
    for n in range(first, last):
        call = {"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}}
        chat.record({**ANSWER, "content": [call], "usage": {"input_tokens": 100 + n, "output_tokens": 5}})
        step = chat.extend({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": shown(n)}]})
        assert step.fits, step.why
        made = step.request
    return made


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt": NAN},
        {"prompt": float("inf")},
        {"prompt": -(10**9)},
        {"prompt": None},
        {"prompt": "x"},
        {"prompt": 10**400},
        {"prompt": True},
        {"prompt": 10, "output": NAN},
        {"prompt": 10, "output": -3},
        {"prompt": 10, "output": None},
    ],
)
def test_a_usage_that_is_none_is_not_used(store: Store, usage: Json) -> None:
    """As in an answer itself; the answer is stored, and what the plan said is gone on with."""
    chat = opened(store)
    chat.append(GO)
    fit = chat.compile(max_tokens=100)
    done = chat.record(ANSWER, usage=Usage(**{"output": 1, **usage}))
    assert (done.usage, done.learned, done.seqs) == (None, False, (1,))
    assert fit.report.after.tokens <= chat.project(GO).tokens < 10_000
    assert chat.extend(GO).fits
    again = store.session("a")
    assert again.occupancy() == chat.occupancy() >= fit.report.after.tokens
    assert again.extend(GO).fits


@pytest.mark.parametrize("prompt", [None, -5, "x"])
def test_a_stored_figure_that_is_none_gives_way_to_the_plan(store: Store, prompt: object) -> None:
    chat = opened(store)
    chat.append(GO)
    fit = chat.compile()
    damaged(store, seen={"prompt": prompt, "output": 0, "growth": 0, "reported": True})
    again = store.session("a")
    assert 0 < again.occupancy() <= fit.report.after.tokens
    assert again.extend(GO).fits
    damaged(store, state=None, made=None, seen={"prompt": prompt, "output": 0, "growth": 0, "reported": True})
    assert store.session("a").occupancy() == 0


def damaged(store: Store, **fields: Any) -> None:
    """Damage done to the state of every session."""
    with store._database.writing() as connection:  # noqa: SLF001 - damage is done to rows
        slot = json.loads(connection.execute(schema.SESSIONS.select()).mappings().one()["slot"])
        connection.execute(schema.SESSIONS.update().values(slot=canon.encode({**slot, **fields}), version=99))


@pytest.mark.parametrize(
    ("fields", "error", "says"),
    [
        ({"state": {"format": 99}}, transom.SchemaTooNew, "has the format 99, and this version of transom knows up to 1"),
        ({"state": {"format": 1}}, transom.StoreError, "cannot be read"),
        ({"state": 5}, transom.StoreError, "cannot be read"),
        ({"reach": None}, transom.StoreError, "cannot be read"),
        ({"reach": [1]}, transom.StoreError, "cannot be read"),
        ({"seen": {}}, transom.StoreError, "cannot be read"),
        ({"multiplier": None}, transom.StoreError, "cannot be read"),
        ({"left_out": 7}, transom.StoreError, "cannot be read"),
        ({"sample": 7}, transom.StoreError, "cannot be read"),
        ({"steps": ["x"]}, transom.StoreError, "cannot be read"),
    ],
)
def test_a_state_that_cannot_be_read_is_said_with_what_is_left(store: Store, fields: Json, error: type, says: str) -> None:
    chat = opened(store)
    chat.append(GO)
    chat.compile()
    damaged(store, **fields)
    again = store.session("a")
    calls: tuple[Callable[[], object], ...] = (again.compile, again.extend, again.occupancy, lambda: again.extend(GO))
    for call in calls:
        with pytest.raises(error, match=says) as caught:
            call()
        assert "export its messages and import them under another name" in str(caught.value)
    assert again.messages() == (GO,)


def test_rows_of_another_shape_are_a_damaged_store(store: Store) -> None:
    chat = opened(store)
    chat.append(GO, {"role": "user", "content": [picture(1)]})
    for table, values in (
        (schema.MESSAGES, {"body": b"[]"}),
        (schema.MESSAGES, {"body": b'{"role": "wizard"}'}),
        (schema.MESSAGES, {"body": b"\xff"}),
        (schema.SESSIONS, {"slot": b"[]"}),
        (schema.SESSIONS, {"kinds": "7"}),
    ):
        with store._database.writing() as connection:  # noqa: SLF001
            connection.execute(table.update().values(**values))
        with pytest.raises(transom.StoreError, match="restore a copy"):
            store.session("a").compile()


def test_a_summary_of_another_shape_is_a_damaged_store(store: Store) -> None:
    chat = opened(store)
    chat.append(GO)
    chat.log.fold("key", {"first": 1})
    with pytest.raises(transom.StoreError, match="a summary in the store cannot be read"):
        chat.compile()


def test_facts_of_another_shape_are_a_damaged_store(store: Store) -> None:
    chat = opened(store)
    chat.append([GO] * 300)
    with store._database.writing() as connection:  # noqa: SLF001
        connection.execute(schema.MESSAGES.update().values(facts="{}"))
    with pytest.raises(transom.StoreError, match="the size of message 299 is no number"):
        chat.compile()


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_message_that_is_missing_is_never_passed_over(store: Store, gone: int) -> None:
    chat = opened(store)
    chat.append(GO, GO, GO)
    chat.compile()
    with store._database.writing() as connection:  # noqa: SLF001
        connection.execute(schema.MESSAGES.delete().where(schema.MESSAGES.c.seq == gone))
    again = store.session("a")
    for call in (again.messages, again.compile, lambda: again.leave_out(f"messages[{gone}]")):
        with pytest.raises(transom.StoreError, match=f"message {gone} of the session is missing"):
            call()
    assert len(again.messages(gone + 1)) + len(again.messages(0, gone)) == 2


def test_messages_stop_at_the_end_of_the_session(store: Store) -> None:
    chat = opened(store)
    chat.append(GO, GO)
    began = time.process_time()
    assert len(chat.messages(0, 10**30)) == len(chat.messages(-5, 10**30)) == 2
    assert chat.messages(10**30) == chat.messages(2, 1) == ()
    assert time.process_time() - began < 5


def test_a_count_that_was_changed_by_hand_is_a_damaged_store(store: Store) -> None:
    chat = opened(store)
    chat.append(GO, GO)
    with store._database.writing() as connection:  # noqa: SLF001
        connection.execute(schema.SESSIONS.update().values(count=1))
    with pytest.raises(transom.StoreError, match="holds messages behind the 1 that it says it has"):
        chat.append(GO)


def test_what_is_wrong_is_found_before_an_extension_stores_anything(store: Store) -> None:
    """So that a retry stores nothing twice."""

    def cut(message: Json, _most: int) -> Json:
        if "bad" in str(message):
            raise ZeroDivisionError
        return message

    chat = opened(store, policy=Policy.sliding(max_message_tokens=10, cut=cut))
    chat.append(GO)
    chat.compile()
    with pytest.raises(ZeroDivisionError):
        chat.extend({"role": "user", "content": "bad " * 50})
    assert len(chat) == 1
    assert chat.extend(GO).seqs == (1,)


def test_an_extension_keeps_what_was_sent_where_the_callers_object_changes_later(store: Store) -> None:
    chat = opened(store)
    chat.append(GO)
    chat.compile()
    given: Json = {"role": "user", "content": "as it was"}
    chat.extend(given)
    given["content"] = "changed"
    assert chat.extend(GO).request["messages"][1] == {"role": "user", "content": "as it was"}
    assert chat.messages(1, 2)[0]["content"] == "as it was"


def test_calls_that_are_added_go_out_under_the_ids_that_they_are_stored_with(store: Store) -> None:
    """A call whose id was given before gets a number where it is stored."""
    called = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "seen"}]}
    chat = opened(store)
    chat.append(GO, called, result, GO)
    chat.compile()
    step = chat.extend(called, result)
    assert step.fits
    assert chat.compile().request == step.request


def test_a_restart_in_a_long_loop_reads_every_message_once_and_makes_the_same_bytes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps are replayed together, not one by one: the work follows the window, not the number of steps."""
    chat = opened(store)
    chat.append(GO)
    chat.compile()
    made = rounds(chat, 0, 60, lambda _: [{"type": "text", "text": "ok"}])
    work = counted(monkeypatch)
    again = store.session("a")
    assert canon.encode(again.extend().request) == canon.encode(made)
    assert len(work) == 2  # the replay, and the extension itself


def test_a_restart_replays_steps_apart_where_each_was_judged_by_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures that were sent stay sent: together, the older ones would be placeholders."""
    most = max(len(picture(n)["source"]["data"]) for n in range(60)) * 2
    settings: Json = {"policy": Policy.sliding(max_image_bytes=most, newest="limit", image_ratio=0)}
    chat = opened(store, **settings)
    chat.append(GO)
    chat.compile()
    made = rounds(chat, 0, 5, lambda n: [picture(n), picture(n + 50)] if n in (0, 3) else [{"type": "text", "text": "ok"}])
    work = counted(monkeypatch)
    again = store.session("a", **settings)
    assert canon.encode(again.extend().request) == canon.encode(made)
    assert 2 < len(work) <= 10


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows with each extension that is worked out."""
    work: list[int] = []
    own = extension.extend

    def extend(*given: Any, **named: Any) -> Any:
        work.append(1)
        return own(*given, **named)

    monkeypatch.setattr("transom.extension.extend", extend)
    return work


def test_a_slot_with_places_of_every_kind_is_written() -> None:
    slot = Slot(left_out=frozenset({(0, ("content", 1)), (0, ("content", "x")), (0, ())}))
    assert Slot.from_dict({"left_out": slot.to_dict()["left_out"]}) == slot
    assert Slot.from_dict({}) == replace(slot, left_out=frozenset())
