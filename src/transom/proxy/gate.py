"""The proxy as an ASGI application: a request comes in, its plan goes out, the answer goes back as it comes.

The rule: a client that leaves takes its request to the upstream with it, and whatever the proxy itself has to say, it says in the
client's own form.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from transom.errors import TransomError
from transom.proxy.call import Broken, Call, path_of, say
from transom.proxy.exchange import Exchange, Watcher
from transom.proxy.headers import to_upstream
from transom.proxy.inlet import Gone, Inlet
from transom.proxy.routes import Route, find, speaker
from transom.proxy.settings import Family, Settings
from transom.proxy.through import Through
from transom.proxy.upstream import Outlet, Unreachable


class Gate:
    """Everything that is not one of the proxy's own pages."""

    def __init__(self, settings: Settings, through: Through, outlet: Outlet, watchers: Sequence[Watcher]) -> None:
        self._settings, self._through, self._outlet, self._watchers = settings, through, outlet, watchers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises Broken where the upstream broke off after its answer began, so that the server ends the
        connection.
        """
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        call = await self._call(scope, receive, send)
        if call is None:
            return
        work = asyncio.ensure_future(self._served(call))
        gone = asyncio.ensure_future(call.inlet.gone())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                call.exchange.fault = "client left"
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
            else:
                work.result()
        finally:
            work.cancel()
            gone.cancel()
            call.exchange.seconds = time.perf_counter() - call.exchange.began
            for watcher in self._watchers:
                watcher.ended(call.exchange)

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> Call | None:
        """The request with where it goes; None, and the client is told, where it goes nowhere."""
        headers, path = dict(scope["headers"]), path_of(scope)
        route = find(scope["method"], path, headers)
        upstream = self._settings.upstreams.get(route.family) if route is not None else None
        turned = _turned_away(scope["method"], headers)
        if turned is not None or route is None or upstream is None:
            await self._refused(send, route.family if route else speaker(path, headers), turned or _nowhere(route))
            return None
        exchange = Exchange(family=route.family, api=route.api, headers=headers, host=upstream.host, began=time.perf_counter())
        return Call(
            method=scope["method"],
            query=scope.get("query_string", b""),
            pairs=list(scope["headers"]),
            headers=headers,
            inlet=Inlet(receive, idle=self._settings.slow_client),
            send=send,
            route=route,
            upstream=upstream,
            exchange=exchange,
        )

    async def _refused(self, send: Send, family: Family, answer: tuple[int, str]) -> None:
        """A request that goes to nobody."""
        exchange = Exchange(family=family, api="", status=answer[0], refused=True)
        await say(send, family, *answer)
        for watcher in self._watchers:
            watcher.ended(exchange)

    async def _served(self, call: Call) -> None:
        try:
            if call.route.api:
                await self._through.serve(call)
            else:
                await self._passed(call)
        except Unreachable as error:
            call.exchange.fault = error.name
            await call.refuse(error.status, error.words(call.upstream))
        except TransomError as error:
            call.exchange.fault = type(error).__name__
            await call.refuse(error.status_hint, str(error))
        except Gone:
            call.exchange.fault = "client left"
        except Broken:
            raise
        except Exception as error:
            call.exchange.fault = type(error).__name__
            if call.begun:  # half an answer must not look whole
                raise Broken(call.exchange.fault) from error
            await call.refuse(500, f"the proxy broke on this request ({type(error).__name__}); please report it")

    async def _passed(self, call: Call) -> None:
        """A request that nothing is planned of: its body streams through."""
        has_body = call.declared is not None or b"transfer-encoding" in call.headers
        headers = to_upstream(call.pairs, authority=call.upstream.authority, length=call.declared, encoded=True, reads=False)
        if has_body and call.declared is None:
            headers.append((b"transfer-encoding", b"chunked"))
        body = call.inlet.chunks()
        if not has_body:
            async for _ in body:
                pass
        answer = await self._outlet.send(call.upstream, call.method, call.target, headers, body if has_body else b"")
        await call.relay(answer)
        call.exchange.received = call.exchange.sent = call.inlet.received


def _turned_away(method: str, headers: Mapping[bytes, bytes]) -> tuple[int, str] | None:
    """Why a request goes nowhere, wherever it points: status and words; None where it may."""
    if method in {"CONNECT", "TRACE"}:
        return 405, f"the proxy does not serve {method}; send the API's own requests to its paths"
    if b"websocket" in headers.get(b"upgrade", b"").lower():
        return 501, "the proxy serves no websockets; use the API's paths over HTTP, or connect to the provider for these"
    return None


def _nowhere(route: Route | None) -> tuple[int, str]:
    """Status and words for a path of no API, or of one without an upstream."""
    if route is None:
        return 404, "this path belongs to no API that the proxy serves; see /transom/status"
    return 404, f"the proxy has no upstream {route.family}; start it with --upstream {route.family}=URL"
