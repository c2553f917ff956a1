"""Sums of the library's prices that do not go through its planner: what a request costs, and the least that must stay."""

from __future__ import annotations

import transom
from evidence.wires import kept_anyway, key_of, turns
from transom.pricing import PriceList
from transom.types import JsonObject


def least(request: JsonObject, api: str, prices: str | PriceList | None) -> int:
    """Tokens of the system prompt, the tools, the newest request and the newest group, and nothing else."""
    model = prices.card.name if isinstance(prices, PriceList) else prices
    bill = transom.price(request, api=api, model=model)
    keep = kept_anyway(turns(request, api), api)
    return bill.fixed.tokens + sum(bill[f"{key_of(api)}[{index}]"].tokens for index in keep)
