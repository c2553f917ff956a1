"""Anthropic bodies written anew in the other forms, for tests: one hostile conversation, or one real one, in every form.

`rewritten(body, api)` keeps the faults that the other form has a word for, too. What a form cannot say becomes text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

KEYS = {"openai-responses": "input", "gemini": "contents"}
"""The name of a body's list of messages, where it is not `messages`."""
MADE_FROM_ANTHROPIC = ("openai-responses", "gemini", "bedrock")


def key_of(api: str) -> str:
    return KEYS.get(api, "messages")


def rewritten(body: Json, api: str, *, snake: bool = False, ids: bool = True, named: bool = True) -> Json:
    """An Anthropic body in another form. `snake`: Gemini's keys as the Python SDK spells them; `ids`: its calls have ids;
    `named`: Bedrock's documents have names.
    """
    if api == "bedrock":
        return _bedrock(body, named=named)
    if api == "gemini":
        return _gemini(body, snake=snake, ids=ids)
    return _responses(body)


def blocks(content: Any) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


# ----------------------------------------------------------------------------------------------------------- Bedrock


def _bedrock(body: Json, *, named: bool) -> Json:
    messages = [
        {"role": one["role"], "content": [raw for block in blocks(one.get("content")) for raw in _converse(block, named=named)]}
        for one in body["messages"]
    ]
    out: Json = {"modelId": body.get("model", "anthropic.claude-sonnet-4-5"), "messages": messages}
    if body.get("system"):
        out["system"] = [{"text": block["text"]} for block in blocks(body["system"])]
    if body.get("tools"):
        out["toolConfig"] = {"tools": [_tool_spec(tool) for tool in body["tools"]]}
    if body.get("thinking"):
        out["additionalModelRequestFields"] = {"thinking": body["thinking"]}
    if body.get("max_tokens"):
        out["inferenceConfig"] = {"maxTokens": body["max_tokens"]}
    return out


def _tool_spec(tool: Json) -> Json:
    schema = {"json": tool.get("input_schema", {"type": "object"})}
    return {"toolSpec": {"name": tool["name"], "description": tool.get("description") or "a tool", "inputSchema": schema}}


def _converse(block: Json, *, named: bool) -> Iterator[Json]:
    yield _converse_block(block, named=named)
    if block.get("cache_control"):
        yield {"cachePoint": {"type": "default"}}


def _converse_block(block: Json, *, named: bool) -> Json:  # noqa: PLR0911 - one return a kind
    kind = block["type"]
    if kind == "image":
        return {"image": {"format": _format(block["source"]), "source": _bytes(block["source"])}}
    if kind in ("document", "search_result"):
        return _document(block, named=named)
    if kind == "thinking":
        return {"reasoningContent": {"reasoningText": {"text": block["thinking"], "signature": block.get("signature", "")}}}
    if kind == "redacted_thinking":
        return {"reasoningContent": {"redactedContent": block["data"]}}
    if kind in ("tool_use", "server_tool_use"):
        served = {"type": "server_tool_use"} if kind == "server_tool_use" else {}
        return {"toolUse": {"toolUseId": block.get("id", ""), "name": block["name"], "input": block.get("input"), **served}}
    if kind.endswith("tool_result"):
        inner = [_converse_block(one, named=named) for one in blocks(block.get("content")) if one.get("type") in _INNER]
        made: Json = {"toolUseId": block.get("tool_use_id", ""), "content": inner}
        if kind != "tool_result":
            made["type"] = kind
        return {"toolResult": {**made, "status": "error"} if block.get("is_error") else made}
    return {"text": block.get("text", "")}


_INNER = frozenset({"text", "image", "document", "search_result"})


def _format(source: Json) -> str:
    return str(source.get("media_type", "image/png")).partition("/")[2]


def _bytes(source: Json) -> Json:
    return {"bytes": source["data"]} if source["type"] == "base64" else {"s3Location": {"uri": "s3://bucket/a.png"}}


def _document(block: Json, *, named: bool) -> Json:
    given = block.get("source")
    source: Json = given if isinstance(given, dict) else {"type": "content", **block}
    name = {"name": block.get("title") or f"file {len(json.dumps(block))}"} if named else {}
    if source["type"] == "base64":
        return {"document": {"format": "pdf", **name, "source": {"bytes": source["data"]}}}
    if source["type"] == "text":
        return {"document": {"format": "txt", **name, "source": {"text": source["data"]}}}
    if source["type"] == "content":
        texts = [{"text": one["text"]} for one in blocks(source["content"]) if one["type"] == "text"]
        return {"document": {"format": "txt", **name, "source": {"content": texts}}}
    return {"document": {"format": "pdf", **name, "source": {"s3Location": {"uri": "s3://bucket/a.pdf"}}}}


def from_bedrock(body: Json) -> Json:
    """A Converse body as Anthropic's, as far as who calls and answers and what is empty goes."""
    messages = [{"role": one["role"], "content": list(map(_from_block, one["content"]))} for one in body["messages"]]
    for one in messages:
        one["content"] = [block for block in one["content"] if block]
    out: Json = {"messages": messages}
    thinking = body.get("additionalModelRequestFields", {}).get("thinking")
    return {**out, "thinking": thinking} if thinking else out


def _from_block(raw: Json) -> Json:
    if "toolUse" in raw:
        kind = raw["toolUse"].get("type", "tool_use")
        return {"type": kind, "id": raw["toolUse"]["toolUseId"], "name": "look", "input": {}}
    if "toolResult" in raw:
        kind = raw["toolResult"].get("type", "tool_result")
        return {"type": kind, "tool_use_id": raw["toolResult"]["toolUseId"], "content": "x"}
    if "reasoningContent" in raw:
        return {"type": "thinking", "thinking": "x", "signature": "x"}
    if "text" in raw:
        return {"type": "text", "text": raw["text"]}
    return {} if "cachePoint" in raw else {"type": "image", "source": {"type": "url", "url": "https://example.com"}}


# ------------------------------------------------------------------------------------------------------------ Gemini


def _gemini(body: Json, *, snake: bool, ids: bool) -> Json:
    contents = []
    for number, one in enumerate(body["messages"]):
        parts = [part for block in blocks(one.get("content")) for part in _gemini_parts(block, ids=ids, sign=number % 3 == 0)]
        contents.append({"role": "model" if one["role"] == "assistant" else "user", "parts": parts})
    out: Json = {"contents": _snaked(contents) if snake else contents, "model": body.get("model", "gemini-2.5-flash")}
    if body.get("system"):
        out["systemInstruction"] = {"parts": [{"text": block["text"]} for block in blocks(body["system"])]}
    return out


_SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
    "fileData": "file_data",
    "fileUri": "file_uri",
    "thoughtSignature": "thought_signature",
}


def _snaked(node: Any) -> Any:
    if isinstance(node, list):
        return [_snaked(one) for one in node]
    if isinstance(node, dict):
        return {_SNAKE.get(key, key): value if key in ("args", "response") else _snaked(value) for key, value in node.items()}
    return node


def _gemini_parts(block: Json, *, ids: bool, sign: bool) -> Iterator[Json]:
    kind = block["type"]
    if kind in ("image", "document"):
        yield from _gemini_media(block)
    elif kind == "thinking":
        yield {"text": block["thinking"], "thought": True}
    elif kind == "tool_use":
        call: Json = {"name": block["name"], "args": block.get("input")}
        signature = {"thoughtSignature": "c2lnbmVk"} if sign else {}
        yield {"functionCall": {"id": block.get("id", ""), **call} if ids else call, **signature}
    elif kind == "tool_result":
        words = "\n".join(one["text"] for one in blocks(block.get("content")) if one["type"] == "text")
        given = [part for one in blocks(block.get("content")) if one["type"] == "image" for part in _gemini_media(one)]
        made: Json = {"name": "look", "response": {"error" if block.get("is_error") else "output": words}}
        made |= {"parts": given} if given else {}
        yield {"functionResponse": {"id": block.get("tool_use_id", ""), **made} if ids else made}
    elif kind == "server_tool_use":
        yield {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
    elif kind == "text":
        yield {"text": block["text"]}
    else:
        yield {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}


def _gemini_media(block: Json) -> Iterator[Json]:
    source: Json = block.get("source", {})
    if source.get("type") == "base64":
        yield {"inlineData": {"mimeType": source["media_type"], "data": source["data"]}}
    elif source.get("type") == "text":
        yield {"text": source["data"]}
    elif source.get("type") == "content":
        for one in blocks(source["content"]):
            yield from _gemini_media(one) if one["type"] == "image" else ({"text": one["text"]},)
    else:
        yield {"fileData": {"mimeType": "image/png", "fileUri": "https://example.com/a.png"}}


# -------------------------------------------------------------------------------------------------- OpenAI Responses


def _responses(body: Json) -> Json:
    items: list[Json] = []
    for one in body["messages"]:
        items += _items(one["role"], one.get("content"))
    out: Json = {"model": body.get("model", "gpt-5"), "input": items}
    if body.get("system"):
        out["instructions"] = "\n".join(block["text"] for block in blocks(body["system"]))
    if body.get("tools"):
        out["tools"] = [
            {"type": "function", "name": tool["name"], "parameters": tool.get("input_schema")} for tool in body["tools"]
        ]
    return out


def _items(role: str, content: Any) -> list[Json]:
    if not isinstance(content, list):
        return [{"role": role, "content": content or ""}]
    items: list[Json] = []
    said: list[Json] = []

    def told() -> None:
        if said:
            items.append({"type": "message", "role": role, "content": list(said)})
            said.clear()

    for block in content:
        item = _item(block)
        if item is None:
            said.extend(_spoken(block, role))
        else:
            told()
            items.append(item)
    told()
    return items or [{"type": "message", "role": role, "content": []}]


def _item(block: Json) -> Json | None:  # noqa: PLR0911 - same
    kind, id_ = block["type"], block.get("id") or block.get("tool_use_id") or ""
    if kind == "thinking":
        return {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": block["thinking"]}],
            "encrypted_content": "eA==",
        }
    if kind == "redacted_thinking":
        return {"type": "reasoning", "summary": [], "encrypted_content": block["data"]}
    custom = sum(map(ord, id_)) % 3 == 0
    if kind == "tool_use":
        given = block.get("input")
        if custom:
            return {"type": "custom_tool_call", "call_id": id_, "name": block["name"], "input": json.dumps(given)}
        return {"type": "function_call", "call_id": id_, "name": block["name"], "arguments": json.dumps(given)}
    if kind == "tool_result":
        held = block.get("content")
        output = held if isinstance(held, str) else [part for one in held or () for part in _spoken(one, "user")]
        return {"type": "custom_tool_call_output" if custom else "function_call_output", "call_id": id_, "output": output}
    if kind == "server_tool_use":
        return {"type": "web_search_call", "id": id_, "status": "completed", "action": {"type": "search", "query": "q"}}
    return None


def _spoken(block: Json, role: str) -> Iterator[Json]:
    source: Json = block["source"] if isinstance(block.get("source"), dict) else {}
    if block["type"] == "text":
        yield {"type": "output_text" if role == "assistant" else "input_text", "text": block["text"]}
    elif block["type"] == "image":
        url = (
            f"data:{source['media_type']};base64,{source['data']}" if source["type"] == "base64" else "https://example.com/a.png"
        )
        yield {"type": "input_image", "image_url": url, "detail": "auto"}
    elif source.get("type") == "base64":
        yield {"type": "input_file", "filename": "a.pdf", "file_data": f"data:{source['media_type']};base64,{source['data']}"}
    elif source.get("type") == "content":
        for one in blocks(source["content"]):
            yield from _spoken(one, role)
    elif source.get("type") == "text":
        yield {"type": "input_text", "text": source["data"]}


def items_of_its_own(picture: str, pick: Callable[..., Any]) -> list[Json]:
    """Items that only Responses has, in a legal order; `picture` is base64."""
    url = f"data:image/png;base64,{picture}"
    shot = {"type": "computer_screenshot", "image_url": url}
    stories: tuple[list[Json], ...] = (
        [{"type": "message", "role": "developer", "content": "be brief"}],
        [
            {"type": "computer_call", "call_id": "cc_1", "id": "cu_1", "action": {"type": "screenshot"}, "status": "completed"},
            {"type": "computer_call_output", "call_id": "cc_1", "output": shot},
        ],
        [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": picture}],
        [
            {"type": "function_call", "call_id": "fc_1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "fc_1", "output": [{"type": "input_image", "image_url": url}]},
        ],
        [
            {"type": "compaction", "encrypted_content": "eA=="},
            {"type": "code_interpreter_call", "id": "ci", "code": "1", "outputs": []},
        ],
        [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "custom_tool_call", "call_id": "ct_1", "name": "sh", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "ct_1", "output": "a"},
        ],
    )
    story: list[Json] = pick(*stories)
    return story
