"""The socket that the proxy listens at."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from transom.errors import BadSetting
from transom.proxy.serving import bound, running, url_of


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


WHOLE = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"


async def _echo(request: Request) -> Response:
    return Response(await request.body())


ECHO = Starlette(routes=[Route("/", _echo, methods=["POST"])])


@pytest.mark.parametrize(
    "sent", [b"", b"\r\n", b"POST / HT", WHOLE[:-2], WHOLE + b"{}POST /"], ids=["nothing", "a line", "a word", "half", "second"]
)
def test_a_head_that_never_ends_is_closed(sent: bytes) -> None:
    with running(ECHO, bound("127.0.0.1", 0), head=0.2) as url, socket.create_connection(_place(url), timeout=20) as client:
        client.sendall(sent)
        said = b""
        while data := client.recv(65_536):
            said += data
        assert said.startswith(b"HTTP/1.1 200") == sent.startswith(WHOLE)


def test_a_body_has_more_time_than_a_head() -> None:
    with running(ECHO, bound("127.0.0.1", 0), head=0.2) as url, socket.create_connection(_place(url), timeout=0.6) as client:
        client.sendall(WHOLE)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(20)
        client.sendall(b"{}")
        assert client.recv(65_536).startswith(b"HTTP/1.1 200")


def _place(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_proxy_says_what_was_saved_when_it_is_ended(number: int) -> None:
    command = [sys.executable, "-m", "transom", "proxy", "--listen", "127.0.0.1:0", "--upstream", "openai=http://127.0.0.1:9"]
    with subprocess.Popen([*command, "--log", "none"], stderr=subprocess.PIPE, text=True) as child:  # noqa: S603 - this one
        assert child.stderr is not None
        assert "transom proxy at" in child.stderr.readline()
        child.send_signal(number)
        assert "0 requests" in child.stderr.read()
    assert child.returncode == 0


def test_a_process_that_only_serves_leaves_what_is_loaded_out_of_the_collectors_searches() -> None:
    code = "import gc; from transom.proxy.serving import settle; settle(); print(gc.get_freeze_count() > 10_000)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert made.stdout.strip() == "True"
