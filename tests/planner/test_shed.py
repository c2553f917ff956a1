"""Shedding: what may go when only what must stay is left, in the policy's order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import transom
from transom import FLAT
from transom.planner.shed import clipped

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAAAAAA6mKC9AAAACUlEQVR4nGMAAAABAAFe/335AAAAAElFTkSuQmCC"


def body(*content: dict[str, Any], older: str = "An older question") -> dict[str, Any]:
    return {
        "model": "m",
        "messages": [
            {"role": "user", "content": older},
            {"role": "assistant", "content": "Yes"},
            {"role": "user", "content": list(content)},
        ],
    }


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def picture() -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}


def fit(request: dict[str, Any], budget: int, **settings: Any) -> transom.Fit:
    return transom.fit(request, api="anthropic", card=FLAT, budget=budget, **settings)


def test_without_steps_it_refuses_with_the_numbers() -> None:
    """AN-53, INV-17: loud at the bottom."""
    with pytest.raises(transom.OverBudget) as refusal:
        fit(body(words("Look"), picture()), 1_000)
    assert refusal.value.tokens > refusal.value.budget_tokens == 1_000


def test_the_steps_are_taken_in_their_order_and_only_as_far_as_needed() -> None:
    """AN-47, AN-51: pictures go, the words stay; the report and the placeholder say so."""
    made = fit(body(words("Look"), picture()), 1_000, shed=("text", "images"))
    assert made.request["messages"][-1]["content"][0] == words("Look")  # under 128 bytes no text is cut
    assert made.request["messages"][-1]["content"][1]["text"].startswith("[image 16x16")
    assert "1 picture stubbed" in made.report.summary()


def test_the_dearest_picture_goes_first_and_no_more_than_needed() -> None:
    """AN-51: one of two suffices."""
    made = fit(body(picture(), picture()), 2_000, shed=("images",))
    kinds = [part["type"] for part in made.request["messages"][-1]["content"]]
    assert sorted(kinds) == ["image", "text"]


def test_texts_shrink_the_longest_first_to_powers_of_two_with_head_and_tail() -> None:
    """AN-49, AN-50: never below 128 bytes; the short text is untouched."""
    long = "head " + "x" * 9_000 + " tail"
    made = fit(body(words("short"), words(long)), 1_000, shed=("text",))
    short, cut = made.request["messages"][-1]["content"]
    assert short == words("short")
    assert len(cut["text"].encode()) <= 2_048
    assert cut["text"].startswith("head ")
    assert cut["text"].endswith(" tail")
    assert "9,010 bytes in all" in cut["text"]


def test_attached_files_are_the_last_resort() -> None:
    """AN-52: `text` leaves them alone, `files` cuts them."""
    attached = words("[Attached file: notes.txt]\n" + "y" * 9_000)
    with pytest.raises(transom.OverBudget):
        fit(body(attached), 1_000, shed=("text",))
    assert "bytes in all" in fit(body(attached), 1_000, shed=("text", "files")).request["messages"][-1]["content"][0]["text"]


def test_earlier_requests_give_way_before_the_newest_one_shrinks() -> None:
    """AN-48: the current request and the newest exchange outlive the earlier ones."""
    made = fit(body(words("z" * 3_000), older="o" * 1_800), 1_100, keep_requests=3, refit=1, shed=("text",))
    assert made.request["messages"][-1]["content"] == [words("z" * 3_000)]
    assert "o" * 1_800 not in str(made.request)


def test_what_was_shed_never_comes_back() -> None:
    """CM-26: the state remembers a picture that went."""
    first = fit(body(words("Look"), picture()), 1_000, shed=("images",))
    grown = body(words("Look"), picture())
    grown["messages"] += [{"role": "assistant", "content": "A cat"}, {"role": "user", "content": "Sure?"}]
    again = transom.fit(grown, api="anthropic", card=FLAT, budget=9_000, shed=("images",), state=first.state)
    assert again.request["messages"][: len(first.request["messages"])] == first.request["messages"]


@given(st.text(), st.integers(128, 512))
def test_a_clipped_text_is_within_its_room_and_splits_no_character(text: str, room: int) -> None:
    """AN-50."""
    assert len(clipped(text, room).encode()) <= room


def test_a_text_without_a_place_for_other_words_stays_and_the_next_one_shrinks() -> None:
    """AN-47: a refusal is a text that no maker can write; the result beside it gives way."""
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    refusal = {"type": "refusal", "refusal": "n" * 2_000}
    messages = [
        {"role": "user", "content": "Read it"},
        {"role": "assistant", "content": [refusal], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "w" * 1_500},
    ]
    made = transom.fit({"messages": messages}, api="openai-chat", card=FLAT, budget=1_100, shed=("text",))
    assert made.request["messages"][1]["content"] == [refusal]
    assert "bytes in all" in made.request["messages"][2]["content"]


def test_the_summary_counts_each_kind_of_medium_by_its_name() -> None:
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "bm90IGEgcGRm"}}
    made = fit(body(words("Look"), picture(), document), 1_000, shed=("images",))
    assert "1 document and 1 picture stubbed" in made.report.summary()
