"""Which summaries are wanted. Letters, oldest first: u opens a turn, a is a step or an answer, f a fold of whole turns, i a
fold inside a turn, s a system message inside the list; capitals must stay.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.folds import Chunk, Item, Wanted, chunks, key_of, most_each, scaled
from transom.parts import Entry, Group, Message, own_entry
from transom.plan import Fold, Size
from transom.policy import Policy


def item(start: int, letter: str, tokens: int = 10) -> Item:
    kind, size = letter.lower(), Size(tokens, tokens, 1)
    if kind in "fi":
        fold = Fold(first=start, last=start, level=1, text="t", key=f"k{start}", host=-1 if kind == "f" else 0)
        return Item(start, size, opens=kind == "f", fixed=False, fold=fold)
    group = Group(start=start, entries=(entry(start),), request=kind == "u", opens=kind == "u")
    return Item(start, size, opens=kind == "u", fixed=letter.isupper() or kind == "s", group=group, aside=kind == "s")


def entry(seq: int) -> Entry:
    return own_entry(Message(index=seq, role="user", parts=(), json={"role": "user"}))


def found(letters: str, *, recent: float = 25, chunk: float = 20, merge: int = 3, crowded: bool = False) -> list[str]:
    """Each chunk as `first-last`, with its host behind an @ where it lies inside a turn, and its level where that is not 1."""
    standing = [item(n, letter) for n, letter in enumerate(letters)]
    wanted = Wanted(recent=recent, chunk=chunk, merge=merge, crowded=crowded)
    return [told(one) for one in chunks(standing, wanted)]


def told(chunk: Chunk) -> str:
    host = f"@{chunk.host}" if chunk.host >= 0 else ""
    level = f"^{chunk.level}" if chunk.level > 1 else ""
    return f"{chunk.first}-{chunk.last}{host}{level}"


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("uauauaua", ["0-1", "2-3", "4-5"]),  # whole turns; the newest part is not in one
        ("uaaaauaaaaua", ["0-4", "5-9"]),  # a long turn is one chunk, once it is over
        ("uuuuua", ["0-1", "2-3"]),  # short turns together
        ("uaaaaaaaa", ["1-2@0", "3-4@0", "5-6@0"]),  # inside the turn that goes on: never its opening
        ("Uaaaaaaaa", ["1-2@0", "3-4@0", "5-6@0"]),  # which may be the newest request
        ("uaAaaaaaa", ["3-4@0", "5-6@0"]),  # around what must stay
        ("uaUAuauaua", ["0-1", "4-5", "6-7"]),
        ("uasuaua", ["0-1", "3-4"]),  # a system message belongs to no turn
        ("aaaauaua", ["4-5"]),  # steps whose request is not there have no place for a summary
        ("fauaua", ["2-3"]),  # nor have steps behind a summary of whole turns
        ("uauaaa", ["0-1"]),
        ("uauuaaa", ["0-1"]),
        ("ua", []),
        ("", []),
    ],
)
def test_chunks_are_whole_turns_or_lie_inside_one(letters: str, expected: list[str]) -> None:
    """CM-103, CM-173, planner section 4: boundaries of groups and of turns, and never over the newest part."""
    assert found(letters) == expected


def test_a_run_that_is_too_short_waits() -> None:
    """A summary of little is hardly smaller than what it stands for."""
    assert found("uaua", chunk=30) == []
    assert found("uUAuua", chunk=20) == []


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("fffuaua", ["0-2^2", "3-4"]),
        ("ffuaua", ["2-3"]),
        ("ffffua", ["0-2^2"]),
        ("uiiiaaaa", ["1-3@0^2", "4-5@0"]),
        ("uiiauaua", ["0-3^2", "4-5"]),  # a turn that is over is summed up whole, with the summaries in it
    ],
)
def test_summaries_of_one_level_become_one_of_the_next(letters: str, expected: list[str]) -> None:
    """Design section 4: levels 1 to 3."""
    assert found(letters) == expected


def test_where_summaries_take_more_than_their_share_two_are_enough() -> None:
    """Otherwise a small window would fill with summaries that never become one."""
    assert found("ffuaua", crowded=True) == ["0-1^2", "2-3"]
    assert found("ffffua", crowded=True) == ["0-3^2"]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("uauauaua", ["0-5"]),
        ("fuauaua", ["0-4^2"]),
        ("fuua", []),  # a summary with too little beside it is not summed up again
        ("uaaaaaaaa", ["1-6@0"]),
        ("uiaaaaaa", ["1-5@0^2"]),
        ("fuaUAuauaua", ["0-2^2", "5-8"]),
    ],
)
def test_with_merge_1_a_summary_takes_in_those_before_it(letters: str, expected: list[str]) -> None:
    """The compacting preset: one summary a compaction, and what it is made of does not hold older turns again."""
    assert found(letters, merge=1) == expected


def test_a_level_never_goes_above_3() -> None:
    """Design section 4."""
    fold = Fold(first=0, last=1, level=3, text="t", key="k")
    held = (Item(0, Size(), opens=True, fixed=False, fold=fold),)
    assert Chunk(held, 1, -1, ends=True).level == 3


def test_a_chunk_ends_where_its_turn_ends() -> None:
    """`ends` tells a summary that a turn goes on behind from one that it is over with: they go out differently."""
    standing = [item(n, letter) for n, letter in enumerate("uaaAaauaua")]
    wanted = Wanted(recent=25, chunk=20, merge=3)
    assert [(told(one), one.ends) for one in chunks(standing, wanted)] == [("1-2@0", False), ("4-5@0", True), ("6-7", True)]


def test_the_settings_shrink_with_the_window() -> None:
    """The newest part is never more than half of what a refit leaves, or no summary could bring the window there."""
    policy = Policy.folding()
    assert scaled(policy, 1_000_000, 0) == Wanted(recent=30_000, chunk=3_000, merge=6)
    assert scaled(policy, 900, 300) == Wanted(recent=225, chunk=225, merge=6, crowded=True)


def test_summaries_share_what_the_newest_part_leaves() -> None:
    """However many are asked for at once, all of them together leave the newest part its half."""
    policy = Policy.folding()
    assert most_each(policy, 100_000, 0, 5) == 2_000
    assert most_each(policy, 100_000, 5_000, 40) == 500
    assert most_each(policy, 100_000, 50_000, 1) == 0


def test_a_key_tells_what_a_summary_is_about() -> None:
    """Another message, another summary inside, another key; and the same again."""
    standing = [item(n, letter) for n, letter in enumerate("uaf")]
    known = {0: b"zero", 1: b"one"}
    keys = {key_of(standing, known), key_of(standing, {**known, 1: b"other"}), key_of(standing[:2], known)}
    assert len(keys) == 3
    assert key_of(standing, known) in keys


@given(
    letters=st.text("uaaaASfi", max_size=30),
    chunk=st.integers(1, 60),
    merge=st.sampled_from([1, 2, 3, 6]),
    recent=st.integers(0, 100),
)
def test_chunks_never_cover_what_must_stay_or_each_other(letters: str, chunk: int, merge: int, recent: int) -> None:
    """Whatever stands: disjoint, whole turns or inside one, nothing fixed, not the newest, and no chunk is a single summary."""
    standing = [item(n, letter) for n, letter in enumerate(letters)]
    made = chunks(standing, Wanted(recent=recent, chunk=chunk, merge=merge))
    covered = [one.start for part in made for one in part.items]
    assert len(covered) == len(set(covered))
    for part in made:
        assert not any(one.fixed or one.aside for one in part.items)
        assert part.items[-1].start < len(letters) - 1
        assert [one.start for one in part.items] == list(range(part.items[0].start, part.items[-1].start + 1))
        assert len(part.items) > 1 or part.items[0].fold is None
        following = standing[part.last + 1]
        if part.host < 0 and any(one.group for one in part.items):
            assert part.items[0].opens
            assert following.opens or following.aside
        elif any(one.group for one in part.items):
            assert not any(one.opens for one in part.items)
