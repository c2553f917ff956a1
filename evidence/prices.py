"""Published picture prices: vectors of other people's figures, one check each.

A vector is {provider, model_family, width, height, detail, expected_tokens, source, kind}. Figures that are documented, computed
by reference code or in a published test suite must be met exactly, measured ones within five tokens; a vendor's rounded
estimates (Nova 1) within 11 percent. What a third party says is listed. A family that is no model name stands for one, or for a
rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

from evidence import Check
from transom import catalog
from transom.catalog import ModelCard
from transom.data.tables import tables
from transom.parts import Facts, Media
from transom.pricing import PriceList
from transom.types import JsonObject

MODELS = MappingProxyType(
    {
        "claude-high-resolution": "claude-opus-4-8",
        "claude-standard-resolution": "claude-sonnet-4-5",
        "gemini-2.x": "gemini-2.5-flash",
        "gemini-3.x": "gemini-3-pro",
        "nova-v1": "nova-pro",
        "kimi hosted": "kimi-k2",
    }
)
"""Families by the beginning of their name, and the model that stands for each."""
RULES = MappingProxyType(
    {
        "gemma-4": "gemini-3",
        "pixtral": "pixtral",
        "mistral-small-3.1+": "mistral",
        "qwen2-vl/qwen2.5-vl (factor 28, min 3136, max 12845056 px)": "qwen-2.5",
        "qwen2-vl/qwen2.5-vl (factor 28, min 3136, max 1003520 px)": "qwen-2.5-class",
        "qwen2.5-vl": "qwen-2.5",
        "qwen3-vl": "qwen-3",
        "glm-4.5v": "glm",
        "kimi-k2.5 open": "kimi-open",
        "muse-glimmer": "muse",
        "command-a-vision": "cohere",
        "grok vision": "grok-tiles",
        "llama-3.2-vision": "llama-3.2-vision",
    }
)
"""Families of which only the open weights' rule is published: a rule of `prices.toml` by its name."""
MARKERS = frozenset({"qwen-2.5", "qwen-3", "muse", "qwen-2.5-class"})
"""Rules that hold two marks around a picture, which those figures leave out."""
MEASURED = 5
ROUNDED = 0.11
EXACT = frozenset({"documented", "reference-code", "published-test"})


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:
    """A check for each vector in each JSON file of `folder`."""
    for path in sorted(folder.glob("*.json")):
        for number, vector in list(enumerate(json.loads(path.read_text(encoding="utf-8"))))[::every]:
            yield judged(f"{path.stem}[{number}]", vector, everything=everything)


def judged(place: str, vector: JsonObject, *, everything: bool) -> Check:
    """One vector against the price of such a picture."""
    family, expected = vector["model_family"], vector["expected_tokens"]
    name = f"{place} {family} {vector['width']}x{vector['height']} {vector.get('detail') or ''}".rstrip()
    tokens = priced(vector)
    says = f"{tokens:,} of {expected:,} tokens ({vector['kind']})"
    off = abs(tokens - expected)
    if family.startswith("nova-v1"):
        return Check(name, off <= ROUNDED * expected, says)
    if vector["kind"] in EXACT:
        return Check(name, off == 0, says)
    if vector["kind"] == "measured":
        return Check(name, off <= MEASURED, says)
    return Check(name, off == 0 if everything or off == 0 else None, says)


def priced(vector: JsonObject) -> int:
    """Tokens of the picture by the model or the rule that its family stands for."""
    family: str = vector["model_family"]
    width, height, detail = vector["width"], vector["height"], vector.get("detail") or ""
    rule = longest(family, RULES)
    if rule:
        return tables().images[rule].tokens(width, height, detail) - 2 * (rule in MARKERS)
    card: ModelCard = catalog.card(longest(family, MODELS) or family)
    facts = Facts(width=width, height=height)
    media = Media(kind="image", source="url", payload="", inline=0, detail=detail, facts=facts)
    price = PriceList(card).price_media(media)
    return price.tokens if card.known and price.basis == "rule" else -1


def longest(family: str, names: MappingProxyType[str, str]) -> str:
    """What the longest beginning of a family's name stands for; "" where none does."""
    found = [start for start in names if family.startswith(start)]
    return names[max(found, key=len)] if found else ""
