"""What a request costs, part by part."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

from msgspec.structs import replace

from transom.canon import digest
from transom.frozen import Frozen
from transom.parts import Conversation, spell, walk
from transom.pricing import MOST, Price, PriceList
from transom.types import Basis, JsonObject, OnlineCount


class Row(Frozen, frozen=True, kw_only=True):
    """A place of the request and its price. `kind` is the part's kind, or "message" for a whole message.

    `how` is the arithmetic of a piece of media on one line, or in words where its price comes from; "" for anything else.
    """

    place: str
    kind: str
    price: Price
    how: str = ""


class Bill(Frozen, frozen=True, kw_only=True):
    """The price of a request: `tokens` and `bytes` in all, `fixed` for system, tools and frame, and a row a message and part.

    Where a counter of the caller's own said how many tokens it is, `tokens` is that, `basis` is "observed", and `estimated` what
    fixed and rows add up to.

    `bill["messages[3].content[1]"]` is the price of that place.
    """

    model: str
    known: bool
    tokens: int
    bytes: int
    basis: Basis
    fixed: Price
    rows: tuple[Row, ...]
    estimated: int = 0

    def __getitem__(self, place: str) -> Price:
        """The price of a message or part. Raises KeyError for a place that has none."""
        for row in self.rows:
            if row.place == place:
                return row.price
        raise KeyError(place)

    def to_dict(self) -> JsonObject:
        """The bill as JSON."""
        return {
            "model": self.model,
            "known": self.known,
            "tokens": self.tokens,
            "bytes": self.bytes,
            "basis": self.basis,
            **({"estimated": self.estimated} if self.estimated else {}),
            "fixed": {"tokens": self.fixed.tokens, "bytes": self.fixed.bytes, "basis": self.fixed.basis},
            "rows": [
                {
                    "place": row.place,
                    "kind": row.kind,
                    "tokens": row.price.tokens,
                    "bytes": row.price.bytes,
                    "basis": row.price.basis,
                    **({"how": row.how} if row.how else {}),
                }
                for row in self.rows
            ],
        }


def bill(conversation: Conversation, prices: PriceList) -> Bill:
    """The bill of a request as it stands."""
    prices = prices.at(conversation)
    fixed = prices.fixed(conversation)
    rows = tuple(_rows(conversation, prices))
    total = sum((row.price for row in rows if row.kind == "message"), fixed)
    return Bill(
        model=prices.card.name,
        known=prices.card.known,
        tokens=total.tokens,
        bytes=total.bytes,
        basis=total.basis,
        fixed=fixed,
        rows=rows,
    )


def counted(found: Bill, request: JsonObject, count: OnlineCount, counts: MutableMapping[str, int] | None) -> Bill:
    """The bill by a counter of the caller's own, such as the provider's count endpoint, asked once for each request.

    `counts` keeps what it said by the digest of request and model. A figure that is no positive number leaves the bill as it is.
    """
    tokens = said(request, found.model, count, counts)
    return found if tokens is None else replace(found, tokens=tokens, basis="observed", estimated=found.tokens)


def said(request: JsonObject, model: str, count: OnlineCount, counts: MutableMapping[str, int] | None) -> int | None:
    """What a counter of the caller's own says of a request, asked once; None where it is no positive number."""
    known = {} if counts is None else counts
    key = digest({"model": model, "request": request}).hex()
    if key not in known:
        answer: object = count(request)  # whatever it is: the counter is not ours
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 < answer <= MOST:
            return None
        known[key] = answer
    return known[key]


def _rows(conversation: Conversation, prices: PriceList) -> Iterator[Row]:
    from_top = conversation.key
    for message in conversation.messages:
        yield Row(place=spell((from_top, message.index)), kind="message", price=prices.message(message))
        for part, (place, price) in zip(walk(message.parts), prices.parts(message), strict=True):
            how = prices.explain(part.media) if part.media is not None else ""
            yield Row(place=spell((from_top, message.index, *place)), kind=part.kind, price=price, how=how)
