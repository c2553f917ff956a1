"""A beginning that is spelt as it was before is not read again, and nothing else comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import bodies, legal_bodies
from transom.proxy import fitting, reading
from transom.proxy.fitting import Fitter
from transom.proxy.planned import Planned
from transom.proxy.reading import LISTS, is_list
from transom.proxy.recall import NEWEST
from transom.proxy.routes import Route, find
from transom.proxy.settings import build
from transom.proxy.states import Memory
from transom.types import JsonObject
from transom.wire.form import Usage

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-2.5-flash:generateContent",
}
MODELS = {"anthropic": "claude-sonnet-4-5", "openai-chat": "gpt-4o", "openai-responses": "gpt-4o", "gemini": ""}
UPSTREAMS = {"anthropic": "http://127.0.0.1:9", "openai": "http://127.0.0.1:9", "gemini": "http://127.0.0.1:9"}
SPELLINGS: tuple[Callable[[Any], str], ...] = (
    json.dumps,
    lambda body: json.dumps(body, ensure_ascii=False, separators=(",", ":")),
    lambda body: json.dumps(body, indent=1),
)
MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
USAGE = Usage(prompt=700, output=9)


def road(api: str) -> Route:
    family = api.partition("-")[0]
    route = find("POST", f"/{family}{PATHS[api]}", {})
    assert route is not None
    return route


def fitter(states: Memory | None = None, *, budget: int = 0, threaded: int = 99_999) -> Fitter:
    settings: dict[str, Any] = {"upstream": UPSTREAMS, "threaded": threaded}
    if budget:
        settings["policy"] = {"budget": budget}
    return Fitter(build(settings), states or Memory())


def talked(count: int) -> list[JsonObject]:
    """A talk whose newest message is the user's."""
    return [{"role": "user" if at % 2 == 0 else "assistant", "content": f"{at} " + "word " * 9} for at in range(2 * count - 1)]


def asked(messages: list[JsonObject], **more: Any) -> bytes:
    return json.dumps({"model": "gpt-4o", "messages": messages, **more}).encode()


def told(planned: Planned) -> tuple[object, ...]:
    """All that is done with a plan."""
    report = planned.report.to_dict() if planned.report is not None else None
    return (*(getattr(planned, name) for name in planned.__struct_fields__ if name != "report"), report)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that were read whole."""
    seen: list[bytes] = []

    def parsed(data: bytes) -> JsonObject:
        seen.append(data)
        return reading.parsed(data)

    monkeypatch.setattr(fitting, "parsed", parsed)
    return seen


def with_mark(message: JsonObject) -> JsonObject:
    """The message with a cache mark on each of its parts, where it has any."""
    parts = message.get("content")
    if not isinstance(parts, list):
        return message
    return {**message, "content": [{**part, **MARK} if isinstance(part, dict) else part for part in parts]}


@pytest.mark.parametrize("api", sorted(PATHS))
@given(data=st.data())
def test_what_is_remembered_of_spelling_changes_no_plan(api: str, data: st.DataObject) -> None:
    """A talk that grows, however its client spells it, is planned as one whose every request is read whole."""
    body = data.draw(st.one_of(legal_bodies(api), bodies(api)))
    key = LISTS[api]
    messages: Any = body.get(key)
    if not is_list(messages):
        return
    spell = data.draw(st.sampled_from(SPELLINGS))
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(messages))), max_size=4)) | {len(messages)})
    budget = data.draw(st.sampled_from([0, 0, 400]))
    states = Memory()
    one, other = (
        fitter(states, budget=budget, threaded=most) for most in (99_999, 1)
    )  # of large bodies no spelling is remembered
    route, who = road(api), one.caller(credential=b"k", named=b"", session=b"")
    moving = data.draw(st.booleans())
    for cut in cuts:
        said = [*messages[: cut - 1], with_mark(messages[cut - 1]) if moving else messages[cut - 1]]
        raw = spell({"model": MODELS[api], **body, key: said}).encode()
        planned, again = one.plan(raw, route, who), other.plan(raw, route, who)
        assert told(planned) == told(again)
        if data.draw(st.booleans()):
            one.keep(planned, who, data.draw(st.sampled_from([None, USAGE])))


def test_a_beginning_that_was_read_is_not_read_again(read: list[bytes]) -> None:
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    for turns in (1, 2, 3, 5, 6):
        planned = one.plan(asked(talked(turns)), route, who)
        assert planned.outcome == "untouched"
        one.keep(planned, who, USAGE)
    assert len(read) == 1


def test_one_that_came_too_long_ago_is_read(read: list[bytes]) -> None:
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(1)), route, who), who, USAGE)
    one.plan(asked(talked(2 + NEWEST)), route, who)
    assert len(read) == 2


@pytest.mark.parametrize("other", ["tenant", "session", "api", "spelling", "size"])
def test_another_spelling_is_read(other: str, read: list[bytes]) -> None:
    """And what another tenant sent is another's, byte for byte the same or not."""
    one, route = fitter(threaded=2_000 if other == "size" else 99_999), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    later = asked(talked(3), user="x" * (2_000 if other == "size" else 1))
    if other in {"tenant", "session"}:
        who = one.caller(credential=b"other" if other == "tenant" else b"k", named=b"", session=b"s" * (other == "session"))
    if other == "spelling":
        later = json.dumps(json.loads(later), indent=2).encode()
    if other == "api":
        route = road("anthropic")
    assert one.plan(later, route, who).outcome == "untouched"
    assert len(read) == 2


def test_what_the_provider_did_not_take_is_not_known(read: list[bytes]) -> None:
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.plan(asked(talked(2)), route, who)
    one.plan(asked(talked(3)), route, who)
    assert len(read) == 2


@pytest.mark.parametrize(
    "newest",
    [b'"said"', b'{"role": "user", "content": "\\ud800"}', b'{"role": "user", "content": NaN}', b"7", b'{"role": "user"'],
    ids=["no object", "half a pair", "no number", "a number", "broken"],
)
def test_what_came_since_is_looked_at_as_ever(newest: bytes) -> None:
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    later = asked(talked(2))[:-2] + b", " + newest + b"]}"
    assert told(one.plan(later, route, who)) == told(fitter().plan(later, route, who))
    assert one.plan(later, route, who).outcome in {"unread", "refused"}


def test_of_two_lists_the_last_one_counts() -> None:
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    twice = asked(talked(9))[:-1] + b', "messages": ' + json.dumps(talked(3)).encode() + b"}"
    assert one.plan(twice, route, who).after.tokens == fitter().plan(asked(talked(3)), route, who).after.tokens


def marked(turns: int, *at: int, tools: int = 0) -> bytes:
    """A talk with Claude with cache marks at these messages and on so many tools."""
    messages = [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in talked(turns)]
    for number in at:
        messages[number]["content"][0] |= MARK
    made = [{"name": f"t{number}", "input_schema": {"type": "object"}, **MARK} for number in range(tools)]
    return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": messages, "tools": made}).encode()


def test_marks_that_move_are_no_other_spelling(read: list[bytes]) -> None:
    one, route = fitter(), road("anthropic")
    who = one.caller(credential=b"k", named=b"", session=b"")
    for turns in (2, 3, 4, 7, 8):
        planned = one.plan(marked(turns, 2 * turns - 2, tools=1), route, who)
        assert planned.outcome == "untouched"
        one.keep(planned, who, USAGE)
    assert len(read) == 1


def test_marks_are_counted_wherever_they_are(read: list[bytes]) -> None:
    one, route = fitter(), road("anthropic")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(marked(9, 0), route, who), who, USAGE)
    later = one.plan(marked(10, 0, tools=3), route, who)
    assert later.outcome == "untouched"
    assert len(read) == 1
    one.keep(later, who, USAGE)
    assert one.plan(marked(11, 0, tools=4), route, who).outcome == "fitted", "a fifth mark goes"
    assert one.plan(marked(11, 0, 20, tools=3), route, who).outcome == "fitted"


def test_a_text_that_looks_like_a_mark_is_none(read: list[bytes]) -> None:
    one, route = fitter(), road("anthropic")
    who = one.caller(credential=b"k", named=b"", session=b"")
    like = [*talked(2)[:-1], {"role": "user", "content": 'x,"cache_control":{"type":"ephemeral"}'}]
    unlike = [*talked(2)[:-1], {"role": "user", "content": "x"}, *talked(3)[-2:]]
    for messages in (like, unlike):
        data = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}).encode()
        one.keep(one.plan(data, route, who), who, USAGE)
    assert len(read) == 2
