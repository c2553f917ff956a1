"""From the bytes of a body to the bytes that are sent, and what is remembered of it. Nothing here waits or connects.

The rule: what cannot be read or made to fit goes out as it came, since the provider is the judge, unless the operator said
`strict`; a body that is no JSON goes out only in shadow mode. Nothing is remembered until the provider took the request.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from transom import canon, door, resume, stages
from transom.catalog import ModelCard
from transom.errors import BadRequest, OverBudget, TransomError
from transom.frozen import Frozen
from transom.parts import Conversation
from transom.plan import Ask, Fold, Size
from transom.policy import STEPS, Policy
from transom.pricing import SCALED, PriceList
from transom.proxy.bounded import Bounded
from transom.proxy.glance import Glance, Seen, Terms
from transom.proxy.identity import Identity
from transom.proxy.overflow import Overflow
from transom.proxy.recall import UNKNOWN, Caller, Came, Known, Recall, Spelling
from transom.proxy.record import Learned, Record
from transom.proxy.routes import Route
from transom.proxy.settings import Settings
from transom.proxy.states import States
from transom.report import Report
from transom.types import Json, JsonObject
from transom.wire import FORMS
from transom.wire.form import Form, Usage

Outcome: TypeAlias = Literal["untouched", "fitted", "over-budget", "unread", "failed", "refused"]

COUNTS: Final = 10_000
"""Texts whose count is remembered for each of so many cards."""
CARDS: Final = 8
MODELS: Final = 256
LISTS: Final = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "gemini": "contents"}
"""What each form calls its list of messages."""
NOTHING: Final = Size()


class Unread(BadRequest):
    """The body is JSON, but no request of its form."""


class Refusal(Frozen, frozen=True, kw_only=True):
    """An answer that is given in the provider's place."""

    status: int
    words: str


class Planned(Frozen, frozen=True, kw_only=True):
    """What is sent, and what is known of it.

    data: the bytes to send; the very bytes that came where nothing changed.
    before, after: the request's sizes as it came and as it is sent; `exact` and `guessed` tokens of what is sent.
    key, record: what to remember where the provider takes it; no key: nothing.
    trouble: why it goes out as it came although it should not, or is refused.
    asks: summaries that are wanted.
    """

    unshown = ("data", "report", "key", "asks")

    data: bytes
    outcome: Outcome
    model: str = ""
    card: str = ""
    known: bool = False
    before: Size = NOTHING
    after: Size = NOTHING
    exact: int = 0
    guessed: int = 0
    report: Report | None = None
    key: bytes = b""
    record: Record = UNKNOWN
    trouble: str = ""
    refusal: Refusal | None = None
    asks: tuple[Ask, ...] = ()

    @property
    def stubs(self) -> int:
        """How many pictures became placeholders."""
        return self._count("stub")

    @property
    def drops(self) -> int:
        """How many messages were left out, by this fit or an earlier one."""
        lines = self.report.decisions if self.report is not None else ()
        return sum(max(1, line.last - line.seq + 1) for line in lines if line.verb == "drop")

    @property
    def cuts(self) -> int:
        """How many texts were cut short."""
        return self._count("cut")

    @property
    def folds(self) -> int:
        """How many summaries stand for messages."""
        return self._count("fold")

    @property
    def breaks(self) -> int:
        """How many cache breaks the request has."""
        return len(self.report.breaks) if self.report is not None else 0

    def _count(self, verb: str) -> int:
        return sum(line.verb == verb for line in self.report.decisions) if self.report is not None else 0


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
        """What is sent in place of `data`. `taught`: a second try, with what the provider's refusal of the first one taught.
        `ready`: the summaries that a plan of the same request asked for.
        """
        model, body = route.model, None
        spelling = None if taught or ready else self._spelling(data, route, caller)
        try:
            planned = self._again(data, spelling, route, caller) if spelling is not None else None
            if planned is not None:
                return planned
            body = _parsed(data)
            model = model or str(body.get("model") or "")
            return self._planned(data, body, model, route, caller, taught, ready, spelling)
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

    def _spelling(self, data: bytes, route: Route, caller: Caller) -> Spelling | None:
        """The body in pieces, where it is not large: a large one holds media, which have to be read."""
        return self._recall.spelling(data, caller, route.api, LISTS[route.api]) if len(data) < self.settings.threaded else None

    def _again(self, data: bytes, spelling: Spelling, route: Route, caller: Caller) -> Planned | None:
        """What is sent where the beginning is spelt as it was before; None where the body has to be read."""
        came = self._recall.came(spelling, caller)
        if came is None or came.known.record.state is not None:
            return None
        model = route.model or str(came.around.get("model") or "")
        terms = self._terms(model, route, came.known.record.learned)
        seen = self._glance.along(came, terms, data=data)
        return _let_through(_begun(data, model, route, came.known, terms), seen) if seen is not None else None

    def _planned(  # noqa: PLR0913, PLR0917 - the request, as far as it is known
        self,
        data: bytes,
        body: JsonObject,
        model: str,
        route: Route,
        caller: Caller,
        taught: Learned | None,
        ready: Sequence[Fold],
        spelling: Spelling | None,
    ) -> Planned:
        """What is sent of a body that is read."""
        form, key = FORMS[route.api], LISTS[route.api]
        conversation = None if is_list(body.get(key)) else _read(form, body)
        plain = list(map(canon.plain, body[key] if conversation is None else _given(conversation)))
        known = self._recall.known(caller, route.api, plain)
        terms = self._terms(model, route, taught or known.record.learned, taught=taught is not None)
        base = _begun(data, model, route, known, terms)
        seen = None
        simple = taught is None and known.record.state is None and not ready
        if simple and known.at and conversation is None:
            seen = self._glance.along(_came(body, known, key, plain, data), terms, data=data)
        digests = [] if seen is not None else [canon.short(one) for one in plain]
        if seen is None:
            conversation = conversation or _read(form, body)
            seen = self._glance.look(conversation, digests, known.keys[-1], terms) if simple else None
        if seen is not None:
            if spelling is not None:
                self._recall.remember(spelling, known.chain)
            return _let_through(base, seen)
        conversation = conversation or _read(form, body)
        history = resume.logged(tuple(digests))
        return self._fitted(base, conversation, history, known, terms, ready, retry=taught is not None)

    def _terms(self, model: str, route: Route, learned: Learned, *, taught: bool = False) -> Terms:
        """What a request is judged by. `taught`: what was learned holds for whatever card it is."""
        policy, card, named = self._ruled(model, route.api)
        learned = learned if taught else learned.under(named)
        card = learned.narrowed(card)
        prices = PriceList(card, multiplier=learned.multiplier, memo=self._memo(named))
        form, key = FORMS[route.api], LISTS[route.api]
        return Terms(form=form, key=key, policy=policy, prices=prices, named=named, learned=learned)

    def _fitted(  # noqa: PLR0913, PLR0917 - what is known, and what it is judged by
        self,
        base: Planned,
        conversation: Conversation,
        history: resume.Log,
        known: Known,
        terms: Terms,
        ready: Sequence[Fold],
        *,
        retry: bool,
    ) -> Planned:
        """The whole fit."""
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
            ready=ready,
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


def _begun(data: bytes, model: str, route: Route, known: Known, terms: Terms) -> Planned:
    """A plan before it is known what becomes of the request."""
    card = terms.prices.card
    return Planned(
        data=data,
        outcome="untouched",
        model=model,
        card=card.name,
        known=card.known,
        key=b"" if route.counts else known.keys[-1],
        record=Record(learned=terms.learned),
    )


def _let_through(base: Planned, seen: Seen) -> Planned:
    """A request that goes out as it came."""
    return replace(base, before=seen.size, after=seen.size, exact=seen.exact, guessed=seen.guessed)


def _came(body: JsonObject, known: Known, key: str, plain: Sequence[bytes], data: bytes) -> Came:
    """A request that was read whole, as what came since its beginning was known."""
    return Came(around=body, tail=body[key][known.at :], since=plain[known.at :], known=known, marks=canon.marks(data))


def _parsed(data: bytes) -> JsonObject:
    """The body as JSON. The parser that is used here takes no NaN and no half of a surrogate pair, and bounds its depth;
    what else must be looked at, a whole fit looks at (`_read`).
    """
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return door.parse(data)
    return body if isinstance(body, dict) else door.parse(data)


def is_json(data: bytes) -> bool:
    """Whether a body that is not taken here is JSON all the same, by a reader that is as lenient as JSON allows: any value,
    numbers of any size, halves of surrogate pairs, and whatever is nested too deep for it.
    """
    try:
        json.loads(data.decode("utf-8-sig"), parse_constant=_no_number, parse_int=len, parse_float=len)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _no_number(word: str) -> None:
    """NaN and its like, which Python writes and JSON does not have."""
    raise ValueError(word)


def is_list(given: Json) -> bool:
    """Whether the messages are a list of objects, as they nearly always are; some forms take a string, or a lone one."""
    return isinstance(given, list) and set(map(type, given)) <= {dict}


def _read(form: Form, body: JsonObject) -> Conversation:
    body = door.admit(body)
    try:
        return form.read(body)
    except BadRequest as error:
        raise Unread(str(error)) from error


def _given(conversation: Conversation) -> list[JsonObject]:
    return [message.json for message in conversation.messages]
