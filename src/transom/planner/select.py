"""Selection: which groups go out. Nothing moves while everything fits; when it does not, the window jumps once.

A jump leaves the newest groups that fit `refit` of the room, the groups that must stay, and a legal opening: a request, or, where the
request of the turn that the window starts in does not fit, a note. Which older requests stand ahead of the window is chosen at
a jump and kept until the next: choosing it anew on every turn would rewrite the prefix each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from transom.parts import Group
from transom.plan import Budget, Selection, Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What must or may stay beside the newest groups: `pinned` starts of groups, how many `requests` in all, and the bytes
    that the earlier ones may have together (0: no cap)."""

    pinned: frozenset[int] = frozenset()
    requests: int = 1
    requests_cap: float = 0


_NOTHING = Size()


def guarded(groups: Sequence[Group], pinned: frozenset[int]) -> frozenset[int]:
    """Starts of the groups that are never dropped: the newest request, the user's newest words, the newest group, the pins."""
    must = set(pinned)
    if groups:
        must.add(groups[-1].start)
    must.update(g.start for g in _newest(groups, lambda g: g.request and g.opens))
    must.update(g.start for g in _newest(groups, lambda g: g.request))
    return frozenset(must)


def bare(kept: Sequence[Group], first: int) -> bool:
    """Whether these groups want an opening note: they are the rest of a conversation, and their first one is no request.

    `first` is where the conversation itself starts; one that opens otherwise as a whole was found legal as it is.
    """
    return bool(kept) and not kept[0].opens and kept[0].start > first


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
    first: int = 0,
) -> Selection:
    """The groups to send, oldest first, with the window's new start. `sizes` are by the groups' `start`, `note` is the size of an
    opening note, which stands wherever a window would open with anything but a request; `first` is
    where the conversation itself starts.

    The result is over the budget only if the groups that must stay alone are.
    """
    standing = tuple(g for g in groups if g.start >= anchor or g.start in front)
    total = sum((sizes[g.start] for g in standing), fixed)
    if bare(standing, first):
        total += note
    if not groups or budget.share(fixed, trigger).admits(total):
        return Selection(kept=standing, anchor=anchor, front=front, moved="")
    jump = _Jump(groups, sizes, keeping, anchor, budget.share(fixed, refit).less(fixed), note)
    start, ahead = jump.start()
    kept = tuple(g for g in groups if g.start >= start or g.start in ahead)
    return Selection(kept=kept, anchor=start, front=ahead, moved="refit" if kept != standing else "")


def _newest(groups: Sequence[Group], holds: Callable[[Group], bool]) -> tuple[Group, ...]:
    return next(((group,) for group in reversed(groups) if holds(group)), ())


class _Jump:
    """One jump of the window: `room` is what the goal leaves beside the fixed parts and the groups taken so far."""

    def __init__(
        self,
        groups: Sequence[Group],
        sizes: Mapping[int, Size],
        keeping: Keeping,
        anchor: int,
        room: Budget,
        note: Size,
    ) -> None:
        self.groups, self.sizes, self.anchor, self.room, self.note = groups, sizes, anchor, room, note
        self.must = guarded(groups, keeping.pinned)
        self.ahead = set(self.must)
        for start in self.must:
            self.room = self.room.less(sizes[start])
        self._earlier(keeping)

    def _earlier(self, keeping: Keeping) -> None:
        """Earlier requests, newest first, to the first that does not fit the cap or the room (AN-38, AN-39)."""
        cap = keeping.requests_cap
        requests = [g for g in self.groups if g.request and g.opens]
        for group in requests[-2 : -keeping.requests - 1 : -1]:
            size = self.sizes[group.start]
            if 0 < keeping.requests_cap and size.bytes > cap:
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
