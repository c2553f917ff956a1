"""Which summaries are taken: those that stand for what they were asked for, say something, and are smaller than that.

The rule: a summary that is empty, carries a picture, is no smaller than what it stands for, or covers what must stay does no
harm: what it would have stood for goes out as it is, and a sentence says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

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

    It is checked there: a summary that is not used does no harm, and the report says why.
    """
    words = text.encode("utf-8", "replace").decode().strip() if isinstance(text, str) else ""
    return Fold(first=ask.first, last=ask.last, level=ask.level, text=words, key=ask.key)


class Bought(Frozen, frozen=True):
    """What came of the summaries: `folds` as they stand now, `taken` those that are new, `waiting` those that are not needed
    yet, and a sentence for each that cannot be used.
    """

    folds: tuple[Fold, ...]
    taken: tuple[Fold, ...]
    waiting: tuple[Fold, ...]
    refused: tuple[str, ...]


class Market(Frozen, frozen=True):
    """What summaries are judged by: the items that stand, digests of stored messages, the size of a fold, depth rows of a
    group.
    """

    standing: Sequence[Item]
    digests: Mapping[int, bytes]
    size: Callable[[Fold], Size]
    rows: Callable[[Sequence[Item]], tuple[FoldRow, ...]]
    salience: bool = False


def buy(ready: Sequence[Fold], market: Market, *, total: Size, enough: Callable[[Size], bool]) -> Bought:
    """Take summaries until what goes out is `enough`. `total` is what would go out without them."""
    standing = market.standing
    starts = [item.start for item in standing]
    owner: dict[int, Fold] = {}
    waiting: list[Fold] = []
    refused: list[str] = []
    for fold in sorted(_fresh(ready, standing), key=lambda one: _order(one, market, starts)):
        span = _span(fold, starts)
        why, made, spared = _tried(fold, market, span, owner)
        if why:
            refused.append(f"the summary of messages {fold.first} to {fold.last} is not used: {why}")
        elif enough(total):
            waiting.append(fold)
        else:
            owner.update(dict.fromkeys(span, made))
            total = total - spared
    taken = tuple(sorted(set(owner.values()), key=lambda one: one.first))
    kept = tuple(item.fold for at, item in enumerate(standing) if item.fold is not None and at not in owner)
    return Bought(tuple(sorted((*kept, *taken), key=lambda one: one.first)), taken, tuple(waiting), tuple(refused))


def _fresh(ready: Sequence[Fold], standing: Sequence[Item]) -> Iterator[Fold]:
    """Summaries that do not stand yet; of several for one ask the last."""
    stands = [item.fold for item in standing if item.fold is not None]
    by_key = {(fold.first, fold.last, fold.key): fold for fold in ready}
    for fold in by_key.values():
        if not any(one.first <= fold.first and fold.last <= one.last and one.level >= fold.level for one in stands):
            yield fold


def _span(fold: Fold, starts: Sequence[int]) -> range:
    """Which items it covers."""
    return range(bisect_left(starts, fold.first), bisect_left(starts, fold.last + 1))


def _order(fold: Fold, market: Market, starts: Sequence[int]) -> tuple[float, float, int]:
    if not market.salience:
        return fold.level, 0, fold.first
    covered = [market.standing[at] for at in _span(fold, starts)]
    return fold.level, -round(_external(covered), 2), fold.first


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


def _tried(fold: Fold, market: Market, span: range, owner: Mapping[int, Fold]) -> tuple[str, Fold, Size]:
    """Why a summary cannot be used, or the fold as it would stand and what it spares."""
    standing = market.standing
    covered = [standing[at] for at in span]
    why = _unfit(fold, covered, market)
    if not why and any(at in owner for at in span):
        why = "another summary stands for some of them"
    if why:
        return why, fold, Size()
    host, ends = _seat(span, standing)
    stood = sum((item.size for item in covered), Size())
    made = replace(
        fold,
        host=host,
        ends=ends,
        rows=market.rows(covered),
        tokens=stood.tokens,
        bytes=stood.bytes,
        messages=stood.messages,
    )
    size = market.size(made)
    if host < 0 and not _whole(span, standing):
        why = "it stands neither for whole turns nor for steps inside one"
    elif size.tokens >= stood.tokens or size.bytes > stood.bytes:
        took = f"{size.tokens:,} tokens and {size.bytes:,} bytes"
        why = f"with {took} it is no smaller than the {stood.tokens:,} and {stood.bytes:,} that it stands for"
    return why, made, stood - size


def _unfit(fold: Fold, covered: Sequence[Item], market: Market) -> str:
    if not fold.text:
        return "it is empty"
    if CARRIES.search(fold.text):
        return "it carries a picture or a file"
    if not covered or key_of(covered, market.digests) != fold.key:
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
