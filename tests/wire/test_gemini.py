"""The form `gemini`: both spellings, pairs by number, place and id, signatures, and where pictures hide."""

from __future__ import annotations

import base64
from typing import Any

import pytest

import transom
from stage import PDF, PICTURES, encoded
from transom.errors import BadRequest
from transom.pairing import pair
from transom.parts import Part, walk
from transom.wire import gemini as form

PNG = PICTURES["png"][1]
PICTURE = {"inlineData": {"mimeType": "image/png", "data": PNG}}
ASKS = {"role": "user", "parts": [{"text": "hi"}]}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def call(name: str = "look", **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **fields}}


def response(said: str, name: str = "look", **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": said}, **fields}}


def first(part: Any) -> Part:
    return form.read_message(user(part), 0).parts[0]


def mended(*contents: dict[str, Any]) -> list[dict[str, Any]]:
    groups, _ = pair(form.read({"contents": list(contents)}), form)
    return [entry.message.json for group in groups for entry in group.entries]


@pytest.mark.parametrize(
    "contents, texts",
    [
        ("hello", ["hello"]),
        (["hello", "there"], ["hello", "there"]),
        ({"parts": [{"text": "hello"}]}, ["hello"]),
        ([{"text": "hello"}], ["hello"]),
        ([{"role": "user", "parts": ["hello"]}], ["hello"]),
        ([{"role": "user", "parts": {"text": "hello"}}], ["hello"]),
        ({"parts": {"text": "hello"}}, ["hello"]),
    ],
)
def test_lone_contents_strings_and_parts_are_the_users_and_come_out_as_they_came(contents: Any, texts: list[str]) -> None:
    body = {"contents": contents, "model": "models/gemini-2.5-flash"}
    read = form.read(body)
    assert [part.text for one in read.messages for part in one.parts] == texts
    assert {one.role for one in read.messages} == {"user"}
    assert read.model == "gemini-2.5-flash"
    assert transom.fit(body, api="gemini").request is body


def test_a_lone_part_goes_out_in_a_list_where_something_was_decided() -> None:
    talk = [{"role": role, "parts": {"text": f"{n} " + "word " * 99}} for n in range(9) for role in ("user", "model")]
    fit = transom.fit({"contents": [*talk, user({"text": "now"})], "model": "gemini-2.5-flash"}, api="gemini", budget=600)
    assert 1 < len(fit.request["contents"]) < len(talk)
    assert all(isinstance(one["parts"], list) for one in fit.request["contents"])
    assert fit.request["contents"][-2] == {"role": "model", "parts": [talk[-1]["parts"]]}


def test_what_stands_outside_the_contents_is_found_in_both_spellings() -> None:
    tools = [{"functionDeclarations": [{"name": "look"}]}]
    for body in (
        {"systemInstruction": {"parts": [{"text": "be brief"}]}, "tools": tools, "cachedContent": "c"},
        {"system_instruction": "be brief", "tools": tools, "cached_content": "c"},
        {"config": {"system_instruction": {"text": "be brief"}, "tools": tools, "cached_content": "c"}},
    ):
        read = form.read({"contents": "hi", **body})
        assert [part.text for part in read.system] == ["be brief"]
        assert read.tools == tuple(tools)
        assert len(read.held) == 1
    assert form.read({"contents": "hi"}).system == ()


@pytest.mark.parametrize(
    "part, kind, text",
    [
        ({"text": "so"}, "text", "so"),
        ({"text": "so", "thought": True}, "reasoning", "so"),
        (call(args={"a": 1}), "call", '{"a":1}'),
        ({"function_call": {"name": "look"}}, "call", ""),
        (response("seen"), "result", "seen"),
        ({"function_response": {"name": "look", "response": {"sky": "dry"}}}, "result", '{"sky":"dry"}'),
        ({"functionResponse": {"name": "look"}}, "result", ""),
        ({"executableCode": {"language": "PYTHON", "code": "1"}}, "opaque", "PYTHON\n1"),
        ({"codeExecutionResult": {"output": "2"}, "thoughtSignature": "c2ln"}, "opaque", "2"),
        (PICTURE, "image", ""),
        ({"file_data": {"file_uri": "https://example.com/a.mp4", "mime_type": "video/mp4"}}, "video", ""),
        ({"fileData": {"fileUri": "gs://a.wav", "mimeType": "audio/wav"}}, "audio", ""),
        ({"inlineData": {"mimeType": "application/pdf", "data": encoded(PDF)}, "videoMetadata": {}}, "document", ""),
        ({"inlineData": {"mimeType": "text/plain", "data": "aGk="}}, "text", "hi"),
        ({"inlineData": {"mimeType": "text/plain", "data": "/w=="}}, "document", ""),
    ],
)
def test_each_part_is_known_by_its_key(part: dict[str, Any], kind: str, text: str) -> None:
    found = first(part)
    assert (found.kind, found.text, found.raw) == (kind, text, part)


def test_media_stand_in_responses_too() -> None:
    """Hiding place 2: `functionResponse.parts`."""
    message = form.read_message(
        user(response("seen", parts=[PICTURE, {"inline_data": {"mime_type": "image/png", "data": PNG}}])), 0
    )
    found = [part for part in walk(message.parts) if part.media]
    assert [part.place for part in found] == [("parts", 0, "functionResponse", "parts", n) for n in (0, 1)]
    assert form.placeholder(found[0], "gone") == {"inlineData": {"mimeType": "text/plain", "data": "Z29uZQ=="}}
    snake = form.read_message(user({"function_response": {"name": "n", "response": {}, "parts": [PICTURE]}}), 0)
    place = next(part for part in walk(snake.parts) if part.media)
    assert form.placeholder(place, "gone") == {"inline_data": {"mime_type": "text/plain", "data": "Z29uZQ=="}}
    assert form.placeholder(first(PICTURE), "gone") == {"text": "gone"}


def test_a_picture_left_out_of_a_response_is_told_as_a_text_file_and_costs_as_a_text() -> None:
    body = {
        "model": "gemini-3-pro-preview",
        "contents": [user({"text": "look"}), model(call()), user(response("seen", parts=[PICTURE])), ASKS],
    }
    made = transom.fit(body, api="gemini", max_image_bytes=1, newest="limit", budget=100_000, strict=True)
    data = made.request["contents"][2]["parts"][0]["functionResponse"]["parts"][0]["inlineData"]
    assert data["mimeType"] == "text/plain"
    assert base64.b64decode(data["data"]).decode().startswith("[image 64x48")
    assert transom.fit(made.request, api="gemini", max_image_bytes=1, newest="limit", budget=100_000).request is made.request
    assert made.report.after.tokens < 80


def test_signatures_are_noticed_and_what_carries_one_is_never_edited() -> None:
    signed = {"text": "words " * 50, "thoughtSignature": "c2ln"}
    assert first(signed).signed
    assert first({"function_call": {"name": "n"}, "thought_signature": "c2ln"}).signed
    assert first({**PICTURE, "thoughtSignature": "c2ln"}).signed
    asked = {**call(args={"long": "x" * 400}), "thoughtSignature": "c2ln"}
    body = {"model": "gemini-3-pro-preview", "contents": [ASKS, model(signed, asked), user(response("y" * 400))]}
    made = transom.fit(body, api="gemini", max_message_tokens=10, max_input_tokens=10)
    assert made.request["contents"][1] is body["contents"][1]
    assert "cut here" in made.request["contents"][2]["parts"][0]["functionResponse"]["response"]["output"]


def test_an_empty_text_that_carries_a_signature_is_no_fault() -> None:
    """Gemini 3 streams the signature of an answer in a part without words; the independent reader calls it empty."""
    body = {"contents": [ASKS, model({"text": "so"}, {"text": "", "thoughtSignature": "c2ln"}), ASKS]}
    assert form.legal(form.read(body)) == []
    assert transom.fit(body, api="gemini", model="gemini-3-pro-preview").request is body
    assert [one.code for one in form.legal(form.read({"contents": [user({"text": " ", "thought": True}), ASKS]}))].count(
        "empty"
    ) == 1
    assert mended(user({"text": "hm"}), model({"text": "", "thought": True}, {"text": "so"}), ASKS)[1] == model({"text": "so"})


def test_results_answer_by_id_then_by_name_then_by_place() -> None:
    asked = model(call("a", id="1"), call("b"), call("c"))
    by_name = user(response("for c", "c"), response("for 1", "a", id="1"), response("for b", "b"))
    assert mended(ASKS, asked, by_name) == [ASKS, asked, by_name]
    other = user(response("x", "z"), response("y", "z"), response("z", "z"))
    assert mended(ASKS, asked, other) == [ASKS, asked, other]


def test_responses_that_are_spread_stand_in_one_content_behind_their_calls() -> None:
    asked = model(call(), call(), call())
    out = mended(ASKS, asked, user(response("one"), response("two")), user(response("three")))
    assert out == [ASKS, asked, user(response("one"), response("two"), response("three"))]
    mixed = mended(ASKS, asked, user(response("one"), {"text": "wait"}, response("two")), user(response("three")))
    assert mixed == [ASKS, asked, user(response("one"), response("two"), response("three")), user({"text": "wait"})]


def test_late_lost_and_second_responses_find_their_calls() -> None:
    said = model({"text": "meanwhile"})
    gone = user({"text": "(nothing is left of this message)"})
    out = mended(ASKS, model(call("a", id="1")), ASKS, said, user(response("late", "a", id="1")))
    assert out[1:3] == [model(call("a", id="1")), user(response("late", "a", id="1"))]
    by_name = mended(ASKS, model(call("a")), user({"text": "go on"}), said, user(response("late", "a")))
    assert by_name[2] == user(response("late", "a"))
    lost = mended(ASKS, model(call("a"), call("b")), user(response("for b", "b")))
    assert lost[2]["parts"][1]["functionResponse"]["response"].keys() == {"error"}
    assert mended(ASKS, model({"text": "so"}), user(response("whose", "a")), ASKS)[2] == gone
    twice = user({"functionResponse": {"name": "a", "response": {"error": "interrupted"}}}, response("done", "a"))
    assert mended(ASKS, model(call("a")), twice)[2] == user(response("done", "a"))
    other = mended(ASKS, model(call("a", id="1")), ASKS, said, user(response("late", "a", id="2")), ASKS)
    assert other[2]["parts"][0]["functionResponse"]["id"] == "1"
    again = mended(
        ASKS, model(call("a", id="1")), user(response("one", "a", id="1")), said, user(response("two", "a", id="1")), ASKS
    )
    assert again[-2] == gone


def test_the_talk_opens_with_the_user_whatever_was_cut() -> None:
    out = mended(model(call()), user(response("seen")), ASKS)
    assert out[0]["role"] == "user"
    assert out[1:] == [model(call()), user(response("seen")), ASKS]


def test_what_is_refused_is_named_with_its_place() -> None:
    faults = form.legal(form.read({"contents": [model(call()), user(response("a"), response("b")), user()]}))
    assert [(one.place, one.code) for one in faults] == [
        ("contents[0]", "first-not-user"), ("contents[1]", "orphan-result"), ("contents[2]", "empty"),
        ("contents[2]", "not-alternating"), ("contents[0]", "first-not-user"),
    ]  # fmt: skip
    assert [one.code for one in form.legal(form.read({"contents": []}))] == ["no-turns"]


def test_makers() -> None:
    assert form.message("assistant", ["a", {"text": "b"}, ""]) == model({"text": "a"}, {"text": "b"})
    odd: dict[str, Any] = {"role": "model", "parts": [{"text": "a"}], "x": 1}
    assert form.with_parts(odd, odd["parts"]) == odd
    assert form.with_parts(odd, ["b"]) == {"role": "model", "parts": [{"text": "b"}], "x": 1}
    asked = first(call("look", id="1"))
    assert form.result_stub(asked, "gone") == {
        "functionResponse": {"id": "1", "name": "look", "response": {"error": "gone"}},
    }  # fmt: skip
    assert form.result_stub(first({"function_call": {"name": "n"}}), "")["function_response"]["response"]["error"]
    long = response("seen", id="1", parts=[PICTURE])
    assert form.set_result(long, "less") == {"functionResponse": {"name": "look", "response": {"output": "less"}, "id": "1"}}
    failed = {"functionResponse": {"name": "look", "response": {"error": "no"}}}
    assert form.set_result(failed, "less")["functionResponse"]["response"] == {"error": "less"}
    assert form.rename_call(call(id="1"), "2") == call(id="2")
    assert form.rename_call(call(), "2") == call()
    assert form.place_results([long], ASKS) == (user(long), ASKS)
    assert form.place_results([long], None) == (user(long),)
    assert form.join(ASKS, user({"text": "ho"})) == user({"text": "hi"}, {"text": "ho"})
    assert form.mark(ASKS, form.read_message(ASKS, 0).parts[0], {}) is ASKS
    relabelled = transom.repair(
        {"contents": [user({"inlineData": {"mimeType": "image/gif", "data": PNG}})]}, api="gemini"
    ).request
    assert relabelled["contents"][0]["parts"][0]["inlineData"]["mimeType"] == "image/png"


def test_usage_holds_what_was_cached_and_thoughts_are_output() -> None:
    found = form.usage(
        {
            "usageMetadata": {
                "promptTokenCount": 50,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 2,
            }
        }
    )
    assert found is not None
    assert (found.prompt, found.cached, found.output) == (50, 50, 7)
    snake = form.usage({"usage_metadata": {"prompt_token_count": 5}})
    assert snake is not None
    assert snake.prompt == 5
    assert form.usage({"usageMetadata": 5}) is None
    assert form.usage({"promptTokenCount": -3}) is None


def test_errors_have_the_shape_of_google_rpc() -> None:
    assert form.error_body(429, "slow")["error"] == {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}
    assert form.error_body(418, "x")["error"]["status"] == "INVALID_ARGUMENT"
    assert form.error_body(599, "x")["error"]["status"] == "INTERNAL"


@pytest.mark.parametrize(
    "body, place",
    [
        ({}, "contents"),
        ({"contents": 5}, "contents[0]"),
        ({"contents": [None]}, "contents[0]"),
        ({"contents": [{"role": "robot", "parts": []}]}, "contents[0].role"),
        ({"contents": [{"role": "user", "parts": "x"}]}, "contents[0].parts"),
        ({"contents": [{"role": "user", "parts": [5]}]}, "contents[0].parts[0]"),
        ({"contents": "x", "tools": 5}, "tools"),
    ],
)
def test_what_does_not_belong_is_named(body: dict[str, Any], place: str) -> None:
    with pytest.raises(BadRequest) as caught:
        form.read(body)
    assert caught.value.place == place
