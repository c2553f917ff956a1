"""The plan of a request: verdicts, folds, the selection, and, only if what must stay is still too large, shedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.parts import Conversation, Entry, Group
from transom.plan import Ask, Budget, Decision, Fold, Selection, Size, State, covering
from transom.planner.allowance import allowance
from transom.planner.draw import Drawn, draw, shares, shorn
from transom.planner.folding import Folder, Folding
from transom.planner.judge import Verdicts
from transom.planner.task import Seen, Task, over_budget
from transom.planner.window import open_window
from transom.policy import Policy
from transom.pricing import Price
from transom.wire.form import Form

NEWEST = "system, tools, the newest request and the newest group"
MOST_ASKED = 64
"""Summaries of what was left out that are waited for, the newest ones."""
LOST = "left out for want of a summary: {count} groups, while {asks} summaries are asked for"
AWAITED = (
    "asked for before, and not come: {count} of messages {first} to {last}, which stay left out until they do (transom.fulfil)"
)


class Folded(Frozen, frozen=True, kw_only=True):
    """A fold that stands, the groups of this conversation that it stands for, and what it takes in the request."""

    fold: Fold
    groups: tuple[Group, ...]
    takes: Size
    new: bool


class Plan(Frozen, frozen=True, kw_only=True):
    """What goes out: `entries` in order, each as it is sent, with their `prices`; `total` is the size of the whole request.

    `left` are the groups of the window that do not go out, `earlier` those that an earlier fit had left out, `folded` the
    folds with what they stand for, `waiting` summaries that are not needed yet, `asked` those that may still come although
    messages of them were left out. `lines` are decisions that no verdict and no
    drop tells of. `compacted`: this fit was a compaction.
    """

    entries: tuple[Entry, ...]
    prices: tuple[Price, ...]
    left: tuple[Group, ...]
    earlier: tuple[Group, ...]
    folded: tuple[Folded, ...]
    waiting: tuple[Fold, ...]
    asks: tuple[Ask, ...]
    asked: tuple[Fold, ...]
    verdicts: Verdicts
    selection: Selection
    total: Size
    budget: Budget
    lines: tuple[Decision, ...]
    notes: tuple[str, ...]
    compacted: bool

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The folds that stand."""
        return tuple(one.fold for one in self.folded)


def plan(  # noqa: PLR0913 - the stage's inputs
    groups: Sequence[Group],
    *,
    conversation: Conversation,
    form: Form,
    policy: Policy,
    ledger: Ledger,
    state: State,
    ready: Sequence[Fold] = (),
    digests: Mapping[int, bytes] | None = None,
    compacting: bool = False,
    preview: bool = False,
) -> Plan:
    """Plan a request from its groups, oldest first.

    `ready` are summaries that may take the place of messages, `digests` those of the stored messages by their number. Raises
    OverBudget with the numbers when nothing legal fits; a `preview` shows what is too large instead.
    """
    budget, notes = allowance(policy, ledger.prices.card, conversation.body)
    task = Task(conversation, form, policy, ledger, state, budget, ledger.fixed(conversation))
    window = open_window(groups, ledger, state, merges=form.merges)
    if not preview:
        task.refuse_unless_fixed_fits(window)
    seen = task.seen(window, compacting=compacting)
    folder = _folder(task, seen, digests or {})
    folding, drawn = _folded_in(task, groups, seen, folder, (*state.ready, *ready))
    if policy.shed and not budget.admits(drawn.total):
        drawn = shorn(task, drawn, seen, folder)
    if not (preview or budget.admits(drawn.total)):
        raise over_budget(NEWEST, drawn.total, budget)
    selection, kept = drawn.selection, {g.start for g in drawn.selection.kept}
    left = tuple(g for g in seen.window.groups if g.start not in kept and covering(drawn.folds, g.start) is None)
    standing = {g.start for g in (*window.always, *window.groups)}
    if left and folding.asks and selection.moved:
        notes += (LOST.format(count=len(left), asks=len(folding.asks)),)
    asked = _asked(state.asked, folding, drawn, left)
    notes += _awaited(asked, state.asked, folding.waiting)
    return Plan(
        entries=tuple(entry for entry, _ in drawn.pairs),
        prices=tuple(price for _, price in drawn.pairs),
        left=left,
        earlier=tuple(g for g in groups if g.start not in standing and covering(drawn.folds, g.start) is None),
        folded=_standing(groups, drawn, state.folds, seen.window.prices),
        waiting=folding.waiting,
        asks=folding.asks,
        asked=asked,
        verdicts=drawn.verdicts,
        selection=selection,
        total=drawn.total,
        budget=budget,
        lines=drawn.lines,
        notes=(*notes, *folding.notes),
        compacted=seen.compacting,
    )


def _folder(task: Task, seen: Seen, digests: Mapping[int, bytes]) -> Folder:
    return Folder(
        window=seen.window,
        held=task.state.folds,
        asked=task.state.asked,
        guarded=seen.guarded,
        ages=seen.ages,
        dead=seen.verdicts.dead(),
        digests=digests,
        form=task.form,
        policy=task.policy,
        ledger=task.ledger,
        fixed=task.fixed(seen.window),
        budget=task.budget,
    )


def _folded_in(task: Task, groups: Sequence[Group], seen: Seen, folder: Folder, given: tuple[Fold, ...]) -> tuple[Folding, Drawn]:
    """The folds, and what goes out with them. A summary that was given is never why a request is refused."""
    folding = folder.fold(given, compacting=seen.compacting)
    drawn = draw(task, groups, seen, folder, folding)
    late = {one.name for one in folder.asked}
    if drawn.selection.moved and any(fold.name in late for fold in folding.waiting):
        folding = folder.fold(given, compacting=seen.compacting, moving=True)
        drawn = draw(task, groups, seen, folder, folding)
    if folding.taken and not task.budget.admits(drawn.total):
        folding = replace(folder.fold((), compacting=seen.compacting), waiting=given)
        drawn = draw(task, groups, seen, folder, folding)
    return folding, drawn


def _asked(before: Sequence[Fold], folding: Folding, drawn: Drawn, left: Sequence[Group]) -> tuple[Fold, ...]:
    """What was asked for and is left out in part or whole, the newest of it: its summary may still come. What was taken is not
    taken again, though it may have had to go with what it stood for.
    """
    gone = {group.start for group in left} | {fold.first for fold in folding.folds if fold not in drawn.folds}
    fresh = [one for one in folding.asked if any(one.covers(start) for start in gone)]
    used = {one.name for one in (*folding.taken, *fresh)}
    open_ = [*(one for one in before if one.name not in used), *fresh]
    standing = [one for one in open_ if not any(one.meets(fold) and not _takes_in(one, fold) for fold in drawn.folds)]
    return tuple(sorted(standing, key=lambda one: one.first)[-MOST_ASKED:])


def _awaited(asked: Sequence[Fold], before: Sequence[Fold], waiting: Sequence[Fold]) -> tuple[str, ...]:
    """A sentence on the summaries that an earlier fit asked for and nobody gave."""
    old, come = {one.name for one in before}, {one.name for one in waiting}
    open_ = [one for one in asked if one.name in old - come]
    if not open_:
        return ()
    count = "1 summary" if len(open_) == 1 else f"{len(open_)} summaries"
    return (AWAITED.format(count=count, first=open_[0].first, last=max(one.last for one in open_)),)


def _takes_in(asked: Fold, fold: Fold) -> bool:
    """Whether a fold is a part of what was asked for, and not its answer."""
    return asked.holds(fold) and fold.key != asked.key


def _standing(
    groups: Sequence[Group], drawn: Drawn, before: Sequence[Fold], prices: Mapping[int, Sequence[Price]]
) -> tuple[Folded, ...]:
    """The folds that stand, each with the groups that it stands for and what it takes: a host's growth is shared by length."""
    covered: dict[int, list[Group]] = {}
    for group in groups:
        fold = None if group.pinned else covering(drawn.folds, group.start)
        if fold is not None:
            covered.setdefault(fold.first, []).append(group)
    takes = shares(drawn, prices)
    old = {(fold.first, fold.last, fold.key) for fold in before}
    return tuple(
        Folded(
            fold=fold,
            groups=tuple(covered.get(fold.first, ())),
            takes=takes[fold.first],
            new=(fold.first, fold.last, fold.key) not in old,
        )
        for fold in drawn.folds
    )
