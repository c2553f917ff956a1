"""The form `openai-responses`: items, who speaks in them, what the provider refuses of them, and what is made."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from stage import PICTURES
from transom.errors import BadRequest
from transom.pairing import pair
from transom.parts import Part, walk
from transom.wire import openai_responses as form
from transom.wire.openai_responses_items import BLANK, LEFT_OUT

PNG = PICTURES["png"][1]
URL = f"data:image/png;base64,{PNG}"
ASKS = {"role": "user", "content": "hi"}


def read(*items: dict[str, Any], **fields: Any) -> list[tuple[str, Part]]:
    """Role and first part of each item."""
    return [(one.role, one.parts[0]) for one in form.read({"input": list(items), **fields}).messages]


def codes(*items: dict[str, Any], quirks: frozenset[str] = frozenset(), **fields: Any) -> list[str]:
    return [one.code for one in form.legal(form.read({"input": list(items), **fields}), quirks)]


def call(name: str, kind: str = "function_call", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": name, "name": "look", "arguments": "{}", **fields}


def output(name: str, held: Any = "seen", kind: str = "function_call_output") -> dict[str, Any]:
    return {"type": kind, "call_id": name, "output": held}


def test_a_string_is_the_users_one_message_and_comes_out_as_it_came() -> None:
    body = {"model": "gpt-5", "input": "hello", "instructions": "be brief"}
    read_ = form.read(body)
    assert [(one.role, one.parts[0].text) for one in read_.messages] == [("user", "hello")]
    assert read_.system[0].text == "be brief"
    assert read_.system[0].place == ("instructions",)
    assert transom.fit(body, api="openai-responses").request is body


@pytest.mark.parametrize(
    "item, role, kind, text, name",
    [
        (call("a"), "assistant", "call", "{}", "look"),
        ({"type": "custom_tool_call", "call_id": "a", "name": "sh", "input": "ls"}, "assistant", "call", "ls", "sh"),
        ({"type": "computer_call", "call_id": "a", "action": {"n": 1}}, "assistant", "call", '{"n":1}', "computer_call"),
        ({"type": "tool_search_call", "call_id": "a", "arguments": {"q": 1}}, "assistant", "call", '{"q":1}', "tool_search_call"),
        ({"type": "mcp_approval_request", "id": "a", "name": "rm", "arguments": "{}"}, "assistant", "call", "{}", "rm"),
        (output("a"), "tool", "result", "seen", ""),
        (output("a", "x", "local_shell_call_output"), "tool", "result", "x", ""),
        ({"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}, "tool", "result", "approved", ""),
        ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]}, "assistant", "reasoning", "so", ""),
        ({"type": "reasoning", "summary": None, "content": [{"text": "so"}, 5]}, "assistant", "reasoning", "so", ""),
        ({"type": "compaction", "encrypted_content": "eA=="}, "system", "opaque", "eA==", ""),
        ({"type": "item_reference", "id": "msg_1"}, "assistant", "reference", "", ""),
        ({"type": "tool_search_call", "call_id": None}, "assistant", "opaque", "", ""),
        ({"type": "tool_search_output", "call_id": None, "tools": []}, "assistant", "opaque", "", ""),
        ({"type": "web_search_call", "action": {"query": "q"}}, "assistant", "opaque", '{"query":"q"}', "web_search_call"),
        ({"type": "mcp_call", "name": "m", "arguments": "{}", "output": "out"}, "assistant", "opaque", "{}\nout", "m"),
        (
            {"type": "file_search_call", "queries": ["q"], "results": [{"text": "found"}]},
            "assistant", "opaque", '["q"]\nfound', "file_search_call",
        ),
        ({"type": "something_new", "words": "w"}, "assistant", "opaque", "w", ""),
        ({"type": "tool_use", "id": "t", "name": "n", "input": {}}, "assistant", "opaque", "{}", ""),
    ],
)  # fmt: skip
def test_each_item_says_whose_it_is_and_what_stands_in_it(
    item: dict[str, Any], role: str, kind: str, text: str, name: str
) -> None:
    found, part = read(item)[0]
    assert (found, part.kind, part.text, part.name, part.place) == (role, kind, text, name, ())
    assert part.raw is item


def test_pictures_are_found_wherever_they_hide() -> None:
    """Hiding places 3 and 4: screenshots of computer use, generated pictures, what code drew, results that are lists."""
    items = (
        {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": URL, "detail": "low"}]},
        {"type": "computer_call", "call_id": "c", "action": {}},
        output("c", {"type": "computer_screenshot", "image_url": URL}, "computer_call_output"),
        {"type": "image_generation_call", "id": "ig", "result": PNG},
        {
            "type": "code_interpreter_call",
            "code": "plot()",
            "outputs": [{"type": "logs", "logs": "ok"}, {"type": "image", "url": URL}],
        },
        call("f"),
        output("f", [{"type": "input_text", "text": "here"}, {"type": "input_image", "image_url": URL}]),
    )
    found = [part.media for message in form.read({"input": list(items)}).messages for part in walk(message.parts) if part.media]
    assert [(one.facts.width, one.facts.height, one.source, one.generated) for one in found] == [
        (64, 48, "data-url", False), (64, 48, "data-url", False), (64, 48, "base64", True), (64, 48, "data-url", False),
        (64, 48, "data-url", False),
    ]  # fmt: skip
    assert found[0].detail == "low"


def test_what_is_refused_is_named_with_the_words_of_the_provider() -> None:
    faults = form.legal(form.read({"input": [ASKS, call("a"), {"type": "reasoning", "id": "rs_1", "summary": []}, ASKS]}))
    assert [(one.place, one.code, one.answer) for one in faults] == [
        ("input[1]", "open-call", "No tool output found for function call a."),
        ("input[2]", "reasoning", "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    ]
    assert codes() == ["no-turns"]
    assert codes(output("a")) == ["orphan-result"]
    assert codes(call("a"), output("a"), output("a")) == ["id"]
    assert codes(call(""), output("")) == ["id"]


@pytest.mark.parametrize(
    "kind", ["web_search_call", "mcp_call", "image_generation_call", "code_interpreter_call", "local_shell_call"]
)
def test_reasoning_may_lead_to_whatever_the_model_does(kind: str) -> None:
    """The independent reader knows fewer kinds; the API sends reasoning ahead of each of these."""
    made = {"type": kind, "call_id": "a", "id": "a", "result": PNG}
    assert "reasoning" not in codes(ASKS, {"type": "reasoning", "summary": []}, made, ASKS)


@pytest.mark.parametrize("fields", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
def test_results_may_answer_calls_that_the_provider_holds(fields: dict[str, Any]) -> None:
    """An output whose call nobody sees stays, alone in a group that is never dropped, and only one for each call."""
    items = [output("seen"), output("seen", "again"), ASKS]
    assert codes(items[0], ASKS, **fields) == []
    groups, lines = pair(form.read({"input": items, **fields}), form)
    assert [(group.pinned, len(group.entries)) for group in groups] == [(True, 1), (False, 1)]
    assert [line.reason for line in lines] == ["a call that is answered already"]
    body = {"input": [items[0], ASKS], **fields}
    assert transom.fit(body, api="openai-responses", model="gpt-5").request is body
    assert form.read(body).held == tuple(fields)
    assert form.read({"previous_response_id": "resp_1"}).messages == ()


def test_a_reference_stays_and_lets_results_answer_it() -> None:
    groups, lines = pair(form.read({"input": [ASKS, {"type": "item_reference", "id": "fc_1"}, output("a"), ASKS]}), form)
    assert lines == ()
    assert [group.pinned for group in groups] == [False, True, True, False]


def test_strict_servers_get_each_result_right_behind_its_call() -> None:
    items = [ASKS, call("a"), call("b"), output("a"), output("b")]
    strict = frozenset({"strict-pairs"})
    assert codes(*items) == []
    assert codes(*items, quirks=strict) == ["interleaved", "interleaved"]
    assert codes({"role": "user", "content": []}, quirks=strict) == []
    groups, lines = pair(form.read({"input": items}), form, quirks=strict)
    out = [entry.message.json for group in groups for entry in group.entries]
    assert [one.get("call_id") for one in out] == [None, "a", "a", "b", "b"]
    assert [line.name for line in lines] == ["a"]
    assert pair(form.read({"input": out}), form, quirks=strict)[1] == ()


def test_reasoning_goes_with_the_item_it_led_to() -> None:
    """The pair goes or stays together: nothing else may follow it, so it is left out."""
    lost = {"type": "reasoning", "id": "rs_lost", "summary": [], "encrypted_content": "eA=="}
    kept = {**lost, "id": "rs_kept"}
    items = [ASKS, lost, ASKS, kept, {"type": "message", "role": "assistant", "content": "so"}, ASKS, lost, lost]
    groups, lines = pair(form.read({"input": items}), form)
    assert [entry.message.json for group in groups for entry in group.entries] == [*items[:1], *items[2:6]]
    assert [line.reason for line in lines] == ["reasoning that lost the item it led to"] * 3
    alone, _ = pair(form.read({"input": [lost]}), form)
    assert [entry.message.role for group in alone for entry in group.entries] == ["user"]


def test_a_left_out_screenshot_becomes_a_blank_one() -> None:
    """`computer_call_output.output` takes nothing but a screenshot."""
    body = {
        "model": "gpt-5.4",
        "input": [
            ASKS, call("c", "computer_call"),
            output("c", {"type": "computer_screenshot", "image_url": URL}, "computer_call_output"), ASKS,
        ],
    }  # fmt: skip
    made = transom.fit(body, api="openai-responses", max_image_bytes=1, newest="limit", budget=100_000)
    assert made.request["input"][2]["output"] == {"type": "computer_screenshot", "image_url": BLANK}
    assert form.read(made.request).messages[2].parts[0].text == LEFT_OUT
    again = transom.fit(made.request, api="openai-responses", max_image_bytes=1, newest="limit", budget=100_000)
    assert again.request is made.request


def test_what_stands_in_the_place_of_a_picture_fits_where_it_stood() -> None:
    conversation = form.read(
        {
            "input": [
                {"type": "image_generation_call", "result": PNG},
                {"type": "code_interpreter_call", "outputs": [{"type": "image", "url": URL}]},
                {"role": "user", "content": [{"type": "input_image", "image_url": URL}]},
            ]
        }
    )
    drawn, plotted, shown = (next(part for part in walk(one.parts) if part.media) for one in conversation.messages)
    assert form.placeholder(drawn, "w") == {
        "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "w"}],
    }  # fmt: skip
    assert form.placeholder(plotted, "w") == {"type": "logs", "logs": "w"}
    assert form.placeholder(shown, "w") == {"type": "input_text", "text": "w"}


def test_each_call_is_answered_in_its_own_shape() -> None:
    def stub(item: dict[str, Any]) -> Any:
        return form.result_stub(form.read_message(item, 0).parts[0], "gone")

    assert stub(call("a")) == output("a", "gone")
    assert stub(call("a", "custom_tool_call")) == output("a", "gone", "custom_tool_call_output")
    assert stub(call("a", "computer_call"))["output"] == {"type": "computer_screenshot", "image_url": BLANK}
    assert stub(call("a", "shell_call"))["output"][0]["stdout"] == "gone"
    assert stub(call("a", "apply_patch_call"))["status"] == "failed"
    assert stub(call("a", "tool_search_call")) == {
        "type": "tool_search_output", "call_id": "a", "execution": "client", "status": "incomplete", "tools": [],
    }  # fmt: skip
    assert stub({"type": "mcp_approval_request", "id": "a"}) == {
        "type": "mcp_approval_response", "approval_request_id": "a", "approve": False, "reason": "gone",
    }  # fmt: skip


def test_results_keep_their_shape_when_their_words_change() -> None:
    assert form.set_result({**output("a"), "id": "fco"}, "less") == {**output("a", "less"), "id": "fco"}
    assert form.set_result({"type": "mcp_approval_response", "approve": True}, "w")["reason"] == "w"
    assert form.set_result({"type": "tool_search_output", "tools": [1]}, "w")["tools"] == []
    assert form.rename_call(call("a"), "b")["call_id"] == "b"
    assert form.rename_call({"type": "mcp_approval_response", "approval_request_id": "a"}, "b")["approval_request_id"] == "b"
    assert form.place_results([output("a")], None) == (output("a"),)
    assert form.place_results([output("a")], ASKS) == (output("a"), ASKS)


def test_messages_spell_texts_as_their_role_does() -> None:
    said = {"type": "output_text", "text": "so", "annotations": []}
    assert form.message("assistant", ["a", form.text("b"), said, ""])["content"] == [
        {"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}, said,
    ]  # fmt: skip
    shot = {"type": "computer_screenshot", "image_url": URL}
    assert form.message("user", [said, shot])["content"] == [
        {"type": "input_text", "text": "so"}, {"type": "input_image", "image_url": URL},
    ]  # fmt: skip
    answer = {"type": "message", "role": "assistant", "content": [said]}
    assert form.with_parts(answer, [said]) == answer
    assert form.with_parts(answer, [said, form.text("b")])["content"] == [said, {"type": "output_text", "text": "b"}]
    assert form.with_parts(ASKS, ["ho"]) == {"role": "user", "content": "ho"}
    assert form.with_parts(ASKS, ["hi", form.text("b")])["content"] == [form.text("hi"), form.text("b")]
    assert form.with_parts(call("a"), [call("b")]) == call("b")
    assert form.with_parts(call("a"), [])["role"] == "assistant"
    assert form.join(ASKS, {"role": "user", "content": "ho"})["content"] == [form.text("hi"), form.text("ho")]
    with pytest.raises(BadRequest, match="cannot be joined"):
        form.join(ASKS, call("a"))


def test_marks_stand_on_parts_of_a_message() -> None:
    shown = {"role": "user", "content": [form.text("hi")]}
    part = form.read_message(shown, 0).parts[0]
    marked = form.mark(shown, part, {"mode": "explicit"})
    assert marked["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    assert form.mark(ASKS, form.read_message(ASKS, 0).parts[0], {"mode": "explicit"}) is ASKS
    assert form.mark(call("a"), form.read_message(call("a"), 0).parts[0], {}) == call("a")


def test_usage_counts_what_was_cached_as_part_of_the_input() -> None:
    answer = {"usage": {"input_tokens": 50, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 40}}}
    assert form.usage(answer) == form.usage({"response": answer})
    found = form.usage(answer)
    assert found is not None
    assert (found.prompt, found.cached, found.output, found.written) == (50, 40, 7, 0)
    assert form.usage({"usage": {"input_tokens": 5}}) is not None
    assert form.usage({"usage": {"input_tokens": 0}}) is None
    assert form.usage({"usage": {"input_tokens": float("nan")}}) is None


def test_errors_have_the_shape_of_the_api() -> None:
    assert form.error_body(429, "slow")["error"]["code"] == "rate_limit_exceeded"
    assert form.error_body(500, "x")["error"]["type"] == "server_error"
    assert form.error_body(400, "x") == {"error": {"message": "x", "type": "invalid_request_error", "param": None, "code": None}}


@pytest.mark.parametrize(
    "body, place",
    [
        ({}, "input"),
        ({"input": 5}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"type": "message", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [5]}]}, "input[0].content[0]"),
    ],
)
def test_what_does_not_belong_is_named_with_its_place(body: dict[str, Any], place: str) -> None:
    with pytest.raises(BadRequest) as caught:
        form.read(body)
    assert caught.value.place == place
