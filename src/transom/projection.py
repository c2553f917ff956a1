"""Whether the next round fits, before it is sent: what was last reported, what came in, and what is about to be appended.

The rule: a figure that is no positive number never makes the guard silent. Errors are high: a guess too high costs one request
that is made afresh sooner than needed, one too low is refused by the provider. Reference items AF-01 to AF-39.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.parts import Message, Part, walk
from transom.pricing import PriceList
from transom.types import JsonObject

ENVELOPE: Final = 20
"""Tokens around each item that is appended, a result or a message (AF-18)."""
QUARTER: Final = 4
"""Characters a token of appended text, where all prices are flat (AF-16)."""
PHYSICAL: Final = "physical_window"
STREAM: Final = "context_budget"


class Seen(Frozen, frozen=True, kw_only=True):
    """What is known of the last round: its whole prompt, cached tokens included (AF-04), and its output (AF-05), in tokens.

    `growth` is what came in since that report and is not reported yet (AF-12, AF-13). `reported`: the prompt is the provider's
    figure, not the plan's.
    """

    prompt: int = 0
    output: int = 0
    growth: int = 0
    reported: bool = False

    def carried(self, tokens: int) -> Seen:
        """The same with `tokens` more that the next report will hold."""
        return replace(self, growth=self.growth + tokens)

    def to_dict(self) -> JsonObject:
        """As JSON."""
        return {name: getattr(self, name) for name in ("prompt", "output", "growth", "reported")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Seen:
        """What `to_dict` wrote."""
        return cls(**plain)  # type: ignore[arg-type]


class Projection(Frozen, frozen=True, kw_only=True):
    """The next round's size beside what it may have; 0 where a size is not limited.

    `tokens` hold the answer's reserve, too (AF-03, AF-06). `why` says, limit by limit, what does not fit; `reason` is a word
    for a trace (AF-08). `bounded`: it does not fit, and was just made afresh: doing that again would change nothing (OP-26).
    """

    tokens: int
    window: float = 0
    bytes: int = 0
    max_bytes: float = 0
    images: int = 0
    max_images: float = 0
    why: tuple[str, ...] = ()
    reason: str = ""
    bounded: bool = False

    @property
    def fits(self) -> bool:
        """Whether the round can go out as it is."""
        return not self.why

    @property
    def restarts(self) -> bool:
        """Whether the round is to be made afresh by a compile."""
        return bool(self.why) and not self.bounded


def appended(messages: Iterable[Message], prices: PriceList) -> int:
    """Tokens of messages that are about to be appended, as the price list counts them; errs high.

    Text of results and of the user's words, media, and an envelope for each item; where that is less than the price of the
    messages, as where a provider bills more around a result, that price. What the assistant said counts as reported output and
    adds nothing here (AF-30).
    """
    words: list[str] = []
    media = items = priced = 0
    for message in messages:
        if message.role == "assistant":
            continue
        results = sum(part.kind == "result" for part in message.parts)
        items += results + (results < len(message.parts) or not message.parts)
        priced += 0 if prices.card.flat else prices.message(message).tokens
        for part in walk(message.parts):
            if part.media is not None:
                media += prices.part(part).tokens
            elif part.kind in ("text", "result") and part.text:
                words.append(part.text)
    return max(_text("".join(words), prices) + media + ENVELOPE * items, priced)


def _text(words: str, prices: PriceList) -> int:
    """A quarter of the length, rounded up over the total, where prices are flat; else as the model counts (INV-23)."""
    return math.ceil(len(words) / QUARTER) if prices.card.flat else prices.text(words).tokens


def answered(parts: Iterable[Part], prices: PriceList) -> int:
    """Tokens of an answer whose output was not reported."""
    return sum(prices.part(part).tokens for part in parts)


def project(  # noqa: PLR0913 - the figures of one round
    seen: Seen,
    *,
    added: int,
    reserve: int,
    window: float,
    stream: float = 0,
    size: tuple[int, float] = (0, 0),
    images: tuple[int, float] = (0, 0),
    faults: Iterable[str] = (),
    fresh: bool = False,
) -> Projection:
    """The projection of the next round: prompt, output, growth, what is `added`, and the reserve of its answer, in tokens.

    `window`: the provider's hard cap. `stream`: the most input of a round before it is made afresh in any case (AF-36). `size`
    and
    `images`: bytes of the body and pictures in it, each with the most it may be. A limit that is not a positive number is off
    (AF-02).
    `faults`: what else the provider would refuse, as sentences. `fresh`: the round was just made by a compile. Equality fits
    (AF-07).
    """
    tokens = seen.prompt + seen.output + seen.growth + added + reserve
    why: list[str] = []
    if 0 < window < tokens:
        why.append(f"{tokens:,} tokens with the answer's {reserve:,}, and the window holds {window:,.0f}")
    if 0 < size[1] < size[0]:
        why.append(f"{size[0]:,} bytes, and the body may have {size[1]:,.0f}")
    if 0 < images[1] < images[0]:
        why.append(f"{images[0]} live pictures, and there may be {images[1]:,.0f}")
    why += faults
    reason = PHYSICAL if why else ""
    if not why and 0 < stream < seen.prompt:
        why, reason = [f"{seen.prompt:,} tokens went in with the last round, and a stream goes on up to {stream:,.0f}"], STREAM
    return Projection(
        tokens=tokens, window=_on(window), bytes=size[0], max_bytes=_on(size[1]), images=images[0], max_images=_on(images[1]),
        why=tuple(why), reason=reason, bounded=bool(why) and fresh,
    )  # fmt: skip


def _on(limit: float) -> float:
    return max(0, limit)  # NaN comes second, and so counts as off
