"""A message on the workbench: its parts with the place each was written at. Untouched, it becomes its own entry again.

The rule: parts are taken out, put in or replaced here, and JSON is made once, at the end (`sealed`), by the form's makers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from transom import edit
from transom.parts import Entry, Message, Part, Role, own_entry
from transom.types import Json, JsonObject, Key
from transom.wire.form import Form

MADE = "made"
"""The place of a part that nobody wrote: `("made", n)` in the message that it mends."""


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """A top-level part on its way: `part` as it was read, `raw` as it goes out, `key` where it was written."""

    part: Part
    raw: Json
    key: Key


@dataclass(slots=True, kw_only=True, eq=False)
class Draft:
    """One message in the making. `stored` is the message whose JSON it keeps, None for one that was made up.

    `piece`: it is one of several that a stored message was split into.
    """

    seq: int
    role: Role
    stored: Message | None
    slots: list[Slot]
    changed: bool = False
    piece: bool = False

    def take(self, gone: Iterable[Slot]) -> None:
        """Remove slots."""
        away = {id(slot) for slot in gone}
        if away:
            self.slots = [slot for slot in self.slots if id(slot) not in away]
            self.changed = True

    def put(self, slot: Slot, raw: Json) -> None:
        """Let one of the slots send something else."""
        if raw is not slot.raw:
            slot.raw = raw
            self.changed = True

    def add(self, slots: Sequence[Slot], *, front: bool = False) -> None:
        """Put slots in front of all others, or behind them."""
        if slots:
            self.slots = [*slots, *self.slots] if front else [*self.slots, *slots]
            self.changed = True

    def note(self, form: Form, words: str) -> None:
        """Put a text of ours behind all others."""
        self.add([made(form.text(words), self.seq, len(self.slots))])


def drafted(message: Message) -> Draft:
    """A stored message as it stands."""
    index = message.index
    slots = [Slot(part=part, raw=part.raw, key=(index, part.place)) for part in message.parts]
    return Draft(seq=index, role=message.role, stored=message, slots=slots)


def is_whole(draft: Draft) -> bool:
    """Whether the stored message is itself a result, so that no other part can stand in it."""
    return draft.stored is not None and any(part.place == () for part in draft.stored.parts)


def made(raw: Json, seq: int, number: int) -> Slot:
    """A slot for a part that nobody wrote, which mends message `seq`."""
    return Slot(part=Part(kind="text", place=(MADE, number), raw=raw), raw=raw, key=(seq, (MADE, number)))


def sealed(form: Form, draft: Draft) -> Entry:
    """The draft as an entry; an untouched one with the very message that was read."""
    stored = draft.stored
    if stored is not None and not draft.changed:
        return own_entry(stored)
    message = form.read_message(_json(form, draft), draft.seq)
    origin = tuple(slot.key for slot in draft.slots)
    if len(origin) != len(message.parts):  # a maker put two texts into one
        origin = tuple((draft.seq, part.place) for part in message.parts)
    return Entry(message=message, seq=draft.seq, origin=origin)


def _json(form: Form, draft: Draft) -> JsonObject:
    raws = [slot.raw for slot in draft.slots]
    if draft.role == "tool" and len(raws) == 1:
        return raws[0]  # type: ignore[no-any-return]
    if draft.stored is None or draft.role != draft.stored.role:
        role: Literal["user", "assistant"] = "assistant" if draft.role == "assistant" else "user"
        return form.message(role, [form.text(raw) if isinstance(raw, str) else raw for raw in raws])
    return form.with_parts(draft.stored.json, raws)


def leaving(slot: Slot, draft: Draft) -> Slot:
    """A slot as it leaves its message: it gives up replay forms that parts left behind share (twins)."""
    if any(edit.identities(slot.raw)):
        slot.raw = edit.moved(slot.raw, [other.raw for other in draft.slots if other is not slot])
    return slot
