"""Upstreams that answer before they have read a request: their refusal is the answer."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time

import httpcore2
import pytest
import trustme

from bodies import loop
from proxy.raw import listening
from proxy.rig import Start
from transom.proxy.early import Backend, is_refusal

REFUSED = b'{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'
TAKEN = b'{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":10,"output_tokens":2}}'
LIMIT = 3_000_000
READ_OF_IT = 4_096
CHUNK = 60_000
END = b"0\r\n\r\n"
"""The end of a chunked body."""


class Gateway:
    """A raw server that reads 4 KB of a body over its limit, refuses it, and closes, as servers do, when the client has heard of
    it. `interim`: what it says before.
    """

    def __init__(self, interim: bytes = b"") -> None:
        self.interim = interim
        self.lengths: list[int] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = [line.partition(b": ") for line in head.lower().split(b"\r\n")]
            length = next((int(value) for name, _, value in lines if name == b"content-length"), LIMIT + 1)
            self.lengths.append(length)
            large = length > LIMIT
            await reader.readexactly(READ_OF_IT if large else length)
            status, body = (b"413 Too Large\r\nConnection: close", REFUSED) if large else (b"200 OK", TAKEN)
            writer.write(self.interim + b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))
            await writer.drain()
            with contextlib.suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(2):
                    while large and await reader.read(LIMIT):
                        pass
        finally:
            writer.close()


@pytest.mark.parametrize("interim", [b"", b"HTTP/1.1 100 Continue\r\n\r\n"], ids=["at once", "after a 100"])
def test_a_planned_body_that_is_refused_at_its_beginning_goes_out_smaller(start: Start, interim: bytes) -> None:
    gateway = Gateway(interim)
    with listening(gateway.serve) as url:
        begun = start(upstream={"anthropic": url}, models={"*": {"window": 9_000_000, "input_limit": 9_000_000}})
        body = loop(30)
        body["messages"][0]["content"] = "Look at the pages."
        for message in body["messages"]:
            if message["role"] == "user" and isinstance(message["content"], list):
                message["content"].append({"type": "text", "text": "word " * 40_000})
        answer = begun.post("/v1/messages", body)
        assert answer.status_code == 200, answer.text
        assert gateway.lengths[0] > LIMIT >= gateway.lengths[1]
        assert begun.ended(1)[0].retried


def test_a_passed_body_that_is_refused_at_its_beginning_gets_the_refusal(start: Start) -> None:
    gateway = Gateway()
    with listening(gateway.serve) as url:
        begun = start(upstream={"openai": url})
        for _ in range(5):
            answer = begun.post("/v1/files", b"x" * 6_000_000)
            assert (answer.status_code, answer.content) == (413, REFUSED)


def test_it_does_so_under_tls_too() -> None:
    """A read is open while the body is written, and half a record is never given up."""
    ours, theirs = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority = trustme.CA()
    authority.configure_trust(ours)
    authority.issue_cert("127.0.0.1").configure_cert(theirs)
    gateway = Gateway()

    async def answers(url: str) -> list[tuple[int, bytes]]:
        out = []
        for size in (6_000_000, 100_000, 6_000_000, 2_000_000, 6_000_000, 10):
            async with httpcore2.AsyncConnectionPool(ssl_context=ours, network_backend=Backend()) as pool:
                answer = await pool.request("POST", url, content=b"x" * size)
                out.append((answer.status, answer.content))
        return out

    with listening(gateway.serve, theirs) as url:
        refused, taken = (413, REFUSED), (200, TAKEN)
        assert asyncio.run(answers(url)) == [refused, taken, refused, taken, refused, taken]


class Door:
    """A raw server that turns a chunked body away before its end, and keeps the connection for what comes next."""

    def __init__(self) -> None:
        self.refused = threading.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        owing = False
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if owing and head != END:  # the request that was refused goes on
                    writer.write(b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n")
                elif b"transfer-encoding: chunked" in head.lower():
                    await reader.readexactly(len(b"%x\r\n\r\n" % CHUNK) + CHUNK)
                    writer.write(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
                    owing = True
                    self.refused.set()
                elif owing:
                    owing = False
                else:
                    await reader.readexactly(2)
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def test_a_connection_whose_request_was_given_up_is_used_for_no_other(start: Start) -> None:
    """Its server waits for the rest of that request, and would take the next one's beginning for it."""
    door = Door()
    with listening(door.serve) as url:
        begun = start(upstream={"openai": url})
        with socket.create_connection(("127.0.0.1", int(begun.url.rpartition(":")[2])), timeout=10) as client:
            head = b"POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ntransfer-encoding: chunked\r\n\r\n"
            client.sendall(head + b"%x\r\n%b\r\n" % (CHUNK, b"x" * CHUNK))
            assert door.refused.wait(10)
            time.sleep(0.3)  # the refusal reaches the proxy
            client.sendall(END)
            assert client.recv(100).startswith(b"HTTP/1.1 403")
        assert begun.post("/v1/files", b"{}").status_code == 200


def test_what_is_no_refusal_lets_the_writing_go_on() -> None:
    assert is_refusal(b"HTTP/1.1 413 Too Large\r\n") is True
    assert is_refusal(b"HTTP/1.1 200 OK\r\n") is False
    assert is_refusal(b"HTTP/1.1 4") is None
    assert is_refusal(b"HTTP/1.1 100 Continue\r\nx: y\r\n") is None
    assert is_refusal(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 Busy") is True
    assert is_refusal(b"SSH-2.0-server banner") is False
