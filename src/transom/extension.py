"""The messages that came in since a request, in the form they are sent in, on that request: nothing that was sent moves.

The rule: a message has here the form that the next compile gives it (CM-133, CM-134): the same pairing, the same mends, the
same verdicts, which depend on it and on newer messages only. Where it would change something that was sent, it is no
extension, and says why.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from transom import check, pairing, shape
from transom.canon import digest
from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.parts import Conversation, Entry, Group, Message
from transom.plan import Sent, Size, State
from transom.planner.judge import Limit, judge
from transom.planner.select import guarded
from transom.planner.window import Ages, open_window
from transom.policy import Policy, limit
from transom.pricing import PriceList
from transom.stubs import stubbed
from transom.wire.form import Form

LATE = "a result goes to a call that was sent already; make the request afresh"


class Extension(Frozen, frozen=True, kw_only=True):
    """What stands behind a request that was sent: `entries` with their `sent` digests and tokens, in all `size`, and the
    placeholders among them. `why` says why they cannot stand there; "" where they can.
    """

    unshown = ("entries", "sent")

    entries: tuple[Entry, ...]
    sent: tuple[Sent, ...] = ()
    size: Size = Size()
    state: State
    why: str = ""


def extend(  # noqa: PLR0913 - what a fit is given, too
    window: Conversation, since: int, *, form: Form, policy: Policy, prices: PriceList, state: State
) -> Extension:
    """The messages of `window` from number `since` on, as they go out behind the request that `state` was made with."""
    paired, _ = pairing.pair(window, form, late_results=policy.late_results, quirks=prices.card.quirks, apart=state.moved)
    fresh = [group for group in paired if group.start >= since]
    old = [entry for group in paired if group.start < since for entry in group.entries]
    if any(seq >= since for entry in old for seq in (entry.seq, *(key[0] for key in entry.origin))):
        return Extension(entries=(), state=state, why=LATE)
    ledger = Ledger(prices)
    shaped = _shaped(fresh, form, policy, prices)
    entries, stubs = _judged(shaped, form, policy, ledger, state)
    found = [ledger.message(entry.message) for entry in entries]
    sent = tuple(Sent(digest(entry.message.json), price.tokens) for entry, price in zip(entries, found, strict=True))
    size = Size(sum(price.tokens for price in found), sum(price.bytes for price in found), len(found))
    after = replace(state, stubs=state.stubs | stubs, sent=(*state.sent, *sent))
    return Extension(entries=entries, sent=sent, size=size, state=after)


def faults(written: Conversation, form: Form, prices: PriceList, size: Size) -> tuple[str, ...]:
    """What the provider would refuse of a request: structure, pictures and their sides, the size of its body."""
    found = [*form.legal(written, prices.card.quirks), *check.limit_faults(written, prices.card, size)]
    return tuple(f"{one.place}: {one.says}" if one.place else one.says for one in found if one.refused)


def _shaped(groups: Sequence[Group], form: Form, policy: Policy, prices: PriceList) -> tuple[Group, ...]:
    """Mended and cut; pruning waits for a compile, since it rewrites what was sent."""
    shaped, _, _ = shape.shape(
        groups,
        form,
        limits=prices.card.limits,
        price_text=lambda words: prices.text(words).tokens,
        max_input_tokens=limit(policy.max_input_tokens),
        max_message_tokens=limit(policy.max_message_tokens),
        cut=policy.cut,
    )
    return shaped


def _judged(
    groups: Sequence[Group], form: Form, policy: Policy, ledger: Ledger, state: State
) -> tuple[tuple[Entry, ...], frozenset[tuple[int, tuple[str | int, ...]]]]:
    """The entries with placeholders for the pictures that are over a limit by themselves and newer ones."""
    prices, limits = ledger.prices, ledger.prices.card.limits
    window = open_window(groups, ledger, replace(state, anchor=0, front=frozenset()), merges=form.merges)
    newest = guarded(window.groups, frozenset()) if policy.newest == "keep" else frozenset()
    ages = Ages(window, policy, limits, replace(prices, multiplier=1.0), newest)
    verdicts = judge(
        ages.rows((*window.always, *window.groups), ()),
        Limit(
            count=limit(policy.max_images),
            bytes=limit(policy.max_image_bytes),
            depth=limit(policy.image_depth),
            most=limits.images,
            many=limits.many if limits.many_side else 0,
        ),
        anchor=state.anchor,
        mark=state.mark,
        stubs=state.stubs,
    )
    dead = verdicts.dead()
    entries = (entry for group in groups for entry in group.entries)
    return tuple(stubbed(entry, dead, form) for entry in entries), verdicts.stubs


def appended_to(written: Conversation, messages: Sequence[Message]) -> Conversation:
    """A request that was sent with these messages behind it."""
    count = len(written.messages)
    numbered = tuple(replace(message, index=count + i) for i, message in enumerate(messages))
    body = {**written.body, written.key: [*written.body[written.key], *(message.json for message in messages)]}
    return replace(written, body=body, messages=(*written.messages, *numbered))
