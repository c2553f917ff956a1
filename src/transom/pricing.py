"""The price list: what each part of a conversation costs, in tokens and in bytes of the body, and how that is known.

The rule of this file: a price list is a value, and a message's price depends on that message alone, so that sums add up.
Nothing is free because it could not be read; no stamp that is not a finite number of at least 0 is ever used.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field

from transom import canon
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.parts import Conversation, Media, Message, Part, walk
from transom.types import Basis, Count, Place

ORDER: tuple[Basis, ...] = ("exact", "rule", "observed", "estimate", "flat")
SCALED = frozenset({"estimate", "flat"})
"""What a learned multiplier scales: figures that are guesses."""
MOST = 1e12
"""Above this a stamp, a count of pages or a length is no figure; NaN and infinity fail the comparison as well."""
LONGEST_SIDE = 1_000_000
"""Sides above this are no picture; the price is that of a picture of this side."""


@dataclass(frozen=True, slots=True)
class Price:
    """Tokens and bytes of the body, and how the tokens are known. A sum has the worst basis of what it is made of."""

    tokens: int = 0
    bytes: int = 0
    basis: Basis = "exact"

    def __add__(self, other: Price) -> Price:
        """Both together."""
        worst = max(self.basis, other.basis, key=ORDER.index)
        return Price(self.tokens + other.tokens, self.bytes + other.bytes, worst)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the caller knows of a file id, a URL or a payload's SHA-256; 0 where nothing."""

    tokens: int = 0
    width: int = 0
    height: int = 0
    pages: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PriceList:
    """A card, and what a session has learned.

    `multiplier` scales the estimated share. `known` tells of file ids, URLs and digests (SHA-256 hex of the payload's text).
    `count` is the caller's own text counter. `memo` keeps counts by the text's hash and length, never the text; give the same
    one to several price lists of one card to count each text once. `stamp_first`: a stamp goes before the header's sides.
    """

    card: ModelCard
    multiplier: float = field(default=1.0, kw_only=True)
    known: Mapping[str, Known] = field(default_factory=dict, kw_only=True, repr=False)
    count: Count | None = field(default=None, kw_only=True, repr=False)
    memo: MutableMapping[tuple[int, int, bool], int] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    stamp_first: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse a multiplier that is not a positive number."""
        if not (math.isfinite(self.multiplier) and self.multiplier > 0):
            message = f"the multiplier {self.multiplier!r} is not a positive number; use 1.0"
            raise BadSetting(message)

    def fixed(self, conversation: Conversation) -> Price:
        """Everything but the messages: system outside the list, tools with their preamble, framing.

        Its bytes are those of the body without its messages.
        """
        around = self._framed(self.card.frame.request(conversation, self._tokens))
        body = {**conversation.body, conversation.key: []}
        parts = sum((self._of(part) for part in conversation.system), start=Price(around.tokens, 0, around.basis))
        return Price(parts.tokens, canon.size(body), parts.basis)

    def message(self, message: Message) -> Price:
        """A message alone: its frame and all its parts; bytes of its JSON and the comma behind it."""
        price = self._framed(self.card.frame.message(message, self._tokens))
        calls = has_calls(message)
        for part in walk(message.parts):
            price += self._own(part, calls=calls)
        return Price(price.tokens, canon.size(message.json) + 1, price.basis)

    def parts(self, message: Message) -> tuple[tuple[Place, Price], ...]:
        """What each part of a message costs by itself, nested ones at their own place; a container costs its markup."""
        calls = has_calls(message)
        return tuple((part.place, self._sized(part, self._own(part, calls=calls))) for part in walk(message.parts))

    def part(self, part: Part) -> Price:
        """One part with all that stands in it."""
        return self._sized(part, self._of(part))

    def text(self, words: str) -> Price:
        """A text part that says `words`, without a frame."""
        return self._scaled(self._tokens(words), self._basis())

    def price_media(self, media: Media) -> Price:
        """A picture or another medium by itself; its bytes are those of its payload in the body."""
        price, _ = self._media(media)
        return Price(self._scaled(price.tokens, price.basis).tokens, media.inline, price.basis)

    def explain(self, media: Media) -> str:
        """The arithmetic of a picture on one line, or in words where its price comes from."""
        price, how = self._media(media)
        return f"{how} ({self.card.image_label})" if media.kind == "image" and price.basis == "rule" else how

    def _of(self, part: Part) -> Price:
        """A part and all that stands in it, without bytes."""
        return sum((self._own(inner) for inner in walk((part,))), start=Price())

    def _own(self, part: Part, *, calls: bool = True) -> Price:
        """A part by itself, without bytes and without what stands in it. `calls`: its message calls tools."""
        if part.media is not None:
            price = self._media(part.media)[0]
            return self._scaled(price.tokens, price.basis)
        return self._scaled(self._content(part, calls=calls), self._basis())

    def _content(self, part: Part, *, calls: bool) -> int:
        """Tokens of a part that is no medium."""
        if part.kind == "call":
            return self.card.frame.call(part, self._dense)
        if part.kind == "result":
            return self.card.frame.result(part, self._dense)
        if part.kind == "reasoning":
            return self.card.frame.reasoning(part, self._tokens, calls=calls)
        if part.kind == "text" or part.text or part.parts:
            return self._tokens(part.text)
        return self._dense(canon.text(part.raw))

    def _media(self, media: Media) -> tuple[Price, str]:
        """What a medium costs and in words why. Order: the header, the stamp, what is known, the flat price."""
        ways = (self._by_stamp, self._by_header) if self.stamp_first or self.card.flat else (self._by_header, self._by_stamp)
        for way in (*ways, self._by_known):
            found = way(media)
            if found is not None:
                return found
        if media.source == "text":
            return Price(self._tokens(media.payload) + self.card.media.text, 0, self._basis()), "the text of the document"
        flat = self.card.image_flat if media.kind == "image" else self.card.media.least(media.kind)
        return Price(flat, 0, "flat"), f"nothing is known of it: {flat:,} tokens, the flat price"

    def _by_header(self, media: Media) -> tuple[Price, str] | None:
        """By what its first bytes say."""
        facts = media.facts
        if facts.problem or media.source == "text":
            return None
        return self._by_facts(media, facts.width, facts.height, facts.pages, facts.seconds)

    def _by_facts(self, media: Media, width: int, height: int, pages: int, seconds: float) -> tuple[Price, str] | None:
        """By sides, pages or seconds, as the card's rules have it."""
        if media.kind == "image" and width > 0 and height > 0 and not self.card.flat:
            sides = min(width, LONGEST_SIDE), min(height, LONGEST_SIDE)
            rule = self.card.image
            basis: Basis = "rule" if self.card.known else "estimate"
            return Price(rule.tokens(*sides, media.detail), 0, basis), rule.explain(*sides, media.detail)
        if media.kind == "document" and 0 < pages <= MOST and self.card.media.page:
            tokens = self.card.media.document(pages)
            return Price(tokens, 0, "estimate"), f"{pages:,} pages x {self.card.media.page:,} = {tokens:,} tokens"
        if media.kind == "audio" and self.card.media.second and 0 < seconds <= MOST:
            tokens = self.card.media.sound(seconds)
            return Price(tokens, 0, "rule"), f"{seconds:.2f} seconds x {self.card.media.second} = {tokens:,} tokens"
        return None

    def _by_stamp(self, media: Media) -> tuple[Price, str] | None:
        """By the host's own figure, where it is one. An unreadable inline picture is never cheaper than the flat price."""
        stamp = media.stamp
        if media.generated or isinstance(stamp, bool) or not isinstance(stamp, int | float) or not 0 <= stamp <= MOST:
            return None
        tokens = math.ceil(stamp)
        if media.kind == "image" and media.facts.problem and media.inline and not self.card.flat:
            tokens = max(tokens, self.card.image_flat)
        return Price(tokens, 0, "estimate"), f"stamped with {tokens:,} tokens"

    def _by_known(self, media: Media) -> tuple[Price, str] | None:
        """By what the caller knows of the id, the URL or the payload."""
        if not self.known:
            return None
        known = self.known.get(media.payload) or self.known.get(hashlib.sha256(media.payload.encode()).hexdigest())
        if known is None:
            return None
        if 0 < known.tokens <= MOST:
            return Price(known.tokens, 0, "observed"), f"known to cost {known.tokens:,} tokens"
        return self._by_facts(media, known.width, known.height, known.pages, known.seconds)

    def _sized(self, part: Part, price: Price) -> Price:
        """A part's price with the bytes of its JSON."""
        return Price(price.tokens, canon.size(part.raw), price.basis)

    def _basis(self) -> Basis:
        """How text is known."""
        return "exact" if self.count else self.card.counter.basis

    def _framed(self, tokens: int) -> Price:
        """Framing: by rule where the text is counted well, else an estimate like the text in it."""
        basis = self._basis()
        return self._scaled(tokens, "rule" if basis == "exact" else basis)

    def _scaled(self, tokens: int, basis: Basis) -> Price:
        """A figure with the multiplier, where it is a guess; halves go up, and nothing falls below 0 (CM-55, CM-65)."""
        if basis in SCALED and self.multiplier != 1.0:
            tokens = math.floor(tokens * self.multiplier + 0.5)
        return Price(max(0, tokens), 0, basis)

    def _dense(self, text: str) -> int:
        """Tokens of a tool's input or result."""
        return self._tokens(text, dense=True)

    def _tokens(self, text: str, dense: bool = False) -> int:  # noqa: FBT001, FBT002 - handed on as a counter
        """Tokens of a text, counted once."""
        key = hash(text), len(text), dense
        found = self.memo.get(key)
        if found is None:
            found = self.count(text) if self.count else self.card.counter.count(text, dense=dense)
            self.memo[key] = found
        return found


def has_calls(message: Message) -> bool:
    """Whether the message calls a tool."""
    return any(part.kind in {"call", "server-call"} for part in message.parts)
