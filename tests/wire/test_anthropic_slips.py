"""What Anthropic refuses in one message, and what goes out instead."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import transom

Json = dict[str, Any]


def claude(*content: Json, model: str = "claude-sonnet-4-5", **more: Any) -> Json:
    answer = {"role": "assistant", "content": list(content)}
    talk = [{"role": "user", "content": "go"}, answer, {"role": "user", "content": "on"}]
    return {"model": model, "max_tokens": 50, "messages": talk, **more}


def mended(body: Json) -> list[Json]:
    """The answer's parts as they go out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api="anthropic", strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api="anthropic") if one.refused] == []
    assert transom.fit(made, api="anthropic").request is made
    content: list[Json] = made["messages"][1]["content"]
    return content


def answers(body: Json) -> dict[str, str]:
    return {one.code: one.answer for one in transom.lint(body, api="anthropic") if one.refused}


SAID = {"type": "text", "text": "b"}


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ({"type": "thinking", "thinking": "x"}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "thinking", "thinking": "x", "signature": None}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "thinking", "thinking": "x", "signature": ""}, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ({"type": "redacted_thinking"}, "messages.1.content.0.redacted_thinking.data: Field required"),
    ],
)
def test_thinking_that_nobody_signed_is_left_out(thought: Json, answer: str) -> None:
    body = claude(thought, SAID)
    assert answers(body) == {"unsigned": answer}
    assert mended(body) == [SAID]


def test_a_model_whose_provider_signs_nothing_takes_it() -> None:
    body = claude({"type": "thinking", "thinking": "x"}, SAID, model="deepseek-chat")
    assert transom.fit(body, api="anthropic", budget=10_000).request is body


def test_signed_thinking_without_its_text_says_an_empty_one() -> None:
    body = claude({"type": "thinking", "signature": "c2ln"}, SAID)
    assert answers(body) == {"thinking": "messages.1.content.0.thinking.thinking: Field required"}
    assert mended(body) == [{"type": "thinking", "signature": "c2ln", "thinking": ""}, SAID]
