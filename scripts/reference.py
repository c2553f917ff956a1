"""docs/reference-items.md: each of the 339 items and 35 figures that the design took over, with the tests that name it or the
reason why it does not hold here. `python scripts/reference.py` writes the page; `--check` only says whether it is up to date.

An item is named in the docstring of its test (`CM-04`, `CM-28..31`, `AN-26 to AN-29`). One with neither test nor reason is an
error.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference-items.md"
REASONS = ROOT / "scripts" / "deviations.txt"
SYSTEMS: Mapping[str, tuple[str, int, int]] = {
    "CM": ("context-manager: live pictures, prices, strategies, calibration, cache", 186, 9),
    "AF": ("agent-framework: the projection of the next round", 39, 12),
    "AN": ("A.N.K.I.T.A: prices by pixels, trimming, restore", 67, 9),
    "HE": ("hermes-agent: media at a compaction", 47, 5),
}
NAMED = re.compile(r"\b(CM|AF|AN|HE)-(F?)(\d+)(?:\s?(?:\.\.|to|-)\s?(?:\1-)?\2?(\d+))?")
MOST_TESTS = 3
"""Tests that a row names; more are counted."""


def items() -> Iterator[str]:
    """Every item and figure, in order."""
    for system, (_, count, figures) in SYSTEMS.items():
        yield from (f"{system}-{n:02d}" for n in range(1, count + 1))
        yield from (f"{system}-F{n}" for n in range(1, figures + 1))


def named(text: str) -> Iterator[str]:
    """The items that a text names, ranges included."""
    for system, figure, first, last in NAMED.findall(text):
        for number in range(int(first), int(last or first) + 1):
            yield f"{system}-F{number}" if figure else f"{system}-{number:02d}"


def tests() -> dict[str, list[str]]:
    """The tests of each item, as `tests/fit/test_x.py::test_y`."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        tables = {name: ast.get_source_segment(source, node) or "" for node in tree.body for name in _assigned(node)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for item in dict.fromkeys(named(_said(node, source, tables))):
                    found.setdefault(item, []).append(f"{path.relative_to(ROOT)}::{node.name}")
    return found


def _assigned(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module gives to a table."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _said(node: ast.FunctionDef | ast.AsyncFunctionDef, source: str, tables: Mapping[str, str]) -> str:
    """A test's text with its cases, and the tables that it takes cases from."""
    first = min((one.lineno for one in node.decorator_list), default=node.lineno)
    text = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    used = {one.id for whole in (node, *node.decorator_list) for one in ast.walk(whole) if isinstance(one, ast.Name)}
    return "\n".join([text, *(tables[name] for name in sorted(used & tables.keys()))])


def reasons() -> dict[str, str]:
    """Why an item does not hold as it is written, or is a fact about others."""
    found: dict[str, str] = {}
    for line in REASONS.read_text(encoding="utf-8").splitlines():
        names, _, reason = line.partition(" = ")
        if reason and not names.startswith("#"):
            found.update(dict.fromkeys(named(names), reason.strip().strip('"')))
    return found


def page() -> str:
    """The page."""
    held, away = tests(), reasons()
    missing = [item for item in items() if item not in held and item not in away]
    if missing:
        sys.exit(f"neither test nor reason: {', '.join(missing)}")
    unknown = sorted({*held, *away} - set(items()))
    if unknown:
        sys.exit(f"no such item: {', '.join(unknown)}")
    out = [
        "# Reference items",
        "",
        "What four existing systems do about pictures in a context, item by item, and where it is tested here. Made by",
        "`scripts/reference.py` from the docstrings of the tests; reasons stand in `scripts/deviations.txt`.",
        "",
        f"{sum(item in held for item in items())} of {len(list(items()))} items and figures are named by a test,",
        f"{sum(item in away for item in items())} deviate or are facts about others.",
    ]
    for system, (title, *_) in SYSTEMS.items():
        out += ["", f"## {system} - {title}", "", "| item | test | deviation |", "| --- | --- | --- |"]
        out += [_row(item, held.get(item, []), away.get(item, "")) for item in items() if item.startswith(f"{system}-")]
    return "\n".join(out) + "\n"


def _row(item: str, found: list[str], reason: str) -> str:
    told = [f"`{test}`" for test in found[:MOST_TESTS]]
    more = [f"and {len(found) - MOST_TESTS} more"] if len(found) > MOST_TESTS else []
    return f"| {item} | {', '.join([*told, *more])} | {reason} |"


def main(options: list[str]) -> int:
    """Write the page, or say whether it is up to date."""
    made = page()
    if "--check" in options:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
