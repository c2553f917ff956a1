"""A value where a result's text or parts belong: told in the form that takes it, and left alone where it is taken."""

from __future__ import annotations

from typing import Any

import pytest

from transom.wire.holding import fitting

PART = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    "raw",
    [
        "words",
        {"type": "tool_result", "content": "words"},
        {"type": "tool_result", "content": [PART]},
        {"type": "tool_result"},
        {"type": "shell_call_output", "output": {"stdout": "x"}},
        {"type": "function_call_output", "output": {"type": "input_image"}},
        {"role": "tool", "content": {"_multimodal": True, "parts": []}},
        {"functionResponse": {"name": "f", "response": {"a": 1}}},
        {"toolResult": {"content": [{"text": "x"}]}},
    ],
)
def test_what_its_form_takes_is_left_alone(raw: Any) -> None:
    assert fitting(raw) is raw


@pytest.mark.parametrize(
    ("raw", "held"),
    [
        ({"type": "tool_result", "content": {"content": [PART]}}, {"type": "tool_result", "content": [PART]}),
        (
            {"role": "tool", "content": {"content": [PART]}},
            {"role": "tool", "content": '{"content":[{"type":"text","text":"x"}]}'},
        ),
        ({"type": "tool_result", "content": PART}, {"type": "tool_result", "content": [PART]}),
        ({"type": "tool_result", "content": 5}, {"type": "tool_result", "content": "5"}),
        ({"type": "function_call_output", "output": {"a": 1}}, {"type": "function_call_output", "output": '{"a":1}'}),
        ({"functionResponse": {"name": "f", "response": 5}}, {"functionResponse": {"name": "f", "response": {"output": 5}}}),
        ({"toolResult": {"content": "x"}}, {"toolResult": {"content": [{"text": "x"}]}}),
        ({"toolResult": {"content": " "}}, {"toolResult": {"content": []}}),
        ({"toolResult": {"content": {"a": 1}}}, {"toolResult": {"content": [{"json": {"a": 1}}]}}),
        ({"toolResult": {"content": {"text": "x"}}}, {"toolResult": {"content": [{"text": "x"}]}}),
    ],
)
def test_anything_else_is_told_and_nothing_is_lost(raw: Any, held: Any) -> None:
    assert fitting(raw) == held
