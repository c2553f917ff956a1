"""The form `bedrock`: the body of Converse and ConverseStream, as JSON over HTTP or as boto3 takes it (bytes are read as base64).

The rule: a part is named by its key; a `cachePoint` is no part but a mark on the part before it. Source of the shapes: the
service model of botocore's bedrock-runtime, and pricing notes of November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from msgspec.structs import replace

from transom import edit
from transom.parts import Conversation, Media, Message, Part, Role
from transom.types import Json, JsonObject, Place
from transom.wire import content, instructions, naming, numbers
from transom.wire.bedrock_rules import LONGEST_ID, faults
from transom.wire.bedrock_slips import slips_of
from transom.wire.form import Fault, Slip, Usage
from transom.wire.keyed import inner
from transom.wire.slips import faults as slipped

api: Final = "bedrock"
results_in: Final = "user"
merges: Final = True
items: Final = False
ids: Final = "request"
results_alone: Final = False
results_hold: Final = "media"
bare_reasoning: Final = "closed"
results_tell: Final = True
failures_say: Final = True
names_documents: Final = True
prefill_trimmed: Final = True
odd_in_ids: Final[re.Pattern[str] | None] = naming.ODD_BUT_POINTS
plain_names: Final = True
longest_id: Final = LONGEST_ID
longest_for: Final = ""

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_MARK: Final = "cachePoint"
_POINT: Final = {"type": "default"}
_ERRORS: Final = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
"""Exceptions by status (reference of Converse, 2026-08)."""


def read(body: JsonObject, /) -> Conversation:
    """The whole body as views. Raises BadRequest with the place of what does not belong."""
    given = content.objects(body, "messages")
    config = inner(body, "toolConfig")
    model = body.get("modelId", body.get("model"))
    return Conversation(
        api=api,
        body=body,
        key="messages",
        messages=tuple([read_message(json, index) for index, json in enumerate(given)]),
        system=_read(body.get("system"), ("system",), ()),
        tools=content.tools(config),
        model=model if isinstance(model, str) else "",
        thinks=content.thinks(inner(body, "additionalModelRequestFields").get("thinking")),
    )


def read_message(json: JsonObject, index: int, /) -> Message:
    """One message as a view."""
    role = content.role(json, index, _ROLES)
    return Message(index=index, role=role, parts=_read(json.get("content"), content.CONTENT, ("messages", index)), json=json)


def _read(given: Json, where: Place, owner: Place) -> tuple[Part, ...]:
    """The parts of a list: one with a cache point behind it is marked; one in front of all marks the first."""
    found = content.read(given, where, owner)
    if not isinstance(given, list) or not any(_MARK in raw for raw in given):
        return tuple(found)
    parts: list[Part] = []
    leading = False
    for part in found:
        if _is_point(part.raw):
            leading = leading or not parts
            parts[-1:] = [replace(one, marked=True) for one in parts[-1:]]
        else:
            parts.append(replace(part, marked=True) if leading and not parts else part)
    return tuple(parts)


def _is_point(raw: Json) -> bool:
    return isinstance(raw, dict) and _MARK in raw


def legal(conversation: Conversation, quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
    """Each rule of structure that the body breaks, with what the provider would answer."""
    return [
        *faults(conversation, quirks),
        *slipped(conversation, slips, quirks),
        *instructions.faults(conversation),
    ]


def slips(message: Message, quirks: frozenset[str], /) -> Sequence[Slip]:
    """Each thing in one message that the provider refuses and that can be put right there."""
    return slips_of(message, quirks)


def usage(answer: JsonObject, /) -> Usage | None:
    """The usage of an answer; cached tokens stand beside `inputTokens` and are part of the prompt."""
    found = numbers.holder(answer, "usage", "inputTokens")
    if not found:
        found = numbers.holder(inner(answer, "metadata"), "usage", "inputTokens")
    fresh = numbers.count(found, "inputTokens")
    cached = numbers.count(found, "cacheReadInputTokens") or 0
    written = numbers.count(found, "cacheWriteInputTokens") or 0
    if fresh is None or fresh + cached + written <= 0:
        return None
    output = numbers.count(found, "outputTokens") or 0
    return Usage(prompt=fresh + cached + written, output=output, cached=cached, written=written)


def error_body(status: int, words: str, /) -> JsonObject:
    """An error in this form's own shape; over HTTP its type also stands in the header `x-amzn-errortype`."""
    kind = _ERRORS.get(status, _ERRORS[500] if status >= 500 else _ERRORS[400])
    return {"__type": kind, "message": words}


def text(words: str, /) -> Json:
    """A text part."""
    return {"text": words or content.NOTHING}


def message(role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
    """A message of `role` with these raw parts."""
    return {"role": role, "content": _listed(parts)}


def _listed(parts: Sequence[Json]) -> list[Json]:
    return [text(raw) if isinstance(raw, str) else raw for raw in parts if raw != ""]


def with_parts(json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
    """A copy of a message with these raw parts in place of its own. A cache point stays behind the part that it marks, or, where
    that is gone, behind the nearest earlier one that is left and may bear one.
    """
    old = content.listed(json)
    parts = _listed(parts)
    kept = {id(raw) for raw in parts}
    points: dict[int, Json] = {}
    bearer = own = 0
    for raw in old:
        if not _is_point(raw):
            own = id(raw) if id(raw) in kept else 0
            bearer = own if own and _bears(raw) else bearer
        elif own or bearer:
            points[own or bearer] = raw
    out: list[Json] = []
    for raw in parts:
        out.append(raw)
        if id(raw) in points:
            out.append(points.pop(id(raw)))  # once, also where a caller's list holds one object twice
    same = len(out) == len(old) and all(a is b for a, b in zip(out, old, strict=True))
    return dict(json) if same else {**json, "content": out}


def _bears(raw: Json) -> bool:
    """Whether a cache point may be put behind a part: not behind reasoning, and, on Claude, not behind a document that is no PDF
    ("messages.0.content.2.type: Field required", strands-agents/harness-sdk 1966, 2026-03-24).
    """
    if not isinstance(raw, dict) or "reasoningContent" in raw:
        return isinstance(raw, str)
    held = raw.get("document")
    return not isinstance(held, dict) or held.get("format") == "pdf"


def placeholder(_part: Part, words: str, /) -> Json:
    """What stands in the place of a part that is left out."""
    return text(words)


def result_stub(call: Part, words: str, /) -> Json:
    """A raw result for `call` that failed and says `words`."""
    made: JsonObject = {"toolUseId": call.id, "content": [text(words)], "status": "error"}
    if call.kind == "server-call":
        made["type"] = f"{call.name}_tool_result"
    return {"toolResult": made}


def set_result(raw: Json, words: str, /) -> Json:
    """A copy of a raw result whose whole content is the text `words`; its id and status stay."""
    return {**raw, "toolResult": {**inner(raw, "toolResult"), "content": [text(words)]}}


def place_results(results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
    """The results at the front of the user message that follows, or in one of their own before what follows."""
    if after is not None and after.get("role") == "user":
        return ({**after, "content": [*results, *content.listed(after)]},)
    made = message("user", results)
    return (made,) if after is None else (made, after)


def rename_call(raw: Json, new: str, /) -> Json:
    """A copy of a raw call or result with another id."""
    key = "toolUse" if "toolUse" in raw else "toolResult"
    return {**raw, key: {**inner(raw, key), "toolUseId": new}}


def set_media(json: JsonObject, part: Part, media: Media, /) -> JsonObject:
    """A copy of a message whose media `part` declares `media.declared` and carries `media.payload`."""
    return content.set_media(json, part, media)


def join(first: JsonObject, second: JsonObject, /) -> JsonObject:
    """Two neighbouring messages of one role as one."""
    return {**second, **first, "content": _listed([*content.listed(first), *content.listed(second)])}


def mark(json: JsonObject, part: Part, mark: Json | None, /) -> JsonObject:
    """A copy of a message with the cache point `mark` behind `part`, or none; empty text, reasoning and documents that are no
    PDFs carry none.
    """
    given = content.listed(json)
    at = part.place[1] if len(part.place) > 1 else 0
    if not isinstance(at, int) or at >= len(given):
        return json
    behind = at + 1 < len(given) and _is_point(given[at + 1])
    if mark is None:
        gone = {at + 1} if behind else {n for n in range(at) if _is_point(given[n])}
        return edit.remove(json, [("content", n) for n in gone])
    bare = not _bears(given[at]) or (part.kind == "text" and not part.text.strip())
    if behind or bare:
        return json
    point = {_MARK: mark if isinstance(mark, dict) and mark.get("type") == "default" else _POINT}
    return {**json, "content": [*_listed(given[: at + 1]), point, *given[at + 1 :]]}
