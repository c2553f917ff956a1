"""The plan of a request: verdicts, then the selection, then, only if what must stay is still too large, shedding."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from transom.errors import OverBudget
from transom.ledger import Ledger
from transom.pairing.notes import OPENING
from transom.parts import Conversation, Entry, Group, own_entry
from transom.plan import Budget, Selection, Size, State
from transom.planner.allowance import allowance
from transom.planner.judge import Verdicts, judge
from transom.planner.select import Keeping, bare, select
from transom.planner.window import Window, open_window, picture_limits, pinned_starts, rows, summed
from transom.policy import Policy, limit
from transom.pricing import Price, PriceList
from transom.stubs import stubbed
from transom.types import Key
from transom.wire.form import Form

FIXED = "system and tools"
NEWEST = "system, tools, the newest request and the newest group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes out: `entries` in order, each as it is sent. `prices` are theirs; `total` is the size of the whole
    request.

    `left` are the groups of the window that do not go out, `earlier` those that an earlier fit had left out.
    """

    entries: tuple[Entry, ...]
    prices: tuple[Price, ...]
    left: tuple[Group, ...]
    earlier: tuple[Group, ...]
    verdicts: Verdicts
    selection: Selection
    fixed: Size
    total: Size
    budget: Budget
    notes: tuple[str, ...]


def plan(  # noqa: PLR0913 - the stage's inputs
    groups: tuple[Group, ...],
    *,
    conversation: Conversation,
    form: Form,
    policy: Policy,
    ledger: Ledger,
    state: State,
) -> Plan:
    """Plan a request from its groups, oldest first. Raises OverBudget with the numbers when nothing legal fits."""
    prices = ledger.prices
    budget, notes = allowance(policy, prices.card, conversation.body)
    window = open_window(groups, ledger, state, merges=form.merges)
    fixed = _fixed(conversation, window, prices)
    if not budget.admits(fixed):
        raise over(FIXED, fixed, budget)
    verdicts = _judged(window, policy, prices, state, fixed=fixed, budget=budget)
    window = _rendered(window, verdicts.dead(), form, ledger)
    fixed = _fixed(conversation, window, prices)
    note = _opening(form, prices)
    first = next((g.start for g in groups if form.merges or not g.pinned), 0)
    selection = select(
        window.groups,
        {g.start: window.size(g) for g in window.groups},
        fixed=fixed,
        budget=budget,
        trigger=policy.trigger,
        refit=policy.refit,
        keeping=_keeping(window, policy),
        anchor=state.anchor,
        front=state.front,
        note=summed((note[1],)),
        first=first,
    )
    opening = note if bare(selection.kept, first) else None
    total = sum((window.size(g) for g in selection.kept), fixed + summed((note[1],) if opening else ()))
    if not budget.admits(total):
        raise over(NEWEST, total, budget)
    standing = {g.start for g in (*window.always, *window.groups)}
    kept = {g.start for g in selection.kept}
    pairs = _pairs(window, selection, opening)
    return Plan(
        entries=tuple(entry for entry, _ in pairs),
        prices=tuple(price for _, price in pairs),
        left=tuple(g for g in window.groups if g.start not in kept),
        earlier=tuple(g for g in groups if g.start not in standing),
        verdicts=verdicts,
        selection=selection,
        fixed=fixed,
        total=total,
        budget=budget,
        notes=notes,
    )


def _judged(  # noqa: PLR0913 - what verdicts depend on
    window: Window, policy: Policy, prices: PriceList, state: State, *, fixed: Size, budget: Budget
) -> Verdicts:
    limits = prices.card.limits
    return judge(
        rows(window, policy, limits, replace(prices, multiplier=1.0)),
        picture_limits(window, policy, limits, fixed=fixed, budget=budget),
        ratio=limit(policy.image_ratio),
        anchor=state.anchor,
        mark=state.mark,
        stubs=state.stubs,
    )


def _keeping(window: Window, policy: Policy) -> Keeping:
    return Keeping(
        pinned=pinned_starts(window, policy), requests=policy.keep_requests, requests_cap=limit(policy.keep_requests_cap)
    )


def _opening(form: Form, prices: PriceList) -> tuple[Entry, Price]:
    """The note that opens a window whose first group is no request."""
    message = form.read_message(form.message("user", [form.text(OPENING)]), 0)
    return own_entry(message), prices.message(message)


def _pairs(
    window: Window, selection: Selection, note: tuple[Entry, Price] | None
) -> tuple[tuple[Entry, Price], ...]:
    """Each entry that goes out with its price, in order; the note right ahead of the first group of the window."""
    out: list[tuple[Entry, Price]] = []
    for group in sorted((*window.always, *selection.kept), key=lambda g: g.start):
        if note is not None and group is selection.kept[0]:
            entry, price = note
            out.append((replace(entry, seq=group.start), price))
        out.extend(zip(group.entries, window.prices[group.start], strict=True))
    return tuple(out)


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


def _fixed(conversation: Conversation, window: Window, prices: PriceList) -> Size:
    """What goes out whatever is chosen: system, tools, the frame, and system messages inside the list."""
    outside = prices.fixed(conversation)
    return sum((window.size(g) for g in window.always), Size(outside.tokens, outside.bytes, 0))


def _rendered(window: Window, dead: frozenset[Key], form: Form, ledger: Ledger) -> Window:
    """The window with placeholders in the place of the pictures in `dead`; groups without one are the same objects."""
    if not dead:
        return window
    fresh = dict(window.prices)

    def rendered(group: Group) -> Group:
        entries = tuple(stubbed(entry, dead, form) for entry in group.entries)
        if all(new is old for new, old in zip(entries, group.entries, strict=True)):
            return group
        fresh[group.start] = tuple(
            price if new is old else ledger.message(new.message)
            for new, old, price in zip(entries, group.entries, window.prices[group.start], strict=True)
        )
        return replace(group, entries=entries)

    return Window(
        groups=tuple(rendered(g) for g in window.groups),
        always=tuple(rendered(g) for g in window.always),
        prices=fresh,
    )


