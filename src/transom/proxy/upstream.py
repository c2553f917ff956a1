"""The way out: one transport, and the table of upstreams. The rule: nothing else in the proxy opens a connection.

Only the transport of httpx2 is used, not its client: a client keeps cookies, which would carry one tenant's to another,
reads `.netrc` and proxies from the environment, and can follow redirects. A transport does none of that.
httpx2 and not httpx: httpx has had no release since 2024, Starlette's own test client warns about it since 1.2 (2026-05) and
names httpx2, and pydantic maintains it (looked up 2026-11-30).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import httpcore2
import httpx2

from transom.proxy.early import Backend
from transom.proxy.headers import Pairs
from transom.proxy.settings import Settings, Upstream

MOST_CONNECTIONS: Final = 1_000
KEPT: Final = 100
KEPT_FOR: Final = 3.0
"""Seconds that an idle connection is kept: well below the five after which many servers close theirs, so that a request hardly
ever meets one that is being closed. One that does is a 502: whether it was taken is not known, so it is the client's to repeat.
"""


STATUSES: Final = range(200, 600)
"""Statuses of answers. Those below were stepped over, but for 101: nothing here asks to switch protocols."""


class Unreachable(Exception):
    """The upstream did not answer, or broke off. `status` is what a gateway says then."""

    def __init__(self, error: Exception) -> None:
        late = isinstance(error, httpx2.TimeoutException)
        self.status = 504 if late else 502
        self.name = type(error).__name__
        super().__init__(self.name)

    def words(self, upstream: Upstream) -> str:
        """A sentence for the client."""
        what = "did not answer in time" if self.status == 504 else "cannot be reached or broke off"
        return f"the upstream {upstream.family} at {upstream.authority} {what} ({self.name}); try again"


class NoAnswer(Unreachable):
    """What the upstream answered is no status that can be passed on."""

    def __init__(self, status: int) -> None:
        super().__init__(httpx2.RemoteProtocolError(f"status {status}"))
        self.name, self._given = "BadStatus", status

    def words(self, upstream: Upstream) -> str:
        """A sentence for the client."""
        what = f"answered with the status {self._given}, which is none of 200 to 599"
        return f"the upstream {upstream.family} at {upstream.authority} {what}; ask whoever runs it"


class Answer:
    """An upstream's answer: status and headers, and its body, `chunks`, one by one as they come over the wire."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status: int = response.status_code
        self.headers: Pairs = [(name.lower(), value) for name, value in response.headers.raw]
        self.chunks = self._come()

    def header(self, name: bytes) -> bytes:
        """The last value of a header, or b""."""
        return next((value for key, value in reversed(self.headers) if key == name), b"")

    async def _come(self) -> AsyncIterator[bytes]:
        """The body, once. Raises Unreachable where it breaks off."""
        stream = self._response.stream
        if not isinstance(stream, httpx2.AsyncByteStream):
            raise TypeError(stream)
        try:
            async for chunk in stream:
                yield chunk
        except httpx2.TransportError as error:
            raise Unreachable(error) from error

    async def close(self) -> None:
        """Let the connection go: back to the pool where the answer was read to its end, closed otherwise."""
        await self._response.aclose()


class Sender(httpx2.AsyncByteStream):
    """A request's body that comes from the client as it is sent."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The chunks."""
        async for chunk in self._chunks:
            yield chunk


class Outlet:
    """Sends requests to upstreams."""

    def __init__(self, settings: Settings) -> None:
        self._transport = _transport()
        self._timeout = {"connect": settings.connect, "read": settings.idle, "write": settings.idle, "pool": settings.connect}
        self._urls = {
            one.family: httpx2.URL(scheme=one.scheme, host=one.host, port=one.port, path="/")
            for one in settings.upstreams.values()
        }

    async def send(
        self, upstream: Upstream, method: str, target: bytes, headers: Pairs, body: bytes | AsyncIterator[bytes]
    ) -> Answer:
        """The upstream's answer to a request; `target` is path and query as they go out. Raises Unreachable."""
        stream = httpx2.ByteStream(body) if isinstance(body, bytes) else Sender(body)
        request = httpx2.Request(
            method,
            self._urls[upstream.family],
            headers=headers,
            stream=stream,
            extensions={"timeout": self._timeout, "target": target},
        )
        try:
            answer = Answer(await self._transport.handle_async_request(request))
        except httpx2.TransportError as error:
            raise Unreachable(error) from error
        if answer.status not in STATUSES:
            await answer.close()
            raise NoAnswer(answer.status)
        return answer

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.aclose()


def _transport() -> httpx2.AsyncHTTPTransport:
    """The transport, over a pool whose connections listen while they write.

    A transport takes no backend for its pool, so it is given a pool made as it makes its own; all else that it does (its
    errors, its answers) stays its own.
    """
    context = httpx2.create_ssl_context(trust_env=False)
    transport = httpx2.AsyncHTTPTransport(verify=context, trust_env=False)
    transport._pool = httpcore2.AsyncConnectionPool(  # noqa: SLF001 - there is no other way to the backend
        ssl_context=context,
        max_connections=MOST_CONNECTIONS,
        max_keepalive_connections=KEPT,
        keepalive_expiry=KEPT_FOR,
        network_backend=Backend(),
    )
    return transport
