"""Fields beside the messages that a provider wants: the model, the tools that were called, and how long an answer may get.

The rule: these are for `lint` alone. Stored talks have no such fields; who sends one completes it, so no fit fails for them.
Sources: references of Messages, Chat Completions, Responses and Converse, 2026-11; the words are those that the APIs answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.edit import look
from transom.frozen import Frozen
from transom.parts import Conversation, spell
from transom.types import Json, Place
from transom.wire.content import short
from transom.wire.form import Fault


class _Field(Frozen, frozen=True):
    """A field that holds a whole number of tokens, `least` or more. `answer` where it must be there and is not."""

    place: Place
    least: int = 1
    needed: bool = False
    answer: str = ""


_MODEL: Final = {
    "anthropic": "model: Field required",
    "openai-chat": "you must provide a model parameter",
    "openai-responses": "",
}
"""Forms whose body names the model, and what is answered where it does not; the others have it in the URL."""
_ELSEWHERE: Final = {"anthropic": "anthropic_version", "openai-responses": "prompt"}
"""A field whose bodies need no model: Anthropic's on other platforms, and a prompt that is stored with its model."""
CODES: Final = frozenset({"model", "max-tokens", "tools"})
"""The codes of these faults, which no fit mends: the fields are the sender's."""
_TOOLS: Final = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
_FIELDS: Final[dict[str, tuple[_Field, ...]]] = {
    "anthropic": (_Field(("max_tokens",), needed=True, answer="max_tokens: Field required"),),
    "openai-chat": (_Field(("max_tokens",)), _Field(("max_completion_tokens",))),
    "openai-responses": (_Field(("max_output_tokens",), least=16),),
    "gemini": (_Field(("generationConfig", "maxOutputTokens")),),
    "bedrock": (_Field(("inferenceConfig", "maxTokens")),),
}


def faults(conversation: Conversation) -> list[Fault]:
    """Each field that is missing or holds what it cannot."""
    api, body = conversation.api, conversation.body
    out: list[Fault] = []
    if api in _MODEL and not conversation.model and body.get(_ELSEWHERE.get(api, "model")) is None:
        out.append(Fault(place="model", code="model", says="the body names no model; say which one", answer=_MODEL[api]))
    if api == "bedrock" and not conversation.tools and _uses_tools(conversation):
        says = "the talk calls tools and the request declares none; say which there are"
        out.append(Fault(place="toolConfig", code="tools", says=says, answer=_TOOLS))
    for field in _FIELDS.get(api, ()):
        out += _number(field, look(body, field.place))
    return out


def _uses_tools(conversation: Conversation) -> bool:
    return any(part.kind in ("call", "result") for message in conversation.messages for part in message.parts)


def _number(field: _Field, given: Json) -> Iterator[Fault]:
    place = spell(field.place)
    if given is None:
        if field.needed:
            says = "there is no limit of the answer's tokens; say one"
            yield Fault(place=place, code="max-tokens", says=says, answer=field.answer)
        return
    if type(given) is not int or given < field.least:
        what = given if isinstance(given, (int, float)) and not isinstance(given, bool) else short(given)
        says = f"this is {what}; it must be a whole number of tokens from {field.least} on"
        yield Fault(place=place, code="max-tokens", says=says)
