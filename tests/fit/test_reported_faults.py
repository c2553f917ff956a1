"""Faults as people report them, in requests made up here: each is mended, or passes where its provider takes it."""

from __future__ import annotations

import base64
import copy
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

import transom
from bodies import png
from rewritten import key_of
from transom import catalog
from transom.pricing import PriceList
from transom.wire import required

Json = dict[str, Any]
MODELS = {
    "anthropic": "claude-opus-4-8",
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5",
    "gemini": "gemini-2.5-flash",
    "bedrock": "anthropic.claude-sonnet-4-5-20250929-v1:0",
}


def told(api: str, *turns: Json, **more: Any) -> Json:
    """A body with these turns."""
    model = "modelId" if api == "bedrock" else "model"
    answer = {"max_tokens": 50} if api == "anthropic" else {}
    return {model: MODELS[api], **answer, **more, key_of(api): list(turns)}


def user(*content: Any) -> Json:
    return {"role": "user", "content": content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)}


def says(*content: Any) -> Json:
    return {**user(*content), "role": "assistant"}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def call(name: str, **given: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": "look", "input": given}


def result(name: str, content: Any = "seen", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def served(name: str) -> Json:
    return {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "q"}}


THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}


def mended(body: Json, api: str, oracle: ModuleType, **settings: Any) -> Json:
    """The request that is made of a body: legal, stable, and made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api=api, strict=True, **settings).request
    assert body == before
    if api != "bedrock":
        assert oracle.refused(made, api) == []
    assert [str(one) for one in transom.lint(made, api=api) if one.refused and one.code not in required.CODES] == []
    assert transom.fit(made, api=api, strict=True, **settings).request is made
    return made


def untouched(body: Json, api: str) -> None:
    """A body that its provider takes comes out as the same object, and nothing is said against it."""
    assert [str(one) for one in transom.lint(body, api=api) if one.refused and one.code not in required.CODES] == []
    made = transom.fit(body, api=api, strict=True)
    assert made.request is body, str(made.report)


# ------------------------------------------------------------------------------------------------- turns that come together


def test_a_turn_whose_middle_is_gone_is_one_turn_again(oracle: ModuleType) -> None:
    """A result without a call stood between thinking and the rest of its turn: nothing may be put in its place."""
    body = told("anthropic", user("go"), says(THOUGHT, result("nobody's")), says(text("on")), user("next"))
    assert mended(body, "anthropic", oracle)["messages"][1:3] == [says(THOUGHT), says(text("on"))]


def test_a_server_call_is_answered_where_a_note_ends_its_turn(oracle: ModuleType) -> None:
    """A turn that was broken off behind a search goes on only where it ends with it; a note of the user ends it."""
    body = told("anthropic", user("go"), says(served("srvtoolu_s"), text("so")))
    turn = mended(body, "anthropic", oracle)["messages"][1]["content"]
    assert [part["type"] for part in turn] == ["server_tool_use", "web_search_tool_result", "text"]
    untouched(told("anthropic", user("go"), says(text("so"), served("srvtoolu_s"))), "anthropic")


# ---------------------------------------------------------------------------------------------- outputs that stand apart


def item(role: str, *content: Json) -> Json:
    return {"type": "message", "role": role, "content": list(content)}


def heard(words: str) -> Json:
    return item("user", {"type": "input_text", "text": words})


def function(name: str) -> Json:
    return {"type": "function_call", "call_id": name, "name": "look", "arguments": "{}"}


def output(name: str, words: Any = "seen") -> Json:
    return {"type": "function_call_output", "call_id": name, "output": words}


def shown(seed: int) -> Json:
    return item("user", {"type": "input_image", "image_url": f"data:image/png;base64,{encoded(png(320, 200 + seed))}"})


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


LOOKS = told(
    "openai-responses",
    heard("begin"),
    *(one for n in range(6) for one in (function(f"c{n}"), shown(n), output(f"c{n}", f"attached {n}"))),
    heard("so?"),
)
"""A host that shows a picture ahead of the output that says so."""


def test_what_the_user_says_before_an_output_stays_where_the_provider_takes_it() -> None:
    untouched(LOOKS, "openai-responses")
    late = told("openai-responses", heard("a"), function("c"), function("d"), output("c"), heard("quick"), output("d"))
    untouched(late, "openai-responses")
    assert transom.fit(late, api="openai-responses", late_results="append").request is late
    card = replace(catalog.card("gpt-5", api="openai-responses"), quirks=frozenset({"strict-pairs"}))
    moved = transom.fit(late, api="openai-responses", card=card).request["input"]
    assert [one.get("call_id", one.get("role")) for one in moved] == ["user", "c", "c", "d", "d", "user"]


def test_an_open_call_is_answered_ahead_of_what_the_user_says_before_another_output(oracle: ModuleType) -> None:
    body = told("openai-responses", heard("a"), function("c"), function("d"), heard("quick"), output("d"), heard("b"))
    made = mended(body, "openai-responses", oracle)["input"]
    assert [one.get("call_id", one.get("role")) for one in made] == ["user", "c", "d", "c", "user", "d", "user"]


def test_once_the_window_moves_each_goes_by_itself_and_stays_so(oracle: ModuleType) -> None:
    """The newest picture must not take an older call with it, and the next request starts with this one."""
    prices = PriceList(catalog.card("gpt-5", api="openai-responses"))
    whole = transom.price(LOOKS, api="openai-responses", prices=prices).tokens
    first = transom.fit(LOOKS, api="openai-responses", prices=prices, budget=whole // 2, strict=True)
    assert oracle.refused(first.request, "openai-responses") == []
    assert transom.fit(first.request, api="openai-responses", prices=prices, budget=whole // 2).request is first.request
    more = {**LOOKS, "input": [*LOOKS["input"], item("assistant", {"type": "output_text", "text": "so"}), heard("on")]}
    second = transom.fit(more, api="openai-responses", prices=prices, budget=whole // 2, strict=True, state=first.state)
    assert second.report.breaks or second.request["input"][: len(first.request["input"])] == first.request["input"]
    least = told("openai-responses", LOOKS["input"][-1])
    tokens = transom.price(least, api="openai-responses", prices=prices).tokens
    tight = transom.fit(LOOKS, api="openai-responses", prices=prices, budget=tokens, strict=True)
    assert tight.request["input"] == least["input"]


# ------------------------------------------------------------------------------------------------- fields that hold nothing


def test_keys_that_hold_nothing_say_nothing() -> None:
    """An SDK's object that was dumped whole names every key that a part may have."""
    empty: Json = {
        "inline_data": None,
        "function_call": None,
        "function_response": None,
        "thought_signature": None,
        "thought": None,
    }
    asked: Json = {**empty, "text": None, "function_call": {"name": "look", "args": {}, "id": None}}
    answered: Json = {**empty, "text": None, "function_response": {"name": "look", "response": {"output": "seen"}}}
    untouched(
        told(
            "gemini",
            {"role": "user", "parts": [{**empty, "text": "go"}]},
            {"role": "model", "parts": [asked]},
            {"role": "user", "parts": [answered]},
            {"role": "model", "parts": [{**empty, "text": "so"}]},
            {"role": "user", "parts": [{**empty, "text": "on"}]},
        ),
        "gemini",
    )


def test_what_a_cache_holds_may_be_what_the_first_turn_answers() -> None:
    answer = {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "seen"}}}]}
    untouched(told("gemini", answer, cachedContent="cachedContents/1"), "gemini")
    opened = {"role": "model", "parts": [{"text": "so"}]}
    untouched(told("gemini", opened, {"role": "user", "parts": [{"text": "on"}]}, cachedContent="cachedContents/1"), "gemini")


def test_calls_that_stand_together_take_what_they_save_with_them() -> None:
    """Parallel calls cost less than calls apart; once they are left out, nothing is saved, and the plan knows."""
    rounds = [[*(function(f"{n}{m}") for m in "abcdefgh"), *(output(f"{n}{m}") for m in "abcdefgh")] for n in range(9)]
    tools = [{"type": "function", "name": "look", "description": "amber " * 900, "parameters": {"type": "object"}}]
    body = told("openai-responses", *(one for n, done in enumerate(rounds) for one in (heard(f"turn {n}"), *done)), tools=tools)
    whole = transom.price(body, api="openai-responses").tokens
    for share in (0.95, 0.8, 0.6):
        made = transom.fit(body, api="openai-responses", budget=int(whole * share), strict=True)
        assert transom.price(made.request, api="openai-responses").tokens == made.report.after.tokens < whole * share


# ------------------------------------------------------------------------------------------------- results that failed


def picture(seed: int) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(png(320, 200 + seed))}}


def test_a_failed_result_holds_text_and_what_it_showed_stands_behind_the_results(oracle: ModuleType) -> None:
    """Anthropic: "all content must be type `text` if `is_error` is true"."""
    failed = result(
        "a", [text(" "), picture(1), text("no such page"), {"type": "tool_reference", "tool_name": "map"}], is_error=True
    )
    body = told("anthropic", user("go"), says(call("a"), call("b")), user(failed, result("b"), text("hm")))
    faults = [one for one in transom.lint(body, api="anthropic") if one.code == "failed-result"]
    assert [(one.place, one.answer.partition(": ")[2]) for one in faults] == [
        ("messages[2].content[0]", "all content must be type `text` if `is_error` is true")
    ]
    first, second, head, shot, last = mended(body, "anthropic", oracle)["messages"][2]["content"]
    assert [one["type"] for one in first["content"]] == ["text", "text"]
    assert "map" in first["content"][1]["text"]
    assert (second, head["type"], shot, last) == (result("b"), "text", picture(1), text("hm"))
    untouched(told("anthropic", user("go"), says(call("a")), user(result("a", [text("no")], is_error=True))), "anthropic")


def test_a_failed_result_says_something(oracle: ModuleType) -> None:
    """Anthropic: "content cannot be empty if `is_error` is true"; Converse says the same."""
    for content in ("", [], [text("")], None):
        body = told("anthropic", user("go"), says(call("a")), user(result("a", content, is_error=True)))
        assert "failed-result" in {one.code for one in transom.lint(body, api="anthropic")}
        (answer,) = mended(body, "anthropic", oracle)["messages"][2]["content"]
        assert answer["is_error"]
        assert "failed" in str(answer["content"])
    asked = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}]}
    silent = {"toolResult": {"toolUseId": "a", "status": "error", "content": []}}
    converse = told("bedrock", {"role": "user", "content": [{"text": "go"}]}, asked, {"role": "user", "content": [silent]})
    (answer,) = mended(converse, "bedrock", oracle)["messages"][2]["content"]
    assert answer["toolResult"]["content"]
    untouched(told("anthropic", user("go"), says(call("a")), user(result("a", ""))), "anthropic")


def test_what_a_failed_tool_showed_is_no_request_of_the_user(oracle: ModuleType) -> None:
    failed = result("a", [text("no"), picture(1)], is_error=True)
    body = told("anthropic", user("the task"), says(call("a")), user(failed), says(call("b")), user(result("b")))
    tokens = transom.price(body, api="anthropic").tokens
    made = mended(body, "anthropic", oracle, budget=tokens - 60)
    assert made["messages"][0] == user("the task")


# ----------------------------------------------------------------------------------------------- ids and what goes by them


def test_a_result_that_names_no_call_answers_the_first_that_waits(oracle: ModuleType) -> None:
    asked = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, "tool_calls": [asked, {**asked, "id": "b"}]}
    answers = [{"role": "tool", "tool_call_id": "a", "content": "one"}, {"role": "tool", "content": "two"}]
    made = mended(told("openai-chat", user("go"), turn, *answers), "openai-chat", oracle)
    assert made["messages"][2:] == [answers[0], {"role": "tool", "content": "two", "tool_call_id": "b"}]
    bare = {"type": "tool_result", "content": "one"}
    made = mended(told("anthropic", user("go"), says(call("a")), user(bare)), "anthropic", oracle)
    assert made["messages"][2] == user({**bare, "tool_use_id": "a"})
    late = told("anthropic", user("go"), says(call("a")), user("hm"), says("so"), user(bare, text("on")))
    assert mended(late, "anthropic", oracle)["messages"][-1] == user(text("on"))


def test_the_id_of_an_item_is_not_that_of_its_call(oracle: ModuleType) -> None:
    asked = {"type": "function_call", "id": "fc_1", "name": "look", "arguments": "{}"}
    answer = {"type": "function_call_output", "id": "fco_1", "output": "seen"}
    made = mended(told("openai-responses", heard("go"), asked, answer), "openai-responses", oracle)["input"]
    assert made[1]["call_id"] == made[2]["call_id"]
    assert (made[1]["id"], made[2]["output"]) == ("fc_1", "seen")


def test_what_the_provider_keeps_is_named_in_few_words() -> None:
    """A reference may leave out its type, a generated picture its bytes, and a stored prompt may be all."""
    untouched(told("openai-responses", {"id": "msg_1"}, heard("on")), "openai-responses")
    made = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}
    untouched(told("openai-responses", heard("draw"), {**made, "result": None}, heard("on")), "openai-responses")
    untouched(told("openai-responses", heard("draw"), made, heard("on")), "openai-responses")
    stored = {"model": "gpt-5", "prompt": {"id": "pmpt_1"}}
    assert transom.lint(stored, api="openai-responses") == []
    assert transom.fit(stored, api="openai-responses").request is stored


# ----------------------------------------------------------------------------------------------------------- declared types


def test_a_picture_under_another_type_is_named_with_what_the_provider_answers(oracle: ModuleType) -> None:
    shot = picture(1)
    shot["source"] = {**shot["source"], "media_type": "image/jpeg"}
    body = told("anthropic", user("go"), says(call("a")), user(result("a", [shot])))
    (fault,) = [one for one in transom.lint(body, api="anthropic") if one.code == "media-type"]
    assert fault.refused
    assert fault.answer == (
        "messages.2.content.0.content.0.image.source.base64.data: Image does not match the provided media type image/jpeg"
    )
    assert mended(body, "anthropic", oracle)["messages"][2]["content"][0]["content"] == [picture(1)]
    url = f"data:image/jpeg;base64,{encoded(png(320, 201))}"
    chat = told("openai-chat", user({"type": "image_url", "image_url": {"url": url}}))
    (fault,) = [one for one in transom.lint(chat, api="openai-chat") if one.code == "media-type"]
    assert not fault.refused


# ------------------------------------------------------------------------------------------------- results that are values


ASKED: dict[str, Json] = {
    "anthropic": says(call("a")),
    "openai-chat": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    "openai-responses": function("a"),
    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
    "bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}]},
}


def answered(api: str, value: Any) -> Json:
    """A result that holds a value as a tool returned it."""
    return {
        "anthropic": user({"type": "tool_result", "tool_use_id": "a", "content": value}),
        "openai-chat": {"role": "tool", "tool_call_id": "a", "content": value},
        "openai-responses": output("a", value),
        "gemini": {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": value}}]},
        "bedrock": {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": value}}]},
    }[api]


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("value", [{"rows": ["key 7"]}, 7.5, {"content": [{"type": "text", "text": "key 7"}]}, "key 7"])
def test_a_value_in_a_result_is_told_in_the_form_that_the_provider_takes(oracle: ModuleType, api: str, value: Any) -> None:
    opening = {"gemini": {"role": "user", "parts": [{"text": "go"}]}, "bedrock": {"role": "user", "content": [{"text": "go"}]}}
    body = told(api, opening.get(api, {"role": "user", "content": "go"}), ASKED[api], answered(api, value))
    fits = isinstance(value, str) if api != "gemini" else isinstance(value, dict)
    if fits and api != "bedrock":
        untouched(body, api)
        return
    assert "content" in {one.code for one in transom.lint(body, api=api) if one.refused}
    assert ("7.5" if value == 7.5 else "key 7") in str(mended(body, api, oracle))
