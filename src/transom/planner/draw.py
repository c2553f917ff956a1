"""What goes out: the selection from the window with its folds, the notes at its seams, shedding, and the size of it all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.pairing.notes import GAP, OPENING
from transom.parts import Entry, Group, own_entry
from transom.plan import Decision, Fold, Selection, Size
from transom.planner.folding import Folder, Folding
from transom.planner.judge import Verdicts
from transom.planner.select import Keeping, Seams, select
from transom.planner.shed import SHED, Shed, shed
from transom.planner.task import Seen, Task
from transom.planner.window import Window, pinned_pictures, summed
from transom.policy import limit
from transom.pricing import Price
from transom.wire.form import Form


class Drawn(Frozen, frozen=True, kw_only=True):
    """What goes out, as far as it is settled: `pairs` are the entries with their prices, `total` the size of the whole
    request.
    """

    window: Window
    selection: Selection
    verdicts: Verdicts
    folds: tuple[Fold, ...]
    seams: Seams
    pairs: tuple[tuple[Entry, Price], ...]
    total: Size
    lines: tuple[Decision, ...] = ()


def draw(task: Task, groups: Sequence[Group], seen: Seen, folder: Folder, folding: Folding) -> Drawn:
    """The selection. `groups` are all of the conversation's. Where what must stay is too large with the summaries in it, the
    oldest of them go.
    """
    trigger = task.policy.trigger if folding.moves else 1.0
    drawn = _draw(task, groups, seen, folding.window, folds=folding.folds, gone=(), trigger=trigger)
    standing = list(folding.folds)
    while standing and not task.budget.admits(drawn.total):
        spare = drawn.total
        while standing and not task.budget.admits(spare):
            spare -= folder.size(standing.pop(0))
        gone = folding.folds[: len(folding.folds) - len(standing)]
        drawn = _draw(task, groups, seen, folder.placed(standing, gone), folds=standing, gone=gone, trigger=trigger)
    return drawn


def _draw(  # noqa: PLR0913 - what a selection is made from
    task: Task,
    groups: Sequence[Group],
    seen: Seen,
    window: Window,
    *,
    folds: Sequence[Fold],
    gone: Sequence[Fold],
    trigger: float,
) -> Drawn:
    alone = {fold.first for fold in folds} & {g.start for g in window.groups}
    seat = {fold.first: fold.first if fold.first in alone else fold.host for fold in folds}
    seams = _seams(groups, task.form)
    selection = _selected(task, window, seams, pinned=seen.pinned, summed_up=frozenset(seat.values()), trigger=trigger)
    kept = {g.start for g in selection.kept}
    stand = tuple(fold for fold in folds if seat[fold.first] in kept)
    left = [*gone, *(fold for fold in folds if seat[fold.first] not in kept)]
    return _settled(task, window, _behind(selection, left, alone), seen.verdicts, folds=stand, seams=seams)


def shorn(task: Task, drawn: Drawn, seen: Seen, folder: Folder) -> Drawn:
    """What is left after the policy's shedding; pictures that went are placeholders for good.

    Where pictures went, they are taken out of what came, together with those that were out before, and the texts are cut once
    more from the start, only as far as they must be now: the next fit, which knows of the pictures, would do so.
    """
    selection, window, verdicts = drawn.selection, drawn.window, drawn.verdicts

    def left_of(kept: Sequence[Group]) -> Shed:
        return shed(
            kept,
            fits=task.budget.admits,
            fixed=_base(task, window, selection, drawn.seams),
            steps=task.policy.shed,
            pinned=pinned_pictures(window, task.policy),
            ledger=task.ledger,
            form=task.form,
        )

    left = left_of(selection.kept)
    if left.stubs:
        why = {**verdicts.why, **dict.fromkeys(left.stubs, SHED)}
        verdicts = replace(verdicts, why=why, stubs=verdicts.stubs | left.stubs)
        kept = {group.start for group in selection.kept}
        again = replace(folder, window=task.rendered(seen.ages.window, verdicts)).placed(drawn.folds)
        left = left_of([group for group in again.groups if group.start in kept])
    groups = {g.start: g for g in (*window.always, *window.groups, *left.groups)}
    selection = replace(selection, kept=left.groups)
    made = _settled(task, task.repriced(window, groups), selection, verdicts, folds=drawn.folds, seams=drawn.seams)
    return replace(made, lines=left.lines)


def shares(drawn: Drawn, before: Mapping[int, Sequence[Price]]) -> dict[int, Size]:
    """What each fold takes, by its first message: its own group, or of what its host grew by a share as long as its text is."""
    own = {g.start: g for g in drawn.window.groups}
    out: dict[int, Size] = {}
    hosted: dict[int, list[Fold]] = {}
    for fold in drawn.folds:
        if fold.first in own:
            out[fold.first] = drawn.window.size(own[fold.first])
        else:
            hosted.setdefault(fold.host, []).append(fold)
    for host, (first, *others) in hosted.items():
        rest = drawn.window.size(own[host]) - summed(before[host], messages=drawn.window.size(own[host]).messages)
        length = len(first.text) + sum(len(fold.text) for fold in others)
        grown = rest
        for fold in others:
            share = len(fold.text) / length
            out[fold.first] = Size(int(grown.tokens * share), int(grown.bytes * share), 0)
            rest = rest - out[fold.first]
        out[first.first] = rest
    return out


def _selected(  # noqa: PLR0913 - what a selection is made by
    task: Task, window: Window, seams: Seams, *, pinned: frozenset[int], summed_up: frozenset[int], trigger: float
) -> Selection:
    policy = task.policy
    return select(
        window.groups,
        {g.start: window.size(g) for g in window.groups},
        fixed=task.fixed(window),
        budget=task.budget,
        trigger=trigger,
        refit=policy.refit,
        keeping=Keeping(
            pinned=pinned, requests=policy.keep_requests, requests_cap=limit(policy.keep_requests_cap), summed=summed_up
        ),
        anchor=task.state.anchor,
        front=task.state.front,
        note=summed((_note(task, "user")[1],), messages=1),
        seams=seams,
    )


def _behind(selection: Selection, gone: Sequence[Fold], alone: Collection[int]) -> Selection:
    """The selection with its start behind the folds that are left out, so that what they stood for does not come back."""
    front = selection.front - frozenset(alone)
    start = max((fold.last + 1 for fold in gone), default=0)
    if start > selection.anchor:
        ahead = {g.start for g in selection.kept if g.start < start} - set(alone)
        return replace(selection, anchor=start, front=front | ahead)
    return replace(selection, front=front)


def _settled(  # noqa: PLR0913 - all that a drawing is made of
    task: Task, window: Window, selection: Selection, verdicts: Verdicts, *, folds: tuple[Fold, ...], seams: Seams
) -> Drawn:
    total = sum((window.size(g) for g in selection.kept), _base(task, window, selection, seams))
    return Drawn(
        window=window,
        selection=selection,
        verdicts=verdicts,
        folds=folds,
        seams=seams,
        pairs=tuple(_pairs(task, window, selection, seams)),
        total=total,
    )


def _base(task: Task, window: Window, selection: Selection, seams: Seams) -> Size:
    """The fixed parts, and the notes that stand where something was left out."""
    notes = [_note(task, seam.role)[1] for seam in seams.of(selection.kept)]
    return task.fixed(window) + summed(notes, messages=len(notes))


def _pairs(task: Task, window: Window, selection: Selection, seams: Seams) -> list[tuple[Entry, Price]]:
    """Each entry that goes out with its price, in order, and the notes where they stand."""
    out: list[tuple[Entry, Price]] = []
    noted = {seam.before: seam.role for seam in seams.of(selection.kept)}
    for group in sorted((*window.always, *selection.kept), key=lambda g: g.start):
        if group.start in noted:
            entry, price = _note(task, noted[group.start])
            out.append((replace(entry, seq=group.start), price))
        out.extend(zip(group.entries, window.prices[group.start], strict=True))
    return out


def _note(task: Task, role: Literal["user", "assistant"]) -> tuple[Entry, Price]:
    """The note that stands at a seam: a constant, of one size for both roles."""
    words = OPENING if role == "user" else GAP
    message = task.form.read_message(task.form.message(role, [task.form.text(words)]), 0)
    return own_entry(message), task.ledger.prices.message(message)


def _seams(groups: Sequence[Group], form: Form) -> Seams:
    free = [g.start for g in groups if form.merges or not g.pinned]
    return Seams(first=free[0] if free else 0, merges=form.merges, after=dict(pairwise(free)))
