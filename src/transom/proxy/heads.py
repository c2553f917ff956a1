"""A time limit for a request's head: uvicorn closes a connection that is idle between two requests, and no other.

The rule: a head has so many seconds, from the connection's start or from the end of the wait between two requests, however its
bytes come; so nobody can hold connections with half a head, or with nothing. For half a head that came together with the request
before it uvicorn's limit of idle connections holds, until more of it comes.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Protocol(H11Protocol):
    """uvicorn's protocol with the limit, `seconds`."""

    seconds: float
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the class that it is of
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Whatever came may have ended a head, or begun one."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._wait_no_more()

    def _watch(self) -> None:
        """Limit the wait where a head is waited for; between two requests uvicorn's own limit holds."""
        waits = self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None and not self.transport.is_closing()
        if not waits:
            self._wait_no_more()
        elif self._late is None:
            self._late = self.loop.call_later(self.seconds, self.timeout_keep_alive_handler)

    def _wait_no_more(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
