"""Items that the provider knows by an id, as it takes them: each once, and none that it did not keep.

The rule: of two items with one id the later one gives way, so that appending changes nothing that was sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from transom.pairing.draft import reread
from transom.parts import Conversation, Message
from transom.plan import Decision
from transom.wire.form import Form
from transom.wire.openai_responses_kept import kept


def with_own_ids(
    messages: Sequence[Message], conversation: Conversation, form: Form, quirks: frozenset[str], decisions: list[Decision]
) -> Sequence[Message]:
    """The messages without what stands among them twice, or what the provider does not have."""
    changes = {id(one.message): one for one in kept(conversation, quirks, messages)}
    if not changes:
        return messages
    out = []
    for message in messages:
        found = changes.get(id(message))
        if found is None:
            out.append(message)
            continue
        decisions.append(Decision(verb="repair", seq=message.index, reason=found.what))
        if found.now is not None:
            out.append(reread(message, found.now, form))
    return out
