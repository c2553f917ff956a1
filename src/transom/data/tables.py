"""The tables of this folder as values. They are read once, at the first look-up, and every name in them is checked.

The rule of this file: an entry that names a rule which does not exist fails here, with a sentence that names both.
"""

from __future__ import annotations

import gzip
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.rules import grids
from transom.rules.claude import ClaudeFrame
from transom.rules.frames import FlatFrame, Frame
from transom.rules.gemini import GeminiFrame
from transom.rules.images import Flat, Highest, ImageRule, Patch28, Patches, Sizing, Tiles
from transom.rules.media import MediaRule
from transom.rules.openai import OpenAIFrame
from transom.rules.template import TemplateFrame
from transom.tokens import Counter
from transom.types import Json, JsonObject

Value = TypeVar("Value")

FRAMES: Mapping[str, Callable[..., Frame]] = MappingProxyType(
    {"flat": FlatFrame, "openai": OpenAIFrame, "claude": ClaudeFrame, "gemini": GeminiFrame, "template": TemplateFrame}
)
SHAPES: Mapping[str, Callable[..., ImageRule]] = MappingProxyType(
    {
        "flat": Flat,
        "tiles": Tiles,
        "patch28": Patch28,
        "fixed": grids.Fixed,
        "area": grids.Area,
        "cells": grids.Cells,
        "smart": grids.Smart,
        "budget": grids.Budget,
        "short-tiles": grids.ShortTiles,
        "canvas": grids.Canvas,
        "capped": grids.Capped,
        "padded": grids.Padded,
        "rows": grids.Rows,
    }
)
LINKS = ("counter", "image", "frame", "limits", "media")


class Tables(Frozen, frozen=True, kw_only=True):
    """Everything that the price file says, by name."""

    counters: Mapping[str, Counter]
    images: Mapping[str, ImageRule]
    labels: Mapping[str, str]
    frames: Mapping[str, Frame]
    media: Mapping[str, tuple[tuple[str, MediaRule], ...]]
    limits: Mapping[str, JsonObject]
    models: Mapping[str, tuple[JsonObject, ...]]
    families: tuple[JsonObject, ...]


@cache
def tables() -> Tables:
    """The price file of the package."""
    return read(files("transom.data").joinpath("prices.toml").read_text(encoding="utf-8"))


@cache
def catalogue() -> Mapping[str, tuple[int, int, int, str]]:
    """Input limit, output limit, cache minimum and flags of each model of the snapshot."""
    packed = files("transom.data").joinpath("catalogue.json.gz").read_bytes()
    rows = msgspec.json.decode(gzip.decompress(packed))["models"]
    return MappingProxyType({name: tuple(row) for name, row in rows.items()})


def read(text: str) -> Tables:
    """A price file's text as values; raises BadSetting for an entry that cannot be used."""
    raw = tomllib.loads(text)
    images, labels = pictures(raw["images"])
    found = Tables(
        counters={name: counter(name, entry) for name, entry in raw["counters"].items()},
        images=images,
        labels=labels,
        frames={name: made(FRAMES, "style", name, whole(name, raw["frames"])) for name in raw["frames"]},
        media={name: by_day(name, raw["media"]) for name in raw["media"]},
        limits=raw["limits"],
        models=by_name(raw["models"]),
        families=tuple(raw["families"]),
    )
    for entry in (*(one for entries in found.models.values() for one in entries), *found.families):
        closed(entry, found)
    return found


def closed(entry: JsonObject, found: Tables) -> None:
    """Refuse an entry that names what the file does not have."""
    known: dict[str, Mapping[str, object]] = {
        "counter": found.counters,
        "image": found.images,
        "frame": found.frames,
        "limits": found.limits,
        "media": found.media,
    }
    for link in LINKS:
        if entry.get(link) not in known[link]:
            whose = entry.get("names") or entry.get("prefixes")
            message = (
                f"the entry of {whose} names the {link} {entry.get(link)!r}, which the file lacks; add it or correct the name"
            )
            raise BadSetting(message, place="prices.toml")


def by_day(name: str, entries: Mapping[str, Json]) -> tuple[tuple[str, MediaRule], ...]:
    """The rules of one name with the days from which they hold, oldest first; most have one for all days."""
    given = entries[name]
    rules = given if isinstance(given, list) else [whole(name, entries)]
    return tuple((rule.get("from", ""), MediaRule(**{key: rule[key] for key in rule if key != "from"})) for rule in rules)


def whole(name: str, entries: Mapping[str, JsonObject]) -> JsonObject:
    """An entry with what it `extends`; it may extend one that extends another."""
    entry = dict(entries[name])
    parent = entry.pop("extends", None)
    if parent is None:
        return entry
    if parent not in entries:
        message = f"{name} extends {parent!r}, which the file lacks; add it or correct the name"
        raise BadSetting(message, place="prices.toml")
    return {**whole(parent, entries), **entry}


def varied(table: Mapping[str, Value], name: str, *hows: str) -> Value:
    """The entry `name`, or the one for who hosts the model or for the form it is spoken to in (`name@vertex`)."""
    return next((table[f"{name}@{how}"] for how in hows if f"{name}@{how}" in table), table[name])


def by_name(entries: list[JsonObject]) -> Mapping[str, tuple[JsonObject, ...]]:
    """Each name's entries, oldest first."""
    rows: dict[str, list[JsonObject]] = {}
    for entry in entries:
        for name in entry["names"]:
            rows.setdefault(name, []).append(entry)
    return {name: tuple(sorted(found, key=lambda entry: str(entry.get("from", "")))) for name, found in rows.items()}


def counter(name: str, entry: JsonObject) -> Counter:
    """A text counter."""
    given: JsonObject = {"name": name}
    given |= {key: tuple(value.items()) if isinstance(value, dict) else value for key, value in entry.items()}
    return Counter(**given)


def pictures(entries: Mapping[str, JsonObject]) -> tuple[dict[str, ImageRule], dict[str, str]]:
    """The image rules and what people call them; `highest` is made of all that do not stand apart."""
    images: dict[str, ImageRule] = {}
    for name, entry in entries.items():
        if entry["shape"] != "highest":
            images[name] = picture(name, entry)
    apart = {name for name, entry in entries.items() if entry.get("apart")}
    every = tuple((name, rule) for name, rule in images.items() if name not in apart)
    images |= {name: Highest(rules=every) for name, entry in entries.items() if entry["shape"] == "highest"}
    return images, {name: entry.get("label", name) for name, entry in entries.items()}


def picture(name: str, entry: JsonObject) -> ImageRule:
    """One image rule."""
    if entry["shape"] == "patches":
        details = tuple((detail, Sizing(**sizing)) for detail, sizing in entry["details"].items())
        return Patches(multiplier=Decimal(entry["multiplier"]), details=details)
    return made(SHAPES, "shape", name, {key: value for key, value in entry.items() if key not in {"apart", "label"}})


def made(makers: Mapping[str, Callable[..., Value]], key: str, name: str, entry: JsonObject) -> Value:
    """A value of the shape that `entry[key]` names, with the constants beside it."""
    maker = makers.get(entry[key])
    if maker is None:
        message = f"{name} has the {key} {entry[key]!r}; known are {', '.join(makers)}"
        raise BadSetting(message, place="prices.toml")
    return maker(**{name: value for name, value in entry.items() if name != key})


def framed(frame: Frame, constants: Mapping[str, int]) -> Frame:
    """A frame with a model's own constants."""
    return replace(frame, **constants) if constants else frame  # type: ignore[type-var]  # every frame is Frozen
