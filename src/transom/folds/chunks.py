"""Which summaries are wanted: runs of old turns, old steps inside the turn that goes on, and summaries of summaries.

The rule: boundaries are those of groups, so no call is parted from its result (CM-103), and a chunk is whole turns or lies
inside one, so that what takes its place reads as turns. The newest part, what must stay and what is pinned is never in a
chunk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Final

from transom.frozen import Frozen
from transom.parts import Group
from transom.plan import Fold, Size
from transom.policy import Policy, limit

MOST_LEVEL: Final = 3
FEWEST: Final = 2
"""So many summaries of one level become one where the summaries take more than their share of the window."""
_DIGEST_SIZE: Final = 16


class Item(Frozen, frozen=True):
    """What stands in the window at one place: a group, or a fold. `fixed`: it may not be summed up."""

    start: int
    size: Size
    opens: bool
    fixed: bool
    group: Group | None = None
    fold: Fold | None = None
    aside: bool = False
    """A system message inside the list: it belongs to no turn."""


class Wanted(Frozen, frozen=True):
    """The settings as they hold in this window: tokens of the newest part and of the least chunk."""

    recent: float
    chunk: float
    merge: int
    crowded: bool = False
    """The summaries take more than their share of the window, so that they merge sooner."""


class Chunk(Frozen, frozen=True):
    """Neighbouring items that one summary is to stand for. `host` and `ends` as a fold has them."""

    items: tuple[Item, ...]
    last: int
    host: int
    ends: bool

    @property
    def first(self) -> int:
        """The first stored message that it covers."""
        item = self.items[0]
        return item.fold.first if item.fold else item.start

    @property
    def level(self) -> int:
        """1 for messages; one more than the highest summary in it, and at most 3."""
        return min(MOST_LEVEL, 1 + max((item.fold.level for item in self.items if item.fold), default=0))

    @property
    def tokens(self) -> int:
        """What it costs as it stands."""
        return sum(item.size.tokens for item in self.items)


def scaled(policy: Policy, room: float, folds: float) -> Wanted:
    """The settings in a window that has `room` tokens beside its fixed parts, `folds` of them taken by summaries.

    The newest part is never more than half of what a refit leaves, or no summary could bring the window there.
    """
    half = room * policy.refit / 2
    return Wanted(
        recent=min(limit(policy.recent_tokens), half),
        chunk=min(limit(policy.chunk_tokens), half),
        merge=policy.merge,
        crowded=folds > half,
    )


def most_each(policy: Policy, room: float, folds: float, count: int) -> float:
    """The most tokens of each of `count` summaries, so that all of them leave the newest part its half of what a refit
    leaves.
    """
    return min(policy.summary_tokens, max(0, room * policy.refit / 2 - folds) / max(1, count))


def items(
    groups: Sequence[Group], sizes: Mapping[int, Size], folds: Sequence[tuple[Fold, Size]], *, guarded: AbstractSet[int]
) -> tuple[Item, ...]:
    """What stands, oldest first. `groups` are those that no fold covers."""
    standing = [Item(g.start, sizes[g.start], g.opens, g.pinned or g.start in guarded, group=g, aside=g.pinned) for g in groups]
    standing += [Item(fold.first, size, fold.host < 0, fixed=False, fold=fold) for fold, size in folds]
    return tuple(sorted(standing, key=lambda item: item.start))


def chunks(standing: Sequence[Item], wanted: Wanted) -> tuple[Chunk, ...]:
    """The summaries that are wanted of a window, oldest first."""
    old = _old(standing, wanted.recent)
    found: list[Chunk] = []
    run: list[Item] = []
    raw = 0
    for begin, end in _turns(standing):
        turn = standing[begin:end]
        joins = _is_old(turn, old - begin) and end < len(standing) and turn[0].opens and not any(item.fixed for item in turn)
        joins = joins and (turn[0].fold is None or wanted.merge == 1)
        full = raw >= wanted.chunk
        if run and full and (not joins or wanted.merge > 1):
            found.append(Chunk(tuple(run), standing[begin].start - 1, -1, ends=True))
        if not joins or (full and wanted.merge > 1):
            run, raw = [], 0
        if joins:
            run += turn
            raw += _raw(turn)
        if not joins and turn[0].group is not None and turn[0].opens:
            found += _inside(standing, begin, min(end, old), wanted)
    taken = {item.start for chunk in found for item in chunk.items}
    found += _merges(standing[:old], wanted, taken)
    return tuple(sorted(found, key=lambda chunk: chunk.first))


def _old(standing: Sequence[Item], recent: float) -> int:
    """How many items are older than the newest part, which holds at least one."""
    tokens = 0
    for at in range(len(standing) - 1, -1, -1):
        tokens += standing[at].size.tokens
        if tokens > recent:
            return min(at + 1, len(standing) - 1)
    return 0


def _is_old(turn: Sequence[Item], older: int) -> bool:
    """Whether most of a turn is older than the newest part, of which it may hold the beginning: `older` items of it are."""
    tokens = [item.size.tokens for item in turn]
    return older > 0 and sum(tokens[:older]) >= sum(tokens[older:])


def _turns(standing: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Where each turn begins and ends; a system message inside the list is by itself."""
    begin = 0
    for at in range(1, len(standing) + 1):
        if at == len(standing) or standing[at].opens or standing[at].aside or standing[at - 1].aside:
            yield begin, at
            begin = at


def _raw(run: Sequence[Item]) -> int:
    return sum(item.size.tokens for item in run if item.fold is None or item.fold.host >= 0)


def _inside(standing: Sequence[Item], begin: int, end: int, wanted: Wanted) -> Iterator[Chunk]:
    """Runs of steps inside a turn, behind the user's words that open it."""
    host = standing[begin].start
    run: list[Item] = []
    tokens = 0
    for at in range(begin + 1, end + 1):
        item = standing[at] if at < end else None
        joins = item is not None and not item.fixed and (item.fold is None or wanted.merge == 1)
        if item is not None and joins:
            run.append(item)
            tokens += item.size.tokens if item.fold is None else 0
        if tokens >= wanted.chunk > 0 and run and (not joins or wanted.merge > 1):
            after = at + joins
            following = standing[after]
            yield Chunk(tuple(run), following.start - 1, host, ends=following.opens)
            run, tokens = [], 0
        elif not joins:
            run, tokens = [], 0


def _merges(old: Sequence[Item], wanted: Wanted, taken: AbstractSet[int]) -> Iterator[Chunk]:
    """Neighbouring summaries of one level and one host, where there are enough of them."""
    many = FEWEST if wanted.crowded else wanted.merge
    if wanted.merge == 1:
        return
    for _, found in groupby(old, key=lambda item: (item.fold.level, item.fold.host) if item.fold else None):
        run = tuple(found)
        run = run if wanted.crowded else run[: wanted.merge]
        last = run[-1].fold
        if last is not None and len(run) >= many and not any(item.start in taken for item in run):
            yield Chunk(run, last.last, last.host, ends=last.ends)


def key_of(covered: Sequence[Item], digests: Mapping[int, bytes]) -> str:
    """What a summary of these items is known by: a digest over the stored messages and the summaries in them."""
    whole = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for item in covered:
        if item.fold is not None:
            whole.update(item.fold.key.encode())
        entries = item.group.entries if item.group is not None else ()
        for seq in sorted({seq for entry in entries for seq in (entry.seq, *(key[0] for key in entry.origin))}):
            whole.update(digests.get(seq, b""))
    return whole.hexdigest()
