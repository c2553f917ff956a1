"""What the tests of sessions begin with."""

from __future__ import annotations

from typing import Any

import transom
from transom import Store

Json = dict[str, Any]

GO: Json = {"role": "user", "content": "go " * 200}
ANSWER: Json = {"role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}
NAN = float("nan")


def opened(store: Store, **options: Any) -> transom.Session:
    return store.session("a", api="anthropic", model="claude-opus-4-8", **options)
