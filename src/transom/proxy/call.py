"""One request on its way through, and what is said to its client. The rule: an answer is passed on chunk by chunk, unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import Scope, Send

from transom import canon
from transom.proxy.exchange import Exchange
from transom.proxy.headers import Pairs, to_client
from transom.proxy.inlet import Inlet
from transom.proxy.routes import ERRORS, Route
from transom.proxy.settings import Family, Upstream
from transom.proxy.upstream import Answer, Unreachable
from transom.proxy.usage import Reader
from transom.wire import FORMS

RETRY_AFTER = {503: b"1"}
METHOD_NOT_ALLOWED = 405
FAILED = frozenset({500, 502, 504})
"""Statuses of the proxy's own that say that something broke, not that a request was turned away."""
ALLOWED = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"


class Broken(Exception):
    """The upstream broke off in the middle of its answer: the client's connection ends the same way."""


@dataclass(slots=True, kw_only=True)
class Call:
    """What ASGI gave of a request, where it goes, and what is noted of it for those who watch."""

    method: str
    query: bytes
    pairs: Pairs
    headers: Mapping[bytes, bytes]
    inlet: Inlet
    send: Send
    route: Route
    upstream: Upstream
    exchange: Exchange
    begun: bool = False

    @property
    def target(self) -> bytes:
        """Path and query as the upstream gets them."""
        path = self.upstream.below(self.route.path).encode("latin-1")
        return path + b"?" + self.query if self.query else path

    @property
    def declared(self) -> int | None:
        """The length that the client's header claims; a transfer coding overrides it (RFC 9112, section 6.3)."""
        if b"transfer-encoding" in self.headers:
            return None
        value = self.headers.get(b"content-length", b"")
        return int(value) if value.isdigit() and len(value) < 16 else None

    @property
    def coding(self) -> bytes:
        """The content coding of the body."""
        return self.headers.get(b"content-encoding", b"")

    async def refuse(self, status: int, words: str) -> None:
        """An answer of the proxy's own, in the client's form."""
        self.exchange.status, self.begun = status, True
        await say(self.send, self.route.family, status, words)

    async def relay(self, answer: Answer, reader: Reader | None = None, *, said: bytes = b"", note: bytes = b"") -> None:
        """Pass an answer on. `said` is its beginning, where that was read already; `note` what was done to the request.

        Raises Broken where it breaks off.
        """
        self.exchange.status = answer.status
        headers = to_client(answer.headers)
        if note:
            headers.append((b"x-transom", note))
        try:
            self.begun = True
            await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
            if said:
                await self.send({"type": "http.response.body", "body": said, "more_body": True})
            async for chunk in answer.chunks:
                await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
                if reader is not None:
                    reader.feed(chunk)
            await self.send({"type": "http.response.body", "body": b""})
        except Unreachable as error:
            self.exchange.fault = error.name
            raise Broken(error.name) from error
        finally:
            await answer.close()


async def say(send: Send, family: Family, status: int, words: str) -> None:
    """An error in the form of a family's own."""
    form = FORMS.get(ERRORS[family], FORMS["openai-chat"])
    body = canon.encode(form.error_body(status, words))
    note = b"failed" if status in FAILED else b"refused"
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), (b"x-transom", note)]
    if status in RETRY_AFTER:
        headers.append((b"retry-after", RETRY_AFTER[status]))
    if status == METHOD_NOT_ALLOWED:
        headers.append((b"allow", ALLOWED))
    if status in {408, 413}:
        headers.append((b"connection", b"close"))  # what is left of the body is not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def path_of(scope: Scope) -> str:
    """The path as it was written, without its query."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    return raw.partition(b"?")[0].decode("latin-1")
