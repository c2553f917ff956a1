"""Selection: which groups go out. Nothing moves while everything fits; when it does not, the window jumps once.

A jump leaves the newest groups that fit `refit` of the room, the groups that must stay, and a legal opening. Which older
requests stand ahead of the window is chosen at a jump and kept until the next: choosing it anew on every turn would
rewrite the prefix each time.
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


def guarded(groups: Sequence[Group], pinned: frozenset[int]) -> frozenset[int]:
    """Starts of the groups that are never dropped: the newest request, the user's newest words, the newest group, the pins."""
    must = set(pinned)
    if groups:
        must.add(groups[-1].start)
    must.update(g.start for g in _newest(groups, lambda g: g.request and g.opens))
    must.update(g.start for g in _newest(groups, lambda g: g.request))
    return frozenset(must)


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
) -> Selection:
    """The groups to send, oldest first, with the window's new start. `sizes` are by the groups' `start`.

    The result is over the budget only if the groups that must stay alone are.
    """
    standing = tuple(g for g in groups if g.start >= anchor or g.start in front)
    total = sum((sizes[g.start] for g in standing), fixed)
    if not groups or budget.share(fixed, trigger).admits(total):
        return Selection(kept=standing, anchor=anchor, front=front, moved="")
    jump = _Jump(groups, sizes, keeping, anchor, budget.share(fixed, refit).less(fixed))
    start, ahead = jump.start()
    kept = tuple(g for g in groups if g.start >= start or g.start in ahead)
    return Selection(kept=kept, anchor=start, front=ahead, moved="refit" if kept != standing else "")


def _newest(groups: Sequence[Group], holds: Callable[[Group], bool]) -> tuple[Group, ...]:
    return next(((group,) for group in reversed(groups) if holds(group)), ())


class _Jump:
    """One jump of the window: `room` is what the goal leaves beside the fixed parts and the groups taken so far."""

    def __init__(
        self, groups: Sequence[Group], sizes: Mapping[int, Size], keeping: Keeping, anchor: int, room: Budget
    ) -> None:
        self.groups, self.sizes, self.anchor, self.room = groups, sizes, anchor, room
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
        if any(g.start in self.must and g.opens for g in self.groups):
            at = self._opening(at)
        start = self.groups[at].start
        return start, frozenset(s for s in self.ahead if s < start)

    def _opening(self, at: int) -> int:
        """Open on a request, or behind the request of the turn that the window starts in, which then stands ahead.

        Where that request does not fit, groups of its turn give way from the oldest on. Ends, since the newest request stands
        in any case.
        """
        turn = -1
        for i in range(at):
            turn = i if self.groups[i].opens else turn
        while at < len(self.groups) - 1 and not self.groups[at].opens and turn >= 0 and not self._stands(self.groups[turn]):
            if self.groups[at].start not in self.must:
                self.room = self.room.plus(self.sizes[self.groups[at].start])
            at += 1
        return at

    def _stands(self, request: Group) -> bool:
        if not self._take(request):
            return False
        self.ahead.add(request.start)
        return True
