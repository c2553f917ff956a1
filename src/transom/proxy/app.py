"""The application: the proxy's own pages under `/transom/`, and the gate for all the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio.lowlevel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, Router

import transom
from transom import canon
from transom.proxy.counters import Counters
from transom.proxy.exchange import Watcher
from transom.proxy.fitting import Fitter
from transom.proxy.gate import Gate
from transom.proxy.routes import Route as Api
from transom.proxy.schema import SCHEMA
from transom.proxy.settings import Settings
from transom.proxy.states import opened
from transom.proxy.through import Through
from transom.proxy.upstream import Outlet

PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"


def application(settings: Settings, counters: Counters | None = None, watchers: Sequence[Watcher] = ()) -> Starlette:
    """The proxy as an ASGI application. `counters` count, and `watchers` are told of, every exchange.

    Raises BadSetting where the store cannot be opened.
    """
    counters = counters or Counters()
    states = opened(settings.store)
    outlet = Outlet(settings)
    fitter = Fitter(settings, states)
    through = Through(settings, fitter, outlet)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await anyio.lowlevel.checkpoint()  # loads what would only be loaded at the first request
        await asyncio.to_thread(warm, fitter)
        yield
        await outlet.close()
        through.close()
        states.close()

    async def status(_: Request) -> Response:
        return JSONResponse(
            {"version": transom.__version__, "mode": settings.mode, "upstreams": _shown(settings), **counters.to_dict()}
        )

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(counters.prometheus(), media_type=PROMETHEUS)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def schema(_: Request) -> Response:
        return JSONResponse(SCHEMA)

    pages = [
        Route("/status", status),
        Route("/metrics", metrics),
        Route("/health", health),
        Route("/openapi.json", schema),
    ]
    gate = Gate(settings, through, outlet, (counters, *watchers))
    # No redirects: they would name the host that the client's header claims. What is no page, the gate answers.
    own = Router(routes=pages, redirect_slashes=False, default=gate)
    app = Starlette(routes=[Mount("/transom", app=own), Mount("/", app=gate)], lifespan=lifespan)
    app.router.redirect_slashes, app.router.default = False, gate
    return app


def warm(fitter: Fitter) -> None:
    """Load tables and vocabularies before the first request has to wait for them."""
    nobody = fitter.caller(credential=b"", named=b"", session=b"")
    body = canon.encode({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]})
    fitter.plan(body, Api(family="openai", path="", api="openai-chat", counts=True), nobody)


def _shown(settings: Settings) -> dict[str, str]:
    return {name: f"{one.scheme}://{one.authority}{one.path}" for name, one in settings.upstreams.items()}
