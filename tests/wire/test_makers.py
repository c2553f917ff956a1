"""The makers of the three forms: what goes in comes out, nothing given is changed, and no text is empty."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec.structs import replace

from transom.errors import BadRequest
from transom.parts import Media
from transom.wire import FORMS, blocks
from transom.wire.content import NOTHING
from transom.wire.form import Form, Usage

Body = dict[str, Any]
APIS = ("anthropic", "openai-chat", "blocks")
"""Forms whose parts have a `type`; the others have tests of their own."""
TYPED = ("anthropic", "blocks")
CALL = {"type": "tool_use", "id": "a", "name": "run", "input": {"x": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
CHAT_CALL = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}
CHAT_RESULT = {"role": "tool", "tool_call_id": "a", "content": "done", "x": 1}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
CHAT_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
MARK = {"type": "ephemeral"}

MESSAGES: list[tuple[str, Body, list[str]]] = [
    ("anthropic", {"role": "user", "content": "hi", "x": 1}, ["text"]),
    ("anthropic", {"role": "user", "content": ""}, ["text"]),
    ("anthropic", {"role": "user", "content": []}, []),
    ("anthropic", {"role": "user"}, []),
    ("anthropic", {"role": "user", "content": [RESULT, IMAGE, {"type": "text", "text": "hi"}], "x": 1},
     ["result", "image", "text"]),
    ("anthropic", {"role": "assistant", "content": [{"type": "thinking", "thinking": "so"}, CALL]}, ["reasoning", "call"]),
    ("blocks", {"participant": "alice", "content": [{"type": "text", "text": "hi"}]}, ["text"]),
    ("blocks", {"participant": "assistant", "content": [CALL]}, ["call"]),
    ("blocks", {"role": "human", "content": ["bare", {"type": "text", "text": "hi"}]}, ["text", "text"]),
    ("blocks", {"role": "tool", "tool_call_id": "a", "content": "done"}, ["result"]),
    ("blocks", {"role": "assistant", "content": "so", "tool_calls": [{"name": "n", "args": {}, "id": "a", "type": "tool_call"}]},
     ["text", "call"]),
    ("openai-chat", {"role": "user", "content": "hi", "name": "bob"}, ["text"]),
    ("openai-chat", {"role": "developer", "content": [{"type": "text", "text": "be"}]}, ["text"]),
    ("openai-chat", {"role": "user", "content": [CHAT_IMAGE, {"type": "text", "text": "hi"}]}, ["image", "text"]),
    ("openai-chat", {"role": "user", "content": "look", "images": ["AAAA"]}, ["text", "image"]),
    ("openai-chat", {"role": "assistant", "content": "see", "images": [CHAT_IMAGE]}, ["text", "image"]),
    ("openai-chat", {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL, CHAT_CALL]}, ["call", "call"]),
    ("openai-chat", {"role": "assistant", "tool_calls": [CHAT_CALL], "reasoning_content": "so", "x": 1}, ["reasoning", "call"]),
    ("openai-chat", {"role": "assistant", "content": "a", "reasoning_content": "a"}, ["reasoning", "text"]),
    ("openai-chat", {"role": "assistant", "content": None, "refusal": "no", "audio": {"id": "au"}}, ["text", "audio"]),
    ("openai-chat", {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, ["call"]),
    ("openai-chat", {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c", "type": "custom", "custom": {"name": "n", "input": "raw"}}]}, ["text", "call"]),
    ("openai-chat", {"role": "function", "name": "f", "content": "done"}, ["result"]),
    ("openai-chat", CHAT_RESULT, ["result"]),
    ("openai-chat", {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]}, ["result"]),
]  # fmt: skip


@pytest.mark.parametrize("api, json, kinds", MESSAGES)
def test_the_same_parts_give_the_same_message(api: str, json: Body, kinds: list[str]) -> None:
    """Identity: a message that is put together from its own parts is equal, and unknown fields survive."""
    form = FORMS[api]
    before = copy.deepcopy(json)
    message = form.read_message(json, 3)
    assert [part.kind for part in message.parts] == kinds
    assert message.json is json
    assert form.with_parts(json, [part.raw for part in message.parts]) == before
    assert json == before


@pytest.mark.parametrize("api, json, kinds", MESSAGES)
def test_every_place_leads_to_its_raw_part(api: str, json: Body, kinds: list[str]) -> None:
    message = FORMS[api].read_message(json, 0)
    assert len(message.parts) == len(kinds)
    for part in message.parts:
        at: Any = json
        for step in part.place:
            at = at[step]
        assert at is part.raw


@pytest.mark.parametrize("api", APIS)
def test_no_maker_writes_an_empty_text(api: str) -> None:
    form = FORMS[api]
    call = form.read_message(_asks(api), 0).parts[0]
    assert form.text("") == {"type": "text", "text": NOTHING}
    assert form.result_stub(call, "")["content"] == NOTHING
    assert form.set_result({"content": "x"}, "")["content"] == NOTHING
    made = form.with_parts({"role": "user", "content": "x"}, ["", form.text("y")])
    assert made["content"] == [{"type": "text", "text": "y"}]
    assert form.with_parts({"role": "user", "content": "x"}, [""])["content"] == NOTHING


def _asks(api: str) -> Body:
    if api == "openai-chat":
        return {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
    return {"role": "assistant", "content": [CALL]}


def test_string_content_stays_a_string_while_it_is_alone() -> None:
    for form in map(FORMS.__getitem__, APIS):
        json = {"role": "user", "content": "hi", "x": 1}
        assert form.with_parts(json, ["other"]) == {"role": "user", "content": "other", "x": 1}
        both = form.with_parts(json, ["hi", form.text("more")])
        assert both["content"] == [{"type": "text", "text": "hi"}, {"type": "text", "text": "more"}]


def test_messages_are_made() -> None:
    assert FORMS["anthropic"].message("user", [{"type": "text", "text": "x"}]) == {
        "role": "user",
        "content": [{"type": "text", "text": "x"}],
    }
    chat = FORMS["openai-chat"]
    assert chat.message("user", [chat.text("x")]) == {"role": "user", "content": "x"}
    assert chat.message("user", [chat.text("x"), CHAT_IMAGE])["content"] == [chat.text("x"), CHAT_IMAGE]
    assert chat.message("assistant", [CHAT_CALL]) == {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}


def test_chat_parts_go_to_their_fields() -> None:
    """New calls go to `tool_calls`, what came out of a field goes back, and content is null when only calls remain."""
    chat = FORMS["openai-chat"]
    json = {"role": "assistant", "content": "so", "tool_calls": [CHAT_CALL], "refusal": "no", "x": 1}
    text, refusal, call = (part.raw for part in chat.read_message(json, 0).parts)
    assert chat.with_parts(json, [call]) == {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL], "x": 1}
    assert chat.with_parts(json, [text, refusal]) == {"role": "assistant", "content": "so", "refusal": "no", "x": 1}
    listed = {"role": "assistant", "content": [chat.text("so")], "tool_calls": [CHAT_CALL]}
    assert chat.with_parts(listed, listed["content"])["content"] is listed["content"]
    custom = {"id": "b", "type": "custom", "custom": {"name": "n", "input": ""}}
    assert chat.with_parts(json, [text, call, custom])["tool_calls"] == [CHAT_CALL, custom]
    legacy = {"name": "f", "arguments": "{}"}
    assert chat.with_parts(json, [legacy, {"id": "au"}]) == {
        "role": "assistant", "content": None, "function_call": legacy, "audio": {"id": "au"}, "x": 1,
    }  # fmt: skip
    assert chat.with_parts({**CHAT_RESULT}, [CHAT_RESULT]) == CHAT_RESULT
    assert chat.with_parts({**CHAT_RESULT}, [])["content"] == NOTHING


def test_results_are_stubbed_in_the_form_s_own_shape() -> None:
    call = FORMS["anthropic"].read_message(_asks("anthropic"), 0).parts[0]
    assert FORMS["anthropic"].result_stub(call, "gone") == {
        "type": "tool_result", "tool_use_id": "a", "content": "gone", "is_error": True,
    }  # fmt: skip
    chat = FORMS["openai-chat"]
    assert chat.result_stub(chat.read_message(_asks("openai-chat"), 0).parts[0], "gone") == {
        "role": "tool", "tool_call_id": "a", "content": "gone",
    }  # fmt: skip
    legacy = chat.read_message({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, 0).parts[0]
    assert chat.result_stub(legacy, "gone") == {"role": "function", "name": "f", "content": "gone"}
    camel = FORMS["blocks"].read_message(
        {"role": "assistant", "content": [{"type": "tool_use", "toolUseId": "z", "name": "n"}]}, 0
    )
    assert FORMS["blocks"].result_stub(camel.parts[0], "gone") == {
        "type": "tool_result", "toolUseId": "z", "content": "gone", "isError": True,
    }  # fmt: skip


def test_server_calls_get_results_of_their_own_type() -> None:
    form = FORMS["anthropic"]
    rows = [
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, "web_search_tool_result"),
        ({"type": "mcp_tool_use", "id": "s", "name": "n", "input": {}}, "mcp_tool_result"),
    ]
    for raw, kind in rows:
        stub = form.result_stub(form.read_message({"role": "assistant", "content": [raw]}, 0).parts[0], "gone")
        assert (stub["type"], stub["tool_use_id"]) == (kind, "s")
        assert form.read_message({"role": "assistant", "content": [stub]}, 0).parts[0].kind == "server-result"


def test_a_result_takes_other_words_and_keeps_its_id_and_flag() -> None:
    raw = {**RESULT, "is_error": True, "rawItem": {"id": "i"}, "structuredContent": {"a": 1}}
    for api in TYPED:
        assert FORMS[api].set_result(raw, "less") == {**RESULT, "is_error": True, "content": "less"}
    chat = {**CHAT_RESULT, "api_content": "old"}
    assert FORMS["openai-chat"].set_result(chat, "less") == {**CHAT_RESULT, "content": "less"}


@pytest.mark.parametrize("api", TYPED)
def test_results_stand_in_front_of_the_user_turn_behind_their_calls(api: str) -> None:
    """CM-101: moved or stub results go to the front of the next turn, or into one of their own."""
    form = FORMS[api]
    user = {"role": "user", "content": "next", "x": 1}
    answer = {"role": "assistant", "content": "so"}
    assert form.place_results([RESULT], user) == (
        {"role": "user", "content": [RESULT, {"type": "text", "text": "next"}], "x": 1},
    )  # fmt: skip
    assert form.place_results([RESULT], answer) == ({"role": "user", "content": [RESULT]}, answer)
    assert form.place_results([RESULT], None) == ({"role": "user", "content": [RESULT]},)
    assert form.place_results([RESULT], {"role": "user"}) == ({"role": "user", "content": [RESULT]},)


def test_chat_results_are_messages_in_front_of_what_follows() -> None:
    user = {"role": "user", "content": "next"}
    assert FORMS["openai-chat"].place_results([CHAT_RESULT], user) == (CHAT_RESULT, user)
    assert FORMS["openai-chat"].place_results([CHAT_RESULT], None) == (CHAT_RESULT,)


@pytest.mark.parametrize(
    "api, raw, wanted",
    [
        ("anthropic", CALL, {**CALL, "id": "z"}),
        ("anthropic", RESULT, {**RESULT, "tool_use_id": "z"}),
        ("anthropic", {"type": "tool_use", "name": "n", "input": {}}, {"type": "tool_use", "name": "n", "input": {}, "id": "z"}),
        ("anthropic", {**CALL, "rawItem": {"id": "a"}}, {**CALL, "id": "z"}),
        ("blocks", {"type": "tool_result", "toolUseId": "a"}, {"type": "tool_result", "toolUseId": "z"}),
        ("blocks", CALL, {**CALL, "id": "z"}),
        ("openai-chat", CHAT_CALL, {**CHAT_CALL, "id": "z"}),
        ("openai-chat", CHAT_RESULT, {**CHAT_RESULT, "tool_call_id": "z"}),
        ("openai-chat", {"name": "f", "arguments": "{}"}, {"name": "f", "arguments": "{}"}),
        ("openai-chat", {"role": "function", "name": "f"}, {"role": "function", "name": "f"}),
    ],
)
def test_ids_are_renamed(api: str, raw: Body, wanted: Body) -> None:
    before = copy.deepcopy(raw)
    assert FORMS[api].rename_call(raw, "z") == wanted
    assert raw == before


@pytest.mark.parametrize(
    "api, raw, wanted",
    [
        ("anthropic", IMAGE, {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "BBBB"}}),
        ("openai-chat", CHAT_IMAGE, {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BBBB", "detail": "low"}}),
        ("blocks", {"type": "image", "data": "AAAA", "mimeType": "image/png", "rawItem": {}},
         {"type": "image", "data": "BBBB", "mimeType": "image/jpeg"}),
        ("blocks", {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
         {"image": {"format": "jpeg", "source": {"bytes": "BBBB"}}}),
    ],
)  # fmt: skip
def test_media_are_replaced_where_they_stand(api: str, raw: Body, wanted: Body) -> None:
    form = FORMS[api]
    json = {"role": "user", "content": [raw, {"type": "text", "text": "x"}]}
    part = form.read_message(json, 0).parts[0]
    assert part.media is not None
    smaller: Media = replace(part.media, declared="image/jpeg", payload="BBBB")
    made = form.set_media(json, part, smaller)
    assert made["content"][0] == wanted
    assert made["content"][1] is json["content"][1]
    assert form.set_media(json, part, part.media) is json


@pytest.mark.parametrize(
    "url, wanted",
    [
        ("data:image/png;charset=utf-8;base64,AAAA", "data:image/webp;charset=utf-8;base64,AAAA"),
        ("DATA:IMAGE/PNG;BASE64,AAAA", "data:image/webp;BASE64,AAAA"),
        ("data:image/png,%3Csvg", "data:image/webp,%3Csvg"),
    ],
)
def test_another_type_leaves_the_rest_of_a_data_url(url: str, wanted: str) -> None:
    chat = FORMS["openai-chat"]
    json = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    part = chat.read_message(json, 0).parts[0]
    assert part.media is not None
    made = chat.set_media(json, part, replace(part.media, declared="image/webp"))
    assert made["content"][0]["image_url"]["url"] == wanted
    other = chat.set_media(json, part, replace(part.media, payload="BBBB"))
    assert other["content"][0]["image_url"]["url"] == "data:image/png;base64,BBBB"


@pytest.mark.parametrize("api", TYPED)
def test_joined_messages_hold_the_parts_of_both(api: str) -> None:
    first, second = {"role": "user", "content": "a", "x": 1}, {"role": "user", "content": [IMAGE], "x": 2, "y": 3}
    joined = FORMS[api].join(first, second)
    assert joined == {"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE], "x": 1, "y": 3}


def test_chat_messages_join() -> None:
    join = FORMS["openai-chat"].join
    assert join({"role": "user", "content": "a"}, {"role": "user", "content": "b"}) == {"role": "user", "content": "a\n\nb"}
    assert join({"role": "user", "content": "a"}, {"role": "user", "content": [CHAT_IMAGE]})["content"] == [
        {"type": "text", "text": "a"},
        CHAT_IMAGE,
    ]
    one = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL], "reasoning_content": "p"}
    two = {"role": "assistant", "content": "b", "tool_calls": [CHAT_CALL], "reasoning_content": "q"}
    assert join(one, two) == {
        "role": "assistant", "content": "b", "tool_calls": [CHAT_CALL, CHAT_CALL], "reasoning_content": "p\n\nq",
    }  # fmt: skip
    assert join({"role": "user", "content": ""}, {"role": "user", "content": "b"})["content"] == "b"


@pytest.mark.parametrize(
    "api, key", [("anthropic", "cache_control"), ("blocks", "cache_control"), ("openai-chat", "prompt_cache_breakpoint")]
)
def test_marks_are_placed_and_taken(api: str, key: str) -> None:
    form = FORMS[api]
    json = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    part = form.read_message(json, 0).parts[1]
    marked = form.mark(json, part, MARK)
    assert marked["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b", key: MARK}]
    assert marked["content"][0] is json["content"][0]
    again = form.read_message(marked, 0).parts[1]
    assert again.marked
    assert form.mark(marked, again, MARK) is marked
    assert form.mark(marked, again, None) == json
    assert form.mark(json, part, None) is json


@pytest.mark.parametrize("api", APIS)
def test_a_marked_string_becomes_a_list(api: str) -> None:
    form = FORMS[api]
    json = {"role": "user", "content": "hi"}
    made = form.mark(json, form.read_message(json, 0).parts[0], MARK)
    assert [part.text for part in form.read_message(made, 0).parts] == ["hi"]
    assert form.read_message(made, 0).parts[0].marked


@pytest.mark.parametrize("api", APIS)
def test_empty_text_reasoning_and_calls_beside_the_content_carry_no_mark(api: str) -> None:
    form = FORMS[api]
    rows: list[Body] = [{"role": "user", "content": ""}, {"role": "user", "content": [{"type": "text", "text": " "}]}]
    rows += [{"role": "assistant", "content": [{"type": "thinking", "thinking": "so"}]}]
    rows += [{"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}] if api == "openai-chat" else []
    for json in rows:
        assert form.mark(json, form.read_message(json, 0).parts[0], MARK) is json


@pytest.mark.parametrize(
    "api, answer, wanted",
    [
        ("anthropic", {"usage": {"input_tokens": 5, "output_tokens": 2}}, Usage(prompt=5, output=2)),
        ("anthropic",
         {"usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3}},
         Usage(prompt=15, output=2, cached=7, written=3)),
        ("anthropic", {"type": "message_start", "message": {"usage": {"input_tokens": 5}}}, Usage(prompt=5, output=0)),
        ("anthropic", {"input_tokens": 5.0, "output_tokens": None}, Usage(prompt=5, output=0)),
        ("anthropic", {"usage": {"output_tokens": 2}}, None),
        ("anthropic", {"usage": {"input_tokens": float("nan")}}, None),
        ("anthropic", {"usage": {"input_tokens": True}}, None),
        ("anthropic", {"usage": {"input_tokens": -1}}, None),
        ("anthropic", {"usage": {"input_tokens": 0}}, None),
        ("anthropic", {}, None),
        ("openai-chat", {"usage": {"prompt_tokens": 9, "completion_tokens": 1}}, Usage(prompt=9, output=1)),
        ("openai-chat", {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}},
         Usage(prompt=9, output=0, cached=4)),
        ("openai-chat", {"usage": {"prompt_tokens": 9, "prompt_tokens_details": None}}, Usage(prompt=9, output=0)),
        ("openai-chat", {"usage": None}, None),
        ("openai-chat", {"usage": {"prompt_tokens": float("inf")}}, None),
        ("blocks", {"usage": {"prompt_tokens": 9}}, None),
    ],
)  # fmt: skip
def test_usage_is_read_in_the_provider_s_own_sense(api: str, answer: Body, wanted: Usage | None) -> None:
    """The prompt is all of the input: Anthropic's cached tokens stand beside it, OpenAI's inside."""
    assert FORMS[api].usage(answer) == wanted


def test_errors_have_the_form_s_shape() -> None:
    assert FORMS["anthropic"].error_body(413, "too big") == {
        "type": "error", "error": {"type": "request_too_large", "message": "too big"},
    }  # fmt: skip
    assert FORMS["anthropic"].error_body(500, "x")["error"]["type"] == "api_error"
    assert FORMS["anthropic"].error_body(422, "x")["error"]["type"] == "invalid_request_error"
    assert FORMS["openai-chat"].error_body(400, "x")["error"] == {
        "message": "x", "type": "invalid_request_error", "param": None, "code": None,
    }  # fmt: skip
    assert FORMS["openai-chat"].error_body(503, "x")["error"]["type"] == "server_error"
    assert FORMS["blocks"].error_body(400, "x") == {"error": {"message": "x"}}


def test_an_mcp_result_becomes_parts() -> None:
    """CM-09: a picture in MCP's form becomes a base64 source; text, embedded text and sound are parts of their own."""
    result = {
        "content": [
            {"type": "text", "text": "page loaded", "annotations": {}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "u", "mimeType": "text/plain", "text": "row one"}},
            {"type": "resource", "resource": {"uri": "u", "mimeType": "application/zip", "blob": "UEsDBGRlbW8="}},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "demo://big", "name": "big"},
        ],
        "structuredContent": {"rows": 1},
    }
    raw = blocks.mcp_result("call_m", result)
    part = blocks.read_message({"role": "user", "content": [raw]}, 0).parts[0]
    assert (part.kind, part.id, part.failed) == ("result", "call_m", False)
    assert [inner.kind for inner in part.parts] == ["text", "image", "text", "text", "audio", "text"]
    assert [inner.text for inner in part.parts] == ["page loaded", "", "row one", "u", "", "demo://big\nbig"]
    assert raw["content"][1] == IMAGE
    assert blocks.mcp_result("a", {"content": [], "isError": True})["content"] == [{"type": "text", "text": NOTHING}]
    assert blocks.mcp_result("a", {"content": [], "structuredContent": {"a": 1}})["content"][0]["text"] == '{"a":1}'
    assert blocks.mcp_result("a", {"content": [{"type": "image", "url": "https://e.org/a.png"}]})["content"][0]["url"]
    with pytest.raises(BadRequest, match="content"):
        blocks.mcp_result("a", {"content": "x"})


def test_every_form_is_a_form() -> None:
    for api, form in FORMS.items():
        checked: Form = form
        assert checked.api == api
        assert (checked.results_in, checked.merges) == (("tool", False) if api.startswith("openai") else ("user", True))
