"""Folding as a fit shows it: what stands, what is asked for, how a summary goes out, and what pictures have to do with it."""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import pytest

import transom
from conversations import encoded, png
from transom import FLAT, Ask, Policy, PriceList, canon
from transom.folds.render import INSIDE, QUESTION
from transom.planner.judge import UNJUDGED, Verdicts
from transom.summaries import digest

Json = dict[str, Any]
FOLDING = Policy.folding(strict=True, image_ratio=0, newest="limit", folded="count")
OFF: Json = {"max_images": 0, "max_image_bytes": 0, "image_depth": 0}


def data(number: int) -> str:
    return encoded(png(20 + number, 30))


def picture(number: int) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(number)}}


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def user(*content: Json | str) -> Json:
    return {"role": "user", "content": [words(one) if isinstance(one, str) else one for one in content]}


def says(text: str) -> Json:
    return {"role": "assistant", "content": text}


def called(name: str, *content: Json | str) -> list[Json]:
    result = {"type": "tool_result", "tool_use_id": name, "content": [words(c) if isinstance(c, str) else c for c in content]}
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "look", "input": {"n": 1}}]},
        {"role": "user", "content": [result]},
    ]


LONG = ("a long text of many words " * 20).strip()


def turns(count: int) -> list[Json]:
    return [message for n in range(count) for message in (user(f"question {n} {LONG}"), says(f"answer {n} {LONG}"))]


def fit(messages: list[Json], budget: int, policy: Policy = FOLDING, **more: Any) -> transom.Fit:
    request = {"messages": messages}
    before = copy.deepcopy(request)
    prices = more.pop("prices", PriceList(FLAT))
    made = transom.fit(request, api=more.pop("api", "anthropic"), prices=prices, policy=policy, budget=budget, **more)
    assert request == before
    return made


def folded(messages: list[Json], budget: int, policy: Policy = FOLDING, text: str = "what happened", **more: Any) -> transom.Fit:
    """One round of asks and the second pass."""
    first = fit(messages, budget, policy, **more)
    return fit(messages, budget, policy, ready=[transom.fulfil(ask, text) for ask in first.asks], **more)


def live(made: transom.Fit) -> list[int]:
    text = canon.text(made.request)
    return [number for number in range(30) if data(number) in text]


def price(made: transom.Fit, prices: PriceList | None = None) -> int:
    return transom.price(made.request, api="anthropic", prices=prices or PriceList(FLAT)).tokens


def test_the_presets_settings() -> None:
    """CM-12, CM-135, CM-175, CM-176: six pictures, 20 MiB, 30,000 tokens; budget and reserve are the card's, and nothing is
    let over.
    """
    policy = Policy.folding()
    assert (policy.max_images, policy.max_image_bytes, policy.image_depth) == (6, 20 * 1024**2, 30_000)
    assert (policy.trigger, policy.refit, policy.grace, policy.budget, policy.reserve) == (0.8, 0.5, 0, None, None)
    over = 4_000
    with pytest.raises(transom.OverBudget):
        fit([user("x " * 6_000)], over)
    assert fit([user("x " * 6_000)], over, FOLDING.having(grace=0.5)).report.budget.tokens == 6_000


def test_nothing_is_asked_or_moved_below_the_trigger() -> None:
    """Between 80 % and the whole budget summaries are asked for and everything still goes out; only above it groups go."""
    messages = turns(8)
    whole = transom.price({"messages": messages}, api="anthropic", card=FLAT).tokens
    calm = fit(messages, whole * 2)
    assert (calm.asks, calm.request["messages"] is messages) == ((), True)
    assert fit(messages, int(whole / 0.65)).asks == ()
    asking = fit(messages, int(whole / 0.9))
    assert asking.asks
    assert asking.request["messages"] is messages
    tight = fit(messages, int(whole * 0.7))
    assert len(tight.request["messages"]) < len(messages)
    assert "for want of a summary" in tight.report.notes[-1]


def test_a_fold_of_whole_turns_goes_out_as_a_pair() -> None:
    """CM-124 reversed, planner section 4: user asks, assistant answers, and the newest turns follow as they are."""
    messages = [*turns(8), user("now")]
    made = folded(messages, 1_600)
    first, second = made.request["messages"][:2]
    assert (first["role"], second["role"]) == ("user", "assistant")
    assert (first["content"][0]["text"], second["content"][0]["text"]) == (QUESTION, "what happened")
    assert made.request["messages"][-1] is messages[-1]
    assert [one.verb for one in made.report.decisions] == ["fold"] * len(made.state.folds)


def test_a_fold_inside_a_turn_goes_to_the_users_message() -> None:
    """A long loop of calls: two turns of the assistant would be merged, so the summary stands behind the request."""
    messages = [user("the task")]
    for n in range(12):
        messages += called(f"c{n}", f"step {n} {LONG}")
    made = folded(messages, 1_600)
    opening = made.request["messages"][0]["content"]
    assert opening[0] is messages[0]["content"][0]
    assert opening[1]["text"] == f"{INSIDE}\nwhat happened"
    assert made.request["messages"][1]["role"] == "assistant"
    assert made.request["messages"][-1] is messages[-1]


def test_a_fold_that_a_turn_ends_with_is_the_assistants() -> None:
    """Where steps in front of it must stay, the rest of the turn is the assistant's own summary."""
    messages = [user("the task"), *called("keep", "kept")]
    for n in range(6):
        messages += called(f"c{n}", f"step {n} {LONG}")
    messages += [says("done"), *turns(2), user("now")]
    made = folded(messages, 1_300, FOLDING.having(pins=("messages[1]",), merge=1))
    roles = [message["role"] for message in made.request["messages"][:4]]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert made.request["messages"][3]["content"][0]["text"] == f"{INSIDE}\nwhat happened"


@pytest.mark.parametrize("api", ["openai-chat", "blocks"])
def test_a_fold_goes_out_in_each_form(api: str, oracle: ModuleType) -> None:
    """The makers of the form; legal by the provider's own rules."""
    messages: list[Json] = [{"role": "system", "content": "rules"}]
    for n in range(8):
        messages += [{"role": "user", "content": f"question {n} {LONG}"}, says(f"answer {n} {LONG}")]
    messages.append({"role": "user", "content": "the task"})
    made = folded(messages, 1_900, api=api)
    assert made.state.folds
    assert oracle.refused(made.request, "openai-chat") == []
    assert made.request["messages"][0 if api == "openai-chat" else 1] == messages[0]


def test_a_pinned_place_and_the_head_are_never_summed_up() -> None:
    """CM-177: pins protect what they name; the head stays raw however much is folded behind it."""
    messages = [*turns(8), user("now")]
    made = folded(messages, 2_200, FOLDING.having(pins=("messages[4]",), keep_head=300))
    sent = made.request["messages"]
    assert messages[4] in sent
    assert sent[0] is messages[0]
    assert made.state.folds
    assert not any(fold.covers(4) or fold.covers(0) for fold in made.state.folds)


def test_the_newest_request_and_the_newest_group_are_never_summed_up() -> None:
    """CM-170, INV-15: whatever a summary says it stands for."""
    messages = [*turns(4), user("the question"), *called("a", LONG)]
    ask = Ask(first=0, last=10, level=1, prompt=(), max_tokens=10, key="", api="anthropic")
    made = fit(messages, 900, ready=[transom.fulfil(ask, "all of it")])
    assert "the question" in canon.text(made.request)
    assert "is not used" in " ".join(made.report.notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "it is empty"), (LONG * 40, "no smaller"), (f"data:image/png;base64,{data(1)}", "carries a picture"), (None, "empty")],
)
def test_a_summary_that_cannot_be_used_does_no_harm(text: str, reason: str) -> None:
    """INV-17: the request goes out as without it, and the report says why."""
    messages = [*turns(8), user("now")]
    without = fit(messages, 1_600)
    made = fit(messages, 1_600, ready=[transom.fulfil(ask, text) for ask in without.asks])
    assert made.request == without.request
    assert all(reason in note for note in made.report.notes if "is not used" in note)
    assert sum("is not used" in note for note in made.report.notes) == len(without.asks)
    assert [ask.key for ask in made.asks] == [ask.key for ask in without.asks]


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


def test_a_folded_message_is_judged_as_it_was_sent() -> None:
    """CM-84: a picture in a result that pruning replaced takes no slot, folded or not."""
    messages = [
        user("look", picture(0)),
        says("yes"),
        user(LONG),
        *called("a", picture(1)),
        *called("b", LONG),
        *turns(6),
        user("now"),
    ]
    policy = FOLDING.having(max_images=1, image_depth=0, keep_head=1_700, chunk_tokens=400, results_per_tool=1)
    made = folded(messages, 5_000, policy)
    assert made.state.folds
    assert live(made) == [0]


def test_depth_does_not_jump_when_messages_are_summed_up() -> None:
    """CM-27: a fold is as deep as what it stands for."""
    messages = [user("look", picture(0)), says("yes"), *turns(8), user("now")]
    policy = FOLDING.having(max_images=0, image_depth=2_500, keep_head=1_700)
    made = folded(messages, 3_000, policy)
    assert made.state.folds
    assert live(made) == []
    assert sum(row.tokens for fold in made.state.folds for row in fold.rows) > 1_000


def test_planned_is_sent_whatever_is_folded() -> None:
    """CM-80, CM-83, CM-85, CM-91, CM-169, CM-171, CM-178, CM-179, INV-02: one accounting for all, exact to the token."""
    for multiplier in (0.7, 1, 1.6):
        prices = PriceList(FLAT, multiplier=multiplier)
        messages = [user("look", picture(0)), *called("a", picture(1), LONG), says("yes"), *turns(8), user("now", picture(2))]
        made = folded(messages, 5_500, FOLDING.having(max_images=2), prices=prices)
        assert made.state.folds
        assert price(made, prices) == made.report.after.tokens
        saved = sum(one.tokens_before - one.tokens_after for one in made.report.decisions)
        assert made.report.before.tokens - saved == made.report.after.tokens


def test_a_picture_without_a_verdict_is_a_placeholder() -> None:
    """CM-87, CM-88, CM-182, INV-05: verdicts are looked up, never counted again, and what has none does not go out."""
    verdicts = Verdicts(why={(0, ("content", 0)): ""}, mark=-1, stubs=frozenset())
    assert verdicts.live((0, ("content", 0)))
    assert not verdicts.live((1, ("content", 0)))
    assert UNJUDGED


def test_one_picture_twice_has_two_verdicts() -> None:
    """CM-89, CM-90, CM-92: the place decides and not the payload; the object that was judged is the one that is written."""
    messages = [user("a", picture(0)), says("x"), user("b", picture(0))]
    made = fit(messages, 9_000, FOLDING.having(max_images=1))
    assert [part["type"] for part in made.request["messages"][0]["content"]] == ["text", "text"]
    assert made.request["messages"][2] is messages[2]


def test_a_summary_obeys_the_cap() -> None:
    """CM-119: like any message; its end is marked, and what is planned is what is sent."""
    made = folded([*turns(8), user("now")], 1_600, FOLDING.having(max_message_tokens=60), text="w " * 250)
    assert made.state.folds
    assert made.request["messages"][1]["content"][0]["text"].endswith("characters]")
    assert price(made) == made.report.after.tokens


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


def test_a_fixed_part_that_is_too_large_raises_before_any_summary_is_wanted() -> None:
    """`compaction-loop`: compaction can only shrink messages; system and tools are named, each time, and nothing is asked
    for.
    """
    request = {"system": "rule " * 3_000, "messages": turns(8)}
    for _ in range(2):
        with pytest.raises(transom.OverBudget, match="system and tools"):
            transom.fit(request, api="anthropic", card=FLAT, policy=FOLDING, budget=2_000)


def test_bodies_are_never_parted_into_shards() -> None:
    """CM-116, CM-161, CM-162, CM-163, CM-164, CM-165, CM-181, OP-16: one message is one message, its picture once and its
    text whole; an oversized one is a chunk of its own, with its prompt in pieces.
    """
    messages = [user("look", picture(0), LONG * 30), says("yes"), *turns(4), user("now")]
    made = fit(messages, 6_000)
    assert sum(ask.first == 0 and ask.last == 1 for ask in made.asks) == 1
    assert canon.text(made.asks[0].prompt).count(data(0)) == 1


def test_what_does_not_fit_is_left_out_newest_last_and_never_empties_the_window() -> None:
    """CM-172, CM-173: the newest run that fits, in order; the newest message alone is refused, not left out."""
    messages = [*turns(8), user("now")]
    made = fit(messages, 900, Policy.sliding(strict=True))
    assert made.request["messages"] == messages[-len(made.request["messages"]) :]
    with pytest.raises(transom.OverBudget):
        fit([user(LONG * 20)], 100, Policy.sliding())


def test_a_state_with_folds_reads_back_and_a_broken_one_is_refused() -> None:
    """Folds are part of the state's JSON; two for one message, or none that can be, are no state."""
    state = folded([*turns(8), user("now")], 1_600).state
    plain = state.to_dict()
    assert transom.State.from_dict(plain) == state
    wrong: tuple[Json, ...] = (
        {"folds": plain["folds"] * 2},
        {"folds": [{}]},
        {"ready": [1]},
        {"folds": [{**plain["folds"][0], "last": -5}]},
    )
    for broken in wrong:
        with pytest.raises(transom.BadSetting):
            transom.State.from_dict({**plain, **broken})
    old = {name: value for name, value in plain.items() if name not in ("folds", "ready")}
    assert transom.State.from_dict(old).folds == ()


@pytest.mark.parametrize("text", ["digest", "short"])
def test_the_digest_is_enough_to_go_on_with(text: str) -> None:
    """With no model at all, the request still fits and still tells what was asked."""
    messages = [*turns(8), user("now")]
    first = fit(messages, 1_600)
    made = fit(messages, 1_600, ready=[transom.fulfil(ask, digest(ask) if text == "digest" else "brief") for ask in first.asks])
    assert made.state.folds
    assert text != "digest" or "question 0" in canon.text(made.request)


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


def test_no_more_summaries_go_in_than_are_needed() -> None:
    """The oldest first, until the window is down to its refit; the others wait, and the recent part stays as it was."""
    messages = [*turns(12), user("now")]
    first = fit(messages, 4_200, FOLDING.having(recent_tokens=100, chunk_tokens=300))
    assert len(first.asks) > 6
    ready = [transom.fulfil(ask, "brief") for ask in first.asks]
    made = fit(messages, 4_200, FOLDING.having(recent_tokens=100, chunk_tokens=300), ready=ready)
    assert made.state.folds
    assert made.state.ready
    assert len(made.state.folds) + len(made.state.ready) == len(ready)


def test_a_summary_is_kept_where_even_the_newest_request_alone_must_be_cut() -> None:
    """It could not help here, and may in the next fit."""
    messages = turns(8)
    ready = [transom.fulfil(ask, "what happened") for ask in fit(messages, 2_000).asks]
    policy = FOLDING.having(shed=("text",))
    made = fit([*messages, user("y " * 4_000)], 2_000, policy, ready=ready)
    assert ready
    assert made.state.ready == tuple(ready)
    assert made.state.folds == ()
    assert "bytes in all" in canon.text(made.request)
