"""Groups: what goes out whole or not at all, once calls and results stand together.

The rule: a group starts at its first stored message, and no two groups start at the same one.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from transom.pairing.draft import Draft, sealed
from transom.pairing.notes import GAP, GO_ON, LATE_HEAD, MEDIA_HERE, OPENING, SHOWN, ours
from transom.parts import Entry, Group, Message, following
from transom.wire.form import Form


def grouped(runs: Sequence[list[Draft]], form: Form, *, declared: bool = False) -> tuple[Group, ...]:
    """The groups of these drafts. Pieces of one stored message stay in one group; a note that opens or closes a turn of the
    assistant stays with it, also when it is read again. `declared`: the request declares tools.
    """
    joined: list[list[Draft]] = []
    held: set[int] = set()
    opened = False
    for run in runs:
        piece = run[0].piece and run[0].seq in held
        if joined and (piece or (opened and run[0].role == "assistant") or _says(run, GO_ON) or _says(run, GAP)):
            joined[-1] += run
        else:
            joined.append(list(run))
            held = set()
        held.update([draft.seq for draft in run])
        opened = _says(run, OPENING)
    entries = [[sealed(form, draft) for draft in drafts] for drafts in joined]
    return tuple([_group(_following(one) if form.items and declared else one) for one in entries])


def _following(entries: list[Entry]) -> list[Entry]:
    """The entries with those told whose call now stands right behind another."""
    told = following(entry.message for entry in entries)
    return [
        entry if entry.message is message else replace(entry, message=message)
        for entry, message in zip(entries, told, strict=True)
    ]


def _says(run: Sequence[Draft], note: str) -> bool:
    """Whether a run is one message that is just this note."""
    draft = run[0]
    return len(run) == 1 and draft.kinds == ("text",) and draft.parts[0].text == note


def _group(entries: list[Entry]) -> Group:
    first = entries[0].message
    return Group(
        start=entries[0].seq,
        entries=tuple(entries),
        request=any(_asks(entry.message) for entry in entries),
        opens=first.role == "user" and all(part.kind != "result" for part in first.parts),
        pinned=first.role in ("system", "tool")  # a result whose call the provider holds
        or (len(entries) > 1 and entries[1].message.role == "system")
        or any(part.kind == "reference" for entry in entries for part in entry.message.parts),
    )


def _asks(message: Message) -> bool:
    """Whether the user says or shows something: words that are not ours, or media that no tool returned."""
    if message.role != "user":
        return False
    words = [part.text for part in message.parts if part.kind == "text"]
    if any(not ours(text) for text in words):
        return True
    returned = any(text in (MEDIA_HERE, SHOWN) or text.startswith(LATE_HEAD) for text in words)
    return not returned and any(part.kind not in ("text", "result") for part in message.parts)
