"""Folding from one fit to the next: summaries that stand, wait, come late or go, pictures that stay judged, and the prefix."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from folds.talks import FOLDING, LONG, Json, called, fit, folded, live, picture, price, says, turns, user, words
from transom import FLAT, Policy, canon


def test_a_folded_picture_holds_its_slot() -> None:
    """CM-82, CM-83, CM-155, CM-180, CM-F5: limit 2, one in the tail, one nested in a folded message, one in the head: the
    head's is the placeholder, in plan and output, and it stays one in the next request.
    """
    head = [user("look", picture(0)), says("yes")]
    middle = [user(f"then {LONG}"), *called("a", LONG, picture(1)), says(LONG), *turns(6)]
    messages = [*head, *middle, user("now", picture(2))]
    policy = FOLDING.having(max_images=2, image_depth=0, keep_head=1_700, chunk_tokens=600)
    made = folded(messages, 7_000, policy)
    assert made.state.folds
    assert live(made) == [2]
    assert price(made) == made.report.after.tokens
    later = fit([*messages, says("ok"), user("and?")], 7_000, policy, state=made.state)
    assert live(later) == [2]
    assert later.report.breaks == ()


def test_a_folded_picture_takes_no_slot_where_the_policy_says_so() -> None:
    """OP-08, design section 6, `folded="free"`: an older one that was a placeholder stays one all the same."""
    messages = [user("look", picture(0)), says("yes"), user(f"then {LONG}"), *called("a", LONG, picture(1)), *turns(6)]
    free = FOLDING.having(max_images=1, image_depth=0, keep_head=1_700, chunk_tokens=600, folded="free")
    first = folded([*messages, user("now")], 4_800, free)
    assert live(first) == []
    second = fit([*messages, user("now"), says("a"), user("more", picture(3))], 4_800, free, state=first.state)
    assert live(second) == [3]


def test_the_prefix_stands_between_folds_and_a_fold_is_a_break_with_its_cost() -> None:
    """CM-154, CM-157, CM-158, CM-159, INV-13: what was sent is what the next request is held against."""
    messages = [*turns(8), user("now")]
    first = folded(messages, 1_600)
    second = fit([*messages, says("a"), user("b")], 1_600, state=first.state)
    assert second.report.breaks == ()
    assert second.request["messages"][: len(first.request["messages"])] == first.request["messages"]
    grown = [*messages, says("a"), user("b"), says("c"), *turns(6), user("d")]
    asking = fit(grown, 1_600, state=second.state)
    third = fit(grown, 1_600, state=second.state, ready=[transom.fulfil(ask, "more") for ask in asking.asks])
    assert [one.cause for one in third.report.breaks] == ["older messages were summed up"]


def test_a_late_result_over_a_fold_is_told_as_it_is() -> None:
    """CM-156, OP-01: the entries that go out are compared, moved results included, so no cache is credited that is not
    served.
    """
    messages = [*turns(8), user("ask"), *called("a", LONG)[:1], user("meanwhile"), *turns(1)]
    first = folded(messages, 1_900)
    late = called("a", "the late result")[1]
    second = fit([*messages, late, user("now")], 1_900, state=first.state)
    sent = canon.text(second.request)
    assert second.report.breaks or sent.startswith(canon.text(first.request)[:-2])


def test_a_refused_fit_and_a_preview_leave_no_trace() -> None:
    """CM-117, CM-127, CM-160, INV-20: the state is a value; what is refused gives none."""
    first = folded([*turns(8), user("now")], 1_600)
    kept = first.state.to_dict()
    with pytest.raises(transom.OverBudget):
        fit([*turns(8), user("now"), says("a"), user("x " * 9_000)], 1_600, state=first.state)
    assert first.state.to_dict() == kept


def test_summaries_are_one_round_a_fit() -> None:
    """Planner section 4: a second pass asks only for what is still missing, so no loop of compactions can come about."""
    messages = [*turns(12), user("now")]
    first = fit(messages, 2_000)
    assert len(first.asks) > 2
    second = fit(messages, 2_000, ready=[transom.fulfil(first.asks[0], "one")])
    assert first.asks[0].key not in {ask.key for ask in second.asks}
    third = fit(messages, 2_000, state=second.state, ready=[transom.fulfil(ask, "more") for ask in second.asks])
    assert third.asks == ()


def test_a_summary_that_is_not_needed_yet_is_kept() -> None:
    """It waits in the state, is not asked for again, and takes its place when the window is full."""
    messages = [*turns(8), user("now")]
    whole = transom.price({"messages": messages}, api="anthropic", card=FLAT).tokens
    asks = fit(messages, int(whole / 0.9)).asks
    calm = fit(messages, whole * 2, ready=[transom.fulfil(ask, "kept") for ask in asks])
    assert calm.request["messages"] is messages
    assert len(calm.state.ready) == len(asks)
    later = fit(messages, int(whole / 0.9), state=transom.State.from_dict(calm.state.to_dict()))
    assert "kept" in canon.text(later.request)


@pytest.mark.parametrize("preset", [Policy.folding, Policy.compacting])
@pytest.mark.parametrize("loop", [False, True])
def test_a_summary_that_comes_after_its_messages_were_left_out_stands_for_them(preset: Any, loop: bool) -> None:
    """With the state of the fit that asked for it, in which they are gone: what was said is in the request again, once, as one
    break that is named; then the prefix stands.
    """
    policy = preset(strict=True, chunk_tokens=200, recent_tokens=300, summary_tokens=60)
    messages = turns(12)
    if loop:
        messages = [user("the task"), *(one for n in range(14) for one in called(f"c{n}", f"step {n} {LONG}"))]
    messages.append(user("now"))
    first = fit(messages, 1_600, policy)
    assert "for want of a summary" in first.report.notes[-1]
    ready = [transom.fulfil(ask, f"summary of {ask.first}.") for ask in first.asks]
    second = fit(messages, 1_600, policy, state=transom.State.from_dict(first.state.to_dict()), ready=ready)
    sent = canon.text(second.request)
    assert "summary of 0." in sent or (loop and "summary of 1." in sent)
    assert "is not used" not in " ".join(second.report.notes)
    assert [one.cause for one in second.report.breaks] == ["older messages were summed up"]
    assert second.request["messages"][-1] == messages[-1]
    assert price(second) == second.report.after.tokens
    saved = sum(one.tokens_before - one.tokens_after for one in second.report.decisions)
    assert second.report.before.tokens - saved == second.report.after.tokens
    again = fit(messages, 1_600, policy, state=second.state, ready=ready)
    assert (again.request, again.report.breaks, again.state.asked) == (second.request, (), ())


def test_a_summary_that_never_comes_is_told_of_in_every_report() -> None:
    """Of what was left out for want of it nothing goes out, so whoever reads a later report alone has to know."""
    messages = [*turns(12), user("now")]
    first = fit(messages, 1_600)
    lost = [ask for ask in first.asks if ask.first < first.state.anchor]
    assert lost
    grown = [*messages, says("yes"), user("and?")]
    second = fit(grown, 1_600, state=first.state)
    told = f"messages {lost[0].first} to {lost[-1].last}"
    assert [note for note in second.report.notes if "not come" in note and told in note]
    ready = [transom.fulfil(ask, "in short") for ask in first.asks]
    third = fit(grown, 1_600, state=second.state, ready=ready)
    assert not [note for note in third.report.notes if "not come" in note]


def test_summaries_that_come_late_take_in_those_before_them_for_ever() -> None:
    """Under `compacting`, round for round, at the highest level, too: each takes in the one before it, whose messages and it were
    asked for together.
    """
    policy = Policy.compacting(strict=True, chunk_tokens=200, recent_tokens=300, summary_tokens=60)
    messages: list[Json] = []
    state: transom.State | None = None
    for number in range(5):
        messages += [*turns(9), user(f"now {number}")]
        asking = fit(messages, 1_600, policy, state=state)
        ready = [transom.fulfil(ask, f"SUMMARY-{number}") for ask in asking.asks]
        made = fit(messages, 1_600, policy, state=asking.state, ready=ready)
        assert [fold.text for fold in made.state.folds] == [f"SUMMARY-{number}"]
        messages.append(says("yes"))
        state = made.state


def test_a_summary_that_comes_late_waits_for_room() -> None:
    """It adds to what goes out, so between `trigger` and the budget it waits, and is not asked for again; where the window moves
    in any case it goes in with it.
    """
    messages = [*turns(12), user("now")]
    first = fit(messages, 1_600)
    ready = [transom.fulfil(ask, "w " * 60) for ask in first.asks[:2]]
    full = [*messages, says(f"so {LONG * 4}"), user("and?")]
    waits = fit(full, 1_600, state=first.state, ready=ready)
    assert "w w" not in canon.text(waits.request)
    assert {fold.key for fold in waits.state.ready} == {ask.key for ask in first.asks[:2]}
    moved = fit([*full, says(f"so {LONG * 2}"), user("yet?")], 1_600, state=waits.state)
    assert "w w" in canon.text(moved.request)


def test_a_summary_that_comes_late_goes_in_as_the_window_moves() -> None:
    """Where nothing is summed up the window moves above `trigger` already; the summary goes in then, not one request later into
    the room that the move made, which would be a second break.
    """
    policy = Policy.compacting(strict=True, chunk_tokens=200, recent_tokens=300, summary_tokens=60)
    messages = [*turns(12), user("now")]
    first = fit(messages, 1_600, policy)
    ready = [transom.fulfil(ask, f"summary of {ask.first}.") for ask in first.asks]
    later = policy.having(chunk_tokens=0)
    grown = [*messages, says("so"), *turns(5), user("and?")]
    second = fit(grown, 1_600, later, state=first.state)
    assert second.state.anchor > ready[0].last
    full = [*grown, *(message for _ in range(4) for message in (says("so"), user(LONG))), says("so"), user("yes?")]
    made = fit(full, 1_600, later, state=second.state, ready=ready)
    assert [one.cause for one in made.report.breaks] == ["the window was moved, since it no longer fitted"]
    assert "summary of" in canon.text(made.request)
    again = fit(full, 1_600, later, state=made.state)
    assert (again.request, again.report.breaks) == (made.request, ())


def test_a_summary_that_was_taken_however_long_stands_in_the_next_request() -> None:
    """At a compaction, with nothing left to ask for: it is over `trigger` and within the budget, and nothing moves."""
    policy = Policy.compacting(strict=True, chunk_tokens=60, recent_tokens=200)
    messages = [*turns(8), user("now")]
    for compacting in (False, True):
        made = folded(messages, 2_200, policy, text="w " * 2_700, compacting=compacting)
        assert made.report.after.tokens > 0.8 * 2_200
        again = fit(messages, 2_200, policy, state=made.state, compacting=compacting)
        assert (again.request, again.report.breaks) == (made.request, ())


def test_old_summaries_go_when_even_they_are_too_much() -> None:
    """A smaller budget, such as another model's: the oldest go first, what they stood for stays out, and the request is made."""
    messages = [*turns(12), user("now")]
    first = folded(messages, 2_000, text="s " * 100)
    assert len(first.state.folds) > 2
    small = fit(messages, 200, state=first.state)
    assert len(small.state.folds) < len(first.state.folds)
    assert small.state.anchor > first.state.folds[0].last
    assert canon.text(small.request).count("question 0") == 0
    again = fit(messages, 2_000, state=small.state)
    assert "question 0" not in canon.text(again.request)


def test_inside_a_turn_old_summaries_go_too_and_what_they_stood_for_stays_out() -> None:
    """The request stays, its summaries do not."""
    messages = [user("the task")]
    for n in range(14):
        messages += called(f"c{n}", f"step {n} {LONG}")
    first = folded(messages, 2_000, text="s " * 60)
    assert len(first.state.folds) > 2
    small = fit(messages, 330, state=first.state)
    assert small.request["messages"][0]["content"][0] == words("the task")
    assert len(small.state.folds) < len(first.state.folds)
    grown = fit([*messages, says("done"), user("next")], 2_000, state=small.state)
    assert "step 0" not in canon.text(grown.request)


def test_rounds_of_compaction_leave_one_summary() -> None:
    """`summary-nesting`: each takes in the one before it, and its prompt does not hold older turns again."""
    policy = Policy.compacting(strict=True, chunk_tokens=60, recent_tokens=200)
    messages: list[Json] = []
    state: transom.State | None = None
    text, prompts = "", list[str]()
    for number in range(4):
        messages += [*turns(4), user(f"question of round {number}?")]
        messages[-3]["content"] = f"told in round {number} {LONG}"
        first = fit(messages, 1_000, policy, state=state)
        prompts.append(canon.text([ask.prompt for ask in first.asks]))
        ready = [transom.fulfil(ask, f"SUMMARY-{number}") for ask in first.asks]
        made = fit(messages, 1_000, policy, state=state, ready=ready)
        messages.append(says("yes"))
        state, text = made.state, canon.text(made.request)
    assert [f"SUMMARY-{number}" in text for number in range(4)] == [False, False, False, True]
    assert "told in round 0" not in prompts[2]
    assert "SUMMARY-1" in prompts[2]


@pytest.mark.parametrize(("setting", "expected"), [("count", [2, 3]), ("free", [0, 2, 3])])
def test_a_new_picture_is_judged_with_what_is_summed_up(setting: str, expected: list[int]) -> None:
    """CM-82, CM-155, OP-08: with `count` a folded picture holds the slot that an older one loses when a new one comes."""
    head = [user("look", picture(0)), says("yes")]
    middle = [user(f"then {LONG}"), *called("a", LONG, picture(1)), says(LONG), *turns(6)]
    policy = FOLDING.having(max_images=4 if setting == "free" else 3, image_depth=0, keep_head=1_700, chunk_tokens=600)
    policy = policy.having(folded=setting, max_images=3)
    first = folded([*head, *middle, user("now", picture(2))], 7_000, policy)
    assert first.state.folds
    assert live(first) == [0, 2]
    later = fit([*head, *middle, user("now", picture(2)), says("ok"), user("and", picture(3))], 9_000, policy, state=first.state)
    assert live(later) == expected


def test_depth_counts_what_is_summed_up_in_later_requests() -> None:
    """CM-27: a picture in the head is as far from the newest message as if nothing had been summed up."""
    messages = [user("look", picture(0)), says("yes"), *turns(8), user("now")]
    policy = FOLDING.having(max_images=0, image_depth=4_700, keep_head=1_700)
    first = folded(messages, 4_000, policy)
    assert first.state.folds
    assert live(first) == [0]
    later = fit([*messages, says("a"), user(LONG)], 9_000, policy, state=first.state)
    assert live(later) == []


def test_summaries_stand_when_the_window_moves_and_after_it() -> None:
    """Planner section 4: a jump leaves groups out, not summaries; and the next request has them still."""
    messages = [*turns(8), user("now")]
    first = folded(messages, 1_600)
    grown = [*messages, says("a"), *turns(6), user("b")]
    moved = fit(grown, 1_600, state=first.state)
    assert any(one.verb == "drop" for one in moved.report.decisions)
    assert canon.text(moved.request).count("what happened") == len(first.state.folds)
    after = fit([*grown, says("c"), user("d")], 1_600, state=moved.state)
    assert canon.text(after.request).count("what happened") == len(first.state.folds)


def test_the_head_is_where_the_conversation_begins() -> None:
    """Design section 6: groups behind something that was left out are no head, however small they are."""
    messages = [user("first"), says("yes"), user(LONG * 5), *(says(f"step {n} " + "w " * 20) for n in range(40)), user("now")]
    policy = Policy.sliding(keep_head=400, strict=True)
    first = fit(messages, 900, policy)
    later = fit([*messages, says("a"), *(user(f"more {n} " + "w " * 20) for n in range(40))], 900, policy, state=first.state)
    assert later.report.after.tokens <= 900
    assert messages[0] in later.request["messages"]
    assert canon.text(later.request).count("step ") == 0
