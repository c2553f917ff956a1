"""What Anthropic refuses, as far as the structure shows it, and in its own words.

Sources of the words: issues of anthropics/claude-code (13381, 3397, 24541, 8210, 13460, 64383) and
platform.claude.com/docs/en/api/errors, November 2026; "" where a wording is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.parts import Conversation, Message, Part, spell, walk
from transom.wire.form import Fault
from transom.wire.turns import Turn, turns

MOST_MARKS: Final = 4


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault, in the order of the body."""
    if not conversation.messages:
        return [Fault(place="messages", code="no-turns", says="there is no message; a request has at least one",
                      answer="messages: at least one message is required")]  # fmt: skip
    merged = turns(conversation.messages)
    out = [fault for message in conversation.messages for fault in _empty(message)]
    seen: set[str] = set()
    before: Turn | None = None
    for turn in merged:
        out.extend(_ids(turn, seen))
        out.extend(_pairs(before, turn))
        before = turn
    for turn, after in zip(merged, (*merged[1:], None), strict=True):
        out.extend(_served(turn, after))
        out.extend(_ends_thinking(turn))
    out.extend(_edges(merged, quirks))
    out.extend(_thinks(conversation, merged))
    out.extend(_marks(conversation))
    return out


def _empty(message: Message) -> Iterator[Fault]:
    place = f"messages[{message.index}]"
    if not message.parts:
        yield Fault(place=place, code="empty", says="the message has no content; give it a part or leave it out",
                    answer=f"messages.{message.index}: all messages must have non-empty content except for the optional "
                    "final assistant message")  # fmt: skip
    for part in message.parts:
        if part.kind == "text" and not part.text.strip():
            yield Fault(place=spell(("messages", message.index, *part.place)), code="empty",
                        says="the text is empty; leave the part out",
                        answer="messages: text content blocks must be non-empty")  # fmt: skip


def _ids(turn: Turn, seen: set[str]) -> Iterator[Fault]:
    for index, part in turn.of("call"):
        if not part.id or part.id in seen:
            what = f"the id {part.id!r} names two calls" if part.id else "the call has no id"
            yield Fault(place=spell(("messages", index, *part.place)), code="id", says=f"{what}; each needs one of its own",
                        answer=f"messages.{index}.content.{part.place[-1]}: `tool_use` ids must be unique")  # fmt: skip
        seen.add(part.id)


def _pairs(before: Turn | None, turn: Turn) -> Iterator[Fault]:
    """Results stand first in the user turn right behind their calls, each call answered once."""
    got = turn.of("result")
    if turn.role != "user":
        if got:
            yield _orphan(*got[0], "a result stands in a turn of the assistant; results belong into the user's turn")
        return
    asked = before.of("call") if before is not None and before.role == "assistant" else []
    known = {call.id for _, call in asked}
    for index, result in got:
        if result.id not in known:
            yield _orphan(index, result, f"the result answers {result.id!r}, which the turn before does not call")
    answered = [result.id for _, result in got]
    if len(set(answered)) != len(answered):
        index, twice = next((i, r) for i, r in reversed(got) if answered.count(r.id) > 1)
        yield Fault(place=spell(("messages", index, *twice.place)), code="id",
                    says=f"{twice.id!r} is answered twice; keep one result for each call",
                    answer=f"messages.{index}.content.{twice.place[-1]}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {twice.id}")  # fmt: skip
    done = set(answered)
    for index, call in asked:
        if call.id not in done:
            yield _open(index, call)
    yield from _interleaved(turn, got)


def _interleaved(turn: Turn, got: list[tuple[int, Part]]) -> Iterator[Fault]:
    if not got:
        return
    last = got[-1][1]
    for index, part in turn.parts:
        if part is last:
            return
        if part.kind != "result":
            yield Fault(place=spell(("messages", index, *part.place)), code="interleaved",
                        says="this stands before a result of the same turn; results come first")  # fmt: skip
            return


def _orphan(index: int, part: Part, says: str) -> Fault:
    return Fault(place=spell(("messages", index, *part.place)), code="orphan-result", says=says,
                 answer=f"messages.{index}.content.{part.place[-1]}: unexpected `tool_use_id` found in `tool_result` blocks: "
                 f"{part.id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                 "message.")  # fmt: skip


def _open(index: int, call: Part) -> Fault:
    return Fault(place=spell(("messages", index, *call.place)), code="open-call",
                 says=f"the call {call.id!r} has no result in the next turn; answer it or leave it out",
                 answer=f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {call.id}. "
                 "Each `tool_use` block must have a corresponding `tool_result` block in the next message.")  # fmt: skip


def _served(turn: Turn, after: Turn | None) -> Iterator[Fault]:
    """Results of tools that the provider runs stand behind their call in the same turn."""
    open_: dict[str, tuple[int, Part]] = {}
    served: set[str] = set()
    for index, part in turn.parts:
        if part.kind == "server-call" and part.raw.get("type") == "server_tool_use":
            served.add(part.id)
            open_[part.id] = (index, part)
        elif part.kind == "server-result" and part.raw.get("type") != "mcp_tool_result" and part.id not in served:
            kind = part.raw.get("type")
            yield Fault(place=spell(("messages", index, *part.place)), code="orphan-server-result",
                        says=f"the result answers {part.id!r}, which no server call before it in this turn has",
                        answer=f"messages.{index}.content.{part.place[-1]}: unexpected `tool_use_id` found in `{kind}` "
                        f"blocks: {part.id}. Each `{kind}` block must have a corresponding `server_tool_use` block before it.")  # fmt: skip
    answered = {part.id for _, part in turn.parts if part.kind in ("result", "server-result")}
    left = [place for name, place in open_.items() if name not in answered]
    if left and after is not None and any(part.kind != "result" for _, part in after.parts):
        index, part = left[0]
        yield Fault(place=spell(("messages", index, *part.place)), code="open-server-call",
                    says=f"the server call {part.id!r} has no result and the talk goes on; leave it out")  # fmt: skip


def _ends_thinking(turn: Turn) -> Iterator[Fault]:
    if turn.role == "assistant" and turn.parts and turn.parts[-1][1].kind == "reasoning":
        index, part = turn.parts[-1]
        yield Fault(place=spell(("messages", index, *part.place)), code="reasoning",
                    says="the turn ends with thinking; text or a call must follow it",
                    answer=f"messages.{index}: The final block in an assistant message cannot be `thinking`.")  # fmt: skip


def _edges(merged: list[Turn], quirks: frozenset[str]) -> Iterator[Fault]:
    first, last = merged[0], merged[-1]
    waiting = last.of("call")
    if waiting:
        yield _open(*waiting[-1])
    if first.role != "user":
        yield Fault(place=f"messages[{first.index}]", code="first-not-user",
                    says=f"the first message is the {first.role}'s; it must be the user's",
                    answer='messages: first message must use the "user" role')  # fmt: skip
    if last.role == "assistant":
        yield Fault(place=f"messages[{last.last}]", code="last-not-user", refused="no-prefill" in quirks,
                    says="the last message is the assistant's; newer models do not continue it",
                    answer="This model does not support assistant message prefill. The conversation must end with a user "
                    "message.")  # fmt: skip


def _thinks(conversation: Conversation, merged: list[Turn]) -> Iterator[Fault]:
    """With thinking enabled, the last turn of the assistant starts with thinking if it calls a tool."""
    setting = conversation.body.get("thinking")
    if not isinstance(setting, dict) or setting.get("type") != "enabled":
        return
    turn = next((turn for turn in reversed(merged) if turn.role == "assistant"), None)
    if turn is None or not turn.of("call") or turn.parts[0][1].kind == "reasoning":
        return
    index, part = turn.parts[0]
    yield Fault(place=spell(("messages", index, *part.place)), code="reasoning",
                says="thinking is enabled and the last turn of the assistant calls a tool without thinking first",
                answer=f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{_type(part)}`. "
                "When `thinking` is enabled, a final `assistant` message must start with a thinking block.")  # fmt: skip


def _type(part: Part) -> str:
    return str(part.raw.get("type")) if isinstance(part.raw, dict) else "text"


def _marks(conversation: Conversation) -> Iterator[Fault]:
    top = (*conversation.system, *(part for message in conversation.messages for part in message.parts))
    count = sum(part.marked for part in walk(top))
    count += sum(tool.get("cache_control") is not None for tool in conversation.tools)
    count += conversation.body.get("cache_control") is not None
    if count > MOST_MARKS:
        yield Fault(place="", code="breakpoints", says=f"there are {count} cache marks; at most {MOST_MARKS} are taken",
                    answer=f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {count}.")  # fmt: skip
