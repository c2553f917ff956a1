"""Values that a price reads and that are not what they should be: each is passed over, none ends in an error."""

from __future__ import annotations

from typing import Any

import pytest

from transom import BadSetting
from transom.data import tables
from transom.parts import Media, Part
from transom.pricing import Where, look, written
from transom.rules import claude, gemini, tools
from transom.rules.grids import Fixed
from transom.rules.template import kept

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("fps", "frames"), [(2, 2.0), (0.5, 0.5), (0, 0.0), (-1, 0.0), (1e9, 0.0), (True, 0.0), ("2", 0.0), (None, 0.0)]
)
def test_pictures_a_second_are_a_number_within_reason(fps: object, frames: float) -> None:
    part = Part(kind="video", place=(), raw={"videoMetadata": {"fps": fps}})
    assert look(part, "", Where()).frames == frames


@pytest.mark.parametrize(("payload", "text"), [("d29yZHM=", "words"), ("d29yZHM", None), ("@", None)])
def test_a_document_of_plain_text_in_base64_is_read_where_it_can_be(payload: str, text: str | None) -> None:
    media = Media(kind="document", source="base64", payload=payload, inline=len(payload), declared="text/plain")
    assert written(media) == text


@pytest.mark.parametrize("schema", ["{", "[1]", "\ud800", "[" * 100_000, ""])
def test_a_response_schema_that_is_no_object_costs_nothing(schema: str) -> None:
    body = {"outputConfig": {"textFormat": {"structure": {"jsonSchema": {"schema": schema}}}}}
    assert claude.schema_of(body) == {}


@pytest.mark.parametrize("text", ['{"a": "bc"', "[" * 100_000, '{"\ud800": 1}'])
def test_arguments_that_are_no_json_count_as_text(text: str) -> None:
    assert gemini.GeminiFrame(json=False).value(text, len) == len(text)


def test_a_declaration_beside_others_keeps_what_the_provider_runs() -> None:
    mixed: Json = {"functionDeclarations": [{"name": "a"}, "no tool"], "googleSearch": {}, "urlContext": None}
    assert list(tools.unpacked(mixed)) == [{"name": "a"}, {"googleSearch": {}}]
    assert list(tools.unpacked({"functionDeclarations": [{"name": "a"}]})) == [{"name": "a"}]


def test_a_schema_that_is_none_stays_as_it_is() -> None:
    assert kept({"type": "object", "$comment": "x", "properties": {"a": True, "b": {"type": "string", "x": 1}}}) == {
        "type": "object",
        "properties": {"a": True, "b": {"type": "string"}},
    }


def test_an_entry_that_extends_one_that_is_not_there_is_named() -> None:
    entries: dict[str, Json] = {
        "a": {"x": 1, "y": 1},
        "b": {"extends": "a", "y": 2},
        "c": {"extends": "b"},
        "d": {"extends": "e"},
    }
    assert tables.whole("c", entries) == {"x": 1, "y": 2}
    with pytest.raises(BadSetting, match="d extends 'e', which the file lacks"):
        tables.whole("d", entries)


def test_a_rule_without_limits_refuses_nothing_and_reduces_nothing() -> None:
    assert Fixed(price=9).refusal(90_000, 1) == ""
    assert Fixed(price=9).sent(90_000, 1) == (90_000, 1)
    assert Fixed(price=9).explain(3, 2) == "3x2: 9 tokens"


@pytest.mark.parametrize("signature", ["!" * 8, "A", "é" * 8])
def test_a_signature_that_is_no_base64_begins_with_nothing_short(signature: str) -> None:
    assert not gemini.begins_short(signature)
