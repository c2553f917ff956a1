"""Claude's framing, tools, calls and schemas."""

from __future__ import annotations

from typing import Any

import pytest

from transom import catalog
from transom.pricing import PriceList
from transom.types import Json, JsonObject
from transom.wire import FORMS

HELLO = [{"role": "user", "content": "Hello, Claude"}]
TOOL = {"name": "now", "description": "The time", "input_schema": {"type": "object", "properties": {}}}


def words(text: str) -> int:
    """A counter of words: framing shows as it is."""
    return len(text.split())


def price(body: JsonObject, *, model: str = "claude-sonnet-4-5", api: str = "anthropic") -> int:
    """The tokens of a whole body, its text counted by words."""
    prices = PriceList(catalog.card(model), count=words)
    conversation = FORMS[api].read({"model": model, "max_tokens": 10, **body})
    return prices.fixed(conversation).tokens + sum(prices.message(message).tokens for message in conversation.messages)


@pytest.mark.parametrize(
    "model, frame", [("claude-sonnet-4-5", 7), ("claude-opus-4-7", 11), ("claude-opus-4-8", 6), ("claude-opus-5", 6)]
)
def test_a_plain_request(model: str, frame: int) -> None:
    """docs/pricing.md, and ctok 1.3.0 for 4.7: 7, 11 and 6; 3 a turn more; a system prompt its tokens only."""
    assert price({"messages": HELLO}, model=model) == frame + 2
    assert price({"messages": HELLO, "system": "You are a scientist"}, model=model) == frame + 6
    longer = [*HELLO, {"role": "assistant", "content": "Hi"}, *HELLO]
    assert price({"messages": longer}, model=model) == frame + 6 + 5


PREAMBLES = [
    ("claude-opus-5", 286, 406),
    ("claude-opus-4-8", 290, 410),
    ("claude-opus-4-7", 675, 804),
    ("claude-opus-4-6", 497, 589),
    ("claude-opus-4-5", 496, 588),
    ("claude-opus-4-1", 313, 315),
    ("claude-sonnet-5", 354, 474),
    ("claude-sonnet-4-6", 497, 589),
    ("claude-sonnet-4-5", 496, 588),
    ("claude-sonnet-4", 313, 315),
    ("claude-haiku-4-5", 496, 588),
    ("claude-3-5-haiku", 264, 355),
]


@pytest.mark.parametrize("model, auto, forced", PREAMBLES)
def test_the_preamble_of_tools(model: str, auto: int, forced: int) -> None:
    """platform.claude.com, tool-use overview, 2026-08-22; then 1, 6 a tool and its JSON with spaces (10 words here)."""
    base = price({"messages": HELLO}, model=model)
    written = 1 + 6 + 10
    for choice, preamble in (("auto", auto), ("none", auto), ("any", forced)):
        assert (
            price({"messages": HELLO, "tools": [TOOL], "tool_choice": {"type": choice}}, model=model) == base + preamble + written
        )
    named = {"type": "tool", "name": "now"}
    assert price({"messages": HELLO, "tools": [TOOL], "tool_choice": named}, model=model) == base + forced + written + 2


@pytest.mark.parametrize(
    "kind, tokens", [("bash_20250124", 325), ("computer_toolset_20260801", 4_520), ("memory_20250818", 1_072), ("new_1", 700)]
)
def test_tools_of_the_provider_have_prices_of_their_own(kind: str, tokens: int) -> None:
    base = price({"messages": HELLO})
    assert price({"messages": HELLO, "tools": [{"type": kind, "name": "x"}]}) == base + 496 + 1 + tokens


def turn(call: Json, result: Json) -> list[JsonObject]:
    """A call and its result."""
    return [
        *HELLO,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "now", "input": call}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", **result}]},
    ]


@pytest.mark.parametrize(
    "call, result, more",
    [
        ({}, {"content": "noon"}, 1 + 27 + 13 + 1),
        ({"zone": "Europe Berlin"}, {"content": "noon"}, 1 + 27 + 13 + 1 + 13 + 3),
        ({"n": 1, "deep": {"a": [1, 2]}}, {"content": [{"type": "text", "text": "it is noon"}]}, 1 + 27 + 13 + 3 + 2 * 13 + 4),
        ({}, {"content": "lost", "is_error": True}, 1 + 27 + 13 + 1 + 7),
    ],
)
def test_a_call_and_its_result(call: Json, result: Json, more: int) -> None:
    """Least absolute error over 148 recorded loops: some 40 and 13 a parameter, 7 for a failure."""
    base = price({"messages": HELLO}) + 2 * 3
    assert price({"messages": turn(call, result)}) == base + more


def test_a_call_whose_arguments_are_no_json_is_one_value() -> None:
    """An OpenAI-shaped request to a Claude model is priced as Claude."""
    call = {"id": "c", "type": "function", "function": {"name": "now", "arguments": "not json"}}
    said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    assert price({"messages": said}, api="openai-chat") == 7 + 12 + 1 + 27 + 13 + 2
    call["function"] = {"name": "now", "arguments": ""}
    assert price({"messages": said}, api="openai-chat") == 7 + 12 + 1 + 27


def test_calls_beside_the_first_cost_more() -> None:
    call: dict[str, Any] = {"type": "tool_use", "id": "t", "name": "now", "input": {}}
    one, two = ([{"role": "assistant", "content": [call] * n}] for n in (1, 2))
    assert price({"messages": two}) - price({"messages": one}) == 28 + 20


def test_thinking_costs_a_note() -> None:
    """docs/pricing.md: 29 where it is enabled, 28 of 47 exact; nothing where it is adaptive (5 records)."""
    base = price({"messages": HELLO})
    assert price({"messages": HELLO, "thinking": {"type": "enabled", "budget_tokens": 1024}}) == base + 29
    assert price({"messages": HELLO, "thinking": {"type": "adaptive"}}) == base


@pytest.mark.parametrize(
    "model, kept", [("claude-sonnet-4-5", 0), ("claude-haiku-4-5", 0), ("claude-opus-4-5", 3), ("claude-opus-5", 3)]
)
def test_thinking_of_a_finished_turn_is_dropped_by_older_models(model: str, kept: int) -> None:
    """docs/pricing.md"""
    thought = {"type": "thinking", "thinking": "let me think", "signature": "s"}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "Hi"}]}
    plain = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
    assert (
        price({"messages": [*HELLO, said, *HELLO]}, model=model)
        == price({"messages": [*HELLO, plain, *HELLO]}, model=model) + kept
    )
    calling = {"role": "assistant", "content": [thought, {"type": "tool_use", "id": "t", "name": "now", "input": {}}]}
    alone = {"role": "assistant", "content": calling["content"][1:]}
    assert price({"messages": [*HELLO, calling]}, model=model) == price({"messages": [*HELLO, alone]}, model=model) + 3


@pytest.mark.parametrize("key", ["output_format", "output_config"])
def test_a_response_schema(key: str) -> None:
    """21 of 22 recorded requests within 2: 81 and its JSON over several lines (12 words here)."""
    wanted = {"type": "json_schema", "schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
    base = price({"messages": HELLO})
    assert price({"messages": HELLO, key: wanted}) == base + 81 + 12
    assert price({"messages": HELLO, key: {"format": wanted}}) == base + 81 + 12
    assert price({"messages": HELLO, key: {"effort": "low"}}) == base


def test_a_picture_stands_in_a_frame() -> None:
    """docs/pricing.md: 2 to 5 tokens beside the patches."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    assert price({"messages": [{"role": "user", "content": [picture]}]}) == 7 + 1_600 + 3


@pytest.mark.parametrize("kinds, more", [("p", 6), ("tp", 6 + 13), ("tpt", 6 + 13), ("t", 0), ("tt", 0)])
def test_media_in_a_result_stand_in_a_frame(kinds: str, more: int) -> None:
    """9 recorded requests of 4 repositories: 6 around a picture alone, 17 to 20 where a text stands beside it."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    content = [picture if kind == "p" else {"type": "text", "text": "word"} for kind in kinds]
    plain = price({"messages": turn({}, {"content": ""})})
    inside = kinds.count("t") + (1_600 + 3) * kinds.count("p")
    assert price({"messages": turn({}, {"content": content})}) == plain + inside + more


def test_results_of_a_search_that_are_to_be_cited_bring_the_rules_of_citing() -> None:
    """As for documents (docs/pricing.md): 557."""
    found = {"type": "search_result", "title": "T", "source": "s", "content": [{"type": "text", "text": "word"}]}
    cited = {**found, "citations": {"enabled": True}}
    plain, told = (price({"messages": turn({}, {"content": [one]})}) for one in (found, cited))
    assert told == plain + 557
    inner = {"searchResult": {"title": "T", "source": "s", "content": [{"text": "word"}], "citations": {"enabled": True}}}
    asked = {"messages": [{"role": "user", "content": [inner]}]}
    assert price(asked, api="bedrock") == 7 + 557 + 3


def test_a_document_of_plain_text() -> None:
    """docs/pricing.md: 38 and its text."""
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "four words of text"}}
    assert price({"messages": [{"role": "user", "content": [document]}]}) == 7 + 38 + 4
