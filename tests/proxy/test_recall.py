"""A beginning that is spelt as it was before is not read again, and nothing else comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import bodies, legal_bodies
from transom import canon
from transom.proxy import fitting, reading, recall
from transom.proxy.fitting import Fitter
from transom.proxy.identity import Identity
from transom.proxy.planned import Planned
from transom.proxy.reading import LISTS, is_list
from transom.proxy.recall import SPELT
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


def fitter(states: Memory | None = None, *, budget: int = 0) -> Fitter:
    settings: dict[str, Any] = {"upstream": UPSTREAMS}
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

    def simple(data: bytes) -> JsonObject | None:
        seen.append(data)
        return reading.simple(data)

    monkeypatch.setattr(fitting, "simple", simple)
    return seen


def with_mark(message: Any) -> Any:
    """The message with a cache mark on each of its parts, where it has any."""
    parts = message.get("content") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return message
    return {**message, "content": [{**part, **MARK} if isinstance(part, dict) else part for part in parts]}


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


TWISTS: Mapping[str, Callable[[bytes, str], bytes]] = {
    "": lambda raw, _: raw,
    "a field twice, once no text": lambda raw, _: raw[:-1] + b',"x":"\xff","x":"x"}',
    "messages twice": lambda raw, key: b'{"%b":[{"role":"user","content":"old"}],' % key.encode() + raw[1:],
    "messages twice, once no text": lambda raw, key: b'{"%b":["\xff"],' % key.encode() + raw[1:],
    "messages under an escaped name": lambda raw, key: raw[:-1] + b',"\\u00%02x%b":[]}' % (ord(key[0]), key[1:].encode()),
    "a mark of the whole": lambda raw, _: raw[:-1] + b',"cache_control":{"type":"ephemeral"}}',
    "a byte order mark": lambda raw, _: b"\xef\xbb\xbf" + raw,
    "something behind it": lambda raw, _: raw + b" 1",
    "deep": lambda raw, _: raw[:-1] + b',"x":' + nested(250).encode() + b"}",
    "too deep": lambda raw, _: raw[:-1] + b',"x":' + nested(993).encode() + b"}",
    "no number": lambda raw, _: raw[:-1] + b',"x":1e999}',
}


@pytest.mark.parametrize("api", sorted(PATHS))
@given(data=st.data())
def test_what_is_remembered_of_spelling_changes_no_plan(api: str, data: st.DataObject) -> None:
    """A talk that grows, however its client spells it, is planned as one whose every request is read whole."""
    body = data.draw(st.one_of(legal_bodies(api), bodies(api)))
    key = LISTS[api]
    messages: Any = body.get(key)
    if not is_list(messages):
        return
    if api == "gemini" and data.draw(st.booleans()):
        messages = ["hi", *messages]
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(messages))), max_size=4)) | {len(messages)})
    budget, moving = data.draw(st.sampled_from([0, 0, 400])), data.draw(st.booleans())
    states = Memory()
    one, other = fitter(states, budget=budget), fitter(states, budget=budget)
    route, who = road(api), one.caller(credential=b"k", named=b"", session=b"")
    for cut in cuts:
        said = [*messages[: cut - 1], with_mark(messages[cut - 1]) if moving else messages[cut - 1]]
        spell = data.draw(st.sampled_from([SPELLINGS[0], *SPELLINGS]))
        twist = data.draw(st.sampled_from(["", "", "", *TWISTS]))
        raw = TWISTS[twist](spell({"model": MODELS[api], **body, key: said}).encode(), key)
        planned = one.plan(raw, route, who)
        with mock.patch.object(recall, "LARGEST", 0):
            whole = other.plan(raw, route, who)
        assert told(planned) == told(whole)
        if data.draw(st.booleans()):
            assert told(one.plan(raw, route, who)) == told(whole)
        if data.draw(st.sampled_from([True, True, False])):
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
    one.plan(asked(talked(2 + SPELT)), route, who)
    assert len(read) == 2


@pytest.mark.parametrize("other", ["tenant", "session", "api", "spelling", "size"])
def test_another_spelling_is_read(other: str, read: list[bytes]) -> None:
    """And what another tenant sent is another's, byte for byte the same or not."""
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    later = asked(talked(3), user="x" * (recall.LARGEST if other == "size" else 1))
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


def test_a_request_that_comes_again_before_it_was_taken_is_not_read_again(read: list[bytes]) -> None:
    """As where it is counted first, or its client tries again."""
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    for turns in (3, 4, 5):
        first, again = (one.plan(asked(talked(turns)), route, who) for _ in range(2))
        assert told(first) == told(again)
        one.keep(again, who, USAGE)
    assert len(read) == 1


def test_nothing_that_was_said_is_kept() -> None:
    """Not even in a hash that is still under way: it holds the end of what it has read."""
    one = fitter()
    who = one.caller(credential=b"k", named=b"", session=b"")
    for turns in (1, 2, 3):
        one.keep(one.plan(asked(talked(turns)), road("openai-chat"), who), who, USAGE)
    begun = vars(vars(one)["_recall"])["_begun"]
    assert begun
    assert all(isinstance(key, bytes) and len(key) == 16 for key in (*begun.keys(), *begun.values()))


def test_a_fault_on_the_short_way_leads_to_the_long_one(monkeypatch: pytest.MonkeyPatch, read: list[bytes]) -> None:
    one, route = fitter(), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    monkeypatch.setattr(recall.Recall, "came", lambda *_: 1 // 0)
    assert one.plan(asked(talked(3)), route, who).outcome == "untouched"
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


def test_what_is_no_message_is_left_to_the_form() -> None:
    states = Memory()
    one, route = fitter(states), road("openai-chat")
    who = one.caller(credential=b"k", named=b"", session=b"")
    one.keep(one.plan(asked(talked(2)), route, who), who, USAGE)
    own = recall.Recall(Identity(states.secret), states)
    later = [own.spelling(asked([*talked(2), *more]), who, "openai-chat", "messages") for more in ([], ["said"], talked(1))]
    own.known(who, "openai-chat", list(map(canon.plain, talked(2))), later[0])
    assert [spelling is not None and own.came(spelling, who) is not None for spelling in later] == [True, False, True]


def test_texts_among_the_messages_are_known_as_the_form_reads_them() -> None:
    """Gemini takes texts and bare parts in the list, and the form makes messages of all of them."""
    states, route = Memory(), road("gemini")
    one, other = fitter(states), fitter(states)
    who = one.caller(credential=b"k", named=b"", session=b"")
    contents: list[Any] = ["hi", {"role": "model", "parts": [{"text": "Yes?"}]}, {"text": "bare"}]
    one.keep(one.plan(json.dumps({"contents": contents[:1]}).encode(), route, who), who, USAGE)
    whole = json.dumps({"contents": contents}).encode()
    assert told(one.plan(whole, route, who)) == told(other.plan(whole, route, who))


def test_what_only_the_lenient_parser_took_is_looked_at_each_time() -> None:
    """A number that is none, under a key that comes again: what else is in such a body is admitted as a whole."""
    states, route = Memory(), road("openai-chat")
    one, other = fitter(states), fitter(states)
    who = one.caller(credential=b"k", named=b"", session=b"")
    first = b'{"model": "gpt-4o", "messages": [{"role": "user", "x": 1e999, "x": 1, "content": "hi"}]}'
    taken = one.plan(first, route, who)
    assert taken.outcome == "untouched"
    one.keep(taken, who, USAGE)
    later = first[:-1] + b', "metadata": ' + nested(250).encode() + b"}"
    assert told(one.plan(later, route, who)) == told(other.plan(later, route, who))


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


@pytest.mark.parametrize(
    ("first", "then", "outcome"), [("5m", "1h", "fitted"), ("1h", "5m", "untouched"), ("1h", "1h", "untouched")]
)
def test_marks_for_an_hour_stand_first(first: str, then: str, outcome: str) -> None:
    """The provider refuses one behind a mark for five minutes, wherever the beginning that is known ends."""
    one, route = fitter(), road("anthropic")
    who = one.caller(credential=b"k", named=b"", session=b"")

    def said(turns: int, *ttls: str) -> bytes:
        messages = [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in talked(turns)]
        for at, ttl in zip((0, -1), ttls, strict=False):
            messages[at]["content"][0]["cache_control"] = {"type": "ephemeral", "ttl": ttl}
        return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}).encode()

    one.keep(one.plan(said(2, first), route, who), who, USAGE)
    assert (
        one.plan(said(3, first, then), route, who).outcome == fitter().plan(said(3, first, then), route, who).outcome == outcome
    )


def test_texts_that_become_lists_for_a_mark_and_texts_again_are_known(read: list[bytes]) -> None:
    """As some clients mark the newest two of the user's messages."""
    one, route = fitter(), road("anthropic")
    who = one.caller(credential=b"k", named=b"", session=b"")
    for turns in range(2, 9):
        messages = talked(turns)
        for at in (-1, -3):
            messages[at] = {**messages[at], "content": [{"type": "text", "text": messages[at]["content"], **MARK}]}
        data = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}).encode()
        one.keep(one.plan(data, route, who), who, USAGE)
    assert len(read) <= 3


def test_an_item_that_is_a_mark_beside_another_is_not_taken_for_one(read: list[bytes]) -> None:
    """One alone is left out of what a message is known by, one with another mark in it is not."""
    one, route = fitter(), road("anthropic")
    who = one.caller(credential=b"k", named=b"", session=b"")
    for more in ({"cache_control": {"t": "x"}}, {}):
        call = {"type": "tool_use", "id": "c", "name": "f", "input": {"l": [1, {"cachePoint": {"t": "x"}, **more}]}}
        result = {"type": "tool_result", "tool_use_id": "c", "content": "done"}
        messages = [*talked(1), {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        data = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}).encode()
        one.keep(one.plan(data, route, who), who, USAGE)
    assert len(read) == 2


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
