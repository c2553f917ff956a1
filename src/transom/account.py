"""What each decision cost or saved: the lines of a report add up to the size before minus the size after, exactly.

Every stored message has a size as it came and a size as it went. The difference belongs to the decisions about that message: a
picture's to its own line as far as its own price goes, the rest to the message's last line. Where a message changed for the sake of
another one (a result that was put behind its call), it gets a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from transom.parts import Entry, Group, Message, Part
from transom.plan import Decision
from transom.pricing import PriceList
from transom.types import Key


@dataclass(frozen=True, slots=True)
class Bulk:
    """Tokens and bytes."""

    tokens: int = 0
    bytes: int = 0

    def __add__(self, other: Bulk) -> Bulk:
        """Both together."""
        return Bulk(self.tokens + other.tokens, self.bytes + other.bytes)

    def __sub__(self, other: Bulk) -> Bulk:
        """This one without the other."""
        return Bulk(self.tokens - other.tokens, self.bytes - other.bytes)


def bulk(message: Message, prices: PriceList) -> Bulk:
    """A message's tokens and bytes."""
    price = prices.message(message)
    return Bulk(price.tokens, price.bytes)


def before(messages: Iterable[Message], prices: PriceList) -> dict[int, Bulk]:
    """The size of each stored message as it came, by its number."""
    return {message.index: bulk(message, prices) for message in messages}


def after(entries: Iterable[Entry], prices: PriceList) -> dict[int, Bulk]:
    """The size of what each stored message went out as, by its number."""
    out: dict[int, Bulk] = {}
    for entry in entries:
        out[entry.seq] = out.get(entry.seq, Bulk()) + bulk(entry.message, prices)
    return out


def stub_lines(entries: Iterable[Entry], why: Mapping[Key, str]) -> list[tuple[Decision, Part, int]]:
    """A line for each picture that became a placeholder, with the picture and the number of the entry's message."""
    return [
        (
            Decision(verb="stub", seq=key[0], place=key[1], reason=why[key], name=part.media.name if part.media else ""),
            part,
            entry.seq,
        )
        for entry in entries
        for key, part in entry.keyed()
        if part.kind == "image" and why.get(key)
    ]


def drop_line(group: Group, covered: Sequence[int], sizes: Mapping[int, Bulk], reason: str) -> Decision:
    """The line of a group that does not go out: all that its stored messages came with."""
    whole = sum((sizes.get(seq, Bulk()) for seq in covered), Bulk())
    return Decision(
        verb="drop",
        seq=group.start,
        last=max(covered, default=group.start),
        reason=reason,
        tokens_before=whole.tokens,
        bytes_before=whole.bytes,
    )


def balanced(
    lines: Sequence[tuple[Decision, int]], old: Mapping[int, Bulk], new: Mapping[int, Bulk], settled: frozenset[int]
) -> tuple[Decision, ...]:
    """The lines with sizes that add up: each with the number of the message whose size it changed.

    `settled` are the messages that a drop line covers already. Sizes that a line has are kept; what is left of its message's
    difference goes to the last line about it.
    """
    left: dict[int, Bulk] = {}
    for seq in {*old, *new} - settled:
        gap = old.get(seq, Bulk()) - new.get(seq, Bulk())
        if gap != Bulk():
            left[seq] = gap
    out: list[Decision] = []
    last: dict[int, int] = {}
    for line, seq in lines:
        own = Bulk(line.tokens_before - line.tokens_after, line.bytes_before - line.bytes_after)
        if seq not in settled:
            left[seq] = left.get(seq, Bulk()) - own
            last[seq] = len(out)
        out.append(line)
    for seq, gap in sorted(left.items()):
        if gap == Bulk():
            continue
        if seq in last:
            out[last[seq]] = _grown(out[last[seq]], gap)
        else:
            moved = Decision(verb="repair", seq=seq, reason="results put behind their calls")
            out.append(_grown(moved, gap))
    return tuple(out)


def _grown(line: Decision, gap: Bulk) -> Decision:
    """The line with `gap` more taken away: as a larger size before, or, where the message grew, a larger size after."""
    tokens = (line.tokens_before + max(gap.tokens, 0), line.tokens_after + max(-gap.tokens, 0))
    size = (line.bytes_before + max(gap.bytes, 0), line.bytes_after + max(-gap.bytes, 0))
    return line.sized(tokens=tokens, bytes=size)
