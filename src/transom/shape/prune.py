"""Old tool results: beyond so many of a tool, each becomes a marker that names the tool.

The rule: pruning moves in steps. Per tool a mark says up to which stored message its results are markers; when more results than
allowed are whole, the mark moves so far that `refit` of the allowed number stays, so that the prefix is rewritten rarely. The
marker holds no count: one that says how many newer results there are would change with each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from transom import edit
from transom.frozen import Frozen
from transom.parts import Entry, Part
from transom.plan import Decision
from transom.wire.form import Form

Keep: TypeAlias = int | Mapping[str, int] | None
"""How many results of a tool stay whole: for every tool, by name, or all."""


class _Result(Frozen, frozen=True):
    at: int
    number: int
    seq: int
    part: Part
    tool: str
    done: bool = False


def marker(tool: str) -> str:
    """What stands in place of an older result (CM-121, without its count)."""
    return f"[an older result of {tool} was left out]" if tool else "[an older result was left out]"


def prune(  # noqa: PLR0913 - what is pruned, and by which settings
    entries: list[Entry],
    decisions: list[Decision],
    form: Form,
    *,
    keep: Keep,
    marks: Mapping[str, int],
    refit: float,
    newest: int,
) -> dict[str, int]:
    """Prune `entries` in place, note it in `decisions`, and return the marks as they stand then.

    Entries from number `newest` on are the newest group.
    """
    by_tool: dict[str, list[_Result]] = {}
    for result in _results(entries):
        by_tool.setdefault(result.tool, []).append(result)
    moved = dict(marks)
    gone: dict[int, list[_Result]] = {}
    for tool, found in by_tool.items():
        allowed = keep.get(tool) if isinstance(keep, Mapping) else keep
        if allowed is None or not allowed >= 0:
            continue
        results = [replace(result, done=_is_marker(result, form)) for result in found]
        mark = _mark(results, int(allowed), marks.get(tool, -1), refit, newest)
        if mark >= 0:
            moved[tool] = mark
        for result in results:
            spared = allowed > 0 and result.at >= newest
            if result.seq <= mark and not spared and not result.done:
                gone.setdefault(result.at, []).append(result)
    for at, results in sorted(gone.items()):
        entries[at] = _pruned(entries[at], results, form)
        decisions.extend(_line(entries[at], result) for result in results)
    return moved


def _results(entries: Sequence[Entry]) -> list[_Result]:
    out: list[_Result] = []
    names: dict[str, str] = {}
    for at, entry in enumerate(entries):
        for number, part in enumerate(entry.message.parts):
            if part.kind == "call":
                names[part.id] = part.name
            elif part.kind == "result":
                out.append(_Result(at, number, entry.origin[number][0], part, part.name or names.get(part.id, "")))
    return out


def _mark(results: Sequence[_Result], allowed: int, mark: int, refit: float, newest: int) -> int:
    """Where the mark of a tool stands after this fit. Results of one stored message stay or go together."""
    if allowed == 0:
        return max(mark, *(result.seq for result in results))
    whole: dict[int, int] = {}
    for result in results:
        if result.seq > mark and not result.done:
            whole[result.seq] = whole.get(result.seq, 0) + 1
    if sum(whole.values()) <= allowed:
        return mark
    room = max(1, int(allowed * refit))
    spared = {result.seq for result in results if result.at >= newest}
    for seq in sorted(whole, reverse=True):
        room -= whole[seq]
        if room < 0 and seq not in spared:
            return max(mark, seq)
    return mark


def _is_marker(result: _Result, form: Form) -> bool:
    """Whether a result is its marker already: by its words, or, where a shape has no place for words, by what it would become."""
    part = result.part
    words = part.parts[0].text if len(part.parts) == 1 and part.parts[0].kind == "text" else part.text
    return words == marker(result.tool) or form.set_result(part.raw, marker(result.tool)) == part.raw


def _pruned(entry: Entry, results: Sequence[_Result], form: Form) -> Entry:
    message = entry.message
    changes = [(result.part, form.set_result(result.part.raw, marker(result.tool))) for result in results]
    return replace(entry, message=form.read_message(edit.edited(message.json, changes), message.index))


def _line(entry: Entry, result: _Result) -> Decision:
    seq, place = entry.origin[result.number]
    return Decision(verb="prune", seq=seq, place=place, reason="an older result of this tool", name=result.tool)
