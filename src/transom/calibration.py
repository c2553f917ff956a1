"""What a session learns from reported usage: one factor for the share of its prices that is a guess.

The rule of this file: arithmetic only, on values that came from outside; no figure that is not a positive number is ever
learned from, and the factor never leaves its band. Reference items CM-138 to CM-153.

A record carries, in the place of an epoch's number, a fingerprint for each kind of content of the price list that it was learned
under: a new catalogue, a rule's day, another tokenizer and another model are one mechanism then (CM-142 to CM-148).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import asdict, replace

from transom.frozen import Frozen
from transom.types import JsonObject

LOWEST: Final = 0.6
HIGHEST: Final = 1.8
WEIGHT: Final = 0.2
MOST: Final = 1e12
"""Tokens above which a figure is no figure; a comparison that NaN and infinity fail as well."""
LEAST_SHARE: Final = 0.1
"""Below this share of estimated tokens a sample says more about the exact ones, and nothing is learned."""


class Calibration(Frozen, frozen=True, kw_only=True):
    """The factor, how many samples it was learned from, and whether it is `provisional`: a restart that knows nothing yet."""

    multiplier: float = 1.0
    samples: int = 0
    provisional: bool = False

    def refusal(self, reported: float, estimated: float, exact: float = 0) -> str:
        """Why a sample is no evidence, in words; "" where it is.

        `reported` is the provider's whole input, `estimated` the tokens of the plan that were guessed (as scaled by the
        factor so far), `exact` the rest of the plan.
        """
        given = {"reported": reported, "estimated": estimated, "exact": exact}
        for name, value in given.items():
            if isinstance(value, bool) or not 0 <= value <= MOST:
                return f"{name} is {value!r}, which is no number of tokens"
        if estimated <= 0 or reported <= exact:
            return f"of {reported:,} reported tokens {exact:,} are exact, which leaves nothing to learn from"
        if estimated < LEAST_SHARE * (estimated + exact):
            return f"only {estimated:,} of {estimated + exact:,} tokens are estimated, less than a tenth"
        ratio = (reported - exact) / estimated
        implied = ratio * self.multiplier
        if not (sane(ratio) or sane(implied)):
            return f"a ratio of {ratio:.3g} is outside {LOWEST} to {HIGHEST}, and so is the factor of {implied:.3g} it implies"
        return ""

    def learn(self, reported: float, estimated: float, exact: float = 0) -> Calibration:
        """The factor after a sample: a fifth of the way to what it implies; all the way where it was provisional.

        The same value where the sample is refused.
        """
        if self.refusal(reported, estimated, exact):
            return self
        implied = (reported - exact) / estimated * self.multiplier
        if self.provisional:
            if not sane(implied):
                return self
            return replace(self, multiplier=implied, samples=self.samples + 1, provisional=False)
        moved = self.multiplier + WEIGHT * (implied - self.multiplier)
        return replace(self, multiplier=min(HIGHEST, max(LOWEST, moved)), samples=self.samples + 1)


def sane(value: float) -> bool:
    """Whether a ratio or a factor is within the band."""
    return LOWEST <= value <= HIGHEST


RESTART: Final = Calibration(provisional=True)
"""What a factor that was learned under other prices is replaced by (CM-145)."""


RECORD_FORMAT: Final = 1
"""The number of the form that `Record.to_dict` writes; a higher one is neither used nor touched (CM-150)."""
HOLDS: Final[Mapping[str, str]] = {
    "image": "image",
    "document": "document",
    "audio": "audio",
    "video": "audio",
    "call": "tools",
    "result": "tools",
    "server-call": "tools",
    "server-result": "tools",
}
"""Which kind of price each kind of part depends on; all of them on that of text."""


class Reset(Frozen, frozen=True, kw_only=True):
    """Why a factor was given up: when, its value, and the kinds of content whose prices had changed."""

    time: str
    multiplier: float
    kinds: tuple[str, ...]


class Record(Frozen, frozen=True, kw_only=True):
    """A factor as it is kept: when it was learned, under which prices, and what reset it (CM-142).

    `foreign`: a newer version wrote the stored one; it is not used, and what is learned is not written over it.
    """

    calibration: Calibration = Calibration()
    prints: tuple[tuple[str, str], ...] = ()
    time: str = ""
    reset: Reset | None = None
    foreign: bool = False

    def learned(self, reported: float, estimated: float, exact: float, *, now: str) -> Record:
        """The record after a sample; the same value where the sample is refused. A reset stays on it (CM-151)."""
        after = self.calibration.learn(reported, estimated, exact)
        return self if after is self.calibration else replace(self, calibration=after, time=now)

    def to_dict(self) -> JsonObject:
        """The record as JSON."""
        reset = {**asdict(self.reset), "kinds": list(self.reset.kinds)} if self.reset is not None else None
        plain = {**asdict(self.calibration), "prints": dict(self.prints), "time": self.time, "reset": reset}
        return {"format": RECORD_FORMAT, **plain}


def loaded(plain: Mapping[str, object] | None, *, prints: Mapping[str, str], parts: AbstractSet[str], now: str) -> Record:
    """The record to go on with, from the stored one (None: there is none yet).

    `prints` are the fingerprints of the prices as they are, `parts` the kinds of parts that the session holds. Where the price
    of a kind that it holds has changed, the factor restarts at 1, provisional, with a reset record (CM-145); a provisional one
    says nothing of old prices and is kept (CM-147, CM-148); else the record is stamped with the prices of today (CM-146, CM-153).
    """
    stamp = tuple(sorted(prints.items()))
    if plain is None:
        return Record(prints=stamp, time=now)
    kept = _read(plain)
    if kept is None:
        return Record(prints=stamp, time=now, foreign=True)
    held = {"text", *(HOLDS[part] for part in parts if part in HOLDS)}
    before = dict(kept.prints)
    changed = tuple(sorted(kind for kind in held if before.get(kind) != prints.get(kind)))
    if changed and not kept.calibration.provisional and kept.calibration.samples:
        reset = Reset(time=now, multiplier=kept.calibration.multiplier, kinds=changed)
        return Record(calibration=RESTART, prints=stamp, time=now, reset=reset)
    return kept if kept.prints == stamp else replace(kept, prints=stamp)


def _read(plain: Mapping[str, object]) -> Record | None:
    """A stored record; None where a newer version wrote it, a fresh one where it cannot be read."""
    written = plain.get("format")
    if isinstance(written, int) and written > RECORD_FORMAT:
        return None
    multiplier, samples = plain.get("multiplier"), plain.get("samples")
    prints, reset = plain.get("prints"), plain.get("reset")
    if not isinstance(multiplier, int | float) or not sane(multiplier) or not isinstance(samples, int):
        return Record()
    return Record(
        calibration=Calibration(multiplier=float(multiplier), samples=samples, provisional=plain.get("provisional") is True),
        prints=tuple(sorted((str(kind), str(mark)) for kind, mark in prints.items())) if isinstance(prints, dict) else (),
        time=str(plain.get("time", "")),
        reset=_reset(reset) if isinstance(reset, dict) else None,
    )


def _reset(plain: Mapping[str, object]) -> Reset:
    multiplier, kinds = plain.get("multiplier"), plain.get("kinds")
    return Reset(
        time=str(plain.get("time", "")),
        multiplier=float(multiplier) if isinstance(multiplier, int | float) else 1.0,
        kinds=tuple(map(str, kinds)) if isinstance(kinds, list) else (),
    )


KEPT: Final = 40
"""Rounds that a growth is learned from, the newest ones."""
LEAST_TOKENS: Final = 200
"""Tokens that came in below which a round says more about the constant than about the factor."""
LEAST_ROUNDS: Final = 2
PASSES: Final = 3
"""Times that the factor is put right by the constant, and the constant by the factor."""


class Growth(Frozen, frozen=True, kw_only=True):
    """What the newest rounds tell about the next one: a factor on the price of what comes in, and a constant a round.

    A host that puts a text of its own around each round is right after a few answers, and so is a price that is a few percent
    off. `rounds` are pairs of tokens: the price of what came in, and what the prompt grew by beside the answer before it.
    """

    rounds: tuple[tuple[float, float], ...] = ()
    factor: float = 1.0
    constant: float = 0.0

    def expected(self, prompt: float, output: float, priced: float) -> float:
        """Tokens of the next prompt: the last one and its answer as reported, and what came in since at its learned price."""
        if len(self.rounds) < LEAST_ROUNDS:
            return prompt + output + priced
        return prompt + output + max(0.0, self.factor * priced + self.constant)

    def learned(self, grown: float, output: float, priced: float) -> Growth:
        """With one more round: the prompt grew by `grown`, `output` of it the answer, `priced` the price of what came in.

        The same value where a figure is no number of tokens, or nothing grew.
        """
        given = (grown, output, priced)
        if any(isinstance(value, bool) or not 0 <= value <= MOST for value in given) or priced <= 0 or grown <= output:
            return self
        rounds = (*self.rounds, (priced, grown - output))[-KEPT:]
        factor, constant = self.factor, 0.0
        for _ in range(PASSES):
            ratios = [(real - constant) / price for price, real in rounds if price > LEAST_TOKENS]
            sound = [ratio for ratio in ratios if sane(ratio)]
            factor = median(sound) if len(sound) > LEAST_ROUNDS else factor
            constant = median([real - factor * price for price, real in rounds])
        return Growth(rounds=rounds, factor=factor, constant=constant)


def median(values: list[float]) -> float:
    """The middle one."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
