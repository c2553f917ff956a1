"""The rules of each provider: the place of a fault, and what the provider would answer."""

from __future__ import annotations

from typing import Any

import pytest

from transom.wire import FORMS

Body = dict[str, Any]
CALL = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}
TEXT = {"type": "text", "text": "so"}
USER = {"role": "user", "content": "hi"}
ASKS = {"role": "assistant", "content": [CALL]}
ANSWERS = {"role": "user", "content": [RESULT]}
CHAT_CALL = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
CHAT_ASKS = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
CHAT_ANSWERS = {"role": "tool", "tool_call_id": "call_1", "content": "done"}
SERVER = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}}
SERVED = {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "x"}}


OPEN = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must "
    "have a corresponding `tool_result` block in the next message."
)
ORPHAN = (
    "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a "
    "corresponding `tool_use` block in the previous message."
)
ORPHAN_SERVED = (
    "unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_1. Each `advisor_tool_result` block must have a "
    "corresponding `server_tool_use` block before it."
)
CHAT_OPEN = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
    "tool_call_ids did not have response messages: call_1"
)


def says(*content: Any) -> Body:
    return {"role": "assistant", "content": list(content)}


ANTHROPIC: list[tuple[str, list[Any], str, str, str]] = [
    ("no message", [], "no-turns", "messages", "at least one message"),
    ("an open call", [USER, ASKS, USER], "open-call", "messages[1].content[0]", OPEN),
    (
        "an open call at the end",
        [USER, ASKS],
        "open-call",
        "messages[1].content[0]",
        "messages.1: `tool_use` ids were found without",
    ),
    (
        "an orphan result",
        [USER, says(TEXT), {"role": "user", "content": [TEXT, RESULT]}],
        "orphan-result",
        "messages[2].content[1]",
        ORPHAN,
    ),
    (
        "a result in an answer",
        [USER, says(TEXT, RESULT), USER],
        "orphan-result",
        "messages[1].content[1]",
        "unexpected `tool_use_id`",
    ),
    ("an id used twice", [USER, ASKS, ANSWERS, ASKS, ANSWERS], "id", "messages[3].content[0]", "`tool_use` ids must be unique"),
    (
        "a call without an id",
        [USER, says({"type": "tool_use", "name": "n", "input": {}}), USER],
        "id",
        "messages[1].content[0]",
        "unique",
    ),
    ("two results for a call", [USER, ASKS, ANSWERS, ANSWERS], "id", "messages[3].content[0]", "must have a single result"),
    (
        "text before a result",
        [USER, ASKS, {"role": "user", "content": [TEXT, RESULT]}],
        "interleaved",
        "messages[2].content[0]",
        "",
    ),
    (
        "an empty text",
        [{"role": "user", "content": [TEXT, {"type": "text", "text": " "}]}],
        "empty",
        "messages[0].content[1]",
        "text content blocks must contain non-whitespace text",
    ),
    ("no content", [USER, says(), USER], "empty", "messages[1]", "messages.1: all messages must have non-empty content"),
    ("a server result alone", [USER, says(SERVED, TEXT), USER], "orphan-server-result", "messages[1].content[0]", ORPHAN_SERVED),
    ("an open server call", [USER, says(SERVER, TEXT), USER], "open-server-call", "messages[1].content[0]", ""),
    (
        "thinking at the end",
        [USER, says({"type": "thinking", "thinking": "x"}), USER],
        "reasoning",
        "messages[1].content[0]",
        "cannot be `thinking`",
    ),
    ("an answer first", [says(TEXT), USER], "first-not-user", "messages[0]", "first message must use"),
]


@pytest.mark.parametrize("messages, code, place, answer", [row[1:] for row in ANTHROPIC], ids=[row[0] for row in ANTHROPIC])
def test_anthropic_refuses(messages: list[Any], code: str, place: str, answer: str) -> None:
    form = FORMS["anthropic"]
    found = [fault for fault in form.legal(form.read({"messages": messages})) if fault.code == code]
    assert [fault.place for fault in found] == [place]
    assert answer in found[0].answer
    assert found[0].refused
    assert str(found[0]).startswith(place)


def test_an_empty_string_is_told_from_white_space() -> None:
    form = FORMS["anthropic"]
    (fault,) = form.legal(form.read({"messages": [{"role": "user", "content": ""}]}))
    assert (fault.place, fault.answer) == ("messages[0].content", "messages: text content blocks must be non-empty")


def test_neighbouring_messages_are_one_turn() -> None:
    """Anthropic joins them: results may come in several messages, and the index is that of the body."""
    form = FORMS["anthropic"]
    messages = [USER, says(TEXT), ASKS, ANSWERS, USER, says(TEXT), USER]
    assert form.legal(form.read({"messages": messages})) == []
    open_ = form.legal(form.read({"messages": [USER, says(TEXT), ASKS, USER]}))
    assert [fault.answer.split(":")[0] for fault in open_] == ["messages.2"]


def test_the_assistant_may_end_except_where_the_model_says_no() -> None:
    form = FORMS["anthropic"]
    read = form.read({"messages": [USER, says(TEXT), says(TEXT)]})
    for quirks, refused in ((frozenset(), False), (frozenset({"no-prefill"}), True)):
        (fault,) = form.legal(read, quirks)
        assert (fault.code, fault.place, fault.refused) == ("last-not-user", "messages[2]", refused)


def test_thinking_comes_first_where_it_is_enabled() -> None:
    form = FORMS["anthropic"]
    enabled = {"type": "enabled", "budget_tokens": 1024}
    thinks = says({"type": "thinking", "thinking": "x", "signature": "s"}, CALL)
    rows = [(enabled, ASKS, ["reasoning"]), ({"type": "disabled"}, ASKS, []), (None, ASKS, []), (enabled, thinks, [])]
    for thinking, turn, codes in rows:
        body = {"thinking": thinking, "messages": [USER, turn, ANSWERS]}
        assert [fault.code for fault in form.legal(form.read(body))] == codes


def test_a_string_answer_before_a_call_counts_as_no_thinking() -> None:
    form = FORMS["anthropic"]
    body = {"thinking": {"type": "enabled"}, "messages": [USER, {"role": "assistant", "content": "so"}, ASKS, ANSWERS]}
    (fault,) = form.legal(form.read(body))
    assert "found `text`" in fault.answer


def test_marks_are_counted_everywhere() -> None:
    form = FORMS["anthropic"]
    marked = {**TEXT, "cache_control": {"type": "ephemeral"}}
    nested = {"role": "user", "content": [{**RESULT, "content": [marked]}]}
    body = {
        "system": [marked],
        "tools": [{"name": "n", "cache_control": {"type": "ephemeral"}}],
        "messages": [USER, ASKS, nested],
    }
    assert form.legal(form.read({**body, "cache_control": {"type": "ephemeral"}})) == []
    body["messages"] = [USER, ASKS, {"role": "user", "content": [{**RESULT, "content": [marked, marked, marked]}]}]
    (fault,) = form.legal(form.read(body))
    assert (fault.code, fault.answer) == ("breakpoints", "A maximum of 4 blocks with cache_control may be provided. Found 5.")


CHAT: list[tuple[str, list[Any], str, str, str]] = [
    ("no message", [], "no-turns", "messages", "minimum length 1"),
    ("an open call", [USER, CHAT_ASKS, USER], "open-call", "messages[1].tool_calls[0]", CHAT_OPEN),
    ("an open call at the end", [USER, CHAT_ASKS], "open-call", "messages[1].tool_calls[0]", "call_1"),
    ("a late result", [USER, CHAT_ASKS, USER, CHAT_ANSWERS], "interleaved", "messages[1].tool_calls[0]", "call_1"),
    ("an orphan result", [USER, CHAT_ANSWERS], "orphan-result", "messages[1]", "must be a response to a"),
    ("two results for a call", [USER, CHAT_ASKS, CHAT_ANSWERS, CHAT_ANSWERS], "id", "messages[3]", ""),
    ("a result without an id", [USER, {"role": "tool", "content": "x"}], "id", "messages[1]", "tool_call_id"),
    (
        "one id for two calls",
        [USER, {**CHAT_ASKS, "tool_calls": [CHAT_CALL, CHAT_CALL]}, CHAT_ANSWERS],
        "id",
        "messages[1].tool_calls[1]",
        "",
    ),
    (
        "a call without an id",
        [USER, {**CHAT_ASKS, "tool_calls": [{**CHAT_CALL, "id": None}]}],
        "id",
        "messages[1].tool_calls[0]",
        "",
    ),
    (
        "a picture in a result",
        [USER, CHAT_ASKS, {**CHAT_ANSWERS, "content": [{"type": "image_url", "image_url": {"url": "u"}}]}],
        "media-in-tool",
        "messages[2].content",
        "",
    ),
    (
        "arguments that are no JSON",
        [USER, {**CHAT_ASKS, "tool_calls": [{**CHAT_CALL, "function": {"arguments": "{"}}]}, CHAT_ANSWERS],
        "bad-arguments",
        "messages[1].tool_calls[0].function.arguments",
        "",
    ),
    (
        "arguments of endless depth",
        [USER, {**CHAT_ASKS, "tool_calls": [{**CHAT_CALL, "function": {"arguments": "[" * 99_999}}]}, CHAT_ANSWERS],
        "bad-arguments",
        "messages[1].tool_calls[0].function.arguments",
        "",
    ),
    (
        "arguments that are an object",
        [USER, {**CHAT_ASKS, "tool_calls": [{**CHAT_CALL, "function": {"arguments": {"a": 1}}}]}, CHAT_ANSWERS],
        "bad-arguments",
        "messages[1].tool_calls[0].function.arguments",
        "",
    ),
    (
        "no function",
        [USER, {**CHAT_ASKS, "tool_calls": [{"id": "call_1"}]}, CHAT_ANSWERS],
        "bad-arguments",
        "messages[1].tool_calls[0].function.arguments",
        "",
    ),
    ("an empty answer", [USER, {"role": "assistant", "content": ""}, USER], "empty", "messages[1].content", ""),
    (
        "an answer of reasoning alone",
        [USER, {"role": "assistant", "reasoning_content": "x"}, USER],
        "empty",
        "messages[1].content",
        "",
    ),
]


@pytest.mark.parametrize("messages, code, place, answer", [row[1:] for row in CHAT], ids=[row[0] for row in CHAT])
def test_openai_refuses(messages: list[Any], code: str, place: str, answer: str) -> None:
    form = FORMS["openai-chat"]
    found = [fault for fault in form.legal(form.read({"messages": messages})) if fault.code == code]
    assert [fault.place for fault in found] == [place]
    assert answer in found[0].answer
    assert found[0].refused


@pytest.mark.parametrize(
    "messages, code, place",
    [
        ([{"role": "assistant", "content": "so"}, USER], "first-not-user", "messages[0]"),
        ([USER, {"role": "assistant", "content": "so"}], "last-not-user", "messages[1]"),
        ([USER, USER], "not-alternating", "messages[1]"),
        ([USER, {"role": "system", "content": "be"}, USER], "not-alternating", "messages[2]"),
        ([USER, {"role": "system", "content": "be"}], "not-alternating", "messages[1]"),
        ([USER, CHAT_ASKS, CHAT_ANSWERS, CHAT_ASKS, CHAT_ANSWERS], "id-reused", "messages[3].tool_calls[0]"),
    ],
)
def test_openai_takes_what_stricter_servers_do_not(messages: list[Any], code: str, place: str) -> None:
    form = FORMS["openai-chat"]
    found = form.legal(form.read({"messages": messages}))
    assert [(fault.code, fault.place, fault.refused) for fault in found] == [(code, place, False)]


def test_custom_tools_old_functions_and_refusals_are_no_faults() -> None:
    form = FORMS["openai-chat"]
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "n", "input": "not json"}}
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    for talk in (
        [USER, {**CHAT_ASKS, "tool_calls": [custom]}, CHAT_ANSWERS],
        [USER, legacy, {"role": "function", "name": "f", "content": "x"}],
        [USER, {"role": "assistant", "content": None, "refusal": "no"}, USER],
        [USER, {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}, USER],
    ):
        assert form.legal(form.read({"messages": talk})) == []


BLOCKS: list[tuple[str, list[Any], list[tuple[str, str]]]] = [
    ("fine", [USER, ASKS, ANSWERS, says(TEXT)], []),
    ("no message", [], [("no-turns", "messages")]),
    ("an open call", [USER, ASKS, USER], [("open-call", "messages[1].content[0]")]),
    ("an open call at the end", [USER, ASKS], [("open-call", "messages[1].content[0]")]),
    ("an orphan", [USER, ANSWERS], [("orphan-result", "messages[1].content[0]")]),
    ("answered twice", [USER, ASKS, ANSWERS, ANSWERS], [("id", "messages[3].content[0]")]),
    ("an id twice", [USER, ASKS, ANSWERS, ASKS, ANSWERS], [("id", "messages[3].content[0]")]),
    ("empty", [{"role": "user", "content": ""}, says()], [("empty", "messages[0].content"), ("empty", "messages[1]")]),
]


@pytest.mark.parametrize("messages, wanted", [row[1:] for row in BLOCKS], ids=[row[0] for row in BLOCKS])
def test_a_log_that_nobody_could_be_sent(messages: list[Any], wanted: list[tuple[str, str]]) -> None:
    form = FORMS["blocks"]
    found = form.legal(form.read({"messages": messages}))
    assert [(fault.code, fault.place) for fault in found] == wanted
