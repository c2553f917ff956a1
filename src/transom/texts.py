"""The texts that may be shortened, and how a part is given other words. Copy on write."""

from __future__ import annotations

from transom import edit
from transom.parts import Part
from transom.types import Json
from transom.wire.form import Form


def is_text(part: Part) -> bool:
    """Whether a part is a text that may be shortened: a text part, or a result that is one string; not an empty one."""
    return bool(part.text) and not part.signed and (part.kind == "text" or (part.kind == "result" and not part.parts))


def reworded(part: Part, words: str, form: Form) -> Json | None:
    """The JSON of a part that `is_text`, with `words` in place of its text; None where its shape has no place for them."""
    if part.kind == "result":
        return form.set_result(part.raw, words)
    if isinstance(part.raw, str):
        return words
    if isinstance(part.raw, dict) and isinstance(part.raw.get("text"), str):
        return {**edit.untwinned(part.raw), "text": words}
    return None
