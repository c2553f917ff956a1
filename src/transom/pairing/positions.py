"""Which call a result answers where ids are optional (Gemini): by id, else by name and place.

The rule: a message of nothing but results, as many as the turn before it calls, answers that turn. Else a result goes to a call
of its id or to the first waiting one of its name in the newest turn; then, by its id, to an older one; and what has no id, right
behind a turn, to any of its calls, elsewhere to an older one of its name. So what is sent for a message right behind a turn does
not depend on what stands before that turn. The links are for pairing alone and never sent; the name of a call is, in a result
that has none ("function_response.name: Name cannot be empty", 2026-03).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from transom.pairing.draft import Draft, Slot
from transom.plan import Decision
from transom.wire.keyed import RESPONSES, inner, spelled


@dataclass(slots=True, eq=False)
class _Call:
    """A call on the look-out for its result."""

    slot: Slot
    answered: bool = False


@dataclass(slots=True)
class _Waiting:
    """Calls by id and by name, oldest first."""

    every: deque[_Call] = field(default_factory=deque)
    by_id: dict[str, deque[_Call]] = field(default_factory=dict)
    by_name: dict[str, deque[_Call]] = field(default_factory=dict)
    count: int = 0

    def add(self, call: _Call) -> None:
        """A call that waits."""
        part = call.slot.part
        self.every.append(call)
        self.by_id.setdefault(part.id, deque()).append(call)
        self.by_name.setdefault(part.name, deque()).append(call)
        self.count += 1

    def take(self, queue: deque[_Call] | None, *, newest: bool = False) -> _Call | None:
        """The first call of a queue that still waits, which waits no longer."""
        while queue:
            call = queue.pop() if newest else queue.popleft()
            if not call.answered:
                call.answered = True
                self.count -= 1
                return call
        return None


def link(drafts: Sequence[Draft]) -> list[Decision]:
    """Let each call have a link of its own, and each result that of the call it answers, with its name where it has none."""
    linker = _Linker()
    for before, draft in zip((None, *drafts), drafts, strict=False):
        if draft.role == "assistant":
            if before is None or before.role != "assistant":
                linker.turn()
            linker.calls(draft)
        else:
            linker.results(draft)
    return linker.decisions


class _Linker:
    def __init__(self) -> None:
        self.near, self.older = _Waiting(), _Waiting()
        self.last: dict[str, _Call] = {}
        self.named: dict[str, _Call] = {}
        self.names: dict[str, int] = {}
        self.asked = 0
        self.direct = False
        self.decisions: list[Decision] = []

    def turn(self) -> None:
        """A turn of the assistant begins: what still waits is late from here on."""
        for call in self.near.every:
            if not call.answered:
                self.older.add(call)
        self.near, self.named, self.asked = _Waiting(), {}, 0

    def calls(self, draft: Draft) -> None:
        """Name the calls of a message."""
        self.direct = True
        if "call" in draft.kinds:
            for slot in draft.slots:
                if slot.part.kind == "call":
                    call = _Call(slot)
                    slot.link = self._named(slot.part.id or slot.part.name)
                    self.near.add(call)
                    self.asked += 1
                    self.last[slot.part.id] = self.named[slot.part.name] = call

    def _named(self, name: str) -> str:
        number = self.names[name] = self.names.get(name, 0) + 1
        return name if number == 1 and name else f"{name}#{number}"

    def results(self, draft: Draft) -> None:
        """Name the results of a message after their calls."""
        if "result" not in draft.kinds:
            self.direct = False
            return
        found = [slot for slot in draft.slots if slot.part.kind == "result"]
        alone = len(found) == len(draft.slots)
        exact = self.direct and alone and len(found) == self.near.count == self.asked
        self.direct = self.direct and alone and self.asked > 0
        late = (self._late_by_id, self._nameless, self._again) if self.direct else (self._late_by_id, self._late_by_name)
        for step in (self._by_id, self._by_name, *((self._any,) if exact else late)):
            found = [slot for slot in found if not self._linked(draft, slot, step(slot))]
        for slot in found:
            slot.link = self._named(f"?{slot.part.id or slot.part.name}")

    def _linked(self, draft: Draft, slot: Slot, call: _Call | None) -> bool:
        if call is not None:
            slot.link = call.slot.link
            if not slot.part.name and any(key in slot.raw for key in RESPONSES):
                self._called(draft, slot, call.slot.part.name)
        return call is not None

    def _called(self, draft: Draft, slot: Slot, name: str) -> None:
        """Let a result that has no name have that of the call it answers."""
        key = spelled(slot.raw, *RESPONSES)
        draft.put(slot, {**slot.raw, key: {**inner(slot.raw, key), "name": name}})
        slot.part = replace(slot.part, name=name)
        reason = "a result without a name, which has that of its call"
        self.decisions.append(Decision(verb="mend", seq=draft.seq, place=slot.part.place, reason=reason, name=name))

    def _by_id(self, slot: Slot) -> _Call | None:
        return self.near.take(self.near.by_id.get(slot.part.id)) if slot.part.id else None

    def _by_name(self, slot: Slot) -> _Call | None:
        return self._same_name(self.near, slot, newest=False)

    def _late_by_id(self, slot: Slot) -> _Call | None:
        """A late result, or one more for a call that is answered already."""
        if not slot.part.id:
            return None
        return self.older.take(self.older.by_id.get(slot.part.id), newest=True) or self.last.get(slot.part.id)

    def _late_by_name(self, slot: Slot) -> _Call | None:
        return self._same_name(self.older, slot, newest=True)

    def _same_name(self, waiting: _Waiting, slot: Slot, *, newest: bool) -> _Call | None:
        """A waiting call of the result's name; not one of another id."""
        queue = waiting.by_name.get(slot.part.name)
        while queue and queue[-1 if newest else 0].answered:
            _ = queue.pop() if newest else queue.popleft()
        if not queue:
            return None
        known = queue[-1 if newest else 0].slot.part.id
        return None if known and slot.part.id and known != slot.part.id else waiting.take(queue, newest=newest)

    def _nameless(self, slot: Slot) -> _Call | None:
        return None if slot.part.id else self._any(slot)

    def _again(self, slot: Slot) -> _Call | None:
        """One more result for the newest call of its name."""
        return None if slot.part.id else self.named.get(slot.part.name)

    def _any(self, slot: Slot) -> _Call | None:  # noqa: ARG002 - one shape for all steps
        return self.near.take(self.near.every)
