"""Selection: which groups go out. Nothing moves while everything fits; when it does not, the window jumps once.

A jump leaves the newest groups that fit `refit` of the room, the groups that must stay, and a legal opening: a request, or,
where the request of the turn that the window starts in does not fit, a note. Which older requests stand ahead of the window
is chosen at a jump and kept until the next: choosing it anew on every turn would rewrite the prefix each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from msgspec import field

from transom.frozen import Frozen
from transom.parts import Group
from transom.plan import Budget, Selection, Size


class Keeping(Frozen, frozen=True, kw_only=True):
    """What must or may stay beside the newest groups: `pinned` starts of groups, how many `requests` in all, and the bytes
    that the earlier ones may have together (0: no cap). `summed` are the starts of groups that hold summaries: they stay as
    long as they fit, the oldest go first.
    """

    pinned: frozenset[int] = frozenset()
    requests: int = 1
    requests_cap: float = 0
    summed: frozenset[int] = frozenset()


def guarded(groups: Sequence[Group], pinned: frozenset[int]) -> frozenset[int]:
    """Starts of the groups that are never dropped: the newest request, the user's newest words, the newest group, the pins."""
    must = set(pinned)
    if groups:
        must.add(groups[-1].start)
    must.update(g.start for g in _newest(groups, lambda g: g.request and g.opens))
    must.update(g.start for g in _newest(groups, lambda g: g.request))
    return frozenset(must)


class Seam(NamedTuple):
    """Where a note stands: ahead of the group that starts at `before`, said by the user or the assistant."""

    before: int
    role: Literal["user", "assistant"]


class Seams(Frozen, frozen=True):
    """Where a selection wants notes, so that what is left reads as turns in a legal order.

    A window that opens with anything but a request wants one of the user, unless the conversation itself starts there
    (`first`): then it was found legal as it is. Where the provider reads neighbours as one turn (`merges`), two turns of the
    assistant that what was left out brings together want one of the user between them; and where the assistant's last turn
    ends with calls and what followed it is left out (`after` tells which group follows which in the conversation), one of the
    assistant says that it is over.
    """

    first: int = 0
    merges: bool = False
    after: Mapping[int, int] = field(default_factory=dict)

    def of(self, kept: Sequence[Group]) -> tuple[Seam, ...]:
        """The seams of these groups, oldest first."""
        found: list[Seam] = []
        if kept and not kept[0].opens and kept[0].start != self.first:
            found.append(Seam(kept[0].start, "user"))
        running = False
        for left, right in pairwise(kept) if self.merges else ():
            running = _runs(left, running)
            if _ends(left, -1) == "assistant" == _ends(right, 0):
                found.append(Seam(right.start, "user"))
            elif running and _ends(right, 0) != "assistant" and self.after.get(left.start) != right.start:
                found.append(Seam(right.start, "assistant"))
                running = False
        return tuple(found)

    def most_behind(self, group: Group) -> int:
        """How many notes may stand behind a group."""
        return int(self.merges and bool(group.entries) and not group.opens)


_NOTHING = Size()
_NO_SEAMS = Seams()


def _runs(group: Group, running: bool) -> bool:  # noqa: FBT001 - the state of a fold
    """Whether the assistant's last turn, up to this group, ended with calls that were answered."""
    spoke = any(entry.message.role == "assistant" for entry in group.entries)
    return _ends(group, -1) != "assistant" if spoke else running


def _ends(group: Group, at: int) -> str:
    return group.entries[at].message.role if group.entries else ""


def select(  # noqa: PLR0913 - the stage's inputs
    groups: Sequence[Group],
    sizes: Mapping[int, Size],
    *,
    fixed: Size,
    budget: Budget,
    trigger: float,
    refit: float,
    keeping: Keeping,
    anchor: int = 0,
    front: frozenset[int] = frozenset(),
    note: Size = _NOTHING,
    seams: Seams = _NO_SEAMS,
) -> Selection:
    """The groups to send, oldest first, with the window's new start. `sizes` are by the groups' `start`, `note` is the size
    of a note, one of which stands at each of the `seams`.

    The result is over the budget only if the groups that must stay alone are.
    """
    standing = tuple(g for g in groups if g.start >= anchor or g.start in front or g.start in keeping.summed)
    total = sum((sizes[g.start] for g in standing), fixed)
    total = sum((note for _ in seams.of(standing)), total)
    if not groups or budget.share(fixed, trigger).admits(total):
        return Selection(kept=standing, anchor=anchor, front=front, moved="")
    jump = _Jump(groups, sizes, keeping, anchor, budget.share(fixed, refit).less(fixed), note, seams)
    start, ahead = jump.start()
    kept = tuple(g for g in groups if g.start >= start or g.start in ahead)
    return Selection(kept=kept, anchor=start, front=ahead, moved="refit" if kept != standing else "")


def _newest(groups: Sequence[Group], holds: Callable[[Group], bool]) -> tuple[Group, ...]:
    return next(((group,) for group in reversed(groups) if holds(group)), ())


class _Jump:
    """One jump of the window: `room` is what the goal leaves beside the fixed parts and the groups taken so far."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a jump is made from
        self,
        groups: Sequence[Group],
        sizes: Mapping[int, Size],
        keeping: Keeping,
        anchor: int,
        room: Budget,
        note: Size,
        seams: Seams,
    ) -> None:
        self.groups, self.sizes, self.anchor, self.room, self.note = groups, sizes, anchor, room, note
        self.must = guarded(groups, keeping.pinned)
        self.ahead = set(self.must)
        for group in groups:
            if group.start in self.must:
                self.room = self.room.less(sizes[group.start])
                for _ in range(seams.most_behind(group) if group is not groups[-1] else 0):  # nothing comes behind the last
                    self.room = self.room.less(note)
        self._summaries(keeping.summed)
        self._earlier(keeping)

    def _summaries(self, summed: frozenset[int]) -> None:
        """Summaries, newest first, to the first that does not fit."""
        for group in reversed(self.groups):
            if group.start in summed:
                if not self._take(group):
                    break
                self.ahead.add(group.start)

    def _earlier(self, keeping: Keeping) -> None:
        """Earlier requests, newest first, to the first that does not fit the cap or the room (AN-38, AN-39)."""
        cap = keeping.requests_cap
        requests = [g for g in self.groups if g.request and g.opens]
        for group in requests[-2 : -keeping.requests - 1 : -1]:
            size = self.sizes[group.start]
            if keeping.requests_cap > 0 and size.bytes > cap:
                break
            if not self._take(group):
                break
            self.ahead.add(group.start)
            cap -= size.bytes

    def _take(self, group: Group) -> bool:
        if group.start in self.ahead:
            return True
        size = self.sizes[group.start]
        if not self.room.admits(size):
            return False
        self.room = self.room.less(size)
        return True

    def start(self) -> tuple[int, frozenset[int]]:
        """Where the window starts, and what stands ahead of it."""
        at = len(self.groups) - 1
        while at > 0 and self.groups[at - 1].start >= self.anchor and self._take(self.groups[at - 1]):
            at -= 1
        at = self._open(at)
        start = self.groups[at].start
        return start, frozenset(s for s in self.ahead if s < start)

    def _open(self, at: int) -> int:
        """Open on a request, or behind the request of the turn that the window starts in, if that fits; else with a note.

        For the note the oldest group gives way where it has to.
        """
        older = self.groups[:at]
        request = next((g for g in reversed(older) if g.opens), None)
        if self.groups[at].opens:
            return at
        if request is not None and self._take(request):
            self.ahead.add(request.start)
            return at
        if any(g.opens and g.start in self.ahead for g in older):
            return at
        while at < len(self.groups) - 1 and not self.groups[at].opens and not self.room.admits(self.note):
            if self.groups[at].start not in self.ahead:
                self.room = self.room.plus(self.sizes[self.groups[at].start])
            at += 1
        return at
