"""Verdicts on pictures: each rule of the live-image policy, and the properties that hold for every conversation."""

from __future__ import annotations

import math
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.planner.judge import EARLIER, Limit, Picture, Row, Verdicts, judge

OFF = (0, -1, math.nan)


def row(seq: int, *inline: int, tokens: int = 0, wide: bool = False, newest: bool = False, pinned: bool = False) -> Row:
    pictures = tuple(
        Picture((seq, ("content", n)), size, wide=wide, newest=newest, pinned=pinned) for n, size in enumerate(inline)
    )
    return Row(seq, tokens, pictures)


def newest_first(*rows: Row) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda one: -one.seq))


def drawn(verdicts: Verdicts) -> str:
    """Oldest first: I is live, a dot a placeholder."""
    return "".join("." if why else "I" for _, why in sorted(verdicts.why.items()))


def grow(limit: Limit, steps: int, *, inline: int = 100, ratio: float = 0.5) -> list[str]:
    """One message with one picture after another, with the mark and the stubs carried."""
    mark, stubs, seen = -1, frozenset[tuple[int, tuple[str | int, ...]]](), []
    for count in range(1, steps + 1):
        verdicts = judge(newest_first(*(row(i, inline) for i in range(count))), limit, ratio=ratio, mark=mark, stubs=stubs)
        mark, stubs = verdicts.mark, verdicts.stubs
        seen.append(drawn(verdicts))
    return seen


@pytest.mark.parametrize("off", OFF)
def test_a_limit_that_is_not_positive_is_off_and_the_others_still_apply(off: float) -> None:
    """CM-13, CM-14, CM-16: 0, -1 and NaN switch one dimension off, in the mark's scan and in the verdicts alike."""
    rows = newest_first(*(row(i, 100) for i in range(4)))
    assert drawn(judge(rows, Limit(count=off, bytes=250, depth=off), ratio=0.5)) == "...I"
    assert drawn(judge(rows, Limit(count=2, bytes=off, depth=off))) == "..II"


@pytest.mark.parametrize("off", OFF)
def test_when_no_limit_binds_every_picture_goes_out(off: float) -> None:
    """CM-15: none positive means every picture goes out, whatever way they are off."""
    assert drawn(judge(newest_first(row(0, 9**9), row(1, 9**9)), Limit(count=off, bytes=off, depth=off), ratio=0.5)) == "II"


def test_the_newest_pictures_take_the_slots() -> None:
    """CM-17, CM-18: newest first; a picture goes when the number kept is already at the limit."""
    assert drawn(judge(newest_first(row(0, 1), row(1, 1), row(2, 1)), Limit(count=2))) == ".II"


def test_bytes_that_equal_the_limit_are_kept() -> None:
    """CM-19: over the limit means more than it."""
    rows = newest_first(row(0, 100), row(1, 100))
    assert drawn(judge(rows, Limit(bytes=200))) == "II"
    assert drawn(judge(rows, Limit(bytes=199))) == ".I"


def test_the_byte_rule_skips_and_does_not_stop() -> None:
    """CM-20: an older, smaller picture stays after a newer, larger one went."""
    assert drawn(judge(newest_first(row(0, 50), row(1, 500), row(2, 100)), Limit(bytes=200))) == "I.I"


def test_inside_a_message_the_first_picture_takes_the_last_slot() -> None:
    """CM-21: document order inside a message."""
    assert drawn(judge((row(0, 1, 1, 1),), Limit(count=1))) == "I.."


@pytest.mark.parametrize(("tokens", "expected"), [(100, "II"), (101, ".I")])
def test_depth_adds_a_message_before_it_compares_and_equality_is_inside(tokens: int, expected: str) -> None:
    """CM-28, CM-29: the message that crosses the depth is beyond it, and so is all that is older."""
    assert drawn(judge(newest_first(row(0, 1, tokens=tokens), row(1, 1, tokens=100)), Limit(depth=200))) == expected


def test_depth_uses_one_rule_in_the_scan_and_in_the_verdicts() -> None:
    """CM-30, CM-31, CM-40: the crossing message is over the depth at once, not only when a newer message arrives."""
    rows = newest_first(row(0, 1, tokens=150), row(1, 1, tokens=100))
    verdicts = judge(rows, Limit(depth=200), ratio=0.5)
    assert (drawn(verdicts), verdicts.mark) == (".I", 0)


def test_the_newest_message_alone_can_be_beyond_the_depth() -> None:
    """CM-32: it costs more than the limit, so its own pictures go; with `newest="keep"` they are exempt."""
    assert drawn(judge((row(0, 1, tokens=30_001),), Limit(depth=30_000))) == "."
    assert drawn(judge((row(0, 1, tokens=30_001, newest=True),), Limit(depth=30_000))) == "I"


def test_the_newest_turns_pictures_are_exempt_from_count_but_not_from_bytes() -> None:
    """Design section 6: `newest="keep"` keeps them over count and depth, never over bytes or what the provider takes."""
    rows = (row(0, 10, 10, 10, newest=True),)
    assert drawn(judge(rows, Limit(count=1))) == "III"
    assert drawn(judge(rows, Limit(bytes=20))) == "II."
    assert drawn(judge(rows, Limit(most=2))) == "II."


@pytest.mark.parametrize("ratio", [0, 1, -0.5, 1.5, math.nan])
def test_hysteresis_is_off_unless_the_ratio_lies_strictly_between_0_and_1(ratio: float) -> None:
    """CM-33, CM-46: without it one older picture changes for each new one."""
    assert grow(Limit(count=4), 6, ratio=ratio)[3:] == ["IIII", ".IIII", "..IIII"]


def test_the_count_sequence_with_hysteresis() -> None:
    """CM-34, CM-35, CM-44: limit 4, ratio 0.5."""
    assert grow(Limit(count=4), 8)[3:] == ["IIII", "...II", "...III", "...IIII", "......II"]


def test_the_byte_sequence_with_hysteresis() -> None:
    """CM-45: limit 400, ratio 0.5, 100 each."""
    assert grow(Limit(bytes=400), 6)[3:] == ["IIII", "...II", "...III"]


def test_the_mark_stops_at_the_first_misfit_though_the_byte_rule_skips() -> None:
    """CM-37: the message of the first misfit and all that is older become placeholders."""
    verdicts = judge(newest_first(row(0, 10), row(1, 500), row(2, 100)), Limit(bytes=200), ratio=0.5)
    assert (drawn(verdicts), verdicts.mark) == ("..I", 1)


def test_trimmed_limits_are_floors_and_never_turn_a_limit_off() -> None:
    """CM-38, and CM-43 replaced: a limit that floors to 0 stays a limit of 1."""
    assert Limit(count=5, bytes=101, depth=3, most=100, many=20).trimmed(0.5) == Limit(
        count=2, bytes=50, depth=1, most=50, many=10
    )
    assert Limit(count=1, bytes=1, depth=1).trimmed(0.5) == Limit(count=1, bytes=1, depth=1)
    assert Limit().trimmed(0.5) == Limit()


def test_the_mark_only_advances() -> None:
    """CM-39: a scan that stops at or before the mark changes nothing."""
    rows = newest_first(*(row(i, 1) for i in range(6)))
    assert judge(rows, Limit(count=4), ratio=0.5, mark=4).mark == 4


def test_what_was_a_placeholder_never_comes_back() -> None:
    """CM-26: not when a limit is free again, neither behind the mark nor among the stubs."""
    rows = newest_first(row(0, 1), row(1, 1), row(2, 1))
    verdicts = judge(rows, Limit(count=9), mark=0, stubs=frozenset({(1, ("content", 0))}))
    assert drawn(verdicts) == "..I"
    assert verdicts.why[0, ("content", 0)] == EARLIER
    assert verdicts.stubs == {(1, ("content", 0))}


def test_depth_is_settled_for_what_stands_ahead_of_the_window() -> None:
    """CM-27: a request kept ahead of the anchor is aged by count and bytes only."""
    rows = newest_first(row(0, 1, tokens=10), row(5, 1, tokens=300))
    assert drawn(judge(rows, Limit(depth=200), anchor=1)) == "I."
    assert drawn(judge(rows, Limit(depth=200), anchor=0)) == ".."


def test_what_is_no_picture_takes_no_slot_and_meets_no_limit() -> None:
    """HE-10, OP-43: a paper goes at a compaction only, and then it stays a placeholder behind the mark as well."""
    paper = Row(1, 9_000, (Picture((1, ("content", 0)), 900, kind="document"),))
    rows = newest_first(row(0, 1), paper, row(2, 1))
    assert drawn(judge(rows, Limit(count=2, bytes=500, most=2), mark=1, ratio=0.5)) == ".II"
    gone = judge(rows, Limit(), mark=5, stubs=frozenset({(1, ("content", 0))}))
    assert (1, ("content", 0)) in gone.stubs


def test_a_pinned_picture_stays_and_takes_its_slot_first() -> None:
    """Design section 6, pins."""
    assert drawn(judge(newest_first(row(0, 1, pinned=True), row(1, 1), row(2, 1)), Limit(count=2), mark=0)) == "I.I"


def test_a_wide_picture_among_the_newest_caps_all_older_ones() -> None:
    """Planner section 1: with more than `many` pictures no side may be over the limit."""
    rows = newest_first(row(0, 1), row(1, 1), row(2, 1, wide=True), row(3, 1))
    assert drawn(judge(rows, Limit(many=3))) == ".III"


def test_a_wide_picture_beyond_that_number_is_a_placeholder() -> None:
    """And then it caps nobody."""
    rows = newest_first(row(0, 1), row(1, 1, wide=True), row(2, 1), row(3, 1))
    assert drawn(judge(rows, Limit(many=2))) == "I.II"


Drawn: TypeAlias = list[tuple[int, list[tuple[int, bool, bool]]]]
PICTURES = st.lists(st.tuples(st.integers(0, 400), st.booleans(), st.booleans()), max_size=3)
LOG = st.lists(st.tuples(st.integers(0, 300), PICTURES), min_size=1, max_size=12)
NUMBER = st.sampled_from([0, 1, 2, 3, 5, 250, 600, -1, math.nan])
LIMITS = st.builds(
    Limit,
    count=NUMBER,
    bytes=NUMBER,
    depth=NUMBER,
    most=st.sampled_from([0, 2, 4]),
    many=st.sampled_from([0, 1, 3]),
)


def read(log: Drawn) -> tuple[Row, ...]:
    last = len(log) - 1
    return newest_first(
        *(
            Row(
                seq,
                tokens,
                tuple(
                    Picture((seq, ("content", n)), inline, wide=wide, newest=newest and seq == last)
                    for n, (inline, wide, newest) in enumerate(pictures)
                ),
            )
            for seq, (tokens, pictures) in enumerate(log)
        )
    )


@given(log=LOG, limit=LIMITS, start=st.integers(0, 11))
def test_a_verdict_does_not_depend_on_what_stands_before_it(log: Drawn, limit: Limit, start: int) -> None:
    """CM-129, INV-14: leaving out the oldest messages changes no verdict on the others."""
    rows = read(log)
    whole = judge(rows, limit).why
    part = judge([one for one in rows if one.seq >= start], limit).why
    assert all(whole[key] == why for key, why in part.items())


@given(log=LOG, limit=LIMITS, ratio=st.sampled_from([0, 0.3, 0.5]))
def test_no_picture_comes_back_as_the_log_grows_and_judging_again_changes_nothing(log: Drawn, limit: Limit, ratio: float) -> None:
    """CM-26, CM-36, INV-12: one perturbation a picture; the carried mark and stubs give the same set again."""
    mark, stubs, dead = -1, frozenset[tuple[int, tuple[str | int, ...]]](), frozenset[tuple[int, tuple[str | int, ...]]]()
    for count in range(1, len(log) + 1):
        rows = read(log[:count])
        verdicts = judge(rows, limit, ratio=ratio, mark=mark, stubs=stubs)
        assert verdicts.mark >= mark
        assert dead <= verdicts.dead()
        again = judge(rows, limit, ratio=ratio, mark=verdicts.mark, stubs=verdicts.stubs)
        assert again.dead() == verdicts.dead()
        mark, stubs, dead = verdicts.mark, verdicts.stubs, verdicts.dead()
