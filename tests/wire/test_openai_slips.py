"""What OpenAI refuses in one message of a chat or one item of Responses, and what goes out instead."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

import transom
from bodies import png

Json = dict[str, Any]
PICTURE = base64.b64encode(png()).decode()
DATA_URL = f"data:image/png;base64,{PICTURE}"
WEB = "https://example.org/a.png"
SOUGHT = {"type": "url", "url": WEB}
GO = {"role": "user", "content": "go"}
ON = {"role": "user", "content": "on"}
CHAT, ITEMS = "openai-chat", "openai-responses"
EMPTY_CALLS = "empty array. Expected an array with minimum length 1, but got an empty array instead."


def chat(*messages: Json, model: str = "gpt-5", **more: Any) -> Json:
    return {"model": model, "messages": [GO, *messages, ON], **more}


def items(*messages: Json, model: str = "gpt-5", **more: Any) -> Json:
    return {"model": model, "input": [GO, *messages, ON], **more}


def mended(body: Json, api: str) -> list[Json]:
    """The messages in the middle as they go out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api=api, strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api=api) if one.refused] == []
    assert transom.fit(made, api=api).request is made
    messages: list[Json] = made["messages" if api == CHAT else "input"]
    return messages[1:-1]


def answers(body: Json, api: str) -> dict[str, str]:
    return {one.code: one.answer for one in transom.lint(body, api=api) if one.refused}


def stays(body: Json, api: str) -> bool:
    refused = [one for one in transom.lint(body, api=api) if one.refused]
    return not refused and transom.fit(body, api=api, budget=50_000).request is body


def call(id_: str = "a", **more: Any) -> Json:
    return {"id": id_, "type": "function", "function": {"name": "look", "arguments": "{}"}, **more}


def asked(*calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def seen(id_: str = "a", content: Any = "seen") -> Json:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def image(url: Any, **more: Any) -> Json:
    return {"type": "image_url", "image_url": {"url": url}, **more}


# Chat: lists of calls, contents, names


def test_a_list_of_calls_without_one_is_left_out() -> None:
    body = chat({"role": "assistant", "content": "b", "tool_calls": []})
    assert answers(body, CHAT) == {"no-calls": f"Invalid 'messages[1].tool_calls': {EMPTY_CALLS}"}
    assert mended(body, CHAT) == [{"role": "assistant", "content": "b"}]


def test_calls_that_are_null_stay() -> None:
    assert stays(chat({"role": "assistant", "content": "b", "tool_calls": None}), CHAT)


@pytest.mark.parametrize("content", [None, [], [{"type": "text", "text": None}], [{"type": "text"}]])
def test_a_result_without_content_says_an_empty_text(content: Any) -> None:
    body = chat(asked(call()), seen(content=content))
    assert answers(body, CHAT) == {"no-content": "Invalid value for 'content': expected a string, got null."}
    assert mended(body, CHAT)[1] == seen(content="")


def test_a_result_whose_content_is_missing_says_an_empty_text() -> None:
    body = chat(asked(call()), {"role": "tool", "tool_call_id": "a"})
    assert "no-content" in answers(body, CHAT)
    assert mended(body, CHAT)[1] == seen(content="")


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", [None, []])
def test_instructions_without_content_say_an_empty_text(role: str, content: Any) -> None:
    body = chat({"role": role, "content": content})
    assert "no-content" in answers(body, CHAT)
    assert mended(body, CHAT) == [{"role": role, "content": ""}]


@pytest.mark.parametrize("message", [{"role": "user"}, {"role": "user", "content": None}, {"role": "user", "content": []}])
def test_lint_names_a_user_who_says_nothing(message: Json) -> None:
    body = chat({"role": "assistant", "content": "b"}, message)
    assert "no-content" in answers(body, CHAT)
    assert mended(body, CHAT)[1]["content"]


def test_empty_texts_stay() -> None:
    assert stays(
        chat({"role": "system", "content": ""}, asked(call(), content=[]), seen(content=""), {**ON, "content": ""}), CHAT
    )


def test_a_part_that_is_no_text_is_left_out() -> None:
    body = chat({"role": "assistant", "content": [{"type": "text", "text": None}, {"type": "text", "text": "b"}]})
    assert "no-content" in answers(body, CHAT)
    assert mended(body, CHAT) == [{"role": "assistant", "content": [{"type": "text", "text": "b"}]}]


def test_an_answer_of_calls_alone_loses_its_texts_that_are_none() -> None:
    body = chat(asked(call(), content=[{"type": "text", "text": None}]), seen())
    assert mended(body, CHAT) == [asked(call()), seen()]


@pytest.mark.parametrize(("name", "goes"), [("Ann Smith", "Ann_Smith"), ("a/b <c>", "a_b_c_"), ("Zoë\n", "Zoë_")])
def test_a_speakers_name_is_spelled_as_openai_takes_it(name: str, goes: str) -> None:
    body = chat({"role": "user", "name": name, "content": "hi"})
    assert "string does not match pattern" in answers(body, CHAT)["name"]
    assert mended(body, CHAT) == [{"role": "user", "name": goes, "content": "hi"}]


def test_a_speakers_name_that_is_empty_is_left_out() -> None:
    assert mended(chat({"role": "user", "name": "", "content": "hi"}), CHAT) == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("name", "model"), [("Zoë_1.2", "gpt-5"), ("Ann Smith", "deepseek-chat"), ("Ann Smith", "gpt-oss-120b"), (None, "gpt-5")]
)
def test_names_that_are_taken_stay(name: str | None, model: str) -> None:
    assert stays(chat({"role": "user", "name": name, "content": "hi"}, model=model), CHAT)


def test_the_name_of_a_tool_stays() -> None:
    assert stays(chat(asked(call()), {**seen(), "name": "a b"}), CHAT)


# Chat: parts in another form's shape, and pictures


@pytest.mark.parametrize(
    ("part", "goes"),
    [
        ({"type": "input_text", "text": "x", "cache_control": 1}, {"type": "text", "text": "x", "cache_control": 1}),
        ({"type": "output_text", "text": "x", "annotations": [], "logprobs": []}, {"type": "text", "text": "x"}),
        ({"type": "input_image", "image_url": WEB, "detail": "low"}, {**image(WEB), "image_url": {"url": WEB, "detail": "low"}}),
        ({"type": "input_image", "image_url": {"url": WEB}}, image(WEB)),
        ({"type": "input_image", "image_url": ""}, {"type": "text", "text": "[image left out]"}),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}, "cache_control": 1},
            image(DATA_URL, cache_control=1),
        ),
        ({"type": "image", "source": SOUGHT}, image(WEB)),
    ],
)
def test_a_part_in_another_forms_shape_is_said_as_chat_has_it(part: Json, goes: Json) -> None:
    body = chat(user(part))
    assert answers(body, CHAT)["type"].startswith(f"Invalid value: '{part['type']}'. Supported values are: 'text'")
    assert [{**one, "type": goes["type"]} for one in mended(body, CHAT)[0]["content"]] == [goes]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "input_image", "file_id": "f"},
        {"type": "image_url", "image_url": {"file_id": "f"}},
        {"type": "image", "note": "x"},
        {"type": "hologram", "text": None},
        {"text": "x"},
        {"type": "refusal", "refusal": "no"},
    ],
)
def test_a_part_that_nobody_knows_stays(part: Json) -> None:
    body = chat(user(part, {"type": "text", "text": "x"}))
    assert transom.fit(body, api=CHAT, budget=50_000).request is body


def test_parts_of_a_result_are_said_as_chat_has_them() -> None:
    body = chat(asked(call()), seen(content=[{"type": "input_text", "text": "x"}]))
    assert "type" in answers(body, CHAT)
    assert mended(body, CHAT)[1] == seen(content=[{"type": "text", "text": "x"}])


def test_a_picture_in_base64_says_so() -> None:
    body = chat(user(image(PICTURE)))
    said = answers(body, CHAT)["image-url"]
    assert said.startswith("Invalid image URL: 'messages[1].content[0].image_url.url'.")
    assert said.endswith("but got a value without the 'data:' prefix.")
    assert mended(body, CHAT) == [user(image(DATA_URL))]


def test_the_address_of_a_picture_stands_in_an_object() -> None:
    body = chat(user({"type": "image_url", "image_url": WEB}))
    assert "expected an object" in answers(body, CHAT)["image-url"]
    assert mended(body, CHAT) == [user(image(WEB))]
    assert stays({**body, "model": "pixtral-large"}, CHAT)
    assert mended(chat(user({"type": "image_url", "image_url": PICTURE}), model="llava"), CHAT) == [user(image(DATA_URL))]


@pytest.mark.parametrize("url", ["", "blob:https://example.org/1", "file:///tmp/a.png"])
def test_a_picture_that_only_the_sender_can_read_is_told_in_words(url: str) -> None:
    body = chat(user(image(url)))
    assert "image-url" in answers(body, CHAT)
    (part,) = mended(body, CHAT)[0]["content"]
    assert part["type"] == "text"
    assert url in part["text"]


@pytest.mark.parametrize("url", [WEB, DATA_URL, "gs://bucket/a.png", "not a picture"])
def test_other_addresses_of_pictures_stay(url: str) -> None:
    body = chat(user(image(url)))
    assert transom.fit(body, api=CHAT, budget=50_000).request is body


def test_a_server_of_ones_own_reads_its_files() -> None:
    assert stays(chat(user(image("file:///tmp/a.png")), model="llava"), CHAT)


# Pictures of those who may not show any


@pytest.mark.parametrize("role", ["assistant", "system"])
def test_a_picture_that_only_the_user_may_show_goes_behind(role: str) -> None:
    words = {"type": "text", "text": "b"}
    body = chat({"role": role, "content": [words, image(WEB)]})
    assert answers(body, CHAT)["image-role"] == (
        "Invalid 'messages[1]'. Image URLs are only allowed for messages with role 'user', but this message with "
        f"role '{role}' contains an image URL."
    )
    made = mended(body, CHAT)
    assert made[0] == {"role": role, "content": [words]}
    assert made[1]["role"] == "user"
    assert made[1]["content"][1:] == [image(WEB)]


def test_a_picture_of_an_answer_goes_behind_the_results_of_its_calls() -> None:
    body = chat(asked(call(), content=[image(WEB)]), seen())
    made = mended(body, CHAT)
    assert made[:2] == [asked(call()), seen()]
    assert made[2]["content"][1:] == [image(WEB)]


def test_an_answer_that_was_a_picture_alone_still_stands() -> None:
    made = mended(chat({"role": "assistant", "content": [image(WEB)]}), CHAT)
    assert [one["role"] for one in made] == ["assistant", "user"]


def test_pictures_of_answers_stay_on_other_hosts_and_those_of_the_user_anywhere() -> None:
    assert stays(chat({"role": "assistant", "content": [image(WEB)]}, model="llava"), CHAT)
    assert stays(chat(user(image(WEB))), CHAT)


def test_a_picture_of_an_answer_goes_behind_it_in_responses() -> None:
    words, shown = {"type": "output_text", "text": "b"}, {"type": "input_image", "image_url": WEB}
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    body = items(thought, {"role": "assistant", "content": [words, shown]})
    assert "'output_text' and 'refusal'" in answers(body, ITEMS)["image-role"]
    made = mended(body, ITEMS)
    assert made[:2] == [thought, {"role": "assistant", "content": [words]}]
    assert made[2]["content"][1:] == [shown]


# Ids of calls


@pytest.mark.parametrize(("count", "model"), [(64, "gpt-5"), (200, "gemini-3-pro"), (200, "gpt-oss-120b")])
def test_ids_that_are_taken_stay(count: int, model: str) -> None:
    id_ = "call_" + "x" * (count - 5)
    assert stays(chat(asked(call(id_)), seen(id_), model=model), CHAT)
    assert stays(items(did(id_), got(id_), model=model), ITEMS)


@pytest.mark.parametrize("api", [CHAT, ITEMS])
def test_an_id_that_is_too_long_is_shortened_in_the_call_and_its_result(api: str) -> None:
    one, two = "call_" + "x" * 100 + "1", "call_" + "x" * 100 + "2"
    if api == CHAT:
        body, key = chat(asked(call(one), call(two)), seen(two, "2"), seen(one, "1")), "tool_call_id"
    else:
        body, key = items(did(one), did(two), got(two, "2"), got(one, "1")), "call_id"
    assert "string too long. Expected a string with maximum length 64, but got a string with length 106" in str(
        answers(body, api)
    )
    made = mended(body, api)
    ids = [one["id"] for one in made[0]["tool_calls"]] if api == CHAT else [one["call_id"] for one in made[:2]]
    assert len(set(ids)) == 2
    assert {len(one) for one in ids} == {64}
    assert [one[key] for one in made[-2:]] == ids[::-1]


def test_bedrock_takes_ids_of_64_characters() -> None:
    long = "tooluse_" + "x" * 80

    def body(id_: str) -> Json:
        used, found = {"toolUseId": id_, "name": "look", "input": {}}, {"toolUseId": id_, "content": [{"text": "x"}]}
        return {
            "modelId": "amazon.nova-pro-v1:0",
            "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]},
            "messages": [
                {"role": "user", "content": [{"text": "go"}]},
                {"role": "assistant", "content": [{"toolUse": used}]},
                {"role": "user", "content": [{"toolResult": found}]},
            ],
        }

    assert set(answers(body(long), "bedrock")) == {"long-id"}
    made = transom.fit(body(long), api="bedrock", strict=True).request
    given = made["messages"][1]["content"][0]["toolUse"]["toolUseId"]
    assert len(given) == 64
    assert made["messages"][2]["content"][0]["toolResult"]["toolUseId"] == given
    assert transom.fit(made, api="bedrock").request is made
    assert stays(body(long[:64]), "bedrock")


def test_a_number_behind_an_id_stays_within_what_is_taken() -> None:
    id_ = "call_" + "x" * 59
    made = mended(items(did(id_), got(id_, "1"), ON, did(id_), got(id_, "2")), ITEMS)
    assert made[0]["call_id"] == id_
    assert made[3]["call_id"] == made[4]["call_id"] == id_[:62] + "_2"


def test_an_id_that_is_too_long_and_comes_again_is_numbered_too() -> None:
    id_ = "call_" + "x" * 100
    body = items(did(id_), got(id_, "1"), ON, did(id_), got(id_, "2"))
    made = mended(body, ITEMS)
    assert len({made[0]["call_id"], made[3]["call_id"]}) == 2
    assert mended({**body, "input": [*body["input"], did(id_), got(id_, "3")]}, ITEMS)[:5] == made[:5]


# Responses: contents and parts


def did(id_: str = "a", **more: Any) -> Json:
    return {"type": "function_call", "call_id": id_, "name": "look", "arguments": "{}", **more}


def got(id_: str = "a", output: Any = "seen") -> Json:
    return {"type": "function_call_output", "call_id": id_, "output": output}


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


# Responses: ids of items, and reasoning


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


# Responses: items that the provider knows by an id


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
