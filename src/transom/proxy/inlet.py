"""The body that a client sends, and the moment it leaves. The rule: a limit holds while reading, before anything is held or
parsed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Self

from starlette.types import Receive

from transom.errors import TransomError
from transom.proxy.coding import TooLarge


class Gone(Exception):
    """The client left."""


class Slow(TransomError):
    """The client stopped sending in the middle of its body."""

    status_hint = 408


class Busy(TransomError):
    """The bodies that are held already are as much as may be held."""

    status_hint = 503


class Held:
    """Bytes of all bodies that are held at the same time, and the most that may be."""

    def __init__(self, most: int) -> None:
        self.now = 0
        self.lock = threading.Lock()  # bodies are decoded in threads
        self.most = most


class Hold:
    """What one request holds of it, from its first byte to its answer's last."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._own = 0
        self._over = False

    def __enter__(self) -> Self:
        """Begin with nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give all of it back."""
        with self._held.lock:
            self._over = True
            self._held.now -= self._own

    def grow(self, size: int) -> None:
        """Hold so many bytes more. Raises Busy beyond the bound, and once the request is over: a thread may be late."""
        with self._held.lock:
            if self._over or (self._held.now and self._held.now + size > self._held.most):
                raise Busy("the proxy holds as many large requests as it may; try again in a moment")
            self._held.now += size
            self._own += size


class Inlet:
    """What comes from the client of one request."""

    def __init__(self, receive: Receive, *, idle: float) -> None:
        self._receive, self._idle = receive, idle
        self._ended = asyncio.Event()
        self.received = 0

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Gone when the client leaves, Slow when nothing comes for too long."""
        while not self._ended.is_set():
            try:
                async with asyncio.timeout(self._idle):
                    message = await self._receive()
            except TimeoutError:
                raise Slow(f"nothing of the body came for {self._idle:g} seconds; send it again") from None
            if message["type"] == "http.disconnect":
                raise Gone
            if not message.get("more_body", False):
                self._ended.set()
            chunk: bytes = message.get("body", b"")
            if chunk:
                self.received += len(chunk)
                yield chunk

    async def whole(self, *, declared: int | None, most: int, hold: Hold) -> bytes:
        """The whole body. `declared` is the length that its header claims. Raises TooLarge, Busy, Slow, Gone."""
        if declared is not None and declared > most:
            raise TooLarge(f"the body has {declared:,} bytes, and the proxy takes at most {most:,}; send a smaller one")
        out = bytearray()
        async for chunk in self.chunks():
            if len(out) + len(chunk) > most:
                raise TooLarge(f"the body has more than {most:,} bytes, which is the most the proxy takes; send a smaller one")
            hold.grow(len(chunk))
            out += chunk
        return bytes(out)

    async def gone(self) -> None:
        """Return when the client has left after its body was read."""
        await self._ended.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
