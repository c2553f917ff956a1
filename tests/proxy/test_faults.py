"""Upstreams that are down, slow, or break off; clients that leave; requests that are too much: each has its answer."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import httpx2
import pytest

from bodies import chat, loop
from proxy.provider import Provider
from proxy.rig import Rig, Start, wait_for


def test_an_upstream_that_is_down_is_a_502_in_the_clients_form(start: Start) -> None:
    begun = start(upstream={"anthropic": "http://127.0.0.1:9", "openai": "http://127.0.0.1:9", "gemini": "http://127.0.0.1:9"})
    assert begun.post("/v1/messages", loop(1)).json()["type"] == "error"
    answer = begun.post(
        "/v1beta/models/gemini-2.5-flash:generateContent", {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    )
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == 502
    assert begun.post("/v1/chat/completions", chat()).json()["error"]["type"] == "server_error"


def test_an_upstream_that_is_silent_is_a_504(start: Start) -> None:
    begun = start(Provider(faults=["slow"]), idle=0.3)
    answer = begun.post("/v1/messages", loop(1))
    assert answer.status_code == 504
    assert "did not answer in time" in answer.json()["error"]["message"]


def test_an_upstream_that_breaks_a_stream_breaks_the_clients_too(start: Start) -> None:
    """A stream that was cut must not look like one that ended."""
    begun = start(Provider(faults=["broken"]))
    with pytest.raises(httpx2.RemoteProtocolError):
        begun.post("/v1/messages", {**loop(1), "stream": True})
    assert begun.ended(1)[0].fault
    assert begun.post("/v1/messages", loop(1)).status_code == 200


def test_a_client_that_leaves_a_stream_takes_the_upstreams_with_it(start: Start) -> None:
    begun = start(Provider(faults=["endless"]))
    with (
        httpx2.Client(trust_env=False) as client,
        client.stream("POST", f"{begun.url}/v1/messages", json={**loop(1), "stream": True}, headers={"x-api-key": "k"}) as answer,
    ):
        chunks = answer.iter_raw()  # to let go of it would be to leave
        next(chunks)
        assert begun.provider.open == 1
    wait_for(lambda: begun.provider.open == 0)
    assert begun.provider.left == 1
    assert begun.ended(1)[0].fault == "client left"


def test_a_client_that_leaves_before_the_answer_ends_its_request(start: Start) -> None:
    begun = start(Provider(faults=["slow"]))
    begun.leave("/v1/messages", loop(1))
    assert begun.ended(1)[0].fault == "client left"
    wait_for(lambda: begun.provider.left == 1)


def test_a_413_is_tried_again_smaller_and_remembered(start: Start) -> None:
    """A gateway with a body limit that no card knows: the first refusal is read, and later requests stay below it."""
    begun = start(Provider(body_bytes=60_000))
    for rounds in range(30, 40):
        assert begun.post("/v1/messages", loop(rounds)).status_code == 200
    refused = [one for one in begun.provider.seen if one.status == 413]
    assert 1 <= len(refused) <= 2
    assert begun.ended(10)[0].retried


def test_an_overflow_is_tried_again_once(start: Start) -> None:
    begun = start(Provider(faults=["overflow"], window=20_000))
    answer = begun.post("/v1/messages", loop(30))
    assert answer.status_code == 200
    assert answer.headers["x-transom"].startswith("fitted")
    assert [one.status for one in begun.provider.seen] == [400, 200]


def test_too_many_pictures_are_tried_again_with_fewer(start: Start) -> None:
    begun = start(Provider(images=5))
    assert begun.post("/v1/messages", loop(30)).status_code == 200
    assert begun.post("/v1/messages", loop(31)).status_code == 200
    assert [one.status for one in begun.provider.seen] == [400, 200, 200]


def test_a_refusal_that_nothing_helps_against_passes_as_it_is(start: Start) -> None:
    begun = start(Provider(faults=["overflow"], window=9))
    answer = begun.post("/v1/messages", loop(0))
    assert answer.status_code == 400
    assert "prompt is too long" in answer.json()["error"]["message"]
    assert len(begun.provider.seen) == 1


def test_a_second_refusal_is_the_answer(start: Start) -> None:
    begun = start(Provider(faults=["overflow", "overflow"]))
    assert begun.post("/v1/messages", loop(30)).status_code == 400
    assert len(begun.provider.seen) == 2


def test_a_retry_can_be_turned_off(start: Start) -> None:
    begun = start(Provider(faults=["overflow"]), retry=False)
    assert begun.post("/v1/messages", loop(30)).status_code == 400


def test_what_cannot_fit_goes_to_the_provider_unless_strict(start: Start) -> None:
    begun = start(policy={"budget": 10})
    answer = begun.post("/v1/messages", loop(1))
    assert answer.status_code == 200
    assert answer.headers["x-transom"].startswith("over-budget")


@pytest.mark.parametrize("path, body", [("/v1/messages", loop(1)), ("/v1/chat/completions", chat("word " * 50))])
def test_strict_refuses_with_the_numbers_in_the_clients_form(start: Start, path: str, body: dict[str, Any]) -> None:
    begun = start(policy={"budget": 10}, mode="strict")
    answer = begun.post(path, body)
    assert answer.status_code == 413
    assert "tokens of 10" in answer.json()["error"]["message"]
    assert not begun.provider.seen


def test_a_shadow_changes_nothing_and_says_what_it_would_do(start: Start) -> None:
    begun = start(policy={"max_images": 2}, mode="shadow")
    raw = json.dumps(loop(6), indent=1).encode()
    answer = begun.post("/v1/messages", raw)
    assert begun.provider.seen[-1].raw == raw
    assert answer.headers["x-transom"].startswith("shadow-fitted")
    assert begun.ended(1)[0].saved > 0


BROKEN = {
    "cut off": b'{"model": "gpt-4o", "messages": [{"role": "us',
    "nothing": b"",
    "not a number": b'{"messages": [], "x": NaN}',
    "no text": b"\xff\xfe\x00",
}
ODD = {
    "no object": b"[1, 2]",
    "null": b"null",
    "no messages": b'{"messages": []}',
    "nested": b"[" * 100_000 + b"]" * 100_000,
    "nested inside": b'{"messages": [{"role": "user", "content": "x"}], "x": ' + b"[" * 300 + b"]" * 300 + b"}",
    "digits": b'{"messages": ' + b"9" * 5_000 + b"}",
    "large": b'{"messages": [{"role": "user", "content": "x"}], "x": 1e999}',
    "surrogate": b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
}
"""JSON that transom does not take."""


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_json_is_a_400_in_the_clients_form(start: Start, name: str) -> None:
    begun = start()
    for path in ("/v1/messages", "/v1/chat/completions"):
        answer = begun.post(path, BROKEN[name])
        assert answer.status_code == 400
        assert answer.json()["error"]["message"]
    assert not begun.provider.seen


@pytest.mark.parametrize("name", ODD)
def test_what_is_json_but_nothing_to_plan_is_the_providers_to_judge_unless_strict(start: Start, name: str) -> None:
    begun, strict = start(), start(mode="strict")
    for path in ("/v1/messages", "/v1/chat/completions"):
        assert begun.post(path, ODD[name]).headers["x-transom"] == "unread"
        assert begun.provider.seen[-1].raw == ODD[name]
        answer = strict.post(path, ODD[name])
        assert (answer.status_code, answer.headers["x-transom"]) == (400, "refused")
        assert "errors=" not in answer.json()["error"]["message"]
    assert not strict.provider.seen


@pytest.mark.parametrize("name", BROKEN)
def test_a_shadow_passes_it_on_untouched(start: Start, name: str) -> None:
    begun = start(mode="shadow")
    begun.post("/v1/chat/completions", BROKEN[name])
    assert begun.provider.seen[-1].raw == BROKEN[name]


@pytest.mark.parametrize("body", [{"model": "x"}, {"messages": "what"}, {"messages": [7]}, {"messages": [{"role": "wizard"}]}])
def test_a_request_of_no_known_shape_is_the_providers_to_judge_unless_strict(start: Start, body: dict[str, Any]) -> None:
    begun = start()
    begun.post("/v1/chat/completions", body)
    assert len(begun.provider.seen) == 1
    strict = start(mode="strict")
    assert strict.post("/v1/chat/completions", body).status_code == 400
    assert not strict.provider.seen


def test_a_body_over_the_limit_is_refused_before_it_is_read(start: Start) -> None:
    begun = start(max_body=10_000)
    answer = begun.post("/v1/messages", {**loop(1), "pad": "x" * 20_000})
    assert answer.status_code == 413
    assert "at most 10,000" in answer.json()["error"]["message"]


def test_a_body_that_does_not_tell_its_length_is_refused_at_the_limit(start: Start) -> None:
    begun = start(max_body=10_000)
    with httpx2.Client(trust_env=False) as client:
        answer = client.post(f"{begun.url}/v1/messages", content=iter([b"x" * 4_000] * 4))
    assert answer.status_code == 413


def test_a_client_that_stops_sending_is_told_so(start: Start) -> None:
    begun = start(slow_client=0.2)

    def slowly() -> Any:
        yield b'{"model"'
        time.sleep(1)
        yield b": 1}"

    # The connection may be closed before the client read the answer.
    with httpx2.Client(trust_env=False) as client, contextlib.suppress(httpx2.TransportError):
        assert client.post(f"{begun.url}/v1/messages", content=slowly()).status_code == 408
    assert begun.ended(1)[0].fault == "Slow"


def test_others_are_served_while_a_large_body_is_planned(start: Start) -> None:
    begun: Rig = start(threaded=1)
    assert begun.post("/v1/messages", loop(40)).status_code == 200
