"""Folding as one fit shows it: what is asked for, how a summary goes out, and what pictures have to do with it.

What later fits make of it stands in test_later.py.
"""

from __future__ import annotations

from types import ModuleType

import pytest

import transom
from folds.talks import FOLDING, LONG, Json, called, data, fit, folded, live, picture, price, says, turns, user
from transom import FLAT, Ask, Policy, PriceList, canon
from transom.folds.render import INSIDE, QUESTION
from transom.planner.judge import UNJUDGED, Verdicts
from transom.summaries import digest


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
