"""Results that say they failed: they hold words and nothing else (Anthropic, "all content must be type `text` if `is_error` is
true", "content cannot be empty if `is_error` is true", and the same of Claude on Bedrock, 2026-08).

The rule: it looks at its own message only. What a failed tool showed is kept, behind the results of its message.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from transom import canon, edit
from transom.pairing.draft import Draft, Slot, made
from transom.pairing.notes import FAILED, MEDIA_HERE
from transom.parts import Part
from transom.plan import Decision
from transom.types import Json, Place
from transom.wire.form import Form


def with_words(draft: Draft, form: Form) -> Iterator[Decision]:
    """Let each failed result of a message hold text, and some."""
    if "result" not in draft.kinds or not any(part.failed for part in draft.parts):
        return
    shown: list[Slot] = []
    for slot in draft.slots:
        part = slot.part
        if part.kind != "result" or not part.failed or _speaks(part):
            continue
        media = [inner for inner in part.parts if inner.media is not None or inner.parts]
        reason = "a failed result may hold text only; what else it held stands behind the results" if media else _SILENT
        yield Decision(verb="repair", seq=draft.seq, place=part.place, reason=reason, name=part.id)
        words = {inner.place[len(part.place) :]: _words(inner) for inner in part.parts if inner not in media}
        draft.put(slot, _worded(slot, words, form))
        slot.part = replace(part, text="\n".join(words.values()), parts=())
        seq, place = slot.key
        shown += [Slot(part=one, raw=one.raw, key=(seq, place + one.place[len(part.place) :])) for one in media]
    if shown:
        head = made(form.text(MEDIA_HERE), draft.seq, len(draft.slots))
        head.part = replace(head.part, text=MEDIA_HERE)
        last = max(number for number, slot in enumerate(draft.slots) if slot.part.kind == "result")
        draft.hold([*draft.slots[: last + 1], head, *shown, *draft.slots[last + 1 :]])


_SILENT = "a failed result that is not text, or says nothing"


def _speaks(part: Part) -> bool:
    """Whether a failed result is as it must be."""
    if not part.parts:
        return bool(part.text.strip())
    return all(inner.kind == "text" and inner.text.strip() for inner in part.parts)


def _words(inner: Part) -> str:
    """What stands in a failed result, as text."""
    return inner.text if inner.kind == "text" else inner.text or canon.text(inner.raw)


def _worded(slot: Slot, words: dict[Place, str], form: Form) -> Json:
    """A failed result that holds these words: texts as they are, anything else as text."""
    if not any(text.strip() for text in words.values()):
        return form.set_result(slot.raw, FAILED)
    told: dict[Place, Json] = {}
    gone: list[Place] = []
    for inner in slot.part.parts:
        place = inner.place[len(slot.part.place) :]
        if not words.get(place, "").strip():
            gone.append(place)
        elif inner.kind != "text":
            told[place] = form.text(words[place])
    return edit.replace(edit.untwinned(slot.raw), told, gone)
