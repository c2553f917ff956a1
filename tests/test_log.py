"""Damaged stores: everything that can be read is read, everything else is named by its line, and appending is safe."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom import log

ONE = {"role": "user", "content": "Where is the key?"}
TWO = {"role": "assistant", "content": "Under the mat."}
LINE, NEXT = json.dumps(ONE), json.dumps(TWO)
TORN = '{"role": "assistant", "content": [{"type"'


@pytest.mark.parametrize(
    "name, stored, messages, lost",
    [
        ("whole", f"{LINE}\n{NEXT}\n", [ONE, TWO], []),
        ("no newline at the end", f"{LINE}\n{NEXT}", [ONE, TWO], []),
        ("carriage returns and empty lines", f"{LINE}\r\n\r\n\n{NEXT}\r\n", [ONE, TWO], []),
        ("a byte order mark", f"\ufeff{LINE}\n", [ONE], []),
        ("nothing", "", [], []),
        ("a run of NUL bytes", f"{LINE}\n{chr(0) * 9}\n{NEXT}\n", [ONE, TWO], ["line 2: 9 NUL bytes"]),
        ("NUL bytes in front of a message", f"{chr(0) * 3}{LINE}\n", [ONE], ["line 1: 3 NUL bytes"]),
        ("a cut last line", f"{LINE}\n{TORN}", [ONE], ["line 2: column"]),
        ("a message behind a cut", f"{TORN}{LINE}\n", [ONE], ["line 1: column"]),
        ("two messages in one line", f"{LINE}{NEXT}\n", [ONE, TWO], []),
        ("text behind a message", f"{LINE} and more\n{NEXT}", [ONE, TWO], ["line 1: column"]),
        ("a list", f"[1]\n{LINE}", [ONE], ["line 1: the request is a list"]),
        ("a list and a message in one line", f"[1]{LINE}", [ONE], ["line 1: the request is a list"]),
        ("an object that is no message", f'{{"type": "session"}}\n{LINE}', [ONE], ["line 1: an object without a role"]),
        ("half a surrogate pair", f'{{"role": "user", "content": "\\ud800"}}\n{LINE}', [ONE], ["line 1: content: this text"]),
        ("NaN", f'{{"role": "user", "n": NaN}}\n{LINE}', [ONE], ["line 1: n: "]),
        ("nested without end", "[" * 100_000 + f"\n{LINE}", [ONE], ["line 1: this is nested deeper"]),
        ("a message inside a cut one", f'{{"role": "user", "content": [{LINE}, \n', [], ["line 1: column"]),
        ("openings and nothing else", '{"role"' * 1_000, [], ["line 1: column"]),
    ],
)
def test_what_can_be_read_is_read_and_the_rest_is_named(name: str, stored: str, messages: list[Any], lost: list[str]) -> None:
    for data in (stored, stored.encode()):
        found = log.read(data)
        assert list(found.messages) == messages, name
        assert len(found.lost) == len(lost), name
        assert all(str(loss).startswith(start) for loss, start in zip(found.lost, lost, strict=True)), found.lost


def test_each_message_has_its_line() -> None:
    assert log.read(f"{LINE}\n\n{NEXT}").lines == (1, 3)


def test_bytes_that_are_no_utf_8_do_not_stop_the_reading() -> None:
    found = log.read(b'{"role": "user", "content": "\xff"}\n' + LINE.encode())
    assert [message["role"] for message in found.messages] == ["user", "user"]


@pytest.mark.parametrize("stored", ["", f"{LINE}\n", LINE, f"{LINE}\n{TORN}", f"{LINE}\n\0\0\0"])
def test_a_message_appended_to_a_torn_store_can_be_read_again(stored: str) -> None:
    for data in (stored, stored.encode()):
        joined = stored.encode() + log.appended(data, TWO)
        assert log.read(joined).messages[-1] == TWO
        assert log.read(joined).messages[:-1] == log.read(stored).messages
        assert log.read(joined).whole


@given(st.lists(st.sampled_from([LINE, NEXT, TORN, "\0" * 5, "", "[1]", "nothing"])), st.sampled_from(["\n", "\r\n"]))
def test_no_message_is_lost_in_whatever_stands_between(rows: list[str], end: str) -> None:
    found = log.read(end.join(rows))
    assert [json.dumps(message) for message in found.messages] == [row for row in rows if row in (LINE, NEXT)]


def test_items_of_responses_are_messages_where_they_may_stand() -> None:
    item = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
    line = json.dumps(item)
    assert log.read(line, items=True).messages == (item,)
    assert log.read(line).lost[0].reason == "an object without a role, and so no message"
    assert log.read('{"type": "session"}', items=True).messages == ()
    cut = log.read('{"role": "user", "cont' + line, items=True)  # written right behind a cut
    assert (cut.messages, len(cut.lost)) == ((item,), 1)
