"""The project as a whole: what it exports, what it loads, and the rules that no single module can hold."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer

import transom
from transom import summaries
from transom.cli import app
from transom.wire import FORMS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "transom"
SHELL = ("cli", "proxy", "integrations", "testing", "worker", "view", "session", "summaries", "store")
FILES = sorted(path for path in SOURCE.rglob("*.py") if "migrations" not in path.parts)
PYTHON = sorted(
    path for folder in ("src", "tests", "bench", "evidence", "examples", "scripts") for path in (ROOT / folder).rglob("*.py")
)
CORE = [
    path for path in FILES if path.relative_to(SOURCE).parts[0].removesuffix(".py") not in SHELL and path.name != "__main__.py"
]
HEAVY = (
    "typer",
    "rich",
    "jinja2",
    "PIL",
    "ctok",
    "anthropic",
    "openai",
    "pydantic",
    "requests",
    "asyncio",
    "starlette",
    "uvicorn",
    "httpx2",
    "opentelemetry",
    "transom.cli",
    "transom.view",
    "transom.proxy",
)


PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_exported_name_is_there_and_the_list_is_sorted() -> None:
    by_kind = sorted(transom.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert list(transom.__all__) == by_kind  # constants, classes, functions
    assert all(hasattr(transom, name) for name in transom.__all__)
    assert [transom.__getattr__(name) for name in ("Store", "summaries")] == [
        transom.Store,
        transom.summaries,
    ]  # loaded when named


def test_exported_things_have_a_docstring() -> None:
    assert not [name for name in transom.__all__ if not getattr(transom, name).__doc__]


def test_import_loads_nothing_of_the_shell_and_no_extra() -> None:
    code = f"import sys, transom; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert loaded.stdout.split() == []


def test_the_version_is_that_of_the_project() -> None:
    assert transom.__version__ == metadata.version("transom")


@pytest.mark.parametrize("path", [*PYTHON, ROOT / "dev.py"], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_at_most_400_lines_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_function_has_over_60_lines_or_imports_inside(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{named(path)}:{node.lineno} {node.name}"
            assert not [one for one in ast.walk(node) if isinstance(one, ast.Import | ast.ImportFrom)], node.name


def test_nine_of_ten_functions_have_at_most_30_lines() -> None:
    sizes = sorted(
        (node.end_lineno or 0) - node.lineno + 1
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert sizes[int(len(sizes) * 0.9)] <= 30


@pytest.mark.parametrize("path", CORE, ids=named)
def test_the_core_opens_no_file_and_prints_nothing(path: Path) -> None:
    """The import contract holds the modules; this holds the built-ins."""
    calls = [node.func.id for node in ast.walk(tree(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert not set(calls) & {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}


@pytest.mark.parametrize(
    "path", [path for path in CORE if named(path) != "types.py" and not named(path).startswith("wire")], ids=named
)
def test_any_is_written_only_where_json_is_read(path: Path) -> None:
    """Elsewhere `Json` and `JsonObject` say what is meant; keywords that are checked by name are the one exception."""
    loose = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None:
            node.args.kwarg.annotation = None
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            loose += [f"{node.lineno}" for one in ast.walk(node.annotation) if isinstance(one, ast.Name) and one.id == "Any"]
    checked = {str(one.args.kwarg.lineno) for one in ast.walk(tree(path)) if isinstance(one, ast.FunctionDef) and one.args.kwarg}
    assert set(loose) <= checked


def test_words_that_say_nothing_are_no_names() -> None:
    names = [part for path in FILES for part in path.relative_to(SOURCE).with_suffix("").parts]
    for path in FILES:
        names += [node.name for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    assert not [name for name in names if re.search(r"utils|^base$|helpers|^Abstract|ContextManager", name)]


def test_the_import_contract_names_every_module_of_the_core() -> None:
    contracts = settings()["tool"]["importlinter"]["contracts"]
    there = {f"transom.{path.relative_to(SOURCE).parts[0].removesuffix('.py')}" for path in CORE} - {"transom.__init__"}
    for contract in contracts:
        if contract["type"] == "forbidden":
            assert set(contract["source_modules"]) == there, contract["name"]
        if contract["type"] == "layers":
            listed = {word for row in contract["layers"] for word in re.findall(r"\w+", row)}
            assert {name.removeprefix("transom.") for name in there} <= listed
        if contract["type"] == "independence":
            assert set(contract["modules"]) == {getattr(form, "__name__", "") for form in FORMS.values()}


def test_python_versions_are_those_of_the_classifiers() -> None:
    project = settings()["project"]
    versions = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r"Python :: 3\.\d+$", line)]
    assert versions[0] == project["requires-python"].removeprefix(">=")
    assert versions == ["3.11", "3.12", "3.13"]


def test_each_ignored_rule_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    rules = re.findall(r'^  "[A-Z]+[0-9]*",.*$', text, re.MULTILINE)
    assert rules
    assert not [line for line in rules if "#" not in line]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_pages_name_every_form() -> None:
    for name in ("docs/reference.md", "docs/how-to.md", "docs/design.md"):
        assert not [form for form in FORMS if form not in page(name)], name
    assert not [form for form in FORMS if f'"{form}"' not in (transom.fit.__doc__ or "")]


def test_the_reference_names_commands_settings_errors_verbs_and_functions() -> None:
    told = page("docs/reference.md")
    assert not [name for name in typer.main.get_command(app).commands if f"`transom {name}" not in told]  # type: ignore[attr-defined]
    assert not [name for name in transom.Policy.__struct_fields__ if f"`{name}`" not in told]
    assert not [name for name in transom.__all__ if name not in told]
    assert not [name for name, one in vars(summaries).items() if inspect.isfunction(one) and one.__module__ == summaries.__name__
                and name[0] != "_" and name not in told]  # fmt: skip
    assert not [verb for verb in transom.report.PAST if f"`{verb}`" not in told]
    options = set(inspect.signature(transom.fit).parameters) - {"request", "settings"}
    assert not [name for name in options if name not in told]


def test_the_design_page_draws_the_layers_of_the_contract() -> None:
    layers = next(one["layers"] for one in settings()["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    drawn = [re.split(r"\s{3,}", line)[0].split() for line in page("docs/design.md").splitlines()]
    rows = [re.findall(r"[\w]+", row) for row in layers if not row.startswith("(")]
    at = drawn.index(rows[0])
    assert [row for row in drawn[at : at + len(rows) + 1] if not row[0].startswith("---")] == rows


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_hold_code_that_parses_links_that_lead_somewhere_and_no_plans(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        ast.parse(code)
    for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        assert link.startswith("http") or (path.parent / link).exists(), link
    assert "*planned*" not in text.lower()
    assert not re.search(r"come next|not there yet|does not summarise", text)


def test_nothing_that_users_see_names_an_item_of_the_reference_systems() -> None:
    assert not [card.name for card in transom.cards() if re.search(r"\b(CM|AF|AN|HE|INV|OP)-\d", card.source)]
    for name in ("CONTRIBUTING.md", "docs/design.md"):
        assert "reference-items.md" in page(name)


def test_each_piece_of_the_removal_list_is_still_where_it_says() -> None:
    """Whether its test misses it too, `python scripts/removals.py` says."""
    command = [sys.executable, str(ROOT / "scripts" / "removals.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert run.returncode == 0, run.stdout
