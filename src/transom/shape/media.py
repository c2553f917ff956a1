"""Media that the provider would refuse whatever else is sent: a placeholder in their place. Wrong declared types are put right.

The rule: a verdict here is about one medium alone and is never taken back. Sides are facts from a header; nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from transom.catalog import Limits
from transom.parts import Entry, Media, Part
from transom.plan import Decision
from transom.stubs import stubbed
from transom.types import Key
from transom.wire.form import Form

INLINE = ("base64", "data-url")
_SAME = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
"""Names that readers of data URLs take for another."""


def mended(entry: Entry, form: Form, limits: Limits) -> tuple[Entry, Sequence[Decision]]:
    """The entry as the provider takes it; the same one, and no decision, where nothing is wrong with its media."""
    if not any(part.media is not None or part.parts for part in entry.message.parts):
        return entry, ()
    dead: dict[Key, Decision] = {}
    wrong: list[tuple[Part, Media]] = []
    lines: list[Decision] = []
    for (seq, place), part in entry.keyed():
        media = part.media
        if media is None or media.source not in INLINE:
            continue
        reason = unsendable(part, limits)
        if reason:
            dead[seq, place] = Decision(verb="stub", seq=seq, place=place, reason=reason, name=media.name, media=media.kind)
        elif mislabelled(media):
            reason = f"declared as {media.declared or 'nothing'}, and the bytes are {media.facts.mime}"
            wrong.append((part, replace(media, declared=media.facts.mime)))
            lines.append(Decision(verb="mend", seq=seq, place=place, reason=reason, name=media.name))
    if not dead and not wrong:
        return entry, ()
    entry = _relabelled(entry, form, wrong)
    return stubbed(entry, dead.keys(), form), [*dead.values(), *lines]


def unsendable(part: Part, limits: Limits) -> str:
    """Why a provider would refuse this medium whatever else is sent; "" when it would not, as far as is known."""
    media = part.media
    if media is None or media.source not in INLINE:
        return ""
    return next(filter(None, (rule(media, limits) for rule in _RULES)), "")


def _undecodable(media: Media, _: Limits) -> str:
    pdf = "pdf" in (media.facts.mime or media.declared)
    kind = {"image": "picture", "document": "PDF" if pdf else "document"}.get(media.kind, media.kind)
    return f"not a valid {kind}: {media.facts.problem}" if media.facts.problem else ""


def _too_many_pages(media: Media, limits: Limits) -> str:
    pages = media.facts.pages
    return f"{pages} pages, over {limits.pages}" if media.kind == "document" and 0 < limits.pages < pages else ""


def _unknown_format(media: Media, limits: Limits) -> str:
    seen = media.facts.mime
    if media.kind != "image" or not limits.formats or seen in limits.formats:
        return ""
    return f"{seen or media.declared or 'an unknown type'}, not one of {', '.join(sorted(limits.formats))}"


def _too_wide(media: Media, limits: Limits) -> str:
    facts = media.facts
    over = media.kind == "image" and 0 < limits.side < max(facts.width, facts.height)
    return f"{facts.width}x{facts.height} px, over {limits.side} px a side" if over else ""


def _too_large(media: Media, limits: Limits) -> str:
    over = media.kind == "image" and 0 < limits.image_bytes < media.inline
    return f"{media.inline:,} base64 characters, over {limits.image_bytes:,}" if over else ""


def _too_dense(media: Media, limits: Limits) -> str:
    facts = media.facts
    known = media.kind == "image" and limits.picture is not None and facts.width > 0 and facts.height > 0
    return limits.picture.refusal(facts.width, facts.height, media.detail) if known and limits.picture else ""


_RULES: tuple[Callable[[Media, Limits], str], ...] = (
    _undecodable, _too_many_pages, _unknown_format, _too_wide, _too_large, _too_dense,
)  # fmt: skip


def mislabelled(media: Media) -> bool:
    """Whether the declared type of a picture is not the one that its bytes show."""
    seen, said = media.facts.mime, media.declared.partition(";")[0].strip().lower()
    if media.kind != "image" or not seen.startswith("image/"):
        return False
    if media.source == "data-url":
        return _SAME.get(said, said) != seen
    return bool(media.mime_at) and said != seen


def _relabelled(entry: Entry, form: Form, wrong: Sequence[tuple[Part, Media]]) -> Entry:
    message = entry.message
    for part, media in wrong:
        message = form.read_message(form.set_media(message.json, part, media), message.index)
    return replace(entry, message=message) if wrong else entry
