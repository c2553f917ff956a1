"""Claude's text tokens by `ctok`, where that optional package is installed (the extra `claude`, Python 3.12 or later).

The rule of this file: the package is looked for at import and loaded at the first count, since it costs 55 ms and its
vocabulary another 300.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from transom.tokens import vocabulary

FOUND = find_spec("ctok") is not None

# What ctok adds around one message (its pieces_*.json, `message_overhead`; 6 for 4.8): 1.3.0, read 2026-11-30.
FRAME = {"3.0": 7, "4.7": 11, "4.8": 6}

WINDOW = 20_000
"""Characters counted at once: the tiling keeps several lists as long as the text."""


def available() -> bool:
    """Whether the extra is installed."""
    return FOUND


@cache
def loaded() -> Callable[[str, str], int]:  # pragma: no cover - where the extra is installed
    """The package's counter, loaded once."""
    counter: Callable[[str, str], int] = import_module("ctok").token_count
    return counter


def count(text: str, version: str) -> int:  # pragma: no cover - where the extra is installed
    """Tokens of `text` alone, without a message's frame, in the tokenizer of Claude `version` (3.0, 4.7 or 4.8)."""
    pieces = windows(vocabulary.whole(text))
    return sum(max(0, loaded()(piece, version) - FRAME[version]) for piece in pieces)


def windows(text: str) -> list[str]:
    """The text in pieces of at most WINDOW characters, cut at a line's end where there is one, else at a space."""
    pieces, start = [], 0
    while len(text) - start > WINDOW:
        end = start + WINDOW
        edge = text.rfind("\n", end - WINDOW // 2, end)
        edge = edge if edge > 0 else text.rfind(" ", end - WINDOW // 2, end)
        edge = edge if edge > 0 else end
        pieces.append(text[start:edge])
        start = edge
    return [*pieces, text[start:]]
