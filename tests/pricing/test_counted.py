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
