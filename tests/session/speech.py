"""How each wire form says what the random sessions say: words, pictures, answers with calls, and results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Call = tuple[str, Json]
"""An id, and what the tool `look` is called with."""
Result = tuple[str, list[Json]]
"""The id that it answers, and its parts."""


@dataclass(frozen=True, kw_only=True)
class Speech:
    """One form. `models` may answer its sessions; `key` is the body's name of its messages, `around` what else it says; `whole`
    is the provider's answer that holds an answer's messages; `results` are the messages of results and of what the user says
    behind them; `shows`: results may hold pictures.
    """

    api: str
    models: tuple[str, ...]
    text: Callable[[str], Json]
    picture: Callable[[str], Json]
    user: Callable[[list[Json]], Json]
    answer: Callable[[list[Json], list[Call]], list[Json]]
    whole: Callable[[list[Json]], Json]
    results: Callable[[list[Result], list[Json]], list[Json]]
    key: str = "messages"
    around: Json
    shows: bool = True


def _typed(text: str) -> Json:
    return {"type": "text", "text": text}


def _anthropic_results(given: list[Result], behind: list[Json]) -> list[Json]:
    results = [{"type": "tool_result", "tool_use_id": name, "content": parts} for name, parts in given]
    return [{"role": "user", "content": [*results, *behind]}]


ANTHROPIC = Speech(
    api="anthropic",
    models=("claude-opus-4-8", "claude-sonnet-4-5", "claude-3-haiku-20240307"),
    text=_typed,
    picture=lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    user=lambda parts: {"role": "user", "content": parts},
    answer=lambda parts, calls: [
        {
            "role": "assistant",
            "content": [*parts, *({"type": "tool_use", "id": name, "name": "look", "input": given} for name, given in calls)],
        }
    ],
    whole=lambda messages: messages[0],
    results=_anthropic_results,
    around={"system": "Be short.", "max_tokens": 100},
)


def _chat_answer(parts: list[Json], calls: list[Call]) -> list[Json]:
    made: Json = {"role": "assistant", "content": "".join(part["text"] for part in parts)}
    if calls:
        functions = [(name, {"name": "look", "arguments": json.dumps(given)}) for name, given in calls]
        made["tool_calls"] = [{"id": name, "type": "function", "function": function} for name, function in functions]
    return [made]


def _chat_results(given: list[Result], behind: list[Json]) -> list[Json]:
    results = [{"role": "tool", "tool_call_id": name, "content": parts} for name, parts in given]
    return [*results, *([{"role": "user", "content": behind}] if behind else [])]


CHAT = Speech(
    api="openai-chat",
    models=("gpt-4o", "gpt-5", "gpt-4.1-mini"),
    text=_typed,
    picture=lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    user=lambda parts: {"role": "user", "content": parts},
    answer=_chat_answer,
    whole=lambda messages: {"choices": [{"message": messages[0], "finish_reason": "stop"}]},
    results=_chat_results,
    around={"max_completion_tokens": 100},
    shows=False,
)


def _items(parts: list[Json], calls: list[Call]) -> list[Json]:
    said = [{"type": "output_text", "text": part["text"]} for part in parts]
    called = [{"type": "function_call", "call_id": name, "name": "look", "arguments": json.dumps(given)} for name, given in calls]
    return [{"type": "message", "role": "assistant", "content": said}, *called]


def _outputs(given: list[Result], behind: list[Json]) -> list[Json]:
    results = [{"type": "function_call_output", "call_id": name, "output": parts} for name, parts in given]
    return [*results, *([{"type": "message", "role": "user", "content": behind}] if behind else [])]


RESPONSES = Speech(
    api="openai-responses",
    models=("gpt-4o", "gpt-5", "gpt-4.1-mini"),
    text=lambda words: {"type": "input_text", "text": words},
    picture=lambda data: {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
    user=lambda parts: {"type": "message", "role": "user", "content": parts},
    answer=_items,
    whole=lambda items: {"output": items},
    results=_outputs,
    key="input",
    around={"instructions": "Be short.", "max_output_tokens": 100},
)


def _gemini_results(given: list[Result], behind: list[Json]) -> list[Json]:
    answers = [{"name": "look", "response": {"output": parts[0]["text"]}} for _, parts in given]
    return [{"role": "user", "parts": [*({"functionResponse": one} for one in answers), *behind]}]


GEMINI = Speech(
    api="gemini",
    models=("gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.0-flash"),
    text=lambda words: {"text": words},
    picture=lambda data: {"inlineData": {"mimeType": "image/png", "data": data}},
    user=lambda parts: {"role": "user", "parts": parts},
    answer=lambda parts, calls: [
        {"role": "model", "parts": [*parts, *({"functionCall": {"name": "look", "args": given}} for _, given in calls)]}
    ],
    whole=lambda messages: {"candidates": [{"content": messages[0]}]},
    results=_gemini_results,
    key="contents",
    around={"systemInstruction": {"parts": [{"text": "Be short."}]}, "generationConfig": {"maxOutputTokens": 100}},
    shows=False,
)


def _bedrock_results(given: list[Result], behind: list[Json]) -> list[Json]:
    results = [{"toolResult": {"toolUseId": name, "content": parts}} for name, parts in given]
    return [{"role": "user", "content": [*results, *behind]}]


BEDROCK = Speech(
    api="bedrock",
    models=("anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-pro-v1:0", "anthropic.claude-3-haiku-20240307-v1:0"),
    text=lambda words: {"text": words},
    picture=lambda data: {"image": {"format": "png", "source": {"bytes": data}}},
    user=lambda parts: {"role": "user", "content": parts},
    answer=lambda parts, calls: [
        {
            "role": "assistant",
            "content": [*parts, *({"toolUse": {"toolUseId": name, "name": "look", "input": given}} for name, given in calls)],
        }
    ],
    whole=lambda messages: {"output": {"message": messages[0]}},
    results=_bedrock_results,
    around={
        "system": [{"text": "Be short."}],
        "inferenceConfig": {"maxTokens": 100},
        "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]},
    },
)

SPEECHES = {one.api: one for one in (ANTHROPIC, CHAT, RESPONSES, GEMINI, BEDROCK)}
