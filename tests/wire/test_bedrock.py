"""The form `bedrock`: parts named by their keys, cache points as marks, names of documents, and what botocore takes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import transom
from conversations import bodies
from rewritten import from_bedrock, rewritten
from stage import PDF, PICTURES, encoded
from transom import canon
from transom.errors import BadRequest
from transom.pairing import pair
from transom.parts import Part, walk
from transom.wire import bedrock as form
from transom.wire import required

SHARED = Path(__file__).parents[3] / "shared"
PNG = PICTURES["png"][1]
PICTURE = {"image": {"format": "png", "source": {"bytes": PNG}}}
POINT = {"cachePoint": {"type": "default"}}
ASKS = {"role": "user", "content": [{"text": "hi"}]}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def calls(name: str = "a") -> dict[str, Any]:
    return {"role": "assistant", "content": [{"toolUse": {"toolUseId": name, "name": "look", "input": {}}}]}


def result(name: str = "a", *content: Any, **fields: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": name, "content": list(content) or [{"text": "seen"}], **fields}}


def first(part: Any) -> Part:
    return form.read_message(user(part), 0).parts[0]


@pytest.mark.parametrize(
    "part, kind, text",
    [
        ({"text": "so"}, "text", "so"),
        (PICTURE, "image", ""),
        ({"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/a.png"}}}}, "image", ""),
        ({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/a.mp4"}}}}, "video", ""),
        ({"audio": {"format": "mp3", "source": {"bytes": "SUQz"}}}, "audio", ""),
        ({"document": {"format": "pdf", "name": "n", "source": {"bytes": encoded(PDF)}, "context": "why"}}, "document", "why"),
        ({"document": {"format": "txt", "name": "n", "source": {"text": "words"}}}, "document", "words"),
        ({"document": {"name": "n", "source": {"content": [{"text": "a"}]}}}, "document", "n"),
        ({"document": {"name": "n", "source": {}}}, "opaque", ""),
        ({"toolUse": {"toolUseId": "a", "name": "look", "input": {"n": 1}}}, "call", '{"n":1}'),
        ({"toolUse": {"toolUseId": "a", "name": "search", "input": "q", "type": "server_tool_use"}}, "server-call", "q"),
        (result(), "result", ""),
        ({"toolResult": {"toolUseId": "a", "content": "seen"}}, "result", "seen"),
        (result("a", type="web_search_tool_result"), "server-result", ""),
        ({"reasoningContent": {"reasoningText": {"text": "so", "signature": "x"}}}, "reasoning", "so"),
        ({"reasoningContent": {"redactedContent": "eA=="}}, "reasoning", ""),
        ({"guardContent": {"text": {"text": "so", "qualifiers": []}}}, "text", "so"),
        ({"guardContent": {"image": {"format": "png", "source": {"bytes": PNG}}}}, "image", ""),
        ({"guardContent": {"image": {}}}, "image", ""),
        ({"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": []}}, "text", "ab"),
        ({"searchResult": {"source": "s", "title": "t", "content": [{"text": "a"}]}}, "document", "t\ns"),
    ],
)
def test_each_part_is_known_by_its_key(part: dict[str, Any], kind: str, text: str) -> None:
    found = first(part)
    assert (found.kind, found.text, found.raw) == (kind, text, part)


def test_results_hold_json_texts_pictures_and_documents() -> None:
    held = result(
        "a",
        {"json": {"n": 1}},
        {"text": "so"},
        PICTURE,
        {"document": {"format": "pdf", "name": "n", "source": {"bytes": encoded(PDF)}}},
        status="error",
    )
    part = first(held)
    assert [(inner.kind, inner.text) for inner in part.parts] == [
        ("text", '{"n":1}'),
        ("text", "so"),
        ("image", ""),
        ("document", ""),
    ]
    assert part.failed
    assert part.parts[2].media is not None
    assert (part.parts[2].media.declared, part.parts[2].media.facts.width) == ("image/png", 64)


def test_a_cache_point_is_a_mark_on_the_part_before_it() -> None:
    message = user({"text": "a"}, POINT, {"text": "b"}, {"text": "c"}, POINT, POINT)
    parts = form.read_message(message, 0).parts
    assert [(part.text, part.marked, part.place) for part in parts] == [
        ("a", True, ("content", 0)), ("b", False, ("content", 2)), ("c", True, ("content", 3)),
    ]  # fmt: skip
    assert [part.marked for part in form.read_message(user(POINT, {"text": "a"}), 0).parts] == [True]
    assert form.read_message(user(POINT), 0).parts == ()
    assert canon.digest(message) == canon.digest(user({"text": "a"}, {"text": "b"}, {"text": "c"}))


def test_marks_are_set_and_taken_off_as_points() -> None:
    message = user({"text": "a"}, POINT, {"text": "b"})
    one, two = form.read_message(message, 0).parts
    assert form.mark(message, one, None) == user({"text": "a"}, {"text": "b"})
    assert form.mark(message, two, {"type": "ephemeral"}) == user({"text": "a"}, POINT, {"text": "b"}, POINT)
    assert form.mark(message, one, POINT["cachePoint"]) is message
    leading = user(POINT, {"text": "a"})
    assert form.mark(leading, form.read_message(leading, 0).parts[0], None) == user({"text": "a"})
    thought = user({"reasoningContent": {"redactedContent": "eA=="}})
    assert form.mark(thought, form.read_message(thought, 0).parts[0], {}) is thought
    string = {"role": "user", "content": "hi"}
    assert form.mark(string, form.read_message(string, 0).parts[0], {}) == user({"text": "hi"}, POINT)
    assert form.mark(ASKS, Part(kind="text", place=("content", 9), raw={}), {}) is ASKS


def test_points_stay_behind_the_parts_that_they_mark() -> None:
    a, b, c = {"text": "a"}, {"text": "b"}, {"text": "c"}
    message = {**user(a, b, POINT, c), "x": 1}
    assert form.with_parts(message, [a, b, c]) == {**user(a, b, c), "content": [a, b, POINT, c], "x": 1}
    assert form.with_parts(message, [a, c])["content"] == [a, POINT, c]
    assert form.with_parts(message, [c])["content"] == [c]
    assert form.with_parts({"role": "user", "content": "a"}, ["a", "b"])["content"] == [a, b]


def test_only_the_newest_of_too_many_points_go_out() -> None:
    body = {
        "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "messages": [user(*[part for n in range(6) for part in ({"text": str(n)}, POINT)])],
    }
    assert [one.code for one in form.legal(form.read(body))] == ["breakpoints"]
    made = transom.fit(body, api="bedrock").request
    assert sum("cachePoint" in part for part in made["messages"][0]["content"]) == 4
    assert made["messages"][0]["content"][:2] == [{"text": "0"}, {"text": "1"}]


def test_documents_get_a_name_where_they_have_none() -> None:
    nameless = {"document": {"format": "pdf", "source": {"bytes": encoded(PDF)}}}
    body = {"messages": [user(nameless, {"text": "read"}), calls(), user(result("a", nameless))], "modelId": "claude-sonnet-4-5"}
    assert [(one.place, one.code) for one in form.legal(form.read(body))] == [
        ("messages[0].content[0]", "name"), ("messages[2].content[0].toolResult.content[0]", "name"),
    ]  # fmt: skip
    made = transom.repair(body, api="bedrock")
    named = made.request["messages"][0]["content"][0]["document"]["name"]
    assert named.startswith("document-")
    assert made.request["messages"][2]["content"][0]["toolResult"]["content"][0]["document"]["name"] == f"{named}-2"
    assert form.legal(form.read(made.request)) == []
    assert transom.repair(made.request, api="bedrock").request is made.request


def test_pairs_are_judged_as_for_claude_in_the_words_of_converse() -> None:
    faults = form.legal(form.read({"messages": [ASKS, calls(), user({"text": "go"}), user({"text": ""})]}))
    assert [(one.place, one.code) for one in faults] == [
        ("messages[3].content[0]", "empty"),
        ("messages[1].content[0]", "open-call"),
    ]
    assert faults[1].answer == "Expected toolResult blocks at messages[1].content for the following Ids: a".replace("[1]", ".1")
    assert [one.code for one in form.legal(form.read({"messages": []}))] == ["no-turns"]
    thinking = {"additionalModelRequestFields": {"thinking": {"type": "enabled"}}}
    assert [one.code for one in form.legal(form.read({"messages": [ASKS, calls(), user(result())], **thinking}))] == ["reasoning"]


def test_what_stands_outside_the_messages() -> None:
    body = {
        "modelId": "m", "messages": [ASKS], "system": [{"text": "be brief"}, POINT],
        "toolConfig": {"tools": [{"toolSpec": {"name": "t"}}, POINT]},
    }  # fmt: skip
    read = form.read(body)
    assert (read.model, len(read.tools), [part.marked for part in read.system]) == ("m", 2, [True])
    with pytest.raises(BadRequest, match="tools"):
        form.read({"messages": [ASKS], "toolConfig": {"tools": 5}})
    with pytest.raises(BadRequest, match="role"):
        form.read({"messages": [{"role": "robot"}]})


def test_makers() -> None:
    asked = first(calls()["content"][0])
    assert form.result_stub(asked, "gone") == result("a", {"text": "gone"}, status="error")
    served = first({"toolUse": {"toolUseId": "a", "name": "web_search", "input": {}, "type": "server_tool_use"}})
    assert form.result_stub(served, "gone")["toolResult"]["type"] == "web_search_tool_result"
    assert form.set_result(result("a", PICTURE, status="error"), "less") == result("a", {"text": "less"}, status="error")
    assert form.rename_call(result(), "b") == result("b")
    assert form.rename_call(calls()["content"][0], "b") == calls("b")["content"][0]
    assert form.place_results([result()], ASKS) == (user(result(), {"text": "hi"}),)
    assert form.place_results([result()], None) == (user(result()),)
    assert form.place_results([result()], calls()) == (user(result()), calls())
    assert form.join(ASKS, user({"text": "ho"})) == user({"text": "hi"}, {"text": "ho"})
    assert form.message("assistant", ["a", ""]) == {"role": "assistant", "content": [{"text": "a"}]}
    wrong = {"messages": [user({"image": {"format": "gif", "source": {"bytes": PNG}}})]}
    assert transom.repair(wrong, api="bedrock").request["messages"][0]["content"][0]["image"]["format"] == "png"


def test_bytes_of_boto3_become_base64() -> None:
    body = {"messages": [user({"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}})]}
    assert form.read(transom.repair(body, api="bedrock").request).messages[0].parts


def test_usage_counts_what_was_cached_beside_the_input() -> None:
    usage = {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 40, "cacheWriteInputTokens": 3}
    found = form.usage({"usage": usage})
    assert found is not None
    assert (found.prompt, found.cached, found.written, found.output) == (48, 40, 3, 2)
    assert form.usage({"metadata": {"usage": usage}}) == found
    assert form.usage({"usage": {"inputTokens": None}}) is None
    assert form.usage({}) is None


def test_errors_name_the_exception() -> None:
    assert form.error_body(429, "slow") == {"__type": "ThrottlingException", "message": "slow"}
    assert form.error_body(413, "x")["__type"] == "ValidationException"
    assert form.error_body(599, "x")["__type"] == "InternalServerException"


# ---------------------------------------------------------------------------------------- the same rules, and botocore's


@given(data=st.data())
def test_what_goes_out_is_what_claude_takes(oracle: ModuleType, data: st.DataObject) -> None:
    """The independent reader of Anthropic's bodies finds nothing in a mended one that is written back into that form."""
    body = data.draw(bodies("bedrock"))
    groups, _ = pair(form.read(body), form)
    out = {**body, "messages": [entry.message.json for group in groups for entry in group.entries]}
    assert [
        fault for fault in oracle.refused(from_bedrock(out), "anthropic") if fault[0] not in ("breakpoints", "last-not-user")
    ] == []


def converse() -> Any:
    """What botocore says of a body of Converse, without a network."""
    pytest.importorskip("botocore", reason="botocore is not installed, and its validator is what this asks")
    from botocore.session import get_session  # noqa: PLC0415 - an optional second opinion
    from botocore.validate import ParamValidator  # noqa: PLC0415

    shape = get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape
    return lambda body: ParamValidator().validate(body, shape).generate_report()


@given(data=st.data())
def test_botocore_takes_what_it_took_before(data: st.DataObject) -> None:
    """Names of documents apart, nothing that was made or mended has a shape that the service's own model does not know."""
    report = converse()
    body = data.draw(bodies("bedrock"))
    groups, _ = pair(form.read(body), form)
    out = {**body, "messages": [entry.message.json for group in groups for entry in group.entries]}
    known = {line.partition(",")[0].partition(":")[0] for line in report(body).splitlines()}
    assert {line.partition(",")[0].partition(":")[0] for line in report(out).splitlines()} <= known


@pytest.mark.parametrize("share", [1, 0.3])
def test_real_talks_fit_and_botocore_takes_them(share: float) -> None:
    """Transcripts of Anthropic's form, written anew: legal, within the budget, and of a shape that the service knows."""
    report = converse()
    paths = sorted((SHARED / "data" / "transcripts").glob("c*.json.gz"))
    if not paths:
        pytest.skip("the transcripts of real agents are not here")
    for path in paths:
        talk = json.loads(gzip.decompress(path.read_bytes()))
        if talk["api"] != "anthropic" or len(talk["messages"]) > 240:
            continue
        body = rewritten({**talk, "model": "anthropic.claude-sonnet-4-5-20250929-v1:0"}, "bedrock")
        budget = int(transom.price(body, api="bedrock").tokens * share)
        try:
            made = transom.fit(body, api="bedrock", budget=budget, strict=True)
        except transom.OverBudget:
            continue
        assert report(made.request) == "", path.stem
        assert [one for one in transom.lint(made.request, api="bedrock") if one.refused and one.code not in required.CODES] == []
        assert [part for one in form.read(made.request).messages for part in walk(one.parts) if part.kind == "opaque"] == []
        if share == 1:
            assert made.request is body
