"""The form `openai-responses`: the body of `POST /v1/responses`.

The rule: each item of `input` is a message: one of a role with content, or one that is its own only part (a call, an output,
reasoning). A string is the user's one message. What the provider holds (`previous_response_id`, a conversation, a stored prompt)
cannot be seen. Source of the shapes: types of the official SDK (openai 3.57), and pricing notes of November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from transom import edit
from transom.errors import BadRequest
from transom.parts import Conversation, Media, Message, Part, Role, following
from transom.types import Json, JsonObject
from transom.wire import content, numbers
from transom.wire.form import Fault, Slip, Usage
from transom.wire.openai_checks import CHECKED, LONGEST_ID
from transom.wire.openai_responses_items import BLANK, NAMED, kind
from transom.wire.openai_responses_items import read as read_item
from transom.wire.openai_responses_rules import faults
from transom.wire.openai_responses_slips import slips_of
from transom.wire.slips import faults as slipped

api: Final = "openai-responses"
results_in: Final = "tool"
merges: Final = False
items: Final = True
ids: Final = "request"
results_alone: Final = False
results_hold: Final = "media"
bare_reasoning: Final = "lost"
results_tell: Final = True
failures_say: Final = False
names_documents: Final = False
prefill_trimmed: Final = False
odd_in_ids: Final[re.Pattern[str] | None] = None
plain_names: Final = True
longest_id: Final = LONGEST_ID
longest_for: Final = CHECKED

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_HELD: Final = ("previous_response_id", "conversation", "prompt")
_MARK: Final = "prompt_cache_breakpoint"
_ERRORS: Final = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", None),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}
_EXITED: Final = {"type": "exit", "exit_code": 0}


def read(body: JsonObject, /) -> Conversation:
    """The whole body as views. Raises BadRequest with the place of what does not belong."""
    given = body.get("input")
    if isinstance(given, str):
        listed = [{"role": "user", "content": given}]
    else:
        listed = [] if given is None and _held(body) else content.objects(body, "input")
    messages = [read_message(json, index) for index, json in enumerate(listed)]
    tools = content.tools(body)
    return Conversation(
        api=api,
        body=body,
        key="input",
        messages=tuple(following(messages) if tools else messages),  # seen of requests that declare tools, and of no others
        system=tuple(content.read(body.get("instructions"), ("instructions",), ())),
        tools=tools,
        model=body["model"] if isinstance(body.get("model"), str) else "",
        held=_held(body),
    )


def _held(body: JsonObject) -> tuple[str, ...]:
    return tuple(key for key in _HELD if body.get(key) is not None)


def read_message(json: JsonObject, index: int, /) -> Message:
    """One item as a view."""
    if not _is_message(json):
        role, part = read_item(json)
        return Message(index=index, role=role, parts=edit.with_twins((part,), json), json=json)
    role = content.role(json, index, _ROLES, "input")
    parts = content.read(json.get("content"), content.CONTENT, ("input", index))
    return Message(index=index, role=role, parts=edit.with_twins(parts, json), json=json)


def _is_message(json: Json) -> bool:
    return not isinstance(json, dict) or kind(json) == "message"


def legal(conversation: Conversation, quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
    """Each rule of structure that the body breaks, with what the provider would answer."""
    return [*faults(conversation, quirks), *slipped(conversation, slips, quirks)]


def slips(message: Message, quirks: frozenset[str], /) -> Sequence[Slip]:
    """Each thing in one message that the provider refuses and that can be put right there."""
    return slips_of(message, quirks)


def usage(answer: JsonObject, /) -> Usage | None:
    """The usage of an answer; cached tokens are part of `input_tokens`."""
    return numbers.openai_usage(answer, prompt="input_tokens", output="output_tokens")


def error_body(status: int, words: str, /) -> JsonObject:
    """An error in this form's own shape."""
    type_, code = _ERRORS.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
    return {"error": {"message": words, "type": type_, "param": None, "code": code}}


def text(words: str, /) -> Json:
    """A text part of the user's; in an answer `message` and `with_parts` spell it `output_text`."""
    return {"type": "input_text", "text": words or content.NOTHING}


def message(role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
    """A message of `role` with these raw parts."""
    return {"type": "message", "role": role, "content": [_spoken(raw, role) for raw in parts if raw != ""]}


def _spoken(raw: Json, role: str) -> Json:
    """A part as `role` says it: an answer's texts are `output_text`, and a screenshot outside its item is a picture."""
    if isinstance(raw, str):
        raw = text(raw)
    said = raw.get("type")
    if said == "computer_screenshot":
        return {**raw, "type": "input_image"}
    if said in ("input_text", "output_text", "text"):
        want = "output_text" if role == "assistant" else "input_text"
        return raw if said == want else {"type": want, **{key: raw[key] for key in raw if key in ("text", _MARK)}}
    return raw


def with_parts(json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
    """A copy of an item with these raw parts; an item that is its own part becomes the one that is given."""
    if not _is_message(json):
        return dict(parts[0]) if parts else message("assistant", [content.NOTHING])
    old = content.listed(json)
    if len(old) == len(parts) and all(a is b for a, b in zip(old, parts, strict=True)):
        return dict(json)
    out = {key: value for key, value in json.items() if key not in edit.SIDECARS}
    if isinstance(json.get("content"), str) and len(parts) == 1 and isinstance(parts[0], str):
        return {**out, "content": parts[0] or content.NOTHING}
    kept = {id(raw) for raw in old if not isinstance(raw, str)}
    released = content.released([raw for raw in parts if raw != ""], old)
    return {**out, "content": [raw if id(raw) in kept else _spoken(raw, str(json.get("role"))) for raw in released]}


def placeholder(part: Part, words: str, /) -> Json:
    """What stands in the place of a part: an answer's text for an item, a blank screenshot where only one may stand."""
    if part.place == ():
        return message("assistant", [words])
    if part.place[0] == "outputs":
        return {"type": "logs", "logs": words}
    if isinstance(part.raw, dict) and part.raw.get("type") == "computer_screenshot":
        return {"type": "computer_screenshot", "image_url": BLANK}
    return text(words)


def result_stub(call: Part, words: str, /) -> Json:
    """A raw output for `call` that says `words`, in the shape that answers calls of its type."""
    said = kind(call.raw)
    if said == "mcp_approval_request":
        return {"type": "mcp_approval_response", "approval_request_id": call.id, "approve": False, "reason": words}
    if said == "tool_search_call":
        return {"type": "tool_search_output", "call_id": call.id, "execution": "client", "status": "incomplete", "tools": []}
    made: JsonObject = {"type": f"{said}_output", "call_id": call.id}
    if said == "apply_patch_call":
        made["status"] = "failed"
    return set_result(made, words)


def set_result(raw: Json, words: str, /) -> Json:
    """A copy of a raw output whose whole content is `words`, as far as its type has a place for them."""
    out = {key: value for key, value in edit.untwinned(raw).items() if key not in edit.SIDECARS}
    said = kind(raw)
    if said == "mcp_approval_response":
        return {**out, "reason": words}
    if said == "tool_search_output":
        return {**out, "tools": []}
    if said == "computer_call_output":
        return {**out, "output": {"type": "computer_screenshot", "image_url": BLANK}}
    if said == "shell_call_output":
        return {**out, "output": [{"stdout": words or content.NOTHING, "stderr": "", "outcome": _EXITED}]}
    return {**out, "output": words or content.NOTHING}


def place_results(results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
    """Each output is an item; then what follows."""
    return tuple(results) if after is None else (*results, after)


def rename_call(raw: Json, new: str, /) -> Json:
    """A copy of a raw call or output with another id; the item's own id stays."""
    key = NAMED.get(kind(raw), ("call_id",))[0]
    return {**raw, key: new}


def set_media(json: JsonObject, part: Part, media: Media, /) -> JsonObject:
    """A copy of an item whose media `part` declares `media.declared` and carries `media.payload`."""
    return content.set_media(json, part, media)


def join(first: JsonObject, second: JsonObject, /) -> JsonObject:
    """Two neighbouring messages of one role as one; items that are their own part are not joined."""
    if not (_is_message(first) and _is_message(second)):
        raise BadRequest("an item that is no message cannot be joined with another", place="input")
    role = str(first.get("role"))
    out = {key: value for key, value in {**second, **first}.items() if key not in edit.SIDECARS}
    out["content"] = [_spoken(raw, role) for raw in (*content.listed(first), *content.listed(second)) if raw != ""]
    return out


def mark(json: JsonObject, part: Part, mark: Json | None, /) -> JsonObject:
    """A copy of an item whose `part` carries the breakpoint `mark`, or none; only parts of a message's content can."""
    if part.place[:1] != content.CONTENT or isinstance(part.raw, str):
        return json
    return content.mark(json, part, _MARK, mark)
