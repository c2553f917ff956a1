"""What the newest rounds tell about the next one: `calibration.Growth`."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.calibration import KEPT, Growth


def taught(*rounds: tuple[float, float]) -> Growth:
    growth = Growth()
    for priced, real in rounds:
        growth = growth.learned(real + 50, 50, priced)
    return growth


def test_the_first_rounds_are_foreseen_by_price_alone() -> None:
    assert Growth().expected(1_000, 50, 300) == 1_350
    assert taught((300, 310)).expected(1_000, 50, 300) == 1_350


def test_a_constant_a_round_is_learned() -> None:
    growth = taught(*[(size, size + 40) for size in (100, 400, 900, 150)])
    assert growth.constant == pytest.approx(40)
    assert growth.expected(1_000, 50, 500) == pytest.approx(1_590)


def test_a_factor_is_learned_from_larger_rounds() -> None:
    growth = taught(*[(size, 1.2 * size) for size in (1_000, 2_000, 3_000, 4_000, 5_000)])
    assert growth.expected(0, 0, 10_000) == pytest.approx(12_000, rel=0.01)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0, True])
def test_what_is_no_number_of_tokens_teaches_nothing(bad: float) -> None:
    growth = taught((300, 310), (400, 410))
    for given_ in ((bad, 1, 1), (10, bad, 1), (10, 1, bad)):
        assert growth.learned(*given_) is growth


def test_a_prompt_that_did_not_grow_teaches_nothing() -> None:
    growth = taught((300, 310))
    assert growth.learned(50, 50, 100) is growth


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6)), max_size=60), st.floats(0, 1e6))
def test_it_is_bounded_and_never_falls_below_what_was_reported(rounds: list[tuple[float, float, float]], priced: float) -> None:
    growth = Growth()
    for row in rounds:
        growth = growth.learned(*row)
    assert len(growth.rounds) <= KEPT
    assert 1_050 <= growth.expected(1_000, 50, priced) < math.inf
