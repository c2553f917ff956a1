"""What may be given beside a request, and that contradictions and slips are said."""

from __future__ import annotations

from typing import Any

import pytest

import transom

BODY: dict[str, Any] = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize("given", [{"model": 5}, {"card": "gpt-4o"}, {"prices": 5}, {"policy": 5}, {"state": {"anchor": 0}}])
def test_an_argument_of_another_type_is_named(given: dict[str, Any]) -> None:
    """A sentence with the name and the type, not an AttributeError from within."""
    with pytest.raises(transom.BadSetting, match=f"{next(iter(given))} is .*; it must be"):
        transom.fit(BODY, api="anthropic", **given)


def test_prices_that_contradict_the_model_are_refused() -> None:
    """Who bills is said once."""
    prices = transom.PriceList(transom.card("claude-sonnet-4-5"))
    assert transom.fit(BODY, api="anthropic", prices=prices, model="claude-sonnet-4-5").request is BODY
    with pytest.raises(transom.BadSetting, match="give one of them"):
        transom.fit(BODY, api="anthropic", prices=prices, model="gpt-4o")


def test_repair_takes_no_budget() -> None:
    """It leaves nothing out for its tokens."""
    with pytest.raises(transom.BadSetting, match="belongs to fit"):
        transom.repair(BODY, api="anthropic", budget=100)


def test_a_reserve_larger_than_the_window_is_refused_with_both_numbers() -> None:
    """Not "system and tools alone need" nothing of nothing."""
    with pytest.raises(transom.BadSetting, match="reserve is 999,999,999, and the window of claude-sonnet-4-5 is 200,000"):
        transom.fit(BODY, api="anthropic", reserve=999_999_999)


def test_an_unknown_form_is_refused_with_those_there_are() -> None:
    """A typing slip in `api`."""
    with pytest.raises(transom.BadSetting, match="it is one of anthropic"):
        transom.fit(BODY, api="antropic")


def test_a_changed_beginning_is_a_break_with_its_cause() -> None:
    """The whole cached prefix is lost: the report says so, and what of it is read again."""
    longer = [*BODY["messages"], {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "And?"}]
    first = transom.fit({**BODY, "messages": longer}, api="anthropic")
    edited = [{"role": "user", "content": "Hello there"}, *longer[1:]]
    again = transom.fit({**BODY, "messages": edited}, api="anthropic", state=first.state)
    (one,) = again.report.breaks
    assert (one.at, one.cause) == (0, "messages that were sent before changed, or are gone")
    assert one.tokens > 0


@pytest.mark.parametrize("change", [{"model": "claude-opus-4-8"}, {"max_images": 1}])
def test_a_changed_model_or_setting_is_noted(change: dict[str, Any]) -> None:
    """And it breaks nothing where the bytes stay."""
    first = transom.fit(BODY, api="anthropic")
    again = transom.fit(BODY, api="anthropic", state=first.state, **change)
    assert any("changed since the last request" in note for note in again.report.notes)
    assert again.report.breaks == ()


def test_bytes_are_those_of_the_compact_body() -> None:
    """So the exact size of a body is a limit that it keeps."""
    longer = {**BODY, "messages": [*BODY["messages"], {"role": "assistant", "content": "Hi"}, BODY["messages"][0]]}
    made = transom.fit(longer, api="anthropic")
    assert transom.fit(longer, api="anthropic", max_body_bytes=made.report.after.bytes).request is longer


def test_a_pin_that_names_nothing_is_said_and_one_that_does_is_not() -> None:
    """A slip in a pin must not lose what was to be kept without a word."""
    made = transom.fit(BODY, api="anthropic", pins=("messages[0]", "messages[0].content", "message[0]", "messages[7]"))
    assert made.request is BODY
    assert [note.partition(" names nothing")[0] for note in made.report.notes[-2:]] == [
        "the pin 'message[0]'",
        "the pin 'messages[7]'",
    ]
