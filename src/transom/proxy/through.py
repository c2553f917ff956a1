"""A request whose body is planned: read, plan, send, look at the answer, remember.

The rule: one second try, and only where the upstream said in its own words that the request was too much.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

from msgspec.structs import replace

from transom.errors import TransomError
from transom.proxy import coding, overflow
from transom.proxy.call import Call
from transom.proxy.fitting import Fitter
from transom.proxy.folding import Summaries
from transom.proxy.headers import SESSION, credential, to_upstream
from transom.proxy.identity import Caller
from transom.proxy.inlet import Held, Hold
from transom.proxy.planned import Planned
from transom.proxy.settings import Settings
from transom.proxy.upstream import Answer, Outlet
from transom.proxy.usage import Reader
from transom.wire import FORMS

T = TypeVar("T")

LOOKED_AT: Final = 256 * 1_024
"""Bytes of a refusal that are read to see what it says, before it is passed on."""
WORKERS: Final = 4
"""Threads in which large bodies are planned."""


class Through:
    """Serves planned requests."""

    def __init__(self, settings: Settings, fitter: Fitter, outlet: Outlet) -> None:
        self._settings, self._fitter, self._outlet = settings, fitter, outlet
        self._held = Held(settings.max_held)
        self._summaries = Summaries(settings, outlet)
        self._pool = ThreadPoolExecutor(WORKERS, "transom-plan")

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def serve(self, call: Call) -> None:
        """Serve one request. Raises TransomError for what the client is told, Unreachable, Broken, Gone."""
        with Hold(self._held) as hold:
            data = await call.inlet.whole(declared=call.declared, most=self._settings.max_body, hold=hold)
            call.exchange.received = len(data)
            caller = self._caller(call)
            plain = await self._decoded(call, data, hold)
            if plain is None:
                planned = Planned(data=data, outcome="unread", trouble="coding")
            else:
                planned = await self._planned(call, plain, lambda: self._fitter.plan(plain, call.route, caller))
                planned = await self._folded(call, planned, plain, caller, hold)
            if planned.refusal is not None:
                await call.refuse(planned.refusal.status, planned.refusal.words)
                return
            answer, said = await self._sent(call, planned, plain, data), b""
            if plain is not None and self._may_retry(answer):
                answer, said, planned = await self._second(call, planned, plain, data, caller, answer, hold)
            await self._finish(call, planned, caller, answer, said)

    async def _finish(self, call: Call, planned: Planned, caller: Caller, answer: Answer, said: bytes) -> None:
        """Pass the answer on, and remember what it taught."""
        good = 200 <= answer.status < 300
        reader = None
        if good and not call.route.counts:
            kind, encoded = answer.header(b"content-type"), answer.header(b"content-encoding")
            reader = Reader(FORMS[call.route.api], kind=kind, coding=encoded)
        try:
            await call.relay(answer, reader, said=said, note=_note(planned, self._settings.mode))
        finally:
            if reader is not None:
                call.exchange.usage = reader.usage()
                # A shadow's plan was not what went out, so its figures teach nothing.
                unsent = self._settings.mode == "shadow" and planned.outcome == "fitted"
                self._fitter.keep(planned, caller, None if unsent else call.exchange.usage)

    def _caller(self, call: Call) -> Caller:
        named = call.headers.get(self._settings.tenant_header.lower().encode(), b"") if self._settings.tenant_header else b""
        caller = self._fitter.caller(
            credential=credential(call.headers, call.query), named=named, session=call.headers.get(SESSION, b"")
        )
        call.exchange.tenant = caller.tenant
        return caller

    async def _decoded(self, call: Call, data: bytes, hold: Hold) -> bytes | None:
        """The body without its content coding; None where a shadow cannot read it."""
        if not coding.is_coded(call.coding):
            return data
        work = partial(coding.plain, data, call.coding, self._settings.max_body, hold.grow)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)  # a few bytes may be much work
        except TransomError:
            if self._settings.mode != "shadow":
                raise
            return None

    async def _planned(self, call: Call, plain: bytes, plan: Callable[[], Planned]) -> Planned:
        began = time.perf_counter()
        planned = await self._aside(len(plain), plan)
        call.exchange.planning += time.perf_counter() - began
        call.exchange.planned = planned
        return planned

    async def _folded(  # noqa: PLR0913 - the request, as far as it is known
        self, call: Call, planned: Planned, plain: bytes, caller: Caller, hold: Hold, *, retry: bool = False
    ) -> Planned:
        """The plan with the summaries that it asks for, where they can be had; else the plan as it is."""
        if not planned.asks or not self._summaries.may(call):
            return planned
        ready = await self._summaries.round(call, planned.asks, hold)
        if not ready:
            return planned
        taught = planned.record.learned if retry else None
        again = await self._planned(call, plain, lambda: self._fitter.plan(plain, call.route, caller, taught=taught, ready=ready))
        if again.outcome in {"untouched", "fitted"}:
            return again
        call.exchange.planned = planned
        return planned

    async def _aside(self, size: int, work: Callable[[], T]) -> T:
        """Work in a thread where the body is large, so that others are served meanwhile."""
        if size < self._settings.threaded:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def _sent(self, call: Call, planned: Planned, plain: bytes | None, data: bytes) -> Answer:
        """Send what was planned; what did not change goes out as the very bytes that came, compressed as they were."""
        untouched = plain is None or planned.data is plain
        body = data if untouched else planned.data
        call.exchange.sent = len(body)
        headers = to_upstream(call.pairs, authority=call.upstream.authority, length=len(body), encoded=untouched)
        return await self._outlet.send(call.upstream, call.method, call.target, headers, body)

    def _may_retry(self, answer: Answer) -> bool:
        return answer.status in overflow.REFUSALS and self._settings.retry and self._settings.mode != "shadow"

    async def _second(  # noqa: PLR0913, PLR0917 - the first try and its answer
        self, call: Call, planned: Planned, plain: bytes, data: bytes, caller: Caller, answer: Answer, hold: Hold
    ) -> tuple[Answer, bytes, Planned]:
        """The answer to a smaller request, where the first was refused as too much; else the first one, and what was read of
        it.
        """
        try:
            said, whole = await _beginning(answer)
            found = overflow.recognised(answer.status, _text(answer, said)) if whole else None
            if found is None:
                return answer, said, planned
            again = await self._aside(len(plain), lambda: self._fitter.retried(planned, plain, call.route, caller, found))
            if again is None:
                return answer, said, planned
        except BaseException:
            await answer.close()
            raise
        await answer.close()
        again = await self._folded(call, again, plain, caller, hold, retry=True)
        call.exchange.retried, call.exchange.planned = True, again
        return await self._sent(call, again, plain, data), b"", replace(again, before=planned.before)


async def _beginning(answer: Answer) -> tuple[bytes, bool]:
    """What a refusal says, and whether that is all of it."""
    said = bytearray()
    async for chunk in answer.chunks:
        said += chunk
        if len(said) > LOOKED_AT:
            return bytes(said), False
    return bytes(said), True


def _text(answer: Answer, said: bytes) -> str:
    try:
        return coding.plain(said, answer.header(b"content-encoding"), 4 * LOOKED_AT).decode("utf-8", "replace")
    except TransomError:
        return ""


def _note(planned: Planned, mode: str) -> bytes:
    """What the client may see of what was done: words and numbers."""
    words = planned.outcome if mode != "shadow" else f"shadow-{planned.outcome}"
    if planned.after.tokens:
        words += f"; tokens={planned.after.tokens}/{planned.before.tokens}; stubs={planned.stubs}; drops={planned.drops}"
        words += f"; cuts={planned.cuts}" if planned.cuts else ""
        words += f"; folds={planned.folds}" if planned.folds else ""
    return words.encode()
