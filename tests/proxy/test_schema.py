"""The proxy's own pages against the OpenAPI document that it publishes of them, by schemathesis."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bodies import chat
from proxy.rig import Start

PAGES = ("status", "metrics", "health", "openapi.json")


def test_its_pages_are_what_its_document_says_and_refuse_what_it_does_not_say(start: Start, tmp_path: Path) -> None:
    """No 5xx, only declared statuses, types and fields, and 405 with `allow` for every method that is not declared."""
    begun = start()
    begun.post("/v1/chat/completions", chat())
    begun.post("/v1/chat/completions", b"{")
    begun.ended(2)  # so that the lists of the status have rows
    words = (
        "--checks",
        "all",
        "--phases",
        "coverage,fuzzing",
        "--max-examples",
        "10",
        "--generation-deterministic",
        "--no-color",
    )
    ran = subprocess.run(  # noqa: S603 - the tests' own dependency
        [sys.executable, "-m", "schemathesis.cli", "run", f"{begun.url}/transom/openapi.json", *words],
        cwd=tmp_path,
        env={**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Tested: 3" in ran.stdout  # each page but the document itself, which it was read from


def test_its_document_names_every_page_and_each_answers_get_and_head_alone(start: Start) -> None:
    begun = start()
    assert set(begun.get("/transom/openapi.json").json()["paths"]) == {f"/transom/{name}" for name in PAGES}
    for page in PAGES:
        refused = begun.post(f"/transom/{page}", {})
        assert refused.status_code == 405
        assert set(refused.headers["allow"].split(", ")) == {"GET", "HEAD"}
