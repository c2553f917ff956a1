"""Which result answers which call, decided once over the whole stored sequence; and ids that tell calls apart.

The rule: a result answers the latest earlier call with its id. An id that is taken gets a number behind it, decided by what was
stored before, so that appending a message never renames an older call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from transom.canon import encode
from transom.pairing.draft import Draft, Slot, made
from transom.pairing.notes import late_head, real
from transom.parts import Part, walk
from transom.plan import Decision
from transom.wire.form import Form

LONGEST_ID = 40
"""Characters: OpenAI refuses a longer id ("Expected a string with maximum length 40", seen since 2025-06)."""


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """A call, and the result that answers it: `answer` in the message `at`; `near` unless the assistant spoke in between."""

    slot: Slot
    id: str
    turn: int
    answer: Slot | None = None
    at: Draft | None = None


@dataclass(slots=True, kw_only=True)
class Matches:
    """The calls of each assistant message (by the draft's identity), and what was repaired on the way."""

    calls: dict[int, list[Call]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)


def match(drafts: Iterable[Draft], form: Form, *, late: Literal["move", "append"], unique: bool) -> Matches:
    """Find the answer of every call. Results that answer nothing are taken out of their messages, or, with `late="append"`,
    stay there as text. `unique`: ids must differ in the whole request, not in one turn only.
    """
    matcher = _Matcher(form, append=late == "append", unique=unique)
    before = ""
    for draft in drafts:
        if draft.role == "assistant":
            if before != "assistant" or not form.merges:
                matcher.turn += 1
            matcher.asked(draft)
        elif draft.role == ("tool" if form.results_in == "tool" else "user"):
            matcher.answered(draft)
        before = draft.role
    matcher.sweep()
    return matcher.matches


class _Matcher:
    def __init__(self, form: Form, *, append: bool, unique: bool) -> None:
        self.form, self.append, self.unique = form, append, unique
        self.turn = 0
        self.matches = Matches()
        self.open: dict[str, list[Call]] = {}
        self.used: set[str] = set()
        self.turn_ids: tuple[int, set[str]] = (0, set())
        self.numbers: dict[str, int] = {}
        self.gone: dict[int, tuple[Draft, list[Slot]]] = {}

    def asked(self, draft: Draft) -> None:
        """Register the calls of an assistant message."""
        for slot in draft.slots:
            if slot.part.kind == "call":
                call = Call(slot=slot, id=self._name(slot.part), turn=self.turn)
                if call.id != slot.part.id:
                    draft.put(slot, self.form.rename_call(slot.raw, call.id))
                    why = "an id that an earlier call has" if slot.part.id else "a call without an id"
                    self._say(draft, slot, f"{why}, now {call.id}", slot.part.id or call.id)
                same = self.open.get(slot.part.id)
                if same is not None and same[0].turn == self.turn:
                    same.append(call)
                else:
                    self.open[slot.part.id] = [call]
                self.matches.calls.setdefault(id(draft), []).append(call)

    def _name(self, call: Part) -> str:
        """The id under which a call goes out. A legacy function call has none: its name says what it answers to."""
        if call.place == ("function_call",):
            return call.id
        if not self.unique and self.turn_ids[0] != self.turn:
            self.turn_ids = (self.turn, set())
        taken = self.used if self.unique else self.turn_ids[1]
        name = call.id or "call_" + hashlib.blake2b(encode(call.raw), digest_size=6).hexdigest()
        while name in taken:
            number = self.numbers[name] = self.numbers.get(name, 1) + 1
            tail = f"_{number}"
            candidate = name[: LONGEST_ID - len(tail)] + tail if len(name) <= LONGEST_ID else name + tail
            if candidate not in taken:
                name = candidate
        taken.add(name)
        return name

    def answered(self, draft: Draft) -> None:
        """Give each result of a message to its call."""
        for slot in draft.slots:
            if slot.part.kind == "result":
                self._answer(draft, slot)

    def _answer(self, draft: Draft, slot: Slot) -> None:
        calls = self.open.get(slot.part.id, [])
        near = any(call.turn == self.turn for call in calls[:1])
        if self.append and not near:
            self._append(draft, slot)
            return
        if not calls:
            self._drop(draft, slot, "a result without its call")
            return
        call = next((one for one in calls if one.answer is None), None)
        if call is None:
            call = next((one for one in calls if one.answer and not real(one.answer.part)), None)
            if call is None or call.answer is None or call.at is None or not real(slot.part):
                self._drop(draft, slot, "a call that is answered already")
                return
            self._drop(call.at, call.answer, "a call that is answered twice; the result that says more stays")
        call.answer, call.at = slot, draft
        if call.id != slot.part.id:
            draft.put(slot, self.form.rename_call(slot.raw, call.id))

    def _append(self, draft: Draft, slot: Slot) -> None:
        """Leave a late result where it arrived, as a text that names the call, and its media."""
        self._drop(draft, slot, "a late result, appended as text where it arrived")
        words = "\n".join([slot.part.text, *(p.text for p in walk(slot.part.parts) if p.kind == "text")]).strip()
        late = made(self.form.text(f"{late_head(slot.part.id)}\n{words}".rstrip()), draft.seq, len(draft.slots))
        late.key = slot.key
        media = [
            Slot(part=inner, raw=inner.raw, key=(slot.key[0], slot.key[1] + inner.place[len(slot.part.place) :]))
            for inner in slot.part.parts
            if inner.media is not None
        ]
        draft.add([late, *media])
        if draft.role == "tool":
            draft.role, draft.stored = "user", None

    def _drop(self, draft: Draft, slot: Slot, reason: str) -> None:
        self.gone.setdefault(id(draft), (draft, []))[1].append(slot)
        self._say(draft, slot, reason, slot.part.id)

    def _say(self, draft: Draft, slot: Slot, reason: str, name: str) -> None:
        decision = Decision(verb="repair", seq=draft.seq, place=slot.part.place, reason=reason, name=name)
        self.matches.decisions.append(decision)

    def sweep(self) -> None:
        """Take what answers nothing out of its message."""
        for draft, slots in self.gone.values():
            draft.take(slots)
