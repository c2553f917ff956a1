"""Old results and large inputs go, in steps, and what is left stays readable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conversations
from rewritten import key_of
from transom.catalog import Limits
from transom.pairing import pair
from transom.parts import Group
from transom.shape import shape
from transom.shape.inputs import summary
from transom.shape.prune import marker
from transom.wire import FORMS

Json = dict[str, Any]


def talk(api: str, tools: str, *, names: Mapping[str, str] = {"a": "look", "b": "open"}) -> list[Json]:
    """A talk with one round for each word of `tools`, and one parallel call for each letter of it."""
    messages: list[Json] = [{"role": "user", "content": "q"}]
    for n, round_ in enumerate(tools.split()):
        ids = [(f"{letter}{n}{k}", names[letter]) for k, letter in enumerate(round_)]
        if api == "openai-chat":
            calls = [{"id": i, "type": "function", "function": {"name": tool, "arguments": "{}"}} for i, tool in ids]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages += [{"role": "tool", "tool_call_id": i, "content": f"result {i}"} for i, _ in ids]
        else:
            calls = [{"type": "tool_use", "id": i, "name": tool, "input": {}} for i, tool in ids]
            messages.append({"role": "assistant", "content": calls})
            results = [{"type": "tool_result", "tool_use_id": i, "content": f"result {i}"} for i, _ in ids]
            messages.append({"role": "user", "content": results})
    return messages


def pruned(api: str, messages: list[Json], **settings: Any) -> tuple[str, tuple[tuple[str, int], ...], tuple[Group, ...]]:
    """For each result whether it is whole: `x` for one that was pruned, else its tool's letter."""
    form = FORMS[api]
    groups, _ = pair(form.read({"messages": messages}), form)
    done, _, marks = shape(groups, form, limits=Limits(), price_text=len, **settings)
    parts = [part for group in done for entry in group.entries for part in entry.message.parts if part.kind == "result"]
    shown = "".join("x" if "left out" in part.text else part.id[0] for part in parts)
    assert all(part.text in (marker("look"), marker("open"), f"result {part.id}") for part in parts)
    return shown, marks, done


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
@pytest.mark.parametrize(
    ("keep", "shown"),
    [
        (None, "aaabab"),
        (4, "aaabab"),
        (2, "xxabab"),
        ({"look": 2}, "xxabab"),
        ({"look": 1}, "xxxbab"),
        ({"open": 1}, "aaaxab"),
        ({"read": 1}, "aaabab"),
        (-1, "aaabab"),
        ({"look": -1, "open": 0}, "aaaxax"),
        (0, "xxxxxx"),
    ],
)
def test_the_newest_results_of_each_tool_stay(api: str, keep: Any, shown: str) -> None:
    """CM-120: unset, a number, a mapping, negative and 0; with refit 1 exactly so many stay."""
    assert pruned(api, talk(api, "a a a b a b"), results_per_tool=keep, refit=1.0)[0] == shown


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_results_that_nobody_has_read_yet_stay(api: str) -> None:
    """The newest group is spared however many it holds, unless no result of the tool may stay."""
    assert pruned(api, talk(api, "a aaa"), results_per_tool=2, refit=1.0)[0] == "xaaa"
    assert pruned(api, talk(api, "aaa"), results_per_tool=2, refit=1.0)[0] == "aaa"
    assert pruned(api, talk(api, "a aaa"), results_per_tool=0)[0] == "xxxx"


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_pruning_moves_in_steps(api: str) -> None:
    """The mark moves so that half of the allowed number stays; then the prefix stands until the number is reached again."""
    marks: tuple[tuple[str, int], ...] = ()
    shown = []
    for rounds in range(1, 10):
        words, marks, _ = pruned(api, talk(api, " ".join("a" * rounds)), results_per_tool=4, refit=0.5, marks=marks)
        shown.append(words)
    assert shown == ["a", "aa", "aaa", "aaaa", "xxxaa", "xxxaaa", "xxxaaaa", "xxxxxxaa", "xxxxxxaaa"]


def test_what_was_pruned_stays_pruned() -> None:
    """A mark that an earlier fit set holds, also when fewer results are there now."""
    assert pruned("anthropic", talk("anthropic", "a a a"), results_per_tool=4, marks=(("look", 2),))[0] == "xaa"


def test_pruning_its_own_output_changes_nothing() -> None:
    form = FORMS["anthropic"]
    _, _, groups = pruned("anthropic", talk("anthropic", "a a a a a"), results_per_tool=2)
    again, lines, _ = shape(groups, form, limits=Limits(), price_text=len, results_per_tool=2)
    assert lines == ()
    assert again == groups


def test_a_pruned_result_keeps_its_block_its_call_and_its_failure() -> None:
    """CM-121: the marker names the tool and holds no count that changes."""
    messages = talk("anthropic", "a a")
    messages[2]["content"][0] |= {"is_error": True, "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}
    _, marks, groups = pruned("anthropic", messages, results_per_tool=1)
    block = groups[1].entries[1].message.json["content"][0]
    assert block == {"type": "tool_result", "tool_use_id": "a00", "is_error": True, "content": marker("look")}
    assert marks == (("look", 2),)


def test_a_result_of_a_tool_without_a_name_is_pruned_too() -> None:
    messages = talk("anthropic", "a a", names={"a": ""})
    form = FORMS["anthropic"]
    groups, _ = pair(form.read({"messages": messages}), form)
    done, lines, _ = shape(groups, form, limits=Limits(), price_text=len, results_per_tool=1)
    assert done[1].entries[1].message.parts[0].text == marker("unnamed_tool")
    assert [(line.verb, line.seq) for line in lines] == [("prune", 2)]


def test_nothing_to_prune_in_a_conversation_without_groups() -> None:
    assert shape((), FORMS["anthropic"], limits=Limits(), price_text=len, results_per_tool=1) == ((), (), ())


# ---------------------------------------------------------------------------------------------------------------- inputs


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_a_large_input_becomes_a_small_object(api: str) -> None:
    """CM-122: truncated, the original size and up to five key names."""
    given = {"path": "a", "text": "x" * 300, **{f"key{n}": n for n in range(9)}}
    messages = talk(api, "ab")
    if api == "openai-chat":
        messages[1]["tool_calls"][0]["function"]["arguments"] = json.dumps(given, separators=(",", ":"))
    else:
        messages[1]["content"][0]["input"] = given
    form = FORMS[api]
    groups, _ = pair(form.read({"messages": messages}), form)
    done, lines, _ = shape(groups, form, limits=Limits(), price_text=lambda text: len(text) // 4, max_input_tokens=50)
    call = done[1].entries[0].message.parts[0]
    size = len(json.dumps(given, separators=(",", ":")))
    assert json.loads(call.text) == {"truncated": True, "characters": size, "keys": ["path", "text", "key0", "key1", "key2"]}
    assert call.id == "a00"
    assert [(line.verb, line.name) for line in lines] == [("prune", "look")]
    assert done[1].entries[0].message.parts[1].raw is groups[1].entries[0].message.parts[1].raw
    again, _, _ = shape(done, form, limits=Limits(), price_text=len, max_input_tokens=1)
    assert again[1].entries[0].message.parts[0].text == call.text


def test_an_input_within_the_limit_stays_the_same_object() -> None:
    form = FORMS["anthropic"]
    groups, _ = pair(form.read({"messages": talk("anthropic", "a")}), form)
    for most in (0, -1, 2, 100):
        assert shape(groups, form, limits=Limits(), price_text=len, max_input_tokens=most)[0] == groups
    assert shape(groups, form, limits=Limits(), price_text=lambda _: 2, max_input_tokens=1)[1] != ()


def test_the_input_of_a_custom_tool_and_one_that_is_no_json_are_made_small_too() -> None:
    form = FORMS["openai-chat"]
    custom = {"id": "1", "type": "custom", "custom": {"name": "run", "input": "print(1)" * 40}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "1", "content": "r"},
    ]
    groups, _ = pair(form.read({"messages": messages}), form)
    done, _, _ = shape(groups, form, limits=Limits(), price_text=len, max_input_tokens=50)
    sent = done[1].entries[0].message.json["tool_calls"][0]["custom"]["input"]
    assert json.loads(sent) == {"truncated": True, "characters": 320, "keys": []}


def test_a_summary_of_a_summary_is_none() -> None:
    small = summary('{"a": 1}')
    assert small == {"truncated": True, "characters": 8, "keys": ["a"]}
    assert summary(json.dumps(small)) is None
    assert summary("[" * 100_000) == {"truncated": True, "characters": 100_000, "keys": []}


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), keep=st.integers(-1, 3), refit=st.sampled_from([0.25, 0.5, 1.0]), most=st.integers(0, 20))
def test_pruned_conversations_stay_legal_and_are_pruned_no_further(
    api: str, data: st.DataObject, keep: int, refit: float, most: int
) -> None:
    """CM-123: one decision over the conversation. INV-08: no call loses its result."""
    form = FORMS[api]
    settings: dict[str, Any] = {"limits": Limits(), "price_text": len, "results_per_tool": keep, "refit": refit}
    body = data.draw(conversations.bodies(api))
    groups, _ = pair(form.read(body), form)
    done, lines, marks = shape(groups, form, max_input_tokens=most, **settings)
    assert (done == groups) == (not lines)
    out = {**body, key_of(api): [entry.message.json for group in done for entry in group.entries]}
    before = {**body, key_of(api): [entry.message.json for group in groups for entry in group.entries]}
    assert [fault.code for fault in form.legal(form.read(out))] == [fault.code for fault in form.legal(form.read(before))]
    assert shape(done, form, max_input_tokens=most, marks=marks, **settings) == (done, (), marks)
    assert shape(done, form, max_input_tokens=most, **settings)[:2] == (done, ())
