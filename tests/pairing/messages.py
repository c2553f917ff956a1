"""Messages of Anthropic and of OpenAI's chat in few words, and `mend`, which repairs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from transom.pairing import notes, pair
from transom.parts import Group
from transom.plan import Decision
from transom.wire import FORMS

Json = dict[str, Any]
NO_PREFILL = frozenset({"no-prefill"})


def mend(
    api: str,
    messages: Sequence[Json],
    *,
    late_results: Literal["move", "append"] = "move",
    quirks: frozenset[str] = NO_PREFILL,
    **fields: Any,
) -> tuple[list[Json], tuple[Group, ...], tuple[Decision, ...]]:
    form = FORMS[api]
    groups, decisions = pair(form.read({"messages": list(messages), **fields}), form, late_results=late_results, quirks=quirks)
    return [entry.message.json for group in groups for entry in group.entries], groups, decisions


# ---- the words of the tables: anthropic


def text(words: str = "t", **fields: Any) -> Json:
    return {"type": "text", "text": words, **fields}


def user(*parts: Json | str) -> Json:
    return {"role": "user", "content": [text(part) if isinstance(part, str) else part for part in parts]}


def assistant(*parts: Json | str) -> Json:
    return {**user(*parts), "role": "assistant"}


def call(name: str, **fields: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": "look", "input": {}, **fields}


def result(name: str, words: Any = "found", **fields: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": words, **fields}


def stub(name: str) -> Json:
    return result(name, notes.NOT_FINISHED, is_error=True)


def thinking() -> Json:
    return {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


# ---- and openai-chat


def said(words: str) -> Json:
    return {"role": "assistant", "content": words}


def asked(words: str) -> Json:
    return {"role": "user", "content": words}


def calling(*names: str, arguments: Any = "{}") -> Json:
    calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": arguments}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(name: str, content: Any = "found") -> Json:
    return {"role": "tool", "tool_call_id": name, "content": content}
