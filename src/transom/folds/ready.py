"""Which summaries are taken: those that stand for what they were asked for, say something, and are smaller than that.

The rule: a summary that is empty, carries a picture, is no smaller than what it stands for, or covers what must stay does no
harm: what it would have stood for goes out, or stays left out, as without it, and a sentence says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from transom.errors import BadSetting
from transom.folds.chunks import Item, key_of
from transom.frozen import Frozen
from transom.parts import Part, walk
from transom.plan import Ask, Fold, FoldRow, Size

CARRIES: Final = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]{16}|[A-Za-z0-9+/]{400}", re.IGNORECASE)
"""What a picture in a text looks like: a data URL, or a run of base64 that no sentence holds."""
EXTERNAL: Final = frozenset({"result", "image", "document", "audio", "video", "server-result"})
"""Parts that can be had again from where they came (CM-58, CM-59)."""


def fulfil(ask: Ask, text: object) -> Fold:
    """The answer to an ask, to be given to a fit as one of `ready`. What is no string is taken as an empty summary.

    It is checked there: a summary that is not used does no harm, and the report says why. Raises BadSetting for what is no ask.
    """
    if not isinstance(ask, Ask):
        raise BadSetting(f"the ask is {type(ask).__name__}; it must be one of a fit's `asks`")
    words = text.encode("utf-8", "replace").decode().strip() if isinstance(text, str) else ""
    return Fold(first=ask.first, last=ask.last, level=ask.level, text=words, key=ask.key)


class Bought(Frozen, frozen=True):
    """What came of the summaries: `folds` as they stand now, `taken` those that are new, `waiting` those that are not needed
    yet or have no room, and a sentence for each that cannot be used.
    """

    folds: tuple[Fold, ...]
    taken: tuple[Fold, ...]
    waiting: tuple[Fold, ...]
    refused: tuple[str, ...]


class Market(Frozen, frozen=True):
    """What summaries are judged by: the items that stand, digests of stored messages, the size of a fold, depth rows of a
    group. `asked`: what was asked for, and left out in part or whole before the summary came, by name.
    """

    standing: Sequence[Item]
    digests: Mapping[int, bytes]
    size: Callable[[Fold], Size]
    rows: Callable[[Sequence[Item]], tuple[FoldRow, ...]]
    salience: bool = False
    asked: Mapping[tuple[int, int, str], Fold] = {}

    def is_late(self, fold: Fold) -> bool:
        """Whether messages that it stands for were left out after it was asked for."""
        return fold.name in self.asked


def buy(
    ready: Sequence[Fold],
    market: Market,
    *,
    total: Size,
    enough: Callable[[Size], bool],
    room: Callable[[Size, Size], bool] = lambda _before, _after: False,
) -> Bought:
    """Take summaries until what goes out is `enough`; behind them those that come late, newest first, where there is `room`:
    they bring back what was left out, so they add to what goes out. One for which there was no room is tried again when others
    have made some. `total` is what would go out without any.
    """
    standing = market.standing
    starts = [item.start for item in standing]
    taken: list[Fold] = []
    waiting: list[Fold] = []
    refused: list[str] = []
    offered = sorted(_fresh(ready, standing), key=lambda one: _order(one, market, starts))
    while offered:
        before, crowded = len(taken), list[Fold]()
        for fold in offered:
            late = market.is_late(fold)
            why, made, spared = _tried(fold, market, _span(fold, starts), taken)
            if why:
                refused.append(f"the summary of messages {fold.first} to {fold.last} is not used: {why}")
            elif not room(total, total - spared) if late else enough(total):
                (crowded if late else waiting).append(fold)
            else:
                taken.append(made)
                total = total - spared
        offered = crowded if len(taken) > before else []
        waiting += crowded if not offered else []
    kept = [one for one in _held(standing) if not any(fold.meets(one) for fold in taken)]
    folds = tuple(sorted((*kept, *taken), key=lambda one: one.first))
    return Bought(folds, tuple(sorted(taken, key=lambda one: one.first)), tuple(waiting), tuple(refused))


def _fresh(ready: Sequence[Fold], standing: Sequence[Item]) -> Iterator[Fold]:
    """Summaries that do not stand yet; of several for one ask the last."""
    stands = _held(standing)
    for fold in {fold.name: fold for fold in ready}.values():
        if not any(one.holds(fold) and one.level >= fold.level for one in stands):
            yield fold


def _held(standing: Sequence[Item]) -> list[Fold]:
    return [item.fold for item in standing if item.fold is not None]


def _span(fold: Fold, starts: Sequence[int]) -> range:
    """Which items it covers."""
    return range(bisect_left(starts, fold.first), bisect_left(starts, fold.last + 1))


def _order(fold: Fold, market: Market, starts: Sequence[int]) -> tuple[bool, float, float, int]:
    if market.is_late(fold):
        return True, 0, 0, -fold.first
    if not market.salience:
        return False, fold.level, 0, fold.first
    covered = [market.standing[at] for at in _span(fold, starts)]
    return False, fold.level, -round(_external(covered), 2), fold.first


def _external(covered: Sequence[Item]) -> float:
    """The share of what is covered that came from tools or is a medium, by the bytes of its JSON text."""
    whole = outside = 0
    for item in covered:
        for entry in item.group.entries if item.group is not None else ():
            for part in entry.message.parts:
                size = _weight(part)
                whole += size
                outside += size if part.kind in EXTERNAL else 0
    return outside / whole if whole else 0


def _weight(part: Part) -> int:
    return 1 + sum(len(inner.text) + (inner.media.inline if inner.media is not None else 0) for inner in walk((part,)))


def _tried(fold: Fold, market: Market, span: range, taken: Sequence[Fold]) -> tuple[str, Fold, Size]:
    """Why a summary cannot be used, or the fold as it would stand and what it spares."""
    standing = market.standing
    covered = [standing[at] for at in span]
    why = _unfit(fold, covered, market)
    if not why and _crosses(fold, standing, taken):
        why = "another summary stands for some of them"
    if why:
        return why, fold, Size()
    made = _seated(fold, market, span)
    size, stood = market.size(made), Size(made.tokens, made.bytes, made.messages)
    if not market.is_late(fold) and made.host < 0 and not _whole(span, standing):
        why = "it stands neither for whole turns nor for steps inside one"
    elif size.tokens >= stood.tokens or size.bytes > stood.bytes:
        took = f"{size.tokens:,} tokens and {size.bytes:,} bytes"
        why = f"with {took} it is no smaller than the {stood.tokens:,} and {stood.bytes:,} that it stands for"
    return why, made, sum((item.size for item in covered), Size()) - size


def _crosses(fold: Fold, standing: Sequence[Item], taken: Sequence[Fold]) -> bool:
    """Whether another summary stands for some of its messages and for others, or was just taken for some of them."""
    crossed = any(one.meets(fold) and not fold.holds(one) for one in _held(standing))
    return crossed or any(one.meets(fold) for one in taken)


def _seated(fold: Fold, market: Market, span: range) -> Fold:
    """The fold as it would stand. One that comes late is measured by what it was asked for; the pictures in that went long ago
    and hold no slots.
    """
    host, ends = _seat(span, market.standing)
    asked = market.asked.get(fold.name)
    if asked is not None:
        rows = tuple(FoldRow(seq=row.seq, tokens=row.tokens) for row in asked.rows)
        return replace(asked, text=fold.text, level=fold.level, ends=ends, rows=rows)
    covered = [market.standing[at] for at in span]
    stood = sum((item.size for item in covered), Size())
    sizes = {"tokens": stood.tokens, "bytes": stood.bytes, "messages": stood.messages}
    return replace(fold, host=host, ends=ends, rows=market.rows(covered), **sizes)


def _unfit(fold: Fold, covered: Sequence[Item], market: Market) -> str:
    if not fold.text:
        return "it is empty"
    if CARRIES.search(fold.text):
        return "it carries a picture or a file"
    if not market.is_late(fold) and (not covered or key_of(covered, market.digests) != fold.key):
        return "what it stands for is not what it was asked for, or was left out since"
    if any(item.fixed for item in covered):
        return "it would stand for what must stay"
    return ""


def _seat(span: range, standing: Sequence[Item]) -> tuple[int, bool]:
    """The host of a fold of these items, or -1, and whether the turn is over behind them."""
    following = next((standing[at] for at in range(span.stop, len(standing)) if not standing[at].aside), None)
    ends = following is None or following.opens
    if any(standing[at].opens for at in span):
        return -1, ends
    opener = next((standing[at] for at in range(span.start - 1, -1, -1) if standing[at].opens), None)
    return (opener.start if opener is not None and opener.fold is None else -1), ends


def _whole(span: range, standing: Sequence[Item]) -> bool:
    following = next((standing[at] for at in range(span.stop, len(standing)) if not standing[at].aside), None)
    return standing[span.start].opens and (following is None or following.opens)
