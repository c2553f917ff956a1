"""Cache marks, the last step of writing: the client's own win and are only made legal; transom sets its own only where asked.

At most `limits.marks` go out in one request, over tools, system and messages together. The marks that matter most are the last
ones, so the oldest marks on messages go first, and those on tools and system, the earliest first, only where no message has one
left (Anthropic, prompt caching: at most 4 breakpoints, 2026-08-22).

A mark of an hour may not stand behind one of five minutes, in the order of the prompt (Anthropic, "a ttl='1h' cache_control block
must not come after a ttl='5m' cache_control block", 2026-04): it goes out as one of five minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from transom import edit
from transom.canon import MARKS, POINT, size
from transom.catalog import Limits, ModelCard
from transom.parts import Conversation, Entry, Part, walk
from transom.plan import OUTSIDE, Decision, Sent, repeated
from transom.types import Json, JsonObject, Place
from transom.wire.form import Form

OWN: Mapping[str, Json] = {
    "anthropic": {"type": "ephemeral"},
    "bedrock": {"type": "default"},
    "blocks": {"type": "ephemeral"},
}
"""The mark that transom sets of its own, in the forms whose providers cache only what is marked."""
ORDERED = frozenset({"anthropic"})
"""Forms whose provider wants marks in the order of how long they hold."""
LONG = "1h"
_LATE = "a cache mark of an hour behind one of five minutes; it holds as long as that one"
_TOOLS = (("tools",), ("functions",), ("config", "tools"), ("toolConfig", "tools"))
"""Where bodies declare tools."""


def settled(
    conversation: Conversation, entries: Sequence[Entry], form: Form, limits: Limits
) -> tuple[Conversation, tuple[Entry, ...], tuple[Decision, ...], tuple[Decision, ...]]:
    """What stands around the messages and the entries, with no more cache marks than the provider takes, and a line for each mark
    that went: outside the messages, and on them.
    """
    ordered = form.api in ORDERED
    if limits.marks <= 0 and not ordered:
        return conversation, tuple(entries), (), ()
    marked = [(i, n) for i, entry in enumerate(entries) for n, part in enumerate(walk(entry.message.parts)) if part.marked]
    surplus = max(0, len(marked) + _fixed(conversation) - limits.marks) if limits.marks > 0 else 0
    out = list(entries)
    lines: list[Decision] = []
    for i, number in marked[:surplus]:
        part = _nth(out[i], number)  # a mark that is an item of its own moves what follows
        out[i], line = _without(out[i], part, form, f"more than {limits.marks} cache marks; the oldest go first")
        lines.append(line)
    around, outside = _around(conversation, form, limits) if limits.marks > 0 else (conversation, [])
    if ordered:
        around, more, short = _in_order(around, form)
        outside += more
        lines += _shortened(out, marked[surplus:], form, short=short)
    return around, tuple(out), tuple(outside), tuple(lines)


def _in_order(conversation: Conversation, form: Form) -> tuple[Conversation, list[Decision], bool]:
    """The conversation whose tools and system bear no mark of an hour behind a shorter one, and whether they bear a short one."""
    late: list[Place] = []
    short = False
    for place in _places(conversation):
        mark = edit.look(conversation.body, place)
        if short and _is_long(mark):
            late.append((*place, "ttl"))
        short = short or _is_short(mark)
    return (*_left_out(conversation, form, late, _LATE), short) if late else (conversation, [], short)


def _shortened(out: list[Entry], marked: Sequence[tuple[int, int]], form: Form, *, short: bool) -> Iterator[Decision]:
    """Let no mark of an hour in `out` stand behind a shorter one. `short`: one stands before them all."""
    for i, number in marked:
        part = _nth(out[i], number)
        mark = part.raw.get("cache_control")
        if short and _is_long(mark):
            json = edit.remove(out[i].message.json, [(*part.place, "cache_control", "ttl")])
            out[i], line = _changed(out[i], part, json, form, _LATE)
            yield line
        short = short or _is_short(mark)


def _is_long(mark: Json) -> bool:
    return isinstance(mark, dict) and mark.get("ttl") == LONG


def _is_short(mark: Json) -> bool:
    return isinstance(mark, dict) and mark.get("ttl") != LONG


def _nth(entry: Entry, number: int) -> Part:
    """A part by its number in document order."""
    return next(islice(walk(entry.message.parts), number, None))


def _around(conversation: Conversation, form: Form, limits: Limits) -> tuple[Conversation, list[Decision]]:
    """The conversation with as many marks outside the messages as a request may have: the earliest go, tools' before system's."""
    lines: list[Decision] = []
    reason = f"more than {limits.marks} cache marks outside the messages; the earliest go first"
    while (surplus := _fixed(conversation) - limits.marks) > 0:
        conversation, more = _left_out(conversation, form, _places(conversation)[:surplus], reason)
        lines += more
    return conversation, lines


def _left_out(conversation: Conversation, form: Form, gone: Sequence[Place], reason: str) -> tuple[Conversation, list[Decision]]:
    """The conversation without what stands at these places outside its messages."""
    old = {**conversation.body, conversation.key: []}
    new = edit.remove(old, gone)
    read = form.read(new)
    body = {**new, conversation.key: conversation.body[conversation.key]}
    lines = [Decision(verb="mark", seq=OUTSIDE, place=place, reason=reason) for place in gone]
    lines[-1] = replace(lines[-1], bytes_before=size(old), bytes_after=size(new))  # of all that went, so that lines add up
    return replace(conversation, body=body, system=read.system, tools=read.tools), lines


def _places(conversation: Conversation) -> list[Place]:
    """Where marks stand in tools and system, in the order of the prompt; a mark that is an item of a list is that item. One may
    always stay, so that the request's own, which is the last, never has to go.
    """
    body = conversation.body
    found = [place for where in _TOOLS for place in _listed(edit.look(body, where), where)]
    found += [("system", n) for n, item in enumerate(body.get("system") or ()) if isinstance(item, dict) and [*item] == [POINT]]
    for part in walk(conversation.system):
        found += [(*part.place, key) for key in MARKS if isinstance(part.raw, dict) and part.raw.get(key) is not None]
    return found


def _listed(tools: Json, where: Place) -> Iterator[Place]:
    for n, tool in enumerate(tools if isinstance(tools, list) else ()):
        marks = [key for key in MARKS if isinstance(tool, dict) and key in tool]
        if marks:
            yield (*where, n) if [*tool] == [POINT] else (*where, n, marks[0])


def placed(  # noqa: PLR0913 - where marks may stand
    conversation: Conversation,
    entries: Sequence[Entry],
    form: Form,
    card: ModelCard,
    *,
    last: Sequence[Sent],
    now: Sequence[Sent],
) -> tuple[Entry, ...]:
    """The entries with at most two marks, where the client set none: on the last entry unchanged since the last request, if the
    prefix up to it is long enough to be cached, and on the end; on the end only in a first request (CM-137).
    """
    out = list(entries)
    mark = OWN.get(form.api)
    marked = any(part.marked for entry in entries for part in walk(entry.message.parts))
    if mark is None or marked or _fixed(conversation) or card.limits.marks < len(("prefix", "end")):
        return tuple(out)
    same = repeated(last, now)
    cached = sum(one.tokens for one in now[:same])
    for at in {same - 1 if cached >= card.cache_minimum else -1, len(out) - 1} - {-1}:
        message = out[at].message
        tried = (form.mark(message.json, part, mark) for part in reversed(message.parts) if part.kind != "reasoning")
        json = next((json for json in tried if json is not message.json), None)  # of the last part that may carry one
        if json is not None:
            out[at] = _remade(out[at], json, form)
    return tuple(out)


def _remade(entry: Entry, json: JsonObject, form: Form) -> Entry:
    message = form.read_message(json, entry.message.index)
    same = len(message.parts) == len(entry.origin)
    return replace(entry, message=message, origin=entry.origin if same else tuple((entry.seq, p.place) for p in message.parts))


def _fixed(conversation: Conversation) -> int:
    top = any(name in conversation.body for name in MARKS)
    tools = sum(_is_marked(tool) for tool in conversation.tools)
    return top + tools + sum(part.marked for part in walk(conversation.system))


def _is_marked(tool: JsonObject) -> bool:
    return any(name in tool for name in MARKS)


def _without(entry: Entry, part: Part, form: Form, reason: str) -> tuple[Entry, Decision]:
    return _changed(entry, part, form.mark(entry.message.json, part, None), form, reason)


def _changed(entry: Entry, part: Part, json: JsonObject, form: Form, reason: str) -> tuple[Entry, Decision]:
    """The entry as `json`, in which the mark of a part is another or gone."""
    line = Decision(
        verb="mark",
        seq=entry.seq,
        place=part.place,
        reason=reason,
        bytes_before=size(entry.message.json),
        bytes_after=size(json),
    )
    return _remade(entry, json, form), line
