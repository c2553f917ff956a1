"""What clients answer: read where it can be, else a sentence; half a summary is none."""

from __future__ import annotations

import gc
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

import transom
from transom import Ask, BadRequest, BadSetting
from transom.summaries import requests, summarise

Json = dict[str, Any]

ASK = Ask(
    first=0, last=1, level=1, max_tokens=50, key="k", api="anthropic",
    prompt=({"role": "user", "content": [{"type": "text", "text": "sum it up"}]},),
)  # fmt: skip


def openai(answer: object) -> Any:
    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=lambda **_: answer)))


def anthropic(answer: object) -> Any:
    return SimpleNamespace(messages=SimpleNamespace(create=lambda **_: answer))


def said(content: object, reason: str = "stop") -> Json:
    return {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": reason}]}


TEXT: Json = {"type": "text", "text": "words"}


@pytest.mark.parametrize(
    "client",
    [
        openai(said("words")),
        openai(said([TEXT])),
        openai(said(["wor", SimpleNamespace(type="text", text="ds"), {"type": "refusal", "refusal": "x"}])),
        openai(SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="words"))])),
        anthropic({"content": [TEXT], "stop_reason": "end_turn"}),
        anthropic({"content": "words"}),
        anthropic(SimpleNamespace(content=[SimpleNamespace(type="thinking", text=None), SimpleNamespace(text=" words ")])),
    ],
)
def test_an_answer_is_read_as_an_object_and_as_json(client: Any) -> None:
    assert summarise(ASK, client=client, model="m") == "words"


@pytest.mark.parametrize("client", [openai(said(None)), openai({"choices": []}), anthropic({"content": None})])
def test_an_answer_without_words_is_an_empty_summary(client: Any) -> None:
    assert summarise(ASK, client=client, model="m") == ""


@pytest.mark.parametrize(
    ("client", "says"),
    [
        (openai(said("half", "length")), "cut off at its length"),
        (anthropic({"content": [TEXT], "stop_reason": "max_tokens"}), "cut off at its length"),
        (openai({"choices": [{"message": None, "finish_reason": "stop"}]}), "has no `message`"),
        (openai({"error": "x"}), "no list of `choices`"),
        (openai(None), "no list of `choices`"),
        (openai(said(5)), "neither a text nor a list of parts"),
        (anthropic({"content": {"text": "x"}}), "neither a text nor a list of parts"),
    ],
)
def test_an_answer_that_is_none_or_half_of_one_is_a_bad_request(client: Any, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        summarise(ASK, client=client, model="m")


@pytest.mark.parametrize("wrap", [openai, anthropic])
def test_a_client_for_asyncio_is_refused_without_a_warning(wrap: Any) -> None:
    async def answer() -> Json:
        return said("words")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BadSetting, match="give a synchronous client, or send what `requests` makes yourself"):
            summarise(ASK, client=wrap(answer()), model="m")
        gc.collect()


def test_requests_are_made_in_two_forms_only() -> None:
    api: Any = "gemini"
    with pytest.raises(BadSetting, match="api is 'gemini'; a summary is asked for by one of openai-chat, anthropic"):
        requests(ASK, api=api, model="m")
    ask: Any = "x"
    with pytest.raises(BadSetting, match="the ask is str"):
        requests(ask, api="anthropic", model="m")


def test_summaries_are_there_after_the_import_of_transom() -> None:
    assert transom.summaries.summarise is summarise
    with pytest.raises(AttributeError, match="nothing"):
        transom.nothing  # noqa: B018 - the access is what is tested
