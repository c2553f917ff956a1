"""What all tests share: how much Hypothesis tries, and the second opinion on what a provider refuses."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# TRANSOM_EXAMPLES=20000 runs every property as often as a release wants it; CI runs a smaller fixed share.
settings.register_profile(
    "transom",
    max_examples=int(os.environ.get("TRANSOM_EXAMPLES", "100")),
    deadline=None,
    derandomize="TRANSOM_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("transom")


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    """An independent reader of request bodies, which stands beside the project where it is developed."""
    path = SHARED / "tools" / "wire_oracle.py"
    if not path.exists():
        pytest.skip(f"the independent reader of request bodies is not at {path}")
    spec = importlib.util.spec_from_file_location("wire_oracle", path)
    if spec is None or spec.loader is None:
        pytest.skip(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
