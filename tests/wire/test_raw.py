"""Who gives bytes, as boto3 takes them, gets bytes back."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

import transom
from stage import PICTURES
from transom.wire import raw

Json = dict[str, Any]
MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"
DATA = base64.b64decode(PICTURES["png"][1])


def shown(data: Any) -> Json:
    return {"image": {"format": "png", "source": {"bytes": data}}}


def talk(data: Any = DATA, *more: Json) -> Json:
    sealed = {"reasoningContent": {"redactedContent": data}}
    said = {
        "role": "assistant",
        "content": [sealed, {"toolUse": {"toolUseId": "a", "name": "look", "input": {"source": {"bytes": "aGk="}}}}],
    }
    result = {"toolResult": {"toolUseId": "a", "content": [{"text": "seen"}, shown(data)]}}
    asks = {"role": "user", "content": [{"text": "see"}, shown(data)]}
    tools = {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}
    return {"modelId": MODEL, "toolConfig": tools, "messages": [asks, said, {"role": "user", "content": [result]}, *more]}


def test_a_request_that_goes_out_as_it_came_is_the_one_that_was_given() -> None:
    given = talk()
    assert transom.fit(given, api="bedrock").request is given
    assert transom.repair(given, api="bedrock").request is given


def test_what_is_left_of_a_request_that_changed_has_its_bytes() -> None:
    lost = {"toolResult": {"toolUseId": "gone", "content": [{"text": "lost"}]}}
    given = talk(DATA, {"role": "assistant", "content": [{"text": "so"}]}, {"role": "user", "content": [lost, {"text": "and?"}]})
    before = copy.deepcopy(given)
    for made in (transom.fit(given, api="bedrock"), transom.repair(given, api="bedrock")):
        assert made.request["messages"][:3] == given["messages"][:3]
        assert made.request["messages"][4]["content"] == [{"text": "and?"}]
    assert given == before


def test_a_request_of_base64_stays_base64() -> None:
    given = talk(PICTURES["png"][1])
    assert transom.fit(given, api="bedrock").request is given


def test_the_price_and_the_state_are_the_same_either_way() -> None:
    one, other = (transom.fit(talk(data), api="bedrock") for data in (DATA, PICTURES["png"][1]))
    assert one.report.after == other.report.after
    assert one.state == other.state


def test_a_request_that_was_kept_as_json_becomes_bytes_for_boto3() -> None:
    kept = talk(PICTURES["png"][1])
    assert transom.for_boto3(kept) == talk()
    assert kept == talk(PICTURES["png"][1])


def test_what_has_nothing_to_decode_is_the_same_object() -> None:
    plain = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    assert transom.for_boto3(plain) is plain


@pytest.mark.parametrize("data", ["no base64!", 5, None])
def test_what_is_no_base64_stays(data: Any) -> None:
    assert raw.with_bytes(shown(data)) == shown(data)
    assert raw.with_bytes([shown(data)]) == [shown(data)]
