"""Results in their places: behind the assistant's turn that called, before anything else, each call answered once.

The rule (CM-100, CM-101): what stands legally stays where it stands. What is missing is put in front of the results that follow
the calls, or into a message of its own between the calls and whatever follows; a call that nobody answered gets a failed stub.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transom.canon import text
from transom.pairing.draft import Draft, Slot, fresh, is_whole, leaving, made
from transom.pairing.match import Call, Matches
from transom.pairing.notes import MEDIA_BELOW, MEDIA_HERE, NOT_FINISHED
from transom.parts import Part
from transom.plan import Decision
from transom.types import Json
from transom.wire.form import Form

_APART = "a result that stood apart from its call, moved behind it"
_NOT_TEXT = "a result that may hold text only; what else it held is told as text"


class Placer:
    """One pass over the drafts: `runs` yields each message, or an assistant turn with its calls and their answers, as one.

    `strict`: each answer stands right behind its call. `anywhere`: it may stand behind what the user says in between, and then
    that goes out with the calls.
    """

    def __init__(
        self, drafts: Sequence[Draft], matches: Matches, form: Form, *, strict: bool = False, anywhere: bool = False
    ) -> None:
        self.drafts, self.matches, self.form, self.strict, self.anywhere = drafts, matches, form, strict, anywhere
        self.decisions: list[Decision] = []
        self.robbed: list[Draft] = []
        self.taken: set[int] = set()
        """Drafts (by identity) that were moved up to their call whole."""

    def runs(self) -> Iterator[list[Draft]]:
        """What belongs together, in the order it is sent."""
        at = 0
        while at < len(self.drafts):
            end = self._turn(at)
            calls = [call for draft in self.drafts[at:end] for call in self.matches.calls.get(id(draft), ())]
            if not calls:
                if id(self.drafts[at]) not in self.taken:
                    yield list(self.drafts[at:end])
                at = end
                continue
            own = list(self.drafts[at:end])
            at = self._placed(own, calls, end)
            yield own
        for draft in self.robbed:
            draft.sweep()

    def _placed(self, own: list[Draft], calls: list[Call], end: int) -> int:
        """Let `own`, a turn that calls, be followed by its answers; where the rest goes on."""
        if self.form.results_in == "tool":
            return self._in_messages(own, calls, end)
        return self._alone(own, calls, end) if self.form.results_alone else self._in_parts(own, calls, end)

    def _turn(self, at: int) -> int:
        """Where the run of messages that the provider reads as one turn of the assistant ends. Where each result must stand right
        behind its call (`strict`), items end with their first call.
        """
        end = at + 1
        strict = self.strict and self.form.items
        if (self.form.merges or self.form.items) and self.drafts[at].role == "assistant":
            while end < len(self.drafts) and self.drafts[end].role == "assistant":
                if strict and "call" in self.drafts[end - 1].kinds:
                    break
                end += 1
        return end

    def _alone(self, own: list[Draft], calls: list[Call], end: int) -> int:
        """Answers in one message of the user that holds nothing else: the one right behind the calls, if it is one of answers
        only, with those of its neighbours; else one that is made. What else stood beside answers follows. Where the rest goes on.
        """
        answers = {id(call.answer) for call in calls if call.answer is not None}
        behind = end
        mixed: list[Draft] = []
        while behind < len(self.drafts) and self.drafts[behind].role == "user":
            known = [id(slot) in answers for slot in self.drafts[behind].slots]
            if not any(known):
                break
            mixed += [] if all(known) else [self.drafts[behind]]
            behind += 1
        first = self.drafts[end] if behind > end and self.drafts[end] not in mixed else None
        there = {id(slot) for slot in first.slots} if first is not None else set()
        missing = [call for call in calls if call.answer is None or id(call.answer) not in there]
        found = [self._found(call, own[-1], number) for number, call in enumerate(missing)]
        if first is None:
            first = fresh(own[-1].seq, "user", found)
        elif found:
            first.add(found)
        own += [first, *mixed]
        return behind

    def _in_parts(self, own: list[Draft], calls: list[Call], end: int) -> int:
        """Answers as parts of user messages. Appends them to `own`; where the rest goes on."""
        answers = {id(call.answer) for call in calls if call.answer is not None}
        zone, behind = self._zone(end, answers)
        missing = [call for call in calls if id(call.answer) not in zone]
        own += [self._whole(call, call.at) for call in missing if call.at is not None and is_whole(call.at)]
        missing = [call for call in missing if call.at is None or not is_whole(call.at)]
        if missing:
            behind = self._put(own, missing, answers, end, behind)
        own += [draft for draft in self.drafts[end:behind] if id(draft) not in self.taken]
        return behind

    def _put(self, own: list[Draft], missing: list[Call], answers: set[int], end: int, behind: int) -> int:
        """Put missing answers in front of the message that follows the calls, if it answers any of them, else into one of
        their own. Where the rest goes on.
        """
        first = self.drafts[end] if end < len(self.drafts) else None
        if first is not None and (
            first.role != "user" or is_whole(first) or not any(id(slot) in answers for slot in first.slots)
        ):
            first = None
        home = {id(slot) for slot in first.slots} if first is not None else set()
        seq, last = own[-1].seq, own[-1]
        found = [self._found(call, last, number, home=id(call.answer) in home) for number, call in enumerate(missing)]
        if first is None:
            own.append(fresh(seq, "user", found))
            return behind
        moved = {id(one) for one in found}
        first.take([slot for slot in first.slots if id(slot) in moved])
        first.add(found, front=True)
        return max(behind, end + 1)

    def _zone(self, end: int, answers: set[int]) -> tuple[set[int], int]:
        """The answers that stand where they may, and the message behind the last of them: results first, then the rest."""
        zone: set[int] = set()
        behind = end
        for at in range(end, len(self.drafts)):
            draft = self.drafts[at]
            if draft.role != "user":
                break
            leading = 0
            for slot in draft.slots:
                if id(slot) not in answers:
                    break
                leading += 1
                zone.add(id(slot))
            if leading:
                behind = at + 1
            if not leading or leading < len(draft.slots):
                break
        return zone, behind

    def _in_messages(self, own: list[Draft], calls: list[Call], end: int) -> int:
        """Answers as messages of their own. Appends them to `own`; where the rest goes on."""
        answers = {id(call.answer) for call in calls if call.answer is not None}
        behind = self._behind(end, answers)
        placed = [draft for draft in self.drafts[end:behind] if draft.role != "tool" or not self._gone(draft)]
        here = {id(draft.slots[0]) for draft in placed if draft.role == "tool"}
        made = [
            self._message(call, own[-1], number)
            for number, call in enumerate(calls)
            if call.at is None or id(call.answer) not in here
        ]
        first = next((number for number, draft in enumerate(placed) if draft.role != "tool"), len(placed))
        own += [*placed[:first], *made, *placed[first:]]
        own += self._media([*placed, *made]) if self.form.results_hold == "text" else []
        return behind

    def _behind(self, end: int, answers: set[int]) -> int:
        """Behind the last message that belongs to the answers."""
        behind = end
        for at in range(end, len(self.drafts)):
            draft = self.drafts[at]
            if draft.role == "tool" and self._gone(draft):
                behind += behind == at
            elif draft.role == "tool" and id(draft.slots[0]) in answers:
                behind = at + 1
            elif draft.role != "user" or not self.anywhere:
                break
        return behind

    def _gone(self, draft: Draft) -> bool:
        """Whether nothing is left of a result that was a message of its own."""
        return not draft.kinds or id(draft) in self.taken

    def _message(self, call: Call, last: Draft, number: int) -> Draft:
        if call.at is None or call.answer is None:
            slot = self._found(call, last, number)
            return fresh(last.seq, "tool", [slot])
        return self._whole(call, call.at)

    def _whole(self, call: Call, at: Draft) -> Draft:
        """A result that is a message of its own, moved up as it is."""
        self._say(call, at.slots[0], _APART)
        self.taken.add(id(at))
        return at

    def _found(self, call: Call, last: Draft, number: int, *, home: bool = False) -> Slot:
        """The answer of a call taken from where it stands, or a failed stub."""
        if call.answer is None or call.at is None:
            part = _named(call)
            stub = made(self.form.result_stub(part, NOT_FINISHED), last.seq, number)
            stub.part = part
            reason = "a call without a result, answered by one that says that it was not finished"
            self.decisions.append(
                Decision(verb="repair", seq=call.slot.key[0], place=call.slot.part.place, reason=reason, name=call.id)
            )
            return stub
        if home:
            self._say(call, call.answer, "a result behind other parts of its message, moved to the front")
            return call.answer
        self._say(call, call.answer, _APART)
        slot = leaving(call.answer, call.at)
        call.at.lose(slot)
        self.robbed.append(call.at)
        return slot

    def _say(self, call: Call, answer: Slot, reason: str) -> None:
        seq, place = answer.key
        self.decisions.append(Decision(verb="repair", seq=seq, place=place, reason=reason, name=call.id))

    def _media(self, results: list[Draft]) -> list[Draft]:
        """A message of the user with the media of results that may hold text only (OpenAI: a message of role `tool` takes text
        parts, reference of Chat Completions, 2026-08).
        """
        slots: list[Slot] = []
        for draft in results:
            slot = draft.slots[0]
            if not isinstance(slot.raw, dict) or not isinstance(slot.raw.get("content"), list):
                continue
            media = [part for part in slot.part.parts if part.media is not None or part.parts]
            if not media and all(part.raw.get("type") == "text" for part in slot.part.parts):
                continue
            seq, place = slot.key
            slots += [Slot(part=part, raw=part.raw, key=(seq, place + part.place[len(slot.part.place) :])) for part in media]
            draft.put(slot, _text_only(self.form, slot, media))
            reason = "a result that may hold text only; its media moved behind the results" if media else _NOT_TEXT
            self.decisions.append(Decision(verb="repair", seq=seq, place=place, reason=reason, name=slot.part.id))
        if not slots:
            return []
        last = results[-1].seq
        head = made(self.form.text(MEDIA_HERE), last, 0)
        return [fresh(last, "user", [head, *slots])]


def _named(call: Call) -> Part:
    """The call under the id that it goes out with."""
    part = call.slot.part
    if part.id == call.id:
        return part
    return Part(kind=part.kind, place=part.place, raw=call.slot.raw, text=part.text, id=call.id, name=part.name)


def _text_only(form: Form, slot: Slot, media: Sequence[Part]) -> Json:
    """A result whose content is text: media are gone from it, and what else is no text is told as text."""
    gone = {id(part) for part in media}
    rest = [
        part.raw if part.raw.get("type") == "text" else form.text(part.text or text(part.raw))
        for part in slot.part.parts
        if id(part) not in gone
    ]
    return {**slot.raw, "content": rest or [form.text(MEDIA_BELOW)]}
