"""The window as the planner sees it: groups with prices, stored messages by age, and the limits that hold in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transom.catalog import Limits
from transom.ledger import Ledger
from transom.parts import Entry, Group, Part, spell
from transom.placeholder import short_digest
from transom.plan import Budget, Size, State
from transom.planner.judge import Limit, Picture, Row
from transom.planner.select import guarded
from transom.policy import Policy, limit
from transom.pricing import Price, PriceList
from transom.types import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What may be sent: `groups` that the selection is free about, and `always`, which stand whatever it does.

    `prices[start]` are the prices of that group's entries, in order. Groups that an earlier fit left out are not here.
    """

    groups: tuple[Group, ...]
    always: tuple[Group, ...]
    prices: Mapping[int, tuple[Price, ...]]

    def size(self, group: Group) -> Size:
        """The size of a group as it stands."""
        return summed(self.prices[group.start], counted=not group.pinned)


def summed(prices: Sequence[Price], *, counted: bool = True) -> Size:
    """Prices of messages as one size; system messages are not counted as messages."""
    return Size(
        sum(price.tokens for price in prices), sum(price.bytes for price in prices), len(prices) if counted else 0
    )


def open_window(groups: Sequence[Group], ledger: Ledger, state: State, *, merges: bool) -> Window:
    """The groups that stand in front of or behind the anchor of `state`, priced.

    System messages inside the list stand always. Where neighbours are merged into turns (`merges`) they count for the opening, too,
    so there they are groups like others, only never dropped.
    """
    standing = [g for g in groups if stands(g, state)]
    return Window(
        groups=tuple(g for g in standing if merges or not g.pinned),
        always=tuple(g for g in standing if g.pinned and not merges),
        prices={g.start: tuple(ledger.message(entry.message) for entry in g.entries) for g in standing},
    )


def stands(group: Group, state: State) -> bool:
    """Whether no earlier fit left the group out."""
    return group.pinned or group.start >= state.anchor or group.start in state.front


def pinned_starts(window: Window, policy: Policy) -> frozenset[int]:
    """Starts of the groups that stay: system messages, the policy's head, and the groups that a pin names."""
    pins = {g.start for g in window.groups if g.pinned or _names(policy.pins, g)}
    room = limit(policy.keep_head)
    for group in window.groups:
        room -= window.size(group).tokens
        if room < 0:
            break
        pins.add(group.start)
    return frozenset(pins)


def pinned_pictures(window: Window, policy: Policy) -> frozenset[Key]:
    """Keys of the parts that a pin names."""
    return frozenset(
        key
        for group in (*window.always, *window.groups)
        for entry in group.entries
        for key, part in entry.keyed()
        if _names_part(policy.pins, key, part)
    )


def rows(window: Window, policy: Policy, limits: Limits, prices: PriceList) -> tuple[Row, ...]:
    """Stored messages, newest first. A moved part ages with the message that it was written in (CM-93)."""
    newest = guarded(window.groups, frozenset()) if policy.newest == "keep" else frozenset()
    tokens: dict[int, int] = {}
    pictures: dict[int, list[Picture]] = {}
    for group in (*window.always, *window.groups):
        for entry, price in zip(group.entries, window.prices[group.start], strict=True):
            for seq, own in _ages(entry, price, prices):
                tokens[seq] = tokens.get(seq, 0) + own
            for key, part in entry.keyed():
                if part.media is not None and part.kind == "image":
                    picture = Picture(
                        key=key,
                        inline=part.media.inline,
                        wide=0 < limits.many_side < max(part.media.facts.width, part.media.facts.height),
                        pinned=_names_part(policy.pins, key, part),
                        newest=group.start in newest,
                    )
                    pictures.setdefault(key[0], []).append(picture)
    return tuple(Row(seq, tokens[seq], tuple(pictures.get(seq, ()))) for seq in sorted(tokens, reverse=True))


def picture_limits(window: Window, policy: Policy, limits: Limits, *, fixed: Size, budget: Budget) -> Limit:
    """The limits of live pictures in this window: the policy's, the provider's, and what the body has left for them."""
    most = limit(policy.max_image_bytes) or math.inf
    if budget.bytes < math.inf:
        everything = fixed.bytes + sum(window.size(g).bytes for g in (*window.always, *window.groups))
        room = budget.bytes - (everything - _inline(window))
        if room <= 0:  # the window moves whatever the pictures do: they get what it has after the move
            room = max(1, policy.refit * (budget.bytes - fixed.bytes))
        most = min(most, room)
    return Limit(
        count=limit(policy.max_images),
        bytes=most if most < math.inf else 0,
        depth=limit(policy.image_depth),
        most=limits.images,
        many=limits.many if limits.many_side else 0,
    )


def _inline(window: Window) -> int:
    return sum(
        part.media.inline
        for group in (*window.always, *window.groups)
        for entry in group.entries
        for _, part in entry.keyed()
        if part.media is not None and part.kind == "image"
    )


def _ages(entry: Entry, price: Price, prices: PriceList) -> list[tuple[int, int]]:
    if all(seq == entry.seq for seq, _ in entry.origin):
        return [(entry.seq, price.tokens)]
    moved = [
        (seq, prices.part(part).tokens)
        for part, (seq, _) in zip(entry.message.parts, entry.origin, strict=True)
        if seq != entry.seq
    ]
    return [(entry.seq, price.tokens - sum(own for _, own in moved)), *moved]


def _names(pins: Sequence[str], group: Group) -> bool:
    if not pins:
        return False
    return any(
        spell(("messages", entry.seq)) in pins or any(_names_part(pins, key, part) for key, part in entry.keyed())
        for entry in group.entries
    )


def _names_part(pins: Sequence[str], key: Key, part: Part) -> bool:
    if not pins:
        return False
    seq, place = key
    if spell(("messages", seq, *place)) in pins or spell(("messages", seq)) in pins:
        return True
    return part.media is not None and short_digest(part.media) in pins
