"""Prices of the other forms: what is read off recorded bills, a case each."""

from __future__ import annotations

import base64
from typing import Any

import pytest

import transom
from transom import catalog
from transom.errors import BadSetting
from transom.pricing import PriceList
from transom.tokens import supplied
from transom.wire import FORMS

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


def price(body: dict[str, Any], api: str, model: str = "", **known: Any) -> int:
    form = FORMS[api]
    conversation = form.read(body)
    prices = PriceList(catalog.card(model, api=api, **known), count=len).at(conversation)
    return prices.fixed(conversation).tokens + sum(prices.message(message).tokens for message in conversation.messages)


def gemini(*contents: Any, **beside: Any) -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": parts} for role, parts in contents], **beside}


HELLO = ("user", [{"text": "Hello"}])


@pytest.mark.parametrize(
    "model, tokens",
    [("gemini-2.0-flash", 5), ("gemini-2.5-flash", 6), ("vertex_ai/gemini-2.5-flash", 5), ("gemini-3-pro", 6)],
)
def test_gemini_text_has_no_frame_but_a_turn_on_its_own_api(model: str, tokens: int) -> None:
    assert price(gemini(HELLO), "gemini", model) == tokens


def test_a_declaration_costs_words_alone_at_vertex_and_markup_on_the_api() -> None:
    tools = [{"functionDeclarations": [{"name": "now", "description": "The time", "parameters": WEATHER}]}]
    words = len("now") + len("The time") + 2 * len("city")
    assert price(gemini(HELLO, tools=tools), "gemini", "vertex_ai/gemini-2.5-flash") == 5 + words + 2
    assert price(gemini(HELLO, tools=tools), "gemini", "gemini-3-pro") == 6 + words + round(13 + 6 + 9.3 + 4.3)


def test_thoughts_behind_a_signature_are_charged_in_the_tool_loop() -> None:
    call = {"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "x" * 1_000}
    answer = {"functionResponse": {"name": "now", "response": {"result": "noon"}}}
    loop = [HELLO, ("model", [call]), ("user", [answer])]
    signed, later = price(gemini(*loop), "gemini", "gemini-3-pro"), price(gemini(*loop, HELLO), "gemini", "gemini-3-pro")
    bare = price(gemini(HELLO, ("model", [{"functionCall": call["functionCall"]}]), ("user", [answer])), "gemini", "gemini-3-pro")
    assert signed - bare == 206 - 17
    assert later == bare + 6


def test_a_responses_item_is_a_turn_and_encrypted_reasoning_is_charged_behind_the_users_turn() -> None:
    asked = {"role": "user", "content": "Hello"}
    thought = {"type": "reasoning", "summary": [], "encrypted_content": "x" * 2_000}
    plain = price({"input": [asked]}, "openai-responses", "gpt-5")
    assert plain == 2 + 4 + len("Hello")
    assert price({"input": [asked, thought]}, "openai-responses", "gpt-5") == plain + 286 - 105
    assert price({"input": [thought, asked]}, "openai-responses", "gpt-5") == plain


def test_converse_is_priced_as_who_bills() -> None:
    body = {"modelId": "x", "messages": [{"role": "user", "content": [{"text": "Hello"}]}], "system": [{"text": "Hi"}]}
    assert price(body, "bedrock", "us.anthropic.claude-haiku-4-5-20251001-v1:0") == 7 + 5 + 2
    assert price(body, "bedrock", "us.amazon.nova-lite-v1:0") == 5 + 2


def test_a_template_drops_the_thought_of_an_earlier_answer() -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think>long thought</think>\nYes"}]
    asked = {"messages": [*turns, {"role": "user", "content": "Hi"}]}
    assert price(asked, "openai-chat", "qwen3") == 3 + 3 * 5 + 2 + 3 + 2


def test_a_host_has_frames_of_its_own() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    assert price(body, "openai-chat", "ollama/qwen3") == price(body, "openai-chat", "qwen3") + 2
    assert price(body, "openai-chat", "venice/qwen3-5-9b") > price(body, "openai-chat", "qwen3-5-9b") + 1_000


def test_the_same_thought_under_two_names_is_read_once() -> None:
    asked = {"role": "user", "content": "Hi"}
    answer = {"role": "assistant", "content": "Yes", "reasoning": "long thought"}
    once, twice = ({"messages": [asked, one]} for one in (answer, {**answer, "reasoning_content": "long thought"}))
    assert price(once, "openai-chat", "qwen3") == price(twice, "openai-chat", "qwen3")


def test_a_vocabulary_that_is_none_is_named() -> None:
    with pytest.raises(BadSetting, match="tokenizer"):
        supplied("{}")


@pytest.mark.parametrize("name", ["", "nobody/knows-9", "x" * 10_000, "gemini", "gemini-9", "kimi-k9", "..", "\x00", "a/b/c/d"])
def test_no_name_makes_a_price_fail(name: str) -> None:
    for api in FORMS:
        card = catalog.card(name, api=api)
        assert card.image.tokens(640, 480) > 0
    assert transom.price({"messages": [{"role": "user", "content": "Hi"}]}, api="openai-chat", model=name or "x").tokens > 0


def test_on_2_5_only_the_signature_of_a_streamed_answer_is_charged() -> None:
    """10 requests of 2 repositories, 33 of others: its bytes begin with a short piece; one that is no base64 costs nothing."""
    short, long, odd = (base64.b64encode(head + b"x" * 800).decode() for head in (b"\x0a\x29", b"\x0a\xa0\x06", b"\x12\x29"))
    answer = {"functionResponse": {"name": "now", "response": {"result": "noon"}}}

    def loop(signature: str) -> int:
        call = {"functionCall": {"name": "now", "args": {}}, "thoughtSignature": signature}
        return price(gemini(HELLO, ("model", [call]), ("user", [answer])), "gemini", "gemini-2.5-flash")

    plain = loop("")
    assert [loop(one) - plain for one in (short, long, odd, "!" * 200, "////////" + "A" * 200)] == [
        round(0.158 * len(short)) - 16, 0, 0, 0, 0,
    ]  # fmt: skip
    assert loop(short.replace("+", "-").replace("/", "_").rstrip("=")) > plain
