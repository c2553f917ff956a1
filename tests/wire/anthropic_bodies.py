"""Bodies for Anthropic with one slip in them, and what goes out instead: legal, stable, made without changing them."""

from __future__ import annotations

import copy
from typing import Any

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


SIGNED = {"type": "thinking", "thinking": "x", "signature": "c2ln"}
MARK = {"type": "ephemeral"}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def asked(*content: Json, said: tuple[Json, ...] = (SAID,), **more: Any) -> Json:
    """A body whose first message holds these parts."""
    talk = [user(*content), {"role": "assistant", "content": list(said)}, user({"type": "text", "text": "on"})]
    return {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": talk, **more}


def fitted(body: Json) -> Json:
    """What goes out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api="anthropic", strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api="anthropic") if one.refused] == []
    assert transom.fit(made, api="anthropic").request is made
    return made


def first(body: Json) -> list[Json]:
    """The parts of the first message as they go out."""
    content: list[Json] = fitted(body)["messages"][0]["content"]
    return content


def taken(body: Json) -> None:
    """The body is legal, and goes out as it is."""
    assert answers(body) == {}
    assert transom.fit(body, api="anthropic", budget=100_000).request is body


def text(words: str, mark: Json | None = None) -> Json:
    return {"type": "text", "text": words, **({"cache_control": mark} if mark else {})}
