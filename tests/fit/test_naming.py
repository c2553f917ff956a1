"""Ids of calls, names of tools and titles of documents go out in the letters that their provider takes."""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import pytest

import transom
from transom.wire import naming

Json = dict[str, Any]


def claude(*messages: Json, **more: Any) -> Json:
    return {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": [{"role": "user", "content": "go"}, *messages], **more}


def asked(id_: str, name: str = "look") -> Json:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": id_, "name": name, "input": {}}]}


def seen(id_: str, words: str = "seen") -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id_, "content": words}]}


def mended(body: Json, api: str) -> Json:
    """What goes out: nothing that is refused, the same when it is fitted again, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api=api, strict=True).request
    assert body == before
    assert [one.code for one in transom.lint(made, api=api) if one.refused] == []
    assert transom.fit(made, api=api).request is made
    return made


def faults(body: Json, api: str) -> dict[str, str]:
    """The answers of the provider by code."""
    return {one.code: one.answer for one in transom.lint(body, api=api) if one.refused}


@pytest.mark.parametrize("odd", ["run:0", "functions.look:1", "call|fc_1", "a b", "ä"])
def test_an_id_that_anthropic_refuses_is_spelled_anew_in_the_call_and_its_result(oracle: ModuleType, odd: str) -> None:
    body = claude(asked(odd), seen(odd))
    assert faults(body, "anthropic") == {
        "odd-id": "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    }
    made = mended(body, "anthropic")
    call, result = made["messages"][1]["content"][0], made["messages"][2]["content"][0]
    assert call["id"] == result["tool_use_id"] == naming.spelled_id(odd, naming.ODD)
    assert naming.plain(call["id"]) == call["id"]
    assert oracle.refused(made, "anthropic") == []


def test_ids_that_are_spelled_alike_stay_apart_and_results_with_their_calls() -> None:
    body = claude(asked("a:1"), seen("a:1", "one"), asked("a_1"), seen("a_1", "two"), asked("a.1"), seen("a.1", "three"))
    made = mended(body, "anthropic")["messages"]
    names = [made[index]["content"][0]["id"] for index in (1, 3, 5)]
    assert len(set(names)) == 3
    assert names[1] == "a_1"
    assert [made[index]["content"][0]["tool_use_id"] for index in (2, 4, 6)] == names


def test_an_odd_id_that_comes_again_is_numbered_too_and_named_the_same_whatever_follows() -> None:
    talk = [asked("run:0"), seen("run:0", "one"), asked("run:0"), seen("run:0", "two")]
    made = mended(claude(*talk), "anthropic")["messages"]
    assert made[1]["content"][0]["id"] != made[3]["content"][0]["id"]
    longer = mended(claude(*talk, asked("run:0"), seen("run:0", "three")), "anthropic")["messages"]
    assert longer[:5] == made


def test_ids_that_other_providers_take_stay(oracle: ModuleType) -> None:
    call = {"id": "functions.look:0", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    body = {
        "model": "kimi-k2",
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "functions.look:0", "content": "seen"},
        ],
    }
    assert transom.fit(body, api="openai-chat", budget=10_000).request is body
    assert oracle.refused(body, "openai-chat") == []


CALLED: dict[str, Json] = {
    "anthropic": claude(asked("a", "server.look at"), seen("a")),
    "openai-chat": {
        "model": "gpt-5",
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "server.look at", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "seen"},
        ],
    },
    "openai-responses": {
        "model": "gpt-5",
        "input": [
            {"role": "user", "content": "go"},
            {"type": "function_call", "call_id": "a", "name": "server.look at", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "seen"},
        ],
    },
}
TOOLS: dict[str, Json] = {
    "anthropic": {"name": "server.look at", "input_schema": {"type": "object"}},
    "openai-chat": {"type": "function", "function": {"name": "server.look at", "parameters": {"type": "object"}}},
    "openai-responses": {"type": "function", "name": "server.look at", "parameters": {"type": "object"}},
}


@pytest.mark.parametrize("api", CALLED)
def test_a_tool_that_the_model_made_up_is_called_by_a_name_that_the_provider_takes(api: str) -> None:
    body = CALLED[api]
    answer = faults(body, api)["odd-name"]
    assert "match" in answer
    assert "pattern" in answer
    made = mended(body, api)
    assert "server.look at" not in str(made)
    assert "server_look_at" in str(made)


@pytest.mark.parametrize("api", CALLED)
def test_a_name_that_a_tool_is_declared_with_stays(api: str) -> None:
    body = {**CALLED[api], "tools": [TOOLS[api]]}
    assert faults(body, api) == {}
    assert transom.fit(body, api=api, budget=10_000).request is body


def nova(*content: Json, last: str = "") -> Json:
    messages = [{"role": "user", "content": [{"text": "go"}, *content]}]
    messages += [{"role": "assistant", "content": [{"text": last}]}] if last else []
    return {"modelId": "amazon.nova-pro-v1:0", "messages": messages}


def document(name: str) -> Json:
    return {"document": {"format": "txt", "name": name, "source": {"bytes": "aGVsbG8="}}}


@pytest.mark.parametrize(
    ("name", "goes"),
    [
        ("report.pdf", "report-pdf"),
        ("my  report", "my report"),
        ("a/b\tc", "a-b-c"),
        ("x" * 300, "x" * 200),
        ("../notes.txt", "notes-txt"),
    ],
)
def test_a_document_goes_out_under_a_name_that_bedrock_takes(name: str, goes: str) -> None:
    body = nova(document(name))
    assert faults(body, "bedrock")["odd-name"].startswith("The document file name can only contain alphanumeric characters")
    assert mended(body, "bedrock")["messages"][0]["content"][1]["document"]["name"] == goes


def test_documents_whose_letters_are_lost_stay_apart() -> None:
    made = mended(nova(document("報告書.txt"), document("請求書.txt")), "bedrock")["messages"][0]["content"]
    one, two = (part["document"]["name"] for part in made[1:])
    assert one != two
    assert one.startswith("txt-")
    assert mended(nova(document("...")), "bedrock")["messages"][0]["content"][1]["document"]["name"].startswith("document-")


@pytest.mark.parametrize("name", ["Document 1", "a_b", "x (2) [draft]"])
def test_a_document_s_name_that_bedrock_takes_stays(name: str) -> None:
    body = nova(document(name))
    assert transom.fit(body, api="bedrock", budget=10_000).request is body


TRAILING = "messages: final assistant content cannot end with trailing whitespace"


@pytest.mark.parametrize("content", ["So \n", [{"type": "text", "text": "So \n"}]])
def test_an_answer_to_go_on_with_does_not_end_with_white_space(content: Any) -> None:
    body = claude({"role": "assistant", "content": content})
    assert faults(body, "anthropic") == {"trailing": TRAILING}
    assert "'So'" in str(mended(body, "anthropic")["messages"][-1])
    again = claude({"role": "assistant", "content": content}, {"role": "user", "content": "on"})
    assert transom.fit(again, api="anthropic", budget=10_000).request is again


def test_nor_does_it_through_bedrock() -> None:
    body = nova(last="So ")
    assert faults(body, "bedrock") == {"trailing": TRAILING}
    assert mended(body, "bedrock")["messages"][-1]["content"] == [{"text": "So"}]


def test_converse_wants_tools_where_a_talk_used_some() -> None:
    talk = nova()
    talk["messages"] += [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "seen"}]}}]},
    ]
    answer = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    assert faults(talk, "bedrock") == {"tools": answer}
    tool = {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}
    assert faults({**talk, "toolConfig": {"tools": [tool]}}, "bedrock") == {}
