"""Thinking, cache marks, leftovers of streaming, server calls and last answers that Anthropic refuses, and what goes out instead.

Media and parts of other forms stand in test_anthropic_media.py.
"""

from __future__ import annotations

from typing import Any

import pytest

import transom
from wire.anthropic_bodies import MARK, SAID, SIGNED, Json, answers, asked, claude, first, fitted, mended, taken, text, user


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ({"type": "thinking", "thinking": "x"}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "thinking", "thinking": "x", "signature": None}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "thinking", "thinking": "x", "signature": ""}, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ({"type": "redacted_thinking"}, "messages.1.content.0.redacted_thinking.data: Field required"),
    ],
)
def test_thinking_that_nobody_signed_is_left_out(thought: Json, answer: str) -> None:
    body = claude(thought, SAID)
    assert answers(body) == {"unsigned": answer}
    assert mended(body) == [SAID]


def test_a_model_whose_provider_signs_nothing_takes_it() -> None:
    body = claude({"type": "thinking", "thinking": "x"}, SAID, model="deepseek-chat")
    assert transom.fit(body, api="anthropic", budget=10_000).request is body


def test_signed_thinking_without_its_text_says_an_empty_one() -> None:
    body = claude({"type": "thinking", "signature": "c2ln"}, SAID)
    assert answers(body) == {"thinking": "messages.1.content.0.thinking.thinking: Field required"}
    assert mended(body) == [{"type": "thinking", "signature": "c2ln", "thinking": ""}, SAID]


HOUR = {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize("thought", [SIGNED, {"type": "redacted_thinking", "data": "x"}])
@pytest.mark.parametrize("mark", [MARK, None])
def test_thinking_bears_no_cache_mark(thought: Json, mark: Json | None) -> None:
    body = claude({**thought, "cache_control": mark}, SAID)
    kind = thought["type"]
    assert answers(body) == {"thinking-mark": f"messages.1.content.0.{kind}.cache_control: Extra inputs are not permitted"}
    assert mended(body) == [thought, SAID]
    taken(claude(thought, {**SAID, "cache_control": MARK}))


@pytest.mark.parametrize(
    ("part", "left"),
    [
        ({"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"index": 1}),
        ({"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"text": ""}),
        ({"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"partial_json": "{}"}),
        (SIGNED, {"index": 0}),
        (SAID, {"index": 0}),
    ],
)
def test_what_streaming_left_on_a_part_is_left_out(part: Json, left: Json) -> None:
    [key] = left
    result = {"type": "tool_result", "tool_use_id": "a", "content": "seen"}
    behind = [result] if part["type"] == "tool_use" else []
    rest = [] if behind else [SAID]
    body = claude({**part, **left}, *rest)
    body["messages"][2]["content"] = [*behind, {"type": "text", "text": "on"}]
    assert answers(body) == {"leftover": f"messages.1.content.0.{part['type']}.{key}: Extra inputs are not permitted"}
    assert mended(body) == [part, *rest]
    body["messages"][1]["content"] = [{**part, "unheard_of": 1}, *rest]
    taken(body)


def test_an_empty_text_with_a_mark_is_refused_in_words_of_its_own() -> None:
    body = asked({"type": "text", "text": "go"}, {"type": "text", "text": "", "cache_control": MARK})
    words = "messages.0.content.1.text: cache_control cannot be set for empty text blocks"
    assert answers(body) == {"empty": words}
    assert first(body) == [{"type": "text", "text": "go", "cache_control": MARK}]
    assert answers(asked(SAID, {"type": "text", "text": ""})) == {"empty": "messages: text content blocks must be non-empty"}


# ------------------------------------------------------------------------------------------------------ the order of marks


LATE = (
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the "
    "following order: `tools`, `system`, `messages`."
)
TOOL = {"name": "look", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("body", "at", "made"),
    [
        (
            asked(text("go", MARK), said=(text("b", HOUR),)),
            "messages.1.content.0",
            asked(text("go", MARK), said=(text("b", MARK),)),
        ),
        (
            asked(text("go", HOUR), system=[text("s", {**HOUR, "ttl": "5m"})]),
            "messages.0.content.0",
            asked(text("go", MARK), system=[text("s", {**HOUR, "ttl": "5m"})]),
        ),
        (
            asked(text("go"), tools=[{**TOOL, "cache_control": MARK}], system=[text("s", HOUR)]),
            "system.0",
            asked(text("go"), tools=[{**TOOL, "cache_control": MARK}], system=[text("s", MARK)]),
        ),
    ],
)
def test_a_mark_of_an_hour_does_not_stand_behind_a_shorter_one(body: Json, at: str, made: Json) -> None:
    assert answers(body) == {"ttl-order": f"{at}.cache_control.ttl: {LATE}"}
    assert fitted(body) == made
    lines = transom.fit(body, api="anthropic", strict=True).report.decisions
    assert [line.verb for line in lines] == ["mark"]


def test_marks_in_the_order_that_they_hold_stay() -> None:
    tools = [{**TOOL, "cache_control": HOUR}]
    taken(asked(text("go", HOUR), said=(text("b", MARK),), tools=tools, system=[text("s", HOUR)]))


def test_a_mark_inside_a_result_is_put_in_order_and_one_that_a_blank_text_gave_up() -> None:
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    body = asked(text("go", MARK), said=(call,))
    result = {"type": "tool_result", "tool_use_id": "a", "content": [text("seen", HOUR)]}
    body["messages"][2]["content"] = [result, text("on"), text(" ", HOUR)]
    made = fitted(body)["messages"][2]["content"]
    assert made == [{**result, "content": [text("seen", MARK)]}, text("on", MARK)]


def test_marks_that_go_since_there_are_too_many_do_not_shorten_others() -> None:
    body = asked(text("a", MARK), text("b", HOUR), text("c", HOUR), text("d", HOUR), text("e", HOUR))
    assert first(body) == [text("a"), text("b", HOUR), text("c", HOUR), text("d", HOUR), text("e", HOUR)]


# -------------------------------------------------------------------------------------- server calls, and answers to go on with


@pytest.mark.parametrize(
    ("given", "goes"), [("toolu_1", "srvtoolu_toolu_1"), ("srvtoolu_a-b", "srvtoolu_a_b_"), ("call-1", "srvtoolu_call_1_")]
)
def test_ids_of_server_calls_are_spelled_as_the_provider_does(given: str, goes: str) -> None:
    search = {"type": "server_tool_use", "id": given, "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": given, "content": []}
    caller = {"type": "code_execution_20250825", "tool_id": given}
    call = {"type": "tool_use", "id": "a-1", "name": "look", "input": {}, "caller": caller}
    body = claude(search, found, call)
    body["messages"][2]["content"] = [{"type": "tool_result", "tool_use_id": "a-1", "content": "seen"}]
    said = [one.answer for one in transom.lint(body, api="anthropic") if one.code == "server-id"]
    assert said[0] == "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
    assert len(said) == 3
    one, two, three = mended(body)
    assert one["id"] == two["tool_use_id"] == three["caller"]["tool_id"]
    assert one["id"].startswith(goes)
    assert three["id"] == "a-1"


def test_ids_of_mcp_calls_and_of_other_vendors_stay() -> None:
    call = {"type": "mcp_tool_use", "id": "mcptoolu-1", "name": "look", "server_name": "s", "input": {}}
    taken(claude(call, {"type": "mcp_tool_result", "tool_use_id": "mcptoolu-1", "content": [text("seen")]}, SAID))
    search = {"type": "server_tool_use", "id": "call_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "call_1", "content": []}
    taken(claude(search, found, SAID, model="glm-4.6"))
    own = {"id": "srvtoolu_1"}, {"tool_use_id": "srvtoolu_1"}
    taken(claude({**search, **own[0]}, {**found, **own[1]}, SAID))


UNTHINKING = (
    "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, "
    "enable `thinking` in your request."
)


def prefill(*content: Json, model: str = "claude-sonnet-4-5", **more: Any) -> Json:
    talk = [user(text("go")), *({"role": "assistant", "content": [one]} for one in content[:-2])]
    return {
        "model": model,
        "max_tokens": 50,
        "messages": [*talk, {"role": "assistant", "content": list(content[-2:])}],
        **more,
    }


@pytest.mark.parametrize("more", [{}, {"thinking": {"type": "disabled"}}])
def test_an_answer_to_go_on_with_holds_no_thinking_where_none_is_asked_for(more: Json) -> None:
    body = prefill(SIGNED, SAID, **more)
    assert answers(body) == {"final-thinking": f"messages.1.content.0: {UNTHINKING}"}
    assert fitted(body)["messages"][-1]["content"] == [SAID]
    longer = prefill(SIGNED, SAID, SAID, **more)
    assert len(fitted(longer)["messages"]) == 3
    assert "thinking'" not in str(fitted(longer)["messages"])
    taken({**body, "messages": [*body["messages"], user(text("on"))]})


def test_it_does_where_some_is_asked_for_or_the_vendor_is_another() -> None:
    asks: Json = {"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 2_048}
    taken(prefill(SIGNED, SAID, **asks))
    taken(prefill(SIGNED, SAID, thinking={"type": "adaptive"}))
    taken(prefill(SIGNED, SAID, model="deepseek-chat"))


def test_a_stored_talk_that_ends_with_an_answer_keeps_its_thinking() -> None:
    talk = {key: value for key, value in prefill(SIGNED, SAID).items() if key != "max_tokens"}
    assert transom.fit(talk, api="anthropic", budget=10_000).request is talk
