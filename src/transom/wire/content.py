"""Content that is a string or a list of parts: reading it, and putting parts back. Shared by the forms that have it.

The rule: a string stays a string while it is the only text; no maker writes an empty text; what a message's JSON holds beside
its content stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from transom import edit
from transom.errors import BadRequest
from transom.parts import Conversation, Media, Message, Part, Role, spell
from transom.types import Json, JsonObject, Place
from transom.wire import shapes
from transom.wire.sources import mime_word, written

NOTHING: Final = "(no content)"
"""What a maker writes where it was given no words: providers refuse an empty text."""
_SHORT: Final = 40
_LISTS: Final = (("contents", "gemini"), ("input", "openai-responses"), ("messages", "anthropic, openai-chat or bedrock"))
CONTENT: Final[Place] = ("content",)


def text(words: str) -> JsonObject:
    """A text part."""
    return {"type": "text", "text": words or NOTHING}


def conversation(body: JsonObject, api: str, read_message: Callable[[JsonObject, int], Message]) -> Conversation:
    """A body with `messages` and a `system` beside them, as views; `read_message` is the form's own."""
    return Conversation(
        api=api,
        body=body,
        key="messages",
        messages=tuple([read_message(json, index) for index, json in enumerate(objects(body, "messages"))]),
        system=tuple(read(body.get("system"), ("system",), ())),
        tools=tools(body),
        model=body["model"] if isinstance(body.get("model"), str) else "",
        thinks=thinks(body.get("thinking")),
    )


def objects(body: JsonObject, key: str, where: Place = ()) -> list[JsonObject]:
    """The list of objects at `key`; BadRequest names what is none."""
    found = body.get(key)
    if found is None:
        raise missing(body, key, where)
    if not isinstance(found, list):
        raise BadRequest(f"`{key}` is {name(found)}; it must be a list of objects", place=spell((*where, key)))
    for number, item in enumerate(found):
        if not isinstance(item, dict):
            raise BadRequest(f"this is {name(item)}; each of `{key}` must be an object", place=spell((*where, key, number)))
    return found


def missing(body: JsonObject, key: str, where: Place = ()) -> BadRequest:
    """The error where there is no list at `key`; it says which form's list is there instead."""
    other = next((f"; the body has `{name}`, as {api} has it" for name, api in _LISTS if name in body and not where), "")
    return BadRequest(f"there is no `{key}`, and a request has a list of objects here{other}", place=spell((*where, key)))


def tools(body: JsonObject) -> tuple[JsonObject, ...]:
    """The tools of a body."""
    return tuple(objects(body, "tools")) if body.get("tools") is not None else ()


def functions(body: JsonObject) -> tuple[JsonObject, ...]:
    """The legacy `functions` of a body, where they are a list of objects."""
    found = body.get("functions")
    return tuple(item for item in found if isinstance(item, dict)) if isinstance(found, list) else ()


def thinks(setting: Json) -> bool:
    """Whether a request's `thinking` is enabled."""
    return isinstance(setting, dict) and setting.get("type") == "enabled"


def name(json: Json) -> str:
    """What kind of JSON value this is, in words."""
    if json is None or isinstance(json, bool):
        return {None: "null", True: "true", False: "false"}[json]
    kinds = ((dict, "an object"), (list, "a list"), (str, "a string"), ((int, float), "a number"))
    return next((word for kind, word in kinds if isinstance(json, kind)), f"a {type(json).__name__}")


def role(json: Json, index: int, roles: Mapping[str, Role], key: str = "messages") -> Role:
    """The role of a message of the list `key`; BadRequest names one that is missing or unknown."""
    if not isinstance(json, dict):
        raise BadRequest(f"this is {name(json)}; each message must be an object", place=f"{key}[{index}]")
    given = json.get("role")
    found = roles.get(given) if isinstance(given, str) else None
    if found is None:
        what = "there is no `role`" if given is None else f"the role is {short(given)}"
        raise BadRequest(f"{what}; it must be one of {', '.join(roles)}", place=f"{key}[{index}].role")
    return found


def short(json: Json) -> str:
    """A value in a few characters, for an error."""
    return repr(json if len(json) <= _SHORT else json[:_SHORT] + "...") if isinstance(json, str) else name(json)


def read(content: Json, where: Place, message: Place, *, strings: bool = False) -> list[Part]:
    """The parts of a content that stands at `where` in its message; `message` is the message's own place, for errors.

    `strings`: a list may hold bare strings, too.
    """
    if isinstance(content, str):
        return [Part(kind="text", place=where, raw=content, text=content)]
    if content is None:
        return []
    if not isinstance(content, list):
        raise BadRequest(
            f"the content is {name(content)}; it must be a string or a list of parts", place=spell((*message, *where))
        )
    part = shapes.part
    out = []
    for number, raw in enumerate(content):
        if not isinstance(raw, dict) and not (strings and isinstance(raw, str)):
            raise BadRequest(f"this part is {name(raw)}; it must be an object", place=spell((*message, *where, number)))
        out.append(part(raw, (*where, number)))
    return out


def blocks(parts: Sequence[Json]) -> list[Json]:
    """Raw parts as they stand in a list: a bare string becomes a text part, an empty one goes."""
    return [text(raw) if isinstance(raw, str) else raw for raw in parts if raw != ""]


def content(old: Json, parts: Sequence[Json]) -> Json:
    """The content that holds `parts`: a string where that was a string and is all there is."""
    if isinstance(old, str) and len(parts) == 1 and isinstance(parts[0], str):
        return parts[0] or NOTHING
    if isinstance(old, list) and len(old) == len(parts) and all(a is b for a, b in zip(old, parts, strict=True)):
        return old
    return blocks(parts)


def released(parts: Sequence[Json], old: Sequence[Json]) -> list[Json]:
    """`parts` as they stand after an edit: replay forms that they shared with parts of `old` that are gone go too."""
    kept = {id(raw) for raw in parts}
    gone = {form for raw in old if id(raw) not in kept for form in edit.identities(raw)}
    return [edit.untwinned(raw, gone) for raw in parts] if gone else list(parts)


def with_parts(json: JsonObject, parts: Sequence[Json]) -> JsonObject:
    """A copy of a message whose content holds `parts`; sidecars of the old content go with it."""
    old = json.get("content")
    olds = listed(json)
    if len(olds) == len(parts) and all(a is b for a, b in zip(olds, parts, strict=True)):
        return dict(json)
    out = {key: value for key, value in json.items() if key not in edit.SIDECARS}
    out["content"] = content(old, released(parts, olds))
    return out


def join(first: JsonObject, second: JsonObject) -> JsonObject:
    """Two messages of one role as one: the parts of both, and the fields that either has, the first's before the second's."""
    out = {key: value for key, value in {**second, **first}.items() if key not in edit.SIDECARS}
    out["content"] = blocks([*listed(first), *listed(second)])
    return out


def listed(json: JsonObject) -> list[Json]:
    """The raw parts of a message's content; a string is one part."""
    found = json.get("content")
    return found if isinstance(found, list) else [] if found is None else [found]


def set_media(json: JsonObject, part: Part, media: Media) -> JsonObject:
    """A copy of a message whose media `part` declares `media.declared` and carries `media.payload`; twins go if it differs."""
    at = part.media or media
    if (at.declared, at.payload) == (media.declared, media.payload):
        return json
    changes: dict[Place, Json] = {at.payload_at: written(media, edit.look(json, at.payload_at))}
    if at.mime_at and at.declared != media.declared:
        changes[at.mime_at] = mime_word(at.mime_at, media.declared)
    return edit.replace(json, changes, part.twins)


def set_result(raw: JsonObject, words: str) -> JsonObject:
    """A copy of a raw result whose whole content is `words`; its id and error flag stay, its twins go."""
    return {**edit.untwinned(raw), "content": words or NOTHING}


def rename(raw: JsonObject, keys: Sequence[str], new: str) -> JsonObject:
    """A copy of a call or result with another id under the first of `keys` that it has."""
    key = next((key for key in keys if key in raw), keys[0])
    return {**edit.untwinned(raw, _forms(raw)), key: new}


def _forms(raw: JsonObject) -> list[object]:
    return list(edit.identities(raw))


def mark(json: JsonObject, part: Part, key: str, value: Json | None) -> JsonObject:
    """A copy of a message whose `part` carries the mark `value` under `key`, or none. Empty text and reasoning stay bare."""
    raw = part.raw
    if value is None:
        has = isinstance(raw, dict) and key in raw
        return edit.remove(json, [(*part.place, key)]) if has else json
    if part.kind == "reasoning" or (part.kind == "text" and not part.text.strip()):
        return json
    if isinstance(raw, str):
        return edit.replace(json, {part.place: [{**text(raw), key: value}]}) if part.place == CONTENT else json
    if isinstance(raw, dict) and raw.get(key) != value:
        return edit.replace(json, {(*part.place, key): value})
    return json
