"""Calls that the provider runs itself, and their results: pairs inside one turn of the assistant.

The rule: a result without its call goes; a call without a result is answered by an error in its tool's own shape, unless the turn
may still go on (it is the last, or only results of other calls follow it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transom.pairing.draft import Draft, Slot, made
from transom.pairing.notes import NOT_FINISHED
from transom.plan import Decision
from transom.wire.form import Form


def turns(drafts: Sequence[Draft]) -> Iterator[tuple[list[Draft], int]]:
    """Each run of messages of the assistant, and the position behind it."""
    run: list[Draft] = []
    for at, draft in enumerate(drafts):
        if draft.role == "assistant":
            run.append(draft)
        elif run:
            yield run, at
            run = []
    if run:
        yield run, len(drafts)


def without_orphans(drafts: Sequence[Draft]) -> list[Decision]:
    """Take out results whose server call does not stand before them in the same turn, and second results of one call."""
    decisions = []
    for run, _ in turns(drafts):
        waiting: set[str] = set()
        for draft in run:
            if "server-call" not in draft.kinds and "server-result" not in draft.kinds:
                continue
            gone = [slot for slot in draft.slots if _lost(slot, waiting)]
            draft.take(gone)
            decisions += [_said(draft, slot, "a server tool's result without its call") for slot in gone]
    return decisions


def _lost(slot: Slot, waiting: set[str]) -> bool:
    if slot.part.kind == "server-call":
        waiting.add(slot.part.id)
    elif slot.part.kind == "server-result":
        if slot.part.id not in waiting:
            return True
        waiting.discard(slot.part.id)
    return False


def with_answers(drafts: Sequence[Draft], form: Form) -> list[Decision]:
    """Answer server calls that have no result where the turn is over. The drafts are all there will be, in order."""
    decisions: list[Decision] = []
    for run, behind in turns(drafts):
        own = [draft for draft in run if "server-call" in draft.kinds]
        if own and _over(drafts, behind):
            answered = {part.id for draft in run for part in draft.parts if part.kind == "server-result"}
            for draft in own:
                decisions += _answer(draft, answered, form)
    return decisions


def _over(drafts: Sequence[Draft], behind: int) -> bool:
    """Whether anything but results follows in the turn behind."""
    role = drafts[behind].role if behind < len(drafts) else "user"
    for draft in drafts[behind:]:
        if draft.role != role:
            break
        if any(kind != "result" for kind in draft.kinds):
            return True
    return False


def _answer(draft: Draft, answered: set[str], form: Form) -> list[Decision]:
    """Put an error behind each open call, except in a form that has no shape for one, where nothing minds an open call."""
    slots: list[Slot] = []
    decisions = []
    for slot in draft.slots:
        slots.append(slot)
        if slot.part.kind == "server-call" and slot.part.id not in answered:
            raw = form.result_stub(slot.part, NOT_FINISHED)
            if raw.get("type") != "tool_result":
                slots.append(made(raw, draft.seq, len(slots)))
                decisions.append(_said(draft, slot, "a server tool's call without a result, answered by an error"))
    if decisions:
        draft.hold(slots)
    return decisions


def _said(draft: Draft, slot: Slot, reason: str) -> Decision:
    return Decision(verb="repair", seq=draft.seq, place=slot.part.place, reason=reason, name=slot.part.id)
