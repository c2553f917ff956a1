"""Folding, between the verdicts and the selection: which summaries take the place of messages, and which are wanted.

Nothing moves below `trigger`. Above it the summaries that were made are taken until the window is down to `refit`, and what
is still too large is asked for: one round of asks a fit, so that no loop of compactions can come about. Groups are left out
only over the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import field
from msgspec.structs import replace

from transom import folds
from transom.folds import Chunk, Item, Voice
from transom.folds.ready import Bought, Market
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
    that are not needed yet, `asks` what is wanted, `asked` what each of these is to stand for, `notes` what could not be used.
    `moves`: groups are left out above `trigger`, since summaries neither stand nor are wanted; else only over the budget.
    """

    window: Window
    folds: tuple[Fold, ...] = ()
    taken: tuple[Fold, ...] = ()
    waiting: tuple[Fold, ...] = ()
    asks: tuple[Ask, ...] = ()
    asked: tuple[Fold, ...] = ()
    notes: tuple[str, ...] = ()
    moves: bool = False


class Folder(Frozen, frozen=True, kw_only=True):
    """What folding is given: the window after verdicts, what stands already, what was asked for and left out since, the budget
    and its `fixed` part.
    """

    window: Window
    held: tuple[Fold, ...]
    asked: tuple[Fold, ...]
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

    def fold(self, ready: Sequence[Fold], *, compacting: bool, moving: bool = False) -> Folding:
        """Take summaries where they are needed, and ask for those that are missing. One that comes after messages of it were
        left out goes in as soon as there is room below `trigger`, or the window moves in any case (`moving`: it was seen to).
        """
        calm, goal = (self.budget.share(self.fixed, part) for part in (self.policy.trigger, self.policy.refit))
        due = compacting or not calm.admits(self.total(self.held))
        late = {one.name for one in self.asked}
        wanted = [fold for fold in ready if due or fold.name in late]
        if not wanted and not (due and (self.policy.chunk_tokens or self.held)):
            moves = self._moves(self.held, (), compacting=compacting)
            return Folding(window=self.placed(self.held), folds=self.held, waiting=tuple(ready), moves=moves)

        def enough(size: Size) -> bool:
            return not compacting and goal.admits(size)

        bought = self._bought(wanted, enough, lambda before, after: calm.admits(after) or not self.budget.admits(before))
        asks = self._asks(bought.folds) if due and not goal.admits(self.total(bought.folds)) else ()
        moves = self._moves(bought.folds, asks, compacting=compacting)
        if moving and bought.waiting:
            bought = self._bought(wanted, enough, lambda _before, _after: True)
        return Folding(
            window=self.placed(bought.folds),
            folds=bought.folds,
            taken=bought.taken,
            waiting=(*bought.waiting, *(fold for fold in ready if fold not in wanted)),
            asks=tuple(ask for ask, _ in asks),
            asked=tuple(one for _, one in asks),
            notes=bought.refused,
            moves=moves,
        )

    def _bought(self, wanted: Sequence[Fold], enough: Callable[[Size], bool], room: Callable[[Size, Size], bool]) -> Bought:
        market = Market(
            standing=self._items(self.held),
            digests=self.digests,
            size=self.size,
            rows=self._rows,
            salience=self.policy.fold_first == "salience",
            asked={one.name: one for one in self.asked},
        )
        return folds.buy(wanted, market, total=self.total(self.held), enough=enough, room=room)

    def _moves(self, standing: Sequence[Fold], asks: Sequence[tuple[Ask, Fold]], *, compacting: bool) -> bool:
        """Whether groups are left out above `trigger` already. Where summaries stand or are to be had, only when all is full: one
        that was taken, however long, is no reason to leave it out in the next request.
        """
        return not self.policy.chunk_tokens or (compacting and not (standing or asks))

    def total(self, standing: Sequence[Fold]) -> Size:
        """The size of all that stands, with these folds in it."""
        whole = sum((self.window.size(group) for group in self._uncovered(standing)), self.fixed)
        return sum((self.size(fold) for fold in standing), whole)

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

    def _asks(self, standing: Sequence[Fold]) -> tuple[tuple[Ask, Fold], ...]:
        """What is wanted, each with what its summary is to stand for."""
        room = self.budget.tokens - self.fixed.tokens
        taken = sum(self.size(fold).tokens for fold in standing)
        wanted = folds.scaled(self.policy, room, taken)
        if wanted.chunk <= 0:
            return ()
        voice = Voice(self.form, self.ledger.prices, self.policy)
        found = [(chunk, folds.key_of(chunk.items, self.digests)) for chunk in folds.chunks(self._items(standing), wanted)]
        most = folds.most_each(self.policy, room, taken, len(found))
        return tuple((folds.asked(chunk, most, key, voice), self._asked(chunk, key)) for chunk, key in found)

    def _asked(self, chunk: Chunk, key: str) -> Fold:
        size = sum((item.size for item in chunk.items), Size())
        return Fold(
            first=chunk.first, last=chunk.last, level=chunk.level, text="", key=key, host=chunk.host, ends=chunk.ends,
            rows=self._rows(chunk.items), tokens=size.tokens, bytes=size.bytes, messages=size.messages,
        )  # fmt: skip

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
