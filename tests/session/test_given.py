"""What is wrong with arguments, messages and answers is a sentence with its place, and nothing of the call is stored."""

from __future__ import annotations

import re
from typing import Any

import pytest

import transom
from session.opening import ANSWER, GO, NAN, opened
from transom import Store, Usage

Json = dict[str, Any]


def test_a_usage_of_another_kind_is_refused_before_anything_is_stored(store: Store) -> None:
    chat = opened(store)
    chat.append(GO)
    usage: Any = {"input_tokens": 5}
    with pytest.raises(transom.BadSetting, match=r"usage is dict; give transom\.Usage"):
        chat.record(ANSWER, usage=usage)
    assert len(chat) == 1
    assert chat.record(ANSWER, usage=Usage(prompt=50, output=2, cached=7)).usage == Usage(prompt=50, output=2, cached=7)


@pytest.mark.parametrize(("first", "last"), [("a", None), (0, "b"), (1.5, None), (True, None), (None, 1)])
def test_messages_are_asked_for_by_number(store: Store, first: Any, last: Any) -> None:
    with pytest.raises(transom.BadSetting, match="must be the number of a message"):
        opened(store).messages(first, last)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"name": 5}, "a session's name is 5; it must be a text"),
        ({"name": None}, "a session's name is None; it must be a text"),
        ({"name": "a\ud800"}, "half a surrogate pair"),
        ({"name": ""}, "has 0 characters"),
        ({"model": 5}, "model is 5; it must be a text"),
        ({"policy": {"budget": 5}}, "policy is {'budget': 5}; it must be a policy, such as Policy.sliding()"),
        ({"card": "claude"}, "card is 'claude'; it must be a model card"),
        ({"window": "x"}, "window is 'x'; it must be a number of tokens"),
        ({"stream": "x"}, "stream is 'x'; it must be a number of tokens"),
        ({"api": 5}, "api is 5"),
    ],
)
def test_an_argument_of_another_kind_is_a_bad_setting(store: Store, options: Json, says: str) -> None:
    with pytest.raises(transom.BadSetting, match=re.escape(says)):
        store.session(**{"name": "a", "api": "anthropic", **options})
    assert store.sessions() == ()


def test_a_session_without_a_stream_projects(store: Store) -> None:
    for stream in (None, NAN, -1):
        chat = opened(store, stream=stream)
        chat.append(GO)
        chat.compile()
        assert chat.project().reason != "context_budget"


def test_a_store_and_a_tenant_are_named_by_texts(store: Store) -> None:
    for url in (None, 5):
        with pytest.raises(transom.BadSetting, match="its URL must be a text"):
            Store(url)  # type: ignore[arg-type]
    for tenant in (None, 5, "a\ud800", "x" * 256):
        with pytest.raises(transom.BadSetting, match="a tenant's name"):
            store.for_tenant(tenant)  # type: ignore[arg-type]
    with pytest.raises(transom.BadSetting, match="a session's name is 5"):
        store.session(5)  # type: ignore[arg-type]
    with pytest.raises(transom.BadSetting, match="a session's name is None"):
        store.delete(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["append", "project", "extend"])
def test_a_message_that_is_none_is_named_by_its_place(store: Store, verb: str) -> None:
    chat = opened(store)
    chat.append(GO)
    chat.compile()
    call = getattr(chat, verb)
    for given, place, says in (
        ({"role": "wizard", "content": "x"}, "messages[1].role", "message 1 of those given: the role"),
        ({"role": "user", "content": NAN}, "messages[1].content", "this number is nan"),
        ("x", "messages[1]", "the message is a string; it must be an object with the fields of a message"),
    ):
        with pytest.raises(transom.BadRequest, match=says) as caught:
            call(GO, given)
        assert caught.value.place == place
        assert len(chat) == 1


def test_an_answer_that_is_none_is_said_to_be_none(store: Store) -> None:
    with pytest.raises(transom.BadRequest, match="the answer is null; it must be the provider's whole answer"):
        opened(store).record(None)
    with pytest.raises(transom.BadRequest, match=r"message 0 of the answer: this part is a number") as caught:
        opened(store).record({**ANSWER, "content": [5]})
    assert caught.value.place == "messages[0].content[0]"


def test_who_wrote_a_message_is_a_name(store: Store) -> None:
    name: Any = 5
    with pytest.raises(transom.BadSetting, match="model is 5; it must be the name"):
        opened(store).append(GO, model=name)
    assert len(opened(store)) == 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"candidates": [{"finishReason": "SAFETY"}], "promptFeedback": {}}, "SAFETY"),
        (
            {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 7}},
            "PROHIBITED_CONTENT",
        ),
        ({"candidates": [], "promptFeedback": {}}, "BLOCKED"),
    ],
)
def test_an_answer_that_was_blocked_has_no_message_and_a_reason(store: Store, answer: Json, reason: str) -> None:
    chat = store.session("g", api="gemini", model="gemini-2.5-pro")
    chat.append({"role": "user", "parts": [{"text": "go"}]})
    chat.compile()
    done = chat.record(answer)
    assert (done.stop_reason, done.seqs, len(chat)) == (reason, (), 1)
    with pytest.raises(transom.BadRequest, match="no answer of gemini"):
        chat.record({"candidates": []})


@pytest.mark.parametrize("api", ["anthropic", "bedrock", "blocks"])
def test_a_session_without_messages_looks_like_nothing(store: Store, api: str) -> None:
    with pytest.raises(transom.BadRequest, match="there is no message") as caught:
        store.session("e", api=api, model="m").compile()
    assert "looks like" not in str(caught.value)


def test_messages_of_ones_own_are_no_field_of_a_compile(store: Store) -> None:
    chat = opened(store)
    chat.append(GO)
    for call in (chat.compile, chat.compact, chat.preview):
        with pytest.raises(transom.BadSetting, match="messages: a request's messages are those that the session holds"):
            call(messages=[GO])
    other = store.session("g", api="gemini", model="gemini-2.5-pro")
    with pytest.raises(transom.BadSetting, match="contents: "):
        other.compile(contents=[])


def test_what_is_no_ask_and_no_summary_is_said_to_be_none(store: Store) -> None:
    ask: Any = "x"
    for call in (opened(store).fulfil, transom.fulfil):
        with pytest.raises(transom.BadSetting, match="the ask is str; it must be one of a fit's `asks`"):
            call(ask, "y")
    ready: Any
    for ready in (["x"], "x", None):
        with pytest.raises(transom.BadSetting, match=r"ready(\[0\])? is .*; give .*what transom.fulfil"):
            transom.fit({"messages": [GO]}, api="anthropic", ready=ready)


def test_a_session_is_not_taken_without_messages(store: Store) -> None:
    with pytest.raises(transom.BadSetting, match="no messages are given"):
        store.take("empty", [], api="anthropic")
    assert store.sessions() == ()


def test_ready_is_a_list() -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    fold = transom.Fold(first=0, last=0, level=1, text="x", key="k")
    for ready in (fold, {fold}, "x"):
        with pytest.raises(transom.BadSetting, match="give a list"):
            transom.fit(body, api="openai-chat", ready=ready)  # type: ignore[arg-type]
