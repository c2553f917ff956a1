"""How each API writes an answer: whole, as a stream, and as an error. Written from the providers' references, not from
transom.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What the model says: words, or a call of a tool; and the usage that is billed."""

    words: str = ""
    call: str = ""
    arguments: str = "{}"
    number: int = 0
    model: str = ""
    prompt: int = 0
    cached: int = 0
    output: int = 7


def event(data: Json, name: str = "") -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def pieces(text: str) -> list[str]:
    """A text in pieces, as a stream brings it."""
    return [text[i : i + 5] for i in range(0, len(text), 5)]


class Speech(Protocol):
    """What the provider asks of an API."""

    key: str

    def whole(self, said: Said, /) -> Json: ...
    def stream(self, said: Said, body: Json, /) -> Iterator[bytes]: ...
    def error(self, status: int, words: str, /) -> Json: ...
    def overflow(self, tokens: int, window: int, /) -> str: ...


class Anthropic:
    """Messages."""

    key = "messages"

    def whole(self, said: Said) -> Json:
        block: Json = {"type": "text", "text": said.words}
        if said.call:
            block = {"type": "tool_use", "id": f"toolu_{said.number}", "name": said.call, "input": json.loads(said.arguments)}
        return {
            "id": f"msg_{said.number}",
            "type": "message",
            "role": "assistant",
            "model": said.model,
            "content": [block],
            "stop_reason": "tool_use" if said.call else "end_turn",
            "stop_sequence": None,
            "usage": self.usage(said),
        }

    def usage(self, said: Said) -> Json:
        return {
            "input_tokens": said.prompt - said.cached,
            "cache_read_input_tokens": said.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": said.output,
        }

    def stream(self, said: Said, _body: Json, /) -> Iterator[bytes]:
        whole = self.whole(said)
        block = whole["content"][0]
        begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
        yield event({"type": "message_start", "message": begun}, "message_start")
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield event({"type": "content_block_start", "index": 0, "content_block": empty}, "content_block_start")
        for piece in pieces(said.words or said.arguments):
            part = {"type": "text_delta", "text": piece} if said.words else {"type": "input_json_delta", "partial_json": piece}
            yield event({"type": "content_block_delta", "index": 0, "delta": part}, "content_block_delta")
        yield event({"type": "content_block_stop", "index": 0}, "content_block_stop")
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": said.output}}, "message_delta")
        yield event({"type": "message_stop"}, "message_stop")

    def error(self, status: int, words: str, /) -> Json:
        kind = {401: "authentication_error", 413: "request_too_large", 429: "rate_limit_error"}.get(
            status, "invalid_request_error"
        )
        return {"type": "error", "error": {"type": kind, "message": words}}

    def overflow(self, tokens: int, window: int, /) -> str:
        return f"prompt is too long: {tokens} tokens > {window} maximum"


class Chat:
    """Chat Completions."""

    key = "messages"

    def usage(self, said: Said) -> Json:
        details = {"cached_tokens": said.cached}
        return {
            "prompt_tokens": said.prompt,
            "completion_tokens": said.output,
            "total_tokens": said.prompt + said.output,
            "prompt_tokens_details": details,
        }

    def whole(self, said: Said) -> Json:
        message: Json = {"role": "assistant", "content": said.words or None}
        if said.call:
            call = {"id": f"call_{said.number}", "type": "function", "function": {"name": said.call, "arguments": said.arguments}}
            message["tool_calls"] = [call]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if said.call else "stop"}
        return {
            "id": f"chatcmpl-{said.number}",
            "object": "chat.completion",
            "created": 1,
            "model": said.model,
            "choices": [choice],
            "usage": self.usage(said),
        }

    def stream(self, said: Said, body: Json, /) -> Iterator[bytes]:
        head = {"id": f"chatcmpl-{said.number}", "object": "chat.completion.chunk", "created": 1, "model": said.model}

        def chunk(delta: Json, reason: str | None = None) -> bytes:
            return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

        yield chunk({"role": "assistant", "content": ""})
        if said.call:
            call = {"index": 0, "id": f"call_{said.number}", "type": "function", "function": {"name": said.call, "arguments": ""}}
            yield chunk({"tool_calls": [call]})
            for piece in pieces(said.arguments):
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        for piece in pieces(said.words):
            yield chunk({"content": piece})
        yield chunk({}, "tool_calls" if said.call else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            yield event({**head, "choices": [], "usage": self.usage(said)})
        yield b"data: [DONE]\n\n"

    def error(self, _status: int, words: str, /) -> Json:
        code = "context_length_exceeded" if "maximum context length" in words else None
        return {"error": {"message": words, "type": "invalid_request_error", "param": "messages", "code": code}}

    def overflow(self, tokens: int, window: int, /) -> str:
        return (
            f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. Please "
            "reduce the length of the messages."
        )


class Responses:
    """Responses."""

    key = "input"

    def usage(self, said: Said) -> Json:
        return {
            "input_tokens": said.prompt,
            "input_tokens_details": {"cached_tokens": said.cached},
            "output_tokens": said.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": said.prompt + said.output,
        }

    def item(self, said: Said) -> Json:
        if said.call:
            return {
                "type": "function_call",
                "id": f"fc_{said.number}",
                "call_id": f"call_{said.number}",
                "name": said.call,
                "arguments": said.arguments,
                "status": "completed",
            }
        text = {"type": "output_text", "text": said.words, "annotations": [], "logprobs": []}
        return {"type": "message", "id": f"msg_{said.number}", "role": "assistant", "status": "completed", "content": [text]}

    def whole(self, said: Said) -> Json:
        return {
            "id": f"resp_{said.number}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": said.model,
            "output": [self.item(said)],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": self.usage(said),
        }

    def stream(self, said: Said, _body: Json, /) -> Iterator[bytes]:
        whole, item = self.whole(said), self.item(said)
        number = 0

        def numbered(name: str, data: Json) -> bytes:
            nonlocal number
            number += 1
            return event({"type": name, "sequence_number": number - 1, **data}, name)

        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        yield numbered("response.created", {"response": begun})
        yield numbered("response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress"}})
        place = {"item_id": item["id"], "output_index": 0}
        if said.call:
            for piece in pieces(said.arguments):
                yield numbered("response.function_call_arguments.delta", {**place, "delta": piece})
            done = {**place, "arguments": said.arguments, "name": said.call}
            yield numbered("response.function_call_arguments.done", done)
        else:
            place["content_index"] = 0
            yield numbered("response.content_part.added", {**place, "part": {**item["content"][0], "text": ""}})
            for piece in pieces(said.words):
                yield numbered("response.output_text.delta", {**place, "delta": piece, "logprobs": []})
            yield numbered("response.output_text.done", {**place, "text": said.words, "logprobs": []})
            yield numbered("response.content_part.done", {**place, "part": item["content"][0]})
        yield numbered("response.output_item.done", {"output_index": 0, "item": item})
        yield numbered("response.completed", {"response": whole})

    def error(self, _status: int, words: str, /) -> Json:
        code = "context_length_exceeded" if "context window" in words else None
        return {"error": {"message": words, "type": "invalid_request_error", "param": "input", "code": code}}

    def overflow(self, _tokens: int, _window: int, /) -> str:
        return "Your input exceeds the context window of this model. Please adjust your input and try again."


class Gemini:
    """generateContent."""

    key = "contents"

    def whole(self, said: Said) -> Json:
        part: Json = {"text": said.words}
        if said.call:
            part = {"functionCall": {"name": said.call, "args": json.loads(said.arguments)}}
        return {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": said.prompt,
                "candidatesTokenCount": said.output,
                "totalTokenCount": said.prompt + said.output,
                "cachedContentTokenCount": said.cached,
            },
            "modelVersion": said.model,
        }

    def stream(self, said: Said, _body: Json, /) -> Iterator[bytes]:
        whole = self.whole(said)
        if said.call:
            yield event(whole)
            return
        for piece in pieces(said.words):
            content = {"role": "model", "parts": [{"text": piece}]}
            yield event({**whole, "candidates": [{"content": content, "index": 0}]})
        yield event({**whole, "candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]})

    def error(self, status: int, words: str, /) -> Json:
        names = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
        return {"error": {"code": status, "message": words, "status": names.get(status, "INVALID_ARGUMENT")}}

    def overflow(self, tokens: int, window: int, /) -> str:
        return f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."


SPEECH: dict[str, Speech] = {"anthropic": Anthropic(), "openai-chat": Chat(), "openai-responses": Responses(), "gemini": Gemini()}
