"""What the page shows, as values: a block for each message and part, with price and verdict. No HTML here.

A thumbnail is made of a picture only if its own bytes are those of a PNG, JPEG, GIF or WebP and its payload is base64 and
nothing else; an SVG, which can carry script, never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import transom
from transom.bill import Row
from transom.frozen import Frozen
from transom.parts import Conversation, Media, Message, Part, spell
from transom.plan import Decision

THUMBS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
LARGEST_SIDE = 8_000
"""Pixels; a picture that claims more could fill the reader's memory."""
MOST_INLINE = 24_000_000
"""Base64 characters of all thumbnails together; the newest pictures get theirs first."""
EXCERPT = 4_000
"""Characters of a text that the page shows."""

BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


class PartBlock(Frozen, frozen=True, kw_only=True):
    """One part of a message."""

    place: str
    kind: str
    depth: int
    label: str
    text: str = ""
    more: int = 0
    thumb: str = ""
    media: str = ""
    tokens: int = 0
    bytes: int = 0
    basis: str = ""
    how: str = ""
    verdict: str = ""
    reason: str = ""


class MessageBlock(Frozen, frozen=True, kw_only=True):
    """One message: its own decision, and its parts."""

    number: int
    place: str
    role: str
    tokens: int
    bytes: int
    share: float
    verdict: str = ""
    reason: str = ""
    changed: bool = False
    parts: tuple[PartBlock, ...] = ()


class Segment(Frozen, frozen=True, kw_only=True):
    """A kind of content and what it takes of the window."""

    kind: str
    tokens: int
    share: float


@dataclass(slots=True)
class Thumbs:
    """Gives out thumbnails until there have been enough."""

    left: int = field(default=MOST_INLINE)
    refused: int = 0

    def of(self, media: Media | None) -> str:
        """A data URL of the picture; "" where it gets none."""
        if media is None or media.kind != "image" or media.source not in ("base64", "data-url"):
            return ""
        facts = media.facts
        payload = re.sub(r"\s+", "", media.payload).replace("-", "+").replace("_", "/")
        safe = facts.mime in THUMBS and not facts.problem and 0 < max(facts.width, facts.height) <= LARGEST_SIDE
        if not safe or not BASE64.fullmatch(payload):
            return ""
        if len(payload) > self.left:
            self.refused += 1
            return ""
        self.left -= len(payload)
        return f"data:{facts.mime};base64,{payload}"


def message_blocks(
    talk: Conversation, bill: transom.Bill, decisions: tuple[Decision, ...], thumbs: Thumbs
) -> tuple[MessageBlock, ...]:
    """A block for each message, oldest first. Thumbnails are given out from the newest message on."""
    most = max((row.price.tokens for row in bill.rows if row.kind == "message"), default=0) or 1
    drawing = _Drawing(talk.key, {row.place: row for row in bill.rows}, most, decisions, thumbs)
    return tuple(reversed([drawing.message(message) for message in reversed(talk.messages)]))


def grouped(decisions: tuple[Decision, ...]) -> dict[tuple[str, str], list[Decision]]:
    """The decisions of one verb and one reason together, in the order of the first of them."""
    groups: dict[tuple[str, str], list[Decision]] = {}
    for one in decisions:
        groups.setdefault((one.verb, one.reason), []).append(one)
    return groups


def segments(bill: transom.Bill) -> tuple[Segment, ...]:
    """What each kind of content takes, the largest first: system and tools, then the kinds of parts."""
    sums: dict[str, int] = {"system and tools": bill.fixed.tokens}
    for row in bill.rows:
        if row.kind != "message":
            sums[row.kind] = sums.get(row.kind, 0) + row.price.tokens
    rest = bill.tokens - sum(sums.values())
    if rest > 0:
        sums["framing"] = rest
    whole = max(bill.tokens, 1)
    ordered = sorted(sums.items(), key=lambda pair: -pair[1])
    return tuple(Segment(kind=kind, tokens=tokens, share=100 * tokens / whole) for kind, tokens in ordered if tokens > 0)


class _Drawing(Frozen, frozen=True):
    """What every block is made from."""

    key: str
    rows: Mapping[str, Row]
    most: int
    decisions: tuple[Decision, ...]
    thumbs: Thumbs

    def message(self, message: Message) -> MessageBlock:
        """The block of one message."""
        place = spell((self.key, message.index))
        price = self.rows[place].price
        mine = tuple(one for one in self.decisions if one.seq <= message.index <= max(one.seq, one.last))
        whole = [one for one in mine if not one.place or one.last > one.seq]
        top = next((one for one in whole if one.verb == "drop"), whole[0] if whole else None)
        return MessageBlock(
            number=message.index,
            place=place,
            role=message.role,
            tokens=price.tokens,
            bytes=price.bytes,
            share=100 * price.tokens / self.most,
            verdict=top.verb if top else "",
            reason=top.reason if top else "",
            changed=bool(mine),
            parts=tuple(self.part(part, depth, message.index, mine) for part, depth in _nested(message.parts, 0)),
        )

    def part(self, part: Part, depth: int, index: int, decisions: tuple[Decision, ...]) -> PartBlock:
        """The block of one part."""
        place = spell((self.key, index, *part.place))
        row = self.rows[place]
        mine = next((one for one in decisions if one.place and one.place == part.place), None)
        text = part.text if part.media is None else ""
        return PartBlock(
            place=place,
            kind=part.kind,
            depth=depth,
            label=_label(part),
            text=text[:EXCERPT],
            more=max(len(text) - EXCERPT, 0),
            thumb=self.thumbs.of(part.media),
            media=_facts(part.media),
            tokens=row.price.tokens,
            bytes=row.price.bytes,
            basis=row.price.basis,
            how=row.how,
            verdict=mine.verb if mine else "",
            reason=mine.reason if mine else "",
        )


def _nested(parts: tuple[Part, ...], depth: int) -> Iterator[tuple[Part, int]]:
    for part in parts:
        yield part, depth
        yield from _nested(part.parts, depth + 1)


def _label(part: Part) -> str:
    words = [part.kind, part.name, f"({part.id})" if part.id else "", "failed" if part.failed else ""]
    return " ".join(word for word in words if word)


def _facts(media: Media | None) -> str:
    if media is None:
        return ""
    facts = media.facts
    words = [
        media.name,
        facts.mime or media.declared,
        f"{facts.width} x {facts.height} px" if facts.width else "",
        f"{media.inline:,} characters inline" if media.inline else f"by {media.source}, nothing inline",
        facts.problem,
    ]
    return ", ".join(word for word in words if word)
