"""The order of the stages: read, pair, shape, plan, write, check, report. Each is a function of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transom import account, catalog, check, door, marks, pairing, resume, shape, write
from transom.bill import Bill, bill
from transom.canon import digest
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.ledger import Ledger
from transom.parts import Conversation, Entry, Group, Message
from transom.plan import Decision, Sent, Size, State
from transom.planner import Plan, plan
from transom.policy import Policy, limit
from transom.pricing import PriceList
from transom.report import Report
from transom.types import JsonObject
from transom.wire import FORMS
from transom.wire.form import Fault, Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The request to send, what was done to make it, and the state for the next one. `asks`: summaries that are wanted."""

    request: JsonObject = field(repr=False)
    report: Report
    state: State
    asks: tuple[object, ...] = ()


def fit(  # noqa: PLR0913 - the subject and its options
    request: Mapping[str, object],
    *,
    api: str,
    model: str | None = None,
    budget: int | None = None,
    policy: Policy | None = None,
    state: State | None = None,
    card: ModelCard | None = None,
    prices: PriceList | None = None,
    **settings: Any,  # noqa: ANN401 - fields of Policy, checked there
) -> Fit:
    """Make a request fit.

    `request` is the body that you would send, `api` its wire form ("anthropic", "openai-chat", "blocks"). `budget` is the most
    tokens of the whole request; without one, what the model takes. `model` says who bills when it is not the body's own.
    `state` is that of the last fit of the same conversation; with it, what was sent before stays the same bytes. Other
    keywords are fields of Policy.

    `fit.request` is `request` itself if nothing had to change. Raises BadRequest for what is no request, BadSetting for a
    setting that cannot be, OverBudget with the numbers if nothing legal fits.

    >>> body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}
    >>> fit(body, api="openai-chat", budget=1_000).request is body
    True
    """
    if budget is not None:
        settings["budget"] = budget
    policy = Policy.sliding(**settings) if policy is None else policy.having(**settings)
    form = form_of(api)
    conversation = form.read(door.admit(request))
    if prices is None:
        bills = card or catalog.card(model or conversation.model, api=api)
        same = state is not None and state.card == _name(bills)
        prices = PriceList(bills, memo=state.memo if same and state is not None else {})
    return _fit(conversation, form, policy, prices, state)


def repair(
    request: Mapping[str, object], *, api: str, model: str | None = None, card: ModelCard | None = None, **settings: Any
) -> Fit:
    """Make a request that its provider takes again, and say what was done. Nothing is left out for its tokens.

    Takes what `fit` takes. Repairing the result again changes nothing. Raises BadRequest for what is no request.
    """
    form = form_of(api)
    conversation = form.read(door.admit(request))
    known = card or catalog.card(model or conversation.model, api=api)
    endless = replace(known, window=0, input_limit=0)
    fitted = _fit(conversation, form, Policy.sliding(**settings), PriceList(endless), None)
    return replace(fitted, report=replace(fitted.report, notes=()))


def price(
    request: Mapping[str, object],
    *,
    api: str,
    model: str | None = None,
    card: ModelCard | None = None,
    prices: PriceList | None = None,
) -> Bill:
    """What a request costs as it stands: in all, and each message and part. `model` says who bills.

    >>> price({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}, api="openai-chat").tokens
    8
    """
    conversation = form_of(api).read(door.admit(request))
    return bill(conversation, prices or PriceList(card or catalog.card(model or conversation.model, api=api)))


def lint(
    request: Mapping[str, object], *, api: str, model: str | None = None, card: ModelCard | None = None
) -> list[Fault]:
    """Each rule of the provider that a request breaks, with its place and, where it is known, what the provider answers.

    `fault.refused` is False for what the provider itself takes and only stricter servers mind.
    """
    form = form_of(api)
    conversation = form.read(door.admit(request))
    known = card or catalog.card(model or conversation.model, api=api)
    size = account.whole(conversation, Ledger(PriceList(known)))
    return [*form.legal(conversation, known.quirks), *check.limit_faults(conversation, known, size)]


def form_of(api: str) -> Form:
    """The wire form named `api`. Raises BadSetting for a name that is none."""
    if api not in FORMS:
        raise BadSetting(f"api is {api!r}; it is one of {', '.join(sorted(FORMS))}")
    return FORMS[api]


def _fit(conversation: Conversation, form: Form, policy: Policy, prices: PriceList, last: State | None) -> Fit:
    card, ledger = prices.card, Ledger(prices)
    history = resume.log(conversation)
    state, notes = resume.resume(last, history, policy=policy.fingerprint(), card=_name(card))
    groups, repairs, pruned = _shaped(conversation, form, policy, prices, state)
    planned = plan(groups, conversation=conversation, form=form, policy=policy, ledger=ledger, state=state)
    entries, remarked = marks.settled(conversation, planned.entries, form, card.limits)
    request = write.body(conversation, [entry.message.json for entry in entries])
    counted = _counted(conversation, entries, planned, form, prices)
    unmarked = sum(line.bytes_before - line.bytes_after for line in remarked)
    written = replace(conversation, body=request, messages=_numbered(entries))
    notes += planned.notes + check.verify(
        written, form, card, planned=planned.total - Size(0, unmarked, 0), counted=counted, strict=policy.strict
    )
    sent = _sent(conversation, history, entries, planned)
    report = Report(
        api=form.api,
        card=card.name,
        key=conversation.key,
        before=account.whole(conversation, ledger),
        after=counted,
        budget=planned.budget,
        decisions=account.lines(conversation, groups, planned, entries, (*repairs, *remarked), form=form, ledger=ledger),
        breaks=resume.breaks(state.sent, sent, _cause(planned, state, notes)),
        basis=account.basis(conversation, entries, ledger),
        notes=notes,
    )
    following = replace(
        state,
        anchor=planned.selection.anchor,
        front=planned.selection.front,
        mark=planned.verdicts.mark,
        stubs=planned.verdicts.stubs,
        pruned=pruned,
        sent=sent,
        count=len(conversation.messages),
        key=history.key(len(conversation.messages)),
        memo=prices.memo,
    )
    return Fit(request=request, report=report, state=following)


def _name(card: ModelCard) -> str:
    """What a card is known by: its prices, kind by kind."""
    return " ".join(f"{kind}={mark}" for kind, mark in sorted(card.fingerprint().items()))


def _shaped(
    conversation: Conversation, form: Form, policy: Policy, prices: PriceList, state: State
) -> tuple[tuple[Group, ...], tuple[Decision, ...], tuple[tuple[str, int], ...]]:
    """The groups in the form that they are sent in before verdicts, what was done to them, and the marks of pruning."""
    paired, repairs = pairing.pair(conversation, form, late_results=policy.late_results, quirks=prices.card.quirks)
    shaped, edits, pruned = shape.shape(
        paired,
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
    return shaped, (*repairs, *edits), pruned


def _numbered(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """The messages of the written request, each with its number there."""
    return tuple(
        entry.message if entry.message.index == i else replace(entry.message, index=i) for i, entry in enumerate(entries)
    )


def _counted(
    conversation: Conversation, entries: Sequence[Entry], planned: Plan, form: Form, prices: PriceList
) -> Size:
    """The size of what was written: every object that this fit made is read and counted again."""
    given = {id(message.json) for message in conversation.messages}
    outside = prices.fixed(conversation)
    total = Size(outside.tokens, outside.bytes, 0)
    for entry, planned_price in zip(entries, planned.prices, strict=True):
        message = entry.message
        made = id(message.json) not in given
        price = prices.message(form.read_message(message.json, message.index)) if made else planned_price
        total += Size(price.tokens, price.bytes, message.role != "system")
    return total


def _sent(
    conversation: Conversation, history: resume.Log, entries: Sequence[Entry], planned: Plan
) -> tuple[Sent, ...]:
    known = {id(message.json): one for message, one in zip(conversation.messages, history.digests, strict=True)}
    return tuple(
        Sent(known.get(id(entry.message.json)) or digest(entry.message.json), price.tokens)
        for entry, price in zip(entries, planned.prices, strict=True)
    )


def _cause(planned: Plan, state: State, notes: Sequence[str]) -> str:
    """Why bytes that were sent before may differ in this request."""
    if planned.selection.moved:
        return "the window was moved, since it no longer fitted"
    if planned.verdicts.mark != state.mark:
        return "pictures were trimmed"
    if any("settings changed" in note for note in notes):
        return "the settings changed"
    return "an earlier message is sent in another form now (a late result, a pruned result or an older picture)"
