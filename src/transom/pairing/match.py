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
        else:
            matcher.direct = False
        before = draft.role
    matcher.sweep()
    return matcher.matches


class _Matcher:
    def __init__(self, form: Form, *, append: bool, unique: bool) -> None:
        self.form, self.append, self.unique = form, append, unique
        self.turn = 0
        self.direct = False
        """Whether only results stand between the newest calls and here."""
        self.matches = Matches()
        self.open: dict[str, list[Call]] = {}
        self.used: set[str] = set()
        self.turn_ids: tuple[int, set[str]] = (0, set())
        self.numbers: dict[str, int] = {}
        self.gone: dict[int, tuple[Draft, list[Slot]]] = {}

    def asked(self, draft: Draft) -> None:
        """Register the calls of an assistant message."""
        self.direct = True
        if "call" not in draft.kinds:
            return
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
        if "result" not in draft.kinds:
            self.direct = False
            return
        results = [slot for slot in draft.slots if slot.part.kind == "result"]
        if self.append and not self._fresh(results):
            self.direct = False
            for slot in results:
                self._append(draft, slot)
            return
        self.direct = self.direct and len(results) == len(draft.slots)
        for slot in results:
            self._answer(draft, slot)

    def _fresh(self, results: list[Slot]) -> bool:
        """Whether a message stands with the calls it answers, wherever a window starts: it comes directly behind them, and, where
        it is a message of the user, it answers one that waits.
        """
        if not self.direct or self.form.results_in == "tool":
            return self.direct
        return any(call.answer is None for slot in results for call in self._near(slot))

    def _near(self, slot: Slot) -> list[Call]:
        """The calls of the newest turn that a result may answer."""
        return [call for call in self.open.get(slot.part.id, []) if call.turn == self.turn]

    def _answer(self, draft: Draft, slot: Slot) -> None:
        calls = self._near(slot) if self.append else self.open.get(slot.part.id, [])
        if not calls:
            if self.append:
                self.direct = False
                self._append(draft, slot)
            else:
                self._drop(draft, slot, "a result without its call")
            return
        call = next((one for one in calls if one.answer is None), None)
        if call is None:
            call = self._worse(calls, draft) if real(slot.part) else None
            if call is None or call.answer is None or call.at is None:
                self._drop(draft, slot, "a call that is answered already")
                return
            self._drop(call.at, call.answer, "a call that is answered twice; the result that says more stays")
        call.answer, call.at = slot, draft
        if call.id != slot.part.id:
            draft.put(slot, self.form.rename_call(slot.raw, call.id))

    def _worse(self, calls: list[Call], draft: Draft) -> Call | None:
        """A call whose answer only says that it failed. Where late results stay, no message that was sent loses its answer."""
        fixed = self.append and self.form.results_in == "user"
        found = (one for one in calls if one.answer is not None and not real(one.answer.part))
        return next((one for one in found if one.at is draft or not fixed), None)

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
        if slot.part.place == ():
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
