"""What a test of an agent can use in place of patches: the proxy, in front of a provider of its own. Needs the extra `proxy`.

    with transom.testing.proxied({"anthropic": "http://127.0.0.1:9000"}, max_images=4) as proxy:
        run_my_agent(base_url=proxy.url + "/anthropic")
    assert proxy.exchanges[-1].planned.stubs == 2

The rule: what is here runs for real, on loopback, and hides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp

from transom.errors import BadSetting
from transom.proxy.app import application
from transom.proxy.counters import Counters
from transom.proxy.exchange import Exchange
from transom.proxy.serving import bound, running
from transom.proxy.settings import Mode, build

__all__ = ["Proxied", "proxied", "served"]


@dataclass(kw_only=True)
class Proxied:
    """A proxy that runs: its URL, its counters, and every exchange that has ended, oldest first."""

    url: str
    counters: Counters
    exchanges: list[Exchange] = field(default_factory=list)

    def ended(self, exchange: Exchange) -> None:
        """Keep an exchange."""
        self.exchanges.append(exchange)


@contextmanager
def proxied(upstreams: Mapping[str, str], *, mode: Mode = "fit", **policy: Any) -> Iterator[Proxied]:  # noqa: ANN401 - fields of Policy
    """Run the proxy on a free port as long as the block lasts. `policy` are fields of Policy. Raises BadSetting."""
    if not upstreams:
        raise BadSetting("there is no upstream; give the URL of the test's own provider, such as {'openai': url}")
    made = Proxied(url="", counters=Counters())
    settings = build({"upstream": dict(upstreams), "mode": mode, "policy": policy})
    with running(application(settings, made.counters, (made,)), bound("127.0.0.1", 0)) as made.url:
        yield made


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Run an ASGI application, such as a provider of a test's own, on a free port as long as the block lasts; yields its URL."""
    with running(app, bound("127.0.0.1", 0)) as url:
        yield url
