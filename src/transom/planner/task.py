"""What the steps of one plan are given, and the first of them: verdicts on the window, and whether it is time for a
compaction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from transom import folds
from transom.canon import size
from transom.errors import OverBudget
from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.parts import Conversation, Group, Media, Part
from transom.placeholder import placeholder
from transom.plan import Budget, Size, State
from transom.planner.judge import EARLIER, Row, Verdicts, judge
from transom.planner.select import guarded
from transom.planner.timelines import SUPERSEDED, superseded
from transom.planner.window import Ages, Window, picture_limits, pinned_starts
from transom.policy import Policy, limit
from transom.pricing import Price
from transom.stubs import stubbed
from transom.types import Key
from transom.wire.form import Form

FIXED = "instructions, system and tools"


class Seen(Frozen, frozen=True, kw_only=True):
    """The window after verdicts: `window` with placeholders, `ages` how deep its messages are, `pinned` and `guarded` what
    must stay. `compacting`: this fit is a compaction.
    """

    window: Window
    verdicts: Verdicts
    ages: Ages
    pinned: frozenset[int]
    guarded: frozenset[int]
    compacting: bool


def over_budget(what: str, size: Size, budget: Budget) -> OverBudget:
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


class Task(Frozen, frozen=True):
    """What every step of one plan is given. `outside` is the price of what stands outside the list of messages."""

    conversation: Conversation
    form: Form
    policy: Policy
    ledger: Ledger
    state: State
    budget: Budget
    outside: Price

    @property
    def cap(self) -> float:
        """The most tokens of a message; 0: any."""
        return limit(self.policy.max_message_tokens)

    def fixed(self, window: Window) -> Size:
        """What goes out whatever is chosen: system, tools, the frame, and system messages that always stand."""
        return sum((window.size(g) for g in window.always), Size(self.outside.tokens, self.outside.bytes, 0))

    def refuse_unless_fixed_fits(self, window: Window) -> None:
        """Raise before any pass: no choice can help."""
        fixed = self.fixed(window)
        if not self.budget.admits(fixed):
            raise over_budget(FIXED, fixed, self.budget)

    def seen(self, window: Window, *, compacting: bool) -> Seen:
        """Verdicts, and the window with them. At a compaction media that newer ones supersede go first."""
        must = guarded(window.groups, frozenset())
        plain = replace(self.ledger.prices, multiplier=1.0)
        newest = must if self.policy.newest == "keep" else frozenset[int]()
        ages = Ages(window, self.policy, plain.card.limits, plain, newest, scaled=self.ledger.prices.multiplier != 1)
        rows = ages.rows((*window.always, *window.groups), self.state.folds)
        held = self._held(window)
        verdicts = self._judged(window, rows, held, frozenset())
        shown = self.rendered(window, verdicts)
        compacting = compacting or self._is_due(shown, held)
        gone = self._superseded(rows) if compacting else frozenset[Key]()
        if gone - verdicts.dead():
            verdicts = self._judged(window, rows, held, gone)
            shown = self.rendered(window, verdicts)
        pinned = pinned_starts(window, self.policy)
        return Seen(window=shown, verdicts=verdicts, ages=ages, pinned=pinned, guarded=pinned | must, compacting=compacting)

    def _superseded(self, rows: Sequence[Row]) -> frozenset[Key]:
        """What a compaction takes, also what a limit had taken before it makes room under that limit."""
        return frozenset(
            key for key in superseded(rows, opening=self._opening()) if key not in self.state.stubs and key[0] > self.state.mark
        )

    def rendered(self, window: Window, verdicts: Verdicts) -> Window:
        """The window with placeholders for all media that are not judged live; groups without one are the same objects."""
        groups = (*window.always, *window.groups)
        shown = (key for g in groups for entry in g.entries for key, part in entry.keyed() if part.media is not None)
        dead = frozenset(key for key in shown if not verdicts.live(key))
        if not dead:
            return window
        return self.repriced(window, {g.start: self.stubbed(g, dead) for g in groups})

    def repriced(self, window: Window, groups: Mapping[int, Group]) -> Window:
        """The window with these groups, each priced as it is now."""
        return replace(
            window,
            groups=tuple(groups[g.start] for g in window.groups),
            always=tuple(groups[g.start] for g in window.always),
            prices={start: tuple(self.ledger.message(entry.message) for entry in g.entries) for start, g in groups.items()},
        )

    def _held(self, window: Window) -> Size:
        """What the folds that stand already take: their own messages, and what their hosts grow by."""
        hosts = {fold.host for fold in self.state.folds}
        before = [group for group in window.groups if group.start in hosts]
        after = folds.placed(before, self.state.folds, self.form, cap=self.cap)
        found = [self.ledger.message(entry.message) for group in after for entry in group.entries]
        whole = Size(sum(price.tokens for price in found), sum(price.bytes for price in found), len(found))
        return whole - sum((window.size(group) for group in before), Size())

    def _judged(self, window: Window, rows: Sequence[Row], held: Size, gone: frozenset[Key]) -> Verdicts:
        limits = self.ledger.prices.card.limits
        stubs = self.state.stubs | gone

        def spared(key: Key, part: Part, media: Media) -> int:
            if key in stubs or key[0] <= self.state.mark:
                return size(part.raw) - size(self.form.text(placeholder(media)))
            return media.inline

        fixed = self.fixed(window) + held
        verdicts = judge(
            rows,
            picture_limits(window, self.policy, limits, fixed=fixed, budget=self.budget, spared=spared),
            ratio=limit(self.policy.image_ratio),
            anchor=self.state.anchor,
            mark=self.state.mark,
            stubs=stubs,
        )
        fresh = {key: SUPERSEDED for key in gone if verdicts.why[key] == EARLIER}
        return replace(verdicts, why={**verdicts.why, **fresh}) if fresh else verdicts

    def _is_due(self, window: Window, held: Size) -> bool:
        """Whether the window has grown so far that the policy wants a compaction."""
        if not self.policy.compact_at:
            return False
        fixed = self.fixed(window)
        total = sum((window.size(group) for group in window.groups), fixed + held)
        return not self.budget.share(fixed, self.policy.compact_at).admits(total)

    def _opening(self) -> int:
        """The number of the first message that is no instruction; -1 where the conversation's beginning is not there."""
        for number, message in enumerate(self.conversation.messages):
            if message.index != number:
                break
            if message.role != "system":
                return number
        return -1

    def stubbed(self, group: Group, dead: frozenset[Key]) -> Group:
        """The group with placeholders for the media in `dead`; the same object where it holds none."""
        entries = tuple(stubbed(entry, dead, self.form) for entry in group.entries)
        same = all(new is old for new, old in zip(entries, group.entries, strict=True))
        return group if same else replace(group, entries=entries)
