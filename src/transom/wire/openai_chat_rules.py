"""What OpenAI Chat Completions refuses, as far as the structure shows it, and what only stricter servers mind.

Source of the words: answers of the API quoted in public issues, November 2026; "" where a wording is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from transom.parts import Conversation, Message, Part, spell
from transom.wire import pictures
from transom.wire.foreign import foreign
from transom.wire.form import Fault
from transom.wire.naming import PLAIN, misnamed, overlong
from transom.wire.openai_checks import CHECKED, LONGEST_ID

_OPEN: Final = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
    "tool_call_ids did not have response messages: "
)
_NO_TURNS: Final = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
_PATTERN: Final = f"string does not match pattern. Expected a string that matches the pattern '{PLAIN}'."
_TOO_LONG: Final = (
    "Invalid '{place}.id': string too long. Expected a string with maximum length 64, but got a string with length {count} "
    "instead."
)
_ORPHAN: Final = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault: of calls and results first, then of single messages, then of the order of roles."""
    messages = conversation.messages
    if not messages:
        says = "there is no message; a request has at least one"
        return [Fault(place="messages", code="no-turns", says=says, answer=_NO_TURNS)]
    out = [*foreign(conversation, _own), *_pairs(messages)]
    for message in messages:
        if message.role == "assistant" and _blank(message):
            says = "the answer has no content and makes no calls; leave it out"
            out.append(Fault(place=f"messages[{message.index}].content", code="empty", says=says))
    for message, part, says in misnamed(conversation):
        place = spell(("messages", message.index, *part.place))
        answer = f"Invalid 'messages[{message.index}].tool_calls[{part.place[-1]}].function.name': {_PATTERN}"
        out.append(Fault(place=place, code="odd-name", says=says, answer=answer))
    if CHECKED in quirks:
        out += [_long(message, part, says) for message, part, says in overlong(conversation, LONGEST_ID)]
    out += [*_silent(messages), *pictures.faults(conversation, quirks), *_order(messages)]
    return out


def _own(message: Message, part: Part) -> bool:
    return part.place == () or (message.role == "assistant" and part.place[0] in ("tool_calls", "function_call"))


def _long(message: Message, part: Part, says: str) -> Fault:
    place = spell(("messages", message.index, *part.place))
    return Fault(place=f"{place}.id", code="long-id", says=says, answer=_TOO_LONG.format(place=place, count=len(part.id)))


def _silent(messages: tuple[Message, ...]) -> Iterator[Fault]:
    """The user says something: no content, or an empty list, is refused, an empty text is not."""
    for message in messages:
        if message.role == "user" and not message.parts and message.json.get("content") in (None, []):
            place, says = f"messages[{message.index}].content", "the user's message has no content; say something or leave it out"
            answer = "Invalid value for 'content': expected a string, got null." if message.json.get("content") is None else ""
            yield Fault(place=place, code="no-content", says=says, answer=answer)


def _blank(message: Message) -> bool:
    parts = [part for part in message.parts if part.kind != "reasoning"]
    return not parts or (len(parts) == 1 and parts[0].place == ("content",) and not parts[0].text)


def _pairs(messages: tuple[Message, ...]) -> Iterator[Fault]:
    """Every call is answered by the tool messages right behind it, each once."""
    last: dict[str, int] = {}
    for message in messages:
        if _is_tool(message):
            last[message.parts[0].id] = message.index
    seen: set[str] = set()
    open_: dict[str, list[Fault]] = {}
    group: set[str] = set()
    for message in messages:
        if _is_tool(message):
            yield from _answer(message, open_, group)
            continue
        for name, left in open_.items():
            yield from map(_late, left) if last.get(name, -1) >= message.index else left
        open_, group = {}, set()
        for part in message.parts:
            if part.kind == "call" and part.place[0] == "tool_calls":
                yield from _call(message, part, seen, open_, group)
    for left in open_.values():
        yield from left


def _is_tool(message: Message) -> bool:
    return bool(message.json.get("role") == "tool")


def _answer(message: Message, open_: dict[str, list[Fault]], group: set[str]) -> Iterator[Fault]:
    place, part = f"messages[{message.index}]", message.parts[0]
    if not part.id:
        says = "the result has no `tool_call_id`; it must name the call it answers"
        answer = f"Missing required parameter: 'messages[{message.index}].tool_call_id'."
        yield Fault(place=place, code="id", says=says, answer=answer)
    if open_.get(part.id):
        open_[part.id].pop()
    elif part.id in group:
        yield Fault(place=place, code="id", says=f"the call {part.id!r} is answered twice; keep one result")
    else:
        says = f"the result answers {part.id!r}, which the message before it does not call; leave it out"
        yield Fault(place=place, code="orphan-result", says=says, answer=_ORPHAN)
    if isinstance(message.json.get("content"), list) and any(_type(inner) != "text" for inner in part.parts):
        says = "a tool message holds more than text; move pictures to a user message"
        yield Fault(place=f"{place}.content", code="media-in-tool", says=says)


def _type(part: Part) -> str:
    return str(part.raw.get("type"))


def _call(message: Message, part: Part, seen: set[str], open_: dict[str, list[Fault]], group: set[str]) -> Iterator[Fault]:
    place = spell(("messages", message.index, *part.place))
    if not part.id or part.id in group:
        what = f"the id {part.id!r} names two calls of this message" if part.id else "the call has no id"
        yield Fault(place=place, code="id", says=f"{what}; each needs one of its own")
    elif part.id in seen:
        says = f"{part.id!r} named a call before; stricter servers want ids that are used once"
        yield Fault(place=place, code="id-reused", says=says, refused=False)
    seen.add(part.id)
    group.add(part.id)
    says = f"the call {part.id!r} has no result behind it; answer it or leave it out"
    fault = Fault(place=place, code="open-call", says=says, answer=f"{_OPEN}{part.id}")
    open_.setdefault(part.id, []).append(fault)
    if not part.name:
        says = "the call has no name; it must say which tool it calls"
        yield Fault(place=place, code="name", says=says)
    if not isinstance(part.raw.get("custom"), dict) and not _parses(part):
        says = "the arguments are no JSON text; replace them by an object"
        yield Fault(place=f"{place}.function.arguments", code="bad-arguments", says=says)


def _late(fault: Fault) -> Fault:
    return replace(fault, code="interleaved", says="the call's result does not stand right behind it; move it up")


def _parses(part: Part) -> bool:
    held = part.raw.get("function")
    if not isinstance(held, dict) or "arguments" not in held:
        return False
    given = held["arguments"]
    if given and not isinstance(given, str):
        return False
    try:
        json.loads(given or "{}")
    except (ValueError, RecursionError):
        return False
    return True


def _order(messages: tuple[Message, ...]) -> Iterator[Fault]:
    """The order of roles, which the provider takes as it comes and stricter servers and templates do not."""
    talk = [(message.json["role"], message.index) for message in messages if message.role != "system"]
    if talk and talk[0][0] != "user":
        yield _style(talk[0][1], "first-not-user", f"the talk opens with the role {talk[0][0]!r}; stricter servers want the user")
    if talk and talk[-1][0] == "assistant":
        yield _style(talk[-1][1], "last-not-user", "the talk ends with the assistant; stricter servers do not continue it")
    found = next((late for (one, _), (two, late) in pairwise(talk) if one == two != "tool"), None)
    if found is None:
        found = next((message.index for message in messages[1:] if message.json["role"] == "system"), None)
    if found is not None:
        yield _style(found, "not-alternating", "roles do not alternate here; stricter servers want them to")


def _style(index: int, code: str, says: str) -> Fault:
    return Fault(place=f"messages[{index}]", code=code, says=says, refused=False)
