"""A glance at a request: does it go out as it came? The rule: yes only where the whole fit would say so, at a fraction of
its cost.

Most requests are far below every limit. For those it is enough to know that the form finds no fault, that no message holds media,
and that the sum of prices is below the point where anything moves. A message's price is remembered by its digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from transom import canon
from transom.errors import BadRequest
from transom.frozen import Frozen
from transom.pairing.draft import drafted
from transom.pairing.tidy import with_arguments
from transom.parts import Conversation, Message, Part, walk
from transom.plan import Size
from transom.planner.allowance import allowance
from transom.policy import Policy, limit
from transom.pricing import SCALED, Price, PriceList, has_calls
from transom.proxy.bounded import Bounded
from transom.proxy.recall import Came
from transom.proxy.record import Learned
from transom.types import JsonObject
from transom.wire.form import Form

MOST: Final = 10_000
"""Messages whose price is remembered, and as many sums of beginnings: 6 MiB when full."""
STRICT: Final = frozenset({"strict-pairs"})
"""The fit brings each result close behind its call, where a form lets it stand anywhere; so the glance asks for no less."""
SLACK: Final = 1.01
"""What rounding may add to a sum of scaled prices."""


class Terms(Frozen, frozen=True, kw_only=True):
    """What a request is judged by. `key` is its body's name for its messages, `named` the name of the card's prices; `learned` is
    what the provider taught, as it stands in the prices.
    """

    form: Form
    key: str
    policy: Policy
    prices: PriceList
    named: str
    learned: Learned


class Figure(Frozen, frozen=True):
    """A message's tokens, unscaled, of which `guessed` are estimates; its bytes; `counts`, whether a limit on messages counts it.

    `plain`: text, calls and results only, with nothing that the fit would mend though the provider may take it. `steady`: its
    price is the same before and after the user's next turn.
    """

    tokens: int
    guessed: int
    bytes: int
    counts: int
    plain: bool
    steady: bool


class Sum(Frozen, frozen=True):
    """Messages together: tokens, unscaled, and how many of them are guessed; bytes; how many a limit counts."""

    tokens: int = 0
    guessed: int = 0
    bytes: int = 0
    counts: int = 0

    def plus(self, figures: Sequence[Figure]) -> Sum:
        """With these messages behind them."""
        return Sum(
            self.tokens + sum(one.tokens for one in figures),
            self.guessed + sum(one.guessed for one in figures),
            self.bytes + sum(one.bytes for one in figures),
            self.counts + sum(one.counts for one in figures),
        )


class Seen(Frozen, frozen=True, kw_only=True):
    """A request that goes out as it came: its size, and how many of its tokens are known or guessed."""

    size: Size
    exact: int
    guessed: int


class Glance:
    """Remembers prices of messages, and sums of beginnings, over all conversations: digests, and numbers."""

    def __init__(self, most: int = MOST) -> None:
        self._figures: Bounded[tuple[bytes, str, bool], Figure] = Bounded(most)
        self._around: Bounded[tuple[bytes, str], Price] = Bounded(max(1, most // 100))
        self._sums: Bounded[tuple[bytes, str], Sum] = Bounded(most)
        self._words: dict[str, JsonObject] = {}

    def look(self, conversation: Conversation, digests: Sequence[bytes], key: bytes, terms: Terms) -> Seen | None:
        """The request's size where nothing has to change; None where the whole fit must say. `key` is the conversation's, b""
        where it has none.
        """
        if not _simple(terms.policy) or conversation.held:
            return None
        prices = _unscaled(terms.prices.at(conversation))
        figures = [self._figure(*one, terms, prices) for one in zip(conversation.messages, digests, strict=True)]
        if not all(figure.plain for figure in figures):
            return None
        total = Sum().plus(figures)
        if key and all(figure.steady for figure in figures):
            self._sums[key, terms.named] = total
        return self._judged(total, conversation, terms)

    def along(self, came: Came, terms: Terms, *, data: bytes) -> Seen | None:
        """The same for a conversation whose first messages went out before as they came, in a request of their own: only what
        came since is read. `data` is the body as bytes.

        What was taken once ends with the user, with every call answered; so what came since is judged behind a word of the
        user's. What can go wrong across that place is looked for elsewhere: a call's id that was there before, in the bytes;
        cache marks, by their count, and by whether some are to be kept longer than others.
        """
        before, now = came.known.keys
        begun = self._sums.get((before, terms.named))
        if (
            begun is None
            or not _simple(terms.policy)
            or came.marks > terms.prices.card.limits.marks > 0
            or _mixed(data, came.marks)
        ):
            return None
        tail, since = came.tail, [canon.short(one) for one in came.since]
        try:
            talk = terms.form.read({**came.around, terms.key: [self._word(terms.form), *tail]})
        except BadRequest:
            return None
        prices = _unscaled(terms.prices)
        figures = [self._figure(*one, terms, prices) for one in zip(talk.messages[1:], since, strict=True)]
        if talk.held or not all(figure.plain and figure.steady for figure in figures) or not _new_ids(talk, tail, data):
            return None
        total = self._sums[now, terms.named] = begun.plus(figures)
        return self._judged(total, talk, terms)

    def _judged(self, total: Sum, conversation: Conversation, terms: Terms) -> Seen | None:
        """The request's size; None where the sum is where something moves, or the form finds a fault."""
        prices, card = terms.prices, terms.prices.card
        around = self._fixed(conversation, _unscaled(prices), terms.named)
        guessed = total.guessed + (around.tokens if around.basis in SCALED else 0)
        exact = total.tokens + around.tokens - guessed
        scaled = guessed if prices.multiplier == 1 else int(guessed * prices.multiplier * SLACK) + 1
        size = Size(exact + scaled, total.bytes + around.bytes, total.counts)
        budget, _ = allowance(terms.policy, card, conversation.body)
        moves = budget.share(Size(around.tokens, around.bytes, 0), terms.policy.trigger)
        if not (budget.admits(size) and moves.admits(size)) or terms.form.legal(conversation, card.quirks | STRICT):
            return None
        return Seen(size=size, exact=exact, guessed=int(guessed * prices.multiplier))

    def _word(self, form: Form) -> JsonObject:
        """A word of the user's."""
        found = self._words.get(form.api)
        if found is None:
            found = self._words[form.api] = form.message("user", [form.text("-")])
        return found

    def _figure(self, message: Message, digest: bytes, terms: Terms, prices: PriceList) -> Figure:
        live, named = message.index > prices.live, terms.named
        found = self._figures.get((digest, named, live))
        if found is None:
            price = prices.message(message)
            plain = all(part.media is None and part.kind != "opaque" for part in walk(message.parts))
            plain = plain and not (has_calls(message) and with_arguments(drafted(message), terms.form))
            guessed = price.tokens if price.basis in SCALED else 0
            steady = message.role == "user" or _is_steady(message, prices)
            found = Figure(price.tokens, guessed, price.bytes, message.role != "system", plain, steady)
            self._figures[digest, named, live] = found
            if found.steady:
                self._figures[digest, named, not live] = found
        return found

    def _fixed(self, conversation: Conversation, prices: PriceList, named: str) -> Price:
        around = canon.encode({**conversation.body, conversation.key: []})
        key = canon.rolling(b"", around), named
        found = self._around.get(key)
        if found is None:
            found = self._around[key] = prices.fixed(conversation)
        return found


def _new_ids(talk: Conversation, tail: Sequence[JsonObject], data: bytes) -> bool:
    """Whether the ids of these calls stand nowhere else in the body."""
    ids = {part.id for message in talk.messages for part in walk(message.parts) if part.kind == "call" and part.id}
    own = canon.encode(tail) if ids else b""
    return all(
        one.isascii() and one.isprintable() and not {*'"\\/'} & {*one} and data.count(one.encode()) == own.count(one.encode())
        for one in ids
    )


def _mixed(data: bytes, marks: int) -> bool:
    """Whether of so many cache marks some are for an hour and others are not: the longer ones must stand first (Anthropic)."""
    hours = data.count(b'"1h"') if marks else 0
    return 0 < hours < marks


def _is_steady(message: Message, prices: PriceList) -> bool:
    """Whether a message costs the same before and after the user's next turn: reasoning may not."""
    frame, calls = prices.card.frame, has_calls(message)

    def count(text: str) -> int:
        return prices.text(text).tokens

    def same(part: Part) -> bool:
        said = frame.said(part.text, live=True) == frame.said(part.text, live=False)
        hidden = frame.hidden(part, live=True) == frame.hidden(part, live=False)
        if part.kind != "reasoning":
            return said and hidden
        now, later = (frame.reasoning(part, count, calls=calls, live=live) for live in (True, False))
        return said and hidden and now == later

    return all(same(part) for part in walk(message.parts))


def _unscaled(prices: PriceList) -> PriceList:
    return prices if prices.multiplier == 1 else replace(prices, multiplier=1.0)


def _simple(policy: Policy) -> bool:
    """Whether the policy leaves a request alone that is within its budget."""
    return (
        policy.results_per_tool is None
        and policy.cut is None
        and not limit(policy.max_input_tokens)
        and not limit(policy.max_message_tokens)
        and not limit(policy.compact_at)
        and policy.marks == "client"
    )
