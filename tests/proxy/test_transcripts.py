"""Transcripts of real agents, sent request by request by a client that remembers nothing, to a provider with half the window
they need.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evidence.transcripts import requests
from proxy.provider import Provider
from proxy.rig import Start

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"
PATHS = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
NAMES = ("attio-main", "codex-raze", "cua-shopping-eleven-screens", "gemini-cli-trajectory")

pytestmark = pytest.mark.slow


def talk_of(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The path of a transcript's requests, and the requests."""
    file = FOLDER / f"{name}.json.gz"
    if not file.exists():
        pytest.skip(f"the transcripts are not at {FOLDER}")
    talk = json.loads(gzip.decompress(file.read_bytes()))
    path = PATHS.get(talk["api"], f"/v1beta/models/{talk['model']}:generateContent")
    return path, [body if talk["api"] == "gemini" else {"model": talk["model"], **body} for body in requests(talk)]


@pytest.mark.parametrize("name", NAMES)
def test_every_request_is_answered_and_most_of_it_comes_from_the_cache(start: Start, oracle: ModuleType, name: str) -> None:
    path, bodies = talk_of(name)
    window = max(Provider().count(body) for body in bodies) // 2
    begun = start(Provider(oracle=oracle, window=window))
    assert [begun.post(path, body).status_code for body in bodies] == [200] * len(bodies)
    retried = sum(one.retried for one in begun.ended(len(bodies)))
    assert retried <= 3, "a limit that was met once is remembered"
    taken = begun.provider.taken
    assert len(bodies) < 10 or sum(one.cached for one in taken) / sum(one.tokens for one in taken) > 0.5


@pytest.mark.parametrize("name", NAMES)
def test_without_the_proxy_the_same_requests_are_refused(start: Start, oracle: ModuleType, name: str) -> None:
    path, bodies = talk_of(name)
    window = max(Provider().count(body) for body in bodies) // 2
    begun = start(Provider(oracle=oracle, window=window))
    begun.url = begun.direct
    assert {begun.post(path, body).status_code for body in bodies} >= {400}


@pytest.mark.parametrize("name", NAMES)
def test_within_the_window_every_request_passes_as_it_came_or_is_mended(start: Start, oracle: ModuleType, name: str) -> None:
    path, bodies = talk_of(name)
    begun = start(Provider(oracle=oracle, window=10**7))
    for body in bodies:
        raw = json.dumps(body).encode()
        answer = begun.post(path, raw)
        assert answer.status_code == 200
        if answer.headers["x-transom"].startswith("untouched"):
            assert begun.provider.seen[-1].raw == raw
