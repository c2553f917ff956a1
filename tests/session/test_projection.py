"""AF-01 to AF-39: whether the next round fits, to the figure under the flat card."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bodies import picture
from transom import FLAT, Policy, Store, canon, catalog, projection
from transom.pricing import PriceList
from transom.projection import Seen, appended, project
from transom.session import Session
from transom.wire import FORMS
from transom.wire.form import Usage

WINDOW, RESERVE = 200_000, 32_000
Json = dict[str, Any]


def said(*parts: Json) -> Json:
    return {"participant": "Ann", "content": list(parts)}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def image(stamp: object = None) -> Json:
    raw: Json = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    return raw if stamp is None else {**raw, "tokenEstimate": stamp}


def generated(stamp: object = None) -> Json:
    raw: Json = {"type": "generated_image", "source": {"type": "url", "url": "https://example.com/b.png"}}
    return raw if stamp is None else {**raw, "tokenEstimate": stamp}


def result(words: str, *parts: Json) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [text(words), *parts]}]}


def answer() -> Json:
    call = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    return {"role": "assistant", "content": [call], "stop_reason": "tool_use"}


REPORTED = Usage(prompt=163_000, output=2_000)


def begun(store: Store, *, window: float | None = WINDOW, reserve: int = RESERVE, usage: Usage = REPORTED) -> Session:
    """A session whose first round reported its usage."""
    chat = store.session("a", api="blocks", card=FLAT, window=window, policy=Policy.sliding(reserve=reserve))
    chat.append(said(text("go")))
    chat.compile()
    chat.record(answer(), usage=usage)
    return chat


@pytest.fixture
def store() -> Any:
    with Store("sqlite://") as opened:
        yield opened


def test_prompt_output_and_reserve_are_counted_before_anything_is_appended(store: Store) -> None:
    """AF-F1, AF-03, AF-05, AF-06: 163,000 + 2,000 + 32,000 = 197,000, so that 3,000 remain."""
    assert begun(store).project().tokens == 197_000


@pytest.mark.parametrize(
    ("parts", "price", "fits"),
    [
        ([image()] * 3, 4_800, False),  # AF-F2, AF-19, AF-20
        ([generated()] * 3, 4_800, False),  # AF-F3, AF-21
        ([generated(0)] * 3, 4_800, False),  # AF-21: a generated image is never free
        ([image(100)] * 3, 300, True),  # AF-F4
        ([image("NaN")] * 3, 4_800, False),  # AF-F5, AF-23, AF-24
        ([image(-1_600)] * 3, 4_800, False),  # AF-F5, AF-26
        ([image(0)] * 3, 0, True),  # AF-25
        ([], 0, True),  # AF-F7
    ],
)
def test_pictures_of_a_message_that_arrives_cross_the_window(store: Store, parts: list[Json], price: int, fits: bool) -> None:
    """AF-F2 to AF-F5, AF-F7, AF-F9, AF-18, AF-33: media carry their price, and each item an envelope of 20."""
    found = begun(store).project(said(text("look at these"), *parts))
    assert found.tokens == 197_000 + 4 + price + 20
    assert found.fits is fits
    assert found.reason == ("" if fits else "physical_window")  # AF-08
    assert found.window == WINDOW


def test_a_nan_stamp_as_a_number_is_no_price(store: Store) -> None:
    """AF-24, INV-07: read as given, NaN would make every comparison false. The door refuses it in a message."""
    view = FORMS["blocks"].read_message(said(text("x"), image(math.nan)), 0)
    assert appended([view], PriceList(FLAT)) == 1 + 1_600 + 20
    assert begun(store).project().fits


@pytest.mark.parametrize(
    "part",
    [
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "audio", "source": {"type": "url", "url": "https://example.com/a.wav"}},
        {"type": "video", "source": {"type": "url", "url": "https://example.com/a.mp4"}},
    ],
)
def test_four_documents_sounds_or_films_cross(store: Store, part: Json) -> None:
    """AF-F6, AF-22, AF-28: 1,000 each."""
    found = begun(store).project(said(*[part] * 4))
    assert found.tokens == 197_000 + 4_000 + 20
    assert not found.fits


def test_growth_is_carried_over_a_call_that_reports_no_prompt(store: Store) -> None:
    """AF-F8, AF-12, AF-13: three photos fit at a first boundary and cross at the second, when call 2 reported no prompt."""
    chat = begun(store, usage=Usage(prompt=160_000, output=2_000))
    photos = result("three", image(), image(), image())
    step = chat.extend(photos)
    assert step.fits
    assert step.projection is not None
    assert step.projection.tokens == 160_000 + 2_000 + 32_000 + 2 + 4_800 + 20
    chat.record({"role": "assistant", "content": [{"type": "text", "text": "and"}]})
    later = chat.project(said(*[image()] * 1, text("more")))
    assert later.tokens > 160_000 + 2_000 + 32_000 + 4_822 + 1_621
    assert not later.fits


def test_cached_tokens_fill_the_window(store: Store) -> None:
    """AF-F10, AF-04, AF-16: fresh 5,000 + cached 195,000 + output + 30,000 characters + reserve 4,000 is over 200,000."""
    reported = {"input_tokens": 5_000, "cache_read_input_tokens": 195_000, "output_tokens": 100}
    chat = begun(store, reserve=4_000, usage=FORMS["anthropic"].usage({"usage": reported}) or REPORTED)
    step = chat.extend(result("x" * 30_000))
    assert step.projection is not None
    assert step.projection.tokens == 5_000 + 195_000 + 100 + 7_500 + 20 + 4_000
    assert not step.fits


def test_equality_fits() -> None:
    """AF-07: the round is made afresh when the projection is greater than the window."""
    seen = Seen(prompt=100, output=50)
    assert project(seen, added=25, reserve=25, window=200).fits
    assert not project(seen, added=26, reserve=25, window=200).fits


@pytest.mark.parametrize("window", [0, -1, math.nan])
def test_without_a_window_nothing_is_projected(store: Store, window: float) -> None:
    """AF-02, AF-14: unset, the behaviour is unchanged."""
    assert begun(store, window=window).project(said(*[image()] * 100)).fits


def test_a_round_is_made_afresh_when_the_stream_has_taken_in_enough() -> None:
    """AF-36: the ordinary restart, with its own reason."""
    found = project(Seen(prompt=150_001, output=1), added=0, reserve=10, window=0, stream=150_000)
    assert (found.fits, found.reason) == (False, projection.STREAM)
    assert project(Seen(prompt=150_000), added=0, reserve=10, window=0, stream=150_000).fits


def test_text_is_a_quarter_of_its_length_rounded_up_over_the_total() -> None:
    """AF-16, AF-18: 1 + 1 + 3 characters are 2 tokens, not 3; each of the items has its envelope."""
    views = [FORMS["blocks"].read_message(said(text(words)), 0) for words in ("a", "b", "cde")]
    assert appended(views, PriceList(FLAT)) == 2 + 3 * 20


def test_calls_and_thinking_add_nothing() -> None:
    """AF-30: what the assistant said is in the reported output."""
    assert appended([FORMS["blocks"].read_message(answer(), 0)], PriceList(FLAT)) == 0


def test_the_guard_counts_as_the_compile_does() -> None:
    """INV-23, AF-29, OP-24: under any other card the price list of the compile, its factor included."""
    prices = PriceList(catalog.card("claude-opus-4-8"), multiplier=1.5)
    view = FORMS["anthropic"].read_message({"role": "user", "content": [text("words " * 50), picture(width=640, height=480)]}, 0)
    assert appended([view], prices) == prices.text("words " * 50).tokens + prices.part(view.parts[1]).tokens + 20


@pytest.mark.parametrize("model", ["claude-opus-4-8", "gpt-4o", "flat"])
@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "words"},
        {"role": "user", "content": [text("words " * 40), picture(width=1_280, height=800)]},
        {"role": "user", "content": [picture()] * 3},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [text("seen"), picture()]}]},
    ],
)
def test_the_estimate_errs_high(model: str, message: Json) -> None:
    """AF-27, AF-31, AF-32: too high is one request made afresh sooner than needed, too low a refused one."""
    prices = PriceList(catalog.card(model))
    view = FORMS["anthropic"].read_message(message, 0)
    most = prices.message(view).tokens
    assert appended([view], prices) >= (most if not prices.card.flat else most * 2.3 / 4)


def test_a_result_is_counted_as_it_goes_out(store: Store) -> None:
    """AF-17, AF-39: after it is shortened."""
    policy = Policy.sliding(reserve=RESERVE, max_message_tokens=100)
    chat = store.session("b", api="blocks", card=FLAT, window=WINDOW, policy=policy)
    chat.append(said(text("go")))
    chat.compile()
    chat.record(answer(), usage=REPORTED)
    step = chat.extend(result("x" * 400_000))
    assert step.fits
    assert len(canon.encode(step.request)) < 2_000
    assert chat.messages()[-1] == result("x" * 400_000)  # stored as it was produced


def test_the_message_that_did_not_fit_is_in_the_fresh_request_once_with_its_media(store: Store) -> None:
    """AF-01, AF-09, AF-10, AF-34, AF-35, AF-38: it is stored before the decision, so the compile sees it."""
    chat = begun(store)
    step = chat.extend(result("three", image(), image(), image()))
    assert not step.fits
    assert step.projection is not None
    assert step.projection.restarts
    fresh = chat.compile().request
    assert canon.encode(fresh).count(b"example.com/a.png") == 3
    after = chat.project()
    assert after.fits  # the plan's own figure counts until a report comes
    assert after.tokens < 40_000


def test_a_message_that_fits_goes_into_the_next_round(store: Store) -> None:
    """AF-11, AF-F4: it rides on the request that was sent, of which nothing moves."""
    chat = begun(store)
    sent = chat.preview().request["messages"][:1]
    step = chat.extend(result("three", image(100), image(100), image(100)))
    assert step.fits
    assert step.request["messages"][:1] == sent
    assert canon.encode(step.request).count(b"example.com/a.png") == 3


def test_making_a_round_afresh_that_was_just_made_is_bounded(store: Store) -> None:
    """OP-26: where the fresh request itself is projected past the window, it is not made afresh again."""
    chat = store.session("b", api="blocks", card=FLAT, window=10_000, policy=Policy.sliding(budget=9_900, reserve=1_000))
    chat.append(said(text("x" * 20_000)))
    chat.compile()
    found = chat.project(said(text("y" * 20_000)))
    assert (found.fits, found.restarts) == (False, True)
    chat.append(said(text("y" * 7_000)))
    chat.compile()
    again = chat.project()
    assert not again.fits
    assert again.bounded
    assert not again.restarts


def test_bytes_pictures_and_sides_are_projected_too(store: Store) -> None:
    """INV-22: tokens and bytes are two budgets; a picture more, or a wide one among many, is refused by the provider."""
    policy = Policy.sliding(max_images=2, max_body_bytes=40_000)
    chat = store.session("b", api="anthropic", model="claude-opus-4-8", policy=policy)
    chat.append({"role": "user", "content": [picture(1), picture(2)]})
    chat.compile()
    assert chat.project().images == 2
    more = chat.project({"role": "user", "content": [picture(3)]})
    assert more.images == 3
    assert "3 live pictures" in more.why[0]
    large = chat.project({"role": "user", "content": "x" * 50_000})
    assert large.bytes > 50_000
    assert any("bytes" in why for why in large.why)
    open_policy = store.session("c", api="anthropic", model="claude-opus-4-8")
    open_policy.append({"role": "user", "content": [picture(1)] * 20})
    open_policy.compile()
    wide = open_policy.project({"role": "user", "content": [picture(2, width=2_400, height=10)]})
    assert any("2400" in why or "2,400" in why for why in wide.why)
