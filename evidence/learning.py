"""Learning: transcripts with the usage that the provider reported, and how well each next prompt is foreseen.

For each two reports that follow each other, the second is foreseen by the first, its answer's reported output, and the price of
what came in, with the factor and the constant that the rounds before taught. Beside it stands what needs no library: the last
prompt and its output.

    python -m evidence learning FOLDER
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from evidence import Check
from transom import catalog, door
from transom.calibration import Growth
from transom.pricing import PriceList
from transom.types import JsonObject
from transom.wire import FORMS

KEYS = {"openai-responses": "input", "gemini": "contents"}
TOTAL, TOTAL_P90, GROWTH = 0.001, 0.005, 0.03
"""Claimed: the median and the ninth tenth of the error of the next total, and the median error of its growth."""
LEAST = 3


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:  # noqa: ARG001 - as the other kinds have it
    """A check for each transcript with usage, and three for all rounds together."""
    totals: list[float] = []
    growths: list[float] = []
    plain: list[float] = []
    for path in sorted(folder.glob("*.json.gz"))[::every]:
        transcript = json.loads(gzip.decompress(path.read_bytes()))
        if len(transcript.get("usage") or ()) < LEAST:
            continue
        rows = list(rounds(transcript))
        if not rows:
            continue
        totals += [row[0] for row in rows]
        growths += [row[1] for row in rows]
        plain += [row[2] for row in rows]
        says = (
            f"{len(rows)} rounds: next total {at(rows, 0, 0.5):.3%} (p90 {at(rows, 0, 0.9):.2%}), growth {at(rows, 1, 0.5):.1%}"
        )
        yield Check(transcript["id"], None, f"{says}; last total and output {at(rows, 2, 0.5):.3%} (p90 {at(rows, 2, 0.9):.2%})")
    if totals:
        yield claim("next total, median", quantile(totals, 0.5), TOTAL, quantile(plain, 0.5))
        yield claim("next total, p90", quantile(totals, 0.9), TOTAL_P90, quantile(plain, 0.9))
        yield claim("growth between requests, median", quantile(growths, 0.5), GROWTH)


def rounds(transcript: JsonObject) -> Iterator[tuple[float, float, float]]:
    """Of each round the error of the next total, of its growth, and of the last total and output; shares of what was reported."""
    api = transcript["api"]
    key = KEYS.get(api, "messages")
    body = {key: transcript[key], **({"system": transcript["system"]} if api == "anthropic" and transcript.get("system") else {})}
    conversation = FORMS[api].read(door.admit(body))
    prices = PriceList(catalog.card(transcript["model"], api=api)).at(conversation)
    priced = [prices.message(message).tokens for message in conversation.messages]
    growth = Growth()
    for before, after in pairwise(transcript["usage"]):
        first, last = before["message"], after["message"]
        if before.get("epoch") != after.get("epoch"):
            growth = Growth()
        elif first < last <= len(priced):
            came = sum(priced[first + 1 : last])
            grown = after["input"] - before["input"]
            expected = growth.expected(before["input"], before["output"], came)
            off, plain = expected - after["input"], before["input"] + before["output"] - after["input"]
            yield abs(off) / after["input"], abs(off) / grown if grown > 0 else 0.0, abs(plain) / after["input"]
            growth = growth.learned(grown, before["output"], came) if grown > 0 else growth


def claim(name: str, value: float, most: float, plain: float | None = None) -> Check:
    """A figure beside what is claimed of it."""
    beside = f"; last total and output {plain:.3%}" if plain is not None else ""
    return Check(name, value <= most, f"{value:.3%}, claimed {most:.1%}{beside}")


def at(rows: list[tuple[float, float, float]], column: int, share: float) -> float:
    """A quantile of one column."""
    return quantile([row[column] for row in rows], share)


def quantile(values: list[float], share: float) -> float:
    """The value that `share` of them does not exceed."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]
