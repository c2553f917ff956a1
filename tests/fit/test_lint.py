"""What lint says about a body besides its messages: fields, limits, and the words of who is asked."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from msgspec.structs import replace

import transom
from bodies import png
from transom import check, wire
from transom.plan import Size
from transom.wire import FORMS

Json = dict[str, Any]
USER = {"role": "user", "content": "x"}
CONTENTS = [{"role": "user", "parts": [{"text": "x"}]}]
CONVERSE = [{"role": "user", "content": [{"text": "x"}]}]
CLAUDE = {"model": "claude-sonnet-4-5", "messages": [USER]}


@pytest.mark.parametrize("value", ["abc", -5, 0, True, 4096.5, [1]])
def test_the_limit_of_an_answer_is_a_whole_number(value: object) -> None:
    (fault,) = transom.lint({**CLAUDE, "max_tokens": value}, api="anthropic")
    assert (fault.place, fault.code, fault.refused) == ("max_tokens", "max-tokens", True)
    assert "whole number" in fault.says


@pytest.mark.parametrize(
    "api, body, faults",
    [
        ("anthropic", {"messages": [USER]}, {"model": "model: Field required", "max_tokens": "max_tokens: Field required"}),
        (
            "anthropic",
            {"messages": [USER], "max_tokens": None, "model": "claude-x"},
            {"max_tokens": "max_tokens: Field required"},
        ),
        ("anthropic", {"anthropic_version": "vertex-2023-10-16", "messages": [USER], "max_tokens": 5}, {}),
        ("openai-chat", {"messages": [USER]}, {"model": "you must provide a model parameter"}),
        ("openai-chat", {"model": "gpt-4o", "messages": [USER]}, {}),
        ("openai-chat", {"model": "gpt-4o", "messages": [USER], "max_completion_tokens": 0}, {"max_completion_tokens": ""}),
        ("openai-responses", {"input": "x"}, {"model": ""}),
        ("openai-responses", {"input": "x", "prompt": {"id": "p"}, "max_output_tokens": 9}, {"max_output_tokens": ""}),
        (
            "gemini",
            {"contents": CONTENTS, "generationConfig": {"maxOutputTokens": "9"}},
            {"generationConfig.maxOutputTokens": ""},
        ),
        ("bedrock", {"messages": CONVERSE, "inferenceConfig": {"maxTokens": -1}}, {"inferenceConfig.maxTokens": ""}),
        ("blocks", {"messages": [USER]}, {}),
    ],
)
def test_required_fields_are_named_and_no_fit_fails_for_them(api: str, body: Json, faults: Json) -> None:
    """Stored talks have no `max_tokens`; who sends one completes it."""
    assert {fault.place: fault.answer for fault in transom.lint(body, api=api)} == faults
    if api != "blocks" and not any(place.endswith(("okens",)) for place in faults if faults[place] == ""):
        assert transom.repair(body, api=api).request is body
        assert transom.fit(body, api=api).request is body


def test_a_call_without_its_fields_is_named() -> None:
    calls = [{"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b", "name": "f", "input": "x"}]
    results = [{"type": "tool_result", "tool_use_id": name, "content": "x"} for name in "ab"]
    body = {
        "max_tokens": 5,
        **CLAUDE,
        "messages": [USER, {"role": "assistant", "content": calls}, {"role": "user", "content": results}],
    }
    assert [(fault.place, fault.code, fault.answer) for fault in transom.lint(body, api="anthropic")] == [
        ("messages[1].content[0]", "name", ""),
        ("messages[1].content[0]", "input", ""),
        ("messages[1].content[1]", "input", "messages.1.content.1.tool_use.input: Input should be a valid dictionary"),
    ]


@pytest.mark.parametrize(
    "api, key, model, words",
    [
        ("anthropic", "messages", "claude-sonnet-4-5", "prompt is too long: 9 tokens > 8 maximum"),
        (
            "openai-chat",
            "messages",
            "gpt-4o",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 9",
        ),
        ("openai-responses", "input", "gpt-4o", "Your input exceeds the context window of this model."),
        ("gemini", "contents", "gemini-2.5-flash", "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
        ("openai-chat", "messages", "openrouter/openai/gpt-4o", "However, you requested about 9 tokens (9 of text input)."),
        (
            "openai-chat",
            "messages",
            "vllm/qwen3",
            "you requested 7 output tokens and your prompt contains at least 9 input tokens",
        ),
        ("openai-chat", "messages", "qwen3-max", ""),
        ("bedrock", "messages", "anthropic.claude-sonnet-4-5", ""),
    ],
)
def test_too_many_tokens_are_answered_in_the_words_of_who_is_asked(api: str, key: str, model: str, words: str) -> None:
    card = replace(transom.card(model, api=api), input_limit=8)
    conversation = FORMS[api].read({key: [], "max_tokens": 7})
    (fault,) = check.limit_faults(conversation, card, Size(tokens=9))
    assert words in fault.answer
    assert bool(words) == bool(fault.answer)


def test_an_answer_limit_that_is_no_number_is_not_counted() -> None:
    card = replace(transom.card("vllm/qwen3"), input_limit=8)
    (fault,) = check.limit_faults(FORMS["openai-chat"].read({"messages": [], "max_tokens": "x"}), card, Size(tokens=9))
    assert "requested 0 output tokens" in fault.answer


def test_a_side_too_long_among_many_is_placed_as_the_provider_places_it() -> None:
    shot = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b64encode(png(2_400, 8)).decode()}}
    body = {**CLAUDE, "max_tokens": 5, "messages": [{"role": "user", "content": [shot] * 21}]}
    fault = next(fault for fault in transom.lint(body, api="anthropic") if fault.code == "many-image-side")
    assert fault.answer.startswith("messages.0.content.0: At least one of the image dimensions exceed")


def test_a_fault_that_the_input_did_not_have_is_transoms_own() -> None:
    form, card = FORMS["anthropic"], transom.card("claude-sonnet-4-5")
    whole = form.read({"messages": [USER]})
    bare = form.read({"messages": [{"role": "assistant", "content": "x"}, {"role": "user", "content": ""}]})
    sizes = {"planned": Size(), "counted": Size(), "strict": True}
    with pytest.raises(transom.PlanMismatch, match=r"the text is empty.* \(and 1 more\); the request was not sent"):
        check.verify(bare, form, card, given=whole, **sizes)  # type: ignore[arg-type]
    with pytest.raises(transom.BadRequest, match=r"the text is empty; leave the part out$"):
        check.verify(bare, form, card, given=bare, **sizes)  # type: ignore[arg-type]


def test_what_was_written_is_what_was_planned_or_it_is_not_sent() -> None:
    """Under `strict` a difference stops the request; else it is noted."""
    form, card = FORMS["anthropic"], transom.card("claude-sonnet-4-5")
    sound = form.read({"messages": [USER]})
    given: Json = {"given": sound, "planned": Size(10, 20, 1), "counted": Size(11, 20, 1)}
    with pytest.raises(transom.PlanMismatch, match="planned 10 tokens and 20 bytes, written 11 and 20"):
        check.verify(sound, form, card, strict=True, **given)
    (note,) = check.verify(sound, form, card, strict=False, **given)
    assert "written 11" in note


def test_more_pictures_and_bytes_than_the_model_takes_are_named_with_the_limit() -> None:
    card = transom.card("claude-sonnet-4-5")
    card = replace(card, limits=replace(card.limits, images=1, body_bytes=1_000))
    shot = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b64encode(png(64, 8)).decode()}}
    conversation = FORMS["anthropic"].read({"messages": [{"role": "user", "content": [shot, shot]}]})
    many, large = check.limit_faults(conversation, card, Size(bytes=1_001))
    assert many.says == "2 pictures, and claude-sonnet-4-5 takes at most 1; leave out the oldest"
    assert large.says.startswith("1,001 bytes, and the body may have at most 1,000")


@pytest.mark.parametrize(
    ("body", "api"),
    [
        ({"input": "Hi"}, "openai-responses"),
        ({"contents": CONTENTS}, "gemini"),
        ({"messages": CONVERSE, "inferenceConfig": {}}, "bedrock"),
        ({"messages": [USER]}, "openai-chat"),
        ({"messages": [USER], "system": "x", "stop_sequences": []}, "anthropic"),
    ],
)
def test_the_form_of_a_body_is_guessed_from_what_only_it_has(body: Json, api: str) -> None:
    assert wire.guess(body) == api
