"""What a user calls: fit, repair, price and lint, on one request body. Dict in, dict out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

from msgspec.structs import replace

from transom import account, catalog, check, door
from transom.bill import Bill, bill, counted, said
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.ledger import Ledger
from transom.parts import Conversation
from transom.plan import Budget, Fold, Size, State
from transom.planner.allowance import allowance
from transom.planner.task import over_budget
from transom.planner.window import unmatched_pins
from transom.policy import Policy
from transom.pricing import PriceList
from transom.stages import Fit, card_key, run
from transom.types import JsonObject, OnlineCount
from transom.wire import FORMS, raw, required
from transom.wire.form import Fault, Form

__all__ = ["Fit", "fit", "for_boto3", "form_of", "lint", "price", "repair"]

NO_PLACE = "the pin {pin!r} names nothing here; a pin is a place such as messages[3], or the digits in a picture's placeholder"
TRIES = 4
"""Requests that are made, at most, until the caller's own counter says that one fits."""


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
    ready: Sequence[Fold] = (),
    compacting: bool = False,
    count: OnlineCount | None = None,
    counts: MutableMapping[str, int] | None = None,
    **settings: Any,  # noqa: ANN401 - fields of Policy, checked there
) -> Fit:
    """Make a request fit.

    `request` is the body that you would send, `api` its wire form: "anthropic", "openai-chat", "openai-responses", "gemini",
    "bedrock" or "blocks". `budget` is the most tokens of the whole request; without one, what the model takes. `model` says who
    bills when it is not the body's own. `state` is that of the last fit of the same conversation; with it, what was sent before
    stays the same bytes. `ready` are summaries that were made for `fit.asks` (`transom.fulfil`); give them to a fit with the
    state that the asking fit was given, or with its own: they take the place of what would be left out, when they are needed.
    `compacting` asks for a compaction now, such as after a body that was too large (413). `count` is a counter of whole requests,
    such as the provider's count endpoint: whether a request fits is by its word, not by the estimate. It is asked about the
    request and about each that is made of it, four at most; `counts`, a mapping of your own, keeps its answers by digest. Other
    keywords are fields of Policy.

    `fit.request` is `request` itself if nothing had to change. Raises BadRequest for what is no request, BadSetting for a
    setting that cannot be, OverBudget with the numbers if nothing legal fits.

    >>> body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}
    >>> fit(body, api="openai-chat", budget=1_000).request is body
    True
    """
    if budget is not None:
        settings["budget"] = budget
    _typed(policy=(policy, Policy), state=(state, State))
    _folds(ready)
    policy = Policy.sliding(**settings) if policy is None else policy.having(**settings)
    form = form_of(api)
    conversation = form.read(door.admit(request))
    memo = state.memo if state is not None and prices is None else {}
    prices = _priced(conversation, model=model, card=card, prices=prices)
    if state is not None and memo and state.card == card_key(prices.card):
        prices = replace(prices, memo=memo)

    def made(policy: Policy, prices: PriceList) -> Fit:
        return run(conversation, form=form, policy=policy, prices=prices, last=state, ready=ready, compacting=compacting)

    def word(body: JsonObject) -> int | None:
        return None if count is None else said(body, prices.card.name, count, counts)

    fitted = made(policy, prices) if count is None else _by_word(conversation, made, policy=policy, prices=prices, word=word)
    fitted = _as_given(fitted, request, conversation)
    lost = tuple(NO_PLACE.format(pin=pin) for pin in unmatched_pins(conversation, policy.pins))
    return replace(fitted, report=replace(fitted.report, notes=(*fitted.report.notes, *lost))) if lost else fitted


def repair(
    request: Mapping[str, object],
    *,
    api: str,
    model: str | None = None,
    card: ModelCard | None = None,
    **settings: Any,  # noqa: ANN401 - as above
) -> Fit:
    """Make a request that its provider takes again, and say what was done. Nothing is left out for its tokens.

    Takes what `fit` takes. Repairing the result again changes nothing. Raises BadRequest for what is no request.
    """
    if settings.get("budget") is not None:
        raise BadSetting(f"repair leaves nothing out for its tokens; budget={settings['budget']!r} belongs to fit")
    form = form_of(api)
    conversation = form.read(door.admit(request))
    known = _priced(conversation, model=model, card=card, prices=None).card
    fitted = run(conversation, form=form, policy=Policy.sliding(**settings), prices=PriceList(known.endless()), last=None)
    fitted = _as_given(fitted, request, conversation)
    return replace(fitted, report=replace(fitted.report, notes=()))


def price(  # noqa: PLR0913 - the subject and its options
    request: Mapping[str, object],
    *,
    api: str,
    model: str | None = None,
    card: ModelCard | None = None,
    prices: PriceList | None = None,
    count: OnlineCount | None = None,
    counts: MutableMapping[str, int] | None = None,
) -> Bill:
    """What a request costs as it stands: in all, and each message and part. `model` says who bills.

    `count` is a counter of whole requests, such as the provider's count endpoint: what it says goes before the estimate. It is
    asked once for each request where `counts`, a mapping of your own, keeps its answers.

    >>> price({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}, api="openai-chat").tokens
    8
    """
    conversation = form_of(api).read(door.admit(request))
    found = bill(conversation, _priced(conversation, model=model, card=card, prices=prices))
    return found if count is None else counted(found, conversation.body, count, counts)


def lint(request: Mapping[str, object], *, api: str, model: str | None = None, card: ModelCard | None = None) -> list[Fault]:
    """Each rule of the provider that a request breaks, with its place and, where it is known, what the provider answers.

    `fault.refused` is False for what the provider itself takes and only stricter servers mind.
    """
    form = form_of(api)
    conversation = form.read(door.admit(request))
    known = _priced(conversation, model=model, card=card, prices=None).card
    size = account.whole(conversation, Ledger(PriceList(known).at(conversation)))
    legal = form.legal(conversation, known.quirks)
    return [*required.faults(conversation), *legal, *check.limit_faults(conversation, known, size)]


def for_boto3(request: JsonObject) -> JsonObject:
    """A Bedrock request as boto3 takes it: bytes where HTTP has base64, which boto3 would encode once more. The same
    object where there is nothing to decode. `fit` and `repair` give bytes back where they were given bytes; a session keeps JSON,
    so that its requests need this.
    """
    made = raw.with_bytes(request)
    return made if isinstance(made, dict) else request


def _as_given(fitted: Fit, request: Mapping[str, object], conversation: Conversation) -> Fit:
    """The fit with its request as it was given: with bytes where there were some."""
    if conversation.api != "bedrock" or conversation.body is request or not raw.given(request):
        return fitted
    if fitted.request is conversation.body and isinstance(request, dict):
        return replace(fitted, request=request)
    return replace(fitted, request=for_boto3(fitted.request))


def _by_word(
    conversation: Conversation,
    made: Callable[[Policy, PriceList], Fit],
    *,
    policy: Policy,
    prices: PriceList,
    word: Callable[[JsonObject], int | None],
) -> Fit:
    """A fit of which the caller's counter says that it fits.

    What may be spent is scaled by how far the counter is from the estimate of the request, and made less while a fit is still
    too much. Where the counter says nothing, the estimate stands.
    """
    budget, notes = allowance(policy, prices.card, conversation.body)
    first = word(conversation.body) if math.isfinite(budget.tokens) else None
    if first is None:
        return made(policy, prices)
    estimate = account.whole(conversation, Ledger(prices.at(conversation))).tokens
    most = budget.tokens * estimate / first
    free = replace(prices, card=prices.card.endless())
    now, after = 0, Size()
    for _ in range(TRIES):
        fitted = made(replace(policy, budget=max(1, math.floor(most)), grace=0.0), free)
        after = fitted.report.after
        now = word(fitted.request) or after.tokens
        if now <= budget.tokens:
            told = f"{now:,} tokens of {int(budget.tokens):,} by the counter, estimated as {after.tokens:,}"
            return replace(fitted, report=replace(fitted.report, notes=(*notes, *fitted.report.notes, told)))
        most = min(most, after.tokens) * 0.99 - (now - budget.tokens)
    raise over_budget("what the counter still finds too much", Size(now, after.bytes, after.messages), Budget(budget.tokens))


def form_of(api: str) -> Form:
    """The wire form named `api`. Raises BadSetting for a name that is none."""
    if api not in FORMS:
        raise BadSetting(f"api is {api!r}; it is one of {', '.join(sorted(FORMS))}")
    return FORMS[api]


def _priced(conversation: Conversation, *, model: str | None, card: ModelCard | None, prices: PriceList | None) -> PriceList:
    """The price list that bills: the one given, else that of the card given, of the model given, of the body's own model."""
    _typed(model=(model, str), card=(card, ModelCard), prices=(prices, PriceList))
    if prices is None:
        return PriceList(card or catalog.card(model or conversation.model, api=conversation.api))
    named_too = card or (catalog.card(model, api=conversation.api) if model is not None else prices.card)
    if named_too != prices.card:
        raise BadSetting(f"prices bill as {prices.card.name}, and card or model as {named_too.name}; give one of them")
    return prices


def _folds(ready: object) -> None:
    """Raises BadSetting for summaries that are none."""
    if not isinstance(ready, list | tuple):
        raise BadSetting(f"ready is {type(ready).__name__}; give a list of what transom.fulfil(ask, text) returned")
    for number, fold in enumerate(ready):
        if not isinstance(fold, Fold):
            raise BadSetting(f"ready[{number}] is {type(fold).__name__}; give what transom.fulfil(ask, text) returned, in a list")


def _typed(**given: tuple[object, type]) -> None:
    for name, (value, kind) in given.items():
        if value is not None and not isinstance(value, kind):
            raise BadSetting(f"{name} is {type(value).__name__}; it must be {kind.__name__}, or left out")
