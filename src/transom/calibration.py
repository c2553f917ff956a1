"""What a session learns from reported usage: one factor for the share of its prices that is a guess.

The rule of this file: arithmetic only, on values that came from outside; no figure that is not a positive number is ever
learned from, and the factor never leaves its band. Reference items CM-138 to CM-141, CM-149.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

LOWEST: Final = 0.6
HIGHEST: Final = 1.8
WEIGHT: Final = 0.2
MOST: Final = 1e12
"""Tokens above which a figure is no figure; a comparison that NaN and infinity fail as well."""
LEAST_SHARE: Final = 0.1
"""Below this share of estimated tokens a sample says more about the exact ones, and nothing is learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
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
