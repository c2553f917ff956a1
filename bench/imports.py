"""How long `import transom` takes: the median of 11 processes that find their bytecode, as after an installation.

    python -m bench.imports

Run it on a quiet machine: wall time and processor time both rise with the load.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

PROCESSES = 11
GOAL = 0.150
"""Seconds of wall time, beside what an empty interpreter takes."""


def main() -> None:
    """Print the medians, with and without the import."""
    with tempfile.TemporaryDirectory() as folder:
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = folder
        empty, full = (_median(code, env) for code in ("pass", "import transom"))
    print(f"an empty interpreter: {1_000 * empty:.0f} ms")
    print(f"import transom: {1_000 * full:.0f} ms, {1_000 * (full - empty):.0f} more (goal: {1_000 * GOAL:.0f})")


def _median(code: str, env: dict[str, str]) -> float:
    def taken() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=env)  # noqa: S603 - our own code
        return time.perf_counter() - began

    taken()  # writes the bytecode
    return statistics.median(taken() for _ in range(PROCESSES))


if __name__ == "__main__":
    main()
