"""The form `blocks`: hosts' own logs of typed blocks, in no provider's exact spelling and never sent as they are.

The rule: whatever names a role and holds blocks is read, in snake case or camel case, with the raw forms that hosts keep beside
a block for replay. Replay forms and sidecars are twins: an edit takes them away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from transom import canon, edit
from transom.errors import BadRequest
from transom.parts import Conversation, Media, Message, Part, Role
from transom.types import Json, JsonObject
from transom.wire import content, shapes
from transom.wire.blocks_rules import faults
from transom.wire.form import Fault, Slip, Usage

api: Final = "blocks"
results_in: Final = "user"
merges: Final = True
items: Final = False
ids: Final = "request"
results_alone: Final = False
results_hold: Final = "media"
bare_reasoning: Final = "closed"
results_tell: Final = False
failures_say: Final = False
names_documents: Final = False
prefill_trimmed: Final = False
odd_in_ids: Final[re.Pattern[str] | None] = None
plain_names: Final = False
longest_id: Final = 0
longest_for: Final = ""

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "tool": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
}
"""Roles and the participants that mean one. Any other participant is somebody who talks to the model: a user."""
_MARK: Final = "cache_control"
_AUTHORS: Final = ("role", "participant")
_CAMEL_RESULT: Final = {"tool_use_id": "toolUseId", "is_error": "isError"}


def read(body: JsonObject, /) -> Conversation:
    """The whole log as views. Raises BadRequest with the place of what does not belong."""
    return content.conversation(body, api, read_message)


def read_message(json: JsonObject, index: int, /) -> Message:
    """One message as a view."""
    role = _role(json, index)
    if _is_result(json):
        return Message(index=index, role=role, parts=edit.with_twins((shapes.result(json, ()),), json), json=json)
    parts = content.read(json.get("content"), content.CONTENT, ("messages", index), strings=True)
    if isinstance(json.get("tool_calls"), list):  # LangChain keeps calls beside its blocks, and in them
        known = {part.id for part in parts if part.kind == "call"}
        calls = shapes.parts(json["tool_calls"], ("tool_calls",))
        parts += [part for part in calls if part.kind != "call" or part.id not in known]
    return Message(index=index, role=role, parts=edit.with_twins(parts, json), json=json)


def _role(json: Json, index: int) -> Role:
    for key in _AUTHORS if isinstance(json, dict) else ():
        said = json.get(key)
        if isinstance(said, str) and (key == "participant" or said.lower() in _ROLES):
            return _ROLES.get(said.lower(), "user")
    return content.role(json, index, _ROLES)


def _is_result(json: JsonObject) -> bool:
    """Whether a message is itself a result, as LangChain's tool messages are."""
    return json.get("role") == "tool" and any(isinstance(json.get(key), str) for key in shapes.RESULT_IDS)


def legal(conversation: Conversation, _quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
    """What no provider could be sent: calls and results that do not pair, and texts that are empty."""
    return faults(conversation)


def usage(_answer: JsonObject, /) -> Usage | None:
    """None: no provider answers in this form."""
    return None


def error_body(_status: int, words: str, /) -> JsonObject:
    """An error; no proxy speaks this form."""
    return {"error": {"message": words}}


def slips(_message: Message, _quirks: frozenset[str], /) -> Sequence[Slip]:
    """No provider reads this form, so none refuses any of it."""
    return ()


def text(words: str, /) -> Json:
    """A text block."""
    return content.text(words)


def message(role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
    """A message of `role` with these raw blocks."""
    return {"role": role, "content": content.blocks(parts)}


def with_parts(json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
    """A copy of a message with these raw blocks in place of its own; a message that is itself a result is its own block."""
    if _is_result(json) and len(parts) == 1:
        return dict(parts[0])
    beside = json.get("tool_calls")
    if isinstance(beside, list):
        return _with_calls(json, parts, beside)
    return content.with_parts(json, parts)


def _with_calls(json: JsonObject, parts: Sequence[Json], beside: list[Json]) -> JsonObject:
    """`with_parts` where calls stand beside the blocks: each goes back there, and stays there only while it is among `parts`."""
    given = {id(raw) for raw in parts}
    own = {id(call) for call in beside}
    inside = [raw for raw in parts if id(raw) not in own]
    names = {raw["id"] for raw in inside if isinstance(raw, dict) and isinstance(raw.get("id"), str)}
    kept = [call for call in beside if id(call) in given or (isinstance(call, dict) and call.get("id") in names)]
    return {**content.with_parts(json, inside), "tool_calls": kept}


def placeholder(_part: Part, words: str, /) -> Json:
    """What stands in the place of a part that is left out."""
    return text(words)


def result_stub(call: Part, words: str, /) -> Json:
    """A raw result for `call` that failed and says `words`, in the spelling of the call."""
    made: JsonObject = {"type": "tool_result", "tool_use_id": call.id, "content": words or content.NOTHING, "is_error": True}
    if isinstance(call.raw, dict) and "toolUseId" in call.raw:
        return {_CAMEL_RESULT.get(key, key): value for key, value in made.items()}
    return made


def set_result(raw: Json, words: str, /) -> Json:
    """A copy of a raw result whose whole content is the text `words`."""
    return content.set_result(raw, words)


def place_results(results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
    """The results at the front of the user message that follows, or in one of their own before what follows."""
    if after is not None and _role(after, 0) == "user":
        return (with_parts(after, [*results, *content.listed(after)]),)
    made = message("user", results)
    return (made,) if after is None else (made, after)


def rename_call(raw: Json, new: str, /) -> Json:
    """A copy of a raw call or result with another id, or with one where it has none."""
    absent = "tool_call_id" if raw.get("role") == "tool" else "tool_use_id" if raw.get("type") == "tool_result" else "id"
    return content.rename(raw, [key for key in (*shapes.RESULT_IDS, *shapes.CALL_IDS) if key in raw] or [absent], new)


def set_media(json: JsonObject, part: Part, media: Media, /) -> JsonObject:
    """A copy of a message whose media `part` declares `media.declared` and carries `media.payload`."""
    return content.set_media(json, part, media)


def join(first: JsonObject, second: JsonObject, /) -> JsonObject:
    """Two neighbouring messages of one role as one."""
    return content.join(first, second)


def mark(json: JsonObject, part: Part, mark: Json | None, /) -> JsonObject:
    """A copy of a message whose `part` carries the cache mark `mark`, or none; empty text and reasoning carry none."""
    return content.mark(json, part, _MARK, mark)


def mcp_result(call_id: str, result: JsonObject, /) -> JsonObject:
    """The result of an MCP call (`CallToolResult`) as a raw `tool_result` for the call `call_id`.

    Each item becomes a block of its own; text of an embedded resource becomes a text, an embedded picture a picture. Raises
    BadRequest when `result` has no list `content`.
    """
    held: Any = result.get("content")
    if not isinstance(held, list):
        raise BadRequest(f"the MCP result's `content` is {content.name(held)}; it must be a list of items", place="content")
    blocks = [_mcp_block(item) for item in held]
    if not blocks and result.get("structuredContent") is not None:
        blocks = [content.text(canon.text(result["structuredContent"]))]
    made: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": blocks or [content.text("")]}
    return {**made, "is_error": True} if result.get("isError") else made


def _mcp_block(item: Json) -> Json:
    part = shapes.part(item, ())
    if part.kind == "text":
        return content.text(part.text)
    media = part.media
    if media is None or media.source != "base64":
        return item if part.kind != "opaque" or not part.text else content.text(part.text)
    return {"type": part.kind, "source": {"type": "base64", "media_type": media.declared, "data": media.payload}}
