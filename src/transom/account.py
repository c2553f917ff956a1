"""What each decision cost or saved: the lines of a report add up to the size before minus the size after, exactly.

Every stored message has a size as it came and a size as it went. The difference belongs to the decisions about that message: a
picture's to its own line as far as its own price goes, the rest to the message's last line. Where a message changed for the sake
of another one (a result that was put behind its call), it gets a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from transom.canon import size
from transom.ledger import Ledger
from transom.parts import Conversation, Entry, Group, Message, walk
from transom.placeholder import placeholder
from transom.plan import Decision, Size
from transom.planner import Folded, Plan
from transom.pricing import PriceList
from transom.types import Basis, Key
from transom.wire.form import Form

OVER = "the window no longer fitted; the oldest groups go first"
LEFT_EARLIER = "left out since an earlier request"
SUMMED = "a summary stands for it"
SUMMED_EARLIER = "a summary stands for it since an earlier request"


def whole(conversation: Conversation, ledger: Ledger) -> Size:
    """The size of the request as it came."""
    fixed = ledger.fixed(conversation)
    messages = [ledger.message(message) for message in conversation.messages]
    return Size(
        fixed.tokens + sum(price.tokens for price in messages),
        fixed.bytes + sum(price.bytes for price in messages),
        sum(message.role != "system" for message in conversation.messages),
    )


def basis(conversation: Conversation, entries: Iterable[Entry], ledger: Ledger) -> dict[Basis, float]:
    """The share of the request's tokens that each way of knowing stands for."""
    prices = ledger.prices
    tokens: dict[Basis, int] = {}
    fixed = ledger.fixed(conversation)
    tokens[fixed.basis] = fixed.tokens
    for entry in entries:
        price = ledger.message(entry.message)
        for part in walk(entry.message.parts):
            if part.media is not None:
                own = prices.part(part)
                tokens[own.basis] = tokens.get(own.basis, 0) + own.tokens
                tokens[price.basis] = tokens.get(price.basis, 0) - own.tokens
        tokens[price.basis] = tokens.get(price.basis, 0) + price.tokens
    total = sum(tokens.values())
    return {one: share / total for one, share in tokens.items() if share > 0} if total else {}


def lines(  # noqa: PLR0913 - before, after, and what was decided between
    conversation: Conversation,
    groups: Sequence[Group],
    planned: Plan,
    entries: Sequence[Entry],
    repairs: Sequence[Decision],
    *,
    form: Form,
    ledger: Ledger,
) -> tuple[Decision, ...]:
    """Every decision about the request, oldest place first, with sizes that add up to what the request lost."""
    old = _sizes(((message.index, message) for message in conversation.messages), ledger)
    new = _sizes(((entry.seq, entry.message) for entry in entries), ledger)
    under = [g for one in planned.folded for g in one.groups]
    gone = {g.start for g in (*planned.left, *planned.earlier, *under)}
    standing = {entry.seq for entry in entries}
    folds = [_fold_line(one, standing, old, new) for one in planned.folded]
    standing -= {one.fold.first for one in planned.folded}
    drops = [_drop_line((g,), standing, old, OVER) for g in planned.left]
    drops += [_drop_line(run, standing, old, LEFT_EARLIER) for run in _runs(groups, {g.start for g in planned.earlier})]
    settled = frozenset(entry.seq for g in groups if g.start in gone for entry in g.entries) - standing
    settled |= {one.fold.first for one in planned.folded}
    sent = [entry for g in groups if g.start not in gone for entry in g.entries]
    stubs = _stub_lines(sent, planned.verdicts.why, form, ledger.prices)
    made = (*repairs, *planned.lines)
    found = balanced([*((line, line.seq) for line in made), *stubs], old, new, settled)
    return tuple(sorted((*found, *folds, *drops), key=lambda line: line.seq))


def _sizes(messages: Iterable[tuple[int, Message]], ledger: Ledger) -> dict[int, Size]:
    out: dict[int, Size] = {}
    for seq, message in messages:
        price = ledger.message(message)
        out[seq] = out.get(seq, Size()) + Size(price.tokens, price.bytes)
    return out


def _stub_lines(entries: Iterable[Entry], why: Mapping[Key, str], form: Form, prices: PriceList) -> list[tuple[Decision, int]]:
    """A line for each picture that became a placeholder, and the number of the message that it stood in."""
    found: list[tuple[Decision, int]] = []
    for entry in entries:
        for key, part in entry.keyed():
            if part.kind == "image" and part.media is not None and why.get(key):
                words = placeholder(part.media)
                line = Decision(verb="stub", seq=key[0], place=key[1], reason=why[key], name=part.media.name, media=part.kind)
                line = line.sized(
                    tokens=(prices.part(part).tokens, prices.text(words).tokens),
                    bytes=(size(part.raw), size(form.text(words))),
                )
                found.append((line, entry.seq))
    return found


def _runs(groups: Iterable[Group], starts: AbstractSet[int]) -> list[list[Group]]:
    """The groups with these starts, neighbours together: what was left out long ago is one line, not thousands."""
    runs: list[list[Group]] = []
    last = False
    for group in groups:
        if group.start in starts:
            if last:
                runs[-1].append(group)
            else:
                runs.append([group])
        last = group.start in starts
    return runs


def _fold_line(one: Folded, standing: AbstractSet[int], old: Mapping[int, Size], new: dict[int, Size]) -> Decision:
    """What a summary stands for and what it takes. In its host's message, what it takes is its own, not the host's."""
    fold, takes = one.fold, Size(one.takes.tokens, one.takes.bytes)
    if fold.first in standing:
        takes = new[fold.first]  # with the note that may stand before it
    else:
        new[fold.host] = new[fold.host] - takes
    seqs = {entry.seq for group in one.groups for entry in group.entries} - (standing - {fold.first})
    stood_for = sum((old[seq] for seq in seqs if seq in old), Size())
    made = Decision(verb="fold", seq=fold.first, last=fold.last, reason=SUMMED if one.new else SUMMED_EARLIER)
    return made.sized(tokens=(stood_for.tokens, takes.tokens), bytes=(stood_for.bytes, takes.bytes))


def _drop_line(groups: Sequence[Group], standing: AbstractSet[int], sizes: Mapping[int, Size], reason: str) -> Decision:
    covered = {entry.seq for group in groups for entry in group.entries} - standing
    lost = [sizes[seq] for seq in covered if seq in sizes]
    return Decision(
        verb="drop",
        seq=groups[0].start,
        last=max(covered, default=groups[0].start),
        reason=reason,
        tokens_before=sum(one.tokens for one in lost),
        bytes_before=sum(one.bytes for one in lost),
    )


def balanced(
    lines: Sequence[tuple[Decision, int]], old: Mapping[int, Size], new: Mapping[int, Size], settled: frozenset[int]
) -> tuple[Decision, ...]:
    """The lines with sizes that add up: each with the number of the message whose size it changed.

    `settled` are the messages that a drop line covers already. Sizes that a line has are kept; what is left of its message's
    difference goes to the last line about it.
    """
    left: dict[int, Size] = {}
    for seq in {*old, *new} - settled:
        gap = old.get(seq, Size()) - new.get(seq, Size())
        if gap != Size():
            left[seq] = gap
    out: list[Decision] = []
    last: dict[int, int] = {}
    for line, seq in lines:
        own = Size(line.tokens_before - line.tokens_after, line.bytes_before - line.bytes_after)
        if seq not in settled:
            left[seq] = left.get(seq, Size()) - own
            if line.seq == seq:  # a moved part's line tells of the part, not of the message that took it in
                last[seq] = len(out)
        out.append(line)
    for seq, gap in sorted(left.items()):
        if gap == Size():
            continue
        if seq in last:
            out[last[seq]] = _grown(out[last[seq]], gap)
        else:
            moved = Decision(verb="repair", seq=seq, reason="results put behind their calls")
            out.append(_grown(moved, gap))
    return tuple(out)


def _grown(line: Decision, gap: Size) -> Decision:
    """The line with `gap` more taken away: as a larger size before, or, where the message grew, a larger size after."""
    tokens = (line.tokens_before + max(gap.tokens, 0), line.tokens_after + max(-gap.tokens, 0))
    size = (line.bytes_before + max(gap.bytes, 0), line.bytes_after + max(-gap.bytes, 0))
    return line.sized(tokens=tokens, bytes=size)
