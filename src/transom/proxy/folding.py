"""Summaries for the proxy: what a plan asks for is asked of the operator's summary model, and comes back as folds.

The rules: at most one round for each request of a client, bounded in number and in time. What fails costs the client nothing
but that time: its request goes on without the fold, and its tenant is not made to wait again for a while. A client's own
credential goes to no other upstream than its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from transom import canon
from transom.errors import BadRequest
from transom.folds import fulfil
from transom.plan import Ask, Fold
from transom.proxy.bounded import Bounded
from transom.proxy.call import Call
from transom.proxy.exchange import Told
from transom.proxy.headers import CREDENTIALS, Pairs
from transom.proxy.inlet import Busy, Hold
from transom.proxy.settings import Family, Folding, Settings, Upstream
from transom.proxy.upstream import Answer, Outlet, Unreachable
from transom.proxy.usage import Reader
from transom.summaries import CutOff, of_anthropic, of_chat, requests
from transom.types import JsonObject
from transom.wire import FORMS

LONGEST: Final = 2**20
"""Bytes of an answer that are read; no summary is so long."""
REST: Final = 60.0
"""Seconds in which a tenant's requests go on without asking, after a summary failed."""
TENANTS: Final = 10_000
"""Tenants of whom it is remembered."""
PATHS: Final[Mapping[Family, str]] = {
    "anthropic": "/v1/messages",
    "openai": "/v1/chat/completions",
    "gemini": "/v1beta/models/{model}:generateContent",
}
APIS: Final[Mapping[Family, str]] = {"anthropic": "anthropic", "openai": "openai-chat", "gemini": "gemini"}
BESIDE: Final = (b"anthropic-version", b"anthropic-beta", b"openai-organization", b"openai-project", b"x-goog-user-project")
"""Headers that say for whom, or in which version, a client's credential is good."""
VERSION: Final = b"2023-06-01"
"""`anthropic-version`, which each request must have (Anthropic, API overview, 2026-11)."""


OK: Final = 200


class Failed(Exception):
    """There is no summary; the argument is a word for why, out of few."""


class Summaries:
    """Asks the summary model."""

    def __init__(self, settings: Settings, outlet: Outlet) -> None:
        self._folding, self._upstreams, self._outlet = settings.folding, settings.upstreams, outlet
        self._observes = settings.mode == "shadow"
        self._resting: Bounded[bytes, float] = Bounded(TENANTS)

    def may(self, call: Call) -> bool:
        """Whether a request may wait for summaries: folding is on, and neither a shadow, a count, nor a rest is in the way."""
        one = self._folding
        if one is None or self._observes or call.route.counts or call.exchange.summaries is not None:
            return False
        own = bool(one.key) or call.route.family == one.upstream
        return own and self._resting.get(call.exchange.tenant, 0.0) <= time.monotonic()

    async def round(self, call: Call, asks: Sequence[Ask], hold: Hold) -> tuple[Fold, ...]:
        """The summaries that could be had of those that are asked for. Raises nothing; a client that leaves cancels it."""
        one = self._folding
        if one is None:
            return ()
        told = call.exchange.summaries = Told()
        tasks = {asyncio.ensure_future(self._fulfilled(call, ask, one, hold)): ask for ask in _first(asks, one.most)}
        try:
            done = (await asyncio.wait(tasks, timeout=one.seconds))[0] if tasks else set()
        finally:
            for task in tasks:
                task.cancel()
        folds: list[Fold] = []
        for task, ask in tasks.items():
            error = task.exception() if task in done else Failed("late")
            if error is None:
                folds.append(fulfil(ask, task.result()))
            else:
                told.failed[error.args[0] if isinstance(error, Failed) else "broken"] += 1
        if told.failed:
            self._resting[call.exchange.tenant] = time.monotonic() + REST
        told.asked, told.made = len(tasks), len(folds)
        return tuple(folds)

    async def _fulfilled(self, call: Call, ask: Ask, one: Folding, hold: Hold) -> str:
        """The summary for one ask. Raises Failed."""
        said = [await self._said(call, one, canon.encode(body), hold) for body in bodies(ask, one)]
        text = "\n\n".join(filter(None, said))
        if not text:
            raise Failed("empty")
        return text

    async def _said(self, call: Call, one: Folding, body: bytes, hold: Hold) -> str:
        """The answer to one request of an ask. Raises Failed."""
        upstream = self._upstreams[one.upstream]
        headers = [*_headers(upstream, len(body)), *(_own(one) if one.key else _callers(call))]
        if one.upstream == "anthropic" and not any(name == b"anthropic-version" for name, _ in headers):
            headers.append((b"anthropic-version", VERSION))
        try:
            hold.grow(len(body))
            answer = await self._outlet.send(upstream, "POST", _target(call, one, upstream), headers, body)
            data = await _whole(answer)
        except Busy:
            raise Failed("busy") from None
        except Unreachable:
            raise Failed("unreachable") from None
        if answer.status != OK:
            raise Failed("refused")
        reader = Reader(FORMS[APIS[one.upstream]], kind=b"application/json", coding=b"")
        reader.feed(data)
        usage = reader.usage()
        if usage is not None and call.exchange.summaries is not None:
            call.exchange.summaries.prompt += usage.prompt
            call.exchange.summaries.output += usage.output
        return spoken(data, one.upstream)


def bodies(ask: Ask, one: Folding) -> Iterator[JsonObject]:
    """The requests that an ask needs, in the form of the summary model's API."""
    if one.upstream == "openai":
        yield from requests(ask, api="openai-chat", model=one.model, **one.options)
        return
    for body in requests(ask, api="anthropic", model=one.model):
        if one.upstream == "anthropic":
            yield {**body, **one.options}
        else:
            parts = [_gemini(part) for part in body["messages"][0]["content"]]
            settings = {"maxOutputTokens": body["max_tokens"], **one.options}
            yield {"contents": [{"role": "user", "parts": parts}], "generationConfig": settings}


def spoken(data: bytes, family: Family) -> str:
    """The words of an answer. Raises Failed where it is none."""
    try:
        answer = msgspec.json.decode(data)
        if family == "openai":
            return of_chat({"choices": [answer["choices"][0]]}).strip()
        if family == "anthropic":
            return of_anthropic({**answer, "content": [*answer["content"]]}).strip()
        candidate = answer["candidates"][0]
        if candidate.get("finishReason") == "MAX_TOKENS":
            raise Failed("cut off")
        return "".join(part["text"] for part in candidate["content"]["parts"] if _is_said(part)).strip()
    except CutOff:
        raise Failed("cut off") from None
    except (msgspec.DecodeError, BadRequest, KeyError, IndexError, TypeError, AttributeError):
        raise Failed("unreadable") from None


def _is_said(part: JsonObject) -> bool:
    return "text" in part and not part.get("thought")


def _gemini(part: Mapping[str, Any]) -> JsonObject:
    if part["type"] == "text":
        return {"text": part["text"]}
    source = part["source"]
    if source["type"] != "base64":
        return {"text": "(a picture at an address)"}
    return {"inlineData": {"mimeType": source["media_type"], "data": source["data"]}}


def _first(asks: Sequence[Ask], most: int) -> Iterator[Ask]:
    """As many of the asks, oldest first, as need no more than `most` requests together."""
    for ask in asks:
        most -= len(ask.prompt)
        if most < 0:
            return
        yield ask


def _target(call: Call, one: Folding, upstream: Upstream) -> bytes:
    """Path and query. A key that a client of Gemini's has in its query goes along where it is what is used."""
    path = upstream.below(PATHS[one.upstream].format(model=quote(one.model, safe=""))).encode()
    keys = [pair for pair in call.query.split(b"&") if pair.startswith(b"key=")] if not one.key else []
    return path + b"?" + keys[0] if keys and one.upstream == "gemini" else path


def _headers(upstream: Upstream, length: int) -> Pairs:
    return [
        (b"host", upstream.authority.encode()),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json"),
        (b"accept-encoding", b"identity"),
        (b"content-length", b"%d" % length),
    ]


def _own(one: Folding) -> Pairs:
    """The operator's own key, as its provider takes it."""
    key = one.key.encode()
    return {
        "anthropic": [(b"x-api-key", key)],
        "openai": [(b"authorization", b"Bearer " + key)],
        "gemini": [(b"x-goog-api-key", key)],
    }[one.upstream]


def _callers(call: Call) -> Pairs:
    """What the client proves itself with."""
    return [(name, call.headers[name]) for name in (*CREDENTIALS, *BESIDE) if call.headers.get(name)]


async def _whole(answer: Answer) -> bytes:
    data = bytearray()
    try:
        async for chunk in answer.chunks:
            data += chunk
            if len(data) > LONGEST:
                raise Failed("unreadable")
    finally:
        await answer.close()
    return bytes(data)
