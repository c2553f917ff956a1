"""A message on the workbench: its parts with the place each was written at. Untouched, it becomes its own entry again.

The rule: parts are taken out, put in or replaced here, and JSON is made once, at the end (`sealed`), by the form's makers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from transom import edit
from transom.parts import Entry, Kind, Message, Part, Role, own_entry
from transom.types import Json, JsonObject, Key
from transom.wire.form import Form

MADE = "made"
"""The place of a part that nobody wrote: `("made", n)` in the message that it mends."""


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """A top-level part on its way: `part` as it was read, `raw` as it goes out, `key` where it was written.

    `link` is what a call and its results are known by here, in forms whose ids are optional.
    """

    part: Part
    raw: Json
    key: Key
    link: str = ""

    @property
    def id(self) -> str:
        """What a call and its results are known by."""
        return self.link or self.part.id


@dataclass(slots=True, kw_only=True, eq=False)
class Draft:
    """One message in the making. `stored` is the message whose JSON it keeps, None for one that was made up.

    `kinds` are the kinds of its parts; `held` its slots, made only when something looks at one, since most messages are never
    touched. `piece`: it is one of several that a stored message was split into. `lost`: slots (by identity) on their way out.
    """

    seq: int
    role: Role
    stored: Message | None
    kinds: tuple[Kind, ...]
    held: list[Slot] | None = None
    changed: bool = False
    piece: bool = False
    lost: set[int] = field(default_factory=set)

    @property
    def slots(self) -> list[Slot]:
        """Its parts on their way, in order."""
        if self.lost:
            self.sweep()
        if self.held is None:
            parts = self.stored.parts if self.stored is not None else ()
            self.held = [Slot(part=part, raw=part.raw, key=(self.seq, part.place)) for part in parts]
        return self.held

    @property
    def parts(self) -> Sequence[Part]:
        """Its parts as they were read."""
        if self.held is None and self.stored is not None:
            return self.stored.parts
        return [slot.part for slot in self.slots]

    def hold(self, slots: list[Slot]) -> None:
        """Let these be its slots."""
        self.held = slots
        self.kinds = tuple([slot.part.kind for slot in slots])
        self.changed = True

    def lose(self, slot: Slot) -> None:
        """Give a slot away; it is gone when the slots are looked at next, however many went, and `kinds` after `sweep`."""
        self.lost.add(id(slot))

    def sweep(self) -> None:
        """Remove what was given away."""
        away, self.lost = self.lost, set()
        if away:
            self.hold([slot for slot in self.slots if id(slot) not in away])

    def take(self, gone: Iterable[Slot]) -> None:
        """Remove slots."""
        self.lost.update(id(slot) for slot in gone)
        self.sweep()

    def put(self, slot: Slot, raw: Json) -> None:
        """Let one of the slots send something else."""
        slot.raw = raw
        self.changed = True

    def add(self, slots: Sequence[Slot], *, front: bool = False) -> None:
        """Put slots in front of all others, or behind them."""
        self.hold([*slots, *self.slots] if front else [*self.slots, *slots])

    def note(self, form: Form, words: str) -> None:
        """Put a text of ours behind all others."""
        self.add([made(form.text(words), self.seq, len(self.slots))])


def drafted(message: Message) -> Draft:
    """A stored message as it stands."""
    kinds = tuple([part.kind for part in message.parts])
    return Draft(seq=message.index, role=message.role, stored=message, kinds=kinds)


def reread(message: Message, json: JsonObject, form: Form) -> Message:
    """A message read again from what it became; what the log knows of it beside its JSON stays."""
    found = form.read_message(json, message.index)
    return replace(found, names=message.names, follows=message.follows)


def fresh(seq: int, role: Role, slots: list[Slot]) -> Draft:
    """A message that nobody wrote, which mends message `seq`."""
    return Draft(seq=seq, role=role, stored=None, kinds=tuple([slot.part.kind for slot in slots]), held=slots, changed=True)


def is_whole(draft: Draft) -> bool:
    """Whether the stored message is itself a result, so that no other part can stand in it."""
    return draft.stored is not None and len(draft.stored.parts) == 1 and draft.stored.parts[0].place == ()


def made(raw: Json, seq: int, number: int) -> Slot:
    """A slot for a part that nobody wrote, which mends message `seq`."""
    return Slot(part=Part(kind="text", place=(MADE, number), raw=raw), raw=raw, key=(seq, (MADE, number)))


def sealed(form: Form, draft: Draft) -> Entry:
    """The draft as an entry; an untouched one with the very message that was read."""
    stored = draft.stored
    if stored is not None and not draft.changed:
        return own_entry(stored)
    message = form.read_message(_json(form, draft), draft.seq)
    return Entry(message=message, seq=draft.seq, origin=tuple(slot.key for slot in draft.slots))


def _json(form: Form, draft: Draft) -> JsonObject:
    raws = [slot.raw for slot in draft.slots]
    if draft.role == "tool" and len(raws) == 1:
        return raws[0]  # type: ignore[no-any-return]
    if draft.stored is None or draft.piece:
        role: Literal["user", "assistant"] = "assistant" if draft.role == "assistant" else "user"
        return form.message(role, [form.text(raw) if isinstance(raw, str) else raw for raw in raws])
    return form.with_parts(draft.stored.json, raws)


def leaving(slot: Slot, draft: Draft) -> Slot:
    """A slot as it leaves its message: it gives up replay forms that parts left behind share (twins)."""
    if any(edit.identities(slot.raw)):
        slot.raw = edit.moved(slot.raw, [other.raw for other in draft.slots if other is not slot])
    return slot
