"""Pictures of the other families: figures of the vendors' pages, of reference code and of published tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.data.tables import tables
from transom.rules import grids

EXACT = (
    ("gemini-2", 384, 384, 258),
    ("gemini-3", 1_024, 1_024, 1_089),
    ("gemini-3", 1_920, 1_080, 1_100),
    ("pixtral", 4_000, 3_000, 3_120),
    ("mistral", 1_920, 1_080, 1_736),
    ("qwen-2.5", 1_920, 1_080, 2_693),
    ("qwen-3", 1_920, 1_080, 2_042),
    ("glm", 4_032, 3_024, 7_500),
    ("deepseek", 1_920, 1_080, 968),
    ("deepseek", 1, 1, 184),
    ("deepseek", 10_000, 158, 962),
    ("llama-4", 336, 336, 147),
    ("llama-4", 1_920, 1_080, 2_322),
    ("cohere", 512, 512, 259),
    ("cohere", 1_920, 1_080, 3_343),
    ("kimi-open", 4_032, 3_024, 4_144),
    ("kimi", 1_920, 1_080, 1_024),
    ("nova-2", 1_024, 1_024, 230),
    ("grok-tiles", 4_000, 4_000, 1_792),
)


@pytest.mark.parametrize("name, width, height, tokens", EXACT)
def test_a_picture_costs_what_its_rule_says(name: str, width: int, height: int, tokens: int) -> None:
    assert tables().images[name].tokens(width, height) == tokens


@pytest.mark.parametrize("detail, tokens", [("low", 264), ("medium", 527), ("high", 1_100), ("", 1_100), ("ultra_high", 2_205)])
def test_gemini_3_counts_by_resolution(detail: str, tokens: int) -> None:
    assert grids.Budget().tokens(1_920, 1_080, detail) == tokens


@pytest.mark.parametrize("name", sorted(tables().images))
@given(st.integers(1, 1_000_000), st.integers(1, 1_000_000))
def test_no_sides_make_a_rule_fail(name: str, width: int, height: int) -> None:
    rule = tables().images[name]
    assert 0 < rule.tokens(width, height) < 10**12
    assert str(rule.tokens(width, height)) in rule.explain(width, height).replace(",", "")
