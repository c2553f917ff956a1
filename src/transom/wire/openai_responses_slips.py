"""Slips of `openai-responses`: what its provider refuses in one message, in its own words.

Sources of the words: answers quoted in issues: openai/codex 33176 (2026-07), can1357/oh-my-pi 284 (2026-03: ids of items),
1jehuang/jcode 1028 (2026-08: `status`), musistudio/claude-code-router 1783 (2026-09: `content` of reasoning),
QuantumNous/new-api 4776 (2026-05: content that is null), camunda/connectors 8356 (2026-08: types of texts).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from transom.parts import Message, Part
from transom.types import Json, JsonObject
from transom.wire import openai_checks as checks
from transom.wire.form import Slip
from transom.wire.openai_responses_items import kind

LONGEST: Final = 64
"""Characters of an item's id."""
BEGINS: Final = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
"""How ids of items begin, by type, as the provider's answers say it; these items may have none."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]*")
_TOLD: Final = ("function_call_output", "custom_tool_call_output")
_FIT: Final = "Invalid 'input[{index}].id': '%s'. Expected an ID that begins with '%s'."
_LONG: Final = (
    "Invalid 'input[{index}].id': string too long. Expected a string with maximum length 64, but got a string with length %s "
    "instead."
)
_LETTERS: Final = (
    "Invalid 'input[{index}].id': '%s'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value "
    "contained additional characters."
)
_CONTENT: Final = (
    "Invalid 'input[{index}].content': array too long. Expected an array with maximum length 0, but got an array with length %s "
    "instead."
)
_NULL: Final = "Invalid type for 'input[{index}].%s': expected one of an array of objects or string, but got null instead."
_TYPE: Final = "Invalid value: '%s'. Supported values are: %s."
_OBJECT: Final = "Invalid type for 'input[{index}].content[%s].image_url': expected a string, but got an object instead."
_URL: Final = "Invalid 'input[{index}].content[%s].image_url'. Expected a valid URL, but got a value with an invalid format."


def slips_of(message: Message, quirks: frozenset[str]) -> Sequence[Slip]:
    """Each slip of one item."""
    json, said = message.json, kind(message.json)
    checked = checks.CHECKED in quirks
    out: list[Slip] = []
    if checked and "id" in json:
        out += _id(json, said)
    if said == "message":
        out += _message(message, checked=checked)
    elif said == "reasoning" and checked:
        out += _reasoning(json)
    elif said in _TOLD:
        if json.get("output") is None and not json.get("content"):
            out.append(
                Slip(
                    place=("output",),
                    code="no-content",
                    what="an output that says nothing at all",
                    so="say an empty text",
                    answer=_NULL % "output",
                    now="",
                )
            )
        elif isinstance(json.get("output"), list):
            for part in message.parts[0].parts:
                out += _part(part, "input_text", checked=checked)
    return out


def _id(json: JsonObject, said: str) -> Iterator[Slip]:
    """The id of an item, which an item may also go without."""
    given, begins = json["id"], BEGINS.get(said)
    if begins is None or not isinstance(given, str):
        return
    short = given[:LONGEST]
    if not given.startswith(begins):
        what, answer = f"an id of an item that does not begin with {begins!r}", _FIT % (short, begins)
    elif len(given) > LONGEST:
        what, answer = f"an id of an item with {len(given)} characters", _LONG % len(given)
    elif not _PLAIN.fullmatch(given):
        what, answer = "an id of an item with other characters than letters, digits, `_` and `-`", _LETTERS % short
    else:
        return
    yield Slip(place=("id",), code="item-id", what=what, so="leave it out", answer=answer)


def _reasoning(json: JsonObject) -> Iterator[Slip]:
    """Reasoning goes back with its summary, and without what only answers have."""
    if "status" in json:
        answer = "Unknown parameter: 'input[{index}].status'."
        yield Slip(place=("status",), code="reasoning-fields", what="reasoning with a status", so="leave it out", answer=answer)
    told, summary = json.get("content"), json.get("summary")
    thoughts: list[Json] = []
    if isinstance(told, list) and told:
        what, so = "reasoning with its content", "tell it as the summary, where there is none"
        yield Slip(place=("content",), code="reasoning-fields", what=what, so=so, answer=_CONTENT % len(told))
        thoughts = [{"type": "summary_text", "text": one["text"]} for one in told if isinstance(one, dict) and _says(one)]
    if summary is None or (summary == [] and thoughts):
        answer = "" if summary == [] else "Missing required parameter: 'input[{index}].summary'."
        what, so = "reasoning without a summary", "say what its content says" if thoughts else "say an empty one"
        yield Slip(place=("summary",), code="reasoning-fields", what=what, so=so, answer=answer, now=thoughts)


def _says(one: JsonObject) -> bool:
    return isinstance(one.get("text"), str) and bool(one["text"])


def _message(message: Message, *, checked: bool) -> Iterator[Slip]:
    """What a message says: something, in parts of the types that its role speaks in."""
    content = message.json.get("content")
    answers = message.role == "assistant"
    unsaid = [n for n, raw in enumerate(content) if checks.unsaid(raw)] if isinstance(content, list) else []
    if content is None or (unsaid and len(unsaid) == len(content)):
        what, so = "a message without content" if content is None else checks.UNSAID, "say what it says, which is nothing"
        yield Slip(place=("content",), code="no-content", what=what, so=so, answer=_NULL % "content", now=[] if answers else "")
        return
    for number in unsaid:
        at = f"content[{number}].text"
        yield Slip(place=("content", number), code="no-content", what=checks.UNSAID, so="leave it out", answer=_NULL % at)
    if isinstance(content, list):
        for part in message.parts:
            yield from _part(part, "output_text" if answers else "input_text", checked=checked)


def _part(part: Part, text: str, *, checked: bool) -> Iterator[Slip]:
    """A part as it stands where texts are of the type `text`."""
    raw = part.raw
    said = raw.get("type") if isinstance(raw, dict) else None
    if said == text or said is None:
        return
    if said in checks.TEXTS:
        if raw.get("text") is not None:
            yield _typed(part, str(said), text, checks.said_as(raw, text))
    elif said == "input_image":
        yield from _picture(part, raw, text, checked=checked)
    elif said in ("image_url", "image"):
        now = _made(part, raw, text, checked=checked)
        if now is not None:
            yield _typed(part, str(said), text, now)


def _typed(part: Part, said: str, text: str, now: JsonObject) -> Slip:
    taken = "'output_text' and 'refusal'" if text == "output_text" else "'input_text', 'input_image', and 'input_file'"
    what = f"a part of the type {said!r}"
    return Slip(place=part.place, code="type", what=what, so="say it as this form does", answer=_TYPE % (said, taken), now=now)


def _made(part: Part, raw: JsonObject, text: str, *, checked: bool) -> JsonObject | None:
    """A picture as this form has it, its address a string; None where it cannot stand there."""
    held = raw.get("image_url")
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str):
        url = checks.carried(part) or None
    if url is None:
        return None
    if checks.unreadable(url, checked=checked):
        return {"type": text, "text": checks.instead(url)}
    keep: JsonObject = {key: raw[key] for key in ("detail", "prompt_cache_breakpoint") if key in raw}
    if isinstance(held, dict) and isinstance(held.get("detail"), str):
        keep = {"detail": held["detail"], **keep}
    return {**keep, "type": "input_image", "image_url": checks.address(url)}


def _picture(part: Part, raw: JsonObject, text: str, *, checked: bool) -> Iterator[Slip]:
    """A picture of this form: its address is a string, and one that the provider can read."""
    held = raw.get("image_url")
    if held is None or raw.get("file_id") or not isinstance(held, (str, dict)):
        return
    if isinstance(held, dict) or checks.unreadable(held, checked=checked) or checks.address(held) is not held:
        now = _made(part, raw, text, checked=checked)
        if now is not None:
            what = "the address of a picture in an object" if isinstance(held, dict) else checks.UNLIT
            what = what if now["type"] != "input_image" or isinstance(held, dict) else "a picture in base64 that does not say so"
            answer = (_OBJECT if isinstance(held, dict) else _URL) % part.place[-1]
            yield Slip(place=part.place, code="image-url", what=what, so="say it as this form does", answer=answer, now=now)
