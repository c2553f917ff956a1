"""Talks for Anthropic that are too long for their budget, and fits that fold them."""

from __future__ import annotations

import copy
from typing import Any

import transom
from stage import encoded, png
from transom import FLAT, Policy, PriceList, canon

Json = dict[str, Any]
FOLDING = Policy.folding(strict=True, image_ratio=0, newest="limit", folded="count")


def data(number: int) -> str:
    return encoded(png(20 + number, 30))


def picture(number: int) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(number)}}


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def user(*content: Json | str) -> Json:
    return {"role": "user", "content": [words(one) if isinstance(one, str) else one for one in content]}


def says(text: str) -> Json:
    return {"role": "assistant", "content": text}


def called(name: str, *content: Json | str) -> list[Json]:
    result = {"type": "tool_result", "tool_use_id": name, "content": [words(c) if isinstance(c, str) else c for c in content]}
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "look", "input": {"n": 1}}]},
        {"role": "user", "content": [result]},
    ]


LONG = ("a long text of many words " * 20).strip()


def turns(count: int) -> list[Json]:
    return [message for n in range(count) for message in (user(f"question {n} {LONG}"), says(f"answer {n} {LONG}"))]


def fit(messages: list[Json], budget: int, policy: Policy = FOLDING, **more: Any) -> transom.Fit:
    request = {"messages": messages}
    before = copy.deepcopy(request)
    prices = more.pop("prices", PriceList(FLAT))
    made = transom.fit(request, api=more.pop("api", "anthropic"), prices=prices, policy=policy, budget=budget, **more)
    assert request == before
    return made


def folded(messages: list[Json], budget: int, policy: Policy = FOLDING, text: str = "what happened", **more: Any) -> transom.Fit:
    """One round of asks and the second pass."""
    first = fit(messages, budget, policy, **more)
    return fit(messages, budget, policy, ready=[transom.fulfil(ask, text) for ask in first.asks], **more)


def live(made: transom.Fit) -> list[int]:
    text = canon.text(made.request)
    return [number for number in range(30) if data(number) in text]


def price(made: transom.Fit, prices: PriceList | None = None) -> int:
    return transom.price(made.request, api="anthropic", prices=prices or PriceList(FLAT)).tokens
