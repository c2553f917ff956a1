"""Answers that come before a request was sent whole: connections that listen while they write.

The rule: a refusal that comes while a large body is being written ends the writing, and is the answer. Servers refuse a body
that is too large at its first bytes, and close the connection; whoever only writes then sees the connection break, and what it
had said is lost with it. Whatever else comes early is kept until the request is sent.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore2

UNWATCHED: Final = 32 * 1_024
"""Bytes of a request that are written without listening: they fit into the buffers of the connection, so that nothing waits."""
MOMENT: Final = 0.02
"""Seconds in which what stands in the socket already is taken in: a write into a connection that the server has reset would lose
it. Under TLS it may be a record that says nothing, so that nothing more is waited for."""
SIZE: Final = 64 * 1_024
"""Bytes that are read at once, as httpcore2 does."""
_INTERIM: Final = re.compile(rb"HTTP/1\.\d 1\d\d")
_REFUSAL: Final = re.compile(rb"HTTP/1\.\d [345]\d\d")
_STATUS_LINE: Final = len(b"HTTP/1.1 200")


class Backend(httpcore2.AnyIOBackend):
    """Opens connections that listen while they write."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's own
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection over TCP."""
        return Stream(await super().connect_tcp(host, port, timeout, local_address, socket_options))


class Stream(httpcore2.AsyncNetworkStream):
    """A connection. While more than a small request is written a read is open, until something comes that is no refusal."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._sent = 0
        self._listens = True
        self._gave_up = False
        self._came = b""
        self._reading: asyncio.Task[bytes] | None = None
        self._writing: asyncio.Task[None] | None = None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the interface's own
        """Write all of it. Raises WriteError where a refusal comes meanwhile, which `read` then gives."""
        self._sent += len(buffer)
        if self._sent <= UNWATCHED or not self._listens:
            await self._stream.write(buffer, timeout)
            return
        if self._reading is None:
            self._listen()
        if self._reading is not None and self._stream.get_extra_info("is_readable"):
            await asyncio.wait({self._reading}, timeout=MOMENT)
        self._give_up_where_refused()
        # Where it is given up it is not cancelled, since half a record would break TLS for reading too; `aclose` ends it.
        writing = self._writing = asyncio.ensure_future(self._stream.write(buffer, timeout))
        writing.add_done_callback(_seen)
        while not writing.done():
            await asyncio.wait({writing, self._reading} if self._reading else {writing}, return_when=asyncio.FIRST_COMPLETED)
            self._give_up_where_refused()
        await writing

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the interface's own
        """What comes, or came while writing."""
        self._sent, self._listens = 0, True
        if not self._came and self._reading is not None:
            await asyncio.wait({self._reading}, timeout=timeout)
            if not self._reading.done():
                raise httpcore2.ReadTimeout
            reading, self._reading = self._reading, None
            self._came = reading.result()
        if self._came:
            out, self._came = self._came[:max_bytes], self._came[max_bytes:]
            return out
        return await self._stream.read(max_bytes, timeout)

    async def aclose(self) -> None:
        """Close it, whatever is still under way."""
        for task in (self._reading, self._writing):
            if task is not None:
                task.cancel()
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's own
    ) -> httpcore2.AsyncNetworkStream:
        """The same connection under TLS."""
        return Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - the interface's own
        """What is known of the connection. One whose request was given up is said to have something in it to be read, so that the
        pool does not use it again: to the server the rest of that request is still to come.
        """
        if self._gave_up and info == "is_readable":
            return True
        return self._stream.get_extra_info(info)

    def _listen(self) -> None:
        self._reading = asyncio.ensure_future(self._stream.read(SIZE))
        self._reading.add_done_callback(_seen)

    def _give_up_where_refused(self) -> None:
        """Take in what came. Raises WriteError where it begins a refusal; what is none ends the listening, and is kept."""
        if self._reading is None or not self._reading.done():
            return
        reading, self._reading = self._reading, None
        if reading.exception() is not None:  # it broke; `read` will meet the same
            self._listens = False
            return
        self._came += reading.result()
        refused = is_refusal(self._came)
        if refused is None and reading.result():
            self._listen()
        else:
            self._listens = False
        if refused:
            self._gave_up = True
            raise httpcore2.WriteError


def is_refusal(data: bytes) -> bool | None:
    """Whether the beginning of what a server says is an answer with a status of 300 and above; None where more must come.
    Interim answers (100, 103) in front of it are stepped over.
    """
    while _INTERIM.match(data):
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return None if len(data) < SIZE else False
        data = data[end + 4 :]
    return None if len(data) < _STATUS_LINE else _REFUSAL.match(data) is not None


def _seen(task: asyncio.Task[Any]) -> None:
    """Take note of how a task ended, so that asyncio does not report one that nobody asks any more."""
    if not task.cancelled():
        task.exception()
