"""Image prices: every vector of a folder whose model's rule transom has, one check each.

A vector is {provider, model_family, width, height, detail, expected_tokens, source, kind}. Documented and computed figures
must be met exactly, measured ones within five tokens. A family that is no model name stands for a model of that tier.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from evidence import Check
from transom import catalog
from transom.parts import Facts, Media
from transom.pricing import PriceList
from transom.types import JsonObject

PROVIDERS = ("openai", "anthropic")
TIERS = {"claude-high-resolution": "claude-opus-4-8", "claude-standard-resolution": "claude-sonnet-4-5"}
MEASURED = 5


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:
    """A check for each vector in each JSON file of `folder`."""
    for path in sorted(folder.glob("*.json")):
        for number, vector in list(enumerate(json.loads(path.read_text(encoding="utf-8"))))[::every]:
            yield judged(f"{path.stem}[{number}]", vector, everything=everything)


def judged(place: str, vector: JsonObject, *, everything: bool) -> Check:
    """One vector against the price of such a picture."""
    name = f"{place} {vector['model_family']} {vector['width']}x{vector['height']} {vector.get('detail') or ''}".rstrip()
    if vector["provider"] not in PROVIDERS and not everything:
        return Check(name, None, f"no rule for {vector['provider']} yet")
    family: str = vector["model_family"]
    card = catalog.card(TIERS.get(family, family))
    facts = Facts(width=vector["width"], height=vector["height"])
    media = Media(kind="image", source="url", payload="", inline=0, detail=vector.get("detail") or "", facts=facts)
    price = PriceList(card).price_media(media)
    off = abs(price.tokens - vector["expected_tokens"])
    ok = card.known and price.basis == "rule" and off <= (MEASURED if vector["kind"] == "measured" else 0)
    return Check(name, ok, f"{price.tokens:,} of {vector['expected_tokens']:,} tokens ({vector['kind']})")
