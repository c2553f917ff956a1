"""Items of Responses that the provider knows by an id: each stands in a request once, and reasoning goes with what it holds.

The rule: what is asked of an item here depends on the items before it, so neither `slips` nor pairing's mends of one message can
see to it; lint and pairing both go by this list. Sources of the words, 2026-11: answers quoted in earendil-works/pi 5149
(2026-05), HKUDS/nanobot 3633 (2026-05), vercel/ai 13383 (2026-03: an id that stands twice), vercel/ai 7099 (`store`
false).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from transom import edit
from transom.frozen import Frozen
from transom.parts import Conversation, Message
from transom.types import JsonObject
from transom.wire.openai_checks import CHECKED
from transom.wire.openai_responses_items import kind

_TWICE: Final = "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
_LOST: Final = (
    "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or "
    "remove this item from your input."
)
_ALONE: Final = "Item '{id}' of type '{type}' was provided without its required preceding item of type 'reasoning'"
_NAMELESS: Final = ("message", "function_call", "custom_tool_call")
"""Items that may go without their id."""


class Kept(Frozen, frozen=True, kw_only=True):
    """An item that cannot go out as it is, and what goes out instead: None where it goes. `what` and `so` say it in words."""

    message: Message
    code: str
    what: str
    so: str
    answer: str
    now: JsonObject | None = None


def kept(conversation: Conversation, quirks: frozenset[str], messages: Sequence[Message]) -> Iterator[Kept]:
    """Each such item among `messages`, which are those of the conversation or what was made of them."""
    if conversation.api != "openai-responses" or CHECKED not in quirks:
        return
    unsaved = conversation.body.get("store") is False
    seen: dict[str, list[JsonObject]] = {}
    led = False
    for message in messages:
        json = message.json
        given, said = json.get("id"), kind(json)
        led = led and message.role == "assistant"
        if not isinstance(given, str) or not given or message.role == "tool":
            continue
        if unsaved and said == "reasoning" and not json.get("encrypted_content"):
            led = True
            what, so = "reasoning that the provider did not keep", "leave it out"
            yield Kept(message=message, code="unsaved", what=what, so=so, answer=_LOST.format(id=given))
        elif given in seen:
            yield from _twice(message, said, seen[given])
            seen[given].append(json)
        elif led and said in _NAMELESS:
            what, so = "the id of an item whose reasoning the provider did not keep", "leave the id out"
            yield _without_id(message, "unsaved", what, so, _ALONE.format(id=given, type=said))
        else:
            seen[given] = [json]


def _twice(message: Message, said: str, before: Sequence[JsonObject]) -> Iterator[Kept]:
    """An item whose id an earlier one has. What it is by that id alone goes, and so does the very same one."""
    given = message.json["id"]
    answer = _TWICE.format(id=given)
    if said in _NAMELESS:
        yield _without_id(message, "item-twice", f"the id {given!r} of an earlier item", "leave the id out", answer)
    elif said in ("reasoning", "item_reference") or (message.role == "assistant" and message.json in before and _bare(message)):
        what, so = f"an item that stands here before, by its id {given!r}", "leave it out"
        yield Kept(message=message, code="item-twice", what=what, so=so, answer=answer)


def _bare(message: Message) -> bool:
    """Whether nothing answers an item: what is called and answered is matched by other ids."""
    return all(part.kind not in ("call", "result") for part in message.parts)


def _without_id(message: Message, code: str, what: str, so: str, answer: str) -> Kept:
    now = edit.remove(message.json, [("id",)])
    return Kept(message=message, code=code, what=what, so=so, answer=answer, now=now)
