"""What is remembered of a conversation: the state of its last fit, and what its provider taught. Digests and numbers, no
content.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from transom.calibration import Calibration
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.plan import Sent, State
from transom.proxy.overflow import Overflow
from transom.resume import Log
from transom.types import JsonObject

MARGIN = 0.95
"""What a limit that a provider named is taken for, since its figures and ours differ a little."""
SHRUNK = 0.75
"""What a request becomes that was too much, where the provider named no limit."""


class Learned(Frozen, frozen=True, kw_only=True):
    """What a provider taught in this conversation: the factor of what is estimated, and limits that its refusals named (0: none).

    It holds for the card that it was learned under, `card`; the factor alone falls when the card's prices change.
    """

    card: str = ""
    multiplier: float = 1.0
    samples: int = 0
    input_limit: int = 0
    body_bytes: int = 0
    images: int = 0
    image_bytes: int = 0
    side: int = 0
    many_side: int = 0

    @property
    def calibration(self) -> Calibration:
        """The factor, to learn on."""
        return Calibration(multiplier=self.multiplier, samples=self.samples)

    def under(self, card: str) -> Learned:
        """The same under a card: what the prices of another card taught is forgotten."""
        return self if card == self.card else Learned(card=card)

    def taught(self, calibration: Calibration) -> Learned:
        """With another factor."""
        return replace(self, multiplier=calibration.multiplier, samples=calibration.samples)

    def narrowed(self, card: ModelCard) -> ModelCard:
        """The card with the limits that were met."""
        if not (self.input_limit or self.body_bytes or self.images or self.image_bytes or self.side or self.many_side):
            return card
        limits = card.limits
        narrow = replace(
            limits,
            body_bytes=_least(limits.body_bytes, self.body_bytes),
            images=_least(limits.images, self.images),
            image_bytes=_least(limits.image_bytes, self.image_bytes),
            side=_least(limits.side, self.side),
            many_side=_least(limits.many_side, self.many_side),
        )
        most = _least(card.input_limit, self.input_limit)
        return card if narrow == limits and most == card.input_limit else replace(card, limits=narrow, input_limit=most)

    def after(self, overflow: Overflow, *, tokens: int, size: int) -> Learned:
        """With the limit that a refusal shows. `tokens` and `size` (bytes) are what was planned and sent."""
        match overflow.kind:
            case "tokens":
                share = overflow.limit / overflow.need if overflow.need > 0 else 0.0
                if 0 < share < 1:
                    most = int(tokens * share * MARGIN)
                elif overflow.limit > 0:
                    most = int(min(overflow.limit * MARGIN, tokens * SHRUNK))
                else:
                    most = int(tokens * SHRUNK)
                return replace(self, input_limit=max(1, most))
            case "bytes":
                named = int(overflow.limit * MARGIN) if 0 < overflow.limit < size else int(size * SHRUNK)
                return replace(self, body_bytes=max(1, named))
            case "images":
                return replace(self, images=overflow.limit)
            case "image_bytes":
                return replace(self, image_bytes=overflow.limit)
            case "side":
                return replace(self, side=overflow.limit)
            case "many_side":
                return replace(self, many_side=overflow.limit)


class _Row(msgspec.Struct, array_like=True):
    """A record as bytes. `state` is left out for a conversation that was always sent as it came."""

    learned: list[float]
    card: str
    state: JsonObject | None = None


class Record(Frozen, frozen=True, kw_only=True):
    """What stands under a conversation's key. No `state`: every request of it so far went out as it came."""

    unshown = ("state",)

    learned: Learned = Learned()
    state: State | None = None

    def to_bytes(self) -> bytes:
        """The record as it is kept."""
        one = self.learned
        numbers = [
            one.multiplier,
            one.samples,
            one.input_limit,
            one.body_bytes,
            one.images,
            one.image_bytes,
            one.side,
            one.many_side,
        ]
        return msgspec.msgpack.encode(_Row(numbers, one.card, self.state.to_dict() if self.state is not None else None))

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """The record in bytes; an empty one where they hold none, which costs the prompt cache and nothing else."""
        try:
            row = msgspec.msgpack.decode(data, type=_Row)
            multiplier, *counts = row.learned
            names = ("samples", "input_limit", "body_bytes", "images", "image_bytes", "side", "many_side")
            learned = Learned(card=row.card, multiplier=multiplier, **dict(zip(names, map(int, counts), strict=True)))
            return cls(learned=learned, state=State.from_dict(row.state) if row.state is not None else None)
        except (msgspec.DecodeError, BadSetting, ValueError, TypeError):
            return cls()

    def resumed(self, history: Log, *, count: int, policy: str, card: str) -> State:
        """The state to go on from, `count` messages into the conversation: made anew where all of them went out as they came."""
        if self.state is not None:
            return self.state
        sent = tuple(Sent(digest, 0) for digest in history.digests[:count])
        return State(sent=sent, count=count, key=history.keys[count], policy=policy, card=card)


UNKNOWN: Final = Record()
"""What is remembered of a conversation that is not known."""


def _least(one: int, other: int) -> int:
    """The smaller of two limits, of which 0 is none."""
    return min(one, other) if one > 0 and other > 0 else one or other
