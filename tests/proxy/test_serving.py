"""The socket that the proxy listens at."""

from __future__ import annotations

import asyncio
import socket

import pytest

from transom.errors import BadSetting
from transom.proxy.serving import bound, url_of


def test_small_pieces_of_a_stream_are_sent_at_once() -> None:
    """Nagle's algorithm would hold each piece back until the one before is acknowledged, some 40 ms on an idle line."""

    async def at_once() -> int:
        accepted: asyncio.Queue[int] = asyncio.Queue()

        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            own = writer.get_extra_info("socket")
            await accepted.put(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(serve, sock=bound("127.0.0.1", 0)) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            await reader.read()
            writer.close()
            await writer.wait_closed()
            return await accepted.get()

    assert asyncio.run(at_once()) != 0


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with bound("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(BadSetting, match=f"cannot listen at 127.0.0.1:{port} .*; give another --listen"):
            bound("127.0.0.1", port)
        assert url_of(first) == f"http://127.0.0.1:{port}"
