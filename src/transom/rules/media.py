"""What documents, sound and film cost where their pages and seconds are known, and the flat price where they are not.

The rule of this file: facts in, tokens out; each figure in `prices.toml` says where it was read.
"""

from __future__ import annotations

import math

from transom.frozen import Frozen
from transom.parts import Facts


class MediaRule(Frozen, frozen=True, kw_only=True):
    """How media other than pictures are billed; 0 means that there is no such rule, and the flat price is used.

    `page` tokens a page's picture, or `page_alone` where the document is one page and the only medium, or `page_in_result` in a
    tool's result, or `page_further` behind another document of its message; `only_in_result` a document that is all of a result;
    `letter` tokens a character of a page's text (0: the text is free); `around` a document; `text` around a plain-text document.
    `second` tokens a second of sound, by each `block` of seconds begun where `begun`, and `around_sound`. `frame` tokens a
    picture of a film, `frames` pictures a second, `film_second` a second of its sound. `other`: any of which nothing is known.
    """

    page: float = 0
    page_alone: float = 0
    page_in_result: float = 0
    page_low: float = 0
    page_further: float = 0
    only_in_result: int = 0
    letter: float = 0
    around: int = 0
    text: int = 0
    second: float = 0
    begun: bool = False
    block: int = 1
    around_sound: int = 0
    frame: int = 0
    frame_high: int = 0
    frame_low: int = 0
    frames: float = 1
    film_second: float = 0
    other: int = 1_000

    def least(self, kind: str) -> int:
        """The flat price: of a document at least that of one page."""
        return max(self.other, math.ceil(self.page)) if kind == "document" else self.other

    def document(
        self, facts: Facts, *, alone: bool = False, in_result: bool = False, low: bool = False, further: bool = False
    ) -> int:
        """Tokens of a document by its pages and the characters on them; 0 where no rule says."""
        if not (self.page or self.letter) or facts.pages <= 0:
            return 0
        page = (alone and facts.pages == 1 and self.page_alone) or (in_result and self.page_in_result) or self.page
        page = (low and self.page_low) or (further and self.page_further) or page
        return round(page * facts.pages + self.letter * facts.text_chars) + self.around

    def sound(self, seconds: float) -> int:
        """Tokens of so many seconds; 0 where no rule says."""
        begun = math.ceil(seconds / self.block) * self.block
        return (math.ceil(self.second * begun) if self.begun else math.floor(self.second * seconds)) + self.around_sound

    def film(self, facts: Facts, *, detail: str = "", frames: float = 0) -> int:
        """Tokens of a film by its seconds, `frames` of them a second where the request says; 0 where no rule says."""
        frame = {"high": self.frame_high, "low": self.frame_low}.get(detail) or self.frame
        sound = 0.0 if facts.silent else self.film_second
        pictures = max(1, math.floor(facts.seconds * (frames or self.frames)))
        return math.ceil(pictures * frame + facts.seconds * sound) if frame else 0
