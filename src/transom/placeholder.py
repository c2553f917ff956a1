"""The text that stands in the place of a picture or file that is left out: kind, sides, file name and a short digest.

The rule: it tells what the medium was and nothing else. Neither its place nor the reason stands in it: both may change while the
medium stays left out, and then what was sent before would be written anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from transom.parts import Media

LONGEST_NAME: Final = 60
"""Characters of a file name; the rest is cut, so that a name costs no more than the words around it."""
_DIGEST_SIZE: Final = 4


def placeholder(media: Media) -> str:
    """`[image 1280x800 "shot.png" 3fa9c2d1 left out]`; what is not known is not said."""
    return f"[{_described(media)} left out]"


def merged(media: Sequence[Media]) -> str:
    """One text for several media that stand next to each other: `[image 90x60 3fa9c2d1, image 90x60 77ab0c12 left out]`."""
    return f"[{', '.join(_described(one) for one in media)} left out]"


def short_digest(media: Media) -> str:
    """The eight hex digits that a placeholder names the medium by: blake2b over the payload's text."""
    payload = media.payload.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(payload, digest_size=_DIGEST_SIZE).hexdigest()


def _described(media: Media) -> str:
    sides = f"{media.facts.width}x{media.facts.height}" if media.facts.width and media.facts.height else ""
    name = "".join(char for char in media.name if char.isprintable() and char not in '"[]')[:LONGEST_NAME].strip()
    return " ".join(filter(None, (media.kind, sides, f'"{name}"' if name else "", short_digest(media))))
