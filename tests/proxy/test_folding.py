"""Folding through the proxy: what would be left out is summed up by the operator's model, and no failure is the client's."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from bodies import picture
from proxy.provider import Provider, Seen
from proxy.rig import Rig, Start, wait_for
from transom import catalog
from transom.errors import BadSetting
from transom.fit import price
from transom.pricing import PriceList
from transom.proxy.folding import Failed, spoken
from transom.proxy.logs import JsonLog
from transom.proxy.settings import build

SUMMARY = "claude-haiku-4-5"
FOLD = {"model": SUMMARY, "upstream": "anthropic"}
POLICY = {"budget": 8_000, "chunk_tokens": 600, "recent_tokens": 1_000}
WORDS = "They went through the pages."
LONG = "a long text of many words " * 60
ROUNDS = 10
"""Questions of the first talk that is over the trigger."""


def talk(rounds: int, **more: Any) -> dict[str, Any]:
    """A stateless client's request: so many questions, all but the last answered."""
    messages: list[dict[str, Any]] = []
    for n in range(rounds):
        messages.append({"role": "user", "content": f"question {n} {LONG}"})
        messages.append({"role": "assistant", "content": f"answer {n} {LONG}"})
    return {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages[:-1], **more}


def folding(start: Start, **settings: Any) -> Rig:
    given = {"fold": FOLD, "policy": POLICY, **settings}
    return start(Provider(words=WORDS), **given)


def asked(begun: Rig) -> list[Seen]:
    """The requests that the summary model got."""
    return [one for one in begun.provider.seen if SUMMARY in (one.body.get("model"), one.path.rpartition("/")[2].split(":")[0])]


def test_what_would_be_left_out_is_summed_up_and_the_plan_is_what_is_sent(start: Start) -> None:
    begun = folding(start)
    answer = begun.post("/v1/messages", talk(ROUNDS))
    sent = begun.provider.seen[-1].body
    planned = begun.ended(1)[0].planned
    assert planned is not None
    assert answer.headers["x-transom"].endswith(f"drops=0; folds={planned.folds}")
    assert WORDS in json.dumps(sent)
    assert f"question 0 {LONG}" not in json.dumps(sent)
    prices = PriceList(catalog.card("claude-sonnet-4-5", api="anthropic"), multiplier=planned.record.learned.multiplier)
    assert price(sent, api="anthropic", prices=prices).tokens == planned.after.tokens
    assert len(asked(begun)) == planned.folds == 4


def test_a_long_talk_loses_nothing_and_pays_for_a_summary_once(start: Start) -> None:
    """One round for each request at the most, and none while what stands suffices; what was folded stays the same bytes."""
    begun = folding(start)
    for rounds in range(1, 25):
        assert begun.post("/v1/messages", talk(rounds)).status_code == 200
    done = begun.ended(24)
    assert sum(one.planned.drops for one in done if one.planned is not None) == 0
    told = [one.summaries for one in done if one.summaries is not None]
    assert 3 <= len(told) <= 12
    assert all(one.asked <= 4 for one in told)
    assert begun.counters.totals["summaries_made"] == len(asked(begun)) == sum(one.made for one in told)
    taken = [one for one in begun.provider.taken if one not in asked(begun)]
    assert sum(one.cached > one.tokens / 2 for one in taken) > len(taken) / 2


@pytest.mark.parametrize("fault, why", [("429", "refused"), ("500", "refused"), ("slow", "late")])
def test_a_summary_that_fails_does_not_fail_the_request(start: Start, fault: str, why: str) -> None:
    begun = folding(start, fold={**FOLD, "most": 1, "seconds": 0.5 if fault == "slow" else 30})
    begun.provider.faults = [fault]
    assert begun.post("/v1/messages", talk(ROUNDS)).status_code == 200
    assert WORDS not in json.dumps(begun.provider.seen[-1].body)
    one = begun.ended(1)[0]
    assert one.summaries is not None
    assert one.summaries.to_dict() == {"asked": 1, "made": 0, "failed": {why: 1}, "billed": [0, 0]}
    assert begun.get("/transom/status").json()["faults"] == {f"summary {why}": 1}
    assert not one.fault
    begun.post("/v1/messages", talk(ROUNDS + 1))
    assert len(asked(begun)) == 1, "a tenant whose summary failed is not made to wait again at once"


def test_an_empty_summary_is_none(start: Start) -> None:
    begun = folding(start)
    begun.provider.words = ""
    assert begun.post("/v1/messages", talk(ROUNDS)).status_code == 200
    one = begun.ended(1)[0]
    assert one.summaries is not None
    assert one.summaries.failed == {"empty": 4}


def test_what_is_asked_is_bounded_in_number(start: Start) -> None:
    begun = folding(start, fold={**FOLD, "most": 2})
    begun.post("/v1/messages", talk(ROUNDS))
    assert len(asked(begun)) == 2


def test_a_summary_model_that_is_down_does_not_fail_the_request(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARY_KEY", "sk-operator")
    upstream = {"anthropic": start(Provider()).direct, "openai": "http://127.0.0.1:9"}
    begun = folding(start, upstream=upstream, fold={"model": "m", "upstream": "openai", "key_env": "SUMMARY_KEY"})
    assert begun.post("/v1/messages", talk(ROUNDS)).status_code == 200
    one = begun.ended(1)[0]
    assert one.summaries is not None
    assert one.summaries.failed == {"unreachable": 4}


def test_a_client_that_leaves_takes_its_summaries_with_it(start: Start) -> None:
    begun = folding(start, fold={**FOLD, "most": 1})
    begun.provider.faults = ["slow"]
    begun.leave("/v1/messages", talk(ROUNDS))
    assert begun.ended(1)[0].fault == "client left"
    wait_for(lambda: begun.provider.left == 1)
    assert len(begun.provider.seen) == 1


def test_a_refusal_as_too_large_may_be_answered_with_a_summary(start: Start) -> None:
    """No budget is known; the provider's refusal names one, and the second try asks, once."""
    begun = folding(start, policy={"chunk_tokens": 600, "recent_tokens": 1_000})
    begun.provider.window = 6_000
    answer = begun.post("/v1/messages", talk(ROUNDS))
    assert answer.status_code == 200
    assert "folds=" in answer.headers["x-transom"]
    assert begun.ended(1)[0].retried
    assert 1 <= len(asked(begun)) <= 4


def test_counts_and_shadows_ask_nothing(start: Start) -> None:
    counting, shadow = folding(start), folding(start, mode="shadow")
    assert counting.post("/v1/messages/count_tokens", talk(ROUNDS)).status_code == 200
    assert shadow.post("/v1/messages", talk(ROUNDS)).status_code == 200
    assert [len(one.provider.seen) for one in (counting, shadow)] == [1, 1]
    assert shadow.provider.seen[0].body == talk(ROUNDS)


def test_two_tenants_with_one_talk_have_summaries_of_their_own(start: Start) -> None:
    begun = folding(start)
    begun.provider.words = "What the first was told."
    begun.post("/v1/messages", talk(ROUNDS), key="sk-one")
    begun.provider.words = "What the second was told."
    begun.post("/v1/messages", talk(ROUNDS), key="sk-two")
    keys = [one.headers["authorization"] for one in asked(begun)]
    assert keys == ["Bearer sk-one"] * 4 + ["Bearer sk-two"] * 4
    second = [one for one in begun.provider.seen if "sk-two" in one.headers["authorization"]]
    assert "the first" not in json.dumps([one.body for one in second])


def test_summaries_outlive_the_process_in_a_store(start: Start, tmp_path: Path) -> None:
    file = str(tmp_path / "state.db")
    folding(start, store=file).post("/v1/messages", talk(ROUNDS))
    again = folding(start, store=file)
    assert again.post("/v1/messages", talk(ROUNDS)).headers["x-transom"].endswith("folds=4")
    assert not asked(again)


def test_a_clients_credential_goes_to_no_other_provider(start: Start) -> None:
    begun = folding(start, fold={"model": "gpt-4o-mini", "upstream": "openai"})
    assert begun.post("/v1/messages", talk(ROUNDS)).status_code == 200
    assert [one.path for one in begun.provider.seen] == ["/v1/messages"]


@pytest.mark.parametrize(
    "family, model, path, header",
    [
        ("anthropic", SUMMARY, "/v1/messages", "x-api-key"),
        ("openai", "gpt-4o-mini", "/v1/chat/completions", "authorization"),
        ("gemini", "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:generateContent", "x-goog-api-key"),
    ],
)
def test_the_operators_own_key_pays_and_is_told_to_nobody(  # noqa: PLR0917 - a case
    start: Start, monkeypatch: pytest.MonkeyPatch, family: str, model: str, path: str, header: str
) -> None:
    monkeypatch.setenv("SUMMARY_KEY", "sk-operator")
    begun = folding(start, fold={"model": model, "upstream": family, "key_env": "SUMMARY_KEY"})
    given = talk(ROUNDS)
    given["messages"][2]["content"] = [{"type": "text", "text": f"question 1 {LONG}"}, picture(7)]
    answer = begun.post("/v1/messages", given)
    made = [one for one in begun.provider.seen if "sk-operator" in one.headers.get(header, "")]
    assert {one.path for one in made} == {path}
    assert all("sk-one" not in json.dumps(one.headers) for one in made)
    assert any("iVBORw0KGgo" in json.dumps(one.body) for one in made), "the picture is shown to whoever sums it up"
    sent = begun.provider.seen[-1]
    assert WORDS in json.dumps(sent.body)
    assert "sk-operator" not in json.dumps(sent.headers)
    out = io.StringIO()
    JsonLog(out).ended(begun.ended(1)[0])
    told = out.getvalue() + repr(begun.ended(1)[0]) + begun.get("/transom/status").text + begun.get("/transom/metrics").text
    assert "sk-operator" not in told + str(answer.headers)
    assert WORDS not in told
    assert begun.counters.totals["summary_tokens_out"] > 0


@pytest.mark.parametrize(
    "fold, says",
    [
        ({}, "summary model"),
        ({"model": "m", "upstream": "gemini"}, "one of anthropic"),
        ({"model": "m", "key_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE"),
        ({"model": "m", "seconds": 0}, "fold.seconds"),
        ({"model": "m", "most": "many"}, "fold.most"),
        ({"model": "m", "key": "sk-in-a-file"}, "no setting fold.key"),
        (7, "a table"),
    ],
)
def test_what_cannot_be_meant_is_refused(fold: Any, says: str) -> None:
    with pytest.raises(BadSetting, match=says):
        build({"upstream": {"anthropic": "https://x"}, "fold": fold})


def test_the_key_is_not_shown_and_the_only_upstream_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARY_KEY", "sk-operator")
    made = build({"upstream": {"anthropic": "https://x"}, "fold": {"model": "m", "key_env": "SUMMARY_KEY"}})
    assert made.folding is not None
    assert made.folding.upstream == "anthropic"
    assert "sk-operator" not in repr(made)
    assert made.policy.chunk_tokens > 0
    assert made.policy.max_images is None


@pytest.mark.parametrize("family", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("data", [b"", b"[]", b'{"content": 7}', b'{"choices": []}', b'{"candidates": [{}]}', b"\xff"])
def test_an_answer_that_is_none_is_no_summary(family: Any, data: bytes) -> None:
    with pytest.raises(Failed):
        spoken(data, family)


@pytest.mark.parametrize(
    ("family", "answer"),
    [
        ("anthropic", {"stop_reason": "max_tokens", "content": [{"type": "text", "text": "Half of"}]}),
        ("openai", {"choices": [{"finish_reason": "length", "message": {"content": "Half of"}}]}),
        ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [{"text": "Half of"}]}}]}),
    ],
)
def test_an_answer_that_was_cut_off_is_no_summary(family: Any, answer: Any) -> None:
    """It would stand for what it leaves out from then on."""
    with pytest.raises(Failed, match="cut off"):
        spoken(json.dumps(answer).encode(), family)


def test_options_go_into_each_request(start: Start) -> None:
    begun = folding(start, fold={**FOLD, "options": {"temperature": 0}})
    begun.post("/v1/messages", talk(ROUNDS))
    assert [one.body["temperature"] for one in asked(begun)] == [0] * 4
