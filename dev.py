"""Any task of the justfile on a machine that has only Python and pip: `python dev.py test`.

It puts uv into `.tools`, the locked versions of everything else into `.venv`, and hands the task on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TOOLS = ROOT / ".tools"
BIN = "Scripts" if os.name == "nt" else "bin"


def main(task: list[str]) -> int:
    """Install what is locked, then run `just TASK` with it; answers its exit code."""
    uv = TOOLS / BIN / ("uv.exe" if os.name == "nt" else "uv")
    env = os.environ | {
        "UV_PYTHON": os.environ.get("UV_PYTHON", sys.executable),
        "UV_PYTHON_DOWNLOADS": "never",
        "PATH": os.pathsep.join([str(TOOLS / BIN), str(ROOT / ".venv" / BIN), os.environ.get("PATH", "")]),
    }
    env.pop("VIRTUAL_ENV", None)  # another project's, if any
    if not uv.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, "--target", str(TOOLS), "uv"], check=False, cwd=ROOT, env=env).returncode:
            print(
                f"dev.py: {sys.executable} could not install uv; use a Python that has pip and reaches the registry",
                file=sys.stderr,
            )
            return 1
    subprocess.run([str(uv), "sync", "--frozen", "--quiet"], check=True, cwd=ROOT, env=env)
    just = ROOT / ".venv" / BIN / ("just.exe" if os.name == "nt" else "just")
    return subprocess.run([str(just), *task], check=False, cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["check"]))
