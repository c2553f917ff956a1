"""What Anthropic refuses, as far as the structure shows it, and in its own words.

The rule: neighbouring messages of one role are one turn, and each fault is placed in the message that it was written in. Sources
of the words, 2026-11: the docs of the API's errors (platform.claude.com), and answers quoted in issues: anthropics/claude-code
3196, 3397, 8210, 13381, 13460, 24541, 64383, anomalyco/opencode 3077, tailcallhq/forgecode 2107.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.parts import Conversation, Kind, Message, Part, spell, walk
from transom.wire.form import Fault
from transom.wire.turns import Turn, turns

MOST_MARKS: Final = 4
"""Cache marks in one request (prompt caching guide, 2026-08)."""

_SERVED: Final[tuple[Kind, ...]] = ("server-call", "server-result")
_ANSWERS: Final = {
    "no-turns": "messages: at least one message is required",
    "no-content": "messages.{index}: all messages must have non-empty content except for the optional final assistant message",
    "empty": "messages: text content blocks must be non-empty",
    "blank": "messages: text content blocks must contain non-whitespace text",
    "id": "messages.{index}.content.{at}: `tool_use` ids must be unique",
    "answered-twice": "messages.{index}.content.{at}: each tool_use must have a single result. Found multiple `tool_result` "
    "blocks with id: {id}",
    "orphan-result": "messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each "
    "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
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
    "breakpoints": "A maximum of {most} blocks with cache_control may be provided. Found {count}.",
}
"""The provider's words by fault."""


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault: those of single messages first, then of turns, then of the whole."""
    if not conversation.messages:
        says = "there is no message; a request has at least one"
        return [Fault(place="messages", code="no-turns", says=says, answer=_ANSWERS["no-turns"])]
    merged = turns(conversation.messages)
    out = [fault for message in conversation.messages for fault in _empty(message)]
    seen: set[str] = set()
    for before, turn in zip((None, *merged), merged, strict=False):
        out.extend(_ids(turn, seen))
        out.extend(_pairs(before, turn))
    for turn, after in zip(merged, (*merged[1:], None), strict=True):
        out.extend(_served(turn, after))
        out.extend(_ends_thinking(turn))
    out.extend(_edges(merged, quirks))
    out.extend(_starts_unthinking(conversation, merged))
    out.extend(_marks(conversation))
    return out


def _fault(index: int, part: Part, code: str, says: str, words: str = "") -> Fault:
    """A fault of one part; `words` names the provider's answer where that is not the one for `code`."""
    kind = part.raw.get("type") if isinstance(part.raw, dict) else "text"
    at = part.place[-1] if len(part.place) > 1 else 0
    answer = _ANSWERS.get(words or code, "").format(index=index, at=at, id=part.id, kind=kind)
    return Fault(place=spell(("messages", index, *part.place)), code=code, says=says, answer=answer)


def _empty(message: Message) -> Iterator[Fault]:
    if not message.parts:
        says = "the message has no content; give it a part or leave it out"
        answer = _ANSWERS["no-content"].format(index=message.index)
        yield Fault(place=f"messages[{message.index}]", code="empty", says=says, answer=answer)
    for part in message.parts:
        if part.kind == "text" and not part.text.strip():
            what = "holds white space alone" if part.text else "is empty"
            yield _fault(message.index, part, "empty", f"the text {what}; leave the part out", "blank" if part.text else "")


def _ids(turn: Turn, seen: set[str]) -> Iterator[Fault]:
    for index, part in turn.of("call"):
        if not part.id or part.id in seen:
            what = f"the id {part.id!r} names two calls" if part.id else "the call has no id"
            yield _fault(index, part, "id", f"{what}; each needs one of its own")
        seen.add(part.id)


def _pairs(before: Turn | None, turn: Turn) -> Iterator[Fault]:
    """Results stand first in the user turn right behind their calls, each call answered once."""
    got = turn.of("result")
    if not got and (before is None or "call" not in before.kinds):
        return
    if turn.role != "user":
        if got:
            yield _fault(*got[0], "orphan-result", "a result stands in a turn that is not the user's; move it to the user's turn")
        return
    asked = before.of("call") if before is not None and before.role == "assistant" else []
    known = {call.id for _, call in asked}
    for index, result in got:
        if result.id not in known:
            says = f"the result answers {result.id!r}, which the turn before does not call; leave it out"
            yield _fault(index, result, "orphan-result", says)
    answered: set[str] = set()
    twice: tuple[int, Part] | None = None
    for index, result in got:
        twice = (index, result) if result.id in answered else twice
        answered.add(result.id)
    if twice is not None:
        yield _fault(*twice, "id", f"the call {twice[1].id!r} is answered twice; keep one result", "answered-twice")
    for index, call in asked:
        if call.id not in answered:
            yield _open(index, call)
    yield from _interleaved(turn, got)


def _open(index: int, call: Part) -> Fault:
    return _fault(index, call, "open-call", f"the call {call.id!r} has no result in the next turn; answer it or leave it out")


def _interleaved(turn: Turn, got: list[tuple[int, Part]]) -> Iterator[Fault]:
    left = len(got)
    for index, part in turn.parts:
        if not left:
            return
        if part.kind != "result":
            yield _fault(index, part, "interleaved", "this stands before a result of the same turn; results come first")
            return
        left -= 1


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
            yield _fault(index, part, "orphan-server-result", says)
    if not open_ or after is None or all(part.kind == "result" for _, part in after.parts):
        return
    answered = {part.id for _, part in turn.parts if part.kind in ("result", "server-result")}
    left = next((found for name, found in open_.items() if name not in answered), None)
    if left is not None:
        says = f"the server call {left[1].id!r} has no result and the talk goes on; leave it out"
        yield _fault(*left, "open-server-call", says)


def _ends_thinking(turn: Turn) -> Iterator[Fault]:
    if turn.role == "assistant" and turn.parts and turn.parts[-1][1].kind == "reasoning":
        says = "the turn ends with thinking; leave it out, or let text or a call follow it"
        yield _fault(*turn.parts[-1], "reasoning", says, "ends-thinking")


def _edges(merged: list[Turn], quirks: frozenset[str]) -> Iterator[Fault]:
    first, last = merged[0], merged[-1]
    waiting = last.of("call")
    if waiting:
        yield _open(*waiting[-1])
    if first.role != "user":
        says = f"the first message has the role {first.role!r}; it must be the user's"
        yield Fault(place=f"messages[{first.index}]", code="first-not-user", says=says, answer=_ANSWERS["first-not-user"])
    if last.role == "assistant":
        yield Fault(
            place=f"messages[{last.last}]",
            code="last-not-user",
            says="the last message is the assistant's, which newer models do not continue; end with the user's",
            answer=_ANSWERS["last-not-user"],
            refused="no-prefill" in quirks,
        )


def _starts_unthinking(conversation: Conversation, merged: list[Turn]) -> Iterator[Fault]:
    """With thinking enabled, the last turn of the assistant starts with thinking if it calls a tool."""
    setting = conversation.body.get("thinking")
    if not isinstance(setting, dict) or setting.get("type") != "enabled":
        return
    turn = next((turn for turn in reversed(merged) if turn.role == "assistant"), None)
    if turn is not None and turn.of("call") and turn.parts[0][1].kind != "reasoning":
        says = "thinking is enabled and the assistant's last turn calls a tool without thinking first; keep its thinking"
        yield _fault(*turn.parts[0], "reasoning", says, "starts-unthinking")


def _marks(conversation: Conversation) -> Iterator[Fault]:
    top = (*conversation.system, *(part for message in conversation.messages for part in message.parts))
    count = sum(part.marked for part in walk(top))
    count += sum(tool.get("cache_control") is not None for tool in conversation.tools)
    count += conversation.body.get("cache_control") is not None
    if count > MOST_MARKS:
        says = f"there are {count} cache marks; at most {MOST_MARKS} are taken, leave the oldest out"
        answer = _ANSWERS["breakpoints"].format(most=MOST_MARKS, count=count)
        yield Fault(place="", code="breakpoints", says=says, answer=answer)
