"""JSON as bytes, sizes, digests and prefix keys."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from transom import canon

MARK = {"type": "ephemeral"}


def test_json_is_compact_utf8() -> None:
    assert canon.encode({"a": [1, "é", None, True]}) == '{"a":[1,"é",null,true]}'.encode()
    assert canon.size({"a": "é"}) == len('{"a":"é"}'.encode())
    assert canon.text({"a": "é"}) == '{"a":"é"}'
    assert canon.encode(10**60) == str(10**60).encode()


def test_a_cache_mark_changes_no_digest() -> None:
    """CM-137: marks are outside digests, or moving one looks like another conversation."""
    part = {"type": "text", "text": "a"}
    plain = {"role": "user", "content": [part, part]}
    for key in canon.MARKS:
        marked = {"role": "user", "content": [part, {**part, key: MARK}]}
        before = copy.deepcopy(marked)
        assert canon.digest(marked) == canon.digest(plain)
        assert marked == before


def test_a_string_and_the_marked_list_that_it_became_have_one_digest() -> None:
    string = {"role": "user", "content": "a"}
    listed = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    marked = {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": MARK}]}
    assert canon.digest(string) == canon.digest(listed) == canon.digest(marked)


def test_everything_else_changes_the_digest() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "a", "citations": []}]},
        {"role": "user", "content": [{"type": "text", "text": 1}]},
        {"role": "user", "content": [{"type": "image", "text": "a"}]},
        {"role": "user", "content": ["a"]},
        {"role": "user", "content": '{"cache_control":1}'},
        {"role": "user"},
    ]
    digests = {canon.digest(message) for message in messages}
    assert len(digests) == len(messages)
    assert all(len(found) == 16 for found in digests)


def test_words_about_marks_are_no_marks() -> None:
    text = {"role": "user", "content": [{"type": "text", "text": 'a "cache_control": x', "cache_control": MARK}]}
    assert canon.unmarked(text)["content"][0] == {"type": "text", "text": 'a "cache_control": x'}


def test_what_has_no_mark_stays_the_same_object() -> None:
    json = {"a": [{"b": 1}], "c": "x"}
    assert canon.unmarked(json) is json


def test_a_prefix_key_depends_on_every_message_before() -> None:
    one, two = canon.digest({"content": "1"}), canon.digest({"content": "2"})
    assert canon.rolling(canon.rolling(b"", one), two) != canon.rolling(canon.rolling(b"", two), one)
    assert canon.rolling(canon.rolling(b"", one), two) == canon.rolling(canon.rolling(b"", one), two)
    assert len(canon.rolling(b"", one)) == 16


@pytest.mark.parametrize("content", ["words", "about cache_control", None, [], [{"type": "text", "text": "words"}]])
def test_a_message_with_another_key_than_role_and_content_may_bear_a_mark(content: object) -> None:
    bare = {"role": "user", "content": content}
    marked = {**bare, "cache_control": {"type": "ephemeral"}}
    assert canon.plain(marked) == canon.plain(bare)
