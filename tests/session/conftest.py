"""A store that lives as long as a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from transom import Store


@pytest.fixture
def store() -> Iterator[Store]:
    with Store("sqlite://") as opened:
        yield opened
