"""A provider for tests: a real HTTP server that speaks the four APIs, keeps their documented rules, and can fail on demand.

It counts by itself, times a factor that nobody is told, and models a prompt cache. It shares no code with transom.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import re
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.speech import SPEECH, Json, Said

PNG = b"\x89PNG\r\n\x1a\n"


class Refused(Exception):
    """An error of the provider: a status and its words."""

    def __init__(self, status: int, words: str) -> None:
        self.status, self.words = status, words
        super().__init__(words)


@dataclass
class Seen:
    """A request as it arrived."""

    api: str
    path: str
    body: Json
    raw: bytes
    headers: dict[str, str]
    status: int = 0
    tokens: int = 0
    cached: int = 0


@dataclass
class Provider:
    """Limits, the script of the model (`calls` tool calls, then words), and faults for the next requests, oldest first."""

    window: int = 200_000
    factor: float = 1.12
    images: int = 100
    many: int = 20
    many_side: int = 2_000
    body_bytes: int = 32 * 2**20
    calls: int = 0
    words: str = "That is all there is to see."
    tool: str = "look"
    arguments: Callable[[int], Json] = field(default=lambda number: {"page": number})
    faults: list[str] = field(default_factory=list)
    oracle: ModuleType | None = None
    seen: list[Seen] = field(default_factory=list)
    left: int = 0
    open: int = 0
    _cache: dict[str, int] = field(default_factory=dict)
    _number: int = 0

    @property
    def taken(self) -> list[Seen]:
        """The requests that were answered with 200."""
        return [one for one in self.seen if one.status == 200]

    def forget(self) -> None:
        """Forget what was seen and cached, so that a long test measures the proxy and not its provider."""
        self.seen.clear()
        self._cache.clear()

    def app(self) -> Starlette:
        """The server."""
        post = ["POST"]
        return Starlette(
            routes=[
                Route("/v1/messages", self.anthropic, methods=post),
                Route("/v1/messages/count_tokens", self.count_anthropic, methods=post),
                Route("/v1/chat/completions", self.chat, methods=post),
                Route("/v1/responses", self.responses, methods=post),
                Route("/{version}/models/{model}:{verb}", self.gemini, methods=post),
                Route("/{path:path}", self.other, methods=["GET", "POST", "DELETE"]),
            ]
        )

    async def anthropic(self, request: Request) -> Response:
        return await self._answer(request, "anthropic")

    async def chat(self, request: Request) -> Response:
        return await self._answer(request, "openai-chat")

    async def responses(self, request: Request) -> Response:
        return await self._answer(request, "openai-responses")

    async def gemini(self, request: Request) -> Response:
        if request.path_params["verb"] == "countTokens":
            return JSONResponse({"totalTokens": self.count(await request.json())})
        return await self._answer(request, "gemini")

    async def count_anthropic(self, request: Request) -> Response:
        body = await request.json()
        self.seen.append(Seen("anthropic-count", request.url.path, body, b"", dict(request.headers)))
        return JSONResponse({"input_tokens": self.count(body)})

    async def other(self, request: Request) -> Response:
        raw = await request.body()
        self.seen.append(Seen("other", request.url.path, {}, raw, dict(request.headers), status=200))
        if request.url.path.endswith("/elsewhere"):
            return RedirectResponse(request.query_params["to"], status_code=307)
        headers = {"set-cookie": "who=them; Path=/"}
        return JSONResponse({"path": request.url.path, "query": request.url.query, "bytes": len(raw)}, headers=headers)

    async def _answer(self, request: Request, api: str) -> Response:
        raw = await request.body()
        plain = gzip.decompress(raw) if request.headers.get("content-encoding") == "gzip" else raw
        one = Seen(api, request.url.path, {}, raw, dict(request.headers))
        self.seen.append(one)
        try:
            one.body = self._body(api, plain)
            fault = self.faults.pop(0) if self.faults else ""
            self._rules(one, request, len(plain), fault)
        except Refused as refused:
            one.status = refused.status
            return JSONResponse(SPEECH[api].error(refused.status, refused.words), status_code=refused.status)
        one.status = 200
        said = self._said(one, request)
        if fault == "slow":
            await self._until_left(request)
        streams = one.body.get("stream") or request.url.path.endswith(":streamGenerateContent")
        if streams:
            return StreamingResponse(self._flow(api, said, one.body, fault), media_type="text/event-stream")
        whole = json.dumps(SPEECH[api].whole(said)).encode()
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers = {"content-encoding": "gzip"}
            return Response(gzip.compress(whole, 1), media_type="application/json", headers=headers)
        return Response(whole, media_type="application/json")

    async def _until_left(self, request: Request) -> None:
        while not await request.is_disconnected():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.02)
        self.left += 1

    async def _flow(self, api: str, said: Said, body: Json, fault: str) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            for number, piece in enumerate(SPEECH[api].stream(said, body)):
                if fault == "broken" and number == 2:
                    raise ConnectionResetError
                if fault == "endless" and number == 2:
                    await asyncio.sleep(30)
                yield piece
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.left += 1
            raise
        finally:
            self.open -= 1

    def _body(self, api: str, plain: bytes) -> Json:
        try:
            body: Json = json.loads(plain)
        except ValueError:
            raise Refused(400, "We could not parse the JSON body of your request.") from None
        if not isinstance(body.get(SPEECH[api].key), list | str):
            raise Refused(400, f"{SPEECH[api].key}: Field required")
        return body

    def _rules(self, one: Seen, request: Request, size: int, fault: str) -> None:
        key = request.headers.get("authorization") or request.headers.get("x-api-key") or request.headers.get("x-goog-api-key")
        if not key or "wrong" in key:
            raise Refused(401, "invalid api key")
        if fault == "500":
            raise Refused(500, "Internal server error")
        if fault == "429":
            raise Refused(429, "Request too large for this model on tokens per min (TPM): Limit 30000, Requested 40000")
        if fault == "413" or size > self.body_bytes:
            raise Refused(413, "Request exceeds the maximum size")
        one.tokens = self.count(one.body)
        if fault == "overflow" or one.tokens > self.window:
            raise Refused(400, SPEECH[one.api].overflow(max(one.tokens, self.window + 1), self.window))
        self._picture_rules(one.body)
        if self.oracle is not None:
            faults = self.oracle.refused(one.body, one.api)
            if faults:
                raise Refused(400, f"structure: {faults[:3]}")

    def _picture_rules(self, body: Json) -> None:
        found = list(pictures(body))
        if len(found) > self.images:
            raise Refused(400, f"Too much media: 0 document pages + {len(found)} images > {self.images}")
        if len(found) > self.many and any(max(sides) > self.many_side for sides in found):
            raise Refused(
                400,
                "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for "
                f"many-image requests: {self.many_side} pixels",
            )

    def _said(self, one: Seen, request: Request) -> Said:
        self._number += 1
        one.cached = min(one.tokens, self._cached(one, request))
        model = one.body.get("model") or request.path_params.get("model", "")
        calls = self._number <= self.calls
        arguments = json.dumps(self.arguments(self._number))
        return Said(
            words="" if calls else self.words,
            call=self.tool if calls else "",
            arguments=arguments,
            number=self._number,
            model=model,
            prompt=one.tokens,
            cached=one.cached,
        )

    def _cached(self, one: Seen, request: Request) -> int:
        """Tokens of the longest beginning that was sent before under the same key."""
        mark = hashlib.sha256((request.headers.get("authorization") or request.headers.get("x-api-key") or "").encode())
        cached = total = 0
        given = one.body[SPEECH[one.api].key]
        for message in given if isinstance(given, list) else [given]:
            mark.update(json.dumps(message, sort_keys=True).encode())
            total += self.count(message)
            cached = total if mark.hexdigest() in self._cache else cached
            self._cache[mark.hexdigest()] = total
        return cached

    def count(self, body: Any) -> int:
        """Tokens as this provider bills them."""
        words = sum(len(text) for text in texts(body)) / 4
        shots = sum(width * height / 750 for width, height in pictures(body))
        return int(self.factor * (words + shots)) + 8


def texts(node: Any) -> Iterator[str]:
    """Every string that is no media payload."""
    if isinstance(node, dict):
        for value in node.values():
            yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)
    elif isinstance(node, str) and not payload(node):
        yield node


def pictures(node: Any) -> Iterator[tuple[int, int]]:
    """The sides of every inline picture."""
    if isinstance(node, dict):
        for value in node.values():
            yield from pictures(value)
    elif isinstance(node, list):
        for value in node:
            yield from pictures(value)
    elif isinstance(node, str) and (found := payload(node)):
        width, height = struct.unpack(">II", base64.b64decode(found[:64])[16:24])
        yield width, height


def payload(text: str) -> str:
    """The base64 of a PNG in a string, or ""."""
    found = re.match(r"(?:data:image/png;base64,)?(iVBORw0KGgo[A-Za-z0-9+/_-]*)", text)
    return found[1].replace("-", "+").replace("_", "/") if found else ""
