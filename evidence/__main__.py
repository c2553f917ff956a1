"""Run the checks of a folder of data.

    python -m evidence cases|prices|usage|transcripts|learning|sessions FOLDER [--every N] [--all] [--quiet]

Prints each check with its result, and last a line with the count. Exits 0 only if all of them hold; what was left is
listed with its reason and does not count, unless --all. --every N takes each Nth request or record, for a quick look.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter
from pathlib import Path

KINDS = ("cases", "prices", "usage", "transcripts", "learning", "sessions")


def main(argv: list[str]) -> int:
    """Run one kind of evidence; answers the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m evidence", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each Nth request or record")
    parser.add_argument("--all", action="store_true", dest="everything", help="what was left counts as failed")
    parser.add_argument("--quiet", action="store_true", help="print only what failed, what was left, and the count")
    given = parser.parse_args(argv)
    if not given.folder.is_dir():
        print(f"{given.folder} is no folder; give one that is laid out like a folder of {given.kind}")
        return 2
    module = importlib.import_module(f"evidence.{given.kind}")
    counts: Counter[bool | None] = Counter()
    try:
        for check in module.run(given.folder, every=max(given.every, 1), everything=given.everything):
            counts[check.ok] += 1
            if check.ok is not True or not given.quiet:
                print(check, flush=True)
    except FileNotFoundError as error:
        print(error)
        return 2
    failed = counts[False] + (counts[None] if given.everything else 0)
    print(f"{counts[True]} passed, {failed} failed, {counts[None] if not given.everything else 0} skipped")
    return 0 if failed == 0 and counts[True] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
