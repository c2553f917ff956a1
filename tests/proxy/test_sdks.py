"""The official SDKs, unmodified, through the proxy: long tool loops with pictures beyond what the provider takes."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from proxy import loops
from proxy.provider import Provider
from proxy.rig import Rig, Start

ROUNDS = 30
# An SDK says so when its provider takes a model off; what goes through the proxy is the same.
pytestmark = [pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning"), pytest.mark.slow]


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_collector() -> Iterator[None]:
    """A client that a test does not close is blamed on that test, and not on whichever runs when its sockets are collected."""
    yield
    gc.collect()


def anthropic_client(url: str, *, concurrent: bool = False) -> Any:
    sdk = pytest.importorskip("anthropic")
    make = sdk.AsyncAnthropic if concurrent else sdk.Anthropic
    return make(api_key="sk-ant-one", base_url=url, max_retries=0)


def openai_client(url: str, *, concurrent: bool = False) -> Any:
    sdk = pytest.importorskip("openai")
    make = sdk.AsyncOpenAI if concurrent else sdk.OpenAI
    return make(api_key="sk-one", base_url=f"{url}/v1", max_retries=0)


def gemini_client(url: str, *, concurrent: bool = False) -> Any:
    sdk = pytest.importorskip("google.genai")
    client = sdk.Client(api_key="AIza-one", http_options={"base_url": url})
    return client.aio if concurrent else client


Make = Callable[..., Any]
Loop = Callable[..., str]
CASES = [
    pytest.param("anthropic", anthropic_client, loops.anthropic_loop, loops.anthropic_loop_async, id="anthropic"),
    pytest.param("openai", openai_client, loops.chat_loop, loops.chat_loop_async, id="openai-chat"),
    pytest.param("openai", openai_client, loops.responses_loop, None, id="openai-responses"),
    pytest.param("gemini", gemini_client, loops.gemini_loop, loops.gemini_loop_async, id="gemini"),
]


def small(oracle: ModuleType | None = None) -> Provider:
    """A provider whose window holds about half of a loop."""
    return Provider(window=30_000, calls=ROUNDS, oracle=oracle)


def at(begun: Rig, family: str) -> str:
    return f"{begun.url}/{family}"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("family, make, loop, _", CASES)
def test_a_loop_beyond_the_window_ends_without_an_error(
    start: Start, oracle: ModuleType, family: str, make: Make, loop: Loop, _: Any, *, stream: bool
) -> None:
    begun = start(small(oracle), policy={"budget": 24_000})
    with make(at(begun, family)) as client:
        said = loop(client, stream=stream)
    assert said == begun.provider.words
    assert len(begun.provider.taken) == ROUNDS + 1
    assert any(one.outcome == "fitted" for one in begun.notes.all)
    assert all(one.usage is not None for one in begun.notes.all)


@pytest.mark.parametrize("family, make, _, loop", [case for case in CASES if case.values[3] is not None])
def test_so_does_one_of_an_asynchronous_client(start: Start, family: str, make: Make, _: Any, loop: Any) -> None:
    begun = start(small(), policy={"budget": 24_000})

    async def ran() -> str:
        async with make(at(begun, family), concurrent=True) as client:
            return str(await loop(client))

    assert asyncio.run(ran()) == begun.provider.words


@pytest.mark.parametrize("family, make, loop, _", CASES)
def test_the_same_loop_without_transom_fails(start: Start, family: str, make: Make, loop: Loop, _: Any) -> None:  # noqa: ARG001
    begun = start(small())
    with (
        make(begun.direct) as client,
        pytest.raises(Exception, match=r"prompt is too long|maximum context|context window|token count"),
    ):
        loop(client, stream=False)


@pytest.mark.parametrize("family, make, loop, _", CASES)
def test_a_window_that_nobody_told_of_is_learned_from_a_refusal(
    start: Start, family: str, make: Make, loop: Loop, _: Any
) -> None:
    """The model's card says far more than this provider takes: its refusal is read, and the client sees none."""
    begun = start(small())
    with make(at(begun, family)) as client:
        assert loop(client, stream=False) == begun.provider.words
    refused = [one for one in begun.provider.seen if one.status == 400]
    assert refused
    assert len(refused) < ROUNDS / 4, "a limit that was met once is remembered"


def test_most_of_a_loop_is_read_from_the_prompt_cache(start: Start) -> None:
    """A stateless client sends everything again; what goes out keeps its beginning but for few refits."""
    begun = start(small(), policy={"budget": 24_000})
    with anthropic_client(at(begun, "anthropic")) as client:
        loops.anthropic_loop(client, stream=False)
    taken = begun.provider.taken
    assert sum(one.cached for one in taken) / sum(one.tokens for one in taken) > 0.7
