"""The media of the shared cases: what is said of each in its case is what we read."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transom import probe

CASES = Path(__file__).parents[2].parent / "shared" / "data" / "cases"
_URL = re.compile(r"data:[^,]*,", re.IGNORECASE)
_MIMES = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp", "wav": "audio/wav", "pdf": "application/pdf"}
BROKEN = {
    "error-page": "no known media format",
    "wrapped": "no known media format",
    "nothing": "empty",
    "fake": "no PDF object inside",
    "locked": "password or encrypted",
}


def strings(json_value: Any) -> Iterator[str]:
    """Every string of a JSON value."""
    if isinstance(json_value, dict):
        json_value = list(json_value.values())
    if isinstance(json_value, list):
        for inner in json_value:
            yield from strings(inner)
    elif isinstance(json_value, str):
        yield json_value


def payloads(case: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each payload of a case that its `media` describe: name, base64 text, and what is true of it."""
    known = {what["sha256"]: (name, what) for name, what in case.get("media", {}).items()}
    for string in strings({key: value for key, value in case.items() if key != "media"}):
        payload = string[found.end() :] if (found := _URL.match(string)) else string
        try:
            data = base64.b64decode(re.sub(r"\s", "", payload) + "===")
        except ValueError:
            continue
        if (digest := hashlib.sha256(data).hexdigest()) in known and (data or not string):
            yield *known[digest][:1], payload, known[digest][1]


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this checkout")
@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_the_media_of_the_cases_are_read_as_they_are(path: Path) -> None:
    """AN-02: sides are read from the header only; AN-05: GIF, and the other formats, by their signature."""
    case = json.loads(path.read_text("utf-8"))
    seen = set()
    for name, payload, what in payloads(case):
        found = probe.facts(payload, "base64", "image/png")
        seen.add(name)
        assert found.problem == BROKEN.get(name, ""), name
        if "sides" in what:
            assert [found.width, found.height] == what["sides"], name
        assert found.pages == what.get("pages", found.pages), name
        assert found.seconds == pytest.approx(what.get("seconds", found.seconds), rel=0.02), name
        if "format" in what:
            assert found.mime == _MIMES.get(what["format"], what["format"]), name
        if name not in BROKEN or name == "locked":
            assert probe.sniff(payload) == found.mime, name
    assert seen >= set(case.get("media", {})) - {"inside-text"}
