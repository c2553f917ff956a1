"""Calls and results that stand where their form has none, or in another form's shape: no provider takes them.

The rule: they are read, since every form reads every shape; they are never translated here, so they are a fault of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from transom.parts import Conversation, Kind, Message, Part, spell
from transom.wire.form import Fault
from transom.wire.holding import fitting

_PAIRED: Final[tuple[Kind, ...]] = ("call", "result", "server-call", "server-result")


def foreign(conversation: Conversation, own: Callable[[Message, Part], bool]) -> Iterator[Fault]:
    """Each call and result among the parts of messages that is not one of the form's `own`."""
    for message in conversation.messages:
        for part in message.parts:
            if part.kind in _PAIRED and not own(message, part):
                what = part.kind.removeprefix("server-")
                says = f"this {what} stands where {conversation.api} takes none, or in another form's shape; name that form"
                yield Fault(place=spell((conversation.key, message.index, *part.place)), code="foreign", says=says)
            elif part.kind == "result" and fitting(part.raw) is not part.raw:
                says = "the result holds a value that its form has no place for; tell it as text, or as parts"
                yield Fault(place=spell((conversation.key, message.index, *part.place)), code="content", says=says)
