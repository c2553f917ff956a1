"""The cap of a message: its long texts end early, with a marker that names their size (CM-106, CM-107).

The rules: the cut is a function of the message and the cap, so it is the same in every request. Pictures, calls and reasoning
pass; a result always stays. A text that was cut once is not cut again. System messages are not cut: they are instructions.
Beyond CM-107, texts inside a result that is a list are cut as well, since that is how most tools answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from transom import edit
from transom.errors import BadSetting
from transom.parts import Entry, Message, Part, walk
from transom.plan import Decision
from transom.texts import is_text, reworded
from transom.types import Cut, Json, Key
from transom.wire.form import Form

CHARACTERS: Final = 4
"""Characters that the cap allows for each of its tokens (CM-107)."""
_MARKER: Final = re.compile(r"(?:^|\n)\[cut here; there were [0-9,]+ characters\]$")


def capped(entry: Entry, form: Form, cap: int, cut: Cut | None) -> tuple[Entry, Sequence[Decision]]:
    """The entry within the cap; the same one where nothing needed cutting."""
    if cut is not None:
        return _hooked(entry, form, cap, cut)
    message = entry.message
    if message.role == "system":
        return entry, ()
    changes = list(_cuts(message, form, cap * CHARACTERS))
    if not changes:
        return entry, ()
    json = edit.edited(message.json, changes)
    return replace(entry, message=form.read_message(json, message.index)), [_line(entry, cap)]


def _cuts(message: Message, form: Form, room: int) -> Iterator[tuple[Part, Json]]:
    """Each part that is cut, with its new JSON, as long as `room` characters last."""
    for part in walk(message.parts):
        if not is_text(part):
            continue
        words = shortened(part.text, room)
        room = max(0, room - len(_head(part.text)))
        raw = None if words is part.text else reworded(part, words, form)
        if raw is not None:
            yield part, raw


def shortened(text: str, room: int) -> str:
    """The first `room` characters of a text and the marker; the same text where it fits, or where the cut saves nothing.

    Text is a sequence of whole characters here, so no cut falls inside one.
    """
    if len(_head(text)) <= room:
        return text
    marker = f"[cut here; there were {len(text):,} characters]"
    head = text[:room].rstrip()
    cut = f"{head}\n{marker}" if head else marker
    return cut if len(cut) < len(text) else text


def _head(text: str) -> str:
    """A text without the marker of an earlier cut."""
    found = _MARKER.search(text[-80:])
    return text if found is None else text[: len(text) - len(found.group())]


def _hooked(entry: Entry, form: Form, cap: int, cut: Cut) -> tuple[Entry, Sequence[Decision]]:
    """The answer of the caller's own cut. It is the object that is priced and sent (CM-110 to CM-112)."""
    message = entry.message
    json = cut(message.json, cap)
    if json is message.json:
        return entry, ()
    place = f"messages[{entry.seq}]"
    if not isinstance(json, dict):
        raise BadSetting(f"the cut hook answered with {type(json).__name__}; it must return a message", place=place)
    read = form.read_message(json, message.index)
    if read.role != message.role or _links(read) != _links(message):
        raise BadSetting("the cut hook changed the role, a call or a result; it may only shorten them", place=place)
    return Entry(message=read, seq=entry.seq, origin=tuple(_origins(entry, read))), [_line(entry, cap)]


def _links(message: Message) -> Counter[tuple[str, str]]:
    kinds = ("call", "result", "server-call", "server-result")
    return Counter((part.kind, part.id) for part in message.parts if part.kind in kinds)


def _origins(entry: Entry, read: Message) -> Iterator[Key]:
    """Where each part of the hook's answer was written: known by identity, by its call, or by kind and order (CM-96)."""
    known = {id(part.raw): key for part, key in zip(entry.message.parts, entry.origin, strict=True)}
    left: dict[tuple[str, str], list[Key]] = {}
    same = {id(part.raw) for part in read.parts}
    for part, key in zip(entry.message.parts, entry.origin, strict=True):
        if id(part.raw) not in same:
            left.setdefault((part.kind, part.id), []).append(key)
    for number, part in enumerate(read.parts):
        waiting = left.get((part.kind, part.id), [])
        yield known.get(id(part.raw)) or (waiting.pop(0) if waiting else (entry.seq, ("made", number)))


def _line(entry: Entry, cap: int) -> Decision:
    return Decision(verb="cut", seq=entry.seq, reason=f"over the cap of {cap:,} tokens a message")
