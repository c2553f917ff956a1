"""The budget of a request: what was asked for, within what the model takes and what the answer needs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from transom.catalog import ModelCard
from transom.edit import look
from transom.errors import BadSetting
from transom.parts import spell
from transom.plan import Budget
from transom.policy import Policy, limit
from transom.types import Place

ANSWER_KEYS: tuple[Place, ...] = (
    ("max_tokens",),
    ("max_completion_tokens",),
    ("max_output_tokens",),
    ("inferenceConfig", "maxTokens"),
    ("generationConfig", "maxOutputTokens"),
    ("generation_config", "max_output_tokens"),
    ("config", "max_output_tokens"),
)
"""Where requests say how long the answer may be."""
LEAST_RESERVE = 256


def allowance(policy: Policy, card: ModelCard, body: Mapping[str, object]) -> tuple[Budget, tuple[str, ...]]:
    """The most tokens, bytes and messages that the whole request may have, and notes on what was assumed.

    Tokens: the policy's budget, else the window less the reserve; never above the card's input limit. Where neither is known,
    tokens are not limited, and a note says so.
    """
    notes: list[str] = []
    tokens = float(policy.budget) if policy.budget is not None else math.inf
    if policy.budget is None and card.window > 0:
        reserve, source = _reserve(policy, card, body)
        if reserve >= card.window:
            raise BadSetting(
                f"reserve is {reserve:,}, and the window of {card.name} is {card.window:,} tokens; keep less for the answer"
            )
        tokens = card.window - reserve
        notes.append(f"{reserve:,} tokens are reserved for the answer ({source})")
    if card.input_limit > 0:
        tokens = min(tokens, card.input_limit)
    if tokens == math.inf:
        notes.append(f"the window of {card.name or 'this model'} is not known and no budget was given: tokens are not limited")
    size = limit(policy.max_body_bytes) if policy.max_body_bytes is not None else card.limits.body_bytes
    grace = 1 + policy.grace
    return Budget(tokens * grace, size or math.inf, limit(policy.max_messages) or math.inf), tuple(notes)


def _reserve(policy: Policy, card: ModelCard, body: Mapping[str, object]) -> tuple[int, str]:
    if policy.reserve is not None:
        return policy.reserve, "as set"
    for place in ANSWER_KEYS:
        asked = look(body, place) if place[0] in body else None
        if isinstance(asked, int) and not isinstance(asked, bool) and 0 < asked < card.window:
            return asked, f"the request's {spell(place)}"
    quarter = max(LEAST_RESERVE, card.window // 4)
    return min(card.output_limit or quarter, quarter), "the smaller of the model's output limit and a quarter of its window"
