"""Selection: what stays when a window no longer fits, and that nothing moves while it does."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from transom.parts import Group
from transom.plan import Budget, Fold, Selection, Size
from transom.planner.draw import _behind
from transom.planner.select import Keeping, Seam, Seams, guarded, select


def group(start: int, kind: str = "a") -> Group:
    """`u` is a request, `a` an exchange or answer, `m` an exchange whose results stand beside the user's own words."""
    return Group(start=start, entries=(), request=kind in "um", opens=kind == "u")


def chosen(
    kinds: str,
    sizes: list[int],
    budget: float,
    *,
    fixed: int = 0,
    refit: float = 0.5,
    trigger: float = 1,
    keeping: Keeping | None = None,
    anchor: int = 0,
    front: frozenset[int] = frozenset(),
    messages: float = math.inf,
) -> Selection:
    groups = [group(i, kind) for i, kind in enumerate(kinds)]
    return select(
        groups,
        {i: Size(size, size, 1) for i, size in enumerate(sizes)},
        fixed=Size(fixed, 0, 0),
        budget=Budget(tokens=budget, messages=messages),
        trigger=trigger,
        refit=refit,
        keeping=keeping or Keeping(),
        anchor=anchor,
        front=front,
        note=Size(3, 3, 1),
    )


def starts(selection: Selection) -> list[int]:
    return [g.start for g in selection.kept]


def test_nothing_moves_while_everything_fits() -> None:
    """CM-124, CM-131: all at or after the anchor goes out, and the anchor stays; equality fits."""
    selection = chosen("uauaua", [10] * 6, 60)
    assert (starts(selection), selection.anchor, selection.moved) == ([0, 1, 2, 3, 4, 5], 0, "")


def test_the_window_jumps_once_to_its_share_of_the_budget() -> None:
    """CM-126: the newest groups that fit `refit` of the budget stay."""
    selection = chosen("uauaua", [10] * 6, 59, refit=0.5)
    assert (starts(selection), selection.anchor, selection.moved) == ([4, 5], 4, "refit")


def test_after_a_jump_the_same_window_stands_until_it_is_full_again() -> None:
    """CM-126: between jumps the output is the same prefix with appends."""
    first = chosen("uauaua", [10] * 6, 59)
    grown = chosen("uauauaua", [10] * 8, 59, anchor=first.anchor, front=first.front)
    assert (starts(grown), grown.moved) == ([4, 5, 6, 7], "")


def test_inside_a_long_turn_its_request_stands_in_front() -> None:
    """AN-46, planner section 1: the task stays, and the window opens legally."""
    selection = chosen("uaaaaaaa", [10] * 8, 79)
    assert (starts(selection), selection.anchor, selection.front) == ([0, 6, 7], 6, frozenset({0}))


def test_a_window_that_starts_inside_an_older_turn_keeps_that_turns_request_ahead() -> None:
    """What fits of an older turn stays behind its own request."""
    selection = chosen("uauaaaaaua", [10, 10, 5, 10, 10, 10, 10, 10, 10, 10], 94, refit=0.6)
    assert starts(selection) == [2, 5, 6, 7, 8, 9]


def test_where_an_older_turns_request_does_not_fit_its_groups_stand_behind_a_note() -> None:
    """Nothing that fits is given up for the want of an opening."""
    selection = chosen("uauaaaaaua", [10, 10, 500, 10, 10, 10, 10, 10, 10, 10], 589, refit=0.1)
    assert starts(selection) == [5, 6, 7, 8, 9]
    assert Seams().of(selection.kept) == (Seam(5, "user"),)


def test_where_the_note_does_not_fit_either_the_oldest_group_gives_way() -> None:
    """The room is full to the last token: one group less, and the note fits."""
    selection = chosen("uauaaaaaua", [10, 10, 500, 10, 10, 10, 10, 10, 10, 10], 500, refit=0.1)
    assert starts(selection) == [6, 7, 8, 9]


def test_no_note_stands_before_a_whole_conversation() -> None:
    """What opens otherwise as it came is left alone."""
    assert not Seams().of(chosen("aua", [10] * 3, 100).kept)


def test_a_window_that_opens_with_a_summary_of_what_was_not_read_wants_a_note() -> None:
    """A log is read from where its newest summary begins; an older one that ends a turn may stand in front of that."""
    kept = chosen("aua", [10] * 3, 100).kept
    assert Seams(first=7).of(kept) == (Seam(kept[0].start, "user"),)
    assert Seams(first=kept[0].start).of(kept) == ()


def test_the_newest_request_and_the_newest_group_always_stay() -> None:
    """CM-127, AN-37, INV-15: even when they alone are over the budget; the caller refuses then."""
    selection = chosen("uaa", [100, 10, 100], 50)
    assert starts(selection) == [0, 2]


def test_the_users_newest_words_stay_also_beside_results() -> None:
    """A message with results and the user's own words is the newest request, and the request that opens stays too."""
    assert guarded([group(0, "u"), group(1, "a"), group(2, "m"), group(3, "a")], frozenset()) == {0, 2, 3}


def test_earlier_requests_stay_as_far_as_their_cap_goes_and_the_walk_stops_at_the_first_that_does_not_fit() -> None:
    """AN-38, AN-39: newest to oldest, one cap for all of them, stop and not skip."""
    keeping = Keeping(requests=4, requests_cap=25)
    selection = chosen("uuuuaaaa", [5, 30, 20, 10, 10, 10, 10, 10], 100, refit=0.6, keeping=keeping)
    assert starts(selection) == [2, 3, 5, 6, 7]
    assert selection.front == {2, 3}


def test_the_cap_counts_bytes_and_equality_is_inside() -> None:
    """AN-39: 4,096 bytes is within a cap of 4,096."""
    at = chosen("uuaaa", [40, 10, 30, 30, 30], 130, keeping=Keeping(requests=2, requests_cap=40), refit=0.7)
    below = chosen("uuaaa", [40, 10, 30, 30, 30], 130, keeping=Keeping(requests=2, requests_cap=39), refit=0.7)
    assert (0 in at.front, 0 in below.front) == (True, False)


def test_messages_are_a_budget_of_their_own() -> None:
    """AN-35, AN-43: groups newest first while they fit the message maximum."""
    assert starts(chosen("uauaua", [1] * 6, math.inf, messages=5, refit=1)) == [2, 3, 4, 5]


def test_without_a_request_the_rest_works_the_same() -> None:
    """AN-45: no anchor, only the newest groups."""
    assert starts(chosen("aaaa", [10] * 4, 39)) == [3]


def test_groups_are_chosen_whole_and_come_in_their_own_order() -> None:
    """AN-41, AN-42, AN-44."""
    selection = chosen("uaua", [10] * 4, 39, refit=0.8)
    assert starts(selection) == sorted(starts(selection))


def test_the_anchor_never_goes_back() -> None:
    """CM-126: what was left out stays out when the budget grows."""
    assert starts(chosen("uauaua", [10] * 6, 1_000, anchor=4, front=frozenset())) == [4, 5]


def test_what_stands_ahead_of_the_anchor_does_not_draw_it_back() -> None:
    """CM-126: between a request that stands ahead and the window others were left out; the walk ends at the anchor."""
    groups = [group(0, "u"), group(4, "u"), group(5), group(6)]
    sizes = {one.start: Size(10, 10, 1) for one in groups}
    selection = select(
        groups,
        sizes,
        fixed=Size(),
        budget=Budget(tokens=60),
        trigger=0.5,
        refit=1,
        keeping=Keeping(requests=2),
        anchor=4,
        front=frozenset({0}),
    )
    assert selection.anchor == 4


def test_a_start_behind_summaries_that_were_left_out() -> None:
    """What a summary stood for does not come back when the summary goes: what stands before it stands ahead then."""
    kept = (group(0, "u"), group(1), group(6))
    selection = Selection(kept=kept, anchor=1, front=frozenset({0}), moved="refit")
    fold = Fold(first=2, last=5, level=1, text="t", key="k", host=0, ends=False)
    behind = _behind(selection, [fold], frozenset())
    assert (behind.anchor, behind.front) == (6, frozenset({0, 1}))
    assert _behind(selection, [], frozenset({0})).front == frozenset()


def test_pins_stay_through_a_jump() -> None:
    """Design section 6."""
    assert starts(chosen("uauaua", [10] * 6, 59, keeping=Keeping(pinned=frozenset({1})))) == [1, 4, 5]


KINDS = st.text("uam", min_size=1, max_size=14)


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, list[int], int, float, int]:
    kinds = "u" + draw(KINDS)
    sizes = draw(st.lists(st.integers(1, 60), min_size=len(kinds), max_size=len(kinds)))
    return kinds, sizes, draw(st.integers(0, 20)), draw(st.sampled_from([0.2, 0.5, 1])), draw(st.integers(20, 500))


@given(windows())
def test_a_jump_ends_within_its_goal_or_with_only_what_must_stay(window: tuple[str, list[int], int, float, int]) -> None:
    """Planner: after a jump within the goal, or only guarded groups stand; it opens legally; a second plan changes nothing."""
    kinds, sizes, fixed, refit, budget = window
    selection = chosen(kinds, sizes, budget, fixed=fixed, refit=refit)
    kept = starts(selection)
    total = fixed + sum(sizes[s] for s in kept) + 3 * len(Seams().of(selection.kept))
    must = guarded([group(i, kind) for i, kind in enumerate(kinds)], frozenset())
    goal = Budget(tokens=budget).share(Size(fixed), refit)
    if fixed + sum(sizes) > budget:
        assert goal.admits(Size(total)) or set(kept) == must
    assert must <= set(kept)
    assert kinds[kept[0]] == "u" or Seams().of(selection.kept)
    again = chosen(kinds, sizes, budget, fixed=fixed, refit=refit, anchor=selection.anchor, front=selection.front)
    assert starts(again) == kept


@given(windows())
def test_no_older_group_is_left_out_that_would_have_fitted(window: tuple[str, list[int], int, float, int]) -> None:
    """After a jump the next older group does not fit the goal beside what was kept and the opening that it would need."""
    kinds, sizes, fixed, refit, budget = window
    selection = chosen(kinds, sizes, budget, fixed=fixed, refit=refit)
    if not selection.moved or selection.anchor == 0:
        return
    kept = set(starts(selection))
    older = selection.anchor - 1
    if older in kept:
        return
    opens = kinds[older] == "u" or any(kinds[start] == "u" for start in kept if start < older)
    total = fixed + sum(sizes[s] for s in kept | {older}) + (0 if opens else 3)
    assert not Budget(tokens=budget).share(Size(fixed), refit).admits(Size(total))
