"""From the bytes of a body to the bytes that are sent, and what is remembered of it. Nothing here waits or connects.

The rule: what cannot be read or made to fit goes out as it came, since the provider is the judge, unless the operator said
`strict`; a body that is no JSON goes out only in shadow mode. Nothing is remembered until the provider took the request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from transom import canon, door, resume, stages
from transom.catalog import ModelCard
from transom.errors import BadRequest, OverBudget, TransomError
from transom.frozen import Frozen
from transom.parts import Conversation
from transom.plan import Fold, Size
from transom.policy import STEPS, Policy
from transom.pricing import SCALED, PriceList
from transom.proxy.bounded import Bounded
from transom.proxy.glance import Glance, Seen, Terms
from transom.proxy.identity import Caller, Identity
from transom.proxy.overflow import Overflow
from transom.proxy.planned import Outcome, Planned, Refusal
from transom.proxy.reading import LISTS, Unread, is_json, is_list, read, simple
from transom.proxy.recall import Came, Known, Recall, Spelling
from transom.proxy.record import Learned, Record
from transom.proxy.routes import Route
from transom.proxy.settings import Settings
from transom.proxy.states import States
from transom.types import JsonObject
from transom.wire import FORMS
from transom.wire.form import Usage

COUNTS: Final = 10_000
"""Texts whose count is remembered for each of so many cards."""
CARDS: Final = 8
MODELS: Final = 256


class Try(Frozen, frozen=True, kw_only=True):
    """One try at a request: its body, where it goes and who asks.

    taught: a second try, with what the provider's refusal of the first one taught. ready: the summaries that a plan of the same
    request asked for. spelling: the body in pieces, where it may be known by how it is spelt.
    """

    unshown = ("data", "ready", "spelling")

    data: bytes
    route: Route
    caller: Caller
    taught: Learned | None = None
    ready: Sequence[Fold] = ()
    spelling: Spelling | None = None

    @property
    def first(self) -> bool:
        """Whether nothing is known that was not known when the request came."""
        return self.taught is None and not self.ready


class Fitter:
    """Plans bodies. It may be used by several threads at once: what they share are memos, and states, which are values."""

    def __init__(self, settings: Settings, states: States) -> None:
        self.settings = settings
        self._states = states
        self._identity = Identity(states.secret)
        self._recall = Recall(self._identity, states)
        self._glance = Glance()
        self._rules: Bounded[tuple[str, str], tuple[Policy, ModelCard, str]] = Bounded(MODELS)
        self._memos: Bounded[str, Bounded[tuple[int, int, bool], int]] = Bounded(CARDS)

    def caller(self, *, credential: bytes, named: bytes, session: bytes) -> Caller:
        """Who asks."""
        return Caller(tenant=self._identity.tenant(credential=credential, named=named), session=session)

    def plan(
        self, data: bytes, route: Route, caller: Caller, *, taught: Learned | None = None, ready: Sequence[Fold] = ()
    ) -> Planned:
        """What is sent in place of `data`; `taught` and `ready` as Try says."""
        one = Try(data=data, route=route, caller=caller, taught=taught, ready=ready)
        if one.first:
            one = replace(one, spelling=self._recall.spelling(data, caller, route.api, LISTS[route.api]))
        model, body = route.model, None
        try:
            planned = self._again(one)
            if planned is not None:
                return planned
            body = simple(data)
            if body is None:
                one, body = replace(one, spelling=None), door.parse(data)
            model = model or str(body.get("model") or "")
            return self._planned(one, body, model)
        except BadRequest as error:
            if route.counts and isinstance(error, Unread):  # a count may be asked for in other shapes
                return Planned(data=data, outcome="unread", trouble="Unread")
            return self._unread(data, error, always=body is None and not is_json(data))
        except TransomError as error:
            return self._unfit(data, model, error)
        except Exception as error:  # noqa: BLE001 - whatever breaks here, the client's own request still goes through
            wrapped = TransomError(f"transom broke on this request ({type(error).__name__}); please report it")
            wrapped.status_hint = 500
            return self._unfit(data, model, wrapped)

    def keep(self, planned: Planned, caller: Caller, usage: Usage | None) -> None:
        """Remember a request that the provider took, and learn from the usage that it reported."""
        if not planned.key or planned.outcome not in {"untouched", "fitted"}:
            return
        record = planned.record
        if usage is not None and planned.guessed:
            learned = record.learned
            taught = learned.calibration.learn(usage.prompt, planned.guessed, planned.exact)
            record = replace(record, learned=learned.taught(taught))
        self._states.for_tenant(caller.tenant).put(planned.key, record.to_bytes())

    def retried(self, planned: Planned, data: bytes, route: Route, caller: Caller, overflow: Overflow) -> Planned | None:
        """The request made smaller after a refusal; None where it cannot be, or would come out the same."""
        if route.counts or planned.outcome not in {"untouched", "fitted", "over-budget"}:
            return None
        learned = planned.record.learned.after(overflow, tokens=planned.after.tokens, size=len(planned.data))
        again = self.plan(data, route, caller, taught=learned)
        return again if again.outcome == "fitted" and again.data != planned.data else None

    def _again(self, one: Try) -> Planned | None:
        """What is sent where the beginning is spelt as it was before; None where the body has to be read."""
        try:
            came = self._recall.came(one.spelling, one.caller) if one.spelling is not None else None
            if came is None or came.known.record.state is not None:
                return None
            model = one.route.model or str(came.around.get("model") or "")
            terms = self._terms(model, one.route, came.known.record.learned)
            seen = self._glance.along(came, terms, data=one.data)
            return _let_through(_base(one, model, came.known, terms), seen) if seen is not None else None
        except Exception:  # noqa: BLE001 - then it is read whole, which says what is wrong
            return None

    def _planned(self, one: Try, body: JsonObject, model: str) -> Planned:
        """What is sent of a body that is read."""
        form, key = FORMS[one.route.api], LISTS[one.route.api]
        conversation = None if is_list(body.get(key)) else read(form, body)
        listed = conversation is None
        plain = list(map(canon.plain, body[key] if conversation is None else _given(conversation)))
        known = self._recall.known(one.caller, one.route.api, plain, one.spelling if listed else None)
        terms = self._terms(model, one.route, one.taught or known.record.learned, taught=one.taught is not None)
        base = _base(one, model, known, terms)
        simply, seen = one.first and known.record.state is None, None
        if simply and known.at and listed:
            since = Came(
                around=body, tail=body[key][known.at :], since=plain[known.at :], known=known, marks=canon.marks(one.data)
            )
            seen = self._glance.along(since, terms, data=one.data)
        if seen is None:
            conversation = conversation or read(form, body)
            digests = tuple([canon.short(message) for message in plain])
            seen = self._glance.look(conversation, digests, known.keys[-1], terms) if simply else None
            if seen is None:
                return self._fitted(one, base, conversation, resume.logged(digests), known, terms)
        return _let_through(base, seen)

    def _terms(self, model: str, route: Route, learned: Learned, *, taught: bool = False) -> Terms:
        """What a request is judged by. `taught`: what was learned holds for whatever card it is."""
        policy, card, named = self._ruled(model, route.api)
        learned = learned if taught else learned.under(named)
        card = learned.narrowed(card)
        prices = PriceList(card, multiplier=learned.multiplier, memo=self._memo(named))
        form, key = FORMS[route.api], LISTS[route.api]
        return Terms(form=form, key=key, policy=policy, prices=prices, named=named, learned=learned)

    def _fitted(  # noqa: PLR0913, PLR0917 - what is known, and what it is judged by
        self, one: Try, base: Planned, conversation: Conversation, history: resume.Log, known: Known, terms: Terms
    ) -> Planned:
        """The whole fit."""
        retry = one.taught is not None
        policy = replace(terms.policy, strict=terms.policy.strict or self.settings.mode == "strict")
        if retry:
            policy = replace(policy, shed=policy.shed or STEPS)
        record, at = known.record, known.at
        state = record.resumed(history, count=at, policy=policy.fingerprint(), card=terms.named) if at else None
        fit = stages.run(
            conversation,
            form=terms.form,
            policy=policy,
            prices=terms.prices,
            last=state,
            history=history,
            ready=one.ready,
            compacting=retry,
        )
        changed = fit.request is not conversation.body
        share = sum(part for basis, part in fit.report.basis.items() if basis in SCALED)
        guessed = round(fit.report.after.tokens * share)
        moved = changed or (state is not None and state.anchor > 0) or fit.state.folds or fit.state.ready
        return replace(
            base,
            data=canon.encode(fit.request) if changed and self.settings.mode != "shadow" else base.data,
            outcome="fitted" if changed else "untouched",
            before=fit.report.before,
            after=fit.report.after,
            guessed=guessed,
            exact=fit.report.after.tokens - guessed,
            report=fit.report,
            asks=fit.asks,
            record=replace(base.record, state=fit.state if moved else None),
        )

    def _ruled(self, model: str, api: str) -> tuple[Policy, ModelCard, str]:
        """What the settings say of a model, and the name that its prices are known by."""
        found = self._rules.get((model, api))
        if found is None:
            policy, card = self.settings.of_model(model, api)
            found = self._rules[model, api] = policy, card, stages.card_key(card)
        return found

    def _memo(self, named: str) -> Bounded[tuple[int, int, bool], int]:
        found = self._memos.get(named)
        if found is None:
            found = self._memos[named] = Bounded(COUNTS)
        return found

    def _unread(self, data: bytes, error: BadRequest, *, always: bool) -> Planned:
        """A body that is no JSON, or no request of its form."""
        refuse = self.settings.mode == "strict" or (always and self.settings.mode != "shadow")
        refusal = Refusal(status=error.status_hint, words=str(error)) if refuse else None
        return Planned(data=data, outcome="refused" if refuse else "unread", trouble=type(error).__name__, refusal=refusal)

    def _unfit(self, data: bytes, model: str, error: TransomError) -> Planned:
        """A request that could not be made to fit."""
        outcome: Outcome = "over-budget" if isinstance(error, OverBudget) else "failed"
        refuse = self.settings.mode == "strict"
        tokens = error.tokens if isinstance(error, OverBudget) else 0
        return Planned(
            data=data,
            outcome="refused" if refuse else outcome,
            model=model,
            before=Size(tokens, len(data), 0),
            after=Size(tokens, len(data), 0),
            trouble=type(error).__name__,
            refusal=Refusal(status=error.status_hint, words=str(error)) if refuse else None,
        )


def _base(one: Try, model: str, known: Known, terms: Terms) -> Planned:
    """A plan before it is known what becomes of the request."""
    card = terms.prices.card
    return Planned(
        data=one.data,
        outcome="untouched",
        model=model,
        card=card.name,
        known=card.known,
        key=b"" if one.route.counts else known.keys[-1],
        record=Record(learned=terms.learned),
    )


def _let_through(base: Planned, seen: Seen) -> Planned:
    """A request that goes out as it came."""
    return replace(base, before=seen.size, after=seen.size, exact=seen.exact, guessed=seen.guessed)


def _given(conversation: Conversation) -> list[JsonObject]:
    return [message.json for message in conversation.messages]
