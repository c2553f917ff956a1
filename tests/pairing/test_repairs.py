"""Each repair by itself, in both forms: what goes in, what comes out, what the report says, and the ids that calls get."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import transom
from pairing.messages import (
    Json,
    asked,
    assistant,
    call,
    calling,
    mend,
    result,
    said,
    stub,
    text,
    thinking,
    tool,
    user,
)
from transom.pairing import notes, pair
from transom.wire import FORMS, required

EMPTY_USER = user(notes.EMPTIED)

ANTHROPIC: list[tuple[str, list[Json], list[Json]]] = [
    (
        "CM-100: a result without its call goes, and a message that held nothing else says so",
        [user("q"), assistant("a"), user(result("gone"))],
        [user("q"), assistant("a"), EMPTY_USER],
    ),
    (
        "CM-100: of a message that holds more, only the result without its call goes",
        [user("q"), assistant("a"), user(result("gone"), "and this?")],
        [user("q"), assistant("a"), user("and this?")],
    ),
    (
        "CM-100, CM-102: a call that nobody answered gets a failed result that claims nothing",
        [user("q"), assistant("a", call("1")), user("stop")],
        [user("q"), assistant("a", call("1")), user(stub("1")), user("stop")],
    ),
    (
        "CM-102: so does a call that stands last, and its words stay",
        [user("q"), assistant("a", call("1"))],
        [user("q"), assistant("a", call("1")), user(stub("1"))],
    ),
    (
        "CM-101: what is missing stands in front of the results that are there",
        [user("q"), assistant(call("1"), call("2")), user(result("1"), "stop")],
        [user("q"), assistant(call("1"), call("2")), user(stub("2"), result("1"), "stop")],
    ),
    (
        "CM-100, CM-101: a late result moves up to its call, into a message of its own",
        [user("q"), assistant(call("1")), user("wait"), assistant("a"), user(result("1"), "so?")],
        [user("q"), assistant(call("1")), user(result("1")), user("wait"), assistant("a"), user("so?")],
    ),
    (
        "CM-100: a late result is found farther behind than six entries",
        [user("q"), assistant(call("1")), *([user("w"), assistant("a")] * 5), user(result("1"))],
        [user("q"), assistant(call("1")), user(result("1")), *([user("w"), assistant("a")] * 5), EMPTY_USER],
    ),
    (
        "results stand in front of the words of their message",
        [user("q"), assistant(call("1"), call("2")), user("by the way", result("1"), "and", result("2"))],
        [user("q"), assistant(call("1"), call("2")), user(result("1"), result("2"), "by the way", "and")],
    ),
    (
        "results in another order than their calls stay as they are",
        [user("q"), assistant(call("1"), call("2")), user(result("2"), result("1"))],
        [user("q"), assistant(call("1"), call("2")), user(result("2"), result("1"))],
    ),
    (
        "a result behind another message of the user moves in front of it",
        [user("q"), assistant(call("1")), user("wait"), user(result("1"))],
        [user("q"), assistant(call("1")), user(result("1")), user("wait"), EMPTY_USER],
    ),
    (
        "CM-100: of two results for a call the first stays",
        [user("q"), assistant(call("1")), user(result("1", "seven"), result("1", "eight"))],
        [user("q"), assistant(call("1")), user(result("1", "seven"))],
    ),
    (
        "of two results for a call the one stays that does not say that it was interrupted",
        [user("q"), assistant(call("1")), user(result("1", "[interrupted]"), result("1", "eight"))],
        [user("q"), assistant(call("1")), user(result("1", "eight"))],
    ),
    (
        "a failed result stays where the second failed, too",
        [user("q"), assistant(call("1")), user(result("1", "no", is_error=True), result("1", "timed out"))],
        [user("q"), assistant(call("1")), user(result("1", "no", is_error=True))],
    ),
    (
        "an id that an earlier call has gets a number, on the call and its result",
        [user("q"), assistant(call("x")), user(result("x")), assistant(call("x")), user(result("x", "second"))],
        [user("q"), assistant(call("x")), user(result("x")), assistant(call("x_2")), user(result("x_2", "second"))],
    ),
    (
        "a number that is taken is left out",
        [user("q"), assistant(call("x"), call("x_2"), call("x")), user(result("x"), result("x_2"), result("x", "third"))],
        [user("q"), assistant(call("x"), call("x_2"), call("x_3")), user(result("x"), result("x_2"), result("x_3", "third"))],
    ),
    (
        "CM-105: calls and results in one message of the assistant are split into turns",
        [user("q"), assistant("a", call("1"), result("1"), "b")],
        [user("q"), assistant("a", call("1")), user(result("1")), assistant("b"), user(notes.GO_ON)],
    ),
    (
        "CM-105: so are calls in a message of the user",
        [user("q", call("1"), result("1"))],
        [user("q"), assistant(call("1")), user(result("1"))],
    ),
    (
        "a result in the assistant's message whose call is not there goes, and the message with its words stays whole",
        [user("q"), assistant("a", result("gone")), user("and?")],
        [user("q"), assistant("a"), user("and?")],
    ),
    (
        "empty texts go, and a cache mark on one moves to the part before it",
        [user("q", text(" ", cache_control={"type": "ephemeral"}))],
        [user(text("q", cache_control={"type": "ephemeral"}))],
    ),
    (
        "a cache mark does not move to thinking",
        [user("q"), assistant(thinking(), text("", cache_control={"type": "ephemeral"}), "a"), user("q")],
        [user("q"), assistant(thinking(), "a"), user("q")],
    ),
    (
        "a cache mark goes where the part before it has one",
        [user(text("q", cache_control={"type": "ephemeral"}), text("", cache_control={"type": "ephemeral"}))],
        [user(text("q", cache_control={"type": "ephemeral"}))],
    ),
    ("a message that is white space says that nothing is left", [user("q"), assistant(" "), user(" ")],
     [user("q"), assistant(notes.EMPTIED), EMPTY_USER]),
    (
        "an empty result stays; an empty text in one goes",
        [user("q"), assistant(call("1"), call("2")), user(result("1", []), result("2", [text("")]))],
        [user("q"), assistant(call("1"), call("2")), user(result("1", []), result("2", []))],
    ),
    (
        "a turn that ends with thinking is closed by a note, and the signed thinking stays",
        [user("q"), assistant(thinking()), user("and?")],
        [user("q"), assistant(thinking(), notes.BROKEN_OFF), user("and?")],
    ),
    (
        "thinking that the next message of the same turn goes on from stays as it is",
        [user("q"), assistant(thinking()), assistant("a"), user("and?")],
        [user("q"), assistant(thinking()), assistant("a"), user("and?")],
    ),
    (
        "input that is no object becomes one",
        [user("q"), assistant(call("1", input="north"), call("2", input=None)), user(result("1"), result("2"))],
        [user("q"), assistant(call("1", input={"arguments": "north"}), call("2")), user(result("1"), result("2"))],
    ),
    (
        "a talk that the assistant opens begins with a note of the user",
        [assistant("hello"), user("q")],
        [user(notes.OPENING), assistant("hello"), user("q")],
    ),
    (
        "a server tool's result without its call goes",
        [user("q"), assistant({"type": "advisor_tool_result", "tool_use_id": "s", "content": []}, "a"), user("q")],
        [user("q"), assistant("a"), user("q")],
    ),
    (
        "a server tool's call that nothing answered is answered by an error of its own shape",
        [user("q"), assistant({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, "a"), user("q")],
        [
            user("q"),
            assistant(
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s",
                    "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
                },
                "a",
            ),
            user("q"),
        ],
    ),
    (
        "a server tool's call whose turn may go on stays open, even where no turn of the assistant may end a talk",
        [user("q"), assistant("a", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})],
        [user("q"), assistant("a", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})],
    ),
]  # fmt: skip

OPENAI: list[tuple[str, list[Json], list[Json]]] = [
    (
        "AN-26: a tool message without its call goes, and leaves nothing behind",
        [asked("q"), said("a"), tool("gone"), asked("and?")],
        [asked("q"), said("a"), asked("and?")],
    ),
    (
        "AN-29: a call that nobody answered gets a result that claims nothing",
        [asked("q"), calling("1", "2"), tool("2"), asked("and?")],
        [asked("q"), calling("1", "2"), tool("2"), tool("1", notes.NOT_FINISHED), asked("and?")],
    ),
    (
        "CM-100: a late result moves up to its call as the message that it is",
        [asked("q"), calling("1"), said("wait"), tool("1"), asked("and?")],
        [asked("q"), calling("1"), tool("1"), said("wait"), asked("and?")],
    ),
    (
        "results stand together, and the messages between them follow in order",
        [asked("q"), calling("1", "2"), tool("1"), asked("first"), tool("2"), asked("second")],
        [asked("q"), calling("1", "2"), tool("1"), tool("2"), asked("first"), asked("second")],
    ),
    (
        "of two results for a call the one stays that does not say that it was interrupted",
        [asked("q"), calling("x"), tool("x", "[interrupted]"), tool("x", "17 bolts"), asked("and?")],
        [asked("q"), calling("x"), tool("x", "17 bolts"), asked("and?")],
    ),
    (
        "AN-29: an id twice in one message gets a number; results are given out in order",
        [asked("q"), calling("x", "x"), tool("x", "one"), tool("x", "two")],
        [asked("q"), calling("x", "x_2"), tool("x", "one"), tool("x_2", "two")],
    ),
    (
        "an id twice in one turn gets the same number whatever the turns before it hold",
        [asked("q"), calling("x", "x"), tool("x"), tool("x"), calling("x", "x"), tool("x"), tool("x")],
        [asked("q"), calling("x", "x_2"), tool("x"), tool("x_2"), calling("x", "x_2"), tool("x"), tool("x_2")],
    ),
    (
        "an id that another turn has stays, since this provider takes it",
        [asked("q"), calling("x"), tool("x"), calling("x"), tool("x")],
        [asked("q"), calling("x"), tool("x"), calling("x"), tool("x")],
    ),
    (
        "arguments that are no JSON are wrapped, and what they were can still be read",
        [asked("q"), calling("1", arguments='{"n": 1'), tool("1")],
        [asked("q"), calling("1", arguments='{"arguments":"{\\"n\\": 1"}'), tool("1")],
    ),
    (
        "arguments that are an object become its text, white space and none at all an empty object",
        [asked("q"), calling("1", arguments={"n": 1}), tool("1"), calling("2", arguments=" "), tool("2"),
         calling("3", arguments=None), tool("3"), calling("4", arguments=""), tool("4")],
        [asked("q"), calling("1", arguments='{"n":1}'), tool("1"), calling("2", arguments="{}"), tool("2"),
         calling("3", arguments="{}"), tool("3"), calling("4", arguments=""), tool("4")],
    ),
    (
        "AN-28: an empty text of the user stays; an answer without content says so",
        [asked(""), said(""), {"role": "user", "content": []}],
        [asked(""), {"role": "assistant", "content": [text(notes.EMPTIED)]}, {"role": "user", "content": [text(notes.EMPTIED)]}],
    ),
    (
        "an answer that is reasoning alone says so",
        [asked("q"), {"role": "assistant", "content": None, "reasoning_content": "hm"}, asked("q")],
        [asked("q"), {"role": "assistant", "content": [text(notes.EMPTIED)], "reasoning_content": "hm"}, asked("q")],
    ),
    (
        "a talk that the assistant opens stays, since this provider takes it",
        [said("hello"), asked("q")],
        [said("hello"), asked("q")],
    ),
    ("of a talk that was a lost result nothing is left but a note", [tool("gone")], [asked(notes.EMPTIED)]),
    (
        "a result of a function call of the older kind answers by its name",
        [asked("q"), {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
         {"role": "function", "name": "f", "content": "r"}],
        [asked("q"), {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
         {"role": "function", "name": "f", "content": "r"}],
    ),
]  # fmt: skip


def plain(json: Json) -> Json:
    """A message with its string content as a part: makers may write either."""
    content = json.get("content")
    return {**json, "content": [text(content)]} if isinstance(content, str) else json


@pytest.mark.parametrize(("name", "stored", "sent"), ANTHROPIC, ids=[row[0] for row in ANTHROPIC])
def test_anthropic(name: str, stored: list[Json], sent: list[Json]) -> None:
    assert mend("anthropic", stored)[0] == sent, name


@pytest.mark.parametrize(("name", "stored", "sent"), OPENAI, ids=[row[0] for row in OPENAI])
def test_openai_chat(name: str, stored: list[Json], sent: list[Json]) -> None:
    assert list(map(plain, mend("openai-chat", stored, quirks=frozenset())[0])) == list(map(plain, sent)), name


@pytest.mark.parametrize(("name", "stored", "sent"), [*ANTHROPIC], ids=[row[0] for row in ANTHROPIC])
def test_each_repair_is_reported_and_no_other(name: str, stored: list[Json], sent: list[Json]) -> None:
    _, _, decisions = mend("anthropic", stored)
    assert bool(decisions) == (stored != sent), name
    assert all(decision.reason and 0 <= decision.seq < len(stored) for decision in decisions)


def test_a_repair_names_the_call() -> None:
    _, _, decisions = mend("anthropic", [user("q"), assistant(call("toolu_2")), user("stop")])
    assert [(line.verb, line.seq, line.place, line.name) for line in decisions] == [("repair", 1, ("content", 0), "toolu_2")]


def test_calls_without_ids_get_one_that_depends_on_the_call_alone() -> None:
    for api, stored in (
        ("anthropic", [user("q"), assistant(call(""), call("", input={"n": 2})), user(result("", "one"), result("", "two"))]),
        ("openai-chat", [asked("q"), calling("", ""), tool("", "one"), tool("", "two")]),
    ):
        first, _, _ = mend(api, stored)
        again, _, _ = mend(api, [stored[0], *stored])
        parts = [part for message in first for part in FORMS[api].read_message(message, 0).parts]
        ids = [part.id for part in parts if part.kind == "call"]
        assert len(set(ids)) == 2
        assert all(ids)
        assert [(part.id, part.text) for part in parts if part.kind == "result"] == list(zip(ids, ("one", "two"), strict=True))
        assert again[1:] == first


def test_an_id_stays_within_the_length_that_the_provider_takes() -> None:
    long = "c" * 64
    sent, _, _ = mend("openai-chat", [asked("q"), calling(long, long), tool(long), tool(long)], quirks=frozenset())
    assert [call["id"] for call in sent[1]["tool_calls"]] == [long, "c" * 62 + "_2"]
    longer = long + "c"  # what a host puts into an id stays in it: only made unique
    sent, _, _ = mend("openai-chat", [asked("q"), calling(longer, longer), tool(longer), tool(longer)])
    assert [call["id"] for call in sent[1]["tool_calls"]] == [longer, longer + "_2"]


def test_a_mended_call_goes_out_under_the_id_that_the_log_decided_on() -> None:
    form = FORMS["anthropic"]
    read = form.read({"messages": [user("q"), assistant(call("x", index=0)), user(result("x"))]})
    first, second, third = read.messages
    named = replace(second, names=((("content", 0), "x_2"),))
    groups, _ = pair(replace(read, messages=(first, named, third)), form)
    sent = [entry.message.json for group in groups for entry in group.entries]
    assert sent == [user("q"), assistant(call("x_2")), user(result("x_2"))]


def test_a_quirk_makes_ids_unique_where_the_provider_takes_them_twice() -> None:
    stored = [asked("q"), calling("x"), tool("x"), calling("x"), tool("x", "two")]
    sent, _, _ = mend("openai-chat", stored, quirks=frozenset({"unique-ids"}))
    assert sent[3:] == [calling("x_2"), tool("x_2", "two")]


NAMELESS: dict[str, tuple[Json, Json]] = {
    "anthropic": ({"type": "tool_use", "name": "f", "input": {}}, {"type": "tool_result", "content": "r"}),
    "blocks": ({"type": "tool_use", "name": "f", "input": {}}, {"type": "tool_result", "content": "r"}),
    "bedrock": ({"toolUse": {"name": "f", "input": {}}}, {"toolResult": {"content": [{"text": "r"}]}}),
}


@pytest.mark.parametrize("api", NAMELESS)
@pytest.mark.parametrize("named", [False, True])
def test_a_call_and_a_result_without_ids_are_given_the_same_one(api: str, named: bool) -> None:
    """Found by fuzzing: the result kept none, and what was written was illegal. Beside it may stand a pair that has one."""
    call, result = NAMELESS[api]
    key = "toolUseId" if api == "bedrock" else "id"
    other = ({**call, key: "x"}, {**result, "tool_use_id": "x"}) if named and api != "bedrock" else ()
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}] if api != "bedrock" else [{"text": "hi"}]},
        {"role": "assistant", "content": [*other[:1], call]},
        {"role": "user", "content": [*other[1:], result]},
    ]
    fit = transom.repair({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}, api=api)
    assert fit.report.decisions[0].reason.startswith("a call without an id, now call_")
    made, answered = fit.request["messages"][1]["content"][-1], fit.request["messages"][2]["content"][-1]
    if api == "bedrock":
        made, answered = made["toolUse"], answered["toolResult"]
    assert made[key] == answered["toolUseId" if api == "bedrock" else "tool_use_id"] != ""
    assert not [fault for fault in transom.lint(fit.request, api=api) if fault.refused and fault.code not in required.CODES]
