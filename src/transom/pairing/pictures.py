"""Pictures in messages of those who may not show any, moved behind them, and behind the results of their calls.

The rule: what moves is the part itself, under a constant note, in a message of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transom.pairing.draft import Draft, fresh, leaving, made
from transom.pairing.notes import SHOWN
from transom.plan import Decision
from transom.wire.form import Form
from transom.wire.pictures import blind, shown


def with_pictures_behind(runs: Iterable[list[Draft]], form: Form, quirks: frozenset[str]) -> Iterator[Decision]:
    """Let the user show what others do, where the model's provider takes pictures of the user alone."""
    roles = blind(form.api, quirks)
    for run in runs if roles else ():
        for draft in list(run):
            if draft.role in roles and "image" in draft.kinds:
                yield from _moved(run, draft, form)


def _moved(run: list[Draft], draft: Draft, form: Form) -> Iterator[Decision]:
    found = [leaving(slot, draft) for slot in draft.slots if shown(slot.part)]
    if not found:
        return
    for slot in found:
        reason = "a picture that only the user may show, moved behind the message"
        yield Decision(verb="repair", seq=draft.seq, place=slot.part.place, reason=reason)
    draft.take(found)
    run.append(fresh(draft.seq, "user", [made(form.text(SHOWN), draft.seq, len(draft.slots)), *found]))
