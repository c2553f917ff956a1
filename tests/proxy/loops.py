"""Tool loops as the official SDKs' users write them: call, look at a page, hand the picture back, until the model has seen
enough.
"""

from __future__ import annotations

import base64
from typing import Any

from bodies import png

SIDE = 1_092
TASK = "Look at every page and say what you see."
MOST = 200

Messages = list[Any]


def shot(number: int) -> str:
    """A picture of its own, as base64."""
    return base64.b64encode(png(SIDE, SIDE, shade=number % 250) + number.to_bytes(4, "big")).decode()


def anthropic_tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"page": {"type": "integer"}}}
    return [{"name": "look", "description": "Shows a page.", "input_schema": schema}]


def anthropic_answers(content: Any, number: int) -> list[dict[str, Any]]:
    """The results of the calls in an answer."""
    source = {"type": "base64", "media_type": "image/png", "data": shot(number)}
    shown = [{"type": "text", "text": f"page {number}"}, {"type": "image", "source": source}]
    return [{"type": "tool_result", "tool_use_id": block.id, "content": shown} for block in content if block.type == "tool_use"]


def anthropic_loop(client: Any, *, stream: bool) -> str:
    messages: Messages = [{"role": "user", "content": TASK}]
    for number in range(MOST):
        given = {"model": "claude-sonnet-4-5", "max_tokens": 500, "tools": anthropic_tools(), "messages": messages}
        if stream:
            with client.messages.stream(**given) as events:
                reply = events.get_final_message()
        else:
            reply = client.messages.create(**given)
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "tool_use":
            return str(reply.content[0].text)
        messages.append({"role": "user", "content": anthropic_answers(reply.content, number)})
    raise AssertionError


async def anthropic_loop_async(client: Any) -> str:
    messages: Messages = [{"role": "user", "content": TASK}]
    for number in range(MOST):
        given = {"model": "claude-sonnet-4-5", "max_tokens": 500, "tools": anthropic_tools(), "messages": messages}
        async with client.messages.stream(**given) as events:
            reply = await events.get_final_message()
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "tool_use":
            return str(reply.content[0].text)
        messages.append({"role": "user", "content": anthropic_answers(reply.content, number)})
    raise AssertionError


def chat_tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"page": {"type": "integer"}}}
    return [{"type": "function", "function": {"name": "look", "description": "Shows a page.", "parameters": schema}}]


def chat_answers(calls: Any, number: int) -> Messages:
    """The results of the calls in an answer, and the picture beside them, since a result of this API holds none."""
    results = [{"role": "tool", "tool_call_id": call.id, "content": f"page {number} is shown"} for call in calls]
    url = {"url": f"data:image/png;base64,{shot(number)}"}
    shown = [{"type": "text", "text": f"page {number}:"}, {"type": "image_url", "image_url": url}]
    return [*results, {"role": "user", "content": shown}]


def chat_loop(client: Any, *, stream: bool) -> str:
    messages: Messages = [{"role": "user", "content": TASK}]
    for number in range(MOST):
        given = {"model": "gpt-4o", "tools": chat_tools(), "messages": messages}
        if stream:
            with client.chat.completions.stream(**given, stream_options={"include_usage": True}) as events:
                for _ in events:
                    pass
                reply = events.get_final_completion().choices[0].message
        else:
            reply = client.chat.completions.create(**given).choices[0].message
        messages.append(reply.model_dump(exclude_unset=True, exclude={"parsed"}))
        if not reply.tool_calls:
            return str(reply.content)
        messages += chat_answers(reply.tool_calls, number)
    raise AssertionError


async def chat_loop_async(client: Any) -> str:
    messages: Messages = [{"role": "user", "content": TASK}]
    for number in range(MOST):
        given = {"model": "gpt-4o", "tools": chat_tools(), "messages": messages}
        reply = (await client.chat.completions.create(**given)).choices[0].message
        messages.append(reply.model_dump(exclude_unset=True))
        if not reply.tool_calls:
            return str(reply.content)
        messages += chat_answers(reply.tool_calls, number)
    raise AssertionError


def responses_tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"page": {"type": "integer"}}}
    return [{"type": "function", "name": "look", "description": "Shows a page.", "parameters": schema, "strict": False}]


def responses_answers(calls: Any, number: int) -> Messages:
    shown = [{"type": "input_image", "image_url": f"data:image/png;base64,{shot(number)}", "detail": "auto"}]
    return [{"type": "function_call_output", "call_id": call.call_id, "output": shown} for call in calls]


def responses_loop(client: Any, *, stream: bool) -> str:
    items: Messages = [{"role": "user", "content": TASK}]
    for number in range(MOST):
        given = {"model": "gpt-4o", "tools": responses_tools(), "input": items, "store": False}
        if stream:
            with client.responses.stream(**given) as events:
                for _ in events:
                    pass
                reply = events.get_final_response()
        else:
            reply = client.responses.create(**given)
        items += [item.model_dump(exclude_unset=True, exclude={"parsed_arguments"}) for item in reply.output]
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return str(reply.output_text)
        items += responses_answers(calls, number)
    raise AssertionError


def gemini_config() -> dict[str, Any]:
    schema = {"type": "OBJECT", "properties": {"page": {"type": "INTEGER"}}}
    look = {"name": "look", "description": "Shows a page.", "parameters": schema}
    return {"tools": [{"function_declarations": [look]}], "automatic_function_calling": {"disable": True}}


def gemini_answers(calls: Any, number: int) -> Messages:
    results = [{"function_response": {"name": call.name, "response": {"output": f"page {number} is shown"}}} for call in calls]
    data = base64.b64decode(shot(number))
    picture = {"inline_data": {"mime_type": "image/png", "data": data}}
    return [{"role": "user", "parts": results}, {"role": "user", "parts": [{"text": f"page {number}:"}, picture]}]


def gemini_loop(client: Any, *, stream: bool) -> str:
    contents: Messages = [{"role": "user", "parts": [{"text": TASK}]}]
    for number in range(MOST):
        given = {"model": "gemini-2.5-flash", "contents": contents, "config": gemini_config()}
        made = client.models.generate_content_stream(**given) if stream else [client.models.generate_content(**given)]
        parts = [part for chunk in made for part in chunk.candidates[0].content.parts]
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return "".join(part.text or "" for part in parts)
        contents.append({"role": "model", "parts": [part.model_dump(exclude_none=True) for part in parts]})
        contents += gemini_answers(calls, number)
    raise AssertionError


async def gemini_loop_async(client: Any) -> str:
    contents: Messages = [{"role": "user", "parts": [{"text": TASK}]}]
    for number in range(MOST):
        given = {"model": "gemini-2.5-flash", "contents": contents, "config": gemini_config()}
        parts = (await client.models.generate_content(**given)).candidates[0].content.parts
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return "".join(part.text or "" for part in parts)
        contents.append({"role": "model", "parts": [part.model_dump(exclude_none=True) for part in parts]})
        contents += gemini_answers(calls, number)
    raise AssertionError
