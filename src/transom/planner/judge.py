"""Verdicts: which pictures go out live, decided newest first, each from its own message and newer ones only.

A picture that was a placeholder once stays one while the policy stands (CM-26). Before judging, two short walks decide
whether the mark moves: when any limit would replace a picture newer than the mark, the mark moves so far that what stays live
fits `ratio` x each limit (CM-34..40), so that the bytes of the prefix change rarely.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

from transom.frozen import Frozen
from transom.parts import MediaKind
from transom.types import Key

EARLIER = "a placeholder since an earlier request"
UNJUDGED = "nobody judged it"

Author: TypeAlias = Literal["user", "tool", "assistant"]


class Picture(Frozen, frozen=True):
    """A picture as the judge sees it. `inline` characters; `wide`: a side is over what many-picture requests may have.

    `pinned` ones always stay and take their slots first; `newest` ones are exempt from the policy's count and depth. `by` is
    who showed it. What is no picture (`kind`) takes no slot and meets no limit; only a compaction takes it away.
    """

    key: Key
    inline: int
    wide: bool = False
    pinned: bool = False
    newest: bool = False
    by: Author = "user"
    kind: MediaKind = "image"


class Row(Frozen, frozen=True):
    """A stored message: its tokens as sent but before verdicts, uncalibrated, and its pictures in document order."""

    seq: int
    tokens: int
    pictures: tuple[Picture, ...]


class Limit(Frozen, frozen=True, kw_only=True):
    """The limits of live pictures; each binds only when it is positive.

    `count`, `bytes` (characters), `depth` (tokens) are the policy's; `most` is the count that the provider refuses above;
    `many` is how many pictures there may be beside a wide one.
    """

    count: float = 0
    bytes: float = 0
    depth: float = 0
    most: float = 0
    many: float = 0

    def trimmed(self, ratio: float) -> Limit:
        """Each limit at `ratio` of itself, and at least 1 where it binds (CM-38; a limit never turns off, unlike CM-43)."""

        def part(value: float) -> float:
            return max(1, math.floor(ratio * value)) if value > 0 else 0

        return Limit(
            count=part(self.count), bytes=part(self.bytes), depth=part(self.depth), most=part(self.most), many=part(self.many)
        )


class Verdicts(Frozen, frozen=True, kw_only=True):
    """`why[key]` is the reason why a picture is a placeholder, "" for a live one; `mark` is the mark after this fit.

    `stubs` are the placeholders that the mark does not account for, to be remembered: a stub never comes back.
    """

    why: Mapping[Key, str]
    mark: int
    stubs: frozenset[Key]

    def live(self, key: Key) -> bool:
        """Whether a picture goes out: one without a verdict does not (CM-88, INV-05)."""
        return self.why.get(key, UNJUDGED) == ""

    def dead(self) -> frozenset[Key]:
        """The keys of all placeholders."""
        return frozenset(key for key, reason in self.why.items() if reason)


def judge(  # noqa: PLR0913 - what a verdict may depend on, and nothing else
    rows: Sequence[Row],
    limit: Limit,
    *,
    ratio: float = 0,
    anchor: int = 0,
    mark: int = -1,
    stubs: AbstractSet[Key] = frozenset(),
) -> Verdicts:
    """Judge every picture.

    `rows` come newest first. `ratio` strictly between 0 and 1 switches the steps on; else each new picture over a limit
    replaces one old picture. Messages before `anchor` stand ahead of the window: depth is settled for them.
    """
    walk = _Walk(rows, anchor, stubs)
    step = walk.misfit(limit, mark) if 0 < ratio < 1 else None
    if step is None:
        return _settled(rows, walk.verdicts(limit, mark, "", mark), mark)
    trimmed = walk.misfit(limit.trimmed(ratio), mark)
    moved = mark if trimmed is None else max(mark, trimmed[0])
    why = f"{step[1]}; trimmed to {ratio:g} of it, so that the prefix changes rarely"
    return _settled(rows, walk.verdicts(limit, moved, why, mark), moved)


def _settled(rows: Sequence[Row], why: Mapping[Key, str], mark: int) -> Verdicts:
    stubs = (p.key for row in rows for p in row.pictures if why[p.key] and (row.seq > mark or p.newest or p.kind != "image"))
    return Verdicts(why=why, mark=mark, stubs=frozenset(stubs))


class _Walk(Frozen, frozen=True):
    rows: Sequence[Row]
    anchor: int
    stubs: AbstractSet[Key]

    def misfit(self, limit: Limit, mark: int) -> tuple[int, str] | None:
        """The message of the newest picture beyond the limits, and the limit; None when all down to the mark fit."""
        meter = _Meter(limit, self.rows)
        for row in self.rows:
            if row.seq <= mark:
                return None
            meter.deepen(row.tokens)
            for picture in row.pictures:
                if picture.key in self.stubs:
                    continue
                why = meter.refuses(picture, settled=row.seq < self.anchor)
                if why:
                    return row.seq, why
                meter.take(picture)
        return None

    def verdicts(self, limit: Limit, mark: int, step: str, before: int) -> dict[Key, str]:
        """Each picture's verdict; `step` is the reason for those that the mark has passed since `before`."""
        why: dict[Key, str] = {}
        meter = _Meter(limit, self.rows)
        for row in self.rows:
            meter.deepen(row.tokens)
            passed = "" if row.seq > mark else EARLIER if row.seq <= before else step
            for picture in row.pictures:
                exempt = picture.newest or picture.kind != "image"
                reason = EARLIER if picture.key in self.stubs else "" if exempt else passed
                reason = reason or meter.refuses(picture, settled=row.seq < self.anchor)
                why[picture.key] = "" if picture.pinned else reason
                if not why[picture.key]:
                    meter.take(picture)
        return why


class _Meter:
    """What the pictures judged live so far, newest first, have taken of each limit."""

    __slots__ = ("ceiling", "count", "depth", "inline", "limit")

    def __init__(self, limit: Limit, rows: Sequence[Row]) -> None:
        self.limit = limit
        self.count = sum(picture.pinned and picture.kind == "image" for row in rows for picture in row.pictures)
        self.inline = 0
        self.depth = 0
        self.ceiling = math.inf

    def deepen(self, tokens: int) -> None:
        """Add, then compare: the message that crosses the depth is beyond it, equality is inside (CM-28, CM-29)."""
        self.depth += tokens

    def refuses(self, picture: Picture, *, settled: bool) -> str:  # noqa: PLR0911 - one for each limit
        """Why the picture does not fit; "" when it does."""
        limit = self.limit
        if picture.pinned or picture.kind != "image":
            return ""
        if not picture.newest and not settled and 0 < limit.depth < self.depth:
            return f"deeper than {limit.depth:,.0f} tokens"
        if not picture.newest and 0 < limit.count <= self.count:
            return f"over the limit of {limit.count:,.0f} pictures"
        if 0 < limit.most <= self.count:
            return f"over the {limit.most:,.0f} pictures that the provider takes"
        if limit.bytes > 0 and self.inline + picture.inline > limit.bytes:  # skips, does not stop (CM-20)
            return f"over {limit.bytes:,.0f} bytes of pictures"
        if self.count >= self.ceiling or (picture.wide and 0 < limit.many <= self.count):
            return f"over {limit.many:,.0f} pictures beside one too wide for more"
        return ""

    def take(self, picture: Picture) -> None:
        """Count a live picture; a pinned one took its slot before the walk, and what is no picture takes none."""
        if picture.pinned or picture.kind != "image":
            return
        self.count += 1
        self.inline += picture.inline
        if picture.wide and self.limit.many > 0:
            self.ceiling = min(self.ceiling, self.limit.many)  # a wide picture caps all older ones
