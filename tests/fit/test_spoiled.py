"""Bodies that something went wrong with: what cannot be mended is the body's fault, with its place, and never transom's own."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import conversations
import transom
from transom.errors import BadRequest, BadSetting, OverBudget
from transom.wire import required

Json = dict[str, Any]
JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    " ",
    "text",
    "user",
    "assistant",
    "tool",
    "tool_use",
    "reasoning",
    [],
    {},
    [{}],
    [""],
)
"""What stands where something else should."""
PARTS: tuple[Any, ...] = (
    {"type": "tool_use"},
    {"type": "tool_use", "id": "a", "name": "f"},
    {"type": "tool_result"},
    {"type": "tool_result", "tool_use_id": "a"},
    {"type": "function", "id": "a"},
    {"type": "server_tool_use", "id": "s"},
    {"type": "thinking", "thinking": "Hm."},
    {"toolUse": {"type": "text"}},
    {"toolResult": None},
    {"functionCall": None},
    {"functionResponse": {}},
    {"type": "reasoning"},
    {"type": "function_call"},
    {"type": "function_call_output"},
    {"type": "an unknown one"},
    {"role": "tool", "tool_call_id": "a", "content": "x"},
    {"role": "assistant", "tool_calls": [{}]},
)
"""Pieces of every form, whole and broken."""


def places(node: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of every node below this one."""
    below = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, value in below:
        yield (*place, step)
        yield from places(value, (*place, step))


@st.composite
def spoiled(draw: Any, api: str) -> Json:
    """A legal body in which a few nodes are gone, stand twice, or are something else."""
    body: Json = copy.deepcopy(draw(conversations.legal_bodies(api)))
    for _ in range(draw(st.integers(1, 4))):
        found = list(places(body))
        *way, last = draw(st.sampled_from(found))
        holder: Any = body
        for step in way:
            holder = holder[step]
        match draw(st.sampled_from(("gone", "junk", "junk", "part", "twice", "swapped"))):
            case "gone":
                del holder[last]
            case "junk":
                holder[last] = copy.deepcopy(draw(st.sampled_from(JUNK)))
            case "part":
                holder[last] = copy.deepcopy(draw(st.sampled_from(PARTS)))
            case "twice" if isinstance(holder, list):
                holder.insert(last, copy.deepcopy(holder[last]))
            case _:
                other = draw(st.sampled_from(found))
                holder[last] = copy.deepcopy(at(body, other))
        if not body:
            break
    return body


def at(node: Any, place: tuple[str | int, ...]) -> Any:
    """What stands at a place; null where it is gone by now."""
    with contextlib.suppress(LookupError, TypeError):
        for step in place:
            node = node[step]
        return node
    return None


@pytest.mark.parametrize("api", conversations.APIS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_spoiled_body_is_mended_or_refused_with_a_place(api: str, data: st.DataObject) -> None:
    """fit and repair raise nothing but what they say they raise, and repairing twice changes nothing."""
    body = data.draw(spoiled(api))
    with contextlib.suppress(BadRequest, BadSetting, OverBudget):
        transom.fit(body, api=api, budget=data.draw(st.sampled_from((None, 500, 5_000))))
    try:
        mended = transom.repair(body, api=api).request
    except BadRequest:
        return
    assert transom.repair(mended, api=api).request is mended


USER = {"role": "user", "content": "hi"}
ANTHROPIC = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "system": "s",
    "messages": [
        USER,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
    ],
}


@pytest.mark.parametrize(
    "api, body, words",
    [
        ("anthropic", {"messages": []}, "^messages: there is no message"),
        ("openai-chat", {"messages": []}, "^messages: there is no message"),
        ("bedrock", {"messages": []}, "^messages: there is no message"),
        ("blocks", {"messages": []}, "^messages: there is no message"),
        ("gemini", {"contents": []}, "^contents: there is no content"),
        ("openai-responses", {"input": []}, "^input: there is no item"),
        ("openai-chat", ANTHROPIC, r"^messages\[1\].content\[0\]: this call .* the body looks like anthropic"),
        ("openai-responses", ANTHROPIC, "^input: there is no `input`.* the body has `messages`, as anthropic"),
        ("gemini", ANTHROPIC, "^contents: there is no `contents`.* the body has `messages`, as anthropic"),
        ("anthropic", {"contents": [{"parts": [{"text": "x"}]}]}, "the body has `contents`, as gemini has it"),
        ("anthropic", {"x": 1}, "there is no `messages`, and a request has a list of objects here$"),
        (
            "bedrock",
            {"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]},
            r"^messages\[0\].content\[0\]: this",
        ),
        (
            "openai-chat",
            {
                "messages": [
                    {**USER, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "a", "content": "x"},
                ]
            },
            r"^messages\[0\].tool_calls\[0\]: this call stands where openai-chat takes none",
        ),
        ("gemini", {"contents": [{"parts": [{"type": "server_tool_use"}]}]}, r"^contents\[0\].parts\[0\]: this call"),
        (
            "openai-responses",
            {"input": [{"role": "user", "content": [{"type": "tool_use"}]}]},
            r"^input\[0\].content\[0\]: this call",
        ),
    ],
)
def test_what_cannot_be_mended_is_the_bodys_fault(api: str, body: Json, words: str) -> None:
    for call in (transom.fit, transom.repair):
        with pytest.raises(BadRequest, match=words):
            call(body, api=api)


CALLS: list[tuple[str, Json, Json]] = [
    (
        "openai-chat",
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]},
        {"id": "a", "type": "function", "function": {"name": "unnamed_tool", "arguments": "{}"}},
    ),
    (
        "openai-chat",
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": None}]},
        {"id": "a", "type": "function", "function": {"name": "unnamed_tool", "arguments": "{}"}},
    ),
    (
        "openai-chat",
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "f", "args": {"n": 1}}]},
        {"id": "a", "name": "f", "args": {"n": 1}, "type": "function", "function": {"name": "f", "arguments": '{"n":1}'}},
    ),
    (
        "openai-chat",
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "f", "arguments": '{"n": 1}'}]},
        {"id": "a", "name": "f", "arguments": '{"n": 1}', "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}},
    ),
    (
        "bedrock",
        {"role": "assistant", "content": [{"toolUse": None}]},
        {"toolUse": {"input": {}, "name": "unnamed_tool", "toolUseId": "call_f85e121f9938"}},
    ),
    (
        "anthropic",
        {"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "f"}]},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    ),
    (
        "blocks",
        {"role": "user", "content": [{"type": "tool_use", "id": "a"}]},
        {"type": "tool_use", "id": "a", "input": {}, "name": "unnamed_tool"},
    ),
    (
        "bedrock",
        {"role": "user", "content": [{"toolUse": {"toolUseId": "a", "name": "f"}}]},
        {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}},
    ),
    (
        "gemini",
        {"role": "user", "parts": [{"functionCall": {"name": "f", "args": "x"}}]},
        {"functionCall": {"name": "f", "args": {"arguments": "x"}}},
    ),
    ("gemini", {"role": "model", "parts": [{"functionCall": {}}]}, {"functionCall": {"name": "unnamed_tool"}}),
]


@pytest.mark.parametrize("api, message, wanted", CALLS)
def test_a_call_that_lacks_something_is_whole_after_one_repair(api: str, message: Json, wanted: Json) -> None:
    """In whichever turn it stands; providers refuse a call without a name or arguments."""
    key = "contents" if api == "gemini" else "messages"
    first = (
        {"role": "user", "parts": [{"text": "x"}]}
        if api == "gemini"
        else {"role": "user", "content": [{"type": "text", "text": "x"}]}
    )
    first = first if api != "bedrock" else {"role": "user", "content": [{"text": "x"}]}
    mended = transom.repair({key: [first, message]}, api=api).request
    sent = mended[key][1]
    assert (sent.get("tool_calls") or sent.get("content") or sent["parts"])[0] == wanted
    assert transom.repair(mended, api=api).request is mended
    assert not [fault for fault in transom.lint(mended, api=api) if fault.refused and fault.code not in required.CODES]


def test_reasoning_may_lead_to_an_item_that_nobody_knows() -> None:
    """New kinds of items come every month; the reasoning before one is as needed as before a call."""
    said = {"role": "user", "content": "x"}
    body = {"model": "gpt-5", "input": [said, {"type": "reasoning", "id": "rs", "summary": []}, {"type": "new_item", "id": "n"}]}
    assert transom.fit(body, api="openai-responses").request is body
    assert transom.lint(body, api="openai-responses") == []
