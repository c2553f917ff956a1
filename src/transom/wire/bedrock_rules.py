"""What Bedrock's Converse refuses, as far as the structure shows it, and in its own words.

The rule: turns pair as they do for Claude; Converse checks that itself, whatever the model. Sources of the words: answers quoted
in issues, November 2026: aws-samples/generative-ai-use-cases 1685 (2026-08-25) and BerriAI/litellm 29418 (2026-06-01, names of
documents), BerriAI/litellm 36499 (2026-08-11) and maximhq/bifrost 5817 (2026-08-04, documents without a text); of the shapes: the
service model of botocore's bedrock-runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.parts import Conversation, Message, Part, spell, walk
from transom.wire.content import short
from transom.wire.foreign import foreign
from transom.wire.form import Fault
from transom.wire.keyed import wordless
from transom.wire.naming import ODD_BUT_POINTS, misnamed, misspelled, overlong, titled
from transom.wire.turn_rules import TurnRules
from transom.wire.turns import turns

MOST_DOCUMENTS: Final = 5
"""Documents in one request, of most models (reference of DocumentBlock, 2026-11)."""
MOST_MARKS: Final = 4
"""Cache points in one request (prompt caching guide of Bedrock, 2026-08)."""
_FIRST: Final = "A conversation must start with a user message. Try again with a conversation that starts with a user message."
_BLANK: Final = (
    "The text field in the ContentBlock object at messages.{index}.content.{at} is blank. Add text to the text field, and try "
    "again."
)
_RULES: Final = TurnRules(
    {
        "no-turns": _FIRST,
        "no-content": "The content field in the Message object at messages.{index} is empty. Add a ContentBlock object to the "
        "content field and try again.",
        "empty": _BLANK,
        "blank": _BLANK,
        "open-call": "Expected toolResult blocks at messages.{index}.content for the following Ids: {id}",
        "orphan-result": "The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse blocks of "
        "previous turn.",
        "failed-silent": "The content field at messages.{index}.content.{at}.toolResult cannot be empty when status value is "
        "error.",
        "first-not-user": _FIRST,
        "trailing": "messages: final assistant content cannot end with trailing whitespace",
        "last-not-user": "This model does not support assistant message prefill. The conversation must end with a user message.",
    }
)
_TITLE: Final = (
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square "
    "brackets. The name can't contain more than one consecutive whitespace character. Check that the file name conforms to these "
    "restrictions and retry your request."
)
_DUPLICATE: Final = "Messages can't contain duplicate document names. Rename the document and retry your request."
_WORDLESS: Final = "A text block must be included when using documents. Add a text block and retry your request."
_MANY: Final = "You can't include more than 5 documents in a request."
_LETTERS: Final = (
    "Value at 'messages.%d.member.content.%d.member.toolUse.%s' failed to satisfy constraint: Member must satisfy regular "
    "expression pattern: %s"
)
LONGEST_ID: Final = 64
"""Characters in an id of a call (botocore, `ToolUseId`, 2026-11)."""


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault: those of single messages first, then of turns, then of the whole."""
    if not conversation.messages:
        return [_RULES.no_turns()]
    merged = turns(conversation.messages)
    out = [*foreign(conversation, _own), *_RULES.paired(conversation.messages, merged)]
    for turn in merged:
        out.extend(_RULES.ends_thinking(turn))
    out.extend(_RULES.edges(merged, quirks))
    if conversation.thinks:
        out.extend(_RULES.starts_unthinking(merged))
    out.extend(_calls(conversation))
    out.extend(_documents(conversation.messages))
    out.extend(_names(conversation.messages))
    out.extend(_marks(conversation))
    return out


def _own(_: Message, part: Part) -> bool:
    return isinstance(part.raw, dict) and "type" not in part.raw


def _calls(conversation: Conversation) -> Iterator[Fault]:
    """Ids and names of calls are of few characters, and ids not long."""
    for message, part, says in misnamed(conversation):
        yield _called(message, part, "odd-name", says, "name", "[a-zA-Z0-9_-]+")
    for message, part in misspelled(conversation, ODD_BUT_POINTS):
        says = f"the id is {part.id!r}; take letters, digits, `_`, `-`, `.` and `:` alone, in the call and in its result"
        yield _called(message, part, "odd-id", says, "toolUseId", "[a-zA-Z0-9_.:-]+")
    for message, part, says in overlong(conversation, LONGEST_ID):
        yield _called(message, part, "long-id", says, "toolUseId")


def _called(message: Message, part: Part, code: str, says: str, key: str, letters: str = "") -> Fault:  # noqa: PLR0913, PLR0917
    """A fault of what stands under a call's `key`, which must be of these letters."""
    answer = _LETTERS % (message.index + 1, int(part.place[-1]) + 1, key, letters) if letters else ""
    return Fault(place=spell(("messages", message.index, *part.place, "toolUse", key)), code=code, says=says, answer=answer)


def _documents(messages: tuple[Message, ...]) -> Iterator[Fault]:
    """A message that shows documents says something too, and a request shows few."""
    for message in messages:
        if message.role == "user" and wordless(part.raw for part in message.parts):
            says = "the message holds documents and no text; say something about them"
            yield Fault(place=f"messages[{message.index}]", code="wordless", says=says, answer=_WORDLESS)
    parts = [part for message in messages for part in walk(message.parts)]
    count = sum(isinstance(part.raw, dict) and isinstance(part.raw.get("document"), dict) for part in parts)
    if count > MOST_DOCUMENTS:
        says = f"{count} documents, and most models take at most {MOST_DOCUMENTS}; leave out the oldest"
        yield Fault(place="messages", code="too-many-documents", says=says, answer=_MANY, refused=False)


def _names(messages: tuple[Message, ...]) -> Iterator[Fault]:
    """Every document has a name, and no two have one."""
    seen: set[str] = set()
    for message in messages:
        for part in walk(message.parts):
            held = part.raw.get("document") if isinstance(part.raw, dict) else None
            if not isinstance(held, dict):
                continue
            place, name = spell(("messages", message.index, *part.place)), held.get("name")
            if not isinstance(name, str) or not name:
                yield Fault(place=place, code="name", says="the document has no name; give it one")
            elif name != titled(name):
                says = f"the document is called {short(name)}; take letters, digits, single spaces, and ()[]-_ alone, 200 at most"
                yield Fault(place=place, code="odd-name", says=says, answer=_TITLE)
            elif name.casefold() in seen:
                says = f"two documents are called {name!r}; their names must differ, whatever the case"
                yield Fault(place=place, code="name-reused", says=says, answer=_DUPLICATE)
            seen.add(str(name).casefold())


def _marks(conversation: Conversation) -> Iterator[Fault]:
    top = (*conversation.system, *(part for message in conversation.messages for part in message.parts))
    count = sum(part.marked for part in walk(top)) + sum("cachePoint" in tool for tool in conversation.tools)
    if count > MOST_MARKS:
        says = f"there are {count} cache points; at most {MOST_MARKS} are taken, leave the oldest out"
        yield Fault(place="", code="breakpoints", says=says)
