"""The body around a session's messages, and an answer as messages: what differs from form to form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from transom.errors import BadRequest
from transom.frozen import Frozen
from transom.types import Json, JsonObject

KEYS: Final[Mapping[str, str]] = {"openai-responses": "input", "gemini": "contents"}
"""The body's name for its messages, where that is not `messages`."""
_PLACES: Final[Mapping[str, str]] = {"openai-responses": "instructions", "gemini": "systemInstruction"}
_MODEL_ELSEWHERE: Final = frozenset({"gemini", "bedrock"})
"""Forms whose model stands in the address."""


class Reply(Frozen, frozen=True, kw_only=True):
    """An answer: the messages that it adds to the conversation, why it stopped, in the provider's own word, and who wrote it."""

    unshown = ("messages",)

    messages: tuple[JsonObject, ...]
    stop_reason: str
    model: str


def key(api: str) -> str:
    """The body's name for its list of messages."""
    return KEYS.get(api, "messages")


def around(api: str, model: str, fields: Mapping[str, Json]) -> tuple[JsonObject, JsonObject | None]:
    """The body without its messages, and the system message that stands in front of them where the form has it in the list."""
    body = {name: value for name, value in fields.items() if value is not None}
    if model and api not in _MODEL_ELSEWHERE:
        body = {"model": model, **body}
    system = body.pop("system", None)
    if system is None:
        return body, None
    if api == "openai-chat":
        return body, {"role": "system", "content": system}
    if api == "gemini" and isinstance(system, str):
        system = {"parts": [{"text": system}]}
    if api == "bedrock" and isinstance(system, str):
        system = [{"text": system}]
    return {**body, _PLACES.get(api, "system"): system}, None


def reply(api: str, answer: JsonObject) -> Reply:
    """A provider's answer. Raises BadRequest for what is none of this form."""
    try:
        messages, stop = _READERS.get(api, _anthropic)(answer)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else "its parts are not where that form has them"
        raise BadRequest(f"this is no answer of {api}: {what}; pass the provider's whole answer") from error
    model = answer.get("model", answer.get("modelVersion", ""))
    return Reply(messages=messages, stop_reason=str(stop or ""), model=model if isinstance(model, str) else "")


_Read = tuple[tuple[JsonObject, ...], Json]


def _anthropic(answer: JsonObject) -> _Read:
    return ({"role": answer["role"], "content": answer["content"]},), answer.get("stop_reason")


def _chat(answer: JsonObject) -> _Read:
    choice = answer["choices"][0]
    return ({**choice["message"]},), choice.get("finish_reason")


def _responses(answer: JsonObject) -> _Read:
    details = answer.get("incomplete_details")
    stop = details.get("reason") if isinstance(details, dict) else answer.get("status")
    calls = any(item["type"].endswith("_call") for item in answer["output"])
    return tuple({**item} for item in answer["output"]), "tool_calls" if calls and stop == "completed" else stop


def _gemini(answer: JsonObject) -> _Read:
    found, feedback = answer.get("candidates"), answer.get("promptFeedback")
    if not found and isinstance(feedback, dict):
        return (), feedback.get("blockReason", "BLOCKED")
    candidate = answer["candidates"][0]
    if candidate.get("content") is None and candidate.get("finishReason"):  # what was blocked has no message
        return (), candidate["finishReason"]
    content = candidate["content"]
    return ({**content} if "role" in content else {"role": "model", **content},), candidate.get("finishReason")


def _bedrock(answer: JsonObject) -> _Read:
    return ({**answer["output"]["message"]},), answer.get("stopReason")


def _blocks(answer: JsonObject) -> _Read:
    return ({name: value for name, value in answer.items() if name not in ("usage", "stop_reason")},), answer.get("stop_reason")


_READERS: Final[Mapping[str, Callable[[JsonObject], _Read]]] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "blocks": _blocks,
}
