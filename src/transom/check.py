"""The last look at a request before it leaves: structure, limits and sums, read again from what was written.

The rules about numbers come from the model card, those about structure from the form. `lint` shows both to the user; `verify`
raises when transom itself would break one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from transom.answers import answer
from transom.catalog import ModelCard
from transom.errors import BadRequest, PlanMismatch
from transom.parts import Conversation, Facts, Message, Part, spell, walk
from transom.plan import Size
from transom.shape import INLINE, mislabelled, unsendable
from transom.wire.form import Fault, Form
from transom.wire.guess import looks

_COMPARES: Final = ("anthropic", "bedrock")
"""Forms whose provider refuses a picture whose declared type is not that of its bytes (anthropics/claude-code 11975, 12947)."""


def limit_faults(conversation: Conversation, card: ModelCard, size: Size) -> list[Fault]:
    """Each limit of the card that the request breaks, with its place and what the provider would answer."""
    pictures = tuple(_pictures(conversation))
    limits = card.limits
    faults: list[Fault] = []
    for place, part in pictures:
        faults += _picture_faults(place, part, conversation.api, card, many=len(pictures) > limits.many)
    if 0 < limits.images < len(pictures):
        faults.append(
            Fault(
                place=conversation.key,
                code="too-many-images",
                says=f"{len(pictures)} pictures, and {card.name} takes at most {limits.images}; leave out the oldest",
                answer=answer("too-many-images", conversation.api, card, count=len(pictures), most=limits.images),
            )
        )
    faults += _size_faults(conversation, card, size)
    return faults


def verify(  # noqa: PLR0913 - what was planned, what was written, and by which rules
    written: Conversation,
    form: Form,
    card: ModelCard,
    *,
    given: Conversation,
    planned: Size,
    counted: Size,
    strict: bool,
) -> tuple[str, ...]:
    """Raise when the written request is illegal, or is not the planned one under `strict`.

    A fault of a kind that stood in what was `given`, and that nothing here can mend, is a BadRequest with the place it was given
    at; any other is transom's own, a PlanMismatch. `counted` is what was counted again from the output. Returns notes on
    differences that are no reason to stop.
    """
    broken = _refused(written, form, card)
    if broken:
        raise _blamed(broken, given, form, card)
    if planned == counted:
        return ()
    note = f"planned {planned.tokens:,} tokens and {planned.bytes:,} bytes, written {counted.tokens:,} and {counted.bytes:,}"
    if strict:
        raise PlanMismatch(note)
    return (note,)


def _refused(conversation: Conversation, form: Form, card: ModelCard) -> list[Fault]:
    found = (*form.legal(conversation, card.quirks), *limit_faults(conversation, card, Size()))
    return [fault for fault in found if fault.refused]


def _blamed(broken: Sequence[Fault], given: Conversation, form: Form, card: ModelCard) -> BadRequest | PlanMismatch:
    """The error for faults that were left: the input's, where it has one of their kinds, else transom's own."""
    codes = {fault.code for fault in broken}
    stood = next((fault for fault in _refused(given, form, card) if fault.code in codes), None)
    if stood is not None:
        seems = looks(given.body) if given.messages else ""  # without messages there is nothing that it could look like
        other = f"; the body looks like {seems}, and was said to be {form.api}" if seems not in ("", form.api) else ""
        return BadRequest(f"{stood.says}{other}", place=stood.place)
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return PlanMismatch(f"{broken[0].says}{more}; the request was not sent", place=broken[0].place)


def _pictures(conversation: Conversation) -> Iterator[tuple[str, Part]]:
    for message in conversation.messages:
        for part in images(message):
            yield spell((conversation.key, message.index, *part.place)), part


def images(message: Message) -> Iterable[Part]:
    """The pictures of a message, nested ones included, in document order."""
    return (part for part in walk(message.parts) if part.kind == "image")


def _picture_faults(place: str, part: Part, api: str, card: ModelCard, *, many: bool) -> list[Fault]:
    facts, limits = part.media.facts if part.media else Facts(), card.limits
    why = unsendable(part, limits)
    if why:
        return [Fault(place=place, code="image", says=f"{why}; replace it by a smaller or valid one, or leave it out")]
    at = place.replace("[", ".").replace("]", "")
    if part.media is not None and part.media.source in INLINE and mislabelled(part.media):
        said = part.media.declared
        return [
            Fault(
                place=place,
                code="media-type",
                says=f"declared as {said or 'nothing'}, and the bytes are {facts.mime}; declare it as that",
                answer=answer("media-type", api, card, said=said, at=at),
                refused=api in _COMPARES,
            )
        ]
    side = max(facts.width, facts.height)
    if many and 0 < limits.many_side < side:
        return [
            Fault(
                place=place,
                code="many-image-side",
                says=f"{facts.width}x{facts.height} px, and a request with more than {limits.many} pictures takes at "
                f"most {limits.many_side} px a side; leave it or older ones out",
                answer=answer("many-image-side", api, card, most=limits.many_side, at=at),
            )
        ]
    return []


def _size_faults(conversation: Conversation, card: ModelCard, size: Size) -> Sequence[Fault]:
    faults: list[Fault] = []
    api, asked = conversation.api, conversation.body.get("max_tokens")
    output = asked if isinstance(asked, int) else 0
    figures = {"count": size.tokens, "most": card.input_limit, "output": output, "total": size.tokens + output}
    if 0 < card.input_limit < size.tokens:
        faults.append(
            Fault(
                place="",
                code="too-long",
                says=f"{size.tokens:,} tokens, and {card.name} takes at most {card.input_limit:,}; fit it to a budget",
                answer=answer("too-long", api, card, **figures),
            )
        )
    if 0 < card.limits.body_bytes < size.bytes:
        faults.append(
            Fault(
                place="",
                code="too-large",
                says=f"{size.bytes:,} bytes, and the body may have at most {card.limits.body_bytes:,}; leave pictures out",
                answer=answer("too-large", api, card),
            )
        )
    return faults
