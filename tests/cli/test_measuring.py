"""`transom price --against` and models side by side, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from transom.cli import app, measuring


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def logged(words: str, usage: Any, **beside: Any) -> dict[str, Any]:
    return {"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": words}]}, "usage": usage, **beside}


def saved(folder: Path, *lines: Any) -> Path:
    path = folder / "usage.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def test_logged_requests_are_measured_by_model(tmp_path: Path) -> None:
    lines = [logged("Hello", {"prompt_tokens": 8, "completion_tokens": 1}), logged("Hello", 8), logged("Hello", 8, model="gpt-5")]
    result = run("price", "--against", "--json", saved(tmp_path, *lines))
    assert result.exit_code == 0
    rows = {row["model"]: row for row in json.loads(result.stdout)["models"]}
    assert rows["gpt-4o"] == {"model": "gpt-4o", "requests": 2, "near": 1.0, "median_error": 0.0, "off": []}
    assert rows["gpt-5"]["median_error"] == -1


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -3}, {"prompt_tokens": "many"}, True, 0])
def test_usage_that_is_no_number_is_named_and_left_aside(tmp_path: Path, usage: Any) -> None:
    result = run("price", "--against", saved(tmp_path, logged("Hello", usage), logged("Hello", 8)))
    assert result.exit_code == 0
    assert "line 1" in result.stderr
    assert "gpt-4o" in result.stdout


def test_a_kind_of_part_that_is_off_is_named() -> None:
    plain = [measuring.Sample(model="m", billed=100, priced=100, kinds=frozenset({"text alone"})) for _ in range(3)]
    images = [measuring.Sample(model="m", billed=100, priced=160, kinds=frozenset({"image"})) for _ in range(3)]
    assert measuring.suspects([*plain, *images]) == ["image +60", "text alone -60"]


def test_models_stand_side_by_side(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text(json.dumps(logged("Hello", 0)["request"]), encoding="utf-8")
    result = run("price", body, "--api", "openai-chat", "--model", "gpt-4o", "--model", "claude-opus-5")
    assert result.exit_code == 0
    assert result.stdout.count("gpt-4o") == 2
    assert result.stdout.count("claude-opus-5") == 2


def test_what_against_cannot_do_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["price", str(path), "--against", "--model", "gpt-5", "--model", "gpt-4o"])
    assert result.exit_code == 2
    assert "give one --model at most" in " ".join(result.stderr.split())
