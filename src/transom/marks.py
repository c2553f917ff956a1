"""Cache marks, the last step of writing: the client's own win and are only made legal; transom sets its own only where asked.

At most `limits.marks` go out in one request, over tools, system and messages together. The marks that matter most are the last
ones, so the oldest marks on messages go first, and those on tools and system never (Anthropic, prompt caching: at most 4
breakpoints, 2026-08-22).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transom.canon import MARKS, size
from transom.catalog import Limits
from transom.errors import BadRequest
from transom.parts import Conversation, Entry, Part, walk
from transom.plan import Decision
from transom.types import JsonObject
from transom.wire.form import Form


def settled(
    conversation: Conversation, entries: Sequence[Entry], form: Form, limits: Limits
) -> tuple[tuple[Entry, ...], tuple[Decision, ...]]:
    """The entries with no more cache marks than the provider takes, and a line for each mark that went."""
    if limits.marks <= 0:
        return tuple(entries), ()
    fixed = _fixed(conversation)
    if fixed > limits.marks:
        raise BadRequest(
            f"{fixed} cache marks on tools and system, and a request may have {limits.marks}; take some off", place="system"
        )
    marked = [(i, part) for i, entry in enumerate(entries) for part in walk(entry.message.parts) if part.marked]
    surplus = len(marked) + fixed - limits.marks
    out = list(entries)
    lines: list[Decision] = []
    for i, part in marked[: max(0, surplus)]:
        out[i], line = _without(out[i], part, form, f"more than {limits.marks} cache marks; the oldest go first")
        lines.append(line)
    return tuple(out), tuple(lines)


def _fixed(conversation: Conversation) -> int:
    top = any(name in conversation.body for name in MARKS)
    tools = sum(_is_marked(tool) for tool in conversation.tools)
    return top + tools + sum(part.marked for part in walk(conversation.system))


def _is_marked(tool: JsonObject) -> bool:
    return any(name in tool for name in MARKS)


def _without(entry: Entry, part: Part, form: Form, reason: str) -> tuple[Entry, Decision]:
    json = form.mark(entry.message.json, part, None)
    line = Decision(
        verb="mark",
        seq=entry.seq,
        place=part.place,
        reason=reason,
        bytes_before=size(entry.message.json),
        bytes_after=size(json),
    )
    return replace(entry, message=form.read_message(json, entry.message.index)), line
