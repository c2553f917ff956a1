"""Which summaries are taken, and why others are not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from transom.folds import Bought, Item, buy, fulfil, key_of
from transom.folds.ready import Market
from transom.parts import Entry, Group, Message, Part, own_entry
from transom.plan import Ask, Fold, FoldPicture, FoldRow, Size

DIGESTS = {n: bytes([n]) for n in range(20)}
ASK = Ask(first=0, last=1, level=1, prompt=(), max_tokens=10, key="k", api="blocks")


def item(start: int, letter: str) -> Item:
    parts = (Part(kind="result" if letter == "t" else "text", place=("content", 0), raw="x", text="x" * 40),)
    message = Message(index=start, role="user", parts=parts, json={"role": "user"})
    group = Group(start=start, entries=(own_entry(message),), request=letter == "u", opens=letter in "uU")
    return Item(start, Size(10, 100, 1), opens=letter in "uU", fixed=letter in "US", group=group, aside=letter == "S")


def market(letters: str, *folds: tuple[int, int], salience: bool = False, size: int = 5) -> Market:
    standing = [item(n, letter) for n, letter in enumerate(letters) if not any(a <= n <= b for a, b in folds)]
    for first, last in folds:
        fold = Fold(first=first, last=last, level=1, text="held", key=f"held{first}")
        standing.append(Item(first, Size(8, 80, 2), opens=True, fixed=False, fold=fold))
    return Market(
        sorted(standing, key=lambda one: one.start),
        DIGESTS,
        lambda _: Size(size, 50, 2),
        lambda covered: (FoldRow(seq=covered[0].start, tokens=1),),
        salience=salience,
    )


def summary(first: int, last: int, sold: Market, text: str = "short", **more: Any) -> Fold:
    covered = [one for one in sold.standing if first <= one.start <= last]
    made = Fold(first=first, last=last, level=1, text=text, key=key_of(covered, DIGESTS))
    return replace(made, **more)


def bought(sold: Market, *ready: Fold, goal: int = 0) -> Bought:
    total = sum((one.size for one in sold.standing), Size())
    return buy(ready, sold, total=total, enough=lambda size: size.tokens <= goal)


def test_a_summary_stands_for_what_it_was_asked_for() -> None:
    """It carries what it stands for as it was sent, and rows for depth and slots."""
    sold = market("uauaua")
    made = bought(sold, summary(0, 3, sold))
    (fold,) = made.folds
    assert (fold.tokens, fold.bytes, fold.messages, fold.host, fold.ends) == (40, 400, 4, -1, True)
    assert fold.rows == (FoldRow(seq=0, tokens=1),)
    assert made.taken == made.folds
    assert made.refused == ()


def test_no_more_are_taken_than_needed_and_the_others_wait() -> None:
    """Oldest first."""
    sold = market("uauauaua")
    made = bought(sold, summary(2, 3, sold), summary(0, 1, sold), goal=70)
    assert [fold.first for fold in made.taken] == [0]
    assert [fold.first for fold in made.waiting] == [2]


def test_salience_puts_what_can_be_had_again_first() -> None:
    """CM-58, CM-59: results and media before the user's words; a generated picture is a medium, one in a result part of it."""
    sold = market("uautua", salience=True)
    made = bought(sold, summary(0, 1, sold), summary(2, 3, sold), goal=50)
    assert [fold.first for fold in made.taken] == [2]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("see data:image/png;base64,iVBORw0KGgoAAAANSUhEUg here", "it carries a picture"),
        ("A" * 500, "it carries a picture"),
    ],
)
def test_what_says_nothing_or_carries_a_picture_is_not_taken(text: str, reason: str) -> None:
    """INV-17: no harm, and a sentence."""
    sold = market("uauaua")
    made = bought(sold, summary(0, 1, sold, text))
    assert made.folds == ()
    assert reason in made.refused[0]
    assert made.refused[0].startswith("the summary of messages 0 to 1 is not used")


def test_what_is_no_smaller_is_not_taken() -> None:
    """Equal is not smaller, in tokens; in bytes it may be equal."""
    for size in (20, 25):
        sold = market("uauaua", size=size)
        assert "no smaller" in bought(sold, summary(0, 1, sold)).refused[0]
    sold = market("uauaua", size=19)
    assert bought(sold, summary(0, 1, sold)).refused == ()


@pytest.mark.parametrize(
    ("letters", "first", "last", "reason"),
    [
        ("uaUaua", 0, 3, "must stay"),
        ("uaSaua", 0, 3, "must stay"),
        ("uauaua", 1, 2, "neither for whole turns"),
        ("uauaua", 0, 2, "neither for whole turns"),
        ("aaua", 0, 1, "neither for whole turns"),
        ("uauaua", 9, 12, "not what it was asked for"),
    ],
)
def test_what_does_not_lie_right_is_not_taken(letters: str, first: int, last: int, reason: str) -> None:
    """Never over the newest request or what is pinned; whole turns, or steps inside one."""
    sold = market(letters)
    assert reason in bought(sold, summary(first, last, sold)).refused[0]


def test_what_was_asked_of_other_messages_is_not_taken() -> None:
    """An edited or regenerated message, another branch: the key is another one."""
    sold = market("uauaua")
    assert "not what it was asked for" in bought(sold, summary(0, 1, sold, key="other")).refused[0]


def test_steps_inside_a_turn_have_their_host() -> None:
    """The user's message that opens the turn, however many steps stand between."""
    sold = market("uaaaaua")
    inside, ending = bought(sold, summary(2, 3, sold)).folds[0], bought(sold, summary(3, 4, sold)).folds[0]
    assert (inside.host, inside.ends) == (0, False)
    assert (ending.host, ending.ends) == (0, True)


def test_a_summary_may_take_in_others_and_is_never_undone() -> None:
    """The ones inside go with it; one that is given again, or lies inside one that stands, is passed over."""
    sold = market("uauauaua", (0, 1), (2, 3))
    larger = summary(0, 5, sold, level=2)
    assert [(fold.first, fold.last) for fold in bought(sold, larger).folds] == [(0, 5)]
    again = bought(sold, summary(0, 1, sold), Fold(first=2, last=2, level=1, text="t", key="x"))
    assert [fold.text for fold in again.folds] == ["held", "held"]
    assert (again.taken, again.waiting, again.refused) == ((), (), ())


def test_two_for_the_same_messages_do_not_both_stand() -> None:
    """The last answer to one ask wins; of two that overlap the lower level, then the older."""
    sold = market("uauauaua")
    made = bought(sold, summary(0, 1, sold, "first"), summary(0, 1, sold, "second"), summary(0, 3, sold))
    assert [fold.text for fold in made.folds] == ["second"]
    assert "another summary" in made.refused[0]


@pytest.mark.parametrize(("answer", "text"), [(" words \n", "words"), (None, ""), ([1], ""), (b"x", ""), ("a\ud800b", "a?b")])
def test_an_answer_is_its_words(answer: object, text: str) -> None:
    """What is no string is an empty summary; a lone surrogate never reaches the request."""
    assert fulfil(ASK, answer).text == text


def test_an_entry_without_words_weighs_nothing() -> None:
    """Salience of what is empty is 0, not an error."""
    message = Message(index=0, role="user", parts=(), json={})
    group = Group(start=0, entries=(Entry(message=message, seq=0, origin=()),), request=True, opens=True)
    standing = [Item(0, Size(30, 300, 1), opens=True, fixed=False, group=group), item(1, "u")]
    sold = Market(standing, DIGESTS, lambda _: Size(5, 50, 2), lambda _: (), salience=True)
    assert len(bought(sold, summary(0, 0, sold)).taken) == 1


def late(first: int, last: int, *folds: tuple[int, int]) -> tuple[Market, Fold]:
    """A market in which messages `first` to `last` were left out after a summary of 40 tokens was asked for."""
    sold = market("uauauaua", *folds)
    rows = (FoldRow(seq=first, tokens=7, pictures=(FoldPicture(key=(first, ()), inline=4),)),)
    asked = Fold(first=first, last=last, level=1, text="", key="k", rows=rows, tokens=40, bytes=400, messages=4)
    standing = [one for one in sold.standing if one.start not in (first, last) or one.fold]
    return replace(sold, standing=standing, asked={asked.name: asked}), replace(asked, text="short", tokens=0)


def test_what_comes_late_is_measured_by_what_it_was_asked_for() -> None:
    """It brings back what is not sent any more, so there must be room; pictures that went hold no slots."""
    sold, fold = late(0, 1)
    total = sum((one.size for one in sold.standing), Size())
    seen: list[tuple[int, int]] = []

    def room(before: Size, after: Size) -> bool:
        seen.append((before.tokens, after.tokens))
        return True

    made = buy([fold], sold, total=total, enough=lambda _: True, room=room)
    assert [(one.first, one.text, one.tokens, one.rows) for one in made.taken] == [(0, "short", 40, (FoldRow(seq=0, tokens=7),))]
    assert seen == [(60, 65)]
    assert buy([fold], sold, total=total, enough=lambda _: False).waiting == (fold,)


def test_what_comes_late_is_refused_where_it_is_too_long_or_another_stands_across() -> None:
    sold, fold = late(0, 1)
    total = sum((one.size for one in sold.standing), Size())
    long = replace(sold, size=lambda _: Size(40, 50, 2))
    assert "no smaller than the 40" in buy([fold], long, total=total, enough=lambda _: False).refused[0]
    across, fold = late(0, 1, (1, 2))
    assert "another summary" in buy([fold], across, total=total, enough=lambda _: False).refused[0]


def test_what_comes_late_goes_in_when_another_has_made_room() -> None:
    """The newest is tried first and adds 5 tokens; the one before it takes in a summary of 8 and so makes room for it. The next
    fit would find that room, so this one must.
    """
    sold, newer = late(4, 5, (0, 3))
    older = Fold(first=0, last=3, level=2, text="", key="o", tokens=40, bytes=400, messages=4)
    sold = replace(sold, asked={**sold.asked, older.name: older})
    total = sum((one.size for one in sold.standing), Size())

    def room(_: Size, after: Size) -> bool:
        return after.tokens <= total.tokens + 2

    given = [newer, replace(older, text="both", tokens=0)]
    made = buy(given, sold, total=total, enough=lambda _: True, room=room)
    assert [one.first for one in made.taken] == [0, 4]
    assert made.waiting == ()
    assert buy(given[:1], sold, total=total, enough=lambda _: True, room=room).waiting == (newer,)
