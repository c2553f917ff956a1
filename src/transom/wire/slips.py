"""Slips: what a provider refuses in one message, and what stands there instead.

The rule: a slip looks at its own message only, and a message whose slips were mended has none. `lint` names each as a fault, and
pairing mends each before it looks at anything else; so the rule and its remedy are written once, in the form's own module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from transom import edit
from transom.parts import Conversation, Message, spell
from transom.types import JsonObject
from transom.wire.form import GONE, Fault, Slip

Slips = Callable[[Message, frozenset[str]], Sequence[Slip]]
"""The slips of a message under a model's quirks."""


def faults(conversation: Conversation, slips: Slips, quirks: frozenset[str]) -> Iterator[Fault]:
    """Each slip of a conversation as a fault."""
    for message in conversation.messages:
        for slip in slips(message, quirks):
            place = spell((conversation.key, message.index, *slip.place))
            answer = slip.answer.replace("{index}", str(message.index))
            yield Fault(place=place, code=slip.code, says=f"{slip.what}; {slip.so}", answer=answer)


def mended(json: JsonObject, slips: Sequence[Slip]) -> JsonObject:
    """A copy of a message without its slips."""
    changes = {slip.place: slip.now for slip in slips if slip.now is not GONE}
    return edit.replace(json, changes, [slip.place for slip in slips if slip.now is GONE])
