"""What Bedrock refuses in one message or because of two documents, and what goes out instead."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import transom
from stage import PDF, encoded
from transom.pairing.notes import DOCUMENTS
from transom.wire import bedrock, naming

Json = dict[str, Any]
MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
POINT = {"cachePoint": {"type": "default"}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "so", "signature": "c2ln"}}}
SAID = {"text": "b"}
ASKS = {"role": "user", "content": [{"text": "go"}]}


def document(name: str = "notes", format: str = "txt") -> Json:  # noqa: A002 - the field's own name
    held = encoded(PDF) if format == "pdf" else "aGVsbG8="
    return {"document": {"format": format, "name": name, "source": {"bytes": held}}}


def talk(*content: Json) -> Json:
    return {"modelId": MODEL, "messages": [{"role": "user", "content": list(content)}]}


def answered(*content: Json) -> Json:
    return {"modelId": MODEL, "messages": [ASKS, {"role": "assistant", "content": list(content)}, ASKS]}


def called(*content: Any, id_: str = "a", name: str = "look", **fields: Any) -> Json:
    call = {"toolUse": {"toolUseId": id_, "name": name, "input": {}}}
    result = {"toolResult": {"toolUseId": id_, "content": list(content), **fields}}
    tool = {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}
    messages = [ASKS, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {"modelId": MODEL, "messages": messages, "toolConfig": {"tools": [tool]}}


def mended(body: Json) -> list[list[Json]]:
    """The contents as they go out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api="bedrock", strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api="bedrock") if one.refused] == []
    assert transom.fit(made, api="bedrock").request is made
    return [one["content"] for one in made["messages"]]


def answers(body: Json) -> dict[str, str]:
    return {one.code: one.answer for one in transom.lint(body, api="bedrock") if one.refused}


def stays(body: Json) -> bool:
    return transom.fit(body, api="bedrock").request is body and answers(body) == {}


WORDLESS = "A text block must be included when using documents. Add a text block and retry your request."
NOTE = {"text": DOCUMENTS}


@pytest.mark.parametrize(
    ("content", "goes"),
    [
        ([document()], [NOTE, document()]),
        ([document(format="pdf"), POINT], [NOTE, document(format="pdf"), POINT]),
        ([{"text": " "}, document(), document("more")], [NOTE, document(), document("more")]),
        ([{"guardContent": {"text": {"text": "x"}}}, document()], [{"guardContent": {"text": {"text": "x"}}}, NOTE, document()]),
    ],
)
def test_documents_stand_beside_a_text(content: list[Json], goes: list[Json]) -> None:
    assert answers(talk(*content))["wordless"] == WORDLESS
    assert mended(talk(*content)) == [goes]


def test_that_text_stands_behind_results() -> None:
    body = called(SAID)
    body["messages"][2]["content"].append(document())
    assert answers(body) == {"wordless": WORDLESS}
    made = mended(body)[2]
    assert [next(iter(part)) for part in made] == ["toolResult", "text", "document"]


def test_documents_beside_a_text_or_in_a_result_stay() -> None:
    assert stays(talk(document(), SAID))
    assert stays(called(document()))


DUPLICATE = "Messages can't contain duplicate document names. Rename the document and retry your request."


def test_no_two_documents_have_one_name_wherever_they_stand() -> None:
    body = called(document("Notes"))
    body["messages"][0] = {"role": "user", "content": [{"text": "go"}, document(), document("notes-2")]}
    body["messages"][2]["content"] += [SAID, document()]
    assert answers(body) == {"name-reused": DUPLICATE}
    made = mended(body)
    names = [part["document"]["name"] for part in (*made[0][1:], made[2][0]["toolResult"]["content"][0], made[2][2])]
    assert names == ["notes", "notes-2", "Notes-3", "notes-4"]
    assert made[0] is body["messages"][0]["content"]


def test_a_name_with_a_number_is_no_longer_than_names_may_be() -> None:
    made = mended(talk(SAID, document("x" * 200), document("x" * 200)))[0]
    assert made[2]["document"]["name"] == "x" * 198 + "-2"
    assert stays(talk(SAID, document("a"), document("b")))


def test_what_follows_changes_no_name() -> None:
    content = [SAID, document(), document()]
    assert mended(talk(*content, document("notes-2")))[0][:3] == mended(talk(*content))[0]


BEHIND = "Cache point cannot be inserted after reasoning block. Please remove the invalid cache point and try again."


@pytest.mark.parametrize(
    ("content", "goes"),
    [
        ([SAID, THOUGHT, POINT, SAID], [SAID, POINT, THOUGHT, SAID]),
        ([THOUGHT, POINT, SAID], [THOUGHT, SAID]),
        ([SAID, POINT, THOUGHT, POINT, SAID], [SAID, POINT, THOUGHT, SAID]),
        ([SAID, THOUGHT, THOUGHT, POINT, SAID], [SAID, THOUGHT, THOUGHT, SAID]),
    ],
)
def test_a_cache_point_behind_reasoning_stands_before_it_or_nowhere(content: list[Json], goes: list[Json]) -> None:
    assert answers(answered(*content)) == {"cache-point": BEHIND}
    assert mended(answered(*content))[1] == goes


def test_nor_does_one_get_there_when_the_text_between_goes() -> None:
    assert mended(answered(THOUGHT, {"text": " "}, POINT, SAID))[1] == [THOUGHT, SAID]
    assert mended(answered(SAID, THOUGHT, {"text": " "}, POINT, SAID))[1] == [SAID, POINT, THOUGHT, SAID]
    assert stays(answered(THOUGHT, SAID, POINT))


@pytest.mark.parametrize("points", [1, 2])
def test_a_cache_point_with_nothing_before_it_is_left_out(points: int) -> None:
    body = talk(*[POINT] * points, SAID)
    assert answers(body) == {"cache-point": "There is nothing available to cache."}
    assert mended(body) == [[SAID]]
    assert stays(talk(SAID, POINT))


def test_a_message_of_a_cache_point_alone_says_that_nothing_is_left() -> None:
    assert [next(iter(part)) for part in mended(answered(POINT))[1]] == ["text"]


@pytest.mark.parametrize(("format_", "at"), [("txt", 1), ("docx", 1), ("pdf", 2)])
def test_a_mark_of_our_own_stands_behind_no_document_but_a_pdf(format_: str, at: int) -> None:
    made = transom.fit(talk(SAID, document(format=format_)), api="bedrock", marks="place").request
    assert made["messages"][0]["content"].index(POINT) == at


def test_a_document_alone_bears_a_mark_only_behind_its_note() -> None:
    made = transom.fit(talk(document()), api="bedrock", marks="place").request
    assert made["messages"][0]["content"] == [NOTE, POINT, document()]


def test_a_client_s_own_point_stays_behind_its_document() -> None:
    body = talk({"text": " "}, SAID, document(), POINT)
    assert mended(body) == [[SAID, document(), POINT]]


def test_a_point_behind_a_text_that_goes_moves_past_a_document() -> None:
    assert mended(talk(SAID, document(), {"text": ""}, POINT)) == [[SAID, POINT, document()]]


NO_OBJECT = (
    "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object for the field "
    "and try again."
)


@pytest.mark.parametrize(
    ("value", "words"), [([1, 2], "[1,2]"), ("x", "x"), (7.5, "7.5"), (None, "null"), (True, "true"), ([], "[]")]
)
def test_json_in_a_result_that_is_no_object_is_told_as_text(value: Any, words: str) -> None:
    assert answers(called({"json": value})) == {"json": NO_OBJECT}
    assert mended(called({"json": value}))[2][0]["toolResult"]["content"] == [{"text": words}]


@pytest.mark.parametrize(
    ("content", "goes"),
    [(7.5, {"text": "7.5"}), ({"a": 1}, {"json": {"a": 1}}), ({"json": 5}, {"text": "5"}), (True, {"text": "true"})],
)
def test_a_result_that_is_a_value_becomes_what_is_taken(content: Any, goes: Json) -> None:
    body = called()
    body["messages"][2]["content"][0]["toolResult"]["content"] = content
    assert mended(body)[2][0]["toolResult"]["content"] == [goes]


def test_an_object_stays() -> None:
    assert stays(called({"json": {"a": [1]}}))
    assert stays(called({"somethingNew": [1]}))


@pytest.mark.parametrize("content", [[], [{"text": ""}], [{"text": " "}, SAID]])
def test_a_result_may_say_nothing(content: list[Json]) -> None:
    assert stays(called(*content))


def test_unless_it_failed() -> None:
    body = called({"text": ""}, status="error")
    assert "failed-result" in answers(body)
    assert mended(body)[2][0]["toolResult"]["content"][0]["text"].strip()


@pytest.mark.parametrize("odd", ["call|fc_1", "a b", "ä"])
def test_an_id_of_other_letters_is_spelled_anew_in_the_call_and_its_result(odd: str) -> None:
    body = called(SAID, id_=odd)
    answer = "Value at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy"
    faults = [one for one in transom.lint(body, api="bedrock") if one.code == "odd-id"]
    assert faults[0].answer.startswith(answer)
    assert [one.place for one in faults] == ["messages[1].content[0].toolUse.toolUseId"]
    made = mended(body)
    assert (
        made[1][0]["toolUse"]["toolUseId"]
        == made[2][0]["toolResult"]["toolUseId"]
        == naming.spelled_id(odd, naming.ODD_BUT_POINTS)
    )


@pytest.mark.parametrize("id_", ["functions.look:0", "tooluse_a-b"])
def test_an_id_that_is_taken_stays(id_: str) -> None:
    assert stays(called(SAID, id_=id_))


def test_a_tool_that_the_model_made_up_is_called_by_a_name_that_is_taken() -> None:
    body = called(SAID, name="server.look at")
    answer = (
        "Value at 'messages.2.member.content.1.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular"
    )
    assert answers(body)["odd-name"].startswith(answer)
    assert mended(body)[1][0]["toolUse"]["name"] == "server_look_at"


def test_a_name_that_a_tool_is_declared_with_stays() -> None:
    body = called(SAID, name="server.look")
    body["toolConfig"]["tools"][0]["toolSpec"]["name"] = "server.look"
    assert stays(body)


def test_more_documents_than_most_models_take_are_told_of() -> None:
    body = talk(SAID, *(document(f"d{n}") for n in range(6)))
    found = {one.code: (one.answer, one.refused) for one in transom.lint(body, api="bedrock")}
    assert found == {"too-many-documents": ("You can't include more than 5 documents in a request.", False)}
    assert stays(body)


def test_two_messages_become_one_with_the_points_of_both() -> None:
    first, second = {"role": "user", "content": [SAID, POINT]}, {"role": "user", "content": [SAID]}
    assert bedrock.join(first, second)["content"] == [SAID, POINT, SAID]
