"""Oversized inputs of calls: a small object instead that says what they were (CM-122).

The rule: it depends on the call alone, and an input that was made small once is never made smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from transom import canon, edit
from transom.parts import Entry, Part
from transom.plan import Decision
from transom.types import Count, Json, JsonObject
from transom.wire.form import Form
from transom.wire.keyed import HOLDERS

MOST_KEYS: Final = 5
LONGEST_KEY: Final = 60


def with_small_inputs(entry: Entry, form: Form, most: float, price_text: Count) -> tuple[Entry, Sequence[Decision]]:
    """The entry with each input of more than `most` tokens made small; the same one where there is none."""
    changes: list[tuple[Part, Json]] = []
    lines: list[Decision] = []
    for part, (seq, place) in zip(entry.message.parts, entry.origin, strict=True):
        if part.kind != "call" or len(part.text) <= most or not isinstance(part.raw, dict) or part.signed:
            continue  # a token is a character at least; what is signed is never edited
        small = summary(part.text)
        tokens = price_text(part.text) if small is not None else 0
        made = _with_input(part.raw, small) if small is not None and tokens > most else None
        if made is not None:
            changes.append((part, made))
            reason = f"an input of {tokens:,} tokens, over {most:,.0f}"
            lines.append(Decision(verb="prune", seq=seq, place=place, reason=reason, name=part.name))
    if not changes:
        return entry, ()
    message = form.read_message(edit.edited(entry.message.json, changes), entry.message.index)
    return replace(entry, message=message), lines


def summary(text: str) -> JsonObject | None:
    """What stands instead of an input: that it is cut, how many characters it had, its first keys. None: it is one already."""
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        given = None
    keys = [key[:LONGEST_KEY] for key in given][:MOST_KEYS] if isinstance(given, dict) else []
    if isinstance(given, dict) and given.get("truncated") is True and set(given) <= {"truncated", "characters", "keys"}:
        return None
    return {"truncated": True, "characters": len(text), "keys": keys}


def _with_input(raw: JsonObject, given: JsonObject) -> JsonObject | None:
    """A copy of a raw call with this input; None where its input is an action of another shape."""
    for place in (("function", "arguments"), ("custom", "input")):
        if isinstance(edit.look(raw, place), str):
            return edit.replace(raw, {place: canon.text(given)})
    for held in HOLDERS:
        if edit.look(raw, held) is not None:
            return edit.replace(raw, {held: given})
    key = next((key for key in ("input", "args", "arguments") if key in raw), None)
    if key is None:
        return None
    return {**edit.untwinned(raw), key: canon.text(given) if isinstance(raw.get(key), str) else given}
