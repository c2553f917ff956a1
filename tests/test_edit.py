"""Edits by place: copy on write, and the twins that go with them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from transom import edit
from transom.parts import Part, walk
from transom.wire import blocks

PNG = "iVBORw0KGgo="
ITEM = {"type": "image_generation_call", "id": "ig_1", "result": PNG}


def test_only_the_way_to_an_edit_is_copied() -> None:
    """CM-07: an edit copies what it changes; what it does not touch keeps its identity, and nothing given is changed."""
    json = {"a": [{"b": 1}, {"c": 2}], "d": {"e": 3}}
    before = copy.deepcopy(json)
    out = edit.replace(json, {("a", 0, "b"): 9})
    assert out == {"a": [{"b": 9}, {"c": 2}], "d": {"e": 3}}
    assert out["a"][1] is json["a"][1]  # type: ignore[index]
    assert out["d"] is json["d"]
    assert json == before


def test_an_edit_that_changes_nothing_gives_the_same_object() -> None:
    """HE-35: if nothing changes the same object is returned."""
    inner = {"b": 1}
    json = {"a": [inner]}
    assert edit.replace(json, {("a", 0): inner}) is json
    assert edit.replace(json, {}) is json
    assert edit.remove(json, [("a", 7), ("x", "y"), ("a", 0, "b", "c")]) is json
    assert edit.replace(json, {("a", 0, "b", "c"): 1}) is json


def test_places_are_those_of_the_input() -> None:
    json = {"a": [0, 1, 2, 3, 4]}
    assert edit.replace(json, {("a", 3): "x"}, [("a", 0), ("a", 1)]) == {"a": [2, "x", 4]}
    assert edit.remove(json, [("a", 4), ("a", 0)]) == {"a": [1, 2, 3]}


def test_keys_are_added_and_wholes_replaced() -> None:
    assert edit.replace({"a": 1}, {("b",): 2}) == {"a": 1, "b": 2}
    json: Any = {"a": {"b": 1}}
    assert edit.replace(json, {(): [3]}) == [3]
    assert edit.replace(json, {("a",): 2, ("a", "b"): 3}) == {"a": 2}
    assert edit.replace(json, {("a", "b"): 3, ("a",): 2}) == {"a": 2}


def test_looking_at_a_place() -> None:
    assert edit.look({"a": [1, {"b": 2}]}, ("a", 1, "b")) == 2
    assert edit.look({"a": [1]}, ("a", 4)) is None
    assert edit.look({"a": 1}, ("a", "b")) is None


@given(
    st.recursive(
        st.integers() | st.text(max_size=3),
        lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=2), x, max_size=3),
    ),
    st.data(),
)
def test_a_replaced_place_holds_what_was_put_there(json: object, data: st.DataObject) -> None:
    places: list[tuple[Any, ...]] = [()]
    for place in places:
        node = edit.look(json, place)
        if isinstance(node, (dict, list)) and len(places) < 50:
            keys = node if isinstance(node, dict) else range(len(node))
            places.extend((*place, key) for key in keys)
    place = data.draw(st.sampled_from(places))
    before = copy.deepcopy(json)
    assert edit.look(edit.replace(json, {place: "new"}), place) == "new"
    assert json == before


def parts(content: list[Any], **fields: object) -> tuple[tuple[Part, ...], dict[str, Any]]:
    json = {"role": "assistant", "content": content, **fields}
    return blocks.read_message(json, 0).parts, json


def test_a_part_without_twins_has_none() -> None:
    found, _ = parts([{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": "a", "content": "x"}])
    assert [part.twins for part in found] == [(), ()]


def test_a_picture_gives_up_its_replay_form_when_it_is_replaced() -> None:
    """CM-72, CM-78, INV-10: what a formatter would replay goes with what it stands for."""
    found, json = parts([{"type": "generated_image", "data": PNG, "mimeType": "image/png", "rawItem": ITEM, "x": 1}])
    assert found[0].twins == (("content", 0, "rawItem"),)
    note = {"type": "text", "text": "[image]"}
    assert edit.edited(json, [(found[0], note)])["content"] == [note]


def test_a_nested_picture_takes_the_form_of_its_result_and_of_all_that_share_it() -> None:
    """CM-71, CM-75, CM-79: a shared raw text goes from every block parsed from it; the result itself stays."""
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    found, json = parts(
        [
            {"type": "text", "text": "a", "rawXml": "<one/>"},
            {"type": "tool_result", "tool_use_id": "a", "content": [image], "rawXml": "<one/>"},
            {"type": "text", "text": "b", "rawXml": "<two/>"},
        ]
    )
    nested = found[1].parts[0]
    note = {"type": "text", "text": "[image]"}
    out = edit.edited(json, [(nested, note)])
    assert out["content"] == [
        {"type": "text", "text": "a"},
        {"type": "tool_result", "tool_use_id": "a", "content": [note]},
        {"type": "text", "text": "b", "rawXml": "<two/>"},
    ]
    assert out["content"][2] is json["content"][2]


def test_a_part_that_was_kept_keeps_its_form() -> None:
    """CM-74: a block that nothing was decided about keeps its replay form."""
    found, json = parts([{"type": "text", "text": "a", "rawXml": "<one/>"}, {"type": "text", "text": "b"}])
    out = edit.edited(json, [(found[1], {"type": "text", "text": "c"}), (found[0], found[0].raw)])
    assert out["content"][0] is json["content"][0]


def test_items_are_the_same_by_type_and_id_else_by_content() -> None:
    """CM-75: a provider's item is keyed by type and id, by its whole content when it has no id."""
    assert edit.identity({"type": "t", "id": "1", "a": 1}) == edit.identity({"type": "t", "id": "1"})
    assert edit.identity({"type": "t", "id": "1"}) != edit.identity({"type": "u", "id": "1"})
    assert edit.identity({"type": "t", "a": 1}) != edit.identity({"type": "t", "a": 2})
    assert edit.identity("<a/>") == "<a/>"


def test_reasoning_and_what_it_leads_to_are_released_together() -> None:
    """CM-76: releasing either releases both."""
    reasoning = {"type": "thinking", "thinking": "so", "rawItem": {"type": "reasoning", "id": "r"}}
    image = {"type": "generated_image", "data": PNG, "mimeType": "image/png", "rawItem": ITEM}
    found, json = parts([reasoning, image, {"type": "text", "text": "a", "rawItem": {"id": "m"}}])
    assert set(found[1].twins) == set(found[0].twins) == {("content", 0, "rawItem"), ("content", 1, "rawItem")}
    out = edit.edited(json, [(found[1], {"type": "text", "text": "[image]"})])
    assert "rawItem" not in out["content"][0]
    assert "rawItem" in out["content"][2]


def test_a_moved_part_gives_up_a_form_that_one_left_behind_shares() -> None:
    """CM-77: a form that a moved part carries alone moves with it."""
    mine = {"type": "tool_result", "tool_use_id": "a", "content": "x", "rawItem": ITEM, "rawXml": "<one/>"}
    left = [{"type": "text", "text": "b", "rawXml": "<one/>"}, {"type": "text", "text": "c"}, "d"]
    assert edit.moved(mine, left) == {"type": "tool_result", "tool_use_id": "a", "content": "x", "rawItem": ITEM}
    assert edit.moved(mine, left[1:]) is mine
    assert edit.moved("text", left) == "text"


def test_what_is_left_behind_gives_up_a_form_that_the_moved_part_shares() -> None:
    """CM-77, the other side: a raw text that holds the moved part cannot be replayed without it."""
    shared = {"type": "text", "text": "b", "rawXml": "<one/>"}
    gone = {"type": "tool_result", "tool_use_id": "a", "content": "x", "rawXml": "<one/>"}
    json = {"role": "assistant", "content": [shared, gone], "api_content": "old"}
    assert blocks.with_parts(json, [shared]) == {"role": "assistant", "content": [{"type": "text", "text": "b"}]}


def test_structured_content_is_a_twin_where_it_repeats_the_content() -> None:
    found, json = parts(
        [
            {
                "type": "tool_result",
                "tool_use_id": "a",
                "content": [{"type": "text", "text": "x"}],
                "structuredContent": {"a": 1},
            },
            {
                "type": "tool_result",
                "tool_use_id": "b",
                "content": {"content": [{"type": "text", "text": "x"}], "structuredContent": {}},
            },
            {"type": "tool_result", "tool_use_id": "c", "structuredContent": {"a": 1}},
        ]
    )
    assert [part.twins for part in found] == [
        (("content", 0, "structuredContent"),),
        (("content", 1, "content", "structuredContent"),),
        (),
    ]
    out = edit.edited(json, [(found[0].parts[0], {"type": "text", "text": "y"})])
    assert out["content"][0] == {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "y"}]}


def test_the_sidecar_of_an_edited_message_goes() -> None:
    """HE-33: replaying it would send the removed bytes again."""
    found, json = parts([{"type": "text", "text": "a"}], api_content=[{"type": "text", "text": "a"}], x=1)
    assert found[0].twins == (("api_content",),)
    out = edit.edited(json, [(found[0], {"type": "text", "text": "b"})])
    assert out == {"role": "assistant", "content": [{"type": "text", "text": "b"}], "x": 1}
    assert blocks.with_parts(json, [found[0].raw]) == json
    string = {"role": "user", "content": "a", "api_content": "a"}
    (part,) = blocks.read_message(string, 0).parts
    assert edit.edited(string, [(part, "b")]) == {"role": "user", "content": "b"}
    assert blocks.with_parts(string, ["b"]) == {"role": "user", "content": "b"}


def test_nested_parts_have_the_twins_of_what_holds_them() -> None:
    found, _ = parts([{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x"}], "rawItem": ITEM}])
    assert {part.twins for part in walk(found)} == {(("content", 0, "rawItem"),)}


def test_untwinned_takes_all_forms() -> None:
    raw = {"type": "text", "text": "a", "rawItem": ITEM, "structuredContent": {}}
    assert edit.untwinned(raw) == {"type": "text", "text": "a"}
    assert edit.untwinned("a") == "a"
    assert edit.untwinned({"a": 1}) == {"a": 1}
