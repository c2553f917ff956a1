"""The cap of a message, by the default cut and by the caller's own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conversations
from rewritten import key_of
from transom.catalog import Limits
from transom.errors import BadSetting
from transom.pairing import pair
from transom.parts import Group, walk
from transom.plan import Decision
from transom.shape import shape
from transom.shape.cap import shortened
from transom.types import Cut
from transom.wire import FORMS

Json = dict[str, Any]
ROUND: list[Json] = [
    {"role": "user", "content": "q" * 100},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "a" * 30}, {"type": "tool_use", "id": "1", "name": "t", "input": {}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r" * 200}]},
]
TOOL: list[Json] = [
    {"role": "system", "content": "s" * 500},
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "r" * 200},
]


def capped(
    messages: list[Json], cap: float, cut: Cut | None = None, api: str = "anthropic"
) -> tuple[list[Json], tuple[Decision, ...], tuple[Group, ...]]:
    form = FORMS[api]
    groups, _ = pair(form.read({key_of(api): messages}), form)
    done, lines, _ = shape(groups, form, limits=Limits(), price_text=len, max_message_tokens=cap, cut=cut)
    return [entry.message.json for group in done for entry in group.entries], lines, done


@pytest.mark.parametrize("cap", [0, -1, float("nan"), 1_000])
def test_no_cap_and_a_wide_one_change_nothing(cap: float) -> None:
    """CM-106: 0 or less is no cap. CM-107: the same object where nothing needed cutting."""
    sent, lines, _ = capped(ROUND, cap)
    assert lines == ()
    assert all(new is old for new, old in zip(sent, ROUND, strict=True))


def test_texts_and_results_keep_their_heads_and_say_how_long_they_were() -> None:
    """CM-107: cut to the cap x 4 characters, with a marker naming the original size."""
    sent, lines, _ = capped(ROUND, 10)
    assert sent[0]["content"] == "q" * 40 + "\n[cut here; there were 100 characters]"
    assert sent[1] is ROUND[1]
    assert sent[2]["content"][0]["content"] == "r" * 40 + "\n[cut here; there were 200 characters]"
    assert [(line.verb, line.seq, line.reason) for line in lines] == [
        ("cut", 0, "over the cap of 10 tokens a message"),
        ("cut", 2, "over the cap of 10 tokens a message"),
    ]


def test_a_result_that_is_a_message_is_cut_and_instructions_are_not() -> None:
    sent, _, _ = capped(TOOL, 10, api="openai-chat")
    assert sent[0] is TOOL[0]
    assert sent[3] == {"role": "tool", "tool_call_id": "1", "content": "r" * 40 + "\n[cut here; there were 200 characters]"}


def test_the_parts_of_a_message_share_its_cap_in_order_and_a_result_always_stays() -> None:
    """CM-107: a result of which nothing is left says so. CM-108: pictures pass. Texts in a result's list are cut as well."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    parts = [
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r" * 60}, picture]},
        {"type": "tool_result", "tool_use_id": "2", "content": "s" * 60},
        {"type": "text", "text": "short"},
    ]
    calls = [{"type": "tool_use", "id": i, "name": "t", "input": {}} for i in "12"]
    sent, _, groups = capped([ROUND[0], {"role": "assistant", "content": calls}, {"role": "user", "content": parts}], 5)
    marker = "[cut here; there were 60 characters]"
    assert sent[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r" * 20 + "\n" + marker}, picture]},
        {"type": "tool_result", "tool_use_id": "2", "content": marker},
        {"type": "text", "text": "short"},
    ]
    assert groups[1].entries[1].origin == tuple((2, ("content", n)) for n in range(3))


def test_a_text_that_stands_deeper_in_its_part_passes() -> None:
    resource = {"type": "resource", "resource": {"uri": "a", "mimeType": "text/plain", "text": "x" * 90}}
    messages = [{"role": "user", "content": [resource, {"type": "text", "text": "y" * 90}]}]
    assert capped(messages, 5, api="blocks")[0][0]["content"] == [
        resource,
        {"type": "text", "text": "[cut here; there were 90 characters]"},
    ]


def test_a_text_ends_between_characters() -> None:
    """CM-107: never inside a surrogate pair."""
    assert shortened("🙂" * 90, 10) == "🙂" * 10 + "\n[cut here; there were 90 characters]"


def test_a_cut_that_saves_nothing_is_not_made() -> None:
    words = "x" * 30
    assert shortened(words, 10) is words


@given(st.text(max_size=400), st.integers(0, 300))
def test_a_text_that_was_cut_is_not_cut_again(words: str, room: int) -> None:
    once = shortened(words, room)
    assert shortened(once, room) is once
    assert len(once) <= len(words)


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), cap=st.integers(1, 30))
def test_capped_conversations_stay_legal_and_are_cut_no_further(api: str, data: st.DataObject, cap: int) -> None:
    form = FORMS[api]
    body = data.draw(conversations.bodies(api))
    sent, _, groups = capped(body[key_of(api)], cap, api=api)
    faults = form.legal(form.read({**body, key_of(api): sent}), frozenset({"no-prefill"}))
    assert {fault.code for fault in faults if fault.refused} <= {"breakpoints", "last-not-user", "reasoning"}
    again, more, _ = shape(groups, form, limits=Limits(), price_text=len, max_message_tokens=cap)[:3]
    assert again == groups
    assert more == ()


# ------------------------------------------------------------------------------------------------------------- own hooks


def test_the_hook_is_asked_once_for_each_message_and_its_answer_is_sent() -> None:
    """CM-109, CM-111, CM-112: one call a message, and the very object that it returns goes out."""
    asked: list[tuple[Json, int]] = []

    def cut(message: Json, cap: int) -> Json:
        asked.append((message, cap))
        return message if message["role"] == "assistant" else {**message, "content": message["content"][:1]}

    sent, lines, _ = capped(ROUND, 7, cut)
    assert [message for message, _ in asked] == ROUND
    assert {cap for _, cap in asked} == {7}
    assert sent == [{"role": "user", "content": "q"}, ROUND[1], ROUND[2]]
    assert sent[1] is ROUND[1]
    assert [line.seq for line in lines] == [0, 2]


def test_a_picture_that_the_hook_leaves_out_is_gone_and_the_others_keep_their_places() -> None:
    """CM-110: it is not in the message as sent. CM-96: a part is known by itself, then by kind and order."""
    pictures = [{"type": "image", "source": {"type": "url", "url": f"https://example.com/{n}.png"}} for n in range(3)]
    text = {"type": "text", "text": "q"}

    def cut(message: Json, _: int) -> Json:
        return {
            **message,
            "content": [pictures[2], {**pictures[1]}, {"type": "text", "text": "note"}, {"type": "text", "text": "!"}],
        }

    _, _, groups = capped([{"role": "user", "content": [text, *pictures]}], 7, cut)
    entry = groups[0].entries[0]
    assert entry.origin == ((0, ("content", 3)), (0, ("content", 1)), (0, ("content", 0)), (0, ("made", 3)))
    assert sum(part.kind == "image" for part in walk(entry.message.parts)) == 2


@pytest.mark.parametrize("answer", [None, [], {"role": "assistant", "content": "q"}, {"role": "user", "content": []}])
def test_a_hook_that_answers_with_anything_else_is_refused_with_its_place(answer: Any) -> None:
    with pytest.raises(BadSetting, match=r"^messages"):
        capped(ROUND, 7, lambda message, _: answer if message is ROUND[2] else message)
