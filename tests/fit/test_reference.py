"""Behaviours of the live-image policy, item by item, as a stateless fit shows them. Prices are those of the `flat` card."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import transom
from stage import encoded, png
from transom import FLAT, PriceList, canon
from transom.placeholder import placeholder
from transom.wire import FORMS

Json = dict[str, Any]
MIB = 1024 * 1024


def picture(number: int = 0, **more: Any) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(number)}, **more}


def data(number: int) -> str:
    return encoded(png(20 + number, 30))


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def called(name: str, *content: Json, tool: str = "look") -> list[Json]:
    result = {"type": "tool_result", "tool_use_id": name, "content": list(content)}
    return [{"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": tool, "input": {}}]}, user(result)]


def fit(*messages: Json, api: str = "blocks", **settings: Any) -> transom.Fit:
    settings.setdefault("image_ratio", 0)
    settings.setdefault("newest", "limit")
    settings.setdefault("budget", 1_000_000)
    request = {"messages": list(messages)}
    before = copy.deepcopy(request)
    made = transom.fit(request, api=api, card=FLAT, strict=True, **settings)
    assert request == before
    return made


def live(made: transom.Fit) -> list[str]:
    """The payloads of the pictures that go out, oldest first."""
    text = canon.text(made.request)
    return [data(number) for number in range(12) if data(number) in text]


def price(*messages: Json, api: str = "blocks") -> int:
    return transom.price({"messages": list(messages)}, api=api, card=FLAT).tokens


def test_the_reference_settings_are_settings() -> None:
    """CM-12: 6 pictures, 20 MiB, 30,000 tokens; passed, they hold."""
    made = fit(
        user(*(picture(n) for n in range(9))), user(words("and?")), max_images=6, max_image_bytes=20 * MIB, image_depth=30_000
    )
    assert live(made) == [data(n) for n in range(6)]


def test_a_generated_picture_counts_and_costs_like_any_other() -> None:
    """CM-01, CM-06, CM-48, CM-49: 1,600 flat, never 0; it takes a slot at the top and in a result."""
    generated = {"type": "generated_image", "data": data(1), "mimeType": "image/png"}
    assert price(user(words("x"), generated)) - price(user(words("x"))) == 1_600
    made = fit(user(picture(0)), *called("a", generated), user(words("go")), max_images=1)
    assert live(made) == [data(1)]


def test_a_pruned_result_holds_no_picture() -> None:
    """CM-22, CM-23, CM-41, CM-84, CM-123: pictures are counted in the form their message is sent in, pruned first."""
    history = [user(words("go")), *called("a", picture(0)), *called("b", picture(1)), *called("c", words("text"))]
    made = fit(user(picture(2)), *history, max_images=2, results_per_tool=2, refit=1)
    assert live(made) == [data(1), data(2)]


def test_a_replaced_picture_is_text_and_the_words_around_it_stay() -> None:
    """CM-24, CM-25, CM-79: one template, whatever replaced it; results are never dropped for their pictures."""
    made = fit(user(words("before"), picture(0), words("after")), *called("a", picture(1), words("clicked")), max_images=1)
    first = made.request["messages"][0]["content"]
    assert [part["text"] for part in (first[0], first[2])] == ["before", "after"]
    media = FORMS["blocks"].read_message(user(picture(0)), 0).parts[0].media
    assert media is not None
    assert first[1] == words(placeholder(media))


@pytest.mark.parametrize(
    "form",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(0)}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data(0)}"}},
        {"type": "generated_image", "data": data(0), "mimeType": "image/png"},
        {"type": "image", "data": data(0), "mimeType": "image/png"},
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_the_mark_counts_what_the_strip_counts(form: Json, nested: bool) -> None:
    """CM-02, CM-42: nested, generated and data-URL pictures count in the scan that moves the mark."""
    oldest = called("a", form) if nested else [user(form)]
    made = fit(user(words("go")), *oldest, *called("b", picture(1)), *called("c", picture(2)), max_images=2, image_ratio=0.5)
    assert live(made) == [data(2)]
    assert made.state.mark == 4 - (not nested)


def test_a_placeholder_is_priced_like_any_text() -> None:
    """CM-60, CM-61, CM-62, INV-18: what a message costs after its verdict is what its words cost."""
    made = fit(user(picture(0)), user(words("go")), max_image_bytes=1)
    assert live(made) == []
    assert made.report.after.tokens == price(*made.request["messages"])


def test_a_picture_stamped_below_its_placeholder_makes_its_message_dearer() -> None:
    """CM-63, CM-47: the saving is negative and is not clamped; a stamp is what the picture costs."""
    message = user(picture(0, tokenEstimate=1))
    made = fit(message, user(words("go")), max_image_bytes=1)
    assert made.report.after.tokens > made.report.before.tokens
    assert made.report.decisions[0].tokens_after > made.report.decisions[0].tokens_before == 1


@pytest.mark.parametrize("stamp", [float("inf"), -1_600, "cheap", None, True])
def test_a_stamp_that_is_no_price_is_not_used(stamp: object) -> None:
    """CM-56, OP-14, AF-23: 1,600 instead; infinity is refused at the door."""
    if stamp == float("inf"):
        with pytest.raises(transom.BadRequest):
            price(user(picture(0, tokenEstimate=stamp)))
        return
    assert price(user(words("x"), picture(0, tokenEstimate=stamp))) - price(user(words("x"))) == 1_600


def test_a_moved_results_picture_keeps_the_age_of_the_message_it_was_written_in_and_counts_once() -> None:
    """CM-93, CM-94, CM-98: the late result takes the newest slot, and only that one."""
    history = [
        user(words("ask both")),
        {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "look", "input": {}} for i in "ab"]},
        user({"type": "tool_result", "tool_use_id": "a", "content": [picture(0)]}),
        {"role": "assistant", "content": "One moment."},
        user(picture(1)),
        {"role": "assistant", "content": "Yes?"},
        user({"type": "tool_result", "tool_use_id": "b", "content": [picture(2)]}),
    ]
    made = fit(*history, max_images=2)
    assert live(made) == [data(1), data(2)]
    assert [one.seq for one in made.report.decisions if one.verb == "stub"] == [2]


def test_a_reused_call_id_hands_over_no_verdict() -> None:
    """CM-92, CM-95, CM-99: verdicts go by message and place, not by id and not by payload."""
    same = picture(0)
    made = fit(user(words("go")), *called("run:0", same), *called("run:0", copy.deepcopy(same)), max_images=1)
    results = [message["content"][0]["content"][0]["type"] for message in made.request["messages"][2::2]]
    assert results == ["text", "image"]


def test_two_results_for_one_call_in_one_message_cost_no_more_than_planned() -> None:
    """CM-97 cannot occur: one of the two goes, and the plan is what is sent (OP-07)."""
    twice = user(
        {"type": "tool_result", "tool_use_id": "a", "content": [picture(0)]},
        {"type": "tool_result", "tool_use_id": "a", "content": [picture(1)]},
    )
    made = fit(user(words("go")), called("a")[0], twice, max_images=1)
    assert len(live(made)) == 1
    assert made.report.after.tokens == price(*made.request["messages"])


def test_the_default_cut_sends_every_picture() -> None:
    """CM-108: it changes no verdict and no price of one."""
    made = fit(user(picture(0), words("long " * 500), picture(1)), user(words("go")), max_message_tokens=50, max_images=2)
    assert live(made) == [data(0), data(1)]
    assert "cut here" in canon.text(made.request)


def test_the_hook_is_asked_once_for_each_message() -> None:
    """CM-109, CM-118: its answer is the object that is priced and sent."""
    seen: list[int] = []

    def cut(message: Json, _cap: int) -> Json:
        seen.append(id(message))
        return message

    fit(user(picture(0)), user(words("go")), max_message_tokens=50, cut=cut, max_images=1)
    assert len(seen) == len(set(seen)) == 2


def test_a_picture_that_the_hook_leaves_out_holds_no_slot_and_comes_off_once() -> None:
    """CM-110, CM-114, CM-115, CM-132: its whole price is off, and an older one keeps the slot."""

    def cut(message: Json, _cap: int) -> Json:
        kept = [part for part in message["content"] if part != picture(1)]
        return message if kept == message["content"] else {**message, "content": kept}

    made = fit(user(picture(0)), user(words("x"), picture(1)), user(words("go")), max_message_tokens=50, cut=cut, max_images=1)
    assert live(made) == [data(0)]
    assert made.report.before.tokens - made.report.after.tokens == 1_600


def test_a_hook_that_answers_afresh_or_turns_pictures_round_sends_what_was_planned() -> None:
    """CM-96, CM-111, CM-112, CM-113: the planner judges the very objects that are written."""

    def cut(message: Json, _cap: int) -> Json:
        return {**message, "content": [copy.deepcopy(part) for part in reversed(message["content"])]}

    made = fit(user(picture(0), picture(1)), user(words("a"), words("b")), max_message_tokens=50, cut=cut, max_images=1)
    assert len(live(made)) == 1
    assert made.report.after.tokens == price(*made.request["messages"])


def test_a_message_whose_pictures_go_is_sent_where_it_fits_then() -> None:
    """CM-128, CM-130, CM-131, CM-183: priced after verdicts, so the anchor stays and nothing is refused."""
    history = [user(words("go")), *called("a", picture(0)), *called("b", picture(1)), *called("c", picture(2))]
    note = words("[image 20x30 00000000 left out]")
    after = price(user(words("go")), *called("a", note), *called("b", note), *called("c", picture(2)))
    made = fit(*history, max_images=1, budget=after)
    assert (made.state.anchor, len(made.request["messages"])) == (0, 7)


def test_planned_is_sent_in_the_reported_figures() -> None:
    """CM-F2, CM-F3: two pictures priced 1,600 and 100 and 50 tokens of text; what is planned is what goes out."""
    made = fit(user(picture(0), picture(1, tokenEstimate=100), words("w" * 110)), user(words("go")), max_images=1)
    assert made.report.after.tokens == price(*made.request["messages"])
    saved = [one.tokens_before - one.tokens_after for one in made.report.decisions]
    assert saved == [made.report.before.tokens - made.report.after.tokens]


@pytest.mark.parametrize("kind", ["generated_image", "image"])
def test_a_picture_over_the_byte_limit_becomes_a_placeholder_and_nothing_is_refused(kind: str) -> None:
    """CM-F4: 5,000 characters, limit 1,000, budget 1,000 tokens."""
    payload = encoded(png(64, 48)).rstrip("=")[:-16] + "A" * 4_900
    part = (
        {"type": kind, "data": payload, "mimeType": "image/png"}
        if kind == "generated_image"
        else {"type": kind, "source": {"type": "base64", "media_type": "image/png", "data": payload}}
    )
    made = fit(user(words("look"), part), max_image_bytes=1_000, budget=1_000)
    assert payload not in canon.text(made.request)
    assert "look" in canon.text(made.request)


def test_depth_reaches_the_crossing_message_of_a_long_body() -> None:
    """CM-F6, CM-28: the message that crosses 30,000 tokens loses its picture, in plan and output."""
    made = fit(user(picture(0), words("x" * 100_000)), user(words("go")), image_depth=30_000)
    assert live(made) == []
    assert made.report.after.tokens == price(*made.request["messages"])


@pytest.mark.parametrize("multiplier", [0.6, 0.925, 1, 1.28, 1.8])
def test_the_plan_holds_under_a_learned_multiplier(multiplier: float) -> None:
    """CM-55, CM-64, CM-66, CM-F7: prices are rounded part by part, savings are calibrated, no message is worth less than 0."""
    prices = PriceList(FLAT, multiplier=multiplier)
    request = {"messages": [user(picture(0)), user(picture(1), words("a"), words("b"))]}
    made = transom.fit(request, api="blocks", prices=prices, budget=10**6, max_images=1, newest="limit", strict=True)
    assert made.report.after.tokens == transom.price(made.request, api="blocks", prices=prices).tokens
    assert all(one.tokens_after >= 0 for one in made.report.decisions)


def test_a_picture_is_priced_by_its_pixels_and_not_by_its_text() -> None:
    """AN-01, AN-F2: filler behind the same header changes bytes, not tokens."""
    small, large = data(0), data(0).rstrip("=")
    bill = [
        transom.price(
            {"model": "gpt-4o", "messages": [user({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{one}"}})]},
            api="openai-chat",
        )
        for one in (small, large + "A" * 100_000)
    ]
    assert bill[0].rows[1].price.tokens == bill[1].rows[1].price.tokens
    assert bill[1].bytes - bill[0].bytes > 99_000


def test_depth_does_not_move_with_what_was_learned() -> None:
    """CM-26, CM-27: a multiplier changes no verdict, or an old picture would change with every sample."""
    request = {"messages": [user(picture(0)), user(words("x" * 600)), user(words("go"))]}
    depth = transom.price(request, api="blocks", card=FLAT).tokens
    for multiplier in (0.6, 1, 1.8):
        prices = PriceList(FLAT, multiplier=multiplier)
        made = transom.fit(request, api="blocks", prices=prices, budget=10**6, image_depth=depth, image_ratio=0, newest="limit")
        assert live(made) == [data(0)]


def test_a_moved_results_words_are_as_deep_as_the_message_that_they_were_written_in() -> None:
    """CM-27, CM-93: the late result is newer than the picture, though it goes out before it."""
    history = [
        user(words("ask")),
        called("a")[0],
        user(picture(1)),
        {"role": "assistant", "content": "Yes?"},
        user({"type": "tool_result", "tool_use_id": "a", "content": "x" * 4_000}),
    ]
    assert live(fit(*history, image_depth=2_000)) == []
    assert live(fit(*history, image_depth=4_000)) == [data(1)]
