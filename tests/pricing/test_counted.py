"""A counter of the caller's own: asked once, remembered by digest, and never believed where it says no number."""

from __future__ import annotations

import math
from typing import Any

import pytest

import transom

BODY = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}


def test_what_a_counter_says_goes_before_the_estimate() -> None:
    bill = transom.price(BODY, api="openai-chat", count=lambda _: 99)
    assert (bill.tokens, bill.basis, bill.estimated) == (99, "observed", 8)
    assert bill.rows == transom.price(BODY, api="openai-chat").rows


def test_it_is_asked_once_for_each_request_and_model() -> None:
    asked: list[dict[str, Any]] = []
    counts: dict[str, int] = {}

    def count(body: dict[str, Any]) -> int:
        asked.append(body)
        return 50 + len(asked)

    same = [transom.price(dict(BODY), api="openai-chat", count=count, counts=counts).tokens for _ in range(3)]
    other = transom.price(BODY, api="openai-chat", model="gpt-5", count=count, counts=counts).tokens
    assert (same, other, len(asked), len(counts)) == ([51, 51, 51], 52, 2, 2)


@pytest.mark.parametrize("says", [0, -1, True, math.nan, math.inf, None, "12", 10**13])
def test_what_is_no_number_of_tokens_is_not_believed(says: Any) -> None:
    counts: dict[str, int] = {}
    bill = transom.price(BODY, api="openai-chat", count=lambda _: says, counts=counts)
    assert (bill.tokens, bill.estimated, counts) == (8, 0, {})


TALK = {
    "model": "gpt-4o",
    "messages": [{"role": "user" if i % 2 == 0 else "assistant", "content": f"{i} " + "word " * 50} for i in range(21)],
}
GROUP = 120
"""Tokens of a request and its answer here, and some more."""


def tokens(body: Any) -> int:
    return transom.price(body, api="openai-chat").tokens


@pytest.mark.parametrize("share, more", [(1.0, 0), (2.0, 0), (1.0, 400), (0.5, 0), (1.3, 100)])
@pytest.mark.parametrize("budget", [600, 1_000, 5_000])
def test_a_fit_is_within_the_budget_by_the_counter(share: float, more: int, budget: int) -> None:
    """A tokenizer that is off by a share, and a prompt that the host puts in: what goes out fits by the counter's word."""

    def count(body: Any) -> int:
        return round(tokens(body) * share) + more

    fit = transom.fit(TALK, api="openai-chat", budget=budget, count=count, refit=1.0)
    assert count(fit.request) <= budget
    assert (fit.request is TALK) == (count(TALK) <= budget)
    assert fit.report.notes[-1].startswith(f"{count(fit.request):,} tokens of {budget:,} by the counter, estimated as ")
    assert fit.request is TALK or count(fit.request) > budget - share * 2 * GROUP - more


def test_a_fit_asks_once_for_each_request_and_keeps_the_answers() -> None:
    asked: list[Any] = []
    counts: dict[str, int] = {}

    def count(body: Any) -> int:
        asked.append(body)
        return 2 * tokens(body)

    first, again = (transom.fit(TALK, api="openai-chat", budget=1_000, count=count, counts=counts) for _ in range(2))
    assert first.request == again.request
    assert len(asked) == len(counts) <= 3


@pytest.mark.parametrize("budget", [600, None])
def test_without_a_word_of_the_counter_or_a_limit_the_estimate_stands(budget: int | None) -> None:
    body = TALK if budget else {**TALK, "model": "nobody-knows"}
    fit, plain = (transom.fit(body, api="openai-chat", budget=budget, count=count) for count in (lambda _: 0, None))
    assert (fit.request, fit.report.notes) == (plain.request, plain.report.notes)


def test_a_limit_of_the_model_is_meant_by_the_counter_too() -> None:
    """The estimate is ten times too high: by the counter it fits the window, so nothing goes."""
    body = {"model": "gpt-4", "messages": [{"role": "user", "content": "word " * 9_000}]}
    with pytest.raises(transom.OverBudget):
        transom.fit(body, api="openai-chat")
    fit = transom.fit(body, api="openai-chat", count=lambda _: 900)
    assert fit.request is body
    assert any("reserved for the answer" in note for note in fit.report.notes)


def test_a_counter_that_is_never_content_ends_in_its_numbers() -> None:
    with pytest.raises(transom.OverBudget) as caught:
        transom.fit(TALK, api="openai-chat", budget=1_000, count=lambda _: 1_001)
    assert (caught.value.tokens, caught.value.budget_tokens) == (1_001, 1_000)
