"""Mends of single messages, before calls and results are looked at: empty texts, their cache marks, broken arguments, and
messages that hold on one side what belongs on the other.

The rule: each mend looks at its own message only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from transom import canon, edit
from transom.pairing.draft import Draft, Slot, leaving, reread
from transom.parts import Message, Part, Role, walk
from transom.plan import Decision
from transom.types import Json, JsonObject
from transom.wire.content import short
from transom.wire.form import Form
from transom.wire.holding import fitting
from transom.wire.keyed import HOLDERS, spelled, string
from transom.wire.naming import digest, plain, retitled, titled

SPLIT_ROLES: dict[str, Role] = {
    "result": "user",
    "call": "assistant",
    "reasoning": "assistant",
    "server-call": "assistant",
    "server-result": "assistant",
}
"""Whose turn a part stands in, where results stand in the user's turn; other parts may stand in either."""
NAMELESS = "unnamed_tool"
"""The name of a call that came without one: each provider wants some."""
_ELSEWHERE: dict[Role, frozenset[str]] = {
    "user": frozenset(kind for kind, role in SPLIT_ROLES.items() if role == "assistant"),
    "assistant": frozenset({"result"}),
    "system": frozenset(),
    "tool": frozenset(),
}


def without_blanks(draft: Draft) -> list[Decision]:
    """Take out texts that are empty or white space; the provider refuses the request for one (Anthropic, "text content blocks
    must be non-empty", "must contain non-whitespace text", 2026-08). A cache mark moves to the nearest earlier part.
    """
    decisions = []
    if "result" in draft.kinds:
        decisions = [_inner_blanks(draft, slot) for slot in draft.slots if slot.part.kind == "result"]
    if ("text" in draft.kinds or "reasoning" in draft.kinds) and any(_blank(part) for part in draft.parts):
        blank = [slot for slot in draft.slots if _blank(slot.part)]
        decisions.append(_done(draft, blank[0], "mend", "a text that is empty or only white space"))
        decisions += _rescued(draft, blank)
        draft.take(blank)
    return [one for one in decisions if one is not None]


def _blank(part: Part) -> bool:
    if part.signed or part.text.strip():
        return False
    return part.kind == "text" or (part.kind == "reasoning" and isinstance(part.raw, dict) and part.raw.get("thought") is True)


def _inner_blanks(draft: Draft, slot: Slot) -> Decision | None:
    part = slot.part
    taken = part.parts if isinstance(slot.raw, dict) and "toolResult" in slot.raw else ()  # Converse takes them, live, 2026-09
    empty = [inner.place[len(part.place) :] for inner in walk(part.parts) if _blank(inner) and inner not in taken]
    lists = [place for place in empty if place and isinstance(place[-1], int)]
    if not lists:
        return None
    draft.put(slot, edit.remove(edit.untwinned(slot.raw), lists))
    return _done(draft, slot, "mend", "a text in a result that is empty or only white space")


def _rescued(draft: Draft, gone: list[Slot]) -> Iterator[Decision]:
    """Move the cache marks of slots that go to the nearest earlier slot that may carry one."""
    away = {id(slot) for slot in gone}
    bearer: Slot | None = None
    for slot in draft.slots:
        if id(slot) not in away:
            bearer = slot if slot.part.kind != "reasoning" and isinstance(slot.raw, dict) else bearer
            continue
        marks = {key: slot.raw[key] for key in canon.MARKS if isinstance(slot.raw, dict) and slot.raw.get(key)}
        if not marks:
            continue
        if bearer is None or any(key in bearer.raw for key in marks):
            yield _done(draft, slot, "mark", "a cache mark on an empty text, with no earlier part to carry it")
        else:
            draft.put(bearer, {**bearer.raw, **marks})
            yield _done(draft, slot, "mark", "a cache mark on an empty text, moved to the part before it")


def with_names(messages: Sequence[Message], form: Form, decisions: list[Decision]) -> list[Message]:
    """The messages with a name for each document, as the provider takes it; one that has none is named after what it holds
    (Bedrock: `name` is required, and "can only contain alphanumeric characters, whitespace characters, hyphens, parentheses,
    and square brackets", 2026-11), and one that an earlier document has with a number behind it ("Messages can't contain
    duplicate document names", 2026-08).
    """
    out = []
    taken: set[str] = set()
    for message in messages:
        changes = {}
        for part in walk(message.parts):
            given, plainly = _title(part.raw)
            name = retitled(plainly, taken) if plainly else plainly
            if name != given:
                changes[(*part.place, "document", "name")] = name
                reason = _RETITLED if name != plainly else _MISTITLED if given else "a document without a name"
                decisions.append(Decision(verb="mend", seq=message.index, place=part.place, reason=reason, name=name))
        if changes:
            message = reread(message, edit.replace(message.json, changes), form)  # noqa: PLW2901 - the same, named
        out.append(message)
    return out


_MISTITLED = "a document's name with characters that the provider refuses"
_RETITLED = "a document's name that an earlier one has"


def with_contents(messages: Sequence[Message], form: Form, decisions: list[Decision]) -> list[Message]:
    """The messages with results that hold what their form has a place for."""
    out = []
    for message in messages:
        changes = {
            part.place: raw
            for part in message.parts
            if part.kind == "result"
            for raw in (fitting(part.raw),)
            if raw is not part.raw
        }
        if changes:
            message = reread(message, edit.replace(message.json, changes), form)  # noqa: PLW2901 - the same, told
            reason = "a result that holds a value, told as text"
            decisions += [Decision(verb="mend", seq=message.index, place=place, reason=reason) for place in changes]
        out.append(message)
    return out


def _title(raw: Json) -> tuple[str, str]:
    """The name that a document has, and the one that it goes out with; both are empty for what is no document."""
    held = raw.get("document") if isinstance(raw, dict) else None
    if not isinstance(held, dict):
        return "", ""
    given = string(held, "name")
    return given, titled(given) or f"document-{digest(canon.text(raw))}"


def with_arguments(draft: Draft, form: Form, declared: frozenset[str] = frozenset()) -> list[Decision]:
    """Make the arguments of each call something that the provider can read, and give it a name; what was there is kept. A name
    that a tool is `declared` with is taken as it is.
    """
    decisions: list[Decision] = []
    if "call" not in draft.kinds:
        return decisions
    for slot in draft.slots:
        if slot.part.kind == "call" and isinstance(slot.raw, dict):
            apart = form.results_in == "tool" and slot.part.place[:1] == ("tool_calls",)
            raw = _readable(_held(slot.raw, apart=apart))
            if raw is not slot.raw:
                draft.put(slot, raw)
                decisions.append(_done(draft, slot, "mend", "arguments that are no JSON object", slot.part.id))
            decisions += _with_name(draft, slot, form, declared)
    return decisions


def _with_name(draft: Draft, slot: Slot, form: Form, declared: frozenset[str]) -> Iterator[Decision]:
    """Let a call say which tool it calls, in letters that the provider takes."""
    given = slot.part.name or _name(slot.raw)
    name = plain(given) if form.plain_names and given not in declared else given
    if not given:
        name = NAMELESS
        yield _done(draft, slot, "mend", "a call without a name", slot.part.id)
    elif name != given:
        yield _done(draft, slot, "mend", f"a call of {short(given)}, a name that the provider refuses, now {name}", slot.part.id)
    if name != given:
        draft.put(slot, _named(slot.raw, name))
    if name != slot.part.name:
        slot.part = replace(slot.part, name=name)


def _held(raw: JsonObject, *, apart: bool) -> JsonObject:
    """A call whose name and arguments stand in an object of its own, where its form has one (`apart`: OpenAI's `function`)."""
    if apart and not (isinstance(raw.get("function"), dict) or isinstance(raw.get("custom"), dict)):
        given = raw.get("arguments", raw.get("args", raw.get("input")))
        words = given if isinstance(given, str) and parses(given) else canon.text(_object(given))
        return {**raw, "type": "function", "function": {"name": string(raw, "name"), "arguments": words}}
    key = spelled(raw, *(key for key, _ in HOLDERS))
    return {**raw, key: {}} if key in raw and not isinstance(raw[key], dict) and "type" not in raw else raw


def _name(raw: JsonObject) -> str:
    """The name that a call was given beside the place for it."""
    function = raw.get("function")
    return str(function.get("name") or "") if isinstance(function, dict) else ""


def _named(raw: JsonObject, name: str) -> JsonObject:
    """A call with a name."""
    for key in ("function", "custom", *(key for key, _ in HOLDERS)):
        if isinstance(raw.get(key), dict):
            return {**raw, key: {**raw[key], "name": name}}
    return {**raw, "name": name}


def _readable(raw: JsonObject) -> JsonObject:
    function = raw.get("function")
    if isinstance(function, dict):
        given = function.get("arguments")
        if isinstance(given, str) and parses(given):
            return raw
        return edit.replace(raw, {("function", "arguments"): canon.text(_object(given))})
    for key, field in HOLDERS:
        held = raw.get(key)
        if isinstance(held, dict):
            given = held.get(field)
            same = isinstance(given, dict) or (given is None and field == "args")
            return raw if same else edit.replace(raw, {(key, field): _object(given)})
    if raw.get("type") != "custom_tool_call" and ("input" in raw or raw.get("type") == "tool_use"):
        given = raw.get("input")
        return raw if isinstance(given, dict) else {**raw, "input": _object(given)}
    return raw


def parses(arguments: str) -> bool:
    """Whether arguments are JSON; none at all count as an empty object."""
    try:
        if arguments:
            msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        try:
            json.loads(arguments)
        except (ValueError, RecursionError):
            return False
    return True


def _object(given: Json) -> JsonObject:
    if isinstance(given, dict):
        return given
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    return {"arguments": given}


def split(drafts: list[Draft], form: Form) -> tuple[list[Draft], list[Decision]]:
    """Split messages that bundle calls and results, so that results stand in the user's turn and calls in the assistant's
    (CM-105). Forms whose results are messages of their own have no such bundles.
    """
    if form.results_in != "user":
        return drafts, []
    out: list[Draft] = []
    decisions = []
    for draft in drafts:
        if _ELSEWHERE[draft.role].isdisjoint(draft.kinds):
            out.append(draft)
            continue
        out += _pieces(draft)
        decisions.append(Decision(verb="repair", seq=draft.seq, reason="calls and results in one message"))
    return out, decisions


def _pieces(draft: Draft) -> Iterator[Draft]:
    role: Role | None = None
    slots: list[Slot] = []
    for slot in draft.slots:
        side = SPLIT_ROLES.get(slot.part.kind, draft.role)
        if slots and side != role:
            yield _piece(draft, role or draft.role, slots)
            slots = []
        role = side
        slots.append(leaving(slot, draft))
    yield _piece(draft, role or draft.role, slots)


def _piece(draft: Draft, role: Role, slots: list[Slot]) -> Draft:
    kinds = tuple([slot.part.kind for slot in slots])
    return Draft(seq=draft.seq, role=role, stored=draft.stored, kinds=kinds, held=slots, changed=True, piece=True)


def _done(draft: Draft, slot: Slot, verb: str, reason: str, name: str = "") -> Decision:
    return Decision(verb=verb, seq=draft.seq, place=slot.part.place, reason=reason, name=name)  # type: ignore[arg-type]
