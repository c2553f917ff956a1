"""The proxy as an ASGI application: a request comes in, its plan goes out, the answer goes back as it comes.

The rule: a client that leaves takes its request to the upstream with it, and whatever the proxy itself has to say, it says in the
client's own form.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from transom.errors import TransomError
from transom.proxy.call import Call, path_of, say
from transom.proxy.exchange import Exchange, Watcher
from transom.proxy.headers import to_upstream
from transom.proxy.inlet import Gone, Inlet
from transom.proxy.routes import find, speaker
from transom.proxy.settings import Settings
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
        if route is None:
            await say(send, speaker(path, headers), 404, "this path belongs to no API that the proxy serves; see /transom/status")
            return None
        upstream = self._settings.upstreams.get(route.family)
        if upstream is None:
            words = f"the proxy has no upstream {route.family}; start it with --upstream {route.family}=URL"
            await say(send, route.family, 404, words)
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

    async def _passed(self, call: Call) -> None:
        """A request that nothing is planned of: its body streams through."""
        has_body = call.declared is not None or b"transfer-encoding" in call.headers
        headers = to_upstream(call.pairs, authority=call.upstream.authority, length=call.declared, encoded=True)
        if has_body and call.declared is None:
            headers.append((b"transfer-encoding", b"chunked"))
        body = call.inlet.chunks()
        if not has_body:
            async for _ in body:
                pass
        answer = await self._outlet.send(call.upstream, call.method, call.target, headers, body if has_body else b"")
        await call.relay(answer)
        call.exchange.received = call.exchange.sent = call.inlet.received
