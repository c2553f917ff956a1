"""The report's arithmetic: each line has its own sizes, and together they are what the request lost."""

from __future__ import annotations

from transom.account import balanced
from transom.plan import Decision, Size


def line(seq: int, before: int = 0, after: int = 0) -> Decision:
    return Decision(verb="repair", seq=seq, reason="", tokens_before=before, tokens_after=after)


def sizes(lines: tuple[Decision, ...]) -> list[tuple[int, int, int]]:
    return [(one.seq, one.tokens_before, one.tokens_after) for one in lines]


def test_what_a_line_does_not_explain_goes_to_the_last_line_about_its_message() -> None:
    """A stub knows its own price; the note that merged two of them is the message's difference."""
    lines = [(line(1, 100, 10), 1), (line(1, 50, 10), 1)]
    assert sizes(balanced(lines, {1: Size(200)}, {1: Size(65)}, frozenset())) == [(1, 100, 10), (1, 55, 10)]


def test_a_message_that_changed_for_another_ones_sake_has_a_line_of_its_own() -> None:
    """A result that was put behind its call makes the message that took it in larger."""
    found = balanced([(line(5), 5)], {2: Size(10), 5: Size(40)}, {2: Size(45), 5: Size(5)}, frozenset())
    assert sizes(found) == [(5, 35, 0), (2, 0, 35)]


def test_a_moved_parts_line_does_not_take_in_what_its_new_message_gained() -> None:
    """Its own sizes stay its own."""
    found = balanced([(line(5, 100, 10), 2)], {2: Size(10), 5: Size(120)}, {2: Size(50), 5: Size(5)}, frozenset())
    assert sizes(found) == [(5, 100, 10), (2, 0, 130), (5, 115, 0)]


def test_messages_that_a_drop_line_covers_are_not_counted_again() -> None:
    """A repair inside a dropped group is told without sizes."""
    found = balanced([(line(1), 1)], {1: Size(30), 2: Size(5)}, {2: Size(5)}, frozenset({1}))
    assert sizes(found) == [(1, 0, 0)]
