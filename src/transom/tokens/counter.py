"""A counter is a value: it says how a model's text is counted, and how good the figure is.

The rule of this file: no text is kept, and none makes a counter fail.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final, Literal, TypeAlias

from transom.frozen import Frozen
from transom.tokens import claude, extras, vocabulary
from transom.tokens.features import BLOB, FEATURES, compiled, features, split
from transom.types import Basis, Count

Engine: TypeAlias = Literal["tiktoken", "claude", "open", "features", "characters"]

CLAUDE_MOST: Final = 200_000
SAMPLES: Final = 10
SAMPLE: Final = 10_000
"""The reconstruction of Claude's tokenizer counts some 0.3 MB a second: above CLAUDE_MOST characters it counts ten samples."""

DENSE_SHARE: Final = 0.12
DENSE_SAMPLE: Final = 2_000
STRUCTURE: Final = frozenset("{}[]():;,\"'`<>=+-*/\\|&^%$#@!~_")


class Counter(Frozen, frozen=True, kw_only=True):
    """How a model's text is counted.

    `tiktoken`: exactly, with `vocabulary`. `claude`: with the reconstruction of `version` (the extra `claude`), else like
    `features`. `open`: exactly, where an extra carries `vocabulary`, else like `features`. `features`: the count of o200k_base
    and what occurs in the text, by `weights`; other scripts by `ratios` to that count; `blob` tokens a character of base64.
    `characters`: `prose` or `dense` characters a token.
    """

    name: str
    engine: Engine
    vocabulary: str = "o200k_base"
    version: str = ""
    weights: tuple[tuple[str, float], ...] = (("token", 1.0),)
    ratios: tuple[tuple[str, float], ...] = (("other", 1.0),)
    blob: float = 0.7
    prose: float = 2.9
    dense: float = 2.3

    @property
    def basis(self) -> Basis:
        """How good a count is: the true vocabulary is exact, its reconstruction a rule, all else an estimate."""
        if self.engine == "tiktoken":
            return "exact"
        if self.engine == "open" and extras.available(self.vocabulary):
            return "exact"
        return "rule" if self.engine == "claude" and claude.available() else "estimate"

    def count(self, text: str, *, dense: bool = False) -> int:
        """Tokens of `text`. `dense`: it is a tool's input or result, which `characters` counts at the dense rate."""
        if not text:
            return 0
        if self.engine == "characters":
            return math.ceil(len(text) / (self.dense if dense or is_dense(text) else self.prose))
        if self.engine == "tiktoken":
            return vocabulary.count(self.vocabulary, text)
        if self.engine == "open" and extras.available(self.vocabulary):  # pragma: no cover - where an extra is installed
            return extras.count(self.vocabulary, text)
        if self.engine == "claude" and claude.available():  # pragma: no cover - where the extra is installed
            exact = partial(claude.count, version=self.version)
            return exact(text) if len(text) <= CLAUDE_MOST else sampled(text, exact, partial(estimate, self))
        return estimate(self, text)


def is_dense(text: str) -> bool:
    """Whether more than 12 % of the first 2,000 characters are non-ASCII or structural punctuation (CM-54)."""
    sample = text[:DENSE_SAMPLE]
    return sum(c > "\x7f" or c in STRUCTURE for c in sample) > DENSE_SHARE * len(sample)


def estimate(counter: Counter, text: str) -> int:
    """What another vocabulary counts: Latin script by the features of what is written, other scripts by ratios."""
    blobs = sum(len(blob) for blob in compiled(BLOB).findall(text))
    total = blobs * counter.blob
    latin, foreign = split(compiled(BLOB).sub(" ", text) if blobs else text)
    ratios = dict(counter.ratios)
    for name, words in foreign.items():
        total += vocabulary.count("o200k_base", words) * ratios.get(name, ratios["other"])
    weights = dict(counter.weights)
    total += sum(weights.get(name, 0.0) * times for name, times in zip(("token", *FEATURES), features(latin), strict=True))
    if not latin.isascii():
        total += weights.get("accent", 0.0) * sum(c > "\x7f" for c in latin)
    return max(1, math.ceil(total))


def sampled(text: str, exact: Count, rough: Count) -> int:
    """A long text by a rough counter, put right by samples of it that an exact one counts."""
    step = len(text) // SAMPLES
    samples = [text[start : start + SAMPLE] for start in range(0, step * SAMPLES, step)]
    return math.ceil(rough(text) * sum(map(exact, samples)) / sum(map(rough, samples)))
