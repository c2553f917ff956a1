"""Shedding: anchored requests, the newest groups, the order in which things go, the loud bottom; and what a restored session
keeps.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest
from msgspec.structs import replace

import transom
from stage import encoded, png
from transom import FLAT, Policy, canon
from transom.planner.allowance import allowance

Json = dict[str, Any]
SHEDDING = Policy.shedding(strict=True)


def said(role: str, text: str) -> Json:
    return {"role": role, "content": text}


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def picture(number: int, filler: int = 0) -> Json:
    data = encoded(png(20 + number, 30) + b"\0" * filler)
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def called(name: str, text: str) -> list[Json]:
    call = {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": name, "content": text}]


def trim(*messages: Json, api: str = "openai-chat", **settings: Any) -> transom.Fit:
    request = {"messages": list(messages)}
    before = copy.deepcopy(request)
    made = transom.fit(request, api=api, card=FLAT, policy=SHEDDING, **settings)
    assert request == before
    return made


def texts(made: transom.Fit) -> list[str]:
    return [message["content"] for message in made.request["messages"] if isinstance(message.get("content"), str)]


def size(*messages: Json) -> int:
    return len(canon.encode({"messages": list(messages)})) + 1


def test_the_preset_is_the_companions_settings() -> None:
    """AN-35, AN-38, AN-39, AN-53: forty messages, three requests, 4,096 bytes, and the order in which things go."""
    policy = Policy.shedding()
    assert (policy.max_messages, policy.keep_requests, policy.keep_requests_cap) == (40, 3, 4_096)
    assert policy.shed == ("requests", "text", "images", "files")
    assert Policy.shedding(max_messages=1).max_messages == 2
    assert Policy.shedding(max_messages=0).max_messages == 0  # off has one meaning (INV-21)


def test_forty_messages_stay_and_the_newest_requests_ahead_of_them() -> None:
    """AN-35, AN-43, AN-44, AN-46: in their own order around the anchored requests, after many rounds of tools."""
    history = [said("user", f"request {n}") for n in range(4)]
    for n in range(40):
        history += called(f"c{n}", f"result {n}")
    made = trim(*history)
    assert len(made.request["messages"]) == 40 - 1  # three requests and eighteen exchanges of two
    assert texts(made)[:3] == ["request 1", "request 2", "request 3"]
    assert texts(made)[-1] == "result 39"
    assert "result 21" not in texts(made)


def test_system_messages_stay_first_and_count_in_bytes_only() -> None:
    """AN-36: never shrunk, not among the forty; none is made up where there is none."""
    made = trim(said("system", "s" * 3_000), *(said("user", f"u{n}") for n in range(50)), max_messages=2)
    assert made.request["messages"][0]["content"] == "s" * 3_000
    assert made.report.after.messages == 2
    assert trim(said("user", "hello")).request["messages"] == [said("user", "hello")]
    with pytest.raises(transom.OverBudget, match="system"):
        trim(said("system", "s" * 3_000), said("user", "u"), max_body_bytes=2_000)


@pytest.mark.parametrize(("most", "requests"), [(40, 3), (5, 3), (4, 2), (3, 1), (2, 1)])
def test_anchored_requests_leave_room_for_an_exchange(most: int, requests: int) -> None:
    """AN-40: at most max(1, min(3, maximum - 2))."""
    history = [said("user", f"u{n}") for n in range(5)]
    for n in range(25):
        history += called(f"c{n}", f"r{n}")
    if most == 2:
        history = [said("assistant", "x"), *history[:5], said("assistant", "y")]
    made = trim(*history, max_messages=most)
    assert sum(message["role"] == "user" for message in made.request["messages"]) == requests


def test_earlier_requests_share_their_cap_and_the_walk_stops_at_the_first_that_does_not_fit() -> None:
    """AN-38, AN-39, OP-30, OP-39: newest to oldest, stop and not skip."""
    history = [
        said("user", "small"),
        said("assistant", "a"),
        said("user", "x" * 5_000),
        said("assistant", "b"),
        said("user", "now"),
    ]
    for n in range(30):
        history += called(f"c{n}", f"r{n}")
    made = trim(*history)
    assert texts(made)[0] == "now"


def test_old_groups_go_first_then_earlier_requests_then_texts() -> None:
    """AN-47, AN-48, AN-49, AN-56: the current request and the newest exchange outlive the earlier requests."""
    earlier = [said("user", "e" * 900), said("assistant", "old" * 50)]
    history = [*earlier, said("user", "current"), *called("a", "gone" * 50), *called("b", "newest")]
    newest = size(said("user", "current"), *called("b", "newest"))
    with_request = trim(*history, max_body_bytes=newest + 1_000)
    assert texts(with_request) == ["e" * 900, "current", "newest"]
    assert texts(trim(*history, max_body_bytes=newest)) == ["current", "newest"]


def test_text_is_cut_before_pictures_go_and_files_last() -> None:
    """AN-49, AN-51, AN-52: the order of the last resorts; each only as far as needed."""
    file = words("[Attached file: notes.txt]\n" + "f" * 4_000)
    turn = {"role": "user", "content": [words("w" * 4_000), picture(0, 3_000), file]}
    whole = size(turn)

    def kinds(budget: int) -> list[str]:
        content = trim(turn, max_body_bytes=budget).request["messages"][0]["content"]
        long = ["cut" if "in all" in part.get("text", "") else "whole" for part in (content[0], content[-1])]
        return [long[0], content[1]["type"], long[1]]

    assert kinds(whole) == ["whole", "image_url", "whole"]
    assert kinds(whole - 1_000) == ["cut", "image_url", "whole"]
    assert kinds(whole - 7_000) == ["cut", "text", "whole"]
    assert kinds(1_500) == ["cut", "text", "cut"]


def test_a_cut_text_keeps_what_says_how_it_went() -> None:
    """AN-50: counts of errors and successes and flags from the middle that goes, never other values."""
    middle = 'a secret 17 "errors": 3, "success": true, "attachments": [], "name": "Eve", "passed": 12, '
    made = trim(said("user", "x" * 2_000 + middle + "y" * 2_000), max_body_bytes=700)
    text = texts(made)[0]
    assert all(kept in text for kept in ('"errors": 3', '"success": true', '"attachments": []', '"passed": 12'))
    assert "Eve" not in text


def test_a_picture_goes_only_when_it_does_not_fit_and_the_dearest_first() -> None:
    """AN-54, AN-55, OP-29, OP-36: a placeholder says so, in the text and in the report, and no message is emptied."""
    turn = {"role": "user", "content": [picture(0), picture(1, 900)]}
    made = trim(turn, max_body_bytes=size(turn) - 2)
    first, second = made.request["messages"][0]["content"]
    assert (first["type"], second["type"]) == ("image_url", "text")
    assert "left out" in second["text"]
    assert [one.verb for one in made.report.decisions] == ["stub"]


def test_arguments_of_calls_cannot_be_cut() -> None:
    """AN-53, AN-58, OP-33: a huge one ends in an error with the numbers, not in another question."""
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"x":"' + "z" * 9_000 + '"}'}}
    history = [said("user", "go"), {"role": "assistant", "content": None, "tool_calls": [call]}, *called("a", "r")[1:]]
    with pytest.raises(transom.OverBudget, match="newest request") as refusal:
        trim(*history, max_body_bytes=5_000)
    assert refusal.value.bytes > refusal.value.budget_bytes == 5_000


def test_the_cost_is_linear() -> None:
    """AN-57: four times the messages cost about four times the time."""

    def seconds(count: int) -> float:
        history = [said("user" if n % 2 else "assistant", f"{n} " * 40) for n in range(count)] + [said("user", "now")]
        start = time.perf_counter()
        trim(*history, max_body_bytes=20_000)
        return time.perf_counter() - start

    seconds(100)
    small = min(seconds(500) for _ in range(3))
    assert min(seconds(2_000) for _ in range(3)) < 4 * 3 * small


def test_what_the_answer_needs_is_reserved_before_the_history_is_trimmed() -> None:
    """AN-59, AN-61, AN-F9: window less reserve less system and tools; an explicit maximum wins, else the smaller of the model's
    output and a quarter of the window, at least 256."""
    cases = [(8_000, {}, 2_000), (32_768, {}, 4_096), (8_000, {"max_tokens": 4_096}, 4_096), (512, {}, 256)]
    for window, body, reserve in cases:
        model = replace(FLAT, window=window, output_limit=4_096)
        budget, notes = allowance(Policy.shedding(), model, body)
        assert budget.tokens == window - reserve
        assert f"{reserve:,} tokens are reserved" in notes[0]
    tools = [{"type": "function", "function": {"name": "t", "description": "d" * 400, "parameters": {}}}]
    request = {"tools": tools, "messages": [said("user", "x" * 400), said("assistant", "y"), said("user", "z")]}
    made = transom.fit(request, api="openai-chat", card=replace(FLAT, window=600), policy=SHEDDING, reserve=256)
    assert made.request["tools"] is tools
    assert made.report.after.tokens <= 344


def test_a_window_that_system_and_tools_fill_is_refused_with_what_fills_it() -> None:
    """AN-60: no choice of messages can help; the error names system and tools, and the numbers."""
    request = {"messages": [said("system", "s" * 4_000), said("user", "hello")]}
    with pytest.raises(transom.OverBudget, match="system and tools") as refusal:
        transom.fit(request, api="openai-chat", card=FLAT, policy=SHEDDING, budget=512)
    assert refusal.value.tokens > refusal.value.budget_tokens == 512


def test_framing_is_priced_and_a_picture_weighs_what_it_costs() -> None:
    """AN-63, AN-64, OP-37: tokens are held against tokens and bytes against bytes; the frame of each message is in the price."""
    plain = transom.price({"messages": [said("user", "")]}, api="openai-chat", model="gpt-4o")
    assert plain.tokens > 0
    made = trim({"role": "user", "content": [words("look"), picture(0, 9_000)]}, budget=2_000)
    assert made.request["messages"][0]["content"][1]["type"] == "image_url"


def test_content_comes_out_in_the_form_it_came_in() -> None:
    """AN-21, AN-65, AN-66: a string stays a string, a list a list; whole pictures and labelled files are parts like others."""
    request = {"messages": [said("user", "plain"), said("assistant", "a"), {"role": "user", "content": [words("list")]}]}
    made = transom.fit(request, api="openai-chat", card=FLAT, policy=SHEDDING)
    assert made.request is request


def test_an_unreadable_picture_goes_and_the_file_beside_it_stays() -> None:
    """AN-13, AN-54, AN-F5: 50,000 characters that are no picture, a small file, 8,000 bytes."""
    bad = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000}}
    file = words("[Attached file: a.txt]\nsmall and whole")
    made = trim({"role": "user", "content": [words("read it"), bad, file]}, max_body_bytes=8_000)
    content = made.request["messages"][0]["content"]
    assert content[-1] == file
    assert "A" * 100 not in canon.text(made.request)


def test_forty_pictures_in_a_body_for_one() -> None:
    """AN-F6: exactly one stays, and the words are whole."""
    turn = {"role": "user", "content": [words("what are these?"), *(picture(n, 650) for n in range(40))]}
    notes = size(
        {"role": "user", "content": [words("what are these?"), *(words("[image 20x30 00000000 left out]") for _ in range(39))]}
    )
    made = trim(turn, max_body_bytes=notes + 1_500)
    kinds = [part["type"] for part in made.request["messages"][0]["content"]]
    assert kinds.count("image_url") == 1
    assert made.request["messages"][0]["content"][0] == words("what are these?")


def test_four_hundred_old_turns_and_no_room() -> None:
    """AN-F7: system, the current request and the latest answer remain."""
    old = [said("assistant", f"{n:03d} " + "o" * 1_000) for n in range(400)]
    history = [said("system", "rules"), *old, said("user", "the request"), said("assistant", "latest")]
    made = trim(*history, max_body_bytes=200)
    assert texts(made) == ["rules", "the request", "latest"]


def test_a_restored_session_keeps_what_can_be_kept_and_says_what_was_done() -> None:
    """AN-26, AN-27, AN-28, AN-29, AN-31, AN-32, AN-34, OP-35: user turns of parts stay; an orphan goes with a line; an open
    call is answered by a result that says so instead of going with its words; every fit does this, not only a restore.
    """
    call = called("a", "")[0]
    history = [
        said("user", "go"),
        {"role": "tool", "tool_call_id": "ghost", "content": "orphan"},
        {"role": "user", "content": [words("look"), picture(0)]},
        {**call, "content": "I will look."},
        said("user", "well?"),
        said("assistant", ""),
        said("user", "still there?"),
    ]
    made = trim(*history)
    text = canon.text(made.request)
    assert "orphan" not in text
    assert "I will look." in text
    assert "was not finished" in text
    assert picture(0)["image_url"]["url"] in text
    assert {one.verb for one in made.report.decisions} == {"repair"}
    assert trim(*made.request["messages"]).request["messages"] == made.request["messages"]


def test_a_result_with_a_picture_survives() -> None:
    """AN-30, AN-33, OP-35: multimodal results are kept with their fields; long ones are not cut unless a cap is set."""
    history = [said("user", "go"), *called("a", "r" * 70_000)]
    assert trim(*history).request["messages"][-1]["content"] == "r" * 70_000
    history[-1] = {**history[-1], "content": [words("seen"), picture(0)], "host_field": 1}
    made = trim(*history)
    assert picture(0)["image_url"]["url"] in canon.text(made.request)
    assert made.request["messages"][2]["host_field"] == 1


@pytest.mark.parametrize("rows", [None, "text", {"role": "user"}, 5])
def test_messages_that_are_no_list_are_an_error(rows: object) -> None:
    """AN-24."""
    with pytest.raises(transom.BadRequest, match="messages"):
        transom.fit({"messages": rows}, api="openai-chat", card=FLAT, policy=SHEDDING)


def test_a_row_of_an_unknown_role_is_named_and_not_dropped() -> None:
    """AN-25: an unknown role is an error with its place; nothing of a request goes without a word."""
    with pytest.raises(transom.BadRequest, match=r"messages\[0\]"):
        trim({"role": "narrator", "content": "once"})


def test_texts_are_cut_no_more_than_is_needed_once_pictures_went() -> None:
    """INV-12: the next fit, which knows of the pictures, makes the same of the same log."""
    turn = {"role": "user", "content": [words("w" * 300), picture(0, 3_000)]}
    made = trim(turn, max_body_bytes=600)
    assert made.request["messages"][0]["content"][0] == words("w" * 300)
    again = trim(turn, max_body_bytes=600, state=made.state)
    assert again.request == made.request


def test_instructions_inside_the_list_are_never_cut() -> None:
    """AN-36, AN-49: where system messages are groups like others, too."""
    turns = [said("system", "s" * 900), said("user", "u" * 900)]
    made = trim(*turns, api="blocks", max_body_bytes=1_300)
    assert "s" * 900 in canon.text(made.request)
    assert "in all" in canon.text(made.request)
