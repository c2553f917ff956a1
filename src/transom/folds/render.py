"""How a fold goes out: as a pair of turns where it stands for whole turns, as a text inside a turn.

Two messages of the assistant in a row would be merged by the provider, and the merged turn would start with text instead of
thinking. So a fold inside a turn goes to the end of the user's message that opens the turn; one that the turn ends with is
the assistant's own message (planner, "Rendering a fold"). The rule: what is written for a fold depends on the fold, and on
whether its host stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from transom.parts import Entry, Group, Message
from transom.plan import Fold, Size
from transom.pricing import PriceList
from transom.shape.cap import CHARACTERS, shortened
from transom.wire.form import Form

QUESTION: Final = "(what was said before is summed up here)"
"""The user's turn in front of a summary of whole turns."""
INSIDE: Final = "(steps that were taken since are summed up here)"
"""The first line of a summary that stands inside a turn."""
SUMMARY: Final = "summary"
"""The place of a part that a fold made: `("summary", n)` in the first message that it stands for."""


def placed(groups: Sequence[Group], folds: Sequence[Fold], form: Form, *, cap: float = 0) -> tuple[Group, ...]:
    """The groups with the folds where they go out, in order. `groups` are those that no fold covers; `cap`: tokens a message.

    A fold inside a turn is in its host's message; a group that is no host is the same object.
    """
    if not folds:
        return tuple(groups)
    hosts = {group.start for group in groups if group.opens}
    hosted: dict[int, list[Fold]] = {}
    out: list[Group] = []
    for fold in folds:
        if not fold.ends and fold.host in hosts:
            hosted.setdefault(fold.host, []).append(fold)
        else:
            out.append(_alone(fold, form, cap))
    out += [_hosting(group, hosted[group.start], form, cap) if group.start in hosted else group for group in groups]
    return tuple(sorted(out, key=lambda group: group.start))


def size_of(fold: Fold, form: Form, prices: PriceList, *, cap: float = 0) -> Size:
    """What a fold takes in a request, at the most: inside a host it is a little less."""
    found = [prices.message(message) for message in _messages(fold, form, cap)]
    return Size(sum(price.tokens for price in found), sum(price.bytes for price in found), len(found))


def _messages(fold: Fold, form: Form, cap: float) -> list[Message]:
    said: Mapping[Literal["user", "assistant"], str]
    words = shortened(fold.text, int(cap * CHARACTERS)) if cap > 0 else fold.text
    if fold.host < 0:
        said = {"user": QUESTION, "assistant": words}
    else:
        said = {"assistant" if fold.ends else "user": f"{INSIDE}\n{words}"}
    return [form.read_message(form.message(role, [form.text(text)]), fold.first) for role, text in said.items()]


def _alone(fold: Fold, form: Form, cap: float) -> Group:
    entries = tuple(
        Entry(message=message, seq=fold.first, origin=tuple((fold.first, (SUMMARY, n)) for n in range(len(message.parts))))
        for message in _messages(fold, form, cap)
    )
    return Group(start=fold.first, entries=entries, request=False, opens=entries[0].message.role == "user")


def _hosting(group: Group, folds: Sequence[Fold], form: Form, cap: float) -> Group:
    """The user's message with the summaries behind it."""
    entry, *behind = group.entries
    json = entry.message.json
    for fold in folds:
        json = form.join(json, _messages(fold, form, cap)[0].json)
    message = form.read_message(json, entry.message.index)
    made = ((entry.seq, (SUMMARY, n)) for n in range(len(entry.origin), len(message.parts)))
    return replace(group, entries=(replace(entry, message=message, origin=(*entry.origin, *made)), *behind))
