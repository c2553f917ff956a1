"""Calls and results, brought together once, on the stored order, before anything else: groups that are legal and never split.

The rules: what is legal stays the very object that was given; each repair is a decision; what a repair writes for a message
depends on that message and on newer ones, never on its number or on what stands before it (the start law). The one exception is
the number behind an id that an earlier call has: it is decided by the stored sequence, so that appending never renames a call.

Pairing its own output changes nothing. Settled here: a late result is found however far behind its call it arrives (CM-100 looks
at six entries); a trailing call is answered, not taken away (CM-102), since its turn may hold words and signed thinking.
"""

from __future__ import annotations

from typing import Literal

from transom.pairing import positions, served
from transom.pairing.draft import Draft, drafted
from transom.pairing.ends import (
    nothing_left,
    rejoined,
    with_edges,
    with_spoken_documents,
    with_thinking,
    without_bare_thinking,
    without_empties,
    without_final_thinking,
    without_lost_reasoning,
)
from transom.pairing.failed import with_words
from transom.pairing.groups import grouped
from transom.pairing.kept import with_own_ids
from transom.pairing.match import match
from transom.pairing.pictures import with_pictures_behind
from transom.pairing.place import Placer
from transom.pairing.slips import without_slips
from transom.pairing.tidy import split, with_arguments, with_contents, with_names, without_blanks
from transom.parts import Conversation, Group
from transom.plan import Decision
from transom.wire.form import Form
from transom.wire.naming import declared

__all__ = ["pair"]


def pair(
    conversation: Conversation,
    form: Form,
    *,
    late_results: Literal["move", "append"] = "move",
    quirks: frozenset[str] = frozenset(),
    apart: bool = False,
) -> tuple[tuple[Group, ...], tuple[Decision, ...]]:
    """The conversation as groups that the provider takes, and what was repaired.

    `late_results`: a result that arrives after the assistant spoke again is moved up to its call, or ("append") stays where it
    arrived, as text that names the call, while a failed stub answers the call; so nothing sent before changes.
    `quirks` of the model: "no-prefill" (no assistant turn at the end), "unique-ids" (no id twice in a request, in forms whose
    provider takes that), "strict-pairs" (each result right behind its call, in forms of items), "openai-checks" (ids of items,
    and who may show pictures, as OpenAI checks them).
    `apart`: what the user says between a call and its output is a group of its own, and the output goes up to its call, also
    where the provider minds no such order.
    """
    if not conversation.messages:
        return (), ()
    drafts, decisions = _tidied(conversation, form, quirks)
    unique = form.ids == "request" or "unique-ids" in quirks
    if form.ids == "position":
        decisions += positions.link(drafts)
    held = bool(conversation.held) or any("reference" in draft.kinds for draft in drafts)
    strict = "strict-pairs" in quirks
    anywhere = form.items and not strict and not apart
    longest = form.longest_id if not form.longest_for or form.longest_for in quirks else 0
    matches = match(drafts, form, late=late_results, unique=unique, held=held, anywhere=anywhere, longest=longest)
    placer = Placer(drafts, matches, form, strict=strict, anywhere=anywhere)
    runs = list(placer.runs())
    shown = list(with_pictures_behind(runs, form, quirks))
    runs, emptied = without_empties(runs, form)
    runs, lost = without_lost_reasoning(runs, form)
    runs = rejoined(runs, form) or [nothing_left(form, 0)]
    decisions += [*matches.decisions, *placer.decisions, *shown, *emptied, *lost]
    decisions += _ended(runs, conversation, form, quirks)
    return grouped(runs, form, declared=bool(conversation.tools)), tuple(decisions)


def _tidied(conversation: Conversation, form: Form, quirks: frozenset[str]) -> tuple[list[Draft], list[Decision]]:
    decisions: list[Decision] = []
    messages = without_slips(conversation.messages, form, quirks, decisions)
    messages = list(with_own_ids(messages, conversation, form, quirks, decisions))
    messages = with_names(messages, form, decisions) if form.names_documents else messages
    if form.results_tell:
        messages = with_contents(messages, form, decisions)
    tools = declared(conversation.tools)
    drafts = [drafted(message) for message in messages]
    for draft in drafts:
        if form.merges:
            decisions += with_words(draft, form) if form.failures_say else ()
            decisions += without_blanks(draft)
        decisions += with_arguments(draft, form, tools)
    drafts, bundles = split(drafts, form)
    return drafts, decisions + bundles + served.without_orphans(drafts)


def _ended(runs: list[list[Draft]], conversation: Conversation, form: Form, quirks: frozenset[str]) -> list[Decision]:
    """The mends that need to know what follows."""
    decisions = list(without_bare_thinking([draft for run in runs for draft in run], form))
    if conversation.thinks:
        decisions += with_thinking(runs, form)
    decisions += with_edges(runs, form, quirks, held=bool(conversation.held))
    if form.names_documents:
        decisions += with_spoken_documents([draft for run in runs for draft in run], form)
    if conversation.unthinking and "signed-thinking" in quirks:
        decisions += without_final_thinking(runs[-1], form)
    # Last, since a note of the user behind the last turn ends what a server tool may still answer.
    return decisions + served.with_answers([draft for run in runs for draft in run], form)
