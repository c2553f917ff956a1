"""The only place where JSON changes: by place, copy on write. What an edit does not touch stays the same object.

An edit of a part takes its twins with it: a replay form, sidecar or structured copy that would send again what the edit took
away. Twins that several parts of a message share go from all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from msgspec.structs import replace as _with

from transom.canon import encode
from transom.parts import Part
from transom.types import Json, JsonObject, Place

T = TypeVar("T")

REPLAY: Final = ("rawItem", "rawXml")
"""Keys of a part that hold what a provider sent, to be sent again as it was. Several parts can share one."""
COPIES: Final = ("structuredContent",)
"""Keys of a part that repeat its content."""
SIDECARS: Final = ("api_content", "_anthropic_content_blocks")
"""Keys of a message that hold its content as it was sent before."""

_GONE: Final = object()


def replace(json: T, changes: Mapping[Place, Json], removed: Iterable[Place] = ()) -> T:
    """A copy of `json` with the value at each place of `changes` in its stead and those at `removed` left out.

    All places are those of the input. A key that was not there is added; a removed one that was not there is no error.
    """
    tree: dict[str | int, Json] = {}
    top: list[Json] = []
    for place, value in (*((place, _GONE) for place in removed), *changes.items()):
        if not place:
            top.append(value)
            continue
        node = tree
        for step in place[:-1]:
            node = node.setdefault(step, {})
            if not isinstance(node, dict):
                break
        else:
            node[place[-1]] = _Leaf(value)
    if top:
        return top[-1]  # type: ignore[no-any-return]
    return _apply(json, tree) if tree else json


def remove(json: T, places: Iterable[Place]) -> T:
    """A copy of `json` without the values at `places`."""
    return replace(json, {}, places)


class _Leaf:
    """A new value, told apart from the tree that leads to it."""

    __slots__ = ("value",)

    def __init__(self, value: Json) -> None:
        self.value = value


def _apply(json: Json, tree: dict[str | int, Json]) -> Json:
    if not isinstance(json, (dict, list)):
        return json
    fresh: Json = json.copy()
    gone: list[str | int] = []
    changed = False
    for step, node in tree.items():
        if isinstance(node, _Leaf):
            new = node.value
            if new is _GONE:
                gone.append(step)
                continue
        else:
            old = _at(json, step)
            new = _GONE if old is _GONE else _apply(old, node)
        if new is not _GONE and new is not _at(json, step):
            fresh[step] = new
            changed = True
    for step in sorted(gone, reverse=True, key=_index):
        if _at(json, step) is not _GONE:
            del fresh[step]
            changed = True
    return fresh if changed else json


def _index(step: str | int) -> int:
    return step if isinstance(step, int) else -1


def _at(json: Json, step: str | int) -> Json:
    if isinstance(json, dict):
        return json.get(step, _GONE)
    if isinstance(json, list) and isinstance(step, int) and 0 <= step < len(json):
        return json[step]
    return _GONE


def look(json: Json, place: Place) -> Json:
    """What stands at `place`, or None."""
    for step in place:
        json = _at(json, step)
        if json is _GONE:
            return None
    return json


def edited(json: JsonObject, changes: Iterable[tuple[Part, Json]]) -> JsonObject:
    """A copy of a message in which each part's JSON is replaced, and every twin of these parts is gone."""
    pairs = tuple(changes)
    places = {part.place: new for part, new in pairs if new is not part.raw}
    twins = {twin for part, new in pairs if new is not part.raw for twin in part.twins}
    return replace(json, places, (twin for twin in twins if not any(twin[: len(place)] == place for place in places)))


def untwinned(raw: T, shared: Iterable[Hashable] | None = None) -> T:
    """A part's JSON without its replay forms: all of them, or only those whose identity is in `shared`."""
    if not isinstance(raw, dict) or not any(key in raw for key in (*REPLAY, *COPIES)):
        return raw
    keys = (*REPLAY, *COPIES) if shared is None else REPLAY
    wanted = None if shared is None else frozenset(shared)
    return remove(raw, ((key,) for key in keys if key in raw and (wanted is None or identity(raw[key]) in wanted)))


def moved(raw: Json, left: Iterable[Json]) -> Json:
    """A part's JSON as it leaves its message: it gives up a replay form that a part left behind shares, and keeps its own."""
    return untwinned(raw, {name for other in left for name in identities(other)})


def identity(form: Json) -> Hashable:
    """What makes two replay forms the same: a raw text itself; a provider's item by type and id, else by its content."""
    if isinstance(form, str):
        return form
    if isinstance(form, dict) and isinstance(form.get("id"), str) and form["id"]:
        return ("item", str(form.get("type")), form["id"])
    return encode(form)


def identities(raw: Json) -> Iterator[Hashable]:
    """The identities of a part's replay forms."""
    if isinstance(raw, dict):
        for key in REPLAY:
            if key in raw:
                yield identity(raw[key])


def with_twins(parts: Sequence[Part], json: JsonObject) -> tuple[Part, ...]:
    """The top-level parts of a message, each with the places of its twins, nested parts with those of what holds them."""
    sidecars = tuple((key,) for key in SIDECARS if key in json)
    if not sidecars and not any(part.kind == "result" or _replayed(part.raw) for part in parts):
        return tuple(parts)
    holders: dict[Hashable, set[int]] = {}
    for number, part in enumerate(parts):
        for name in identities(part.raw):
            holders.setdefault(name, set()).add(number)
    if not sidecars and not holders and not any(_copies(part) for part in parts):
        return tuple(parts)
    bound = _bound(parts, holders)
    return tuple(_twinned(part, (*sidecars, *_copies(part), *forms)) for part, forms in zip(parts, bound, strict=True))


def _replayed(raw: Json) -> bool:
    return isinstance(raw, dict) and ("rawItem" in raw or "rawXml" in raw)


def _bound(parts: Sequence[Part], holders: dict[Hashable, set[int]]) -> list[tuple[Place, ...]]:
    """For each part the places of all replay forms that go when it is edited.

    A form goes from all parts that share it. Reasoning and the part it leads to are one pairing: releasing either releases both.
    """
    group = list(range(len(parts)))
    links = [tuple(numbers) for numbers in holders.values() if len(numbers) > 1]
    links += [
        (n, n + 1)
        for n, part in enumerate(parts[:-1])
        if part.kind == "reasoning" and _replayed(part.raw) and _replayed(parts[n + 1].raw)
    ]
    for numbers in links:
        names = {group[n] for n in numbers}
        group = [min(names) if name in names else name for name in group]
    places: dict[int, list[Place]] = {}
    for name, part in zip(group, parts, strict=True):
        if isinstance(part.raw, dict):
            places.setdefault(name, []).extend((*part.place, key) for key in REPLAY if key in part.raw)
    return [tuple(places.get(name, ())) for name in group]


def _copies(part: Part) -> tuple[Place, ...]:
    """The places of a part's own copies of its content; only a part that has the content otherwise has copies."""
    raw = part.raw
    if not isinstance(raw, dict) or part.kind != "result":
        return ()
    found = [(*part.place, key) for key in COPIES if key in raw and raw.get("content")]
    inner = raw.get("content")
    if isinstance(inner, dict) and inner.get("content"):
        found += [(*part.place, "content", key) for key in COPIES if key in inner]
    return tuple(found)


def _twinned(part: Part, twins: tuple[Place, ...]) -> Part:
    if not twins:
        return part
    return _with(part, twins=twins, parts=tuple(_twinned(inner, twins) for inner in part.parts))
