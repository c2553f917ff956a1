"""Sums of the library's prices that do not go through its planner: what a request costs, and the least that must stay."""

from __future__ import annotations

import transom
from transom.pricing import PriceList
from transom.types import Json, JsonObject


def least(request: JsonObject, api: str, prices: str | PriceList | None) -> int:
    """Tokens of the system prompt, the tools, the newest request and the newest group, and nothing else."""
    model = prices.card.name if isinstance(prices, PriceList) else prices
    bill = transom.price(request, api=api, model=model)
    messages = request["messages"]
    keep = set(kept_anyway(messages, api))
    return bill.fixed.tokens + sum(bill[f"messages[{index}]"].tokens for index in keep)


def kept_anyway(messages: list[JsonObject], api: str) -> list[int]:
    """Indices of the messages that must stay: system messages, the newest request, the newest group with its results."""
    system = [i for i, one in enumerate(messages) if one.get("role") in ("system", "developer")]
    requests = [i for i, one in enumerate(messages) if is_request(one)]
    newest = len(messages) - 1
    start = newest
    if api == "anthropic":
        # A turn that answers calls belongs to the turn that made them.
        while start > 0 and (_answers(messages[start]) or messages[start].get("role") == messages[start - 1].get("role")):
            start -= 1
    else:
        while start > 0 and messages[start].get("role") == "tool":
            start -= 1
    return sorted({*system, *requests[-1:], *range(start, newest + 1)})


def is_request(message: JsonObject) -> bool:
    """Whether a message is the user's own turn: words or pictures, not results alone."""
    if message.get("role") != "user":
        return False
    content = message.get("content")
    return isinstance(content, str) or any(part.get("type") != "tool_result" for part in _parts(content))


def _answers(message: JsonObject) -> bool:
    return any(part.get("type") == "tool_result" for part in _parts(message.get("content")))


def _parts(content: Json) -> list[JsonObject]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
