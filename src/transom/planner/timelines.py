"""Compaction: older media give way to newer ones, on a timeline for each of those who show them and each kind of medium.

What the user shows next makes all that was shown before it old; among tools, and among the assistant's own, only the newest
message that shows something keeps it. The picture that a conversation opens with is old when a tool shows a newer one
(HE-11..21). Between compactions nothing of this happens: it rewrites bytes that were sent (HE-02).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from transom.parts import MediaKind
from transom.planner.judge import Author, Row
from transom.types import Key

SUPERSEDED: Final = "a newer one of its kind was shown; older ones go at a compaction"


def superseded(rows: Sequence[Row], *, opening: int = -1) -> frozenset[Key]:
    """The keys of the media that a newer one supersedes. `rows` come newest first; `opening` is the number of the
    conversation's first message that is no instruction, -1 where it is not in the window. Pinned media stay.
    """
    gone: set[Key] = set()
    newest: set[tuple[MediaKind, Author]] = set()
    for row in rows:
        for shown in row.pictures:
            user, own, tool = ((shown.kind, by) in newest for by in ("user", shown.by, "tool"))
            if (user or own or (tool and row.seq == opening)) and not shown.pinned:
                gone.add(shown.key)
        newest.update((shown.kind, shown.by) for shown in row.pictures)
    return frozenset(gone)
