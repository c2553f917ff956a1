"""Placeholders in the place of pictures: one way to do it, for whatever reason it is done. Copy on write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from transom import edit
from transom.canon import MARKS
from transom.parts import Entry, Media, Part
from transom.placeholder import merged
from transom.types import Json, Key, Place
from transom.wire.form import Form


def stubbed(entry: Entry, dead: AbstractSet[Key], form: Form) -> Entry:
    """The entry with a placeholder for each part whose key is in `dead`; the same entry where it holds none of them.

    Neighbouring placeholders become one text. Twins of what is replaced go with it (INV-10).
    """
    found = tuple(part for key, part in entry.keyed() if key in dead and part.media is not None)
    if not found:
        return entry
    changes: dict[Place, Json] = {}
    gone: set[Place] = set()
    for run in _runs(found):
        changes[run[0].place] = _note(run, form)
        gone.update(part.place for part in run[1:])
    twins = {twin for part in found for twin in part.twins if not any(twin[: len(p)] == p for p in changes)}
    json = edit.replace(entry.message.json, changes, (*gone, *twins))
    origin = tuple(key for part, key in zip(entry.message.parts, entry.origin, strict=True) if part.place not in gone)
    return replace(entry, message=form.read_message(json, entry.message.index), origin=origin)


def _runs(parts: Iterable[Part]) -> list[list[Part]]:
    """Parts that stand next to each other in one list, together."""
    runs: list[list[Part]] = []
    for part in parts:
        last = runs[-1][-1].place if runs else ()
        if last and last[:-1] == part.place[:-1] and _follows(last[-1], part.place[-1]):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _follows(first: str | int, second: str | int) -> bool:
    return isinstance(first, int) and isinstance(second, int) and second == first + 1


def _note(run: Sequence[Part], form: Form) -> Json:
    media: list[Media] = [part.media for part in run if part.media is not None]
    said = [part.text for part in run if part.text and part.media is not None and part.media.source != "text"]
    note = form.placeholder(run[0], "\n".join([merged(media), *said]))  # an unknown part may hold words beside its picture
    marks = {name: part.raw[name] for part in run if isinstance(part.raw, dict) for name in MARKS if name in part.raw}
    return {**note, **marks} if marks and isinstance(note, dict) else note
