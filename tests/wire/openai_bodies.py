"""Bodies for OpenAI with one slip in them, calls and results in both forms, and what goes out instead: legal and stable."""

from __future__ import annotations

import base64
import copy
from typing import Any

import transom
from bodies import png

Json = dict[str, Any]
PICTURE = base64.b64encode(png()).decode()
DATA_URL = f"data:image/png;base64,{PICTURE}"
WEB = "https://example.org/a.png"
GO = {"role": "user", "content": "go"}
ON = {"role": "user", "content": "on"}
CHAT, ITEMS = "openai-chat", "openai-responses"


def chat(*messages: Json, model: str = "gpt-5", **more: Any) -> Json:
    return {"model": model, "messages": [GO, *messages, ON], **more}


def items(*messages: Json, model: str = "gpt-5", **more: Any) -> Json:
    return {"model": model, "input": [GO, *messages, ON], **more}


def mended(body: Json, api: str) -> list[Json]:
    """The messages in the middle as they go out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api=api, strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api=api) if one.refused] == []
    assert transom.fit(made, api=api).request is made
    messages: list[Json] = made["messages" if api == CHAT else "input"]
    return messages[1:-1]


def answers(body: Json, api: str) -> dict[str, str]:
    return {one.code: one.answer for one in transom.lint(body, api=api) if one.refused}


def stays(body: Json, api: str) -> bool:
    refused = [one for one in transom.lint(body, api=api) if one.refused]
    return not refused and transom.fit(body, api=api, budget=50_000).request is body


def call(id_: str = "a", **more: Any) -> Json:
    return {"id": id_, "type": "function", "function": {"name": "look", "arguments": "{}"}, **more}


def asked(*calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def seen(id_: str = "a", content: Any = "seen") -> Json:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def did(id_: str = "a", **more: Any) -> Json:
    return {"type": "function_call", "call_id": id_, "name": "look", "arguments": "{}", **more}


def got(id_: str = "a", output: Any = "seen") -> Json:
    return {"type": "function_call_output", "call_id": id_, "output": output}
