"""What Anthropic refuses, as far as the structure shows it, and in its own words.

The rule: neighbouring messages of one role are one turn, and each fault is placed in the message that it was written in. Sources
of the words, 2026-11: the docs of the API's errors (platform.claude.com), and answers quoted in issues: anthropics/claude-code
3196, 3397, 6696, 8210, 13381, 13460, 24541, 50082, 64383, anomalyco/opencode 3077, tailcallhq/forgecode 1853, 2107,
headroomlabs-ai/headroom 2939, cnighswonger/claude-code-cache-fix 44 (the order of cache marks).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.parts import Conversation, Kind, Message, Part, spell, walk
from transom.types import JsonObject, Place
from transom.wire.foreign import foreign
from transom.wire.form import Fault
from transom.wire.naming import ODD, PLAIN, misnamed, misspelled
from transom.wire.turn_rules import TurnRules
from transom.wire.turns import Turn, turns

MOST_MARKS: Final = 4
"""Cache marks in one request (prompt caching guide, 2026-08)."""

_SERVED: Final[tuple[Kind, ...]] = ("server-call", "server-result")
_ANSWERS: Final = {
    "no-turns": "messages: at least one message is required",
    "no-content": "messages.{index}: all messages must have non-empty content except for the optional final assistant message",
    "empty": "messages: text content blocks must be non-empty",
    "blank": "messages: text content blocks must contain non-whitespace text",
    "marked": "messages.{index}.content.{at}.text: cache_control cannot be set for empty text blocks",
    "id": "messages.{index}.content.{at}: `tool_use` ids must be unique",
    "odd-id": "messages.{index}.content.{at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "odd-name": "messages.{index}.content.{at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'",
    "answered-twice": "messages.{index}.content.{at}: each tool_use must have a single result. Found multiple `tool_result` "
    "blocks with id: {id}",
    "orphan-result": "messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each "
    "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
    "failed-result": "messages.{index}.content.{at}.tool_result: all content must be type `text` if `is_error` is true",
    "failed-silent": "messages.{index}.content.{at}.tool_result: content cannot be empty if `is_error` is true",
    "input": "messages.{index}.content.{at}.tool_use.input: Input should be a valid dictionary",
    "open-call": "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message.",
    "orphan-server-result": "messages.{index}.content.{at}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each "
    "`{kind}` block must have a corresponding `server_tool_use` block before it.",
    "ends-thinking": "messages.{index}: The final block in an assistant message cannot be `thinking`.",
    "starts-unthinking": "messages.{index}.content.{at}.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. "
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
    "`tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this "
    "requirement, disable `thinking`.",
    "first-not-user": 'messages: first message must use the "user" role',
    "last-not-user": "This model does not support assistant message prefill. The conversation must end with a user message.",
    "trailing": "messages: final assistant content cannot end with trailing whitespace",
    "final-thinking": "messages.{index}.content.{at}: When thinking is disabled, an `assistant` message in the final position "
    "cannot contain `{kind}`. To use thinking blocks, enable `thinking` in your request.",
    "breakpoints": "A maximum of {most} blocks with cache_control may be provided. Found {count}.",
    "ttl-order": "{at}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
    "Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
}
"""The provider's words by fault."""


_RULES: Final = TurnRules(_ANSWERS)


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault: those of single messages first, then of turns, then of the whole."""
    if not conversation.messages:
        return [_RULES.no_turns()]
    merged = turns(conversation.messages)
    out = [*foreign(conversation, _own), *_RULES.paired(conversation.messages, merged)]
    out.extend(_spelled(conversation))
    for turn, after in zip(merged, (*merged[1:], None), strict=True):
        out.extend(_served(turn, after))
        out.extend(_RULES.ends_thinking(turn))
    out.extend(_RULES.edges(merged, quirks))
    if conversation.thinks:
        out.extend(_RULES.starts_unthinking(merged))
    if "signed-thinking" in quirks and conversation.unthinking:
        out.extend(_final_thinking(merged[-1]))
    out.extend(_marks(conversation))
    out.extend(_late_marks(conversation))
    return out


def _own(_: Message, part: Part) -> bool:
    return isinstance(part.raw, dict) and (part.kind in _SERVED or part.raw.get("type") in ("tool_use", "tool_result"))


def _spelled(conversation: Conversation) -> Iterator[Fault]:
    """Ids and names of calls are of few characters."""
    for message, part in misspelled(conversation, ODD):
        says = f"the id is {part.id!r}; it must match {PLAIN}, in the call and in its result"
        yield _RULES.fault(message.index, part, "odd-id", says)
    for message, part, says in misnamed(conversation):
        yield _RULES.fault(message.index, part, "odd-name", says)


def _served(turn: Turn, after: Turn | None) -> Iterator[Fault]:
    """Results of tools that the provider runs stand behind their call in the same turn."""
    if turn.kinds.isdisjoint(_SERVED):
        return
    open_: dict[str, tuple[int, Part]] = {}
    for index, part in turn.parts:
        if part.kind == "server-call" and part.raw.get("type") == "server_tool_use":
            open_[part.id] = (index, part)
        elif part.kind == "server-result" and part.raw.get("type") != "mcp_tool_result" and part.id not in open_:
            says = f"the result answers {part.id!r}, which no server call before it in this turn has; leave it out"
            yield _RULES.fault(index, part, "orphan-server-result", says)
    if not open_ or after is None or all(part.kind == "result" for _, part in after.parts):
        return
    answered = {part.id for _, part in turn.parts if part.kind in ("result", "server-result")}
    left = next((found for name, found in open_.items() if name not in answered), None)
    if left is not None:
        says = f"the server call {left[1].id!r} has no result and the talk goes on; leave it out"
        yield _RULES.fault(*left, "open-server-call", says)


def _marks(conversation: Conversation) -> Iterator[Fault]:
    top = (*conversation.system, *(part for message in conversation.messages for part in message.parts))
    count = sum(part.marked for part in walk(top))
    count += sum(tool.get("cache_control") is not None for tool in conversation.tools)
    count += conversation.body.get("cache_control") is not None
    if count > MOST_MARKS:
        says = f"there are {count} cache marks; at most {MOST_MARKS} are taken, leave the oldest out"
        answer = _ANSWERS["breakpoints"].format(most=MOST_MARKS, count=count)
        yield Fault(place="", code="breakpoints", says=says, answer=answer)


def _final_thinking(last: Turn) -> Iterator[Fault]:
    """An answer that the model is to go on with without thinking holds none."""
    found = last.of("reasoning") if last.role == "assistant" else []
    if found:
        says = "the request asks for no thinking, and the answer to go on with holds some; leave it out, or enable thinking"
        yield _RULES.fault(*found[0], "final-thinking", says)


def _late_marks(conversation: Conversation) -> Iterator[Fault]:
    """Cache marks of an hour stand before those of five minutes, in the order of the prompt."""
    found: list[tuple[Place, JsonObject]] = [(("tools", n), tool) for n, tool in enumerate(conversation.tools)]
    found += [(part.place, part.raw) for part in walk(conversation.system) if part.marked]
    for message in conversation.messages:
        found += [((conversation.key, message.index, *part.place), part.raw) for part in walk(message.parts) if part.marked]
    short = False
    for place, raw in found:
        mark = raw.get("cache_control")
        if not isinstance(mark, dict):
            continue
        if mark.get("ttl") == "1h" and short:
            says = "a cache mark of an hour stands behind one of five minutes; let it hold five minutes, too"
            answer = _ANSWERS["ttl-order"].format(at=".".join(map(str, place)))
            yield Fault(place=spell((*place, "cache_control", "ttl")), code="ttl-order", says=says, answer=answer)
        short = short or mark.get("ttl") != "1h"
