"""What of a stored message can be left out by hand: the message, or a picture or another medium in it, by its place.

The rule: a place is taken only where something stands that can go. What is refused says what can be left out there.
"""

from __future__ import annotations

import re
from typing import Final

from transom.errors import BadSetting
from transom.parts import Message, spell, walk
from transom.types import Key

MOST_NAMED: Final = 4
"""Places that a refusal names."""
LONGEST: Final = 120
"""Characters of a place that a refusal repeats."""
_PLACE: Final = re.compile(r"([^.\[\]]+)\[(\d{1,18})\](.*)", re.DOTALL)


def number(place: object, name: str, count: int) -> int:
    """The number of the message that a place is in. `name` is the form's for its list of messages, of which there are `count`.

    Raises BadSetting for what is no place of a message, or one of a message that is not there.
    """
    found = _PLACE.fullmatch(place) if isinstance(place, str) else None
    if found is None or found[1] != name:
        raise BadSetting(f"{_short(place)} is no place of a message, such as {name}[3] or {name}[3].content[1]")
    seq = int(found[2])
    if seq >= count:
        raise BadSetting(f"{_short(place)} is no message of this session, which holds {count:,}")
    return seq


def key(place: str, name: str, message: Message) -> Key:
    """A place in a stored message, as what is left out is known by. Raises BadSetting where nothing there can be left out."""
    whole = spell((name, message.index))
    if place == whole:
        return message.index, ()
    parts = {spell((name, message.index, *part.place)): part for part in walk(message.parts)}
    part = parts.get(place)
    if part is not None and part.media is not None:
        return message.index, part.place
    media = [spelled for spelled, one in parts.items() if one.media is not None]
    named = ", ".join(media[:MOST_NAMED]) + (f" and {len(media) - MOST_NAMED} more" if len(media) > MOST_NAMED else "")
    what = f"is no picture or file ({part.kind})" if part is not None else "is no part of that message"
    remedy = f"leave out {named}, or the message, {whole}" if media else f"leave out the message as a whole, {whole}"
    raise BadSetting(f"{_short(place)} {what}; {remedy}")


def _short(place: object) -> str:
    words = repr(place)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
