"""The form `openai-chat`: the body of `POST /v1/chat/completions`, and what compatible servers and hosts add to it.

The rule: each result is a message of its own, whose one part is that message; calls stand beside the content. Source of the
shapes: types of the official SDK (openai 3.57), and pricing notes of November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from transom import edit
from transom.parts import Conversation, Media, Message, Part, Role
from transom.types import Json, JsonObject
from transom.wire import content, numbers, openai_fields
from transom.wire.form import Fault, Slip, Usage
from transom.wire.openai_chat_rules import faults
from transom.wire.openai_chat_slips import slips_of
from transom.wire.openai_checks import CHECKED, LONGEST_ID
from transom.wire.slips import faults as slipped

api: Final = "openai-chat"
results_in: Final = "tool"
merges: Final = False
items: Final = False
ids: Final = "turn"
results_alone: Final = False
results_hold: Final = "text"
bare_reasoning: Final = "taken"
results_tell: Final = True
failures_say: Final = False
names_documents: Final = False
prefill_trimmed: Final = False
odd_in_ids: Final[re.Pattern[str] | None] = None
plain_names: Final = True
longest_id: Final = LONGEST_ID
longest_for: Final = CHECKED

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MARK: Final = "prompt_cache_breakpoint"
_ERRORS: Final = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", None),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


def read(body: JsonObject, /) -> Conversation:
    """The whole body as views. Raises BadRequest with the place of what does not belong."""
    given = content.objects(body, "messages")
    return Conversation(
        api=api,
        body=body,
        key="messages",
        messages=tuple([read_message(json, index) for index, json in enumerate(given)]),
        tools=content.tools(body) or content.functions(body),
        model=body["model"] if isinstance(body.get("model"), str) else "",
    )


def read_message(json: JsonObject, index: int, /) -> Message:
    """One message as a view."""
    role = content.role(json, index, _ROLES)
    if role == "tool":
        parts: Sequence[Part] = (openai_fields.result(json, index),)
    elif len(json) == len(("role", "content")) and "content" in json:
        parts = content.read(json.get("content"), content.CONTENT, ("messages", index))
    else:
        parts = openai_fields.read(json, index)
    return Message(index=index, role=role, parts=edit.with_twins(parts, json), json=json)


def legal(conversation: Conversation, quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
    """Each rule of structure that the body breaks, with what the provider would answer."""
    return [*faults(conversation, quirks), *slipped(conversation, slips, quirks)]


def slips(message: Message, quirks: frozenset[str], /) -> Sequence[Slip]:
    """Each thing in one message that the provider refuses and that can be put right there."""
    return slips_of(message, quirks)


def usage(answer: JsonObject, /) -> Usage | None:
    """The usage of an answer; cached tokens are part of `prompt_tokens`."""
    return numbers.openai_usage(answer, prompt="prompt_tokens", output="completion_tokens")


def error_body(status: int, words: str, /) -> JsonObject:
    """An error in this form's own shape."""
    server = status >= 500
    kind, code = _ERRORS.get(status, ("server_error" if server else "invalid_request_error", None))
    return {"error": {"message": words, "type": kind, "param": None, "code": code}}


def text(words: str, /) -> Json:
    """A text part."""
    return content.text(words)


def message(role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
    """A message of `role` with these raw parts; a single text is a string."""
    made = openai_fields.with_parts({"role": role, "content": None}, parts)
    match made["content"]:
        case [{"type": "text", "text": str(words), **rest}] if not rest:
            return {**made, "content": words}
    return made


def with_parts(json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
    """A copy of a message with these raw parts, calls beside the content and the rest in it."""
    return openai_fields.with_parts(json, parts)


def placeholder(_part: Part, words: str, /) -> Json:
    """What stands in the place of a part that is left out."""
    return text(words)


def result_stub(call: Part, words: str, /) -> Json:
    """A raw result for `call` that says `words`: this form has no flag for one that failed."""
    if call.place == ("function_call",):
        return {"role": "function", "name": call.name, "content": words or content.NOTHING}
    return {"role": "tool", "tool_call_id": call.id, "content": words or content.NOTHING}


def set_result(raw: Json, words: str, /) -> Json:
    """A copy of a raw result whose whole content is the text `words`."""
    out = content.set_result(raw, words)
    return {key: value for key, value in out.items() if key not in edit.SIDECARS}


def place_results(results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
    """Each result is a message; then what follows."""
    return tuple(results) if after is None else (*results, after)


def rename_call(raw: Json, new: str, /) -> Json:
    """A copy of a raw call or result with another id; a legacy function call has none and stays as it is."""
    if raw.get("role") == "tool":
        return {**raw, "tool_call_id": new}
    return {**raw, "id": new} if "id" in raw or "function" in raw or "custom" in raw else raw


def set_media(json: JsonObject, part: Part, media: Media, /) -> JsonObject:
    """A copy of a message whose media `part` declares `media.declared` and carries `media.payload`."""
    return content.set_media(json, part, media)


def join(first: JsonObject, second: JsonObject, /) -> JsonObject:
    """Two neighbouring messages of one role as one; two strings stay one string."""
    return openai_fields.join(first, second)


def mark(json: JsonObject, part: Part, mark: Json | None, /) -> JsonObject:
    """A copy of a message whose `part` carries the breakpoint `mark`, or none; only parts of the content can."""
    if part.place[:1] != content.CONTENT:
        return json
    return content.mark(json, part, _MARK, mark)
