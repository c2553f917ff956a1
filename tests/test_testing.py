"""The public namespace for tests of agents."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the extra `proxy` is not installed")

import httpx2

from bodies import loop
from proxy.provider import Provider
from transom.errors import BadSetting
from transom.testing import proxied, served


def test_a_proxy_in_front_of_a_provider_of_ones_own() -> None:
    provider = Provider()
    with served(provider.app()) as url, proxied({"anthropic": url}, max_images=2) as proxy:
        answer = httpx2.post(f"{proxy.url}/anthropic/v1/messages", json=loop(6), headers={"x-api-key": "k"}, trust_env=False)
        assert answer.status_code == 200
    (exchange,) = proxy.exchanges
    assert exchange.planned is not None
    assert exchange.planned.stubs > 0
    assert proxy.counters.totals["stubs"] == exchange.planned.stubs


def test_it_needs_an_upstream() -> None:
    with pytest.raises(BadSetting, match="upstream"), proxied({}):
        pass
