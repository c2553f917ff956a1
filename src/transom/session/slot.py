"""What a session must know to go on, as one value: it is committed as a whole, over the version that it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import field

from transom.errors import BadSetting, SchemaTooNew, StoreError
from transom.frozen import Frozen
from transom.plan import STATE_FORMAT, State
from transom.projection import Seen
from transom.stages import Reach
from transom.types import Json, JsonObject, Key

APART: Final = "export its messages and import them under another name"
"""What is left where a state cannot be read: messages do not depend on it."""


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
            "left_out": sorted(([seq, list(place)] for seq, place in self.left_out), key=repr),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Json]) -> Slot:
        """What `to_dict` wrote; one without a state is of a session that made no request yet. Raises StoreError for what is none,
        SchemaTooNew for what a newer version wrote.
        """
        try:
            return cls._read(plain)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, BadSetting) as error:
            written = _formats(plain)
            if any(one > STATE_FORMAT for one in written):
                newer = f"has the format {max(written)}, and this version of transom knows up to {STATE_FORMAT}"
                raise SchemaTooNew(f"the session's state {newer}; update transom, or {APART}") from error
            raise StoreError(
                f"the session's state cannot be read ({error!r}); restore a copy of the store, or {APART}"
            ) from error

    @classmethod
    def _read(cls, plain: Mapping[str, Json]) -> Slot:
        left_out = frozenset((int(seq), tuple(place)) for seq, place in plain.get("left_out", ()))
        if plain.keys() <= {"left_out"}:
            return cls(left_out=left_out)
        sample = plain["sample"]
        state = State.from_dict(plain["state"]) if plain["state"] is not None else None
        return cls(
            state=state,
            reach=_reached(plain["reach"]),
            made=State.from_dict(plain["made"]) if plain["made"] is not None else state,
            made_reach=_reached(plain["made_reach"]),
            steps=tuple(map(int, plain["steps"])),
            asked=dict(plain["asked"]),
            multiplier=float(plain["multiplier"]),
            seen=_seen(plain["seen"], state),
            counted=int(plain["counted"]),
            sample=Sample(card=sample[0], estimated=sample[1], exact=sample[2]) if sample is not None else None,
            left_out=left_out,
        )


def _formats(plain: Mapping[str, Json]) -> list[int]:
    """The numbers of the forms that its states were written in."""
    states = [plain.get(name) for name in ("state", "made")]
    found = [state.get("format") for state in states if isinstance(state, dict)]
    return [one for one in found if isinstance(one, int)]


def _seen(plain: Mapping[str, Json], state: State | None) -> Seen:
    """What was seen. Where a figure is none (earlier versions stored what a host said it was), the plan's are taken instead."""
    figures = [plain[name] for name in ("prompt", "output", "growth")]
    if all(isinstance(one, int) and one >= 0 for one in figures):
        return Seen.from_dict(plain)
    return Seen(prompt=sum(one.tokens for one in state.sent) if state is not None else 0)


def _state(state: State | None) -> JsonObject | None:
    return state.to_dict() if state is not None else None


def _reach(reach: Reach) -> list[Json]:
    return [reach.start, list(reach.ahead), list(reach.beside)]


def _reached(plain: list[Json]) -> Reach:
    return Reach(start=plain[0], ahead=tuple(plain[1]), beside=tuple(plain[2]))
