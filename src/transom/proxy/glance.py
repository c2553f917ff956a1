"""A glance at a request: does it go out as it came? The rule: yes only where the whole fit would say so, at a fraction of its
cost.

Most requests are far below every limit. For those it is enough to know that the form finds no fault, that no message holds
media, and that the sum of prices is below the point where anything moves. A message's price is remembered by its digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from transom import canon
from transom.catalog import ModelCard
from transom.pairing.draft import drafted
from transom.pairing.tidy import with_arguments
from transom.parts import Conversation, Message, walk
from transom.plan import Size
from transom.planner.allowance import allowance
from transom.policy import Policy, limit
from transom.pricing import SCALED, Price, PriceList
from transom.proxy.bounded import Bounded
from transom.wire.form import Form

MOST: Final = 200_000
"""Messages whose price is remembered."""
STRICT: Final = frozenset({"strict-pairs"})
"""The fit brings each result close behind its call, where a form lets it stand anywhere; so the glance asks for no less."""
SLACK: Final = 1.01
"""What rounding may add to a sum of scaled prices."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A message's tokens, unscaled, of which `guessed` are estimates; its bytes; whether it is text, calls and results only, with
    nothing that the fit would mend though the provider may take it.
    """

    tokens: int
    guessed: int
    bytes: int
    plain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request that goes out as it came: its size, and how many of its tokens are known or guessed."""

    size: Size
    exact: int
    guessed: int


class Glance:
    """Remembers prices of messages over all conversations: a digest, and numbers."""

    def __init__(self, most: int = MOST) -> None:
        self._figures: Bounded[tuple[bytes, str, bool], Figure] = Bounded(most)
        self._around: Bounded[tuple[bytes, str], Price] = Bounded(max(1, most // 100))

    def look(  # noqa: PLR0913 - what a fit is given
        self, conversation: Conversation, digests: Sequence[bytes], *, form: Form, policy: Policy, prices: PriceList, named: str
    ) -> Seen | None:
        """The request's size where nothing has to change; None where the whole fit must say. `named` is the card's name."""
        if not _simple(policy) or conversation.held:
            return None
        card = prices.card
        unscaled = replace(prices.at(conversation), multiplier=1.0)
        figures = [self._figure(one, digest, unscaled, named) for one, digest in zip(conversation.messages, digests, strict=True)]
        if not all(figure.plain for figure in figures):
            return None
        around = self._fixed(conversation, unscaled, named)
        outside = around.tokens if around.basis in SCALED else 0
        guessed = sum(figure.guessed for figure in figures) + outside
        tokens = sum(figure.tokens for figure in figures) + around.tokens
        exact = tokens - guessed
        scaled = guessed if prices.multiplier == 1 else int(guessed * prices.multiplier * SLACK) + 1
        size = Size(
            exact + scaled,
            sum(figure.bytes for figure in figures) + around.bytes,
            sum(message.role != "system" for message in conversation.messages),
        )
        if not _stays(size, around, conversation, policy, card) or form.legal(conversation, card.quirks | STRICT):
            return None
        return Seen(size=size, exact=exact, guessed=int(guessed * prices.multiplier))

    def _figure(self, message: Message, digest: bytes, prices: PriceList, named: str) -> Figure:
        key = digest, named, message.index > prices.live
        found = self._figures.get(key)
        if found is None:
            price = prices.message(message)
            plain = all(part.media is None and part.kind != "opaque" for part in walk(message.parts))
            plain = plain and not (message.role == "assistant" and with_arguments(drafted(message)))
            guessed = price.tokens if price.basis in SCALED else 0
            found = self._figures[key] = Figure(price.tokens, guessed, price.bytes, plain)
        return found

    def _fixed(self, conversation: Conversation, prices: PriceList, named: str) -> Price:
        around = canon.encode({**conversation.body, conversation.key: []})
        key = canon.rolling(b"", around), named
        found = self._around.get(key)
        if found is None:
            found = self._around[key] = prices.fixed(conversation)
        return found


def _simple(policy: Policy) -> bool:
    """Whether the policy leaves a request alone that is within its budget."""
    return (
        policy.results_per_tool is None
        and policy.cut is None
        and not limit(policy.max_input_tokens)
        and not limit(policy.max_message_tokens)
        and not limit(policy.chunk_tokens)
        and not limit(policy.compact_at)
        and policy.marks == "client"
    )


def _stays(size: Size, around: Price, conversation: Conversation, policy: Policy, card: ModelCard) -> bool:
    """Whether the request is below the point where anything moves."""
    budget, _ = allowance(policy, card, conversation.body)
    fixed = Size(around.tokens, around.bytes, 0)
    return budget.admits(size) and budget.share(fixed, policy.trigger).admits(size)
