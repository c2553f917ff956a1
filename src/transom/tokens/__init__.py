"""Text counters: text in, tokens out."""

from __future__ import annotations

from transom.tokens.counter import Counter

__all__ = ["Counter"]
