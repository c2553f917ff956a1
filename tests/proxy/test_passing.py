"""What passes, passes as it came: bytes, chunks, headers, and whatever else belongs to an upstream's API."""

from __future__ import annotations

import gzip
import json
import time

import httpx2
import pytest

from bodies import chat, loop
from proxy.provider import Provider
from proxy.rig import Start

STREAMED = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}


def test_a_request_that_fits_goes_out_as_the_very_bytes_that_came(start: Start) -> None:
    begun = start()
    raw = b'{ "model":"gpt-4o" ,\n "messages":[{"content":"Gr\\u00fc\\u00dfe", "role":"user"}], "x_unknown": 1.50 }'
    assert begun.post("/v1/chat/completions", raw).headers["x-transom"].startswith("untouched")
    assert begun.provider.seen[-1].raw == raw


def test_a_compressed_request_that_fits_goes_out_compressed(start: Start) -> None:
    begun = start()
    raw = gzip.compress(json.dumps(chat()).encode())
    assert begun.post("/v1/chat/completions", raw, headers={"content-encoding": "gzip"}).status_code == 200
    assert begun.provider.seen[-1].raw == raw
    assert begun.provider.seen[-1].headers["content-encoding"] == "gzip"


def test_a_compressed_request_that_does_not_fit_goes_out_plain(start: Start) -> None:
    begun = start(policy={"max_images": 2})
    raw = gzip.compress(json.dumps(loop(6)).encode())
    assert begun.post("/v1/messages", raw, headers={"content-encoding": "gzip"}).headers["x-transom"].startswith("fitted")
    assert "content-encoding" not in begun.provider.seen[-1].headers
    assert b"image/png" in begun.provider.seen[-1].raw


@pytest.mark.parametrize("family", STREAMED)
def test_a_stream_passes_chunk_for_chunk_and_is_not_held_back(start: Start, family: str) -> None:
    begun = start(Provider(faults=["endless", "endless"]))
    body = {**(chat() if family == "openai" else loop(1)), "stream": True}
    headers = {"authorization": "Bearer sk-one"}
    came = []
    for url in (begun.direct, begun.url):
        with (
            httpx2.Client(timeout=20, trust_env=False) as client,
            client.stream("POST", url + STREAMED[family], json=body, headers=headers) as answer,
        ):
            chunks = answer.iter_raw()
            came.append([next(chunks), next(chunks)])
    assert [chunk.partition(b'"id"')[0] for chunk in came[0]] == [chunk.partition(b'"id"')[0] for chunk in came[1]]


def test_usage_is_read_from_a_stream_and_from_a_compressed_answer(start: Start) -> None:
    begun = start()
    begun.post("/v1/messages", {**loop(1), "stream": True}, headers={"accept-encoding": "identity"})
    begun.post("/v1/messages", loop(1))
    streamed, whole = begun.ended(2)
    assert streamed.usage is not None
    assert whole.usage is not None
    assert streamed.usage.prompt == whole.usage.prompt == begun.provider.seen[0].tokens
    assert whole.usage.cached > 0


def test_any_other_path_of_an_api_passes_through(start: Start) -> None:
    begun = start()
    answer = begun.get("/openai/v1/files?limit=2&after=a%2Fb", authorization="Bearer sk-one")
    assert answer.json() == {"path": "/v1/files", "query": "limit=2&after=a%2Fb", "bytes": 0}
    assert begun.post("/v1/embeddings", b"\x00" * 3_000_000).json()["bytes"] == 3_000_000


def test_a_body_whose_length_is_not_told_passes_through(start: Start) -> None:
    begun = start()
    with httpx2.Client(trust_env=False) as client:
        answer = client.post(f"{begun.url}/v1/embeddings", content=iter([b"one", b"two"]))
    assert answer.json()["bytes"] == 6


def test_paths_that_two_apis_share_go_by_the_header_or_the_name(start: Start) -> None:
    begun = start()
    for path, headers in (
        ("/v1/models", {"anthropic-version": "2023-06-01"}),
        ("/v1/models", {"authorization": "Bearer x"}),
        ("/v1/models", {"x-goog-api-key": "x"}),
        ("/gemini/v1beta/models", {}),
    ):
        begun.get(path, **headers)
    assert [one.family for one in begun.ended(4)] == ["anthropic", "openai", "gemini", "gemini"]


def test_counting_counts_what_would_be_sent_and_leaves_no_trace(start: Start) -> None:
    begun = start(policy={"max_images": 2})
    told = begun.post("/v1/messages/count_tokens", loop(6)).json()["input_tokens"]
    assert told < begun.provider.count(loop(6))
    sent = begun.post("/v1/messages", loop(6))
    assert begun.provider.seen[-1].tokens == told
    assert sent.status_code == 200


def test_an_error_of_the_upstream_passes_as_it_is(start: Start) -> None:
    begun = start()
    answer = begun.post("/v1/messages", loop(1), key="wrong")
    assert answer.status_code == 401
    assert answer.json() == {"type": "error", "error": {"type": "authentication_error", "message": "invalid api key"}}


def test_a_rate_limit_is_no_overflow(start: Start) -> None:
    begun = start(Provider(faults=["429"]))
    assert begun.post("/v1/messages", loop(1)).status_code == 429
    assert len(begun.provider.seen) == 1


@pytest.mark.parametrize(
    "path, headers, where",
    [
        ("/nothing", {}, ("error", "message")),
        ("/v2/models", {"anthropic-version": "1"}, ("error", "message")),
        ("/v2/x", {"x-goog-api-key": "1"}, ("error", "status")),
        ("/openai/../secret", {}, ("error", "message")),
        ("/gemini/v1beta/%2e%2E/x", {}, ("error", "status")),
    ],
)
def test_a_path_that_belongs_to_none_is_not_found_in_the_clients_form(
    start: Start, path: str, headers: dict[str, str], where: tuple[str, str]
) -> None:
    begun = start()
    with httpx2.Client(trust_env=False) as client:
        request = client.build_request("GET", begun.url, headers=headers, extensions={"target": path.encode()})
        answer = client.send(request)
    assert answer.status_code == 404
    assert answer.json()[where[0]][where[1]]
    assert not begun.provider.seen


def test_a_family_without_an_upstream_says_how_to_give_it_one(start: Start) -> None:
    begun = start(upstream={"openai": "http://127.0.0.1:1"})
    answer = begun.post("/v1/messages", loop(1))
    assert answer.status_code == 404
    assert "--upstream anthropic=URL" in answer.json()["error"]["message"]


def test_the_state_makes_the_next_requests_keep_their_beginning(start: Start) -> None:
    """A stateless client sends the whole talk each time; what went out before goes out again, but for one refit in many
    rounds.
    """
    begun = start(policy={"max_images": 4})
    for rounds in range(1, 14):
        begun.post("/v1/messages", loop(rounds))
    shares = [one.cached / one.tokens for one in begun.provider.taken[1:]]
    assert sum(share > 0.6 for share in shares) >= 8
    assert sum(one.planned.breaks for one in begun.ended(13) if one.planned is not None) <= 5


def test_a_store_in_a_file_outlives_the_process(start: Start, tmp_path: object) -> None:
    file = f"{tmp_path}/state.db"
    first = start(policy={"max_images": 4}, store=file)
    for rounds in range(1, 8):
        first.post("/v1/messages", loop(rounds))
    time.sleep(0.1)
    second = start(policy={"max_images": 4}, store=file)
    second.post("/v1/messages", loop(7))
    assert second.provider.taken[-1].raw == first.provider.taken[-1].raw
