"""What OpenAI refuses in one message of a chat, and in ids of calls in either form, and what goes out instead."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from wire.openai_bodies import (
    CHAT,
    DATA_URL,
    ITEMS,
    ON,
    PICTURE,
    WEB,
    Json,
    answers,
    asked,
    call,
    chat,
    did,
    got,
    items,
    mended,
    seen,
    stays,
    user,
)

SOUGHT = {"type": "url", "url": WEB}
EMPTY_CALLS = "empty array. Expected an array with minimum length 1, but got an empty array instead."


def image(url: Any, **more: Any) -> Json:
    return {"type": "image_url", "image_url": {"url": url}, **more}


# Lists of calls, contents, names


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


# Parts in another form's shape, and pictures


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
