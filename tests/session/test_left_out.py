"""What is left out by hand: only what is there, by its place, and in every fork."""

from __future__ import annotations

import re
from typing import Any

import pytest

import transom
from bodies import picture
from stage import PDF, encoded
from transom import Policy, Store, canon

Json = dict[str, Any]

DOCUMENT: Json = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF)}}
CALL: Json = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]}
RESULT: Json = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [picture(2)]}]}
SHOWN: Json = {"role": "user", "content": [{"type": "text", "text": "see"}, picture(1), DOCUMENT]}


def opened(store: Store) -> transom.Session:
    return store.session("a", api="anthropic", model="claude-opus-4-8")


@pytest.mark.parametrize("place", ["messages[0].content[1]", "messages[0].content[2]", "messages[2].content[0].content[0]"])
def test_a_medium_that_is_left_out_goes_out_as_its_placeholder(store: Store, place: str) -> None:
    chat = opened(store)
    chat.append(SHOWN, CALL, RESULT)
    before = canon.encode(chat.preview().request).count(b'"base64"')
    assert chat.leave_out(place) == ""
    sent = canon.encode(chat.compile().request)
    assert sent.count(b'"base64"') == before - 1
    assert b"left out" in sent


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("messages[0].content[0]", "is no picture or file (text); leave out messages[0].content[1]"),
        ("messages[0].content.x", "is no part of that message; leave out messages[0].content[1], messages[0].content[2], or the"),
        ("messages[0].content[9]", "is no part of that message"),
        ("messages[0].content[1].source", "is no part of that message"),
        ("messages[0]]", "is no part of that message"),
        ("messages[1].content[0]", "(call); leave out the message as a whole, messages[1]"),
        ("messages[2].content[0]", "(result); leave out messages[2].content[0].content[0], or the message, messages[2]"),
        ("input[0]", "is no place of a message, such as messages[3]"),
        ("messages[3]", "is no message of this session, which holds 3"),
        (f"messages[{'9' * 5_000}]", "is no place of a message"),
        (None, "None is no place of a message"),
        (3, "3 is no place of a message"),
    ],
)
def test_a_place_where_nothing_can_be_left_out_is_refused_with_what_can_be(store: Store, place: Any, says: str) -> None:
    """And the session goes on."""
    chat = opened(store)
    chat.append(SHOWN, CALL, RESULT)
    with pytest.raises(transom.BadSetting, match=re.escape(says)) as caught:
        chat.leave_out(place)
    assert len(str(caught.value)) < 400
    chat.leave_out("messages[0].content[1]")
    chat.leave_out("messages[0]")
    assert "left out by hand: messages[0], messages[0].content[1]" in chat.compile().report.notes


@pytest.mark.parametrize("compiles", [(), (1,), (3,), (1, 3)])
@pytest.mark.parametrize("at", [None, 2, 1])
def test_what_is_left_out_by_hand_stays_out_of_a_fork(store: Store, compiles: tuple[int, ...], at: int | None) -> None:
    """Whatever state the fork starts from: none, one from before it was left out, the newest."""
    chat = opened(store)
    for count, said in enumerate(("secret", "two", "hidden"), 1):
        chat.append({"role": "user", "content": said})
        if count in compiles:
            chat.compile()
    chat.leave_out("messages[0]")
    chat.leave_out("messages[2]")
    other = chat.fork("b", at=at)
    other.append({"role": "user", "content": "three"})
    sent = canon.encode(other.compile().request)
    assert b"secret" not in sent
    assert b"hidden" not in sent
    again = other.fork("c")
    assert b"secret" not in canon.encode(again.compile().request)
    assert canon.encode(again.messages()).count(b"secret") == 1


POLICY = Policy.folding(budget=1_500, chunk_tokens=150, recent_tokens=400, summary_tokens=60)


def young(store: Store) -> transom.Session:
    chat = store.session("a", api="openai-chat", model="some-unknown-model", policy=POLICY)
    chat.append({"role": "user", "content": "go"})
    return chat


def go_on(chat: transom.Session) -> None:
    chat.append({"role": "user", "content": f"{len(chat)} " + "word " * 60}, {"role": "assistant", "content": "yes"})


def folded(store: Store, name: str = "a") -> transom.Session:
    chat = store.session(name, api="anthropic", model="claude-opus-4-8", policy=POLICY)
    for n in range(40):
        chat.append({"role": "user", "content": f"step {n} " + "word " * 30}, {"role": "assistant", "content": "yes"})
        for ask in chat.compile().asks:
            chat.fulfil(ask, f"They took steps up to {n}.")
    return chat


def test_of_a_message_that_a_summary_stands_for_it_is_said_that_the_summary_still_tells_of_it(store: Store) -> None:
    chat = folded(store)
    fold = chat.compile().state.folds[0]
    place = f"messages[{fold.first}]"
    told = chat.leave_out(place)
    assert told.startswith(f"the summary of messages {fold.first} to {fold.last} was made before {place} was left out")
    assert told in chat.compile().report.notes


def test_a_fork_keeps_summaries_that_wait_for_their_place_and_what_was_learned(store: Store) -> None:
    chat = young(store)
    fit = chat.preview()
    while not fit.asks:
        go_on(chat)
        fit = chat.compile()
    asks = fit.asks
    reported = int(fit.report.after.tokens * 1.3)
    answer = {"choices": [{"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]}
    chat.record({**answer, "usage": {"prompt_tokens": reported, "completion_tokens": 1}})
    for ask in asks:
        chat.fulfil(ask, "They went on.")
    kept = chat.log.opening("any").folds
    last = max(ask.last for ask in asks)
    whole, cut, short = chat.fork("b"), chat.fork("c", at=last + 1), chat.fork("d", at=last)
    assert kept
    assert whole.log.opening("any").folds == cut.log.opening("any").folds == kept
    assert len(short.log.opening("any").folds) == len(kept) - 1
    assert chat.stats().samples == 1
    assert whole.stats() == cut.stats() == chat.stats()
    assert whole.compile().request == chat.compile().request


def test_a_fork_keeps_summaries_that_stand_too(store: Store) -> None:
    """Whether the session it came from made a request in between: the state that it goes on from may be older than that."""
    chat = folded(store)
    before = chat.fork("before")
    count = len(chat)
    made = chat.compile()
    assert made.state.folds
    chat.append({"role": "assistant", "content": "yes"}, {"role": "user", "content": "and?"})
    after = chat.fork("after", at=count)
    assert [fold.text for fold in after.compile().state.folds] == [fold.text for fold in before.compile().state.folds]
    assert chat.fork("all").compile().request == chat.compile().request


def test_a_summary_that_waits_is_not_used_where_what_it_tells_of_is_left_out(store: Store) -> None:
    chat = young(store)
    fit = chat.preview()
    while not fit.asks:
        go_on(chat)
        fit = chat.preview()
    for ask in fit.asks:
        chat.fulfil(ask, "They went on.")
    first, *others = fit.asks
    told = chat.leave_out(f"messages[{first.first}]")
    assert told.startswith(f"the summary of messages {first.first} to {first.last} was made before")
    made = chat.compile()
    assert [fold.first for fold in made.state.folds] == [ask.first for ask in others]
    assert told not in made.report.notes
    assert any(
        note.startswith(f"the summary of messages {first.first} to {first.last} is not used") for note in made.report.notes
    )


@pytest.mark.parametrize(
    ("into", "at", "says"),
    [
        ("", None, "has 0 characters"),
        ("x" * 256, None, "has 256 characters; it has between 1 and 255"),
        (5, None, "is 5; it must be a text"),
        ("a\ud800", None, "half a surrogate pair"),
        ("b", "x", "a fork at 'x'"),
        ("b", 1.5, "a fork at 1.5"),
        ("b", True, "a fork at True"),
        ("b", 10**30, "a fork takes from 0 to 1"),
    ],
)
def test_a_fork_wants_a_name_and_a_number(store: Store, into: Any, at: Any, says: str) -> None:
    chat = opened(store)
    chat.append({"role": "user", "content": "x"})
    with pytest.raises(transom.BadSetting, match=re.escape(says)):
        chat.fork(into, at=at)
    assert [one.name for one in store.sessions()] == ["a"]
