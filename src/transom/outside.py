"""What stands around the messages, made legal: system texts that say nothing are left out.

The rule: what is not at fault stays the same object, and the line of the report holds what was left out in tokens and bytes.
"""

from __future__ import annotations

from msgspec.structs import replace

from transom import edit
from transom.canon import size
from transom.ledger import Ledger
from transom.parts import Conversation
from transom.plan import OUTSIDE, Decision
from transom.wire.form import Form
from transom.wire.instructions import blanks

REASON = "a system text that is empty or only white space"


def tidied(conversation: Conversation, form: Form, ledger: Ledger) -> tuple[Conversation, tuple[Decision, ...]]:
    """The conversation as its provider takes what stands around the messages, and a line for what was left out."""
    gone = blanks(conversation)
    if not gone:
        return conversation, ()
    old = {**conversation.body, conversation.key: []}
    new = edit.remove(old, gone)
    body = {**new, conversation.key: conversation.body[conversation.key]}
    after = replace(conversation, body=body, system=form.read(new).system)
    line = Decision(
        verb="mend",
        seq=OUTSIDE,
        place=gone[0],
        reason=REASON,
        tokens_before=ledger.fixed(conversation).tokens,
        tokens_after=ledger.fixed(after).tokens,
        bytes_before=size(old),
        bytes_after=size(new),
    )
    return after, (line,)
