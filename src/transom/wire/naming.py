"""Ids and names as providers take them: of calls, of the tools they call, of documents.

The rule: what is taken as it is stays the same string, and what comes out depends on nothing but what was given. Sources: answers
of the APIs quoted in issues, 2026-11: CommandCodeAI/command-code 323, maximhq/bifrost 5097 (ids of calls), mcp-use/mcp-use 90
(names of tools), simonw/llm-bedrock 8, strands-agents/harness-sdk 3019 (documents: dots are refused, underscores taken).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, MutableSet
from typing import Final

from transom.parts import Conversation, Message, Part
from transom.types import JsonObject

PLAIN: Final = "^[a-zA-Z0-9_-]+$"
"""What ids and names of calls must match, as the providers' answers spell it."""
LONGEST_TITLE: Final = 200
"""Characters in a document's name (Bedrock, reference of DocumentBlock, 2026-11)."""

ODD: Final = re.compile(r"[^a-zA-Z0-9_-]")
"""What may not stand in names, nor in ids of calls."""
ODD_BUT_POINTS: Final = re.compile(r"[^a-zA-Z0-9_.:-]")
"""What may not stand in ids of calls where `.` and `:` may (botocore, `ToolUseId`, 2026-11)."""
_UNTITLED: Final = re.compile(r"[^a-zA-Z0-9_()\[\] -]+")
_SPACES: Final = re.compile(" {2,}")


def plain(name: str) -> str:
    """`name` in letters, digits, `_` and `-`."""
    return ODD.sub("_", name)


def spelled_id(given: str, odd: re.Pattern[str] | None) -> str:
    """An id without `odd` characters (None: none is odd). One that had some is told apart from all others by a digest."""
    spelled = odd.sub("_", given) if odd is not None else given
    return spelled if spelled == given else f"{spelled}_{digest(given)}"


def bounded(given: str, longest: int) -> str:
    """An id of at most `longest` characters (0: as many as it has). One that is cut is told apart by a digest of the whole."""
    if not longest or len(given) <= longest:
        return given
    return f"{given[: longest - 9]}_{digest(given)}"


def overlong(conversation: Conversation, longest: int) -> Iterator[tuple[Message, Part, str]]:
    """Calls whose id has more characters than providers take, and why."""
    for message in conversation.messages:
        for part in message.parts:
            if part.kind == "call" and len(part.id) > longest and part.place != ("function_call",):
                yield message, part, f"the call's id has {len(part.id)} characters; it may have {longest}"


def titled(name: str) -> str:
    """A document's name as Bedrock takes it; "" where nothing of it is left. Letters that were lost leave a digest."""
    spelled = _SPACES.sub(" ", _UNTITLED.sub("-", name))
    if spelled == name and len(name) <= LONGEST_TITLE:
        return name
    spelled = spelled.strip("- ")
    if spelled and not name.isascii():
        spelled = f"{spelled[: LONGEST_TITLE - 9]}-{digest(name)}"
    return spelled[:LONGEST_TITLE]


def retitled(name: str, taken: MutableSet[str]) -> str:
    """A document's name that no earlier one has, with a number behind it where it is `taken`, to which it is added. Case tells no
    two names apart.
    """
    number, now = 1, name
    while now.casefold() in taken:
        number += 1
        tail = f"-{number}"
        now = name[: LONGEST_TITLE - len(tail)] + tail
    taken.add(now.casefold())
    return now


def misspelled(conversation: Conversation, odd: re.Pattern[str]) -> Iterator[tuple[Message, Part]]:
    """Calls whose id has characters that are `odd`."""
    for message in conversation.messages:
        for part in message.parts:
            if part.kind == "call" and odd.search(part.id):
                yield message, part


def misnamed(conversation: Conversation) -> Iterator[tuple[Message, Part, str]]:
    """Calls of tools by names that providers refuse, and why; one that a tool is declared with was taken with it."""
    known = declared(conversation.tools)
    for message in conversation.messages:
        for part in message.parts:
            if part.kind == "call" and part.name not in known and part.name != plain(part.name):
                yield message, part, f"the tool's name is {part.name!r}; it must match {PLAIN}, as declared names do"


def declared(tools: Iterable[JsonObject]) -> frozenset[str]:
    """The names of a request's tools, which their host took when it took them."""
    held = (tool.get("function", tool.get("toolSpec", tool)) for tool in tools)
    return frozenset(str(one["name"]) for one in held if isinstance(one, dict) and one.get("name"))


def digest(text: str) -> str:
    """What tells a name that lost characters apart."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
