"""Reference items that a whole fit shows and no other test names."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from msgspec.structs import replace

import transom
from stage import GIF, JPEG, WEBP, encoded, png
from transom import FLAT, Policy, PriceList, canon
from transom.parts import Facts
from transom.wire import FORMS

Json = dict[str, Any]


def facts(data: bytes, declared: str = "image/png", url: str = "") -> Facts:
    """What a picture in a data URL is seen to be."""
    url = url or f"data:{declared};base64,{encoded(data)}"
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    media = FORMS["openai-chat"].read_message(message, 0).parts[0].media
    assert media is not None
    return media.facts


def talk(count: int = 6) -> list[Json]:
    return [{"role": "assistant" if n % 2 else "user", "content": f"{n} " + "words " * 50} for n in range(count)] + [
        {"role": "user", "content": "now"}
    ]


def test_sides_are_read_from_headers_by_signature() -> None:
    """AN-03, AN-04, AN-06, AN-07: PNG, JPEG, GIF and WebP; what the type says does not matter; a head that is cut off is
    unreadable.
    """
    vp8x = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0" + struct.pack("<I", 0) + b"\x8f\x01\0" + b"\x2b\x01\0" + b"\0" * 8
    vp8 = b"RIFF\x1e\0\0\0WEBPVP8 \x12\0\0\0" + b"\x10\0\0\x9d\x01\x2a" + struct.pack("<HH", 320, 240) + b"\0" * 8
    seen = {data[:16]: (facts(data).width, facts(data).height) for data in (png(30, 20), JPEG, GIF, WEBP, vp8x, vp8)}
    assert list(seen.values()) == [(30, 20), (80, 60), (40, 30), (120, 80), (400, 300), (320, 240)]
    assert facts(JPEG, "image/png").mime == "image/jpeg"
    assert all(facts(data[:9]).problem for data in (png(30, 20), JPEG, GIF, WEBP))


def test_a_data_url_with_a_parameter_or_white_space_is_read_all_the_same() -> None:
    """AN-08 the other way: what a provider decodes is read, so that it is priced by its pixels and not by its length."""
    data = encoded(png(30, 20))
    for url in (f"data:image/png;name=a.png;base64,{data}", f"DATA:image/png;base64,{data}"):
        assert (facts(b"", url=url).width, facts(b"", url=url).problem) == (30, "")


@pytest.mark.parametrize(
    ("sides", "tokens"), [((1_700, 2_200), 765), ((2_560, 1_440), 1_105), ((4_096, 4_096), 765), ((512, 512), 255)]
)
def test_tiles_of_a_picture(sides: tuple[int, int], tokens: int) -> None:
    """AN-09, AN-10, AN-11, AN-12: fit to 2,048, short side to 768, 85 and 170 a tile; but never upwards, and tokens stay
    tokens.
    """
    url = f"data:image/png;base64,{encoded(png(*sides))}"
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}
    bill = transom.price(request, api="openai-chat")
    assert bill["messages[0].content[0]"].tokens == tokens


@pytest.mark.parametrize("share", [0, -0.5, 1.01, math.nan, math.inf, "half", True, None])
def test_shares_are_checked_at_construction(share: Any) -> None:
    """CM-125: `refit` is in (0, 1], by default 0.5; anything else is an error with the value and the rule."""
    for name in ("refit", "trigger"):
        with pytest.raises(transom.BadSetting, match=name):
            Policy.sliding(**{name: share})
    assert Policy().refit == 0.5


@pytest.mark.parametrize(
    "settings",
    [
        {"grace": 1},
        {"grace": -0.1},
        {"compact_at": 1.5},
        {"compact_at": math.nan},
        {"budget": 0},
        {"budget": math.nan},
        {"reserve": -1},
        {"reserve": "none"},
        {"newest": "first"},
        {"late_results": "drop"},
        {"marks": "all"},
        {"folded": "maybe"},
        {"fold_first": "best"},
        {"shed": ("everything",)},
        {"keep_requests": 0},
        {"merge": 0},
        {"merge": 1.5},
        {"summary_tokens": True},
        {"no_such_setting": 1},
    ],
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(settings: Json) -> None:
    """AF-15, bad numbers: at construction, in every preset, with the name, the value and what it may be."""
    for preset in (Policy.sliding, Policy.folding, Policy.shedding, Policy.compacting):
        with pytest.raises(transom.BadSetting) as refusal:
            preset(**settings)
        assert next(iter(settings)).split("_")[0] in str(refusal.value)


def test_presets_are_values_and_tell_verdicts_apart() -> None:
    """Two of the same settings are equal; what decides verdicts is in the fingerprint, what does not is not."""
    assert Policy.folding() == Policy.folding()
    assert Policy.folding().fingerprint() != Policy.sliding().fingerprint()
    assert Policy.folding(folded="count").fingerprint() != Policy.folding().fingerprint()
    assert Policy.folding(chunk_tokens=9).fingerprint() == Policy.folding().fingerprint()
    assert Policy(results_per_tool={"a": 1}).fingerprint() != Policy().fingerprint()
    assert Policy().having() == Policy()


@pytest.mark.parametrize("anchor", [99, -1, math.nan, math.inf])
def test_an_anchor_that_is_no_message_starts_at_0_again_and_says_so(anchor: Any) -> None:
    """CM-136: not a finite number of at least 0, or past the end."""
    messages = talk()
    first = transom.fit({"messages": messages}, api="openai-chat", card=FLAT, budget=10_000)
    made = transom.fit(
        {"messages": messages}, api="openai-chat", card=FLAT, budget=10_000, state=replace(first.state, anchor=anchor)
    )
    assert made.state.anchor == 0
    assert made.request["messages"] is messages
    assert "no message of this conversation" in made.report.notes[0]


@pytest.mark.parametrize("preset", ["sliding", "folding", "shedding", "compacting"])
@pytest.mark.parametrize("multiplier", [0.6, 1, 1.8])
def test_every_total_is_of_one_price_list(preset: str, multiplier: float) -> None:
    """CM-53, CM-65, CM-67, CM-68, INV-23: the plan, the report and a bill of the output agree under each preset; nothing is
    below 0.
    """
    prices = PriceList(FLAT, multiplier=multiplier)
    stamped = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}, "tokenEstimate": 0}
    messages = talk(12)
    messages[2] = {"role": "user", "content": [stamped, {"type": "text", "text": "words " * 50}]}
    policy = getattr(Policy, preset)(strict=True, max_images=1)
    made = transom.fit({"messages": messages}, api="blocks", prices=prices, policy=policy, budget=900)
    assert made.report.after.tokens == transom.price(made.request, api="blocks", prices=prices).tokens
    assert all(one.tokens_before >= 0 and one.tokens_after >= 0 for one in made.report.decisions)


@pytest.mark.parametrize("stamp", [0, 1, 10**9, -5, "x", 1e300])
def test_a_wrong_stamp_never_moves_the_result_over_the_plan(stamp: Any) -> None:
    """CM-186: whatever a host stamps, what is sent is within the budget by the same price list."""
    data = encoded(png(20, 30))
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}, "tokenEstimate": stamp}
    messages = [{"role": "user", "content": [picture, {"type": "text", "text": "w"}]}, *talk(4)]
    made = transom.fit({"messages": messages}, api="blocks", card=FLAT, policy=Policy.sliding(strict=True), budget=700)
    assert made.report.after.tokens <= 700
    assert made.report.after.tokens == transom.price(made.request, api="blocks", card=FLAT).tokens


def test_a_state_goes_to_the_next_fit_under_another_preset() -> None:
    """A changed policy judges pictures afresh; what was summed up stays so (design section 6)."""
    messages = talk(20)
    folding = Policy.folding()
    asks = transom.fit({"messages": messages}, api="openai-chat", card=FLAT, policy=folding, budget=900).asks
    ready = [transom.fulfil(ask, "in short") for ask in asks]
    first = transom.fit({"messages": messages}, api="openai-chat", card=FLAT, policy=folding, budget=900, ready=ready)
    second = transom.fit({"messages": messages}, api="openai-chat", card=FLAT, budget=900, state=first.state)
    assert canon.encode(second.request) == canon.encode(first.request)
    assert "settings changed" in second.report.notes[0]
