"""How much stays when the window moves: as much as its share of the budget takes, to the token."""

from __future__ import annotations

from typing import Any

import pytest

import transom

Json = dict[str, Any]


def turn(number: int) -> list[Json]:
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "look", "input": {"page": number}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"page {number}: " + "lorem " * 20}
    return [
        {"role": "user", "content": f"And page {number}?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": f"It says {number}."},
    ]


@pytest.mark.parametrize("short", [0, 1])
def test_a_stretch_that_opens_with_its_request_stays_if_it_fits_to_the_token(short: int) -> None:
    """No note can stand behind the newest group, so none is kept room for."""
    talk = [message for number in range(12) for message in turn(number)][:-1]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": talk}
    tail = talk[-11:]
    cost, fixed = (transom.price({**body, "messages": some}, api="anthropic").tokens for some in (tail, []))
    made = transom.fit(body, api="anthropic", budget=fixed + 2 * (cost - fixed) - 2 * short, refit=0.5, strict=True)
    assert (made.request["messages"] == tail) is (short == 0)
