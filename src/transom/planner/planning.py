"""The plan of a request: verdicts, then the selection, then, only if what must stay is still too large, shedding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from transom.errors import OverBudget
from transom.ledger import Ledger
from transom.pairing.notes import GAP, OPENING
from transom.parts import Conversation, Entry, Group, own_entry
from transom.plan import Budget, Decision, Selection, Size, State
from transom.planner.allowance import allowance
from transom.planner.judge import Verdicts, judge
from transom.planner.select import Keeping, Seams, select
from transom.planner.shed import SHED, shed
from transom.planner.window import Window, open_window, picture_limits, pinned_pictures, pinned_starts, rows, summed
from transom.policy import Policy, limit
from transom.pricing import Price
from transom.stubs import stubbed
from transom.types import Key
from transom.wire.form import Form

FIXED = "system and tools"
NEWEST = "system, tools, the newest request and the newest group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes out: `entries` in order, each as it is sent, with their `prices`; `total` is the size of the whole request.

    `left` are the groups of the window that do not go out, `earlier` those that an earlier fit had left out. `lines` are
    decisions that no verdict and no drop tells of.
    """

    entries: tuple[Entry, ...]
    prices: tuple[Price, ...]
    left: tuple[Group, ...]
    earlier: tuple[Group, ...]
    verdicts: Verdicts
    selection: Selection
    total: Size
    budget: Budget
    lines: tuple[Decision, ...]
    notes: tuple[str, ...]


def plan(  # noqa: PLR0913 - the stage's inputs
    groups: Sequence[Group],
    *,
    conversation: Conversation,
    form: Form,
    policy: Policy,
    ledger: Ledger,
    state: State,
) -> Plan:
    """Plan a request from its groups, oldest first. Raises OverBudget with the numbers when nothing legal fits."""
    budget, notes = allowance(policy, ledger.prices.card, conversation.body)
    task = _Task(conversation, form, policy, ledger, state, budget)
    window = open_window(groups, ledger, state, merges=form.merges)
    task.refuse_unless_fixed_fits(window)
    verdicts = task.judged(window)
    window = task.rendered(window, verdicts.dead())
    seams = _seams(groups, form)
    selection = task.selected(window, seams)
    base = task.base(window, selection, seams)
    lines: tuple[Decision, ...] = ()
    if policy.shed and not budget.admits(_total(selection, window, base)):
        window, selection, verdicts, lines = task.shed(window, selection, verdicts, base)
    total = _total(selection, window, base)
    if not budget.admits(total):
        raise over(NEWEST, total, budget)
    kept = {g.start for g in selection.kept}
    standing = {g.start for g in (*window.always, *window.groups)}
    pairs = task.pairs(window, selection, seams)
    return Plan(
        entries=tuple(entry for entry, _ in pairs),
        prices=tuple(price for _, price in pairs),
        left=tuple(g for g in window.groups if g.start not in kept),
        earlier=tuple(g for g in groups if g.start not in standing),
        verdicts=verdicts,
        selection=selection,
        total=total,
        budget=budget,
        lines=lines,
        notes=notes,
    )


def over(what: str, size: Size, budget: Budget) -> OverBudget:
    """The error that says what does not fit, with the numbers."""

    def most(value: float) -> int:
        return int(value) if math.isfinite(value) else 0

    return OverBudget(
        what,
        tokens=size.tokens,
        bytes=size.bytes,
        messages=size.messages,
        budget_tokens=most(budget.tokens),
        budget_bytes=most(budget.bytes),
        budget_messages=most(budget.messages),
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """What every step of one plan is given."""

    conversation: Conversation
    form: Form
    policy: Policy
    ledger: Ledger
    state: State
    budget: Budget

    def fixed(self, window: Window) -> Size:
        """What goes out whatever is chosen: system, tools, the frame, and system messages that always stand."""
        outside = self.ledger.prices.fixed(self.conversation)
        return sum((window.size(g) for g in window.always), Size(outside.tokens, outside.bytes, 0))

    def refuse_unless_fixed_fits(self, window: Window) -> None:
        """Raise before any pass: no choice can help."""
        fixed = self.fixed(window)
        if not self.budget.admits(fixed):
            raise over(FIXED, fixed, self.budget)

    def judged(self, window: Window) -> Verdicts:
        prices = self.ledger.prices
        limits = prices.card.limits
        return judge(
            rows(window, self.policy, limits, replace(prices, multiplier=1.0)),  # depth does not move with what was learned
            picture_limits(window, self.policy, limits, fixed=self.fixed(window), budget=self.budget),
            ratio=limit(self.policy.image_ratio),
            anchor=self.state.anchor,
            mark=self.state.mark,
            stubs=self.state.stubs,
        )

    def rendered(self, window: Window, dead: frozenset[Key]) -> Window:
        """The window with placeholders in the place of the pictures in `dead`; groups without one are the same objects."""
        if not dead:
            return window
        groups = {g.start: self._stubbed(g, dead) for g in (*window.always, *window.groups)}
        return self._repriced(window, groups)

    def selected(self, window: Window, seams: Seams) -> Selection:
        return select(
            window.groups,
            {g.start: window.size(g) for g in window.groups},
            fixed=self.fixed(window),
            budget=self.budget,
            trigger=self.policy.trigger,
            refit=self.policy.refit,
            keeping=Keeping(
                pinned=pinned_starts(window, self.policy),
                requests=self.policy.keep_requests,
                requests_cap=limit(self.policy.keep_requests_cap),
            ),
            anchor=self.state.anchor,
            front=self.state.front,
            note=summed((self._note("user")[1],)),
            seams=seams,
        )

    def base(self, window: Window, selection: Selection, seams: Seams) -> Size:
        """The fixed parts, and the notes that stand where something was left out."""
        return self.fixed(window) + summed([self._note(seam.role)[1] for seam in seams.of(selection.kept)])

    def shed(
        self, window: Window, selection: Selection, verdicts: Verdicts, base: Size
    ) -> tuple[Window, Selection, Verdicts, tuple[Decision, ...]]:
        """What is left after the policy's steps; pictures that went are placeholders for good."""
        left = shed(
            selection.kept,
            fits=self.budget.admits,
            fixed=base,
            steps=self.policy.shed,
            pinned=pinned_pictures(window, self.policy),
            ledger=self.ledger,
            form=self.form,
        )
        groups = {g.start: g for g in left.groups}
        window = self._repriced(window, {**{g.start: g for g in (*window.always, *window.groups)}, **groups})
        why = {**verdicts.why, **dict.fromkeys(left.stubs, SHED)}
        return (
            window,
            replace(selection, kept=left.groups),
            replace(verdicts, why=why, stubs=verdicts.stubs | left.stubs),
            left.lines,
        )

    def pairs(self, window: Window, selection: Selection, seams: Seams) -> list[tuple[Entry, Price]]:
        """Each entry that goes out with its price, in order, and the notes where they stand."""
        out: list[tuple[Entry, Price]] = []
        noted = {seam.before: seam.role for seam in seams.of(selection.kept)}
        for group in sorted((*window.always, *selection.kept), key=lambda g: g.start):
            if group.start in noted:
                entry, price = self._note(noted[group.start])
                out.append((replace(entry, seq=group.start), price))
            out.extend(zip(group.entries, window.prices[group.start], strict=True))
        return out

    def _note(self, role: Literal["user", "assistant"]) -> tuple[Entry, Price]:
        """The note that stands at a seam: a constant, of one size for both roles."""
        words = OPENING if role == "user" else GAP
        message = self.form.read_message(self.form.message(role, [self.form.text(words)]), 0)
        return own_entry(message), self.ledger.prices.message(message)

    def _stubbed(self, group: Group, dead: frozenset[Key]) -> Group:
        entries = tuple(stubbed(entry, dead, self.form) for entry in group.entries)
        same = all(new is old for new, old in zip(entries, group.entries, strict=True))
        return group if same else replace(group, entries=entries)

    def _repriced(self, window: Window, groups: Mapping[int, Group]) -> Window:
        """The window with these groups, each priced as it is now."""
        return Window(
            groups=tuple(groups[g.start] for g in window.groups),
            always=tuple(groups[g.start] for g in window.always),
            prices={start: tuple(self.ledger.message(entry.message) for entry in g.entries) for start, g in groups.items()},
        )


def _seams(groups: Sequence[Group], form: Form) -> Seams:
    free = [g.start for g in groups if form.merges or not g.pinned]
    return Seams(first=free[0] if free else 0, merges=form.merges, after=dict(pairwise(free)))


def _total(selection: Selection, window: Window, base: Size) -> Size:
    return sum((window.size(g) for g in selection.kept), base)
