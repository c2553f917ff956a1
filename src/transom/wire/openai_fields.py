"""The fields of an `openai-chat` message that hold parts: which raw part belongs into which.

The rule: a raw part that came out of a field goes back into it; a new call goes to `tool_calls`, all else into the content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from transom import canon, edit
from transom.errors import BadRequest
from transom.parts import Media, Part
from transom.types import Json, JsonObject
from transom.wire import content, shapes
from transom.wire.holding import ENVELOPE

_REASONING: Final = ("reasoning_content", "reasoning")
"""Reasoning text beside the content (DeepSeek and vLLM; OpenRouter)."""
_BESIDE: Final = (*_REASONING, "refusal", "audio", "function_call")
_LISTS: Final = ("images", "tool_calls")


def read(json: JsonObject, index: int) -> list[Part]:
    """The parts of a message that is no result: reasoning, content, refusal, sound, pictures beside it, calls."""
    out = [
        Part(kind="reasoning", place=(key,), raw=json[key], text=json[key])
        for key in _REASONING
        if isinstance(json.get(key), str) and json[key]
    ]
    out += content.read(json.get("content"), content.CONTENT, ("messages", index))
    refusal = json.get("refusal")
    if isinstance(refusal, str) and refusal:
        out.append(Part(kind="text", place=("refusal",), raw=refusal, text=refusal))
    audio = json.get("audio")
    if isinstance(audio, dict):
        out.append(_audio(audio))
    images = json.get("images")
    if isinstance(images, list):
        out += [shapes.picture(item, ("images", number)) for number, item in enumerate(images)]
    call = json.get("function_call")
    if isinstance(call, dict):
        name = _string(call, "name")
        out.append(Part(kind="call", place=("function_call",), raw=call, text=_words(call.get("arguments")), id=name, name=name))
    return out + _calls(json, index)


def _calls(json: JsonObject, index: int) -> list[Part]:
    calls = json.get("tool_calls")
    if calls is None:
        return []
    place = f"messages[{index}].tool_calls"
    if not isinstance(calls, list):
        raise BadRequest(f"`tool_calls` is {content.name(calls)}; it must be a list of objects", place=place)
    out = []
    for number, call in enumerate(calls):
        if not isinstance(call, dict):
            raise BadRequest(f"this is {content.name(call)}; a call must be an object", place=f"{place}[{number}]")
        inner = call.get("custom") if isinstance(call.get("custom"), dict) else call.get("function")
        held: JsonObject = inner if isinstance(inner, dict) else {}
        words = _words(held.get("arguments", held.get("input")))
        id_, name = _string(call, "id"), _string(held, "name")
        out.append(Part(kind="call", place=("tool_calls", number), raw=call, text=words, id=id_, name=name))
    return out


def result(json: JsonObject, index: int) -> Part:
    """A message of role `tool` or `function` as one part. Hosts put an envelope of parts into its content (`_multimodal`)."""
    held, where = json.get("content"), content.CONTENT
    if isinstance(held, dict) and held.get(ENVELOPE) and isinstance(held.get("content"), list):
        held, where = held["content"], (*where, "content")
    value = held is not None and not isinstance(held, (str, list))  # what no provider takes: pairing tells it as text
    parts = () if value or isinstance(held, str) else tuple(content.read(held, where, ("messages", index)))
    name = _string(json, "name")
    return Part(
        kind="result",
        place=(),
        raw=json,
        text=_words(held) if value or isinstance(held, str) else "",
        id=_string(json, "tool_call_id") if json.get("role") == "tool" else name,
        name=name,
        parts=parts,
    )


def with_parts(json: JsonObject, parts: Sequence[Json]) -> JsonObject:
    """A copy of a message with these raw parts in place of its own, each in the field that it belongs to."""
    if json.get("role") in ("tool", "function"):
        return dict(parts[0]) if parts else {**json, "content": content.NOTHING}
    old = read(json, 0)
    if len(old) == len(parts) and all(part.raw is raw for part, raw in zip(old, parts, strict=True)):
        return dict(json)
    fields = _sorted(old, content.released(parts, [part.raw for part in old]), parts)
    out = {key: value for key, value in json.items() if key not in edit.SIDECARS}
    for key in (*_BESIDE, *_LISTS):
        if key in fields:
            out[key] = fields[key] if key in _LISTS else fields[key][0]
        elif any(part.place[0] == key for part in old):
            del out[key]
    inside = fields.get("content", [])
    was = json.get("content")
    out["content"] = content.content(was, inside) if inside else ([] if was == [] else None)
    return out


def _sorted(old: Sequence[Part], raws: Sequence[Json], given: Sequence[Json]) -> dict[str, list[Json]]:
    """The raw parts by field. `given` are the same parts before their replay forms were released: what the old ones are."""
    came: dict[int, list[str]] = {}
    for part in old:
        came.setdefault(id(part.raw), []).append(str(part.place[0]))
    fields: dict[str, list[Json]] = {}
    for raw, before in zip(raws, given, strict=True):
        known = came.get(id(before))
        field = known.pop(0) if known else _field(raw)
        fields.setdefault(field, []).append(raw)
    return fields


def _field(raw: Json) -> str:
    if isinstance(raw, dict):
        if "function" in raw or "custom" in raw:
            return "tool_calls"
        if "arguments" in raw and "type" not in raw:
            return "function_call"
        if "id" in raw and "type" not in raw:
            return "audio"
    return "content"


def join(first: JsonObject, second: JsonObject) -> JsonObject:
    """Two messages of one role as one: content and calls of both. Two strings are joined by an empty line."""
    out = {key: value for key, value in {**second, **first}.items() if key not in edit.SIDECARS}
    one, two = first.get("content"), second.get("content")
    if isinstance(one, str) and isinstance(two, str):
        out["content"] = "\n\n".join(filter(None, (one, two)))
    elif one is None or two is None:
        out["content"] = two if one is None else one
    else:
        out["content"] = content.blocks([*content.listed(first), *content.listed(second)])
    for key in _LISTS:
        both = [*(first.get(key) or ()), *(second.get(key) or ())]
        if both:
            out[key] = both
    for key in (*_REASONING, "refusal"):
        words = [json[key] for json in (first, second) if isinstance(json.get(key), str) and json[key]]
        if words:
            out[key] = "\n\n".join(words)
    return out


def _audio(audio: JsonObject) -> Part:
    """The sound of an earlier answer: an id, and in an answer as it came also the data and the transcript."""
    name = _string(audio, "id")
    media = Media(kind="audio", source="file", payload=name, inline=0, generated=True, payload_at=("audio", "id"))
    return Part(kind="audio", place=("audio",), raw=audio, text=_string(audio, "transcript"), media=media)


def _string(json: JsonObject, key: str) -> str:
    value: Any = json.get(key)
    return value if isinstance(value, str) else ""


def _words(given: Json) -> str:
    return given if isinstance(given, str) else "" if given is None else canon.text(given)
