"""Model cards: sizes, limits, quirks and fingerprints."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from transom import catalog
from transom.rules.images import Flat

SIZES = [
    ("gpt-6-astra", 1_050_000, 922_000, 128_000, 0),
    ("gpt-5.5", 1_050_000, 1_050_000, 128_000, 0),
    ("gpt-5.4-mini", 400_000, 272_000, 128_000, 0),
    ("gpt-5", 400_000, 272_000, 128_000, 0),
    ("gpt-4.1", 1_047_576, 1_047_576, 32_768, 0),
    ("gpt-4o", 128_000, 128_000, 16_384, 0),
    ("o3", 200_000, 200_000, 100_000, 0),
    ("claude-opus-5-5", 1_000_000, 1_000_000, 128_000, 512),
    ("claude-opus-4-8", 1_000_000, 1_000_000, 128_000, 1_024),
    ("claude-opus-4-7", 1_000_000, 1_000_000, 128_000, 2_048),
    ("claude-opus-4-6", 1_000_000, 1_000_000, 128_000, 4_096),
    ("claude-haiku-4-5", 200_000, 200_000, 64_000, 4_096),
    ("claude-sonnet-4-5", 200_000, 200_000, 64_000, 1_024),
    ("claude-3-5-haiku-20241022", 200_000, 200_000, 8_192, 2_048),
    ("azure/gpt-5.4", 1_050_000, 922_000, 128_000, 0),
    ("gemini-2.5-pro", 1_048_576, 1_048_576, 65_535, 2_048),
]


@pytest.mark.parametrize("name, window, most_in, most_out, cache", SIZES)
def test_sizes(name: str, window: int, most_in: int, most_out: int, cache: int) -> None:
    """Source: litellm 1.110.2; docs/pricing.md"""
    card = catalog.card(name)
    assert (card.window, card.input_limit, card.output_limit, card.cache_minimum) == (window, most_in, most_out, cache)


@pytest.mark.parametrize(
    "name, refuses",
    [
        ("claude-opus-4-5", False),
        ("claude-opus-4-6", True),
        ("claude-sonnet-4-6", True),
        ("claude-haiku-5-5", True),
        ("gpt-4o", False),
    ],
)
def test_who_refuses_an_assistant_turn_at_the_end(name: str, refuses: bool) -> None:
    """litellm 1.110.2, `supports_assistant_prefill`: false from Opus 4.6 and Sonnet 4.6 on."""
    assert ("no-prefill" in catalog.card(name).quirks) is refuses


def test_limits_of_claude_follow_the_window() -> None:
    """platform.claude.com, vision, 2026-08-22."""
    small, large = catalog.card("claude-sonnet-4-5").limits, catalog.card("claude-opus-5").limits
    assert (small.images, small.pages, large.images, large.pages) == (100, 100, 600, 600)
    assert (small.side, small.many, small.many_side, small.marks) == (8_000, 20, 2_000, 4)
    assert small.formats == {"image/png", "image/jpeg", "image/webp", "image/gif"}
    assert catalog.card("gpt-4o").limits.images == 1_500
    assert catalog.card("?").limits == catalog.Limits()


def test_flat_is_a_card_like_any_other() -> None:
    assert catalog.card("flat") is catalog.FLAT
    assert catalog.FLAT.flat
    assert not catalog.card("gpt-4o").flat


def test_the_list_of_cards_has_each_model_once() -> None:
    listed = [card.name for card in catalog.cards()]
    assert len(listed) == len(set(listed)) > 150
    assert {"flat", "gpt-4o", "claude-opus-5-5", "gemini-2.5-pro"} <= set(listed)
    assert listed[0] == "flat"


def test_a_fingerprint_changes_with_its_own_kind_only() -> None:
    card = catalog.card("gpt-4o")
    before, after = card.fingerprint(), replace(card, image=Flat(price=1)).fingerprint()
    assert {kind for kind in before if before[kind] != after[kind]} == {"image"}
    assert set(before) == {"text", "image", "document", "audio", "tools"}
    assert catalog.card("gpt-4o-2024-11-20").fingerprint() == before
    assert (
        catalog.card("gpt-4.1-mini", on="2025-05-01").fingerprint()["image"]
        != catalog.card("gpt-4.1-mini").fingerprint()["image"]
    )
