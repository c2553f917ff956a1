"""What providers say when a request is too much: their own words, and the numbers in them.

The rule: a table. An answer that fits no row is passed on; one that speaks of a rate is never an overflow, since a smaller
request is no remedy. Sources: pricing notes section 8 (the issues are named there), and the issues named beside a row; 2026-11.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from transom.frozen import Frozen

Kind: TypeAlias = Literal["tokens", "bytes", "images", "image_bytes", "side", "many_side"]


class Overflow(Frozen, frozen=True, kw_only=True):
    """What was too much: `need` of it against `limit`, 0 where the provider did not say."""

    kind: Kind
    need: int = 0
    limit: int = 0


class Words(Frozen, frozen=True):
    """A row: what is too much, the provider's words, and which sum of the numbered groups is the need and the limit.

    A group with a minus is taken away: an answer's tokens from a limit that holds for both.
    """

    kind: Kind
    pattern: re.Pattern[str]
    need: tuple[int, ...] = ()
    limit: tuple[int, ...] = ()


def _words(kind: Kind, pattern: str, need: tuple[int, ...] = (), limit: tuple[int, ...] = ()) -> Words:
    return Words(kind, re.compile(pattern, re.IGNORECASE), need, limit)


N: Final = r"\(?([\d,]+)\)?"
TABLE: Final[tuple[Words, ...]] = (
    # Anthropic: anthropics/claude-code 4778, continuedev/continue 6080, anthropics/claude-code 19822, 53170
    _words("tokens", rf"prompt is too long: {N} tokens > {N} maximum", (1,), (2,)),
    _words("tokens", rf"input length and `max_tokens` exceed context limit: {N} \+ {N} > {N}", (1,), (3, -2)),
    _words("images", rf"Too much media: {N} document pages \+ {N} images > {N}", (1, 2), (3, -1)),
    _words("images", rf"too many images and documents: {N} \+ {N} > {N}", (1, 2), (3, -2)),
    _words("image_bytes", rf"image exceeds [\d.]+ MB maximum: {N} bytes > {N} bytes", (1,), (2,)),
    _words("many_side", rf"max allowed size for many-image requests: {N} pixels", (), (1,)),
    _words("side", rf"image dimensions exceed max allowed size: {N} pixels", (), (1,)),
    # OpenAI and those who speak like it: vLLM (AIDotNet/OpenCowork 82), OpenRouter (refly-ai/refly 1177)
    _words(
        "tokens",
        rf"maximum context length is {N} tokens\. However, you requested {N} output tokens and your prompt contains at least {N} "
        r"input tokens",
        (3,),
        (1, -2),
    ),
    _words(
        "tokens",
        rf"maximum context length is {N} tokens\. However, you requested (?:about )?{N} tokens \({N} (?:in the messages|of text "
        rf"input)(?:, {N} (?:in the completion|in the output))?",
        (3,),
        (1, -4),
    ),
    _words("tokens", rf"maximum context length is {N} tokens\. However, your messages resulted in {N} tokens", (2,), (1,)),
    _words("tokens", rf"maximum context length is {N} tokens", (), (1,)),
    _words("tokens", r"Your input exceeds the context window of this model"),
    _words("tokens", r"context_length_exceeded"),
    _words("images", rf"At most {N} images?(?:\(s\))? may be provided", (), (1,)),
    _words("images", rf"request contains {N} images, exceeding the maximum of {N} allowed", (1,), (2,)),
    # Gemini: google-gemini/gemini-cli 4692, 6678
    _words("tokens", rf"input token count {N} exceeds the maximum number of tokens allowed {N}", (1,), (2,)),
    _words("tokens", rf"input token count exceeds the maximum number of tokens allowed {N}", (), (1,)),
    # Others
    _words("tokens", rf"maximum prompt length is {N} but the request contains {N} tokens", (2,), (1,)),
    _words("tokens", r"Input is too long for requested model"),
    _words("tokens", rf"request \({N} tokens\) exceeds the available context size \({N} tokens\)", (1,), (2,)),
    _words("tokens", r"exceeds the available context size"),
    # Bytes, in words: the status says the same
    _words("bytes", r"request_too_large|Request exceeds the maximum (?:allowed )?(?:number of bytes|size)"),
    _words("bytes", rf"Request payload size exceeds the limit: {N} bytes", (), (1,)),
)
READ: Final = 65_536
"""Characters of an answer that are looked at."""
REFUSALS: Final = frozenset({400, 413, 422, 500})
"""Statuses that an overflow comes with; some local servers answer 500."""


def recognised(status: int, text: str) -> Overflow | None:
    """What an answer says was too much; None where it says nothing of the kind."""
    if status not in REFUSALS:
        return None
    text = text[:READ]
    for row in TABLE:
        found = row.pattern.search(text)
        if found is not None:
            return Overflow(kind=row.kind, need=_sum(found, row.need), limit=max(0, _sum(found, row.limit)))
    return Overflow(kind="bytes") if status == 413 else None


def _sum(found: re.Match[str], groups: tuple[int, ...]) -> int:
    total = 0
    for group in groups:
        words = found[abs(group)]
        if words:
            value = int(words.replace(",", "")[:15] or 0)
            total += value if group > 0 else -value
    return total
