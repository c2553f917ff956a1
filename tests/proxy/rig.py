"""What the tests of the proxy share: a provider and a proxy that run, and a client that hides nothing."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from proxy.provider import Provider
from transom.proxy.app import application
from transom.proxy.counters import Counters
from transom.proxy.exchange import Exchange
from transom.proxy.serving import bound, running
from transom.proxy.settings import build


def wait_for(what: Any, seconds: float = 5.0) -> None:
    """Wait until `what()` is true."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    assert what()


class Notes:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.all: list[Exchange] = []

    def ended(self, exchange: Exchange) -> None:
        self.all.append(exchange)


@dataclass
class Rig:
    """A running provider and a running proxy."""

    provider: Provider
    direct: str
    url: str
    counters: Counters
    notes: Notes

    def post(self, path: str, body: Any, *, key: str = "sk-one", headers: dict[str, str] | None = None) -> httpx2.Response:
        """A request through the proxy. `body` is JSON, or bytes as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"authorization": f"Bearer {key}", "content-type": "application/json", **(headers or {})}
        with httpx2.Client(timeout=20, trust_env=False) as client:
            return client.post(self.url + path, content=raw, headers=sent)

    def leave(self, path: str, body: Any) -> None:
        """A request whose client leaves as soon as something of it has reached the provider."""
        raw = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\ncontent-length: {len(raw)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2]))) as client:
            client.sendall(head.encode() + raw)
            wait_for(lambda: self.provider.seen, seconds=20)  # the first request waits until vocabularies are loaded

    def ended(self, count: int) -> list[Exchange]:
        """What was noted of the first so many requests, once all of them have ended."""
        until = time.monotonic() + 5
        while len(self.notes.all) < count and time.monotonic() < until:
            time.sleep(0.01)
        assert len(self.notes.all) >= count
        return self.notes.all[:count]

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """A GET through the proxy."""
        with httpx2.Client(timeout=20, trust_env=False) as client:
            return client.get(self.url + path, headers=headers)


Start = Callable[..., Rig]


@contextmanager
def rig(provider: Provider, **settings: Any) -> Iterator[Rig]:
    """Run a provider and a proxy in front of it."""
    counters, notes = Counters(), Notes()
    with running(provider.app(), bound("127.0.0.1", 0)) as direct:
        given = {"upstream": dict.fromkeys(("anthropic", "openai", "gemini"), direct), **settings}
        app = application(build(given), counters, (notes,))
        with running(app, bound("127.0.0.1", 0)) as url:
            yield Rig(provider, direct, url, counters, notes)
