"""What `legal` says and what an independent reader of the same bodies says: the same codes, whatever the body."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transom.wire import FORMS

SHARED = Path(__file__).parents[3] / "shared"
PROVIDERS = ("anthropic", "openai-chat", "openai-responses", "gemini")
OURS_ALONE = {"odd-id", "odd-name", "trailing", "ttl-order", "no-calls", "no-content"}
"""What the independent reader does not look at."""
KEYS = {"openai-responses": "input", "gemini": "contents"}


@pytest.fixture(scope="module")
def oracle() -> ModuleType:
    path = SHARED / "tools" / "wire_oracle.py"
    if not path.exists():
        pytest.skip("the independent reader of request bodies is not here")
    pytest.importorskip("PIL")
    spec = importlib.util.spec_from_file_location("wire_oracle", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def codes(body: dict[str, Any], api: str) -> Counter[str]:
    form = FORMS[api]
    return Counter(fault.code for fault in form.legal(form.read(body)) if fault.code not in OURS_ALONE)


def bodies(api: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((SHARED / "data" / "cases").glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["provider"] == api and isinstance(case.get("request"), dict) and case["request"].get(KEYS.get(api, "messages")):
            yield path.stem, case["request"]
    for path in sorted((SHARED / "data" / "transcripts").glob("*.json.gz")):
        talk = json.loads(gzip.decompress(path.read_bytes()))
        if talk["api"] == api:
            fields = {key: talk[key] for key in ("system", "tools") if talk.get(key)}
            key = KEYS.get(api, "messages")
            yield path.stem, {**fields, key: talk[key]}


@pytest.mark.parametrize("api", PROVIDERS)
def test_cases_and_transcripts_have_the_same_faults(oracle: ModuleType, api: str) -> None:
    found = 0
    for name, body in bodies(api):
        found += 1
        assert codes(body, api) == Counter(code for code, _ in oracle.faults(body, api)), name
    if not found:
        pytest.skip("the cases and transcripts are not here")


@pytest.mark.parametrize("api", PROVIDERS)
def test_every_prefix_of_a_talk_has_the_same_faults(oracle: ModuleType, api: str) -> None:
    """Cut anywhere, front or end: what a body lost shows in both."""
    for name, body in bodies(api):
        key = KEYS.get(api, "messages")
        messages = body[key]
        if len(messages) > 160 or len(json.dumps(body)) > 900_000:
            continue
        for cut in range(1, len(messages)):
            for part in (messages[:cut], messages[cut:]):
                piece = {**body, key: part}
                assert codes(piece, api) == Counter(code for code, _ in oracle.faults(piece, api)), (name, cut)


@pytest.mark.parametrize("api", PROVIDERS)
def test_what_is_refused_is_what_the_provider_refuses(oracle: ModuleType, api: str) -> None:
    form = FORMS[api]
    for name, body in bodies(api):
        quirks = frozenset({"no-prefill"} if api != "gemini" else ())
        ours = {fault.code for fault in form.legal(form.read(body), quirks) if fault.refused}
        assert ours - OURS_ALONE == {code for code, _ in oracle.refused(body, api)}, name


IDS = st.sampled_from(["a", "b", "c", ""])
WORDS = st.sampled_from(["hi", "", "  ", "more"])
SERVED = st.sampled_from(["s", "t"])
ANTHROPIC_BLOCK = st.one_of(
    st.builds(lambda words: {"type": "text", "text": words}, WORDS),
    st.builds(lambda words: {"type": "text", "text": words, "cache_control": {"type": "ephemeral"}}, WORDS),
    st.builds(lambda id_: {"type": "tool_use", "id": id_, "name": "run", "input": {}}, IDS),
    st.builds(lambda id_, words: {"type": "tool_result", "tool_use_id": id_, "content": words}, IDS, WORDS),
    st.builds(lambda id_: {"type": "server_tool_use", "id": id_, "name": "advisor", "input": {}}, SERVED),
    st.builds(lambda id_: {"type": "advisor_tool_result", "tool_use_id": id_, "content": []}, SERVED),
    st.builds(lambda id_: {"type": "mcp_tool_result", "tool_use_id": id_, "content": []}, SERVED),
    st.just({"type": "thinking", "thinking": "so", "signature": "x"}),
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.just({"type": "compaction", "content": "x"}),
)
ANTHROPIC = st.fixed_dictionaries(
    {
        "messages": st.lists(
            st.fixed_dictionaries(
                {
                    "role": st.sampled_from(["user", "assistant"]),
                    "content": st.one_of(WORDS, st.lists(ANTHROPIC_BLOCK, max_size=5)),
                }
            ),
            max_size=8,
        )
    },
    optional={"thinking": st.sampled_from([{"type": "enabled"}, {"type": "disabled"}, None])},
)
OPENAI_CALL = st.builds(
    lambda id_, arguments: {"id": id_, "type": "function", "function": {"name": "run", "arguments": arguments}},
    IDS,
    st.sampled_from(["{}", "", "{", "null", '{"a":1}', None]),
)
OPENAI_CONTENT = st.one_of(
    WORDS,
    st.none(),
    st.lists(
        st.one_of(
            st.builds(lambda words: {"type": "text", "text": words}, WORDS),
            st.just({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}),
        ),
        max_size=3,
    ),
)
OPENAI_MESSAGE = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "developer"]), "content": OPENAI_CONTENT}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": OPENAI_CONTENT}, optional={"tool_calls": st.lists(OPENAI_CALL, max_size=3)}
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": IDS, "content": OPENAI_CONTENT}),
)
OPENAI = st.fixed_dictionaries({"messages": st.lists(OPENAI_MESSAGE, max_size=9)})


TYPED = st.sampled_from(["function_call", "computer_call", "custom_tool_call"])
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "developer"]), "content": WORDS},
    optional={"type": st.just("message")},
)
RESPONSES = st.fixed_dictionaries(
    {
        "input": st.one_of(
            st.sampled_from(["hi", " "]),
            st.lists(
                st.one_of(
                    MESSAGE,
                    st.builds(lambda kind, id_: {"type": kind, "call_id": id_, "name": "run", "arguments": "{}"}, TYPED, IDS),
                    st.builds(lambda kind, id_: {"type": f"{kind}_output", "call_id": id_, "output": "x"}, TYPED, IDS),
                    st.just({"type": "reasoning", "summary": [], "encrypted_content": "x"}),
                    st.just({"type": "web_search_call", "id": "ws", "status": "completed"}),
                ),
                max_size=9,
            ),
        )
    }
)
GEMINI_PART = st.one_of(
    st.builds(lambda words: {"text": words}, WORDS),
    st.builds(lambda key: {key: {"name": "run", "args": {}}}, st.sampled_from(["functionCall", "function_call"])),
    st.builds(
        lambda key: {key: {"name": "run", "response": {"output": "x"}}},
        st.sampled_from(["functionResponse", "function_response"]),
    ),
    st.just({"inlineData": {"mimeType": "image/png", "data": "eA=="}}),
    st.just({"text": "so", "thought": True}),
    st.just({"functionCall": {"name": "run"}, "thoughtSignature": "c2ln"}),
)
GEMINI_CONTENT = st.fixed_dictionaries(
    {"parts": st.lists(GEMINI_PART, max_size=4)}, optional={"role": st.sampled_from(["user", "model", "function"])}
)
GEMINI = st.fixed_dictionaries(
    {"contents": st.one_of(st.lists(st.one_of(GEMINI_CONTENT, WORDS), max_size=8), GEMINI_CONTENT, st.sampled_from(["hi", " "]))}
)


@settings(max_examples=600, deadline=None)
@given(body=RESPONSES)
def test_generated_responses_bodies_have_the_same_faults(oracle: ModuleType, body: dict[str, Any]) -> None:
    assert codes(body, "openai-responses") == Counter(code for code, _ in oracle.faults(body, "openai-responses"))


@settings(max_examples=600, deadline=None)
@given(body=GEMINI)
def test_generated_gemini_bodies_have_the_same_faults(oracle: ModuleType, body: dict[str, Any]) -> None:
    assert codes(body, "gemini") == Counter(code for code, _ in oracle.faults(body, "gemini"))


@settings(max_examples=600, deadline=None)
@given(body=ANTHROPIC)
def test_generated_anthropic_bodies_have_the_same_faults(oracle: ModuleType, body: dict[str, Any]) -> None:
    assert codes(body, "anthropic") == Counter(code for code, _ in oracle.faults(body, "anthropic"))


@settings(max_examples=600, deadline=None)
@given(body=OPENAI)
def test_generated_openai_bodies_have_the_same_faults(oracle: ModuleType, body: dict[str, Any]) -> None:
    assert codes(body, "openai-chat") == Counter(code for code, _ in oracle.faults(body, "openai-chat"))
