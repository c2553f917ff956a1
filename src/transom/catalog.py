"""Model cards: what is known of each model, as data, and how a name finds its card.

The rule of this file: a look-up never fails. A name that nothing describes gets a card whose prices are the highest known
ones, and whose `known` is False.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from msgspec.structs import replace

from transom.data.tables import catalogue, framed, tables, varied
from transom.frozen import Frozen
from transom.rules import names
from transom.rules.frames import FlatFrame, Frame
from transom.rules.images import Flat, ImageRule
from transom.rules.media import MediaRule
from transom.tokens import Counter
from transom.types import JsonObject


class Limits(Frozen, frozen=True, kw_only=True):
    """What a provider refuses. 0 (or an empty set) means that no limit is known.

    `images` per request; `side` pixels of any picture; `many_side` pixels of any picture in a request with more than
    `many` pictures; `image_bytes` base64 characters of one picture; `body_bytes` of the whole body; `pages` of documents;
    `formats` the media types of pictures that are taken; `marks` cache marks per request; `picture` the model's rule for
    pictures, where that refuses some by itself (OpenAI's most patches).
    """

    unshown = ("picture",)

    images: int = 0
    side: int = 0
    many: int = 0
    many_side: int = 0
    image_bytes: int = 0
    body_bytes: int = 0
    pages: int = 0
    formats: frozenset[str] = frozenset()
    marks: int = 0
    picture: ImageRule | None = None


class ModelCard(Frozen, frozen=True, kw_only=True):
    """One model's facts. Sizes are tokens; `source` and `date` say where the figures come from.

    `input_limit` is the most input tokens, `window` input and output together, `quirks` flags such as "no-prefill"
    (a request may not end with an assistant turn). `known` is False for a model that no entry describes. `counter`, `image`,
    `frame` and `media` are how its text, pictures, framing and other media are counted; `image_label` is what the image rule is
    called, and `image_flat` the price of a picture of which nothing is known.
    """

    unshown = ("counter", "image", "image_many", "frame", "media")

    name: str
    vendor: str = ""
    window: int = 0
    input_limit: int = 0
    output_limit: int = 0
    cache_minimum: int = 0
    quirks: frozenset[str] = frozenset()
    limits: Limits = Limits()
    source: str = ""
    date: str = ""
    known: bool = True
    counter: Counter = Counter(name="characters", engine="characters")
    image: ImageRule = Flat(price=1_600)
    image_many: ImageRule | None = None
    image_label: str = "flat"
    image_flat: int = 1_600
    frame: Frame = FlatFrame()
    media: MediaRule = MediaRule()

    @property
    def flat(self) -> bool:
        """Whether every figure of this card is a flat one, so that nothing is read from pictures and all of it is estimated."""
        return isinstance(self.image, Flat)

    def endless(self) -> ModelCard:
        """The card of a model that takes any number of tokens: what it bills and refuses otherwise stays."""
        return replace(self, window=0, input_limit=0)

    def fingerprint(self) -> dict[str, str]:
        """What a learned multiplier depends on, a short digest per kind of content."""
        kinds: dict[str, object] = {
            "text": (self.counter, self.counter.basis),
            "image": (self.image, self.image_flat),
            "document": (self.media.page, self.media.text, self.media.other),
            "audio": (self.media.second, self.media.other),
            "tools": (self.frame, self.counter),
        }
        return {kind: hashlib.blake2b(repr(value).encode(), digest_size=8).hexdigest() for kind, value in kinds.items()}


FLAT = ModelCard(name="flat", source="flat figures in wide use: 1,600 a picture, 1,000 any other medium, text by characters")
"""The reference figures: 1,600 a picture, 1,000 any other medium, text by characters."""

NO_PREFILL = "p"
"""The catalogue's flag of a model that answers 400 to a request that ends with an assistant turn (Opus 4.6, Sonnet 4.6 and
every later Claude model: litellm 1.110.2, `supports_assistant_prefill`)."""

QUIRKS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "signed-thinking": ("anthropic", ()),
        "signed-calls": ("google", ("gemini-1", "gemini-2", "gemini-pro", "gemini-flash", "gemma", "learnlm")),
        "openai-checks": ("openai", ("gpt-oss", "gpt-4-vision")),
    }
)
"""Quirks of a vendor's own models, all but those whose names begin so. "signed-thinking": thinking is sent back signed or not at
all; "signed-calls": the first call of a step carries a signature (Gemini 3 and later); "openai-checks": ids, names
and fields are checked one by one, which compatible servers do not do, nor did its own first model that saw pictures."""

NAMED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"no-prefill": ("gemini-3.5-flash-lite", "gemini-3.6", "gemini-3.7", "gemini-3.8", "gemini-3.9", "gemini-4", "gemini-5")}
)
"""Quirks of the models whose names begin so. "no-prefill": a request may not end with the model's turn (LibreChat-AI/agents 323,
2026-07-21, live: 3.6-flash and 3.5-flash-lite refuse, 3.5-flash and 2.5-flash take it; pipecat-ai/pipecat 5821, 2026-09-17)."""

WHOLE_WINDOWS = frozenset({400_000, 1_050_000})
"""OpenAI's windows of which the catalogue gives only the input's share (272,000 + 128,000 and 922,000 + 128,000)."""

MILLION = 1_000_000
MAKERS = ("cohere/", "dashscope/", "deepseek/", "gemini/", "meta_llama/", "minimax/", "mistral/", "moonshot/", "xai/", "zai/")
"""Hosts of the catalogue that serve their own models."""
BODY_BYTES = {"bedrock": 20 * 2**20, "google": 30 * 2**20}
HOSTED_IMAGE_BYTES = 5 * 2**20
"""Base64 characters of one picture on Bedrock and Google Cloud (platform.claude.com, vision, 2026-08-22)."""


def card(model: str, *, api: str = "", on: str = "") -> ModelCard:
    """The card of a model by any of its names; never fails.

    `api` is the wire form it is spoken to in, which says whose model an unknown one is likely to be. `on` is the day, as
    "2026-11-30", whose rules hold; "" is the newest.
    """
    return look_up(model, api, on)


@cache
def cards() -> tuple[ModelCard, ...]:
    """Every model that a price entry or the catalogue describes under a name of its own, by name; `flat` first."""
    listed = {*tables().models, *(name for name in catalogue() if "/" not in name and names.spelled(name) == name)}
    return (FLAT, *(card(name) for name in sorted(listed)))


@lru_cache(maxsize=1_024)
def look_up(model: str, api: str, on: str) -> ModelCard:
    """The card, made once for each name, form and day."""
    if model == FLAT.name:
        return FLAT
    name = names.spelled(model)
    found = names.longest(name, tables().models)
    entry = on_day(tables().models[found], on) if found else family(name, api)
    sizes = sizes_of(model, name, entry)
    hows = (names.host(model), api)
    image = varied(tables().images, entry["image"], *hows)
    return ModelCard(
        name=model,
        vendor=entry.get("vendor", ""),
        window=sizes[0],
        input_limit=sizes[1],
        output_limit=sizes[2],
        cache_minimum=sizes[3],
        quirks=quirks_of(model, name, str(entry.get("vendor", ""))),
        limits=limits_of(entry, names.platform(model), image),
        source=entry.get("source", ""),
        date=str(entry.get("date", "")),
        known=bool(found),
        counter=tables().counters[entry["counter"]],
        image=image,
        image_many=varied(tables().images, entry["image_many"], *hows) if "image_many" in entry else None,
        image_label=varied(tables().labels, entry["image"], *hows),
        image_flat=entry.get("image_flat", FLAT.image_flat),
        frame=framed(varied(tables().frames, entry["frame"], *hows), entry.get("constants", {})),
        media=rule_on(varied(tables().media, entry["media"], *hows), on),
    )


def on_day(entries: tuple[JsonObject, ...], on: str) -> JsonObject:
    """The entry that holds on a day: the newest that began by then, else the first."""
    began = [entry for entry in entries if not on or str(entry.get("from", "")) <= on]
    return began[-1] if began else entries[0]


def rule_on(rules: tuple[tuple[str, MediaRule], ...], on: str) -> MediaRule:
    """The rule that holds on a day, as `on_day` has it."""
    return [rule for start, rule in rules if not on or start <= on or start == rules[0][0]][-1]


def family(name: str, api: str) -> JsonObject:
    """The entry of a whole line of models: by the name's beginning, then by a later word of it, then by the form that only its
    vendor speaks; the last entry is for all others.
    """
    name = name or ("claude" if api == "anthropic" else "")
    *lines, others = tables().families
    ways = (name.startswith, lambda word: f"-{word}" in name)
    return next((entry for way in ways for entry in lines if any(way(word) for word in entry["prefixes"])), others)


def row_of(model: str, name: str) -> tuple[int, int, int, str]:
    """The catalogue's row: the name as written, then as spelled, then the longest beginning, then the same at any host."""
    rows = catalogue()
    written = model.strip().lower()
    found = written if written in rows else names.longest(name, rows)
    if found:
        return rows[found]
    anywhere = hosted()
    found = names.longest(name, anywhere)
    return anywhere[found] if found else (0, 0, 0, "")


@cache
def hosted() -> dict[str, tuple[int, int, int, str]]:
    """Rows that the catalogue lists under a host, by the model's own name: the maker's, else that with the smallest window."""
    found: dict[str, tuple[bool, tuple[int, int, int, str]]] = {}
    for name, row in catalogue().items():
        own, rank = names.spelled(name), (not name.startswith(MAKERS), row)
        if "/" in name and (own not in found or rank < found[own]):
            found[own] = rank
    return {own: row for own, (_, row) in found.items()}


def sizes_of(model: str, name: str, entry: JsonObject) -> tuple[int, int, int, int]:
    """Window, input limit, output limit and cache minimum."""
    most_in, most_out, cache_minimum, _ = row_of(model, name)
    whole = most_in + most_out
    window = entry.get("window") or (whole if whole in WHOLE_WINDOWS else most_in)
    return (
        window,
        entry.get("input_limit") or most_in or window,
        entry.get("output_limit") or most_out,
        entry.get("cache_minimum") or cache_minimum,
    )


def quirks_of(model: str, name: str, vendor: str) -> frozenset[str]:
    """The flags that other stages ask for."""
    flags = {quirk for quirk, (whose, but) in QUIRKS.items() if vendor == whose and not name.startswith(but)}
    flags |= {quirk for quirk, names in NAMED.items() if name.startswith(names)}
    return frozenset(flags | ({"no-prefill"} if NO_PREFILL in row_of(model, name)[3] else set()))


def limits_of(entry: JsonObject, host: str, image: ImageRule) -> Limits:
    """The vendor's limits, made narrower by who hosts it and by the rule for pictures."""
    raw = dict(tables().limits[entry["limits"]])
    raw["formats"] = frozenset(raw.get("formats", ()))
    if host in BODY_BYTES and entry.get("vendor") == "anthropic":
        raw |= {"image_bytes": HOSTED_IMAGE_BYTES, "body_bytes": BODY_BYTES[host]}
    return Limits(**raw, picture=image if image.refuses else None)
