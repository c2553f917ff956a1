"""The form that each message is sent in before anything is judged or priced: mended, pruned, cut, in this order.

The rules: what nothing is done to stays the same entry. What is sent for a message depends on that message, on newer ones and on
the persisted marks of pruning (the start law). Mending and the cap look at one message alone, so they hold for the newest one,
too: a message that was cut only once it is old would be written anew (CM-106, CM-122). Pruning spares the newest group, whose
results nobody has read yet, unless no result of the tool may stay (CM-120: 0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from transom.catalog import Limits
from transom.parts import Entry, Group
from transom.plan import Decision
from transom.shape.cap import capped
from transom.shape.inputs import with_small_inputs
from transom.shape.media import INLINE, mended, mislabelled, unsendable
from transom.shape.prune import Keep, prune
from transom.types import Count, Cut
from transom.wire.form import Form

__all__ = ["INLINE", "Shaped", "mislabelled", "shape", "unsendable"]

_Step: TypeAlias = Callable[[Entry], tuple[Entry, Sequence[Decision]]]
Shaped: TypeAlias = tuple[tuple[Group, ...], tuple[Decision, ...], tuple[tuple[str, int], ...]]
"""Groups in their sent form, what was done, and per tool the stored message up to which its results are pruned."""


def shape(  # noqa: PLR0913 - the stage's inputs and its settings
    groups: Sequence[Group],
    form: Form,
    *,
    limits: Limits,
    price_text: Count,
    results_per_tool: Keep = None,
    max_input_tokens: float = 0,
    max_message_tokens: float = 0,
    cut: Cut | None = None,
    marks: Iterable[tuple[str, int]] = (),
    refit: float = 0.5,
) -> Shaped:
    """The groups in the form that they are sent in before verdicts.

    limits: what the provider refuses; media beyond it become placeholders, declared types become those that the bytes show.
    price_text: tokens of a text; asked only for calls, and only where `max_input_tokens` is set.
    results_per_tool: how many results of a tool stay whole, for every tool or by name. None, a negative number and a tool that
        is not named: all of them; 0: none (CM-120).
    marks, refit: where pruning stands per tool, from the last fit's state, and to which share it trims when a tool has too many.
    max_input_tokens, max_message_tokens: 0 or less: off.
    cut: the cap's hook instead of the default cut, called once per message. Raises BadSetting where it answers with anything
        but a message that has the same calls and results.
    """
    entries = [entry for group in groups for entry in group.entries]
    decisions: list[Decision] = []
    _each(entries, decisions, lambda entry: mended(entry, form, limits))
    marked: Mapping[str, int] = dict(marks)
    if results_per_tool is not None:
        newest = len(entries) - len(groups[-1].entries) if groups else 0
        marked = prune(entries, decisions, form, keep=results_per_tool, marks=marked, refit=refit, newest=newest)
    if max_input_tokens > 0:
        _each(entries, decisions, lambda entry: with_small_inputs(entry, form, max_input_tokens, price_text))
    if max_message_tokens > 0:
        _each(entries, decisions, lambda entry: capped(entry, form, int(max_message_tokens), cut))
    return _regrouped(groups, entries), tuple(decisions), tuple(sorted(marked.items()))


def _each(entries: list[Entry], decisions: list[Decision], step: _Step) -> None:
    for number, entry in enumerate(entries):
        done, lines = step(entry)
        if lines:
            entries[number] = done
            decisions.extend(lines)


def _regrouped(groups: Sequence[Group], entries: Sequence[Entry]) -> tuple[Group, ...]:
    out: list[Group] = []
    at = 0
    for group in groups:
        end = at + len(group.entries)
        own = tuple(entries[at:end])
        same = all(new is old for new, old in zip(own, group.entries, strict=True))
        out.append(group if same else replace(group, entries=own))
        at = end
    return tuple(out)
