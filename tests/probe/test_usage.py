"""The media of the recorded requests: pages, seconds and sides are those that their records state."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from transom import probe
from transom.parts import Facts

USAGE = Path(__file__).parents[2].parent / "shared" / "data" / "usage"


def stated() -> dict[str, dict[str, Any]]:
    """What the records say of each medium, by its digest."""
    found: dict[str, dict[str, Any]] = {}
    with gzip.open(USAGE / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            for medium in json.loads(line).get("media") or ():
                if medium.get("sha256"):
                    found.setdefault(medium["sha256"], {}).update(medium)
    return found


def media() -> dict[str, str]:
    """Base64 text of each medium, by its digest."""
    with gzip.open(USAGE / "media.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {medium["sha256"]: medium["b64"] for medium in map(json.loads, lines)}


def test_the_media_of_the_recorded_requests_are_read_as_they_are() -> None:
    """Seconds to 2 %: one sound's record counts what its film container cuts away. Characters to 4 %."""
    if not USAGE.is_dir():
        pytest.skip("the recorded requests are not beside this checkout")
    truth, seen = stated(), 0
    for digest, payload in media().items():
        what, found = truth.get(digest, {}), probe.facts(payload, "base64", "")
        if "pages" in what:
            assert (found.pages, [found.width, found.height]) == (what["pages"], what["page_points"][0]), digest
            assert found.text_chars == pytest.approx(what["text_chars"], rel=0.04), digest
        if "seconds" in what:
            assert found.seconds == pytest.approx(what["seconds"], rel=0.02, abs=0.001), digest
        if "width" in what:
            assert (found.width, found.height) == (what["width"], what["height"]), digest
        if "has_audio" in what:
            assert found.silent is not what["has_audio"], digest
        seen += found != Facts()
    assert seen > 40
