"""What Gemini refuses in one content, and what goes out instead."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import transom
from transom import catalog
from transom.errors import BadRequest
from transom.wire.gemini_slips import SKIP

Json = dict[str, Any]
MODEL = "gemini-2.5-flash"
ASKED = {"role": "user", "parts": [{"text": "go"}]}
SAID = {"text": "b"}
CALL = {"functionCall": {"name": "look", "args": {}}}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def answered(*parts: Json) -> Json:
    return {"contents": [ASKED, {"role": "model", "parts": list(parts)}, {"role": "user", "parts": [{"text": "on"}]}]}


def called(*parts: Json, result: Json | None = None) -> Json:
    back = {"functionResponse": result or {"name": "look", "response": {"output": "seen"}}}
    return {"contents": [ASKED, {"role": "model", "parts": list(parts)}, {"role": "user", "parts": [back]}]}


def mended(body: Json, model: str = MODEL) -> list[Json]:
    """The contents as they go out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api="gemini", model=model, strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api="gemini", model=model) if one.refused] == []
    assert transom.fit(made, api="gemini", model=model).request is made
    contents: list[Json] = made["contents"]
    return contents


def answers(body: Json, model: str = MODEL) -> dict[str, str]:
    return {one.code: one.answer for one in transom.lint(body, api="gemini", model=model) if one.refused}


def stays(body: Json, model: str = MODEL) -> bool:
    return transom.fit(body, api="gemini", model=model).request is body and answers(body, model) == {}


@pytest.mark.parametrize("key", ["content", "text"])
@pytest.mark.parametrize("parts", [{}, {"parts": None}])
def test_words_where_another_form_has_them_are_refused_with_their_place(key: str, parts: Json) -> None:
    body = {"contents": [ASKED, {"role": "model", "parts": [SAID]}, {"role": "user", key: "x", **parts}]}
    with pytest.raises(BadRequest, match=rf"contents\[2\]\.{key}: there are no `parts`, and `{key}` holds what is said"):
        transom.fit(body, api="gemini", model=MODEL)


def test_a_key_that_nobody_knows_beside_parts_stays() -> None:
    assert stays({"contents": [{**ASKED, "content": "x"}]})


NO_DATA = "* GenerateContentRequest.contents[1].parts[0].data: required oneof field 'data' must have one initialized field"


@pytest.mark.parametrize("part", [{}, {"thought": True}, {"thoughtSignature": None}])
def test_a_part_with_nothing_in_it_is_left_out(part: Json) -> None:
    body = answered(part, SAID)
    assert answers(body) == {"no-data": NO_DATA}
    assert mended(body)[1]["parts"] == [SAID]


@pytest.mark.parametrize("key", ["thoughtSignature", "thought_signature"])
def test_a_signature_alone_stands_beside_an_empty_text(key: str) -> None:
    body = answered({key: "c2ln"}, SAID)
    assert answers(body) == {"no-data": NO_DATA}
    assert mended(body)[1]["parts"] == [{key: "c2ln", "text": ""}, SAID]


@pytest.mark.parametrize(
    "part",
    [
        {"text": "", "thoughtSignature": "c2ln"},
        {"thought": True, "thoughtSignature": "c2ln"},
        {"somethingNew": {"a": 1}},
        {"executableCode": {"code": "1"}},
    ],
)
def test_a_part_with_something_in_it_stays(part: Json) -> None:
    assert stays(answered(part, SAID))


UNDECODED = "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"%s\""


@pytest.mark.parametrize("signature", ["{odd}", "abcde", "c2ln c2lnc2lnäa"])
def test_a_signature_that_is_no_base64_is_left_out(signature: str) -> None:
    body = called({**CALL, "thoughtSignature": signature})
    assert answers(body) == {"signature": UNDECODED % signature}
    assert mended(body)[1]["parts"] == [CALL]


def test_where_a_signature_must_stand_the_word_for_none_does() -> None:
    odd = {**CALL, "thought_signature": "{odd}"}
    body = called(odd)
    assert answers(body, "gemini-3-pro-preview") == {"signature": UNDECODED % "{odd}"}
    assert mended(body, "gemini-3-pro-preview")[1]["parts"] == [{**CALL, "thought_signature": SKIP}]


@pytest.mark.parametrize("signature", [SKIP, "c2ln", "YWI=", "-_-_", "c2\nln"])
def test_a_signature_that_is_base64_stays(signature: str) -> None:
    assert stays(called({**CALL, "thoughtSignature": signature}), "gemini-3-pro-preview")


def test_a_call_of_the_turn_that_goes_on_without_a_signature_is_told_of_and_stays() -> None:
    body = called(CALL)
    found = [one for one in transom.lint(body, api="gemini", model="gemini-3-pro-preview") if one.code == "unsigned-call"]
    assert [(one.place, one.refused) for one in found] == [("contents[1].parts[0]", False)]
    assert "function call `default_api:look` , position 2" in found[0].answer
    assert stays(body, "gemini-3-pro-preview")
    over = {"contents": [*body["contents"], {"role": "model", "parts": [SAID]}, ASKED]}
    for legal, model in (
        (body, MODEL),
        (over, "gemini-3-pro-preview"),
        (called({**CALL, "thoughtSignature": "c2ln"}), "gemini-3"),
    ):
        assert "unsigned-call" not in {one.code for one in transom.lint(legal, api="gemini", model=model)}


@pytest.mark.parametrize("model", ["gemini-3.6-flash", "models/gemini-3.5-flash-lite", "gemini-4-argon"])
def test_a_newer_model_is_not_asked_to_go_on_with_its_own_turn(model: str) -> None:
    body = {"contents": [ASKED, {"role": "model", "parts": [SAID]}]}
    assert answers(body, model) == {"last-not-user": "Requests ending with a model turn are not supported."}
    made = mended(body, model)
    assert made[:2] == body["contents"]
    assert made[2]["role"] == "user"


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3-flash-preview", "gemini-3.1-pro-preview", "gemini-3.5-flash"])
def test_a_model_that_goes_on_with_its_own_turn_is_asked_to(model: str) -> None:
    assert "no-prefill" not in catalog.card(model, api="gemini").quirks
    assert stays({"contents": [ASKED, {"role": "model", "parts": [SAID]}]}, model)


@pytest.mark.parametrize("name", [{}, {"name": ""}, {"name": None}])
@pytest.mark.parametrize("key", ["functionResponse", "function_response"])
def test_a_response_without_a_name_has_that_of_its_call(name: Json, key: str) -> None:
    back = {**name, "response": {"output": "seen"}}
    body: Json = {"contents": [ASKED, {"role": "model", "parts": [CALL]}, {"role": "user", "parts": [{key: back}]}]}
    answer = "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."
    assert answers(body) == {"name": answer}
    assert mended(body)[2]["parts"] == [{key: {**back, "name": "look"}}]


def test_each_of_two_responses_without_names_has_that_of_its_own_call() -> None:
    other = {"functionCall": {"name": "read", "args": {}, "id": "b"}}
    backs = [
        {"functionResponse": {"id": "b", "response": {"output": "one"}}},
        {"functionResponse": {"name": "", "response": {"output": "two"}}},
    ]
    body: Json = {"contents": [ASKED, {"role": "model", "parts": [CALL, other]}, {"role": "user", "parts": backs}]}
    made = mended(body)[2]["parts"]
    assert {one["functionResponse"]["response"]["output"]: one["functionResponse"]["name"] for one in made} == {
        "one": "read",
        "two": "look",
    }


@pytest.mark.parametrize(("key", "mime"), [("inlineData", "mimeType"), ("inline_data", "mime_type")])
@pytest.mark.parametrize("declared", [True, False])
def test_the_head_of_a_data_url_is_no_part_of_inline_data(key: str, mime: str, declared: bool) -> None:
    held = {mime: "image/png"} if declared else {}
    head = "data:image/png;base64,"
    body = {"contents": [{"role": "user", "parts": [{"text": "see"}, {key: {**held, "data": head + PNG}}]}]}
    answer = "Invalid value at 'contents[0].parts[1].inline_data.data' (TYPE_BYTES), Base64 decoding failed for \""
    assert answers(body)["data-url"].startswith(answer + head)
    assert mended(body)[0]["parts"][1] == {key: {mime: "image/png", "data": PNG}}
    assert stays({"contents": [{"role": "user", "parts": [{"text": "see"}, {key: {mime: "image/png", "data": PNG}}]}]})


def test_nor_is_it_in_what_a_response_shows() -> None:
    shown = {"inlineData": {"mimeType": "image/png", "data": f"data:image/png;base64,{PNG}"}}
    body = called(CALL, result={"name": "look", "response": {"output": "seen"}, "parts": [shown]})
    made = mended(body)[2]["parts"][0]["functionResponse"]["parts"]
    assert made == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]


def test_a_data_url_of_other_letters_than_base64_stays() -> None:
    part = {"inlineData": {"mimeType": "text/plain", "data": "data:text/plain,hello"}}
    body = {"contents": [{"role": "user", "parts": [{"text": "see"}, part]}]}
    assert "data-url" not in answers(body)


def test_a_text_of_nothing_is_one_fault() -> None:
    body = answered({"text": None}, SAID)
    assert list(answers(body)) == ["empty"]
    assert mended(body)[1]["parts"] == [SAID]


def test_a_result_in_another_form_s_shape_is_no_response_without_a_name() -> None:
    body = called(CALL)
    body["contents"][2]["parts"] = [{"type": "tool_result", "tool_use_id": "", "content": "seen"}]
    assert "name" not in answers(body)
    with pytest.raises(BadRequest, match="another form's shape"):
        transom.fit(body, api="gemini", model=MODEL)
