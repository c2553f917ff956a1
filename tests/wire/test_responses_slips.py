"""What OpenAI refuses in one item of Responses, and what goes out instead."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from wire.openai_bodies import (
    DATA_URL,
    ITEMS,
    ON,
    PICTURE,
    WEB,
    Json,
    answers,
    did,
    got,
    items,
    mended,
    stays,
    user,
)


def test_a_picture_of_an_answer_goes_behind_it_in_responses() -> None:
    words, shown = {"type": "output_text", "text": "b"}, {"type": "input_image", "image_url": WEB}
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    body = items(thought, {"role": "assistant", "content": [words, shown]})
    assert "'output_text' and 'refusal'" in answers(body, ITEMS)["image-role"]
    made = mended(body, ITEMS)
    assert made[:2] == [thought, {"role": "assistant", "content": [words]}]
    assert made[2]["content"][1:] == [shown]


# Contents and parts


@pytest.mark.parametrize(("role", "goes"), [("user", ""), ("developer", ""), ("assistant", [])])
def test_an_item_without_content_says_nothing(role: str, goes: Any) -> None:
    words = "expected one of an array of objects or string, but got null instead."
    for content in ({"content": None}, {}, {"content": [{"type": "input_text", "text": None}]}):
        body = items({"type": "message", "role": role, **content})
        assert answers(body, ITEMS) == {"no-content": f"Invalid type for 'input[1].content': {words}"}
        assert mended(body, ITEMS) == [{"type": "message", "role": role, "content": goes}]


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call"])
def test_an_output_that_is_none_is_an_empty_text(kind: str) -> None:
    asks = did() if kind == "function_call" else {"type": kind, "call_id": "a", "name": "look", "input": "x"}
    for output in ({"output": None}, {}):
        body = items(asks, {"type": f"{kind}_output", "call_id": "a", **output})
        assert set(answers(body, ITEMS)) == {"no-content"}
        assert mended(body, ITEMS)[1] == {"type": f"{kind}_output", "call_id": "a", "output": ""}


def test_a_text_that_is_none_goes_from_an_item() -> None:
    left = {"type": "input_text", "text": "x"}
    body = items(user({"type": "text", "text": None}, left))
    assert "no-content" in answers(body, ITEMS)
    assert mended(body, ITEMS) == [user(left)]


@pytest.mark.parametrize("said", ["input_text", "text"])
def test_an_answer_says_its_texts_as_answers_do(said: str) -> None:
    body = items({"role": "assistant", "content": [{"type": said, "text": "b"}]})
    assert answers(body, ITEMS) == {"type": f"Invalid value: '{said}'. Supported values are: 'output_text' and 'refusal'."}
    assert mended(body, ITEMS) == [{"role": "assistant", "content": [{"type": "output_text", "text": "b"}]}]


@pytest.mark.parametrize("role", ["user", "system", "developer"])
@pytest.mark.parametrize("said", ["output_text", "text"])
def test_others_say_their_texts_as_input(role: str, said: str) -> None:
    body = items({"role": role, "content": [{"type": said, "text": "b", "annotations": [], "odd": 1}]})
    assert "'input_text'" in answers(body, ITEMS)["type"]
    assert mended(body, ITEMS) == [{"role": role, "content": [{"type": "input_text", "text": "b", "odd": 1}]}]


@pytest.mark.parametrize(
    ("part", "goes"),
    [
        ({"type": "input_image", "image_url": {"url": WEB, "detail": "low"}}, {"image_url": WEB, "detail": "low"}),
        ({"type": "image_url", "image_url": {"url": WEB}}, {"image_url": WEB}),
        ({"type": "image_url", "image_url": WEB}, {"image_url": WEB}),
        ({"type": "input_image", "image_url": PICTURE, "detail": "high"}, {"image_url": DATA_URL, "detail": "high"}),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}, {"image_url": DATA_URL}),
    ],
)
def test_a_picture_is_shown_as_responses_has_it(part: Json, goes: Json) -> None:
    for body, at in ((items(user(part)), "content"), (items(did(), got(output=[part])), "output")):
        assert {"type", "image-url"} & answers(body, ITEMS).keys()
        assert mended(body, ITEMS)[-1][at] == [{"type": "input_image", **goes}]


def test_a_picture_of_responses_that_only_the_sender_can_read_is_told_in_words() -> None:
    body = items(user({"type": "input_image", "image_url": "blob:x"}))
    assert "image-url" in answers(body, ITEMS)
    assert mended(body, ITEMS) == [user({"type": "input_text", "text": "[image blob:x left out]"})]


@pytest.mark.parametrize(
    "item",
    [
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "", "annotations": []}, {"type": "refusal", "refusal": "n"}],
        },
        {"role": "assistant", "content": []},
        {"role": "user", "content": ""},
        user({"type": "input_image", "image_url": None, "file_id": "f"}, {"type": "input_file", "file_id": "f"}),
        user({"type": "input_image", "image_url": WEB}, {"type": "hologram", "text": None}),
        user({"type": "image", "source": {"type": "file", "file_id": "f"}}),
        user({"type": "input_image", "image_url": {"file_id": "f"}}, {"type": "image", "note": "x"}),
        {"role": "assistant", "content": [{"type": "hologram", "data": PICTURE}, {"type": "output_text", "text": "b"}]},
    ],
)
def test_items_that_are_taken_stay(item: Json) -> None:
    body = items(item)
    assert transom.fit(body, api=ITEMS, budget=50_000).request is body


# Ids of items, and reasoning


THOUGHT = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}


@pytest.mark.parametrize(
    ("item", "begins"),
    [
        ({**SAID, "id": "chatcmpl_1"}, "msg"),
        (did(id="call_1"), "fc"),
        ({**THOUGHT, "id": "reasoning_1"}, "rs"),
        ({**SAID, "id": ""}, "msg"),
    ],
)
def test_an_item_without_an_id_of_its_kind_goes_without(item: Json, begins: str) -> None:
    more = [got()] if "call_id" in item else [SAID] if item["type"] == "reasoning" else []
    body = items(item, *more)
    answer = f"Invalid 'input[1].id': '{item['id']}'. Expected an ID that begins with '{begins}'."
    assert answers(body, ITEMS) == {"item-id": answer}
    assert mended(body, ITEMS) == [{key: value for key, value in item.items() if key != "id"}, *more]
    assert stays({**body, "model": "grok-4"}, ITEMS)


@pytest.mark.parametrize(("id_", "words"), [("msg_" + "x" * 61, "string too long"), ("msg_a.b", "additional characters")])
def test_an_items_id_is_short_and_plain(id_: str, words: str) -> None:
    body = items({**SAID, "id": id_})
    assert words in answers(body, ITEMS)["item-id"]
    assert mended(body, ITEMS) == [SAID]


def test_ids_of_items_that_are_taken_stay() -> None:
    found: Json = {"type": "web_search_call", "id": "ws.1", "status": "completed"}
    given: list[Json] = [
        {**THOUGHT, "id": "rs_1"},
        {**SAID, "id": "msg_" + "x" * 60},
        {**SAID, "id": None},
        found,
        did(id="fc_1"),
        got(),
    ]
    assert stays(items(*given), ITEMS)


@pytest.mark.parametrize("status", ["completed", None])
def test_reasoning_goes_back_without_a_status(status: Any) -> None:
    body = items({**THOUGHT, "status": status}, SAID)
    assert answers(body, ITEMS) == {"reasoning-fields": "Unknown parameter: 'input[1].status'."}
    assert mended(body, ITEMS) == [THOUGHT, SAID]


def test_reasoning_goes_back_without_its_content_which_is_its_summary_where_it_has_none() -> None:
    told = {"content": [{"type": "reasoning_text", "text": "so"}, {"type": "reasoning_text", "text": ""}]}
    body = items({**THOUGHT, **told}, SAID)
    faults = [one.answer for one in transom.lint(body, api=ITEMS) if one.refused]
    assert faults[0].startswith("Invalid 'input[1].content': array too long. Expected an array with maximum length 0")
    assert mended(body, ITEMS) == [{**THOUGHT, "summary": [{"type": "summary_text", "text": "so"}]}, SAID]
    summary = {"summary": [{"type": "summary_text", "text": "sum"}]}
    assert mended(items({**THOUGHT, **told, **summary}, SAID), ITEMS) == [{**THOUGHT, **summary}, SAID]
    assert stays({**body, "model": "deepseek-chat"}, ITEMS)


@pytest.mark.parametrize("summary", [{}, {"summary": None}])
def test_reasoning_goes_back_with_a_summary(summary: Json) -> None:
    body = items({"type": "reasoning", "encrypted_content": "x", **summary}, SAID)
    assert answers(body, ITEMS) == {"reasoning-fields": "Missing required parameter: 'input[1].summary'."}
    assert mended(body, ITEMS) == [THOUGHT, SAID]


def test_reasoning_as_it_is_taken_stays() -> None:
    assert stays(items({**THOUGHT, "content": []}, SAID, {**THOUGHT, "content": None}, SAID), ITEMS)


# Items that the provider knows by an id


def twice(id_: str) -> str:
    return f"Duplicate item found with id {id_}. Remove duplicate items from your input and try again."


def test_reasoning_that_stands_twice_goes_once() -> None:
    thought = {**THOUGHT, "id": "rs_1"}
    body = items(thought, SAID, ON, thought, {**SAID, "id": "msg_2"})
    assert answers(body, ITEMS) == {"item-twice": twice("rs_1")}
    assert mended(body, ITEMS) == [thought, SAID, ON, {**SAID, "id": "msg_2"}]


def test_of_two_references_to_one_item_one_goes() -> None:
    known = {"type": "item_reference", "id": "msg_1"}
    body = items(known, ON, known)
    assert answers(body, ITEMS) == {"item-twice": twice("msg_1")}
    assert mended(body, ITEMS) == [known, ON]


def test_two_answers_of_one_id_are_told_apart() -> None:
    body = items({**SAID, "id": "msg_1"}, ON, {**SAID, "id": "msg_1", "content": "other"})
    assert answers(body, ITEMS) == {"item-twice": twice("msg_1")}
    assert mended(body, ITEMS) == [{**SAID, "id": "msg_1"}, ON, {**SAID, "content": "other"}]


def test_two_calls_of_one_id_are_told_apart() -> None:
    body = items(did("a", id="fc_1"), got("a"), ON, did("b", id="fc_1"), got("b"))
    assert answers(body, ITEMS) == {"item-twice": twice("fc_1")}
    assert mended(body, ITEMS) == [did("a", id="fc_1"), got("a"), ON, did("b"), got("b")]


def test_a_call_that_is_played_again_has_ids_of_its_own() -> None:
    asks = did("a", id="fc_1")
    made = mended(items(asks, got("a"), ON, asks, got("a")), ITEMS)
    assert made == [asks, got("a"), ON, did("a_2"), got("a_2")]


def test_the_very_same_search_goes_once_and_another_of_its_id_stays() -> None:
    found = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    assert mended(items(found, ON, found), ITEMS) == [found, ON]
    other = items(found, ON, {**found, "action": {"type": "search", "query": "q"}})
    assert transom.fit(other, api=ITEMS, budget=50_000).request is other


def test_ids_that_stand_twice_are_taken_by_other_hosts() -> None:
    assert stays(items({**SAID, "id": "msg_1"}, ON, {**SAID, "id": "msg_1"}, model="grok-4"), ITEMS)


@pytest.mark.parametrize("proof", [{}, {"encrypted_content": None}])
def test_reasoning_that_the_provider_did_not_keep_goes_with_the_ids_of_what_it_led_to(proof: Json) -> None:
    lost = {"type": "reasoning", "id": "rs_1", "summary": [], **proof}
    body = items(lost, did("a", id="fc_1"), did("b", id="fc_2"), got("a"), got("b"), {**SAID, "id": "msg_1"}, store=False)
    named = [(one.place, one.code) for one in transom.lint(body, api=ITEMS) if one.refused]
    assert named == [("input[1]", "unsaved"), ("input[2]", "unsaved"), ("input[3]", "unsaved")]
    assert answers(items(lost, SAID, store=False), ITEMS)["unsaved"].startswith("Item with id 'rs_1' not found.")
    assert mended(body, ITEMS) == [did("a"), did("b"), got("a"), got("b"), {**SAID, "id": "msg_1"}]


def test_reasoning_that_the_provider_keeps_or_that_carries_itself_stays() -> None:
    bare = {"type": "reasoning", "id": "rs_1", "summary": []}
    said = {**SAID, "id": "msg_1"}
    assert stays(items(bare, said), ITEMS)
    assert stays(items(bare, said, store=True), ITEMS)
    assert stays(items(bare, said, store=False, model="grok-4"), ITEMS)
    assert stays(items({**bare, "encrypted_content": "x"}, said, store=False), ITEMS)
