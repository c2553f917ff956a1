"""The reference figures, under the card `flat` that carries them."""

from __future__ import annotations

import pytest

from transom import catalog
from transom.parts import Message
from transom.pricing import PriceList
from transom.types import Json
from transom.wire import FORMS

FLAT = PriceList(catalog.FLAT)
PLACEHOLDER = "x" * 54


def blocks(*content: Json) -> Message:
    """A message of a host's log."""
    return FORMS["blocks"].read_message({"role": "user", "content": list(content)}, 0)


def image(**more: Json) -> Json:
    """A picture whose bytes nobody reads."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 5_000}, **more}


def test_an_image_costs_its_stamp_else_1_600() -> None:
    """CM-47, CM-57: 1,600, or the host's tokenEstimate."""
    assert FLAT.message(blocks(image())).tokens == 1_600
    assert FLAT.message(blocks(image(tokenEstimate=100))).tokens == 100


def test_a_generated_image_is_never_free() -> None:
    """CM-48, CM-49, CM-58: 1,600 whatever it carries."""
    assert FLAT.message(blocks({"type": "generated_image", "data": "A" * 5_000, "tokenEstimate": 0})).tokens == 1_600


@pytest.mark.parametrize("kind", ["document", "audio", "video"])
def test_other_media_cost_1_000(kind: str) -> None:
    """CM-50."""
    message = blocks({"type": kind, "source": {"type": "base64", "media_type": "application/octet-stream", "data": "AAAA"}})
    assert FLAT.message(message).tokens == 1_000


def test_a_result_costs_what_stands_in_it() -> None:
    """CM-51, CM-59: the sum of its blocks, or its text at the dense rate; an empty one costs 0."""
    result = {"type": "tool_result", "tool_use_id": "t"}
    assert FLAT.message(blocks({**result, "content": [image(), {"type": "text", "text": "x" * 29}]})).tokens == 1_610
    assert FLAT.message(blocks({**result, "content": "x" * 23})).tokens == 10
    assert FLAT.message(blocks({**result, "content": ""})).tokens == 0
    assert FLAT.message(blocks({**result, "content": []})).tokens == 0


def test_a_call_costs_its_input_and_20() -> None:
    """CM-52."""
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": "x" * 15}}
    assert FLAT.message(blocks(call)).tokens == 20 + 10


def test_each_part_is_rounded_after_multiplying() -> None:
    """CM-55: two 1-token blocks at 0.6 give 2, not 1."""
    prices = PriceList(catalog.FLAT, multiplier=0.6)
    assert prices.message(blocks({"type": "text", "text": "a"}, {"type": "text", "text": "b"})).tokens == 2


def test_the_placeholder_costs_19() -> None:
    """CM-61, CM-F1: 54 characters at 2.9 are 19, where a quarter of the length was 14."""
    assert FLAT.text(PLACEHOLDER).tokens == 19


@pytest.mark.parametrize("multiplier, picture, placeholder", [(0.925, 1_480, 18), (1.0, 1_600, 19), (1.28, 2_048, 24)])
def test_calibrated_savings(multiplier: float, picture: int, placeholder: int) -> None:
    """CM-60, CM-64, CM-66, CM-F7: 1,462, 1,581 and 2,024 saved."""
    prices = PriceList(catalog.FLAT, multiplier=multiplier)
    assert prices.message(blocks(image())).tokens == picture
    assert prices.text(PLACEHOLDER).tokens == placeholder
    result = {"type": "tool_result", "tool_use_id": "t", "content": [image()]}
    assert prices.message(blocks(result)).tokens == picture


def test_a_saving_may_be_negative() -> None:
    """CM-63: an image stamped below the placeholder costs less than it."""
    assert FLAT.message(blocks(image(tokenEstimate=5))).tokens < FLAT.text(PLACEHOLDER).tokens


def test_planned_and_sent_of_the_report() -> None:
    """CM-F2: 19 + 100 + 50 planned, 1,600 + 19 + 50 sent."""
    assert FLAT.text(PLACEHOLDER).tokens + FLAT.message(blocks(image(tokenEstimate=100))).tokens + 50 == 169
    assert FLAT.message(blocks(image())).tokens + FLAT.text(PLACEHOLDER).tokens + 50 == 1_669


def test_a_price_is_the_models_and_not_one_for_all() -> None:
    """AN-15, AN-16, AN-18, AN-20: the formula is that of gpt-4o's tiles, and no bound for the others."""
    tiles, claude = catalog.card("gpt-4o").image, catalog.card("claude-opus-4-8").image
    assert (tiles.tokens(2560, 1440), claude.tokens(2560, 1440)) == (1_105, 4_784)
    assert [tiles.tokens(*sides) for sides in ((1600, 900), (1920, 1080), (3840, 2160))] == [1_105] * 3
    assert tiles.tokens(4096, 4096) == 765
    assert tiles.tokens(1, 1) == 255
