"""What is let in, and the sentence for what is not."""

from __future__ import annotations

import base64
import contextlib
import copy
import inspect
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from enum import Enum, IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom import door
from transom.errors import BadRequest

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Block:
    """An SDK's object: it dumps the fields that were set."""

    __api_exclude__ = {"parsed"}  # noqa: RUF012 - as the SDKs have it

    def __init__(self, **fields: object) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str, by_alias: bool, exclude_unset: bool, exclude: set[str] | None) -> dict[str, Any]:
        assert (mode, by_alias, exclude_unset) == ("json", True, True)
        return {key: value for key, value in self.fields.items() if key not in (exclude or ())}


class OldBlock:
    def model_dump(self) -> dict[str, Any]:
        return {"type": "text", "text": "old"}


class Dictish:
    def to_dict(self) -> dict[str, Any]:
        return {"type": "text", "text": "dictish"}


class Broken:
    def to_dict(self) -> dict[str, Any]:
        raise RuntimeError("secret words")


class Frozen(Mapping[str, object]):
    def __getitem__(self, key: str) -> object:
        return {"role": "user", "content": "x"}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("role", "content"))

    def __len__(self) -> int:
        return 2


class Colour(str, Enum):  # noqa: UP042 - the older spelling is what people have
    RED = "red"


class Number(IntEnum):
    ONE = 1


class Word(str):
    __slots__ = ()


def test_a_plain_body_is_the_same_object() -> None:
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "é", "n": 1.5, "b": True, "z": None}]}]}
    assert door.admit(body) is body


@given(PLAIN)
def test_any_json_is_let_in_unchanged(json: object) -> None:
    body = {"x": json}
    assert door.admit(body) is body


def test_objects_of_an_sdk_are_replaced_node_by_node() -> None:
    """People append `reply.content` as it is; only the way to it is copied."""
    plain = {"role": "user", "content": "hi"}
    body = {
        "messages": [
            plain,
            {"role": "assistant", "content": [Block(type="text", text="a", parsed=object()), OldBlock(), Dictish()]},
        ]
    }
    out = door.admit(body)
    assert out["messages"][1]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "old"},
        {"type": "text", "text": "dictish"},
    ]
    assert out["messages"][0] is plain
    assert isinstance(body["messages"][1]["content"][0], Block)  # type: ignore[index]


@pytest.mark.parametrize(
    "value, wanted",
    [
        (b"ab", base64.b64encode(b"ab").decode()),
        (bytearray(b"ab"), "YWI="),
        (memoryview(b"ab"), "YWI="),
        ((1, (2,)), [1, [2]]),
        (OrderedDict(a=(1,)), {"a": [1]}),
        (Frozen(), {"role": "user", "content": "x"}),
        (Colour.RED, "red"),
        (Number.ONE, 1),
        (Word("w"), "w"),
        ({Word("k"): 1, Colour.RED: (2,)}, {"k": 1, "red": [2]}),
        (Block(a=(b"ab", Dictish())), {"a": ["YWI=", {"type": "text", "text": "dictish"}]}),
    ],
)
def test_what_stands_for_json_becomes_it(value: object, wanted: object) -> None:
    out = door.admit({"x": [value]})["x"][0]
    assert out == wanted
    assert type(out) is type(wanted)


CYCLE: list[Any] = []
CYCLE.append({"again": CYCLE})
DEEP: list[Any] = []
for _ in range(3_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value, place, words",
    [
        (math.nan, "x[0]", "nan"),
        (math.inf, "x[0]", "inf"),
        ([1, -math.inf], "x[0][1]", "-inf"),
        ("a\ud800", "x[0]", "surrogate"),
        ({"\ud800": 1}, "x[0]", "surrogate"),
        ({1: 2}, "x[0].1", "keys are strings"),
        ({None: 2}, "x[0].None", "keys are strings"),
        ({(1, 2): 2}, "x[0].<tuple>", "keys are strings"),
        (CYCLE, "x[0]", "holds itself"),
        (DEEP, "x[0]", "deeper than 200 levels"),
        ([10**4_300], "x[0][0]", "4,300 digits"),
        ([-(10**4_300)], "x[0][0]", "4,300 digits"),
        (object(), "x[0]", "class object"),
        ({1, 2}, "x[0]", "class set"),
        (Block, "x[0]", "class type"),
        (Broken(), "x[0]", "RuntimeError"),
        (iter(()), "x[0]", "no JSON"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value: object, place: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as caught:
        door.admit({"x": [value]})
    assert caught.value.place.startswith(place)
    assert "secret" not in str(caught.value)
    str(caught.value).encode()


def test_the_largest_numbers_are_let_in() -> None:
    for number in (10**4_299, -(10**4_299)):
        body = {"x": number}
        assert door.admit(body) is body


def test_nesting_up_to_the_bound_is_let_in() -> None:
    body: dict[str, Any] = {}
    for _ in range(door.MAX_DEPTH - 1):
        body = {"x": body}
    assert door.admit(body) is body
    with pytest.raises(BadRequest, match="deeper"):
        door.admit({"x": body})


def test_a_caller_that_is_deep_itself_gets_a_sentence() -> None:
    body: dict[str, Any] = {}
    for _ in range(door.MAX_DEPTH - 2):
        body = {"x": body}

    def call(levels: int) -> object:
        return call(levels - 1) if levels else door.admit(body)

    here = len(inspect.stack(0))
    with pytest.raises(BadRequest, match="deeper"):
        call(sys.getrecursionlimit() - here - 100)


def test_the_same_object_twice_is_no_cycle() -> None:
    part = {"type": "text", "text": "a"}
    body = {"x": [part, part, {"y": part}]}
    assert door.admit(body) is body


@pytest.mark.parametrize("value", [[], "x", None, 3, (1,)])
def test_a_request_is_an_object(value: object) -> None:
    with pytest.raises(BadRequest, match="must be an object"):
        door.admit(value)


def test_nothing_given_is_changed() -> None:
    body = {"messages": [{"content": (1, 2)}], "x": b"a"}
    before = copy.deepcopy(body)
    door.admit(body)
    assert body == before


def test_a_body_is_parsed() -> None:
    assert door.parse(b'\xef\xbb\xbf {"a": [1, "\\u00e9"]} ') == {"a": [1, "é"]}
    assert door.parse('{"a": "é"}') == {"a": "é"}
    assert door.parse(b'{"a": %d}' % 10**60) == {"a": 10**60}


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b'{"a": 1', "not complete"),
        (b'{"a": "x', "line 1, column 7"),
        (b'{"a":\n  tru}', "line 2, column 3"),
        ('{"é": tru}'.encode(), r"line 1, column 7 \(byte 7\)"),
        (b'{"a":1,}', "line 1"),
        (b"{} x", "line 1, column 4"),
        (b"[1]", "must be an object"),
        (b'{"a": NaN}', "a: this number is nan"),
        (b'{"a": [-Infinity]}', r"a\[0\]: this number is -inf"),
        (b'{"a": 1e999}', "inf"),
        (b'{"a": "\xff"}', r"byte 0xff is no UTF-8"),
        (b'{"a": "\\ud800"}', "surrogate"),
        ('{"a": "\ud800"}', "no UTF-8"),
        (b'{"a":\n' + b"1" * 4_301 + b"}", "line 2, column 1 .*4,300 digits"),
        (b'{"a":' + b"[" * 100_000, "deeper"),
        (b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", "deeper"),
        (b"\0\0\0", "line 1, column 1"),
        (b'{"a":"\\ud800","b":' + b"[" * 90_000 + b"]" * 90_000 + b"}", "deeper"),
    ],
)
def test_text_that_is_no_request_is_refused_with_its_place(data: bytes | str, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        door.parse(data)


@given(st.binary(max_size=60) | st.text(max_size=60) | st.from_regex(r'[\[\]{}:,"\\ud8eE0-9.\-NaInfty ]{0,40}', fullmatch=True))
def test_parsing_raises_nothing_but_bad_request(data: bytes | str) -> None:
    with contextlib.suppress(BadRequest):
        assert isinstance(door.parse(data), dict)


def shared(levels: int, node: Any, hold: Callable[[Any], Any]) -> Any:
    """A small object that is written 2 to the power of `levels` times."""
    for _ in range(levels):
        node = hold(node)
    return node


class Endless:
    """An object whose dump is to be dumped again, for ever."""

    def model_dump(self, **_: object) -> Endless:
        return Endless()


class Growing:
    """An object whose dump holds two more of its kind."""

    def to_dict(self) -> dict[str, Growing]:
        return {"a": Growing(), "b": Growing()}


@pytest.mark.parametrize(
    "value, words",
    [
        (shared(24, {}, lambda x: {"a": x, "b": x}), "up to here are more than 2,000,000 values"),
        (shared(40, [], lambda x: [x, x]), "up to here are more than 2,000,000 values"),
        ([shared(20, [], lambda x: [x, x]), 1], "up to here are more than 2,000,000 values"),
        (Growing(), "deeper"),
        (["a" * 10**6] * 1_001, "1,000,000,000 characters"),
        ([{"a" * 10**6: 1}] * 1_001, "1,000,000,000 characters"),
        ([10**4_200] * 300_000, "1,000,000,000 characters"),
        (Endless(), "class Endless, which is no JSON"),
    ],
)
def test_what_grows_when_it_is_written_is_refused_at_once(value: object, words: str) -> None:
    """A shared object counts in every place where it is written: 40 lists can be a terabyte of JSON."""
    with pytest.raises(BadRequest, match=words) as caught:
        door.admit({"x": value})
    assert len(str(caught.value)) < 300


def test_a_shared_object_that_stands_too_deep_in_one_place_is_refused() -> None:
    """What was let in where it is high up is looked at again where it is deeper."""
    filling = [[1] * 1_000 for _ in range(250)]
    deep = shared(150, [], lambda x: [x])
    assert door.admit({"x": [filling, deep, deep, [[deep]]]})
    with pytest.raises(BadRequest, match="deeper than 200"):
        door.admit({"x": [filling, deep, shared(60, deep, lambda x: [x])]})


def test_a_shared_object_may_be_written_often() -> None:
    body = {"x": shared(12, {"k": "v"}, lambda x: {"a": x, "b": x})}
    assert door.admit(body) is body
