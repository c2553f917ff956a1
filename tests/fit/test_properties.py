"""What holds for every conversation, budget and policy. Each property is named after the invariant that it keeps."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from msgspec.structs import replace

import transom
from conversations import bodies, legal_bodies
from rewritten import key_of
from transom import Ask, Fold, Policy, canon, catalog
from transom.parts import walk
from transom.pricing import PriceList
from transom.summaries import digest
from transom.wire import FORMS, required

APIS = ("anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "blocks")
MODELS = {"openai-chat": "gpt-4o", "openai-responses": "gpt-5", "gemini": "gemini-2.5-flash"}
NUMBER = st.sampled_from([0, 1, 2, 3, 7, -1, float("nan")])
PRESETS = ("sliding", "folding", "shedding", "compacting")
SETTINGS = st.fixed_dictionaries(
    {"preset": st.sampled_from(PRESETS)},
    optional={
        "max_images": NUMBER,
        "max_image_bytes": st.sampled_from([0, 200, 1_000, -5]),
        "image_depth": st.sampled_from([0, 100, 2_000]),
        "image_ratio": st.sampled_from([0, 0.3, 0.5, 1]),
        "newest": st.sampled_from(["keep", "limit"]),
        "refit": st.sampled_from([0.2, 0.5, 1]),
        "trigger": st.sampled_from([0.8, 1]),
        "keep_requests": st.sampled_from([1, 2, 4]),
        "keep_requests_cap": st.sampled_from([0, 300]),
        "keep_head": st.sampled_from([0, 50, 400]),
        "max_messages": st.sampled_from([0, 3, 9]),
        "max_body_bytes": st.sampled_from([None, 1_500, 6_000]),
        "results_per_tool": st.sampled_from([None, 0, 1, 3]),
        "max_input_tokens": st.sampled_from([0, 30]),
        "max_message_tokens": st.sampled_from([0, 60]),
        "late_results": st.sampled_from(["move", "append"]),
        "chunk_tokens": st.sampled_from([0, 10, 40, 200]),
        "recent_tokens": st.sampled_from([0, 30, 300]),
        "summary_tokens": st.sampled_from([5, 60]),
        "merge": st.sampled_from([1, 2, 3]),
        "folded": st.sampled_from(["free", "count"]),
        "fold_first": st.sampled_from(["age", "salience"]),
        "compact_at": st.sampled_from([0, 0.6]),
        "shed": st.sampled_from([(), ("requests", "text", "images", "files")]),
        "pins": st.sampled_from([(), ("messages[2]",)]),
    },
).map(lambda drawn: chosen(drawn))  # noqa: PLW0108 - defined below
CARDS = {api: catalog.card(MODELS.get(api, "claude-opus-4-8"), api=api) for api in APIS}
MEMO: dict[str, Any] = {api: {} for api in APIS}


def chosen(drawn: dict[str, Any]) -> Policy:
    """A preset with some of its settings changed."""
    settings = {name: value for name, value in drawn.items() if name != "preset"}
    made: Policy = getattr(Policy, drawn["preset"])(**settings)
    return made


SLIDING = Policy.sliding()


def fitted(body: dict[str, Any], api: str, policy: Policy, share: float, **more: Any) -> transom.Fit | None:
    """A strict fit at a share of the request's own price; None where it was refused for its size."""
    prices = PriceList(CARDS[api], memo=MEMO[api])
    tokens = transom.price(body, api=api, prices=prices).tokens
    try:
        return transom.fit(body, api=api, prices=prices, budget=max(1, int(tokens * share)), strict=True, policy=policy, **more)
    except transom.OverBudget as refusal:
        event("over budget")
        assert refusal.tokens > refusal.budget_tokens or refusal.bytes > refusal.budget_bytes or refusal.messages  # noqa: PT017 - where it raises
        return None


@pytest.mark.parametrize("api", APIS)
@given(data=st.data(), policy=SETTINGS, share=st.sampled_from([0.1, 0.3, 0.6, 0.9, 1, 2]))
def test_what_goes_out_is_legal_within_budget_and_accounted_for(
    oracle: ModuleType, api: str, data: st.DataObject, policy: Policy, share: float
) -> None:
    """INV-02, INV-08, INV-11, INV-12, INV-17: nothing refused, plan equals sent, input unchanged, same bytes, lines add up."""
    body = data.draw(bodies(api))
    for code in {code for code, _ in oracle.faults(body, "anthropic" if api == "blocks" else api)}:
        event(code)
    before = copy.deepcopy(body)
    made = fitted(body, api, policy, share)
    assert body == before
    if made is None:
        return
    report = made.report
    if api != "blocks":
        assert oracle.refused(made.request, api) == []
    assert [
        fault
        for fault in transom.lint(made.request, api=api, card=CARDS[api])
        if fault.refused and fault.code not in required.CODES
    ] == []
    assert report.budget.admits(report.after)
    lost = [(one.tokens_before - one.tokens_after, one.bytes_before - one.bytes_after) for one in report.decisions]
    assert sum(tokens for tokens, _ in lost) == report.before.tokens - report.after.tokens
    assert sum(size for _, size in lost) == report.before.bytes - report.after.bytes
    assert len(msgspec.json.encode(made.request)) == report.after.bytes
    twice = fitted(body, api, policy, share)
    assert twice is not None
    assert msgspec.json.encode(twice.request) == msgspec.json.encode(made.request)


@pytest.mark.parametrize("api", APIS)
@given(data=st.data(), policy=SETTINGS, share=st.sampled_from([0.2, 0.5, 1]))
def test_fitting_the_output_again_changes_nothing(api: str, data: st.DataObject, policy: Policy, share: float) -> None:
    """INV-12, HE-36: with the same budget and settings, the output is its own fit, the very object."""
    body = data.draw(bodies(api))
    made = fitted(body, api, policy, share)
    assume(made is not None)
    assert made is not None
    moved = any(one.verb == "repair" for one in made.report.decisions)
    assume(not (moved and (policy.image_depth or policy.compact_at)))  # a moved part ages with the message it was written in
    assume(not policy.pins or len(made.request[key_of(api)]) == len(body[key_of(api)]))  # a pin names a place
    again = transom.fit(
        made.request,
        api=api,
        prices=PriceList(CARDS[api], memo=MEMO[api]),
        budget=int(made.report.budget.tokens),
        strict=True,
        policy=policy,
    )
    assert again.request is made.request, str(again.report)


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_a_request_that_nothing_binds_comes_out_as_the_same_object(api: str, data: st.DataObject) -> None:
    """INV-11: no fault, no limit, and the budget that it needs: `fit.request is request`."""
    body = data.draw(legal_bodies(api))
    assume(not [one for one in transom.lint(body, api=api, card=CARDS[api]) if one.refused and one.code not in required.CODES])
    made = fitted(body, api, SLIDING, 1)
    assert made is not None
    assume(not [one for one in made.report.decisions if one.verb == "mend"])
    assert made.request is body, str(made.report)


ANSWERS = st.sampled_from(["digest", "short", "", "long", "picture", "none", "late", "stranger"])


def answered(asks: Sequence[Ask], kept: list[Fold], answers: list[str]) -> list[Fold]:
    """Summaries as models and their hosts give them: good, empty, too long, with a picture, too late, or for something else."""
    out: list[Fold] = []
    for number, (ask, kind) in enumerate(zip(asks, answers, strict=False)):
        assert transom.Ask.from_dict(msgspec.json.decode(msgspec.json.encode(ask.to_dict()))) == ask
        words = {"digest": digest(ask), "long": "long words " * 5_000, "picture": "data:image/png;base64," + "A" * 40}
        made = transom.fulfil(ask, words.get(kind, kind))
        if kind == "late":
            kept.append(transom.fulfil(ask, "came late"))
        elif kind == "stranger":
            out.append(replace(made, first=made.first + number - 1, last=made.last + number + 1))
        elif kind != "none":
            out.append(made)
    return out


@pytest.mark.parametrize("api", APIS)
@given(
    data=st.data(),
    policy=SETTINGS,
    share=st.sampled_from([0.3, 0.5, 0.8]),
    answers=st.lists(ANSWERS, min_size=6, max_size=6),
    multiplier=st.sampled_from([1, 1, 1.7]),
)
def test_as_a_conversation_grows_no_picture_comes_back_and_every_break_is_named(
    oracle: ModuleType,
    *,
    api: str,
    data: st.DataObject,
    policy: Policy,
    share: float,
    answers: list[str],
    multiplier: float,
) -> None:
    """CM-26, CM-126, INV-13, INV-15: with the state carried, what was left out or summed up stays so, and the prefix stands
    between breaks, whatever summaries come."""
    body = data.draw(bodies(api))
    whole, read = body[key_of(api)], FORMS[api].read(body)
    prices = PriceList(CARDS[api], memo=MEMO[api], multiplier=multiplier)
    budget = max(1, int(transom.price(body, api=api, prices=prices).tokens * share))
    single = pictures(body, api)
    state: transom.State | None = None
    last: list[bytes] = []
    late: list[Fold] = []
    gone, folds = set[str](), set[tuple[int, int]]()
    for count in range(1, len(whole) + 1):
        if read.messages[count - 1].role == "assistant":
            continue
        request = {**body, key_of(api): whole[:count]}
        options: dict[str, Any] = {"api": api, "prices": prices, "budget": budget, "strict": True, "policy": policy}
        compacting = count % 7 == 6
        try:
            made = transom.fit(request, state=state, ready=late, compacting=compacting, **options)
            ready, late = answered(made.asks, late, answers), []
            if ready:
                second = transom.fit(request, state=state, ready=ready, compacting=compacting, **options)
                event("folded" if second.state.folds else "not folded")
                made = second
        except transom.OverBudget:
            continue
        assert made.report.budget.admits(made.report.after)
        assert sum(one.tokens_before - one.tokens_after for one in made.report.decisions) == (
            made.report.before.tokens - made.report.after.tokens
        )
        if api != "blocks":
            assert oracle.refused(made.request, api) == []
        now = [canon.encode(canon.unmarked(message)) for message in made.request[key_of(api)]]  # marks may move
        if not made.report.breaks:
            assert now[: len(last)] == last
        live = pictures(made.request, api) & single
        assert not gone & live
        gone |= (pictures(request, api) & single) - live
        covered = {(fold.first, fold.last) for fold in made.state.folds}
        for first, end in folds:  # never undone: it stands, a larger one does, or it was left out for good
            assert made.state.anchor > end or any(one <= first and end <= other for one, other in covered)
        state, last, folds = made.state, now, covered
        assert transom.State.from_dict(msgspec.json.decode(msgspec.json.encode(state.to_dict()))) == state
        again = transom.fit(request, state=state, **{**options, "policy": policy.having(compact_at=0)})
        if not policy.compact_at:
            assert again.request == made.request
            assert again.state.folds == state.folds


def pictures(body: dict[str, Any], api: str, most: int = 1) -> set[str]:
    """The payloads of a request's pictures that stand in it at most so many times."""
    read = FORMS[api].read(body)
    found = [part.media.payload for message in read.messages for part in walk(message.parts) if part.media]
    return {payload for payload in found if found.count(payload) <= most}
