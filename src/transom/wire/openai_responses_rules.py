"""What OpenAI's Responses API refuses, as far as the structure shows it, and what only stricter servers mind.

Sources of the words: answers of the API quoted in issues, November 2026: jeffdafoe/llm-memory-api 179, agno-agi/agno 9372 (calls
and outputs), vercel/ai 7099, openai/openai-agents-js 326 (reasoning); "" where a wording is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from transom.parts import Conversation, Message, Part
from transom.types import JsonObject
from transom.wire import pictures
from transom.wire.foreign import foreign
from transom.wire.form import Fault
from transom.wire.naming import PLAIN, misnamed, overlong
from transom.wire.openai_checks import CHECKED, LONGEST_ID
from transom.wire.openai_responses_items import kind, read
from transom.wire.openai_responses_kept import Kept, kept

STRICT: Final = "strict-pairs"
"""A quirk of compatible servers: they pair calls and outputs by position, each output right behind its call."""
_ANSWERS: Final = {
    "no-turns": "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    "open-call": "No tool output found for function call {id}.",
    "orphan-result": "No tool call found for function call output with call_id {id}.",
    "odd-name": f"Invalid 'input[{{index}}].name': string does not match pattern. Expected a string that matches the pattern "
    f"'{PLAIN}'.",
    "long-id": "Invalid 'input[{index}].call_id': string too long. Expected a string with maximum length 64, but got a string "
    "with length {count} instead.",
    "reasoning": "Item '{item}' of type 'reasoning' was provided without its required following item.",
}


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault: of calls and results first, then of reasoning, then of the end."""
    messages = conversation.messages
    if not messages and conversation.held:
        return []
    if not messages:
        says = "there is no item; a request has at least one"
        return [Fault(place="input", code="no-turns", says=says, answer=_ANSWERS["no-turns"])]
    unseen = bool(conversation.held) or any(_kind(message) == "reference" for message in messages)
    out = [*foreign(conversation, _own), *_pairs(messages, unseen=unseen), *_reasoning(messages)]
    out += [_fault(message, "odd-name", says) for message, _, says in misnamed(conversation)]
    if CHECKED in quirks:
        out += [_fault(message, "long-id", says) for message, _, says in overlong(conversation, LONGEST_ID)]
    out += [_refused(one) for one in kept(conversation, quirks, messages)]
    out += pictures.faults(conversation, quirks)
    if STRICT in quirks:
        out += _adjacent(messages)
    if messages[-1].role == "assistant" and (_kind(messages[-1]) == "reasoning" or "role" in messages[-1].json):
        says = "the talk ends with the assistant; stricter servers do not continue it"
        out.append(Fault(place=_place(messages[-1]), code="last-not-user", says=says, refused=False))
    return out


def _own(_: Message, part: Part) -> bool:
    return part.place == ()


def _place(message: Message) -> str:
    return f"input[{message.index}]"


def _kind(message: Message) -> str:
    """The kind of an item's part; "" of a message."""
    return message.parts[0].kind if len(message.parts) == 1 and message.parts[0].place == () else ""


def _refused(one: Kept) -> Fault:
    return Fault(place=_place(one.message), code=one.code, says=f"{one.what}; {one.so}", answer=one.answer)


def _fault(message: Message, code: str, says: str) -> Fault:
    part = message.parts[0]
    answer = _ANSWERS.get(code, "").format(index=message.index, id=part.id, count=len(part.id), item=message.json.get("id", ""))
    return Fault(place=_place(message), code=code, says=says, answer=answer)


def _pairs(messages: Sequence[Message], *, unseen: bool) -> Iterator[Fault]:
    """Every call is answered once, anywhere behind it. `unseen`: the provider holds items that may be calls."""
    calls: dict[str, Message] = {}
    answered: set[str] = set()
    for message in messages:
        kind = _kind(message)
        if kind == "call":
            part = message.parts[0]
            if not part.id or part.id in calls:
                what = f"the id {part.id!r} names two calls" if part.id else "the call has no id"
                yield _fault(message, "id", f"{what}; each needs one of its own")
            calls.setdefault(part.id, message)
        elif kind == "result":
            yield from _answer(message, message.parts[0], calls, answered, unseen=unseen)
    for id_, message in calls.items():
        if id_ not in answered:
            yield _fault(message, "open-call", f"the call {id_!r} has no output; answer it or leave it out")


def _answer(message: Message, part: Part, calls: dict[str, Message], answered: set[str], *, unseen: bool) -> Iterator[Fault]:
    if part.id not in calls and not (unseen and part.id):
        yield _fault(message, "orphan-result", f"the output answers {part.id!r}, which no item before it calls; leave it out")
    if part.id in answered:
        yield Fault(place=_place(message), code="id", says=f"the call {part.id!r} is answered twice; keep one output")
    answered.add(part.id)


def _reasoning(messages: Sequence[Message]) -> Iterator[Fault]:
    """Reasoning is followed by the item that it led to."""
    for message, after in zip(messages, (*messages[1:], None), strict=True):
        if _kind(message) == "reasoning" and (after is None or not leads_to(after.json)):
            yield _fault(message, "reasoning", "the reasoning lost the item that it led to; leave both out or neither")


def leads_to(json: JsonObject) -> bool:
    """Whether an item is one that reasoning leads to: a message of the assistant, a call, or an item that nobody here knows."""
    if kind(json) == "message":
        return json.get("role") == "assistant"
    role, part = read(json)
    return role == "assistant" and part.kind != "reasoning"


def _adjacent(messages: Sequence[Message]) -> Iterator[Fault]:
    for message, after in zip(messages, (*messages[1:], None), strict=True):
        if _kind(message) != "call":
            continue
        if after is None or _kind(after) != "result" or after.parts[0].id != message.parts[0].id:
            says = "the call's output does not stand right behind it; move it up"
            yield Fault(place=_place(message), code="interleaved", says=says)
