"""The order of the stages: pair, shape, plan, write, check, report. Each is a function of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from transom import account, check, marks, outside, pairing, resume, shape, write
from transom.canon import digest, size
from transom.catalog import ModelCard
from transom.errors import OverBudget
from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.parts import Conversation, Entry, Group, Message
from transom.plan import Ask, Decision, Fold, Sent, Size, State
from transom.planner import Plan, plan
from transom.planner.window import stands
from transom.policy import Policy, limit
from transom.pricing import PriceList
from transom.report import Report
from transom.types import JsonObject
from transom.wire.form import Form


class Reach(Frozen, frozen=True, kw_only=True):
    """What the next fit must be given of the log: every message from number `start` on, those of `ahead`, and those of `beside`.

    The last are not sent, but stand next to one that is: so no two messages that have others between them seem to be neighbours.
    """

    start: int = 0
    ahead: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()


class Fit(Frozen, frozen=True, kw_only=True):
    """The request to send, what was done to make it, and the state for the next one. `asks`: summaries that are wanted.

    `reach` says how much of the log the next fit needs; a session reads no more.
    """

    unshown = ("request", "reach")

    request: JsonObject
    report: Report
    state: State
    asks: tuple[Ask, ...] = ()
    reach: Reach = Reach()


def run(  # noqa: PLR0913 - the stages' inputs
    conversation: Conversation,
    *,
    form: Form,
    policy: Policy,
    prices: PriceList,
    last: State | None,
    history: resume.Log | None = None,
    ready: Sequence[Fold] = (),
    compacting: bool = False,
    preview: bool = False,
) -> Fit:
    """All stages. `last` is the last fit's state, `history` the log that the conversation is a window of (None: it is all of it).
    `ready` are summaries made since, `compacting` asks for a compaction, `preview` shows what would go out, keeping the state.
    """
    prices = prices.at(conversation)
    card, ledger = prices.card, Ledger(prices)
    history, policy = history or resume.log(conversation), rooted(policy, conversation.key)
    resumed = resume.resume(last, history, policy=policy.fingerprint(), card=card_key(card))
    state, notes = replace(resumed.state, memo=prices.memo), resumed.notes
    notes += tuple(f"{field}: what the provider holds is not seen, so the total is a lower bound" for field in conversation.held)
    (groups, repairs, pruned), planned = _planned(
        lambda apart: _shaped(conversation, form, policy, prices, state, apart=apart),
        lambda groups: plan(
            groups,
            conversation=conversation,
            form=form,
            policy=policy,
            ledger=ledger,
            state=state,
            ready=ready,
            digests={message.index: one for message, one in zip(conversation.messages, history.digests, strict=True)},
            compacting=compacting,
            preview=preview,
        ),
        apart=state.moved,
    )
    sent = _sent(conversation, history, planned.entries, planned)
    around, entries, beside, remarked = _settled(conversation, planned, form, ledger)
    if policy.marks == "place" and not preview:
        entries = marks.placed(around, entries, form, card, last=state.sent, now=sent)
    counted = _counted(around, entries, planned, form, ledger)
    written = replace(around, body=write.body(around, [entry.message.json for entry in entries]), messages=_numbered(entries))
    due = _marked(planned, entries, conversation, around, ledger)
    checked = check.verify(written, form, card, given=conversation, planned=due, counted=counted, strict=policy.strict)
    report = Report(
        api=form.api,
        card=card.name,
        key=conversation.key,
        before=account.whole(conversation, ledger),
        after=counted,
        budget=planned.budget,
        decisions=beside + account.lines(conversation, groups, planned, entries, (*repairs, *remarked), form=form, ledger=ledger),
        breaks=resume.breaks(resumed.sent, sent, _cause(planned, resumed)),
        basis=account.basis(conversation, entries, ledger),
        notes=(*notes, *planned.notes, *checked),
    )
    now = (last or State()) if preview else _following(replace(state, pruned=pruned, sent=sent), planned, history)
    return Fit(request=written.body, report=report, state=now, asks=planned.asks, reach=_reach(groups, planned))


def _planned(
    shaped: Callable[[bool], shape.Shaped], planned: Callable[[Sequence[Group]], Plan], *, apart: bool
) -> tuple[shape.Shaped, Plan]:
    """The groups and the plan. While all goes out, what the user says between a call and its output stays there, since the
    provider minds no such order; once the window moves, they are groups of their own, so that each can go by itself.
    """
    found = shaped(apart)
    mixed = not apart and any(group.request and group.entries[0].message.role == "assistant" for group in found[0])
    try:
        made = planned(found[0])
    except OverBudget:
        if not mixed:
            raise
    else:
        if not mixed or not (made.left or made.folded):
            return found, made
    found = shaped(True)
    return found, planned(found[0])


def _settled(
    conversation: Conversation, planned: Plan, form: Form, ledger: Ledger
) -> tuple[Conversation, tuple[Entry, ...], tuple[Decision, ...], tuple[Decision, ...]]:
    """What stands around the messages and the entries, as the provider takes them, and the lines of what went: beside the
    messages, and of marks on them.
    """
    around, mended = outside.tidied(conversation, form, ledger)
    around, entries, unmarked, remarked = marks.settled(around, planned.entries, form, ledger.prices.card.limits)
    return around, entries, (*mended, *unmarked), remarked


def _marked(planned: Plan, entries: Sequence[Entry], given: Conversation, around: Conversation, ledger: Ledger) -> Size:
    """What was planned, with what cache marks added to it or took from it since."""
    marked = sum(size(new.message.json) - size(old.message.json) for new, old in _changed(entries, planned.entries))
    old = ledger.fixed(given)
    new = old if around is given else ledger.fixed(around)
    return planned.total + Size(new.tokens - old.tokens, new.bytes - old.bytes + marked, 0)


def _changed(entries: Sequence[Entry], planned: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    return ((new, old) for new, old in zip(entries, planned, strict=True) if new is not old)


def _following(state: State, planned: Plan, history: resume.Log) -> State:
    """What the next fit must know of this one."""
    return replace(
        state,
        anchor=planned.selection.anchor,
        front=planned.selection.front,
        mark=planned.verdicts.mark,
        stubs=planned.verdicts.stubs,
        folds=planned.folds,
        ready=planned.waiting,
        asked=planned.asked,
        count=history.count,
        key=history.key(),
    )


def rooted(policy: Policy, key: str) -> Policy:
    """The policy with its pins' places as the planner has them, in forms whose list is not called `messages`."""
    if not policy.pins or key == "messages":
        return policy
    return replace(
        policy, pins=tuple("messages" + pin.removeprefix(key) if pin.startswith(f"{key}[") else pin for pin in policy.pins)
    )


def card_key(card: ModelCard) -> str:
    """What a card is known by: its prices, kind by kind."""
    return " ".join(f"{kind}={mark}" for kind, mark in sorted(card.fingerprint().items()))


def _shaped(  # noqa: PLR0913 - the stage's inputs
    conversation: Conversation, form: Form, policy: Policy, prices: PriceList, state: State, *, apart: bool
) -> shape.Shaped:
    """The groups in the form that they are sent in before verdicts, what was done to them, and the marks of pruning."""
    paired, repairs = pairing.pair(conversation, form, late_results=policy.late_results, quirks=prices.card.quirks, apart=apart)
    standing = [group for group in paired if stands(group, state)]
    shaped, edits, pruned = shape.shape(
        standing,
        form,
        limits=prices.card.limits,
        price_text=lambda words: prices.text(words).tokens,
        results_per_tool=policy.results_per_tool,
        max_input_tokens=limit(policy.max_input_tokens),
        max_message_tokens=limit(policy.max_message_tokens),
        cut=policy.cut,
        marks=state.pruned,
        refit=policy.refit,
    )
    formed = {group.start: group for group in shaped}
    return tuple(formed.get(group.start, group) for group in paired), (*repairs, *edits), pruned


def _reach(groups: Sequence[Group], planned: Plan) -> Reach:
    """How much of the log the groups that stand need, and their neighbours that do not."""
    under = (group for one in planned.folded for group in one.groups)
    gone = {group.start for group in (*planned.left, *planned.earlier, *under)}
    stands_at = [group.start not in gone for group in groups]
    tail = next((at + 1 for at in reversed(range(len(groups))) if not stands_at[at]), 0)
    start = groups[tail].start if tail < len(groups) else 0
    ahead: set[int] = set()
    beside: set[int] = set()
    for at, group in enumerate(groups[:tail]):
        held = {seq for entry in group.entries for seq in (entry.seq, *(key[0] for key in entry.origin)) if seq < start}
        if stands_at[at]:
            ahead |= held
        elif any(stands_at[max(0, at - 1) : at + 2]):
            beside |= held
    return Reach(start=start, ahead=tuple(sorted(ahead)), beside=tuple(sorted(beside - ahead)))


def _numbered(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """The messages of the written request, each with its number there."""
    return tuple(
        entry.message if entry.message.index == i else replace(entry.message, index=i) for i, entry in enumerate(entries)
    )


def _counted(conversation: Conversation, entries: Sequence[Entry], planned: Plan, form: Form, ledger: Ledger) -> Size:
    """The size of what was written: every object that this fit made is read and counted again."""
    given = {id(message.json) for message in conversation.messages}
    outside = ledger.fixed(conversation)
    total = Size(outside.tokens, outside.bytes, 0)
    for entry, planned_price in zip(entries, planned.prices, strict=True):
        message = entry.message
        made = id(message.json) not in given
        price = ledger.prices.message(_again(message, form)) if made else planned_price
        total += Size(price.tokens, price.bytes, message.role != "system")
    return total


def _again(message: Message, form: Form) -> Message:
    """A message read anew from what was written."""
    read = form.read_message(message.json, message.index)
    return replace(read, follows=True) if message.follows else read


def _sent(conversation: Conversation, history: resume.Log, entries: Sequence[Entry], planned: Plan) -> tuple[Sent, ...]:
    known = {id(message.json): one for message, one in zip(conversation.messages, history.digests, strict=True)}
    return tuple(
        Sent(known.get(id(entry.message.json)) or digest(entry.message.json), price.tokens)
        for entry, price in zip(entries, planned.prices, strict=True)
    )


def _cause(planned: Plan, resumed: resume.Resumed) -> str:
    """Why bytes that were sent before may differ in this request."""
    if resumed.cause == resume.BRANCH:
        return resumed.cause
    if planned.selection.moved:
        return "the window was moved, since it no longer fitted"
    if any(one.new for one in planned.folded):
        return "older messages were summed up"
    if planned.compacted and planned.verdicts.stubs != resumed.state.stubs:
        return "older media went at a compaction"
    if planned.verdicts.mark != resumed.state.mark:
        return "pictures were trimmed"
    return resumed.cause or "an earlier message is sent in another form now (a late result, a pruned result or an older picture)"
