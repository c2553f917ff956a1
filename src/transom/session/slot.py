"""What a session must know to go on, as one value: it is committed as a whole, over the version that it was made from."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from transom.frozen import Frozen
from transom.plan import State
from transom.projection import Seen
from transom.stages import Reach
from transom.types import Json, JsonObject, Key


class Sample(Frozen, frozen=True, kw_only=True):
    """The plan of the last request as evidence for a factor: tokens that were guessed and that were not, and under which card.

    It is used once: only the first answer after a compile is evidence (CM-139).
    """

    card: str
    estimated: int
    exact: int


class Slot(Frozen, frozen=True, kw_only=True):
    """state, reach: of the last request, and how much of the log the next one needs.
    made: the state of the last compile, which the last request can be made again from, and the numbers of stored messages at
    which it was extended. asked: the fields that the compile was given. seen, sample: what the next projection and the next
    sample start from.
    `counted` messages are in `seen`. left_out: messages (place `()`) and pictures that were left out by hand.
    """

    unshown = ("asked",)

    state: State | None = None
    reach: Reach = Reach()
    made: State | None = None
    made_reach: Reach = Reach()
    steps: tuple[int, ...] = ()
    asked: JsonObject = field(default_factory=dict)
    multiplier: float = 1.0
    seen: Seen = Seen()
    counted: int = 0
    sample: Sample | None = None
    left_out: frozenset[Key] = frozenset()

    def to_dict(self) -> JsonObject:
        """As JSON."""
        sample = self.sample
        return {
            "state": _state(self.state),
            "reach": _reach(self.reach),
            "made": _state(self.made) if self.steps else None,
            "made_reach": _reach(self.made_reach),
            "steps": list(self.steps),
            "asked": self.asked,
            "multiplier": self.multiplier,
            "seen": self.seen.to_dict(),
            "counted": self.counted,
            "sample": [sample.card, sample.estimated, sample.exact] if sample is not None else None,
            "left_out": sorted([seq, list(place)] for seq, place in self.left_out),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Json]) -> Slot:
        """What `to_dict` wrote; {} is a session that made no request yet."""
        if not plain:
            return cls()
        sample = plain["sample"]
        state = State.from_dict(plain["state"]) if plain["state"] is not None else None
        return cls(
            state=state,
            reach=_reached(plain["reach"]),
            made=State.from_dict(plain["made"]) if plain["made"] is not None else state,
            made_reach=_reached(plain["made_reach"]),
            steps=tuple(plain["steps"]),
            asked=plain["asked"],
            multiplier=plain["multiplier"],
            seen=Seen.from_dict(plain["seen"]),
            counted=plain["counted"],
            sample=Sample(card=sample[0], estimated=sample[1], exact=sample[2]) if sample is not None else None,
            left_out=frozenset((seq, tuple(place)) for seq, place in plain["left_out"]),
        )


def _state(state: State | None) -> JsonObject | None:
    return state.to_dict() if state is not None else None


def _reach(reach: Reach) -> list[Json]:
    return [reach.start, list(reach.ahead), list(reach.beside)]


def _reached(plain: list[Json]) -> Reach:
    return Reach(start=plain[0], ahead=tuple(plain[1]), beside=tuple(plain[2]))
