"""The last mends, on the drafts in the order they are sent: messages that hold nothing, and how turns begin and end.

The rule: a note is a constant text, and whether it stands depends on its own message and on newer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from transom.pairing.draft import Draft, fresh, is_whole, made
from transom.pairing.notes import BROKEN_OFF, DOCUMENTS, EMPTIED, GO_ON, NO_THINKING, OPENING
from transom.parts import Role
from transom.plan import Decision
from transom.wire.form import Form
from transom.wire.keyed import wordless


def without_empties(runs: Sequence[list[Draft]], form: Form) -> tuple[list[list[Draft]], list[Decision]]:
    """Messages without content say so in a constant note; results that were messages of their own leave none behind."""
    held = {draft.seq for run in runs for draft in run if draft.kinds}
    out, decisions = [], []
    for run in runs:
        kept = []
        for draft in run:
            if not _empty(draft, form):
                kept.append(draft)
            elif draft.kinds or not (is_whole(draft) or (draft.piece and draft.seq in held)):
                draft.hold([slot for slot in draft.slots if slot.part.kind == "reasoning"])
                draft.note(form, EMPTIED)
                kept.append(draft)
                decisions.append(Decision(verb="repair", seq=draft.seq, reason="a message without content"))
        if kept:
            out.append(kept)
    return out, decisions


def _empty(draft: Draft, form: Form) -> bool:
    if not draft.changed and not form.merges and (form.items or draft.role == "system"):
        return False
    if draft.role != "assistant" or form.merges or form.items:
        return not draft.kinds
    said = [part for part in draft.parts if part.kind != "reasoning"]
    return not said or (len(said) == 1 and said[0].place == ("content",) and not said[0].text)


def without_bare_thinking(drafts: Sequence[Draft], form: Form) -> Iterator[Decision]:
    """A turn of the assistant may not end with reasoning (Anthropic: "The final block in an assistant message cannot be
    `thinking`", 2026-08). The reasoning is signed and stays; a note follows it.
    """
    if form.bare_reasoning != "closed":
        return
    for role, turn in groupby(drafts, key=lambda draft: draft.role):
        last = list(turn)[-1]
        if role == "assistant" and last.kinds[-1] == "reasoning":
            last.note(form, BROKEN_OFF)
            yield Decision(verb="repair", seq=last.seq, reason="a turn that ends with thinking, closed by a note")


def without_lost_reasoning(runs: Sequence[list[Draft]], form: Form) -> tuple[list[list[Draft]], list[Decision]]:
    """An item of reasoning goes with the item that it led to (OpenAI: "Item 'rs_...' of type 'reasoning' was provided without its
    required following item", 2025-07): nothing else can follow it.
    """
    if form.bare_reasoning != "lost":
        return list(runs), []
    out: list[list[Draft]] = []
    decisions: list[Decision] = []
    after: Draft | None = None
    for run in reversed(runs):
        kept: list[Draft] = []
        for draft in reversed(run):
            leads = after is not None and after.role == "assistant" and after.kinds[:1] != ("reasoning",)
            if leads or draft.kinds != ("reasoning",) or not is_whole(draft):
                kept.append(draft)
                after = draft
            else:
                decisions.append(Decision(verb="repair", seq=draft.seq, reason="reasoning that lost the item it led to"))
        if kept:
            out.append(kept[::-1])
    return out[::-1], decisions[::-1]


def rejoined(runs: Sequence[list[Draft]], form: Form) -> list[list[Draft]]:
    """Runs of the assistant that touch, since all that stood between them is gone, as one: they will be read as one turn, and
    what is put between two groups would break it.
    """
    out: list[list[Draft]] = []
    for run in runs:
        if out and (form.merges or form.items) and out[-1][-1].role == "assistant" == run[0].role:
            out[-1] += run
        else:
            out.append(run)
    return out


def with_thinking(runs: Sequence[list[Draft]], form: Form) -> Iterator[Decision]:
    """With thinking enabled, the last turn of the assistant must think before it calls (Anthropic: "Expected `thinking` or
    `redacted_thinking`, but found `tool_use`", 2026-08). Thinking cannot be made up: the turn is closed by a note instead.
    """
    number = next((n for n in reversed(range(len(runs))) if any(d.role == "assistant" for d in runs[n])), None)
    if number is None:
        return
    run = runs[number]
    turns = [list(turn) for role, turn in groupby(run, key=lambda draft: draft.role) if role == "assistant"]
    kinds = [kind for draft in turns[-1] for kind in draft.kinds]
    if kinds[0] == "reasoning" or "call" not in kinds:
        return
    seq = turns[-1][-1].seq
    run.append(_note(form, "assistant", NO_THINKING, seq))
    if number == len(runs) - 1:
        run.append(_note(form, "user", GO_ON, seq))
    yield Decision(verb="repair", seq=seq, reason="a call without the thinking that the request asks for, closed by a note")


def with_spoken_documents(drafts: Iterable[Draft], form: Form) -> Iterator[Decision]:
    """A message of the user that shows documents says something (Bedrock: "A text block must be included when using documents",
    2026-08): a note stands in front of the first, behind the results.
    """
    for draft in drafts:
        if draft.role != "user" or not {"document", "opaque"} & {*draft.kinds}:
            continue
        slots = draft.slots
        if wordless(slot.raw for slot in slots):
            at = next(n for n, slot in enumerate(slots) if "document" in slot.raw)
            draft.hold([*slots[:at], made(form.text(DOCUMENTS), draft.seq, len(slots)), *slots[at:]])
            yield Decision(verb="repair", seq=draft.seq, reason="documents without a text, which a note stands beside")


def with_edges(runs: Sequence[list[Draft]], form: Form, quirks: frozenset[str], *, held: bool = False) -> Iterator[Decision]:
    """The user's turn first, where the form wants it so, and last, where the model continues no answer. `held`: the provider puts
    what it keeps in front, so that the first message here is not the first.
    """
    first, last = runs[0], runs[-1]
    if form.merges and first[0].role != "user" and not held:
        first.insert(0, _note(form, "user", OPENING, first[0].seq))
        yield Decision(verb="repair", seq=first[0].seq, reason="the first turn is not the user's; a note opens it")
    waits = last[-1].kinds[-1:] == ("server-call",)
    if "no-prefill" in quirks and last[-1].role == "assistant" and not waits:
        last.append(_note(form, "user", GO_ON, last[-1].seq))
        yield Decision(verb="repair", seq=last[-1].seq, reason="the last turn is the assistant's; a note asks to go on")
    elif form.prefill_trimmed and last[-1].role == "assistant":
        yield from _trimmed(last[-1], form)


def _trimmed(draft: Draft, form: Form) -> Iterator[Decision]:
    """What the model is to go on with does not end with white space (Anthropic: "final assistant content cannot end with
    trailing whitespace", 2025-11).
    """
    slot = draft.slots[-1]
    part = slot.part
    words = part.text.rstrip()
    if part.kind == "text" and words != part.text:
        draft.put(slot, {**slot.raw, "text": words} if isinstance(slot.raw, dict) else form.text(words))
        yield Decision(verb="mend", seq=draft.seq, place=part.place, reason="white space at the end of an answer to go on with")


def without_final_thinking(run: Sequence[Draft], form: Form) -> Iterator[Decision]:
    """What the model is to go on with and not think holds no thinking (Anthropic: "When thinking is disabled, an `assistant`
    message in the final position cannot contain `thinking`", 2025-11). `run` is the last.
    """
    for draft in reversed(run):
        if draft.role != "assistant":
            return
        gone = [slot for slot in draft.slots if slot.part.kind == "reasoning"]
        if gone:
            draft.take(gone)
            if not draft.kinds:
                draft.note(form, EMPTIED)
            reason = "thinking in an answer to go on with, in a request that asks for none"
            yield Decision(verb="mend", seq=draft.seq, place=gone[0].part.place, reason=reason)


def _note(form: Form, role: Role, words: str, seq: int) -> Draft:
    return fresh(seq, role, [made(form.text(words), seq, 0)])


def nothing_left(form: Form, seq: int) -> list[Draft]:
    """What stands for a conversation of which nothing is left."""
    return [_note(form, "user", EMPTIED, seq)]
