"""Reading whole bodies: hostile JSON, the errors and their places, the example talks, and the guess of a form."""

from __future__ import annotations

import copy
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transom.errors import BadRequest
from transom.parts import walk
from transom.types import Json
from transom.wire import FORMS, guess

SHARED = Path(__file__).parents[3] / "shared"
APIS = ("anthropic", "openai-chat", "blocks")
"""Forms with a list `messages`; the others have tests of their own."""

WORDS = st.sampled_from(
    [
        "",
        "x",
        "user",
        "assistant",
        "tool",
        "system",
        "text",
        "image",
        "image_url",
        "tool_use",
        "tool_result",
        "document",
        "base64",
        "function",
        "url",
        "file",
        "resource",
        "a_tool_result",
        "non_standard",
        "thinking",
        "iVBORw0KGgo",
        "data:image/png;base64,iVBORw0KGgo=",
    ]
)
KEYS = st.sampled_from(
    [
        "role",
        "participant",
        "content",
        "type",
        "text",
        "source",
        "data",
        "url",
        "image_url",
        "file",
        "id",
        "tool_use_id",
        "tool_call_id",
        "tool_calls",
        "function",
        "custom",
        "arguments",
        "input",
        "name",
        "media_type",
        "mimeType",
        "resource",
        "cache_control",
        "rawItem",
        "rawXml",
        "structuredContent",
        "api_content",
        "images",
        "audio",
        "function_call",
        "refusal",
        "_multimodal",
        "reasoning_content",
        "value",
        "title",
        "is_error",
        "bytes",
        "inlineData",
        "tools",
        "system",
        "thinking",
    ]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
MESSAGE = st.builds(lambda role, rest: {**rest, "role": role}, WORDS, st.dictionaries(KEYS, ANY, max_size=5))


@settings(max_examples=500, deadline=None)
@given(
    body=st.fixed_dictionaries(
        {"messages": st.lists(MESSAGE, max_size=4) | ANY}, optional={"system": ANY, "tools": ANY, "thinking": ANY}
    )
)
@pytest.mark.parametrize("api", APIS)
def test_reading_raises_nothing_but_bad_request_and_changes_nothing(api: str, body: dict[str, Any]) -> None:
    """Whatever JSON comes in: views or a sentence, the input as it was, and each message made of its own parts is equal."""
    form = FORMS[api]
    before = copy.deepcopy(body)
    try:
        conversation = form.read(body)
    except BadRequest:
        return
    form.legal(conversation)
    for message in conversation.messages:
        assert message.json is body["messages"][message.index]
        assert form.with_parts(message.json, [part.raw for part in message.parts]) == message.json
        for part in walk(message.parts):
            at: Any = message.json
            for step in part.place:
                at = at[step]
            assert at is part.raw
            form.mark(message.json, part, {"type": "ephemeral"})
            if part.media is not None:
                form.set_media(message.json, part, part.media)
    assert body == before


@pytest.mark.parametrize(
    "body, place, words",
    [
        ({}, "messages", "there is no `messages`"),
        ({"messages": "x"}, "messages", "a string"),
        ({"messages": None}, "messages", "there is no"),
        ({"messages": ["x"]}, "messages[0]", "a string"),
        ({"messages": [{}]}, "messages[0].role", "no `role`"),
        ({"messages": [{"role": "robot" * 20, "content": "x"}]}, "messages[0].role", "robotrobot"),
        ({"messages": [{"role": 5, "content": "x"}]}, "messages[0].role", "a number"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "a number"),
        ({"messages": [{"role": "user", "content": True}]}, "messages[0].content", "true"),
        ({"messages": [{"role": "user", "content": {"type": "text"}}]}, "messages[0].content", "an object"),
        (
            {"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": [None, "x"]}]},
            "messages[1].content[0]",
            "null",
        ),
        ({"messages": [], "tools": 5}, "tools", "a number"),
        ({"messages": [], "tools": [None]}, "tools[0]", "null"),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_what_does_not_belong_is_named_with_its_place(api: str, body: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as caught:
        FORMS[api].read(body)
    assert caught.value.place == place


@pytest.mark.parametrize(
    "api, body, place",
    [
        ("anthropic", {"messages": [], "system": 5}, "system"),
        ("anthropic", {"messages": [], "system": ["x"]}, "system[0]"),
        ("anthropic", {"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]"),
        ("openai-chat", {"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]"),
        ("anthropic", {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ("openai-chat", {"messages": [{"role": "assistant", "tool_calls": 5}]}, "messages[0].tool_calls"),
        ("openai-chat", {"messages": [{"role": "assistant", "tool_calls": [5]}]}, "messages[0].tool_calls[0]"),
        ("openai-chat", {"messages": [{"role": "user", "content": {"a": 1}}]}, "messages[0].content"),
        (
            "openai-chat",
            {"messages": [{"role": "tool", "content": {"_multimodal": True, "content": [1]}}]},
            "messages[0].content.content[0]",
        ),
    ],
)
def test_each_form_names_its_own_places(api: str, body: dict[str, Any], place: str) -> None:
    with pytest.raises(BadRequest) as caught:
        FORMS[api].read(body)
    assert caught.value.place == place


@pytest.mark.parametrize("api", APIS)
def test_a_message_read_alone_has_its_place_in_errors(api: str) -> None:
    for json_, place in (("x", "messages[7]"), ({"role": "user", "content": 5}, "messages[7].content")):
        with pytest.raises(BadRequest) as caught:
            FORMS[api].read_message(json_, 7)  # type: ignore[arg-type]
        assert caught.value.place == place


def test_what_stands_outside_the_messages() -> None:
    tools = [{"name": "run", "input_schema": {}}]
    body = {
        "model": "m",
        "system": [{"type": "text", "text": "be"}],
        "tools": tools,
        "messages": [{"role": "user", "content": "x"}],
    }
    read = FORMS["anthropic"].read(body)
    assert (read.model, read.key, read.tools) == ("m", "messages", (tools[0],))
    assert [(part.text, part.place) for part in read.system] == [("be", ("system", 0))]
    assert FORMS["anthropic"].read({**body, "system": "be"}).system[0].place == ("system",)
    chat = FORMS["openai-chat"].read(
        {"model": 5, "functions": [{"name": "f"}, 3], "messages": [{"role": "developer", "content": "be"}]}
    )
    assert (chat.system, chat.messages[0].role, chat.model, chat.tools) == ((), "system", "", ({"name": "f"},))


def test_a_tool_message_is_one_part() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    text = {"type": "text", "text": "x"}
    rows: list[tuple[Any, str, list[tuple[str, tuple[Any, ...]]]]] = [
        ("plain", "plain", []),
        (None, "", []),
        ([text, image], "", [("text", ("content", 0)), ("image", ("content", 1))]),
        # HE-08: a multimodal envelope is looked into
        ({"_multimodal": True, "content": [text, image], "text_summary": "s"}, "",
         [("text", ("content", "content", 0)), ("image", ("content", "content", 1))]),
        ('{"content":[{"type":"image","data":"iVBORw0KGgo="}]}', '{"content":[{"type":"image","data":"iVBORw0KGgo="}]}', []),
    ]  # fmt: skip
    for content, words, inner in rows:
        json_ = {"role": "tool", "tool_call_id": "a", "content": content}
        message = FORMS["openai-chat"].read_message(json_, 0)
        (part,) = message.parts
        assert (message.role, part.kind, part.place, part.id, part.text) == ("tool", "result", (), "a", words)
        assert part.raw is json_
        assert [(found.kind, found.place) for found in part.parts] == inner


@pytest.mark.parametrize("api", APIS)
def test_reading_takes_so_much_for_each_message(api: str) -> None:
    """As many calls for each of a hundred messages as for each of a thousand."""

    def calls(count: int) -> int:
        body = {"messages": [{"role": ("user", "assistant")[n % 2], "content": f"words {n}"} for n in range(count)]}
        seen = []
        sys.setprofile(lambda _frame, event, _arg: seen.append(event))
        try:
            FORMS[api].read(body)
        finally:
            sys.setprofile(None)
        return len(seen)

    few, many = calls(100), calls(1_000)
    assert 0 < many <= 10 * few


def talks() -> list[Path]:
    return sorted((SHARED / "data" / "transcripts").glob("*.json.gz"))


def test_every_transcript_reads_and_comes_back_equal() -> None:
    """Every part is known, every message made of its own parts is equal, and no picture is missed."""
    if not talks():
        pytest.skip("the transcripts of real agents are not here")
    for path in talks():
        talk = json.loads(gzip.decompress(path.read_bytes()))
        if talk["api"] not in APIS:
            continue
        form = FORMS[talk["api"]]
        body = {key: talk[key] for key in ("system", "tools", "messages") if talk.get(key)}
        text = json.dumps(body)
        read = form.read(body)
        for message in read.messages:
            assert form.with_parts(message.json, [part.raw for part in message.parts]) == message.json
        found = [part for message in read.messages for part in walk(message.parts)]
        assert not [part for part in found if part.kind == "opaque"], path.stem
        pictures = [part.media for part in found if part.media is not None]
        assert len(pictures) == text.count('"type": "image"') + text.count('"type": "image_url"')
        assert all(media.facts.width and not media.facts.problem for media in pictures), path.stem
        assert json.dumps(body) == text
        assert guess(body) == talk["api"], path.stem


@pytest.mark.parametrize(
    "body, api",
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "openai-chat"),
        ({"model": "claude-x", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
        ({"system": "be", "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
        ({"messages": [{"role": "system", "content": "x"}]}, "openai-chat"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "u"}]}]}, "openai-chat"),
        ({"tools": [{"type": "function", "function": {}}], "messages": [{"role": "user", "content": "x"}]}, "openai-chat"),
        ({"tools": [{"name": "n", "input_schema": {}}], "messages": [5]}, "anthropic"),
        ({"messages": [{"participant": "bob", "content": "x"}]}, "blocks"),
        ({"messages": [{"role": "user", "content": [{"type": "generated_image"}]}]}, "blocks"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "toolUseId": "a"}]}]}, "blocks"),
        ({"messages": [{"role": "user", "content": ["x"]}], "tools": "x"}, "openai-chat"),
        ({"messages": "x", "tools": [5]}, "openai-chat"),
    ],
)
def test_the_form_of_a_body_is_guessed(body: dict[str, Any], api: str) -> None:
    assert guess(body) == api


def test_the_form_of_every_case_is_guessed() -> None:
    paths = sorted((SHARED / "data" / "cases").glob("*.json"))
    if not paths:
        pytest.skip("the cases are not here")
    for path in paths:
        case = json.loads(path.read_text(encoding="utf-8"))
        body = case.get("request")
        if case["provider"] in APIS and isinstance(body, dict) and body.get("messages"):
            assert guess(body) == case["provider"], path.stem


def test_a_part_whose_type_is_no_word_gives_no_hint() -> None:
    """Found by fuzzing: a list in place of a type."""
    odd: tuple[Json, ...] = ([], {}, None, 1, [[]])
    content = [{"type": kind, "text": "a"} for kind in odd]
    assert guess({"messages": [{"role": "user", "content": content}]}) == guess({"messages": [{"role": "user", "content": "a"}]})
