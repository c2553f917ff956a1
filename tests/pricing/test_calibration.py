"""Learning from usage: CM-138 to CM-141, CM-149."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.calibration import HIGHEST, LOWEST, RESTART, Calibration


def test_a_sample_moves_the_factor_by_a_fifth() -> None:
    """CM-141."""
    assert Calibration().learn(1_500, 1_000) == Calibration(multiplier=1.1, samples=1)


def test_an_honest_sample_frees_a_pinned_factor() -> None:
    """CM-F8: pinned at 1.8, a ratio of 0.556 implies 1.0 and gives 1.64."""
    assert Calibration(multiplier=1.8).learn(5_556, 10_000).multiplier == pytest.approx(1.64, abs=0.001)


def test_what_is_exact_is_taken_off_first() -> None:
    assert Calibration().learn(2_500, 1_000, 1_000).multiplier == pytest.approx(1.1)


@pytest.mark.parametrize("ratio, learned", [(0.59, False), (0.6, True), (1.8, True), (1.81, False)])
def test_the_band_of_a_sample(ratio: float, learned: bool) -> None:
    """CM-140: the ratio or the factor it implies is within 0.6 to 1.8."""
    assert (Calibration().learn(ratio * 1_000, 1_000).samples == 1) is learned
    assert Calibration(multiplier=1.8).learn(500, 1_000).samples == 1


def test_the_factor_stays_in_its_band() -> None:
    """CM-141: clamped."""
    high, low = Calibration(multiplier=1.8), Calibration(multiplier=0.6)
    for _ in range(50):
        high, low = high.learn(1_800, 1_000), low.learn(600, 1_000)
    assert (high.multiplier, low.multiplier) == (HIGHEST, LOWEST)


def test_a_provisional_factor_takes_the_first_sample_whole() -> None:
    """CM-149."""
    assert RESTART.learn(1_500, 1_000) == Calibration(multiplier=1.5, samples=1, provisional=False)
    assert RESTART.learn(9_000, 1_000) is RESTART
    odd = Calibration(multiplier=0.3, provisional=True)
    assert odd.learn(1_700, 1_000) is odd


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1, 10**400, True])
def test_what_is_no_number_of_tokens_teaches_nothing(bad: float) -> None:
    """CM-141: non-finite and non-positive samples are ignored."""
    start = Calibration()
    for sample in ((bad, 1_000, 0), (1_000, bad, 0), (1_000, 1_000, bad)):
        assert start.learn(*sample) is start
        assert "no number of tokens" in start.refusal(*sample)


def test_a_refusal_says_why() -> None:
    start = Calibration()
    assert start.refusal(1_000, 0, 900) == "of 1,000 reported tokens 900 are exact, which leaves nothing to learn from"
    assert start.refusal(1_000, 50, 950) == "only 50 of 1,000 tokens are estimated, less than a tenth"
    assert start.refusal(5_000, 1_000) == "a ratio of 5 is outside 0.6 to 1.8, and so is the factor of 5 it implies"
    assert start.refusal(1_000, 1_000) == ""


@given(st.lists(st.tuples(st.floats(), st.floats(), st.floats()), max_size=20))
def test_no_samples_lead_out_of_the_band(samples: list[tuple[float, float, float]]) -> None:
    found = Calibration()
    for sample in samples:
        found = found.learn(*sample)
        assert LOWEST <= found.multiplier <= HIGHEST
