"""Servers and clients that write HTTP by hand: for what no library would send."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A raw server on a loop of its own; yields its URL."""
    begun: list[tuple[str, asyncio.AbstractEventLoop]] = []
    ready, done = threading.Event(), asyncio.Event()

    async def main() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as server:
            port = server.sockets[0].getsockname()[1]
            begun.append((f"{'https' if tls else 'http'}://127.0.0.1:{port}", asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    ready.wait(5)
    url, running = begun[0]
    try:
        yield url
    finally:
        running.call_soon_threadsafe(done.set)
        thread.join(5)


def said(url: str, sent: bytes) -> bytes:
    """All that a server says to these bytes until it closes; `sent` asks it to."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(sent)
        out = b""
        while data := client.recv(65_536):
            out += data
    return out


def answering(raw: bytes) -> Serve:
    """A server that reads a head and answers with these bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await writer.drain()
        writer.close()

    return serve
