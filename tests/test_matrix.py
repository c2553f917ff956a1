"""Each shape of conversation in each form: what goes in is read, mended where it must be, fitted, and taken by the provider.

A shape is a small story told in Anthropic's words and written anew in each form. A cell that cannot be says why.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeAlias

import pytest

import transom
from rewritten import MADE_FROM_ANTHROPIC, blocks, key_of, rewritten
from stage import PDF, PICTURES, encoded
from transom.parts import walk
from transom.wire import FORMS, required

Json: TypeAlias = dict[str, Any]
Cell: TypeAlias = tuple[str, str]

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURES["png"][1]}}
BROKEN = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURES["a web page"][1]}}
FILE = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF)}, "title": "a"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
MODELS = {"openai-chat": "gpt-4o", "openai-responses": "gpt-5", "gemini": "gemini-2.5-flash"}


def user(*parts: Any) -> Json:
    return {"role": "user", "content": [text(one) if isinstance(one, str) else one for one in parts]}


def model(*parts: Any) -> Json:
    return {"role": "assistant", "content": [text(one) if isinstance(one, str) else one for one in parts]}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def call(name: str) -> Json:
    return {"type": "tool_use", "id": name, "name": "look", "input": {"at": name}}


def result(name: str, *parts: Any, **fields: Any) -> Json:
    content = [text(one) if isinstance(one, str) else one for one in parts]
    return {"type": "tool_result", "tool_use_id": name, "content": content, **fields}


SHAPES: dict[str, list[Json]] = {
    "one question": [user("hi")],
    "a talk": [user("hi"), model("hello"), user("bye")],
    "a picture": [user("what is this", PNG)],
    "a file": [user(FILE, "read it")],
    "a call and its result": [user("look"), model("I look", call("a")), user(result("a", "seen"))],
    "parallel calls": [
        user("look"), model(call("a"), call("b")), user(result("b", "two"), result("a", "one")), model("so"), user("ok"),
    ],
    "a picture in a result": [user("look"), model(call("a")), user(result("a", "seen", PNG)), model("so"), user("ok")],
    "thinking ahead of a call": [user("look"), model(THOUGHT, call("a")), user(result("a", "seen"))],
    "an open call": [user("look"), model(call("a")), user("never mind")],
    "a lost call": [user("look"), user(result("a", "seen"), "go on")],
    "a late result": [user("look"), model(call("a")), user("well?"), model("wait"), user(result("a", "seen")), user("ok")],
    "a result twice": [
        user("look"), model(call("a")), user(result("a", "interrupted", is_error=True)), user(result("a", "seen")), user("ok"),
    ],
    "text ahead of a result": [user("look"), model(call("a")), user("note", result("a", "seen"))],
    "ids used again": [user("1"), model(call("a")), user(result("a", "one")), model(call("a")), user(result("a", "two"))],
    "an empty text": [user("hi", ""), model("hello"), user("ok")],
    "the assistant first": [model("hello"), user("hi")],
    "thinking alone": [user("hi"), model(THOUGHT), user("ok")],
    "a picture that is none": [user("what is this", BROKEN)],
}  # fmt: skip

UNSUPPORTED: dict[Cell, str] = {
    ("thinking ahead of a call", "openai-chat"): "Chat Completions has no thinking that is sent back signed",
    ("thinking alone", "openai-chat"): "Chat Completions has no thinking that is sent back signed",
}
"""Cells that cannot be, with the reason."""
TIDIED = {
    *((shape, api) for shape in ("a late result", "a picture that is none") for api in FORMS),
    ("text ahead of a result", "blocks"),
    ("the assistant first", "blocks"),
    ("thinking alone", "blocks"),
}
"""Cells that are put in order although their provider might take them: an output belongs behind its call, since a window that
moves on must not part them; and hosts' logs have no provider of their own, so they are made fit for any."""
CELLS = [(shape, api) for shape in SHAPES for api in FORMS]


def told(shape: str, api: str) -> Json:
    """The shape's body in a form."""
    body: Json = {"model": MODELS.get(api, "claude-opus-4-8"), "max_tokens": 64, "messages": copy.deepcopy(SHAPES[shape])}
    if api == "openai-chat":
        return {**body, "messages": list(chat(body["messages"]))}
    return rewritten(body, api) if api in MADE_FROM_ANTHROPIC else body


def chat(messages: list[Json]) -> Iterator[Json]:
    """The messages as Chat Completions has them: results are messages, calls stand beside the content."""
    for message in messages:
        parts = blocks(message["content"])
        yield from (_tool(one) for one in parts if one["type"] == "tool_result")
        said = [made for one in parts if (made := SAID.get(one["type"], lambda _: None)(one)) is not None]
        asked = [_function(one) for one in parts if one["type"] == "tool_use"]
        if message["role"] == "assistant":
            words = "\n".join(one["text"] for one in said)
            yield {"role": "assistant", "content": words or None, **({"tool_calls": asked} if asked else {})}
        elif said:
            yield {"role": "user", "content": said}


def _tool(one: Json) -> Json:
    content = [SAID[inner["type"]](inner) for inner in one["content"]]
    return {"role": "tool", "tool_call_id": one["tool_use_id"], "content": content}


def _function(one: Json) -> Json:
    return {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": json.dumps(one["input"])}}


def _url(source: Json) -> str:
    return f"data:{source['media_type']};base64,{source['data']}"


SAID: dict[str, Callable[[Json], Json]] = {
    "text": lambda one: text(one["text"]),
    "image": lambda one: {"type": "image_url", "image_url": {"url": _url(one["source"])}},
    "document": lambda one: {"type": "file", "file": {"filename": "a.pdf", "file_data": _url(one["source"])}},
}


@pytest.mark.parametrize("shape, api", CELLS)
def test_every_shape_goes_through_every_form(oracle: ModuleType, shape: str, api: str) -> None:
    if (shape, api) in UNSUPPORTED:
        pytest.skip(f"unsupported: {UNSUPPORTED[shape, api]}")
    body = told(shape, api)
    before = copy.deepcopy(body)
    made = transom.fit(body, api=api, budget=100_000, strict=True)
    assert body == before
    assert [fault for fault in transom.lint(made.request, api=api) if fault.refused and fault.code not in required.CODES] == []
    if api in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        assert oracle.refused(made.request, api) == []
    assert transom.fit(made.request, api=api, budget=100_000, strict=True).request is made.request
    sound = not [fault for fault in transom.lint(body, api=api) if fault.refused and fault.code not in required.CODES]
    assert (made.request is body) == (sound and (shape, api) not in TIDIED), str(made.report)


@pytest.mark.parametrize("shape, api", CELLS)
def test_nothing_that_was_said_is_lost(shape: str, api: str) -> None:
    if (shape, api) in UNSUPPORTED:
        pytest.skip(f"unsupported: {UNSUPPORTED[shape, api]}")
    body = told(shape, api)
    made = transom.repair(body, api=api).request
    form = FORMS[api]

    def words(request: Json) -> set[str]:
        parts = [part for one in form.read(request).messages for part in walk(one.parts)]
        return {part.text for part in parts if part.kind == "text" and part.text.strip()}

    gone = {"interrupted"} if shape == "a result twice" else {"seen"} if shape == "a lost call" else set()
    assert words(body) - words(made) <= gone
    assert len(made[key_of(api)]) > 0


@pytest.mark.parametrize("shape, api", CELLS)
def test_half_of_it_is_legal_too_or_refused_with_numbers(oracle: ModuleType, shape: str, api: str) -> None:
    if (shape, api) in UNSUPPORTED:
        pytest.skip(f"unsupported: {UNSUPPORTED[shape, api]}")
    body = told(shape, api)
    half = transom.price(body, api=api).tokens // 2
    try:
        made = transom.fit(body, api=api, budget=half, strict=True)
    except transom.OverBudget as refusal:
        assert refusal.tokens > half  # noqa: PT017 - either answer is right
        return
    assert made.report.after.tokens <= half
    if api in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        assert oracle.refused(made.request, api) == []
