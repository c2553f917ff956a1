"""What documents, sound and film cost where their pages and seconds are known, and the flat price where they are not."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaRule:
    """Tokens a `page`, a `second` of sound, around a plain-`text` document, and for any `other` of which nothing is known.

    0 means that there is no such rule: the flat price is used.
    """

    page: int = 0
    second: int = 0
    text: int = 0
    other: int = 1_000

    def least(self, kind: str) -> int:
        """The flat price: of a document at least that of one page."""
        return max(self.other, self.page) if kind == "document" else self.other

    def document(self, pages: int) -> int:
        """Tokens of a document of so many pages; 0 where no rule says."""
        return self.page * pages

    def sound(self, seconds: float) -> int:
        """Tokens of so many seconds; 0 where no rule says."""
        return math.floor(self.second * seconds)
