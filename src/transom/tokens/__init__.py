"""Text counters: text in, tokens out."""

from __future__ import annotations

from transom.tokens.counter import Counter
from transom.tokens.extras import supplied

__all__ = ["Counter", "supplied"]
