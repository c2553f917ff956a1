"""The window as the planner sees it: groups with prices, stored messages by age, and the limits that hold in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from transom.catalog import Limits
from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.pairing.notes import MEDIA_HERE, SHOWN
from transom.parts import Conversation, Entry, Group, Media, Part, own_entry, spell
from transom.placeholder import short_digest
from transom.plan import Budget, Fold, Size, State, covering
from transom.planner.judge import Author, Limit, Picture, Row
from transom.policy import Policy, limit
from transom.pricing import Price, PriceList
from transom.types import Key


class Window(Frozen, frozen=True, kw_only=True):
    """What may be sent: `groups` that the selection is free about, and `always`, which stand whatever it does.

    `prices[start]` are the prices of that group's entries, in order. Groups that an earlier fit left out, or that a fold
    stands for, are not here. `head` are the groups that the conversation begins with, as far as nothing of it is missing.
    """

    groups: tuple[Group, ...]
    always: tuple[Group, ...]
    prices: Mapping[int, tuple[Price, ...]]
    head: tuple[Group, ...] = ()

    def size(self, group: Group) -> Size:
        """The size of a group as it stands."""
        return summed(self.prices[group.start], messages=message_count(group))


def message_count(group: Group) -> int:
    """How many messages a group counts as; system messages are not counted."""
    return sum(entry.message.role != "system" for entry in group.entries)


def summed(prices: Sequence[Price], *, messages: int) -> Size:
    """Prices of messages as one size."""
    return Size(sum(price.tokens for price in prices), sum(price.bytes for price in prices), messages)


def open_window(groups: Sequence[Group], ledger: Ledger, state: State, *, merges: bool) -> Window:
    """The groups that stand in front of or behind the anchor of `state`, priced.

    System messages inside the list stand always. Where neighbours are merged into turns (`merges`) they count for the
    opening, too, so there they are groups like others, only never dropped.
    """
    standing = [g for g in groups if stands(g, state)]
    return Window(
        groups=tuple(g for g in standing if merges or not g.pinned),
        always=tuple(g for g in standing if g.pinned and not merges),
        prices={g.start: tuple(ledger.message(entry.message) for entry in g.entries) for g in standing},
        head=tuple(takewhile(lambda g: stands(g, state), groups)),
    )


def stands(group: Group, state: State) -> bool:
    """Whether no earlier fit left the group out, and no fold stands for it."""
    if group.pinned:
        return True
    return (group.start >= state.anchor or group.start in state.front) and covering(state.folds, group.start) is None


def pinned_starts(window: Window, policy: Policy) -> frozenset[int]:
    """Starts of the groups that stay: system messages, the policy's head, and the groups that a pin names."""
    pins = {g.start for g in window.groups if g.pinned or _names(policy.pins, g)}
    room = limit(policy.keep_head)
    for group in window.head if room else ():
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


class Ages(Frozen, frozen=True):
    """What stored messages weigh for the judge, and what they show. `prices` scale nothing, so that depth does not move with
    what was learned; `newest` are starts of groups whose pictures are exempt from count and depth; `scaled`: the prices of
    the window are scaled.
    """

    window: Window
    policy: Policy
    limits: Limits
    prices: PriceList
    newest: frozenset[int]
    scaled: bool = False

    def rows(self, groups: Iterable[Group], folds: Iterable[Fold]) -> tuple[Row, ...]:
        """Stored messages, newest first. A moved part ages with the message that it was written in (CM-93); a message that a
        fold stands for is as deep as it was, and its pictures hold their slots where the policy counts them (CM-82).
        """
        tokens: dict[int, int] = {}
        pictures: dict[int, list[Picture]] = {}
        for group in groups:
            for entry, price in zip(group.entries, self.window.prices[group.start], strict=True):
                for seq, own in self._tokens_by_message(entry, price):
                    tokens[seq] = tokens.get(seq, 0) + own
                for key, part in entry.keyed():
                    if part.media is not None:
                        pictures.setdefault(key[0], []).append(self._picture(group, entry, key, part, part.media))
        holds_slots = self.policy.folded == "count"
        for row in (row for fold in folds for row in fold.rows):
            tokens[row.seq] = tokens.get(row.seq, 0) + row.tokens
            shown = [Picture(one.key, one.inline, wide=one.wide) for one in row.pictures] if holds_slots else []
            pictures.setdefault(row.seq, []).extend(shown)
        return tuple(Row(seq, tokens[seq], tuple(pictures.get(seq, ()))) for seq in sorted(tokens, reverse=True))

    def _picture(self, group: Group, entry: Entry, key: Key, part: Part, media: Media) -> Picture:
        return Picture(
            key=key,
            inline=media.inline,
            wide=0 < self.limits.many_side < max(media.facts.width, media.facts.height),
            pinned=_names_part(self.policy.pins, key, part),
            newest=group.start in self.newest,
            by=_author(entry, part),
            kind=media.kind,
        )

    def _tokens_by_message(self, entry: Entry, price: Price) -> list[tuple[int, int]]:
        """The entry's tokens by the number of the stored message that they were written in: its own, and those of moved parts."""
        whole = self.prices.message(entry.message).tokens if self.scaled else price.tokens
        if all(seq == entry.seq for seq, _ in entry.origin):
            return [(entry.seq, whole)]
        moved = [
            (seq, self.prices.part(part).tokens)
            for part, (seq, _) in zip(entry.message.parts, entry.origin, strict=True)
            if seq != entry.seq
        ]
        return [(entry.seq, whole - sum(own for _, own in moved)), *moved]


def _author(entry: Entry, part: Part) -> Author:
    """Who showed a medium: the assistant, a tool (in its result, or behind it where results hold text only), or the user."""
    message = entry.message
    if message.role == "assistant" or any(top.text == SHOWN for top in message.parts):
        return "assistant"
    holder = next((top for top in message.parts if top.place == part.place[: len(top.place)]), part)
    returned = holder.kind == "result" or any(top.text == MEDIA_HERE for top in message.parts)
    return "tool" if returned or message.role == "tool" else "user"


def picture_limits(  # noqa: PLR0913 - what may limit them
    window: Window, policy: Policy, limits: Limits, *, fixed: Size, budget: Budget, spared: Callable[[Key, Part, Media], int]
) -> Limit:
    """The limits of live pictures in this window: the policy's, the provider's, and what the body has left for them. `spared`
    are the bytes that go with a picture: its payload, or, of one that is a placeholder already, all but the placeholder.
    """
    most = limit(policy.max_image_bytes) or math.inf
    if budget.bytes < math.inf and "images" not in policy.shed:  # else they go when texts have been cut (AN-51)
        everything = fixed.bytes + sum(window.size(g).bytes for g in window.groups)
        room = budget.bytes - (everything - _spared(window, spared))
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


def _spared(window: Window, spared: Callable[[Key, Part, Media], int]) -> int:
    return sum(
        spared(key, part, part.media)
        for group in (*window.always, *window.groups)
        for entry in group.entries
        for key, part in entry.keyed()
        if part.media is not None and part.kind == "image"
    )


def unmatched_pins(conversation: Conversation, pins: Sequence[str]) -> tuple[str, ...]:
    """The pins that name nothing in a conversation: no message, no part, and no picture by its digest."""
    left = list(pins)
    for message in conversation.messages if pins else ():
        for key, part in own_entry(message).keyed():
            left = [pin for pin in left if not _names_part((pin,), key, part)]
        left = [pin for pin in left if pin != spell(("messages", message.index))]
    return tuple(left)


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
