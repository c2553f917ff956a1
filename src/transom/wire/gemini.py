"""The form `gemini`: the body of `generateContent`, of the Gemini API and of Vertex, and what the Python SDK is given.

The rule: keys are read in both spellings, the wire's (`functionCall`) and the SDK's (`function_call`), and go out as they came. A
lone content or part stands for a list of one, as protocol buffers take it, a string for a text of the user's. What a cache holds
cannot be seen. Source of the shapes: google-genai 3.6.1, and pricing notes of November 2026.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from transom.errors import BadRequest
from transom.parts import Conversation, Media, Message, Part, Role, spell
from transom.types import Json, JsonObject, Place
from transom.wire import content, instructions, numbers
from transom.wire.form import Fault, Slip, Usage
from transom.wire.gemini_rules import faults
from transom.wire.gemini_slips import slips_of
from transom.wire.keyed import CALLS, RESPONSES, inner, spelled
from transom.wire.slips import faults as slipped

api: Final = "gemini"
results_in: Final = "user"
merges: Final = True
items: Final = False
ids: Final = "position"
results_alone: Final = True
results_hold: Final = "media"
bare_reasoning: Final = "taken"
results_tell: Final = True
failures_say: Final = False
names_documents: Final = False
prefill_trimmed: Final = False
odd_in_ids: Final[re.Pattern[str] | None] = None
plain_names: Final = False
longest_id: Final = 0
longest_for: Final = ""

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "user", "tool": "user"}
"""Roles; a content without one is the user's."""
_PARTS: Final[Place] = ("parts",)
_SYSTEM: Final = ("systemInstruction", "system_instruction")
_HELD: Final = ("cachedContent", "cached_content")
_STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Statuses of google.rpc by HTTP status."""


def read(body: JsonObject, /) -> Conversation:
    """The whole body as views. Raises BadRequest with the place of what does not belong."""
    config = body["config"] if isinstance(body.get("config"), dict) else {}
    tools = body if body.get("tools") is not None else config
    return Conversation(
        api=api,
        body=body,
        key="contents",
        messages=tuple([read_message(json, index) for index, json in enumerate(_contents(body))]),
        system=tuple(_system(body, ()) or _system(config, ("config",))),
        tools=content.tools(tools),
        model=str(body["model"]).removeprefix("models/") if isinstance(body.get("model"), str) else "",
        held=tuple(key for key in _HELD if body.get(key) or config.get(key)),
    )


def _contents(body: JsonObject) -> list[JsonObject]:
    """The contents as objects: a lone one, a string or a part is the user's."""
    given = body.get("contents")
    if given is None:
        raise content.missing(body, "contents")
    listed = given if isinstance(given, list) else [given]
    for index, one in enumerate(listed):
        if not isinstance(one, (dict, str)):
            raise BadRequest(f"this is {content.name(one)}; each of `contents` must be an object", place=f"contents[{index}]")
    return [_content(one) for one in listed]


def _content(given: JsonObject | str) -> JsonObject:
    if isinstance(given, str):
        return {"role": "user", "parts": [{"text": given}]}
    if isinstance(given.get("parts"), dict):
        return {**given, "parts": [given["parts"]]}
    bare = bool(given) and "parts" not in given and "role" not in given
    return {"role": "user", "parts": [given]} if bare else given


def _system(holder: JsonObject, where: Place) -> list[Part]:
    key = spelled(holder, *_SYSTEM)
    given = holder.get(key)
    place = (*where, key)
    if isinstance(given, dict) and "parts" in given:
        given, place = given["parts"], (*place, "parts")
    given = [given] if isinstance(given, dict) else given
    return content.read(given, place, (), strings=True)


def read_message(json: JsonObject, index: int, /) -> Message:
    """One content as a view."""
    role: Role = "user" if json.get("role") is None else content.role(json, index, _ROLES, "contents")
    parts = json.get("parts")
    if parts is None:
        _told_elsewhere(json, index)
    if parts is not None and not isinstance(parts, list):
        says = f"the parts are {content.name(parts)}; they must be a list"
        raise BadRequest(says, place=spell(("contents", index, *_PARTS)))
    return Message(index=index, role=role, parts=tuple(content.read(parts, _PARTS, ("contents", index), strings=True)), json=json)


def _told_elsewhere(json: JsonObject, index: int) -> None:
    """Raise for a content that has no parts and says something where another form's messages do."""
    key = next((key for key in ("content", "text") if json.get(key)), "")
    if key:
        other = "as messages of anthropic, openai-chat and bedrock have it" if key == "content" else "as a part has it"
        says = f"there are no `parts`, and `{key}` holds what is said, {other}; put it into `parts`, or name that form"
        raise BadRequest(says, place=spell(("contents", index, key)))


def legal(conversation: Conversation, quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
    """Each rule of structure that the body breaks, with what the provider would answer."""
    return [*faults(conversation, quirks), *slipped(conversation, slips, quirks), *instructions.faults(conversation)]


def slips(message: Message, quirks: frozenset[str], /) -> Sequence[Slip]:
    """Each thing in one message that the provider refuses and that can be put right there."""
    return slips_of(message, quirks)


def usage(answer: JsonObject, /) -> Usage | None:
    """The usage of an answer: the prompt holds what was cached; thoughts are output beside the candidates."""
    key = spelled(answer, "usageMetadata", "usage_metadata")
    found: Any = answer.get(key, answer)
    if not isinstance(found, dict):
        return None
    prompt = _count(found, "promptTokenCount", "prompt_token_count")
    if not prompt:
        return None
    cached = _count(found, "cachedContentTokenCount", "cached_content_token_count")
    said = _count(found, "candidatesTokenCount", "candidates_token_count")
    thought = _count(found, "thoughtsTokenCount", "thoughts_token_count")
    return Usage(prompt=prompt, output=said + thought, cached=min(cached, prompt))


def _count(found: JsonObject, *keys: str) -> int:
    return numbers.count(found, spelled(found, *keys)) or 0


def error_body(status: int, words: str, /) -> JsonObject:
    """An error in this form's own shape."""
    said = _STATUS.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": words, "status": said}}


def text(words: str, /) -> Json:
    """A text part."""
    return {"text": words or content.NOTHING}


def message(role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
    """A content of `role` with these raw parts."""
    return {"role": "model" if role == "assistant" else "user", "parts": _listed(parts)}


def _listed(parts: Sequence[Json]) -> list[Json]:
    return [text(raw) if isinstance(raw, str) else raw for raw in parts if raw != ""]


def with_parts(json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
    """A copy of a content with these raw parts in place of its own."""
    old = json.get("parts") or ()
    if len(old) == len(parts) and all(a is b for a, b in zip(old, parts, strict=True)):
        return dict(json)
    return {**json, "parts": _listed(parts)}


def placeholder(part: Part, words: str, /) -> Json:
    """What stands in the place of a part: a text, or, among the media of a response, where no text may stand, a text file
    (function responses take `text/plain`: guide to function calling, 2026-08).
    """
    if not any(key in part.place for key in RESPONSES):
        return text(words)
    data = base64.b64encode(words.encode()).decode()
    if RESPONSES[0] in part.place:
        return {"inlineData": {"mimeType": "text/plain", "data": data}}
    return {"inline_data": {"mime_type": "text/plain", "data": data}}


def result_stub(call: Part, words: str, /) -> Json:
    """A raw response for `call` that failed and says `words`, in the spelling of the call and with its id where it has one."""
    key = RESPONSES[CALLS.index(spelled(call.raw, *CALLS))]
    held: JsonObject = {"name": call.name, "response": {"error": words or content.NOTHING}}
    given = inner(call.raw, *CALLS).get("id")
    return {key: {"id": given, **held} if given else held}


def set_result(raw: Json, words: str, /) -> Json:
    """A copy of a raw response whose whole content is the text `words`; its name, id and failure stay, its media go."""
    key, held = spelled(raw, *RESPONSES), inner(raw, *RESPONSES)
    response = held.get("response")
    failed = isinstance(response, dict) and list(response) == ["error"]
    out = {name: value for name, value in held.items() if name != "parts"}
    return {**raw, key: {**out, "response": {"error" if failed else "output": words or content.NOTHING}}}


def place_results(results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
    """The responses in a content of their own; then what follows."""
    made = message("user", results)
    return (made,) if after is None else (made, after)


def rename_call(raw: Json, new: str, /) -> Json:
    """A copy of a raw call or response with another id; one that has none answers by its place and stays as it is."""
    key = spelled(raw, *CALLS, *RESPONSES)
    held = inner(raw, key)
    return {**raw, key: {**held, "id": new}} if held.get("id") else raw


def set_media(json: JsonObject, part: Part, media: Media, /) -> JsonObject:
    """A copy of a content whose media `part` declares `media.declared` and carries `media.payload`."""
    return content.set_media(json, part, media)


def join(first: JsonObject, second: JsonObject, /) -> JsonObject:
    """Two neighbouring contents of one role as one."""
    return {**second, **first, "parts": _listed([*(first.get("parts") or ()), *(second.get("parts") or ())])}


def mark(json: JsonObject, _part: Part, _mark: Json | None, /) -> JsonObject:
    """The content as it is: this form has no cache marks."""
    return json
