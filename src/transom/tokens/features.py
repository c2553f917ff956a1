"""What occurs in a text: the counts by which another tokenizer's figure is estimated, and the scripts it is written in.

The rule of this file: it only counts; what a count weighs is data (`data/prices.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from transom.tokens import vocabulary

# Which script a character belongs to, by the ranges that carry nearly all text of it (Unicode 15).
SCRIPTS = (
    ("greek", 0x0370, 0x03FF),
    ("cyrillic", 0x0400, 0x052F),
    ("caucasian", 0x0530, 0x058F),
    ("arabic", 0x0590, 0x08FF),
    ("indic", 0x0900, 0x0DFF),
    ("thai", 0x0E00, 0x0EFF),
    ("caucasian", 0x10A0, 0x10FF),
    ("hangul", 0x1100, 0x11FF),
    ("emoji", 0x2190, 0x2BFF),
    ("han", 0x2E80, 0x303F),
    ("kana", 0x3040, 0x30FF),
    ("han", 0x3100, 0x9FFF),
    ("hangul", 0xAC00, 0xD7AF),
    ("han", 0xF900, 0xFAFF),
    ("han", 0xFF00, 0xFFEF),
    ("emoji", 0x1F000, 0x1FAFF),
    ("han", 0x20000, 0x3FFFF),
)

# What is counted of a text beside its tokens in our vocabulary. Claude's tokenizers mark words, capitals and signs in ways of
# their own, so that one ratio is off by a tenth and more, and these counts by a few percent (scripts/ratios.py).
FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "word": "[A-Za-z]+",
        "capital": "[A-Z][a-z]+",
        "capitals": "[A-Z]{2,}",
        "long": "[a-z]{9,}",
        "glued": "[a-z](?=[A-Z])",
        "digits": "[0-9]{1,3}",
        "sign": r"[^\w\s]",
        "signs": r"[^\w\s]+",
        "quote": '"',
        "underscore": "_",
        "line": "\n",
        "indent": "\n[ \t]+",
    }
)

OTHER: Final = r"\u0370-\u1cff\u2190-\u2bff\u2e80-\uffef\U0001f000-\U0003ffff"
FOREIGN: Final = f"[{OTHER}](?:[^A-Za-z\n]*[{OTHER}])*"
"""A stretch of another script, with the spaces, figures and signs inside it."""
BLOB: Final = "[A-Za-z0-9+/=_-]{64,}"
"""Base64 and the like: no words to count."""
WINDOW: Final = 65_536
"""Characters whose features are looked for at once, so that a long text needs no more memory than a short one."""
LEADING: Final = 40
"""Characters of a stretch by which its script is told."""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled at its first use: all of them together cost 10 ms, which an import should not."""
    return re.compile(pattern)


def features(text: str) -> tuple[int, ...]:
    """Tokens in our vocabulary, and how often each feature occurs."""
    counts = [vocabulary.count("o200k_base", text), *([0] * len(FEATURES))]
    for start in range(0, len(text), WINDOW):
        window = text[start : start + WINDOW]
        for column, feature in enumerate(FEATURES.values(), 1):
            counts[column] += len(compiled(feature).findall(window))
    return tuple(counts)


def split(text: str) -> tuple[str, dict[str, str]]:
    """The text without its stretches of other scripts, and these by script."""
    foreign: dict[str, list[str]] = {}
    for stretch in compiled(FOREIGN).findall(text):
        foreign.setdefault(script(stretch), []).append(stretch)
    return compiled(FOREIGN).sub(" ", text), {name: " ".join(stretches) for name, stretches in foreign.items()}


def script(stretch: str) -> str:
    """The script that most of the first characters of a stretch belong to."""
    names = [script_of(ord(c)) for c in stretch[:LEADING] if c > "\x7f"]
    return max(sorted(set(names)), key=names.count)


@cache
def script_of(code: int) -> str:
    """The script of a code point that is not ASCII."""
    return next((name for name, first, last in SCRIPTS if first <= code <= last), "other")
