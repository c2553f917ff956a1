"""The price list: what each part of a conversation costs, in tokens and in bytes of the body, and how that is known.

The rule of this file: a price list is a value, and a message's price depends on that message alone, so that sums add up.
Nothing is free because it could not be read; no stamp that is not a finite number of at least 0 is ever used.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator, Mapping, MutableMapping

from msgspec import field
from msgspec.structs import replace

from transom import canon, probe
from transom.catalog import ModelCard
from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.parts import Conversation, Facts, Media, Message, Part, walk
from transom.probe.office import OFFICE
from transom.rules.tools import held
from transom.types import Basis, Count, Json, Place

ORDER: tuple[Basis, ...] = ("exact", "rule", "observed", "estimate", "flat")
SCALED = frozenset({"estimate", "flat"})
"""What a learned multiplier scales: figures that are guesses."""
MOST = 1e12
"""Above this a stamp, a count of pages or a length is no figure; NaN and infinity fail the comparison as well."""
TEXTUAL = ("text/", "application/json", "application/xml", "application/yaml")
"""Types of documents that are billed as the text that they are."""
PAGE_OF_TEXT = 3_000
"""Characters of a page of which only the number of pages is known: a page of prose."""
FASTEST = 120
"""Pictures a second of a film above which a figure is none."""
LONGEST_SIDE = 1_000_000
"""Sides above this are no picture; the price is that of a picture of this side."""


class Price(Frozen, frozen=True):
    """Tokens and bytes of the body, and how the tokens are known. A sum has the worst basis of what it is made of."""

    tokens: int = 0
    bytes: int = 0
    basis: Basis = "exact"

    def __add__(self, other: Price) -> Price:
        """Both together."""
        worst = self.basis if self.basis == other.basis else max(self.basis, other.basis, key=ORDER.index)
        return Price(self.tokens + other.tokens, self.bytes + other.bytes, worst)


class Known(Frozen, frozen=True, kw_only=True):
    """What the caller knows of a file id, a URL or a payload's SHA-256; 0 where nothing."""

    tokens: int = 0
    width: int = 0
    height: int = 0
    pages: int = 0
    seconds: float = 0.0
    text_chars: int = 0


class Where(Frozen, frozen=True, kw_only=True):
    """Where a part stands: in a message that calls tools, behind the user's last turn, inside a tool's result, as all of it
    (`only`), behind another document of its message (`further`). `unread`: the same thought stands before it, or the template
    does not write such a call.
    """

    calls: bool = True
    live: bool = True
    in_result: bool = False
    only: bool = False
    further: bool = False
    unread: bool = False


class Look(Frozen, frozen=True):
    """How a medium is asked for: its resolution, pictures a second of a film, inside a tool's result, as all of it, behind
    another document of its message.
    """

    detail: str = ""
    frames: float = 0
    in_result: bool = False
    only: bool = False
    further: bool = False


class PriceList(Frozen, frozen=True):
    """A card, and what a session has learned.

    `multiplier` scales the estimated share. `known` tells of file ids, URLs and digests (SHA-256 hex of the payload's text).
    `count` is the caller's own text counter. `memo` keeps counts by the text's hash and length, never the text; give the same
    one to several price lists of one card to count each text once. `stamp_first`: a stamp goes before the header's sides.
    `live`, `alone` and `resolution` are what `at` finds in a request: the number of the user's last turn, whether there is one
    picture or page at most, and the resolution that is asked for all media.
    """

    unshown = ("known", "count", "memo")

    card: ModelCard
    multiplier: float = 1.0
    known: Mapping[str, Known] = field(default_factory=dict)
    count: Count | None = None
    memo: MutableMapping[tuple[int, int, bool], int] = field(default_factory=dict)
    stamp_first: bool = False
    live: int = -1
    alone: bool = True
    resolution: str = ""

    def __post_init__(self) -> None:
        """Refuse a multiplier that is not a positive number."""
        if not (math.isfinite(self.multiplier) and self.multiplier > 0):
            message = f"the multiplier {self.multiplier!r} is not a positive number; use 1.0"
            raise BadSetting(message)

    def at(self, conversation: Conversation) -> PriceList:
        """The same prices for this request: some depend on where the user's last turn is, and on how many pictures there are."""
        turns = (message.index for message in reversed(conversation.messages) if is_turn(message))
        config = held(conversation.body, "generationConfig") or held(conversation.body, "generation_config")
        resolution = config.get("mediaResolution", config.get("media_resolution"))
        pictures = sum(part.media is not None and part.kind in {"image", "document"} for part in parts_of(conversation))
        return replace(
            self,
            live=next(turns, -1),
            alone=pictures < 2,
            resolution=level(resolution),
        )

    def fixed(self, conversation: Conversation) -> Price:
        """Everything but the messages: system outside the list, tools with their preamble, framing.

        Its bytes are those of the body without its messages.
        """
        around = self._framed(self.card.frame.request(conversation, self._tokens))
        body = {**conversation.body, conversation.key: []}
        parts = sum((self._of(part) for part in conversation.system), start=Price(around.tokens, 0, around.basis))
        # every message brings a comma, and the last has none
        return Price(parts.tokens, canon.size(body) - 1, parts.basis)

    def message(self, message: Message) -> Price:
        """A message alone: its frame and all its parts; bytes of its JSON and the comma behind it."""
        price = self._framed(self.card.frame.message(message, self._tokens))
        for part, where in self._within(message):
            price += self._own(part, where)
        return Price(price.tokens, canon.size(message.json) + 1, price.basis)

    def parts(self, message: Message) -> tuple[tuple[Place, Price], ...]:
        """What each part of a message costs by itself, nested ones at their own place; a container costs its markup."""
        return tuple((part.place, self._sized(part, self._own(part, where))) for part, where in self._within(message))

    def part(self, part: Part) -> Price:
        """One part with all that stands in it."""
        return self._sized(part, self._of(part))

    def text(self, words: str) -> Price:
        """A text part that says `words`, without a frame."""
        return self._scaled(self._tokens(words), self._basis())

    def price_media(self, media: Media) -> Price:
        """A picture or another medium by itself; its bytes are those of its payload in the body."""
        price, _ = self._media(media)
        return Price(self._scaled(price.tokens, price.basis).tokens, media.inline, price.basis)

    def explain(self, media: Media) -> str:
        """The arithmetic of a picture on one line, or in words where its price comes from."""
        price, how = self._media(media)
        return f"{how} ({self.card.image_label})" if media.kind == "image" and price.basis == "rule" else how

    def _within(self, message: Message) -> Iterator[tuple[Part, Where]]:
        """Each part of a message and where it stands."""
        calls, live = has_calls(message), message.index > self.live
        dropped = calls and not self.card.frame.writes_calls(message)
        thoughts: set[str] = set()
        documents = 0
        plainly = Where(calls=calls, live=live)
        for part in message.parts:
            if part.kind == "text" and not part.parts:
                yield part, plainly
                continue
            if part.kind == "reasoning" and part.text:
                again = part.text in thoughts  # servers give the same thought under two names, and read one (62 requests)
                thoughts.add(part.text)
                yield part, Where(calls=calls, live=live, unread=again)
                continue
            if part.kind == "call" and dropped:
                yield part, Where(calls=calls, live=live, unread=True)
                continue
            for inner in walk((part,)):
                within = part.kind == "result" and inner is not part
                only = within and len(part.parts) == 1 and not part.text
                documents += inner.kind == "document"
                further = inner.kind == "document" and documents > 1
                yield inner, Where(calls=calls, live=live, in_result=within, only=only, further=further)

    def _of(self, part: Part) -> Price:
        """A part and all that stands in it, without bytes."""
        return sum((self._own(inner, Where()) for inner in walk((part,))), start=Price())

    def _own(self, part: Part, where: Where) -> Price:
        """A part by itself, without bytes and without what stands in it."""
        if part.media is not None:
            price = self._media(part.media, look(part, self.resolution, where))[0]
            about = self._about(part, part.media)
            return self._scaled(price.tokens, price.basis) + (self._scaled(about, self._basis()) if about else Price())
        read = self._scaled(self._content(part, where), self._basis())
        hidden = self.card.frame.hidden(part, live=where.live)
        return read + self._scaled(hidden, "estimate") if hidden else read

    def _about(self, part: Part, media: Media) -> int:
        """Tokens of a document's title and context, which are read beside it."""
        if part.kind != "document" or not part.text:
            return 0
        return self._tokens(part.text.removesuffix(media.payload).strip() if media.source == "text" else part.text)

    def _content(self, part: Part, where: Where) -> int:
        """Tokens of a part that is no medium."""
        if where.unread or part.kind == "reference":
            return 0
        if part.kind == "call":
            return self.card.frame.call(part, self._dense)
        if part.kind == "result":
            return self.card.frame.result(part, self._dense)
        if part.kind == "reasoning":
            return self.card.frame.reasoning(part, self._tokens, calls=where.calls, live=where.live)
        if part.kind == "text" or part.text or part.parts:
            return self._tokens(self.card.frame.said(part.text, live=where.live))
        return self._dense(canon.text(part.raw))

    def _media(self, media: Media, look: Look | None = None) -> tuple[Price, str]:
        """What a medium costs and in words why. Order: the header, the stamp, what is known, the flat price."""
        ways = (self._by_stamp, self._by_header) if self.stamp_first or self.card.flat else (self._by_header, self._by_stamp)
        look = look or Look(self.resolution)
        for way in (*ways, self._by_known):
            found = way(media, look)
            if found is not None:
                return found
        words = written(media)
        if words is not None:
            return Price(self._tokens(words) + self.card.media.text, 0, self._basis()), "the text of the document"
        packed = self._packed(media)
        if packed:
            tokens = packed + max(self.card.media.text, self.card.media.around)
            return Price(tokens, 0, "estimate"), f"{media.facts.text_chars:,} characters in the document: {tokens:,} tokens"
        flat = self.card.image_flat if media.kind == "image" else self.card.media.least(media.kind)
        return Price(flat, 0, "flat"), f"nothing is known of it: {flat:,} tokens, the flat price"

    def _by_header(self, media: Media, look: Look) -> tuple[Price, str] | None:
        """By what its first bytes say."""
        if media.facts.problem or media.source == "text":
            return None
        return self._by_facts(media, media.facts, look)

    def _by_facts(self, media: Media, facts: Facts, look: Look) -> tuple[Price, str] | None:
        """By sides, pages or seconds, as the card's rules have it."""
        rule = self.card.media
        if media.kind == "image" and facts.width > 0 and facts.height > 0 and not self.card.flat:
            return self._picture(min(facts.width, LONGEST_SIDE), min(facts.height, LONGEST_SIDE), media.detail or look.detail)
        if media.kind == "document" and 0 < facts.pages <= MOST:
            if look.only and rule.only_in_result:
                return Price(rule.only_in_result, 0, "estimate"), "it is all of a tool's result, and not read there"
            low = look.detail == "low"
            tokens = rule.document(facts, alone=self.alone, in_result=look.in_result, low=low, further=look.further)
            words = f"{facts.pages:,} pages, some {facts.text_chars:,} characters on them: {tokens:,} tokens"
            return (Price(tokens, 0, "estimate"), words) if tokens else None
        if media.kind == "audio" and rule.second and 0 < facts.seconds <= MOST:
            tokens = rule.sound(facts.seconds)
            around = f" + {rule.around_sound}" if rule.around_sound else ""
            return Price(tokens, 0, "rule"), f"{facts.seconds:.2f} seconds x {rule.second}{around} = {tokens:,} tokens"
        if media.kind == "video" and rule.frame and 0 < facts.seconds <= MOST:
            tokens = rule.film(facts, detail=look.detail, frames=look.frames)
            return Price(tokens, 0, "estimate"), f"{facts.seconds:.2f} seconds of film = {tokens:,} tokens"
        return None

    def _picture(self, width: int, height: int, detail: str) -> tuple[Price, str]:
        """By its sides."""
        rule = self.card.image if self.alone else self.card.image_many or self.card.image
        basis: Basis = "rule" if self.card.known else "estimate"
        return Price(rule.tokens(width, height, detail), 0, basis), rule.explain(width, height, detail)

    def _by_stamp(self, media: Media, look: Look) -> tuple[Price, str] | None:  # noqa: ARG002 - as the other ways have it
        """By the host's own figure, where it is one. An unreadable inline picture is never cheaper than the flat price."""
        stamp = media.stamp
        if media.generated or isinstance(stamp, bool) or not isinstance(stamp, int | float) or not 0 <= stamp <= MOST:
            return None
        tokens = math.ceil(stamp)
        if media.kind == "image" and media.facts.problem and media.inline and not self.card.flat:
            tokens = max(tokens, self.card.image_flat)
        return Price(tokens, 0, "estimate"), f"stamped with {tokens:,} tokens"

    def _by_known(self, media: Media, look: Look) -> tuple[Price, str] | None:
        """By what the caller knows of the id, the URL or the payload."""
        if not self.known:
            return None
        known = self.known.get(media.payload) or self.known.get(hashlib.sha256(media.payload.encode()).hexdigest())
        if known is None:
            return None
        if 0 < known.tokens <= MOST:
            return Price(known.tokens, 0, "observed"), f"known to cost {known.tokens:,} tokens"
        letters = known.text_chars if 0 < known.text_chars <= MOST else PAGE_OF_TEXT * max(known.pages, 0)
        facts = Facts(width=known.width, height=known.height, pages=known.pages, seconds=known.seconds, text_chars=letters)
        return self._by_facts(media, facts, look)

    def _sized(self, part: Part, price: Price) -> Price:
        """A part's price with the bytes of its JSON."""
        return Price(price.tokens, canon.size(part.raw), price.basis)

    def _basis(self) -> Basis:
        """How text is known."""
        return "exact" if self.count else self.card.counter.basis

    def _framed(self, tokens: int) -> Price:
        """Framing: by rule where the text is counted well, else an estimate like the text in it."""
        basis = self._basis()
        return self._scaled(tokens, "rule" if basis == "exact" else basis)

    def _scaled(self, tokens: int, basis: Basis) -> Price:
        """A figure with the multiplier, where it is a guess; halves go up, and nothing falls below 0 (CM-55, CM-65)."""
        if basis in SCALED and self.multiplier != 1.0:
            tokens = math.floor(tokens * self.multiplier + 0.5)
        return Price(max(0, tokens), 0, basis)

    def _dense(self, text: str) -> int:
        """Tokens of a tool's input or result."""
        return self._tokens(text, dense=True)

    def _packed(self, media: Media) -> int:
        """Tokens of an office document's words, counted once, since reading them takes long; 0 where it is none."""
        if media.kind != "document" or media.source not in {"base64", "data-url"} or media.facts.mime not in OFFICE.values():
            return 0
        key = hash(media.payload), -len(media.payload), False  # below nothing, where no text's length is
        if key not in self.memo:
            words = probe.words(media.payload)
            share = max(1.0, media.facts.text_chars / len(words)) if words else 0.0
            self.memo[key] = math.ceil(self._tokens(words) * share)
        return self.memo[key]

    def _tokens(self, text: str, dense: bool = False) -> int:  # noqa: FBT001, FBT002 - handed on as a counter
        """Tokens of a text, counted once."""
        key = hash(text), len(text), dense
        found = self.memo.get(key)
        if found is None:
            found = self.count(text) if self.count else self.card.counter.count(text, dense=dense)
            self.memo[key] = found
        return found


def look(part: Part, resolution: str, where: Where) -> Look:
    """How the medium of a part is asked for; what the part says itself comes before what the request says."""
    raw = part.raw if isinstance(part.raw, dict) else {}
    own = raw.get("mediaResolution", raw.get("media_resolution"))
    own = own.get("level") if isinstance(own, dict) else own
    film = held(raw, "videoMetadata") or held(raw, "video_metadata")
    frames = film.get("fps")
    if isinstance(frames, bool) or not isinstance(frames, int | float) or not 0 < frames <= FASTEST:
        frames = 0.0
    return Look(level(own) or resolution, float(frames), where.in_result, where.only, where.further)


def level(resolution: Json) -> str:
    """Gemini's resolution as a detail: `MEDIA_RESOLUTION_LOW` is `low`."""
    said = resolution.removeprefix("MEDIA_RESOLUTION_").lower() if isinstance(resolution, str) else ""
    return "" if said == "unspecified" else said


def written(media: Media) -> str | None:
    """The words of a document that is plain text, inline as it is or in base64; None where it is none."""
    if media.source == "text":
        return media.payload
    textual = (media.facts.mime or media.declared).startswith(TEXTUAL) or media.declared.startswith(TEXTUAL)
    if media.kind != "document" or media.source not in {"base64", "data-url"} or not textual:
        return None
    try:
        return base64.b64decode(media.payload, validate=True).decode("utf-8", "replace")
    except ValueError:
        return None


def is_turn(message: Message) -> bool:
    """Whether the user says something himself, beside results of tools."""
    return message.role == "user" and any(part.kind != "result" for part in message.parts)


def parts_of(conversation: Conversation) -> Iterator[Part]:
    """Every part of every message."""
    return (part for message in conversation.messages for part in walk(message.parts))


def has_calls(message: Message) -> bool:
    """Whether the message calls a tool."""
    return any(part.kind in {"call", "server-call"} for part in message.parts)
