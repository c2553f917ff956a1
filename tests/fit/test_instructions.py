"""System texts that say nothing: lint names them, and they do not go out."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import transom

Json = dict[str, Any]
BLANK = {"type": "text", "text": " \n"}
SAID = {"type": "text", "text": "Be short."}
CLAUDE: Json = {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": [{"role": "user", "content": "go"}]}
GEMINI: Json = {"model": "gemini-2.5-flash", "contents": [{"role": "user", "parts": [{"text": "go"}]}]}
NOVA: Json = {"modelId": "amazon.nova-pro-v1:0", "messages": [{"role": "user", "content": [{"text": "go"}]}]}


@pytest.mark.parametrize(
    ("api", "body", "goes"),
    [
        ("anthropic", {**CLAUDE, "system": [BLANK]}, CLAUDE),
        ("anthropic", {**CLAUDE, "system": [{**BLANK, "cache_control": {"type": "ephemeral"}}, SAID]},
         {**CLAUDE, "system": [SAID]}),
        ("bedrock", {**NOVA, "system": [{"text": ""}, {"text": "Be short."}]}, {**NOVA, "system": [{"text": "Be short."}]}),
        ("gemini", {**GEMINI, "systemInstruction": {"parts": [{"text": ""}]}}, GEMINI),
        ("gemini", {**GEMINI, "system_instruction": {"parts": [{"text": ""}, {"text": "Be short."}]}},
         {**GEMINI, "system_instruction": {"parts": [{"text": "Be short."}]}}),
        ("gemini", {**GEMINI, "config": {"systemInstruction": [{"text": " "}], "topK": 1}}, {**GEMINI, "config": {"topK": 1}}),
    ],
)  # fmt: skip
def test_a_system_text_that_says_nothing_is_left_out(api: str, body: Json, goes: Json) -> None:
    before = copy.deepcopy(body)
    assert [one.code for one in transom.lint(body, api=api) if one.refused] == ["blank-system"]
    made = transom.fit(body, api=api, strict=True)
    assert body == before
    assert made.request == goes
    report = made.report
    assert sum(one.bytes_before - one.bytes_after for one in report.decisions) == report.before.bytes - report.after.bytes
    assert sum(one.tokens_before - one.tokens_after for one in report.decisions) == report.before.tokens - report.after.tokens
    assert transom.fit(made.request, api=api).request is made.request


@pytest.mark.parametrize("system", ["", [], "Be short.", [SAID]])
def test_one_that_the_provider_takes_stays(system: Any) -> None:
    """Recorded requests with an empty string and an empty list were taken."""
    body = {**CLAUDE, "system": system}
    assert [one.code for one in transom.lint(body, api="anthropic") if one.refused] == []
    assert transom.fit(body, api="anthropic").request is body
