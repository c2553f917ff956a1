"""The glance says what the whole fit would say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodies import chat, loop
from conversations import bodies, legal_bodies
from transom import canon, catalog, resume, stages
from transom.errors import BadRequest, OverBudget
from transom.policy import Policy
from transom.pricing import PriceList
from transom.proxy.glance import Glance, Seen, Terms
from transom.proxy.reading import LISTS, is_list
from transom.proxy.recall import Came, Known
from transom.proxy.record import UNKNOWN, Learned
from transom.types import JsonObject
from transom.wire import FORMS
from transom.wire.form import Form

MODELS = {"anthropic": "claude-sonnet-4-5", "openai-chat": "gpt-4o", "openai-responses": "gpt-4o", "gemini": "gemini-2.5-flash"}


def chained(digests: Sequence[bytes]) -> tuple[bytes, ...]:
    return tuple(accumulate(digests, canon.rolling))


def came(body: JsonObject, key: str, at: int, keys: tuple[bytes, bytes]) -> Came:
    """A request of which so many messages are known."""
    tail = body[key][at:]
    known = Known(at=at, keys=keys, record=UNKNOWN)
    return Came(
        around=body, tail=tail, since=[canon.plain(one) for one in tail], known=known, marks=canon.marks(canon.encode(body))
    )


def terms(form: Form, policy: Policy, prices: PriceList, key: str) -> Terms:
    return Terms(form=form, key=key, policy=policy, prices=prices, named="card", learned=Learned())


def glanced(body: JsonObject, api: str, policy: Policy, multiplier: float = 1.0) -> tuple[Seen | None, stages.Fit]:
    """What the glance says, and the fit."""
    form: Form = FORMS[api]
    talk = form.read(body)
    prices = PriceList(catalog.card(MODELS[api], api=api), multiplier=multiplier)
    history = resume.log(talk)
    seen = Glance().look(talk, history.digests, b"", terms(form, policy, prices, talk.key))
    return seen, stages.run(talk, form=form, policy=policy, prices=prices, last=None, history=history)


@pytest.mark.parametrize("policy", [Policy.sliding(), Policy.folding(max_images=None, budget=2_000)], ids=["sliding", "folding"])
@pytest.mark.parametrize("api", sorted(MODELS))
@given(data=st.data())
def test_what_it_lets_through_the_fit_leaves_as_it_came(api: str, policy: Policy, data: st.DataObject) -> None:
    body = data.draw(st.one_of(bodies(api), legal_bodies(api)))
    try:
        seen, fit = glanced(body, api, policy)
    except (BadRequest, OverBudget):
        return
    if seen is not None:
        assert fit.request == body
        assert seen.size == fit.report.after
        assert not fit.asks


def test_it_lets_a_small_talk_through() -> None:
    seen, fit = glanced(chat(), "openai-chat", Policy.sliding())
    assert seen is not None
    assert seen.exact + seen.guessed == fit.report.after.tokens


def test_it_leaves_pictures_to_the_fit() -> None:
    assert glanced(loop(2), "anthropic", Policy.sliding())[0] is None


@pytest.mark.parametrize(
    "settings", [{"budget": 150}, {"results_per_tool": 1}, {"max_message_tokens": 5}, {"marks": "place"}, {"max_body_bytes": 200}]
)
def test_it_leaves_what_a_setting_may_change_to_the_fit(settings: dict[str, Any]) -> None:
    body = chat("word " * 200)
    assert glanced(body, "openai-chat", Policy.sliding())[0] is not None
    form = FORMS["openai-chat"]
    talk = form.read(body)
    prices = PriceList(catalog.card("gpt-4o", api="openai-chat"))
    digests = resume.log(talk).digests
    policy = Policy.sliding(**settings)
    assert Glance().look(talk, digests, b"", terms(form, policy, prices, talk.key)) is None


def test_a_factor_scales_what_is_guessed_and_nothing_else() -> None:
    body = {**loop(0), "messages": [{"role": "user", "content": "word " * 100}]}
    plain, _ = glanced(body, "anthropic", Policy.sliding())
    scaled, fit = glanced(body, "anthropic", Policy.sliding(), multiplier=1.5)
    assert plain is not None
    assert scaled is not None
    assert scaled.exact == plain.exact
    assert scaled.guessed == int(1.5 * plain.guessed)
    assert scaled.size.tokens >= fit.report.after.tokens


@pytest.mark.parametrize("api", sorted(MODELS))
@given(data=st.data())
def test_along_a_known_beginning_it_says_the_same(api: str, data: st.DataObject) -> None:
    """A beginning that went out as it came, and what came since: what is let through, the fit of the whole leaves as it came."""
    body = data.draw(st.one_of(legal_bodies(api), bodies(api)))
    form: Form = FORMS[api]
    prices = PriceList(catalog.card(MODELS[api], api=api))
    try:
        whole = form.read(body)
        cut = data.draw(st.integers(0, len(whole.messages)))
        begun = form.read({**body, whole.key: [one.json for one in whole.messages[:cut]]})
        own = terms(form, Policy.sliding(), prices, whole.key)
        glance, history = Glance(), resume.log(whole)
        chain = chained(history.digests)
        if glance.look(begun, history.digests[:cut], chain[cut - 1] if cut else b"", own) is None:
            return
        made = {**body, whole.key: [one.json for one in whole.messages]}
        keys = (chain[cut - 1], chain[-1]) if cut else None
        seen = glance.along(came(made, whole.key, cut, keys), own, data=canon.encode(made)) if keys else None
        if seen is None:
            return
        fit = stages.run(whole, form=form, policy=own.policy, prices=prices, last=None)
    except (BadRequest, OverBudget):
        return
    assert fit.request == body
    assert seen.size.tokens == fit.report.after.tokens
    assert seen.size.messages == fit.report.after.messages


def test_along_a_known_beginning_only_the_rest_is_read() -> None:
    form, prices, glance = FORMS["openai-chat"], PriceList(catalog.card("gpt-4o", api="openai-chat")), Glance()
    own = terms(form, Policy.sliding(), prices, "messages")
    first = chat()
    later = {**first, "messages": [*first["messages"], {"role": "assistant", "content": "Yes?"}, *chat("Well")["messages"]]}
    digests = resume.log(form.read(later)).digests
    chain = chained(digests)
    since = came(later, "messages", 1, (chain[0], chain[-1]))
    assert glance.along(since, own, data=canon.encode(later)) is None, "nothing is known of the beginning"
    assert glance.look(form.read(first), digests[:1], chain[0], own) is not None
    seen = glance.along(since, own, data=canon.encode(later))
    assert seen is not None
    assert seen.size == stages.run(form.read(later), form=form, policy=own.policy, prices=prices, last=None).report.after


@pytest.mark.parametrize("api", sorted(MODELS))
@given(data=st.data())
def test_each_entry_of_the_list_is_a_message(api: str, data: st.DataObject) -> None:
    """So a conversation's digests can be taken from its JSON, before it is read."""
    body = data.draw(st.one_of(legal_bodies(api), bodies(api)))
    try:
        talk = FORMS[api].read(body)
    except BadRequest:
        return
    given = body[LISTS[api]]
    if is_list(given):
        assert resume.logged(tuple(map(canon.digest, given))) == resume.log(talk)
