"""Cache marks: the client's are only made legal; transom's own stand where the cache serves them, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import transom
from transom import canon, marks
from transom.parts import own_entry
from transom.stages import run
from transom.wire import FORMS

Json = dict[str, Any]
EPHEMERAL = {"type": "ephemeral"}
LONG = "A long first message. " * 400


def body(*texts: str) -> Json:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    return {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages}


def marked(request: Json) -> list[int]:
    return [i for i, message in enumerate(request["messages"]) if "cache_control" in str(message)]


def fit(request: Json, **more: Any) -> transom.Fit:
    return transom.fit(request, api="anthropic", marks="place", strict=True, **more)


def test_a_first_request_is_marked_at_its_end_only() -> None:
    """CM-137."""
    assert marked(fit(body(LONG, "Yes", "And?")).request) == [2]


def test_the_next_request_is_marked_where_the_last_one_ended_and_at_its_end() -> None:
    """CM-137: at most two."""
    first = fit(body(LONG, "Yes", "And?"))
    assert marked(fit(body(LONG, "Yes", "And?", "So", "Go on"), state=first.state).request) == [2, 4]


def test_a_prefix_too_short_to_be_cached_is_not_marked() -> None:
    """Below the card's minimum the mark would be wasted."""
    first = fit(body("Hi", "Yes", "And?"))
    assert marked(fit(body("Hi", "Yes", "And?", "So", "Go on"), state=first.state).request) == [4]


def test_a_preview_places_no_marks_and_leaves_the_state() -> None:
    """CM-137: previews place none and do not advance the measurement."""
    first = fit(body(LONG, "Yes", "And?"))
    form = FORMS["anthropic"]
    longer = form.read(body(LONG, "Yes", "And?", "So", "Go on"))
    prices = transom.PriceList(transom.card("claude-sonnet-4-5"))
    policy = transom.Policy.sliding(marks="place")
    seen = run(longer, form=form, policy=policy, prices=prices, last=first.state, preview=True)
    assert (marked(seen.request), seen.state) == ([], first.state)


@pytest.mark.parametrize("settings", [{}, {"marks": "place"}])
def test_the_clients_own_marks_win(settings: Json) -> None:
    """Where the client set one, the request comes out as it is."""
    request = body(LONG, "Yes", "And?")
    request["messages"][0]["content"] = [{"type": "text", "text": LONG, "cache_control": EPHEMERAL}]
    assert transom.fit(request, api="anthropic", **settings).request is request


def test_by_default_transom_sets_none() -> None:
    """A request that nothing binds is the same object."""
    request = body(LONG, "Yes", "And?")
    assert transom.fit(request, api="anthropic").request is request


def test_marks_are_outside_digests_and_a_second_fit_changes_nothing() -> None:
    """Design: fitting an output again changes nothing, because then the marks are the client's."""
    made = fit(body(LONG, "Yes", "And?"))
    assert fit(made.request).request is made.request
    assert canon.digest(made.request["messages"][2]) == canon.digest(body(LONG, "Yes", "And?")["messages"][2])


def test_of_too_many_marks_the_oldest_on_messages_go() -> None:
    """At most four; the last ones matter most."""
    request = body(*"abcdefg")
    for message in request["messages"]:
        message["content"] = [{"type": "text", "text": message["content"], "cache_control": EPHEMERAL}]
    made = transom.fit(request, api="anthropic")
    assert marked(made.request) == [3, 4, 5, 6]
    assert [one.verb for one in made.report.decisions] == ["mark"] * 3


def test_marks_on_tools_and_system_count_and_go_last() -> None:
    """Two stand there, so two messages keep theirs."""
    request = body(*"abcde")
    for message in request["messages"]:
        message["content"] = [{"type": "text", "text": message["content"], "cache_control": EPHEMERAL}]
    request["system"] = [{"type": "text", "text": "s", "cache_control": EPHEMERAL}] * 2
    assert marked(transom.fit(request, api="anthropic").request) == [3, 4]


POINT = {"cachePoint": {"type": "default"}}


def said(number: int) -> Json:
    return {"type": "text", "text": f"s{number}", "cache_control": EPHEMERAL}


@pytest.mark.parametrize(
    "api, body, gone",
    [
        (
            "anthropic",
            {**body("hi"), "system": [said(n) for n in range(5)]},
            ["system[0].cache_control"],
        ),
        (
            "anthropic",
            {
                "model": "claude-sonnet-4-5",
                "cache_control": EPHEMERAL,
                "tools": [{"name": "plain"}, {"name": "f", "cache_control": EPHEMERAL}],
                "system": [said(n) for n in range(4)],
                "messages": [{"role": "user", "content": [said(9)]}],
            },
            ["tools[1].cache_control", "system[0].cache_control", "messages[0].content[0]"],
        ),
        (
            "bedrock",
            {
                "modelId": "anthropic.claude-sonnet-4-5",
                "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}, POINT]},
                "system": [one for n in range(5) for one in ({"text": f"s{n}"}, POINT)],
                "messages": [{"role": "user", "content": [{"text": "hi"}]}],
            },
            ["toolConfig.tools[1]", "system[1]"],
        ),
    ],
)
def test_too_many_marks_outside_the_messages_go_from_the_front(api: str, body: Json, gone: list[str]) -> None:
    """Anthropic takes four; the last ones cache the most. The figures add up all the same."""
    fitted = transom.repair(body, api=api, strict=True)
    report = fitted.report
    assert [report.where(line) for line in report.decisions] == gone
    assert {line.verb for line in report.decisions} == {"mark"}
    assert report.before.bytes - report.after.bytes == sum(line.bytes_before - line.bytes_after for line in report.decisions)
    assert [fault for fault in transom.lint(fitted.request, api=api) if fault.code == "breakpoints"] == []
    assert transom.repair(fitted.request, api=api).request is fitted.request


def test_no_mark_stands_on_thinking() -> None:
    """A provider refuses one there; a message of nothing else gets none."""
    form, card = FORMS["anthropic"], transom.card("claude-sonnet-4-5")
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "So.", "signature": "s"}]}
    conversation = form.read({"messages": [{"role": "user", "content": "Hi"}, thought]})
    entries = tuple(map(own_entry, conversation.messages))
    assert marks.placed(conversation, entries, form, card, last=(), now=()) == entries


def test_a_mark_of_the_request_itself_counts_as_one_of_its_marks() -> None:
    """Anthropic's automatic caching: `cache_control` beside the messages; the client marks, so that transom does not."""
    request = {**body("Hi"), "cache_control": EPHEMERAL}
    assert fit(request).request is request


def test_the_mark_of_the_request_itself_is_the_last_to_go() -> None:
    """It stands behind those of tools and system; the earliest go."""
    card = transom.card("claude-sonnet-4-5")
    one = replace(card, limits=replace(card.limits, marks=1))
    tool = {"name": "a", "input_schema": {"type": "object"}}
    request = {**body("Hi"), "cache_control": EPHEMERAL, "tools": [{**tool, "cache_control": EPHEMERAL}]}
    made = transom.fit(request, api="anthropic", card=one)
    assert made.request == {**request, "tools": [tool]}
