"""Take each piece of planner, folds, pairing, shape, calibration, projection and slips out alone, and see a named test fail.

`python scripts/removals.py` runs the list (scripts/removals.toml), `--check` only says whether each piece is still in its
file, words are parts of names to run. A piece that no test misses, or that is not there any more, is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final, TypedDict

ROOT: Final = Path(__file__).resolve().parent.parent
LIST: Final = ROOT / "scripts" / "removals.toml"


class Piece(TypedDict):
    """What is taken out of a file of the package, what stands there instead, and the test that fails then."""

    what: str
    file: str
    old: str
    new: str
    test: str


def pieces() -> list[Piece]:
    """The list."""
    found: list[Piece] = tomllib.loads(LIST.read_text(encoding="utf-8"))["piece"]
    return found


def stands(piece: Piece) -> bool:
    """Whether a piece is in its file, once."""
    return (ROOT / "src" / "transom" / piece["file"]).read_text(encoding="utf-8").count(piece["old"]) == 1


def is_missed(piece: Piece) -> bool:
    """Whether its test fails without it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source)
        file = source / "transom" / piece["file"]
        file.write_text(file.read_text(encoding="utf-8").replace(piece["old"], piece["new"]), encoding="utf-8")
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", piece["test"]]
        run = subprocess.run(words, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, check=False)  # noqa: S603 - our own list
        return run.returncode == 1


def main(words: list[str]) -> int:
    """Run the list, or a part of it."""
    wanted = [piece for piece in pieces() if not words or words == ["--check"] or any(word in piece["what"] for word in words)]
    gone = [piece["what"] for piece in wanted if not stands(piece)]
    missed = [] if words == ["--check"] else [piece["what"] for piece in wanted if stands(piece) and not is_missed(piece)]
    for what in gone:
        print(f"no longer there: {what}")
    for what in missed:
        print(f"nobody misses: {what}")
    print(f"{len(wanted) - len(gone) - len(missed)} of {len(wanted)} pieces")
    return int(bool(gone or missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
