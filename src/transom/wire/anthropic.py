"""The form `anthropic`: the body of `POST /v1/messages`.

The rule: the system text stands outside the messages, results are parts of user messages, and neighbouring messages of one
role are one turn. Source of the shapes: types of the official SDK (anthropic 2.14), and pricing notes of November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from msgspec.structs import replace

from transom import edit
from transom.parts import Conversation, Media, Message, Part, Role
from transom.types import Json, JsonObject
from transom.wire import content, instructions, naming, numbers
from transom.wire.anthropic_rules import faults
from transom.wire.anthropic_slips import slips_of
from transom.wire.form import Fault, Slip, Usage
from transom.wire.shapes import RESULT_IDS
from transom.wire.slips import faults as slipped

api: Final = "anthropic"
results_in: Final = "user"
merges: Final = True
items: Final = False
ids: Final = "request"
results_alone: Final = False
results_hold: Final = "media"
bare_reasoning: Final = "closed"
results_tell: Final = True
failures_say: Final = True
names_documents: Final = False
prefill_trimmed: Final = True
odd_in_ids: Final[re.Pattern[str] | None] = naming.ODD
plain_names: Final = True
longest_id: Final = 0
longest_for: Final = ""

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_MARK: Final = "cache_control"
_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""Error types by status (platform.claude.com/docs/en/api/errors, 2026-08)."""


def read(body: JsonObject, /) -> Conversation:
    """The whole body as views. Raises BadRequest with the place of what does not belong."""
    found = content.conversation(body, api, read_message)
    asked = body.get("thinking")
    # A stored talk says nothing of thinking: who sends it completes it. A request does, since it says how long an answer may get.
    unthinking = "max_tokens" in body if asked is None else isinstance(asked, dict) and asked.get("type") == "disabled"
    return replace(found, unthinking=True) if unthinking else found


def read_message(json: JsonObject, index: int, /) -> Message:
    """One message as a view."""
    role = content.role(json, index, _ROLES)
    parts = content.read(json.get("content"), content.CONTENT, ("messages", index))
    return Message(index=index, role=role, parts=edit.with_twins(parts, json), json=json)


def legal(conversation: Conversation, quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
    """Each rule of structure that the body breaks, with what the provider would answer."""
    return [*faults(conversation, quirks), *slipped(conversation, slips, quirks), *instructions.faults(conversation)]


def slips(message: Message, quirks: frozenset[str], /) -> Sequence[Slip]:
    """Each thing in one message that the provider refuses and that can be put right there."""
    return slips_of(message, quirks)


def usage(answer: JsonObject, /) -> Usage | None:
    """The usage of an answer; cached tokens stand beside `input_tokens` and are part of the prompt."""
    found = numbers.holder(answer, "usage", "input_tokens")
    fresh = numbers.count(found, "input_tokens")
    cached = numbers.count(found, "cache_read_input_tokens") or 0
    written = numbers.count(found, "cache_creation_input_tokens") or 0
    if fresh is None or fresh + cached + written <= 0:
        return None
    output = numbers.count(found, "output_tokens") or 0
    return Usage(prompt=fresh + cached + written, output=output, cached=cached, written=written)


def error_body(status: int, words: str, /) -> JsonObject:
    """An error in this form's own shape."""
    kind = _ERRORS.get(status, "api_error" if status >= 500 else _ERRORS[400])
    return {"type": "error", "error": {"type": kind, "message": words}}


def text(words: str, /) -> Json:
    """A text part."""
    return content.text(words)


def message(role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
    """A message of `role` with these raw parts."""
    return {"role": role, "content": content.blocks(parts)}


def with_parts(json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
    """A copy of a message with these raw parts in place of its own."""
    return content.with_parts(json, parts)


def placeholder(_part: Part, words: str, /) -> Json:
    """What stands in the place of a part that is left out."""
    return text(words)


def result_stub(call: Part, words: str, /) -> Json:
    """A raw result for `call` that failed and says `words`; for a tool that the provider runs, in that tool's own shape."""
    if call.kind == "server-call" and call.raw.get("type") != "mcp_tool_use":
        kind = f"{call.name}_tool_result"
        error = {"type": f"{kind}_error", "error_code": "unavailable"}
        return {"type": kind, "tool_use_id": call.id, "content": error}
    kind = "mcp_tool_result" if call.kind == "server-call" else "tool_result"
    return {"type": kind, "tool_use_id": call.id, "content": words or content.NOTHING, "is_error": True}


def set_result(raw: Json, words: str, /) -> Json:
    """A copy of a raw result whose whole content is the text `words`."""
    return content.set_result(raw, words)


def place_results(results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
    """The results at the front of the user message that follows, or in one of their own before what follows."""
    if after is not None and after.get("role") == "user":
        return (with_parts(after, [*results, *content.listed(after)]),)
    made = message("user", results)
    return (made,) if after is None else (made, after)


def rename_call(raw: Json, new: str, /) -> Json:
    """A copy of a raw call or result with another id, or with one where it has none."""
    absent = "tool_use_id" if raw.get("type") == "tool_result" else "id"
    return content.rename(raw, [key for key in RESULT_IDS if key in raw] or [absent], new)


def set_media(json: JsonObject, part: Part, media: Media, /) -> JsonObject:
    """A copy of a message whose media `part` declares `media.declared` and carries `media.payload`."""
    return content.set_media(json, part, media)


def join(first: JsonObject, second: JsonObject, /) -> JsonObject:
    """Two neighbouring messages of one role as one."""
    return content.join(first, second)


def mark(json: JsonObject, part: Part, mark: Json | None, /) -> JsonObject:
    """A copy of a message whose `part` carries the cache mark `mark`, or none; empty text and reasoning carry none."""
    return content.mark(json, part, _MARK, mark)
