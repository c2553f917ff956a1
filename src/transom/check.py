"""The last look at a request before it leaves: structure, limits and sums, read again from what was written.

The rules about numbers come from the model card, those about structure from the form. `lint` shows both to the user; `verify`
raises when transom itself would break one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from transom.catalog import Limits, ModelCard
from transom.errors import BadRequest, PlanMismatch
from transom.parts import Conversation, Message, Part, spell, walk
from transom.plan import Size
from transom.shape import unsendable
from transom.wire.form import Fault, Form


def limit_faults(conversation: Conversation, card: ModelCard, size: Size) -> list[Fault]:
    """Each limit of the card that the request breaks, with its place and what the provider would answer."""
    pictures = tuple(_pictures(conversation))
    limits = card.limits
    faults: list[Fault] = []
    for place, part in pictures:
        faults += _picture_faults(place, part, limits, many=len(pictures) > limits.many)
    if 0 < limits.images < len(pictures):
        faults.append(
            Fault(
                place=conversation.key,
                code="too-many-images",
                says=f"{len(pictures)} pictures, and {card.name} takes at most {limits.images}; leave out the oldest",
                answer=f"Too much media: 0 document pages + {len(pictures)} images > {limits.images}",
            )
        )
    faults += _size_faults(card, size)
    return faults


def verify(  # noqa: PLR0913 - what was planned, what was written, and by which rules
    written: Conversation,
    form: Form,
    card: ModelCard,
    *,
    planned: Size,
    counted: Size,
    strict: bool,
) -> tuple[str, ...]:
    """Raise PlanMismatch when the written request is illegal, or is not the planned one under `strict`.

    `counted` is what was counted again from the output. Returns notes on differences that are no reason to stop.
    """
    broken = [fault for fault in form.legal(written, card.quirks) if fault.refused]
    broken += [fault for fault in limit_faults(written, card, Size()) if fault.refused]
    if broken and not written.messages:
        raise BadRequest(broken[0].says, place=broken[0].place)  # nothing came in, so nothing was made of it
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise PlanMismatch(f"{broken[0].says}{more}; the request was not sent", place=broken[0].place)
    if planned == counted:
        return ()
    note = f"planned {planned.tokens:,} tokens and {planned.bytes:,} bytes, written {counted.tokens:,} and {counted.bytes:,}"
    if strict:
        raise PlanMismatch(note)
    return (note,)


def _pictures(conversation: Conversation) -> Iterator[tuple[str, Part]]:
    for message in conversation.messages:
        for part in images(message):
            yield spell((conversation.key, message.index, *part.place)), part


def images(message: Message) -> Iterable[Part]:
    """The pictures of a message, nested ones included, in document order."""
    return (part for part in walk(message.parts) if part.kind == "image")


def _picture_faults(place: str, part: Part, limits: Limits, *, many: bool) -> list[Fault]:
    media = part.media
    if media is None:
        return []
    why = unsendable(part, limits)
    if why:
        return [Fault(place=place, code="image", says=f"{why}; replace it by a smaller or valid one, or leave it out")]
    side = max(media.facts.width, media.facts.height)
    if many and 0 < limits.many_side < side:
        return [
            Fault(
                place=place,
                code="many-image-side",
                says=f"{media.facts.width}x{media.facts.height} px, and a request with more than {limits.many} pictures takes at "
                f"most {limits.many_side} px a side; leave it or older ones out",
                answer=f"{place}: At least one of the image dimensions exceed max allowed size for many-image requests: "
                f"{limits.many_side} pixels",
            )
        ]
    return []


def _size_faults(card: ModelCard, size: Size) -> Sequence[Fault]:
    faults: list[Fault] = []
    if 0 < card.input_limit < size.tokens:
        faults.append(
            Fault(
                place="",
                code="too-long",
                says=f"{size.tokens:,} tokens, and {card.name} takes at most {card.input_limit:,}; fit it to a budget",
                answer=f"prompt is too long: {size.tokens} tokens > {card.input_limit} maximum",
            )
        )
    if 0 < card.limits.body_bytes < size.bytes:
        faults.append(
            Fault(
                place="",
                code="too-large",
                says=f"{size.bytes:,} bytes, and the body may have at most {card.limits.body_bytes:,}; leave pictures out",
                answer="413 request_too_large",
            )
        )
    return faults
