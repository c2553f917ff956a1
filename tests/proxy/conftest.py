"""A provider and a proxy in front of it, each on a port of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `proxy` is not installed")

from proxy.provider import Provider
from proxy.rig import Rig, Start, rig


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a provider and a proxy before it; the arguments are the provider, and settings of the proxy."""
    with ExitStack() as stack:

        def begin(provider: Provider | None = None, **settings: Any) -> Rig:
            return stack.enter_context(rig(provider or Provider(), **settings))

        yield begin
