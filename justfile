# Every task in one place. `check` is what CI runs. Without `just`: `python dev.py TASK`.

set positional-arguments

run := "uv run --frozen --no-sync"
shell := "*/transom/cli/*,*/transom/view/*,*/transom/proxy/*,*/transom/session/*,*/transom/store/*,*/transom/summaries.py,*/transom/testing.py,*/transom/__main__.py"

# what CI runs: lint, types, layers, tests with coverage, packages
check: lint types layers test build

# ruff, spelling, and the project file itself
lint:
    {{run}} ruff check .
    {{run}} ruff format --check .
    {{run}} codespell src tests docs evidence bench examples README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md changelog.d
    {{run}} validate-pyproject pyproject.toml

# mypy, strict
types:
    {{run}} mypy

# who may import whom
layers:
    {{run}} lint-imports

# the tests, and the branches of the core
test *args:
    {{run}} pytest -n auto --cov --cov-report= "$@"
    {{run}} coverage report --omit='{{shell}}' --precision=2 --fail-under=100
    {{run}} coverage report --include='{{shell}}'

# the tests alone, as fast as they go
quick *args:
    {{run}} pytest -n auto -q "$@"

# the tests on every Python that is supported and on this machine
everywhere:
    #!/usr/bin/env bash
    set -euo pipefail
    for version in 3.11 3.12 3.13; do
        uv python find --no-python-downloads "$version" >/dev/null 2>&1 || { echo "no Python $version here"; continue; }
        UV_PROJECT_ENVIRONMENT=".venv-$version" uv run --frozen --python "$version" pytest -n auto -q
    done

# wheel and sdist
build:
    uv build --quiet --out-dir dist

# the checks of a folder of cases, prices, usage or transcripts: just evidence cases FOLDER
evidence *args:
    {{run}} python -m evidence "$@"

# how long a fit takes, beside langchain-core
bench *args:
    uv run --frozen --group bench python -m bench.fit "$@"

# draw the example anew
example:
    {{run}} python examples/make_browser_agent.py

# mend what can be mended by itself
fix:
    {{run}} ruff check --fix .
    {{run}} ruff format .
