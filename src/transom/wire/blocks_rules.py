"""What no provider could be sent of a log of blocks: calls and results that do not pair, and empty texts.

The rule: only what every provider refuses is a fault here; there is no provider of this form whose words could be quoted.
"""

from __future__ import annotations

from collections.abc import Iterator

from transom.parts import Conversation, Part, spell
from transom.wire.form import Fault
from transom.wire.turns import Turn, turns


def faults(conversation: Conversation) -> list[Fault]:
    """Each fault, in the order of the log."""
    if not conversation.messages:
        return [Fault(place="messages", code="no-turns", says="there is no message; a request has at least one")]
    merged = turns(conversation.messages)
    out = [
        _fault(message.index, part, "empty", "the text is empty; leave the part out")
        for message in conversation.messages
        for part in message.parts
        if part.kind == "text" and not part.text.strip()
    ]
    out += [
        Fault(place=f"messages[{message.index}]", code="empty", says="the message has no content; leave it out")
        for message in conversation.messages
        if not message.parts
    ]
    seen: set[str] = set()
    before: Turn | None = None
    for turn in merged:
        out.extend(_pairs(before, turn, seen))
        before = turn
    out.extend(_fault(index, call, "open-call", "the call has no result") for index, call in merged[-1].of("call"))
    return out


def _fault(index: int, part: Part, code: str, says: str) -> Fault:
    return Fault(place=spell(("messages", index, *part.place)), code=code, says=says)


def _pairs(before: Turn | None, turn: Turn, seen: set[str]) -> Iterator[Fault]:
    for index, call in turn.of("call"):
        if not call.id or call.id in seen:
            yield _fault(index, call, "id", f"the call's id {call.id!r} is not its own; give it another")
        seen.add(call.id)
    asked = before.of("call") if before is not None and before.role == "assistant" else []
    waiting = {call.id for _, call in asked}
    answered: set[str] = set()
    for index, result in turn.of("result"):
        if result.id in answered:
            yield _fault(index, result, "id", f"{result.id!r} is answered twice; keep one result for each call")
        elif result.id not in waiting:
            yield _fault(index, result, "orphan-result", f"the turn before makes no call {result.id!r}; leave the result out")
        answered.add(result.id)
    for index, call in asked:
        if call.id not in answered:
            yield _fault(index, call, "open-call", f"the call {call.id!r} has no result in the next turn; answer it")
