"""Folding, between the verdicts and the selection: which summaries take the place of messages, and which are wanted.

Nothing moves below `trigger`. Above it the summaries that were made are taken until the window is down to `refit`, and what
is still too large is asked for: one round of asks a fit, so that no loop of compactions can come about. Groups are left out
only over the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import field
from msgspec.structs import replace

from transom import folds
from transom.folds import Item, Voice
from transom.folds.ready import Market
from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.parts import Group
from transom.plan import Ask, Budget, Fold, FoldPicture, FoldRow, Size, covering
from transom.planner.judge import Row
from transom.planner.window import Ages, Window
from transom.policy import Policy, limit
from transom.types import Key
from transom.wire.form import Form


class Folding(Frozen, frozen=True, kw_only=True):
    """What came of it: the window with the folds in it; `folds` as they stand, `taken` those that are new, `waiting` those
    that are not needed yet, `asks` what is wanted, `notes` what could not be used. `due`: the window was over `trigger`.
    """

    window: Window
    folds: tuple[Fold, ...] = ()
    taken: tuple[Fold, ...] = ()
    waiting: tuple[Fold, ...] = ()
    asks: tuple[Ask, ...] = ()
    notes: tuple[str, ...] = ()
    due: bool = False


class Folder(Frozen, frozen=True, kw_only=True):
    """What folding is given: the window after verdicts, what stands already, the budget and its `fixed` part."""

    window: Window
    held: tuple[Fold, ...]
    guarded: frozenset[int]
    ages: Ages
    dead: frozenset[Key]
    digests: Mapping[int, bytes]
    form: Form
    policy: Policy
    ledger: Ledger
    fixed: Size
    budget: Budget
    sizes: dict[tuple[int, int, str, int], Size] = field(default_factory=dict)

    def fold(self, ready: Sequence[Fold], *, compacting: bool) -> Folding:
        """Take summaries where they are needed, and ask for those that are missing."""
        due = compacting or not self.budget.share(self.fixed, self.policy.trigger).admits(self.total())
        if not due or not (ready or self.policy.chunk_tokens or self.held):
            return Folding(window=self.placed(self.held), folds=self.held, waiting=tuple(ready), due=due)
        goal = self.budget.share(self.fixed, self.policy.refit)
        standing = self._items(self.held)
        market = Market(standing, self.digests, self.size, self._rows, salience=self.policy.fold_first == "salience")
        total = self.total()
        bought = folds.buy(ready, market, total=total, enough=lambda size: not compacting and goal.admits(size))
        spared = sum((Size(one.tokens, one.bytes, one.messages) - self.size(one) for one in bought.taken), Size())
        asks = () if goal.admits(total - spared) else self._asks(bought.folds)
        return Folding(
            window=self.placed(bought.folds),
            folds=bought.folds,
            taken=bought.taken,
            waiting=bought.waiting,
            asks=asks,
            notes=bought.refused,
            due=True,
        )

    def total(self) -> Size:
        """The size of all that stands."""
        whole = sum((self.window.size(group) for group in self.window.groups), self.fixed)
        return sum((self.size(fold) for fold in self.held), whole)

    def size(self, fold: Fold) -> Size:
        """What a fold takes, at the most."""
        name = fold.first, fold.last, fold.key, fold.host
        if name not in self.sizes:
            self.sizes[name] = folds.size_of(fold, self.form, self.ledger.prices, cap=limit(self.policy.max_message_tokens))
        return self.sizes[name]

    def placed(self, standing: Sequence[Fold], gone: Sequence[Fold] = ()) -> Window:
        """The window with these folds where they go out, in place of what they and those that are `gone` stand for."""
        if not (standing or gone):
            return self.window
        covered = sorted((*standing, *gone), key=lambda fold: fold.first)
        made = folds.placed(self._uncovered(covered), standing, self.form, cap=limit(self.policy.max_message_tokens))
        prices = {g.start: tuple(self.ledger.message(entry.message) for entry in g.entries) for g in (*self.window.always, *made)}
        return replace(self.window, groups=made, prices=prices)

    def _uncovered(self, standing: Sequence[Fold]) -> tuple[Group, ...]:
        return tuple(g for g in self.window.groups if g.pinned or covering(standing, g.start) is None)

    def _items(self, standing: Sequence[Fold]) -> tuple[Item, ...]:
        found = (*self.window.always, *self._uncovered(standing))
        sizes = {group.start: self.window.size(group) for group in found}
        return folds.items(found, sizes, [(fold, self.size(fold)) for fold in standing], guarded=self.guarded)

    def _asks(self, standing: Sequence[Fold]) -> tuple[Ask, ...]:
        room = self.budget.tokens - self.fixed.tokens
        taken = sum(self.size(fold).tokens for fold in standing)
        wanted = folds.scaled(self.policy, room, taken)
        if wanted.chunk <= 0:
            return ()
        voice = Voice(self.form, self.ledger.prices, self.policy)
        found = [(chunk, folds.key_of(chunk.items, self.digests)) for chunk in folds.chunks(self._items(standing), wanted)]
        most = folds.most_each(self.policy, room, taken, len(found))
        return tuple(folds.asked(chunk, most, key, voice) for chunk, key in found)

    def _rows(self, covered: Sequence[Item]) -> tuple[FoldRow, ...]:
        """What a fold of these items weighs: messages without a live picture are summed into the next older row."""
        starts = {item.start for item in covered if item.group is not None}
        groups = [group for group in self.ages.window.groups if group.start in starts]  # before verdicts
        inner = [row for item in covered if item.fold is not None for row in item.fold.rows]
        rows = [*(self._row(row) for row in self.ages.rows(groups, ())), *inner]
        out: list[FoldRow] = []
        pending = 0
        for row in sorted(rows, key=lambda one: -one.seq):
            pending += row.tokens
            if row.pictures:
                out.append(replace(row, tokens=pending))
                pending = 0
        if pending:
            out.append(FoldRow(seq=min(row.seq for row in rows), tokens=pending))
        return tuple(out)

    def _row(self, row: Row) -> FoldRow:
        live = (p for p in row.pictures if p.kind == "image" and p.key not in self.dead)
        shown = tuple(FoldPicture(key=p.key, inline=p.inline, wide=p.wide) for p in live)
        return FoldRow(seq=row.seq, tokens=row.tokens, pictures=shown)
