"""Folds: summaries that stand for messages. Which are wanted (`chunks`), how they are asked for (`prompts`), which are taken
(`ready`), and how they go out (`render`).

The rules: a summary is a value that the caller makes; nothing here calls a model. A fold stands for whole turns, or lies
inside one; it never covers the newest request or the newest group; once it stands it is never undone.
"""

from transom.folds.chunks import Chunk, Item, Wanted, chunks, items, key_of, most_each, scaled
from transom.folds.prompts import Voice, asked
from transom.folds.ready import Bought, buy, fulfil
from transom.folds.render import placed, size_of

__all__ = [
    "Bought",
    "Chunk",
    "Item",
    "Voice",
    "Wanted",
    "asked",
    "buy",
    "chunks",
    "fulfil",
    "items",
    "key_of",
    "most_each",
    "placed",
    "scaled",
    "size_of",
]
