"""Image rules: below, at and above each threshold, each figure with its source."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom import catalog
from transom.rules.images import Flat, Highest, Patch28, Patches, Sizing, Tiles

GUIDE = "developers.openai.com, guide images-vision"
CLAUDE = "platform.claude.com, vision"
MEASURED = "huggingface.co/datasets/JOHNISKING/image-token-cost"

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "prices" / "image-vectors.json"

EVEN = [(1, 1, 4), (56, 56, 4), (57, 56, 8), (128, 128, 36), (640, 480, 432)]
"""Claude 3.5 Haiku: 1x1, 128x128 and 640x480 as billed in 5 requests of 4 repositories."""

TILES = [
    ("gpt-4o", 1024, 1024, "high", 765, GUIDE),
    ("gpt-4o", 2048, 4096, "high", 1105, GUIDE),
    ("gpt-4o", 4096, 8192, "low", 85, GUIDE),
    ("gpt-4o", 512, 512, "auto", 255, "one tile of exactly 512"),
    ("gpt-4o", 513, 512, "auto", 425, "a pixel more is a second tile"),
    ("gpt-4o", 1, 1, "", 255, "never enlarged: one tile"),
    ("gpt-4o", 2048, 768, "", 1445, "the dearest: four by two tiles"),
    ("gpt-4o", 1700, 2200, "", 765, "AN-F1"),
    ("gpt-4o", 2560, 1440, "", 1105, "AN-F3"),
    ("gpt-4o", 1120, 1120, "", 765, "AN-F4"),
    ("gpt-4o", 3000, 1000, "", 1445, "2048x682 is four by two; AN-F4 scales upwards and says 1,785"),
    ("gpt-4o", 2048, 1, "", 765, "AN-19's thin picture does not explode here"),
    ("gpt-4o-mini", 2048, 768, "", 48_169, GUIDE),
    ("gpt-4o-mini", 128, 64, "low", 2_833, "community.openai.com/t/1262691"),
    ("gpt-5", 2048, 768, "", 1_190, GUIDE),
    ("o3", 128, 64, "high", 225, "community.openai.com/t/1262691"),
    ("computer-use-preview", 1024, 768, "", 65 + 129 * 4, GUIDE),
]

PATCHES = [
    ("gpt-6-astra", 1024, 1024, "high", 1229, GUIDE),
    ("gpt-6-astra", 2048, 2048, "high", 3000, GUIDE + ": 1.2 x 2,500 by exact decimals"),
    ("gpt-6-astra", 4096, 512, "high", 2458, GUIDE),
    ("gpt-6-astra", 4032, 3024, "auto", 14_364, MEASURED),
    ("gpt-6-astra", 4032, 3024, "high", 2_942, MEASURED),
    ("gpt-6-astra", 4032, 3024, "low", 231, "fitted to 512x384: 16 x 12 patches"),
    ("gpt-5.5", 4032, 3024, "auto", 11_868, MEASURED),
    ("gpt-5.4", 2048, 2048, "high", 3000, GUIDE),
    ("gpt-5.4", 2048, 2048, "low", 4916, GUIDE + ": low can cost more than high"),
    ("gpt-5.2", 2048, 2048, "original", 4916, "a detail it does not have is auto"),
    ("gpt-5-mini", 1024, 1024, "", 1229, "community.openai.com/t/1344040"),
    ("gpt-5-mini", 32, 32, "", 2, "one patch"),
    ("gpt-5-mini", 33, 32, "", 3, "a pixel more is a second patch"),
    ("gpt-4.1-nano", 1248, 1248, "", 3742, "39 x 39 = 1,521 patches, below 1,536"),
    ("gpt-4.1-nano", 1536, 1024, "", 3779, "48 x 32 = 1,536 patches, at the budget"),
    ("gpt-4.1-nano", 1537, 1024, "", 3585, "above it: reduced, and landing on a whole patch costs less"),
]

CLAUDES = [
    ("claude-sonnet-4-5", 28, 28, 1, CLAUDE),
    ("claude-sonnet-4-5", 29, 28, 2, CLAUDE),
    ("claude-sonnet-4-5", 200, 200, 64, CLAUDE),
    ("claude-sonnet-4-5", 1092, 1092, 1521, CLAUDE),
    ("claude-sonnet-4-5", 1568, 784, 1568, "56 x 28 patches: at both limits"),
    ("claude-sonnet-4-5", 1569, 784, 1568, "a pixel wider: reduced to 1568x784, as its padded side would be 1,596"),
    ("claude-sonnet-4-5", 1568, 785, 1568, "a pixel higher: 56 x 29 patches are too many; reduced to 56 x 28"),
    ("claude-sonnet-4-5", 1920, 1080, 1560, CLAUDE),
    ("claude-sonnet-4-5", 3840, 2160, 1560, CLAUDE),
    ("claude-sonnet-4-5", 1075, 1520, 1551, CLAUDE),
    ("claude-opus-4-8", 1920, 1080, 2691, CLAUDE),
    ("claude-opus-4-8", 2560, 1440, 4784, "AN-F8"),
    ("claude-opus-4-8", 3840, 2160, 4784, CLAUDE),
    ("claude-opus-4-7", 1800, 1200, 2795, "billed 2,801 (docs/pricing.md)"),
    ("claude-opus-4-8", 1120, 1120, 1600, "AF-F11"),
]


@pytest.mark.parametrize("case", [*TILES, *PATCHES], ids=str)
def test_openai_pictures(case: tuple[str, int, int, str, int, str]) -> None:
    model, width, height, detail, tokens, source = case
    assert catalog.card(model).image.tokens(width, height, detail) == tokens, source


@pytest.mark.parametrize("model, width, height, tokens, source", CLAUDES)
def test_claude_pictures(model: str, width: int, height: int, tokens: int, source: str) -> None:
    rule = catalog.card(model).image
    assert rule.tokens(width, height) == tokens, source
    assert rule.tokens(height, width) == tokens, "proportions turned cost the same"


def test_gpt_4_1_mini_had_a_smaller_budget_at_first() -> None:
    """A card holds for a day: community.openai.com/t/1230130, 33 x 44 = 1,452 patches and 2,362 tokens with a short prompt."""
    assert catalog.card("gpt-4.1-mini", on="2025-04-15").image.tokens(1800, 2400) == 2353
    assert catalog.card("gpt-4.1-mini", on="2020-01-01").image.tokens(1800, 2400) == 2353
    assert catalog.card("gpt-4.1-mini").image.tokens(1800, 2400) > 2353


def test_every_vector_of_the_shared_folder() -> None:
    if not VECTORS.exists():
        pytest.skip("the shared vectors are not beside this checkout")
    tiers = {"claude-high-resolution": "claude-opus-5-5", "claude-standard-resolution": "claude-haiku-4-5"}
    for vector in json.loads(VECTORS.read_text()):
        if vector["provider"] in {"openai", "anthropic"}:
            family = vector["model_family"]
            card = catalog.card(tiers.get(family, family))
            assert card.image.tokens(vector["width"], vector["height"], vector["detail"] or "") == vector["expected_tokens"]


def test_an_explanation_is_the_arithmetic() -> None:
    assert catalog.card("claude-sonnet-4-5").image.explain(1920, 1080) == (
        "1920x1080 -> 1456x819, ceil(1456/28) x ceil(819/28) = 52 x 30 = 1,560 tokens"
    )
    assert catalog.card("gpt-4o").image.explain(1024, 1024) == (
        "1024x1024 -> 768x768, 85 + 170 x ceil(768/512) x ceil(768/512) = 85 + 170 x 4 = 765 tokens"
    )
    assert catalog.card("gpt-4o").image.explain(640, 480, "low") == "640x480 at low detail: 85 tokens"
    assert (
        catalog.card("gpt-5.4").image.explain(64, 32) == "64x32, ceil(64/32) x ceil(32/32) = 2 x 1 = 2 patches, x 1.2 = 3 tokens"
    )
    assert Flat(price=1600).explain(3, 4) == "3x4: 1,600 tokens for any picture"


def test_more_than_30_000_patches_are_refused() -> None:
    """NousResearch/hermes-agent, request 106186: "requires 35721 patches after processing, exceeding the limit of 30000"."""
    rule = catalog.card("gpt-6-astra").image
    assert rule.refusal(6048, 6048) == "35,721 patches after processing, over 30,000"
    assert rule.refusal(6048, 6048, "high") == ""
    assert rule.refusal(4032, 3024) == ""
    assert [catalog.card(name).image.refusal(60_000, 60_000) for name in ("gpt-4o", "claude-opus-5", "flat", "?")] == [""] * 4


def test_low_detail_is_sent_as_it_is() -> None:
    assert catalog.card("gpt-4o").image.sent(4096, 8192, "low") == (4096, 8192)
    assert Flat(price=1).sent(3, 4) == (3, 4)


def test_an_unknown_model_pays_the_highest_known_rule() -> None:
    """The rule that asks most is named; gpt-4o-mini's, which is scaled to make its money equal, stands apart."""
    rule = catalog.card("nobody-knows-it").image
    assert isinstance(rule, Highest)
    for model in ("gpt-4o", "gpt-5.4", "gpt-6-astra", "claude-sonnet-4-5", "claude-opus-5", "gpt-4.1-nano", "flat"):
        assert rule.tokens(1920, 1080) >= catalog.card(model).image.tokens(1920, 1080)
    assert rule.tokens(1920, 1080) < catalog.card("gpt-4o-mini").image.tokens(1920, 1080)
    assert "the highest known rule" in rule.explain(1920, 1080)
    assert rule.sent(1920, 1080) == catalog.card("gpt-4.1-nano").image.sent(1920, 1080)


RULES = [
    Tiles(base=85, tile=170),
    Patch28(side=1568, patches=1568),
    Patch28(side=2576, patches=4784),
    Patches(multiplier=Decimal("1.2"), details=(("auto", Sizing(patches=1536)),)),
    Patches(multiplier=Decimal("1.62"), details=(("auto", Sizing(side=2048, patches=6144)), ("low", Sizing(side=512)))),
]
CAPS = [85 + 170 * 8, 1568, 4784, 1844, 9954]


@pytest.mark.parametrize("rule, cap", list(zip(RULES, CAPS, strict=True)))
@given(width=st.integers(1, 1_000_000), height=st.integers(1, 1_000_000), detail=st.sampled_from(["", "auto", "low", "?"]))
def test_no_picture_costs_more_than_the_cap(rule: Tiles, cap: int, width: int, height: int, detail: str) -> None:
    assert 1 <= rule.tokens(width, height, detail) <= cap
    assert str(f"{rule.tokens(width, height, detail):,}") in rule.explain(width, height, detail)


@pytest.mark.parametrize("rule", RULES[1:3])
@given(width=st.integers(1, 10_000), height=st.integers(1, 10_000))
def test_what_is_sent_costs_what_it_did(rule: Patch28, width: int, height: int) -> None:
    assert rule.tokens(*rule.sent(width, height)) == rule.tokens(width, height)


@pytest.mark.parametrize("width, height, tokens", EVEN)
def test_claude_3_5_haiku_fills_rows_and_columns_up_to_even_numbers(width: int, height: int, tokens: int) -> None:
    rule = catalog.card("claude-3-5-haiku-20241022").image
    assert rule.tokens(width, height) == tokens
    assert "up to a multiple of 2" in rule.explain(width, height)
