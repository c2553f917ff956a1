"""Which result answers which call, decided once over the whole stored sequence; and ids that tell calls apart.

The rule: a result answers the latest earlier call with its id. An id that is taken gets a number behind it, decided by what was
stored before, so that appending a message never renames an older call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Literal

from transom.canon import encode
from transom.pairing.draft import Draft, Slot, made
from transom.pairing.notes import late_head, real
from transom.parts import Part, walk
from transom.plan import Decision
from transom.wire.form import Form
from transom.wire.naming import bounded, spelled_id

LONGEST_ID = 64
"""Characters within which an id stays when it gets a number: OpenAI's and Bedrock's limit ("Expected a string with maximum length
64", 2026-03; botocore, `ToolUseId`). OpenAI's Chat Completions took 40 until 2025-12 (openclaw/openclaw 875, 2026-01)."""


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """A call, and the result that answers it: `answer` in the message `at`; `near` unless the assistant spoke in between."""

    slot: Slot
    id: str
    turn: int
    answer: Slot | None = None
    at: Draft | None = None


@dataclass(slots=True)
class _Asked:
    """The calls of one turn that share an id. `waiting` and `broken` are how many of them are past waiting for an answer, and
    past waiting for one that says more; both only grow.
    """

    calls: list[Call]
    waiting: int = 0
    broken: int = 0

    def next(self) -> Call | None:
        """The first call without an answer."""
        while self.waiting < len(self.calls) and self.calls[self.waiting].answer is not None:
            self.waiting += 1
        return self.calls[self.waiting] if self.waiting < len(self.calls) else None

    def worst(self) -> Call | None:
        """The first call whose answer says only that it failed."""
        while self.broken < len(self.calls):
            answer = self.calls[self.broken].answer
            if answer is not None and not real(answer.part):
                return self.calls[self.broken]
            self.broken += 1
        return None


@dataclass(slots=True, kw_only=True)
class Matches:
    """The calls of each assistant message (by the draft's identity), and what was repaired on the way."""

    calls: dict[int, list[Call]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)


def match(  # noqa: PLR0913 - what is matched, and by which rules
    drafts: Iterable[Draft],
    form: Form,
    *,
    late: Literal["move", "append"],
    unique: bool,
    held: bool = False,
    anywhere: bool = False,
    longest: int = 0,
) -> Matches:
    """Find the answer of every call. Results that answer nothing are taken out of their messages, or, with `late="append"`,
    stay there as text. `unique`: ids must differ in the whole request, not in one turn only. `held`: the provider holds calls
    that are not among these messages, and results may answer them. `anywhere`: what the user says ahead of a result makes it
    no late one. `longest`: the characters that an id may have, 0 for any number of them.
    """
    matcher = _Matcher(form, append=late == "append", unique=unique, held=held, longest=longest)
    before = ""
    for draft in drafts:
        if draft.role == "assistant":
            if before != "assistant" or not (form.merges or form.items):
                matcher.turn += 1
            matcher.asked(draft)
        elif draft.role == ("tool" if form.results_in == "tool" else "user"):
            matcher.answered(draft)
        else:
            matcher.direct = matcher.direct and anywhere and draft.role == "user"
        before = draft.role
    matcher.sweep()
    return matcher.matches


def given_id(call: Part) -> str:
    """The id of a call; of one that has none, a name made from what it says."""
    return call.id or "call_" + hashlib.blake2b(encode(call.raw), digest_size=6).hexdigest()


def numbered(name: str, taken: Container[str], numbers: MutableMapping[str, int]) -> str:
    """`name`, with a number behind it where it is `taken`. `numbers` are the last ones given, by name."""
    while name in taken:
        number = numbers[name] = numbers.get(name, 1) + 1
        tail = f"_{number}"
        candidate = name[: LONGEST_ID - len(tail)] + tail if len(name) <= LONGEST_ID else name + tail
        if candidate not in taken:
            name = candidate
    return name


class _Matcher:
    def __init__(self, form: Form, *, append: bool, unique: bool, held: bool, longest: int) -> None:
        self.form, self.append, self.unique, self.held, self.longest = form, append, unique, held, longest
        self.turn = 0
        self.direct = False
        """Whether only results stand between the newest calls and here."""
        self.matches = Matches()
        self.open: dict[str, _Asked] = {}
        self.newest: tuple[int, _Asked] = (0, _Asked([]))
        """The calls of the newest turn that calls, whatever their ids."""
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
                call = Call(slot=slot, id=self._name(slot, draft), turn=self.turn)
                if call.id != slot.id:
                    draft.put(slot, self.form.rename_call(slot.raw, call.id))
                    self._say(draft, slot, f"{self._why(slot.part.id, call.id)}, now {call.id}", slot.part.id or call.id)
                same = self.open.get(slot.id)
                if same is not None and same.calls[0].turn == self.turn:
                    same.calls.append(call)
                else:
                    self.open[slot.id] = _Asked([call])
                if self.newest[0] != self.turn:
                    self.newest = (self.turn, _Asked([]))
                self.newest[1].calls.append(call)
                self.matches.calls.setdefault(id(draft), []).append(call)

    def _name(self, slot: Slot, draft: Draft) -> str:
        """The id under which a call goes out: the one that the log decided on, else one that nobody has in what is read. A legacy
        function call has none: its name says what it answers to.
        """
        call = slot.part
        if call.place == ("function_call",) or self.form.ids == "position":
            return slot.id
        if not self.unique and self.turn_ids[0] != self.turn:
            self.turn_ids = (self.turn, set())
            self.numbers.clear()  # else a number would depend on the turns before, and change as they leave the window
        taken = self.used if self.unique else self.turn_ids[1]
        decided = dict(draft.stored.names).get(slot.key[1]) if self.unique and draft.stored is not None else None
        name = decided or numbered(given_id(call), taken, self.numbers)
        taken.add(name)
        return self._spelled(name)

    def _spelled(self, name: str) -> str:
        """An id in the letters and the length that the provider takes."""
        return bounded(spelled_id(name, self.form.odd_in_ids), self.longest)

    def _why(self, given: str, now: str) -> str:
        """Why a call goes out under another id."""
        if not given:
            return "a call without an id"
        return "an id that the provider refuses" if now == self._spelled(given) else "an id that an earlier call has"

    def answered(self, draft: Draft) -> None:
        """Give each result of a message to its call."""
        if "result" not in draft.kinds:
            self.direct = False
            return
        results = [slot for slot in draft.slots if slot.part.kind == "result" and not self._unseen(draft, slot)]
        if not results:
            return
        if self.append and not self._fresh(results):
            self.direct = False
            self._append(draft, results)
            return
        self.direct = self.direct and len(results) == len(draft.slots)
        late = [slot for slot in results if not self._answer(draft, slot)]
        if late:
            self.direct = False
            self._append(draft, late)

    def _unseen(self, draft: Draft, slot: Slot) -> bool:
        """Whether a result answers a call that the provider holds and nobody here sees."""
        if not self.held or not slot.id or slot.id in self.open:
            return False
        if slot.id in self.used:
            self._drop(draft, slot, "a call that is answered already")
        self.used.add(slot.id)
        return True

    def _fresh(self, results: list[Slot]) -> bool:
        """Whether a message stands with the calls it answers, wherever a window starts: it comes directly behind them, and, where
        it is a message of the user, it answers one that waits.
        """
        if not self.direct or self.form.results_in == "tool":
            return self.direct
        asked = (self._near(slot) for slot in results)
        return any(one is not None and one.next() is not None for one in asked)

    def _near(self, slot: Slot) -> _Asked | None:
        """The calls of the newest turn that a result may answer; one that names none answers the first that waits."""
        asked = self.open.get(slot.id)
        if asked is not None and asked.calls[0].turn == self.turn:
            return asked
        return self.newest[1] if not slot.id and self.newest[0] == self.turn else None

    def _answer(self, draft: Draft, slot: Slot) -> bool:
        """Give a result to its call, or take it out. False where it is to be appended as text instead."""
        asked = self._near(slot) if self.append or not slot.id else self.open.get(slot.id)
        if asked is None:
            if not self.append:
                self._drop(draft, slot, "a result without its call")
            return not self.append
        call = asked.next()
        if call is None:
            call = self._worse(asked, slot, draft)
            if call is None or call.answer is None or call.at is None:
                self._drop(draft, slot, "a call that is answered already")
                return True
            self._drop(call.at, call.answer, "a call that is answered twice; the result that says more stays")
        call.answer, call.at = slot, draft
        if call.id != slot.id:
            draft.put(slot, self.form.rename_call(slot.raw, call.id))
        return True

    def _worse(self, asked: _Asked, slot: Slot, draft: Draft) -> Call | None:
        """A call whose answer says less. Where late results stay, no other message of the user loses what it was sent with."""
        if not real(slot.part):
            return None
        call = asked.worst()
        fixed = self.append and self.form.results_in == "user"
        return call if call is not None and (call.at is draft or not fixed) else None

    def _append(self, draft: Draft, results: list[Slot]) -> None:
        """Leave late results where they arrived, each as a text that names its call, and its media."""
        added: list[Slot] = []
        for slot in results:
            self._drop(draft, slot, "a late result, appended as text where it arrived")
            words = "\n".join([slot.part.text, *(p.text for p in walk(slot.part.parts) if p.kind == "text")]).strip()
            seq, place = slot.key
            late = made(self.form.text(f"{late_head(slot.part.id or slot.part.name)}\n{words}".rstrip()), draft.seq, len(added))
            late.key = slot.key
            media = [part for part in slot.part.parts if part.media is not None]
            added.append(late)
            added += [Slot(part=p, raw=p.raw, key=(seq, place + p.place[len(slot.part.place) :])) for p in media]
            if place == ():
                draft.role, draft.stored = "user", None
        draft.add(added)

    def _drop(self, draft: Draft, slot: Slot, reason: str) -> None:
        self.gone.setdefault(id(draft), (draft, []))[1].append(slot)
        self._say(draft, slot, reason, slot.part.id or slot.part.name)

    def _say(self, draft: Draft, slot: Slot, reason: str, name: str) -> None:
        decision = Decision(verb="repair", seq=draft.seq, place=slot.part.place, reason=reason, name=name)
        self.matches.decisions.append(decision)

    def sweep(self) -> None:
        """Take what answers nothing out of its message."""
        for draft, slots in self.gone.values():
            draft.take(slots)
