"""Compaction: what ages on two timelines, what stays, and that nothing moves in between. Letters: U and T are messages of the
user and of a tool with a picture, u, t and a without one.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import transom
from stage import PDF, encoded, png
from transom import FLAT, Policy, PriceList, canon
from transom.placeholder import placeholder
from transom.planner.timelines import SUPERSEDED
from transom.stages import run
from transom.types import Place
from transom.wire import FORMS

Json = dict[str, Any]
APIS = ("anthropic", "openai-chat", "blocks")
COMPACTING = Policy.compacting(strict=True)
QUIET = Policy.compacting(strict=True, compact_at=0)


def data(number: int) -> str:
    return encoded(png(20 + number, 30))


def picture(number: int, api: str = "anthropic") -> Json:
    if api == "openai-chat":
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data(number)}"}}
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(number)}}


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def talk(letters: str, api: str = "anthropic") -> Json:
    """A request: each letter is a message; a tool's has its call before it. Picture `n` stands in the message of letter `n`."""
    messages: list[Json] = []
    for number, letter in enumerate(letters):
        shown = [picture(number, api)] if letter in "UT" else []
        if letter in "uU":
            messages.append({"role": "user", "content": [words(f"words {number}"), *shown]})
        elif letter == "a":
            messages.append({"role": "assistant", "content": f"answer {number}"})
        elif api == "openai-chat":
            call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            held = {"_multimodal": True, "content": [words("seen"), *shown], "text_summary": "a page"}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": held if shown else "seen"})
        else:
            messages.append(
                {"role": "assistant", "content": [{"type": "tool_use", "id": f"c{number}", "name": "look", "input": {}}]}
            )
            result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [words("seen"), *shown]}
            messages.append({"role": "user", "content": [result]})
    return {"messages": messages}


def compacted(request: Json, api: str = "anthropic", *, compacting: bool = True, **more: Any) -> transom.Fit:
    before = copy.deepcopy(request)
    made = transom.fit(request, api=api, card=FLAT, policy=more.pop("policy", QUIET), compacting=compacting, **more)
    assert request == before  # HE-34
    return made


def live(made: transom.Fit | Json) -> list[int]:
    """The numbers of the pictures that go out."""
    text = canon.text(made if isinstance(made, dict) else made.request)
    return [number for number in range(30) if data(number) in text]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("letters", "stay"),
    [
        ("uTTT", [3]),
        ("UTT", [2]),
        ("Uat", [0]),
        ("uUTT", [1, 3]),
        ("TaU", [2]),
        ("TT", [1]),
    ],
)
def test_the_six_shapes(api: str, letters: str, stay: list[int]) -> None:
    """HE-F5, HE-08, HE-11, HE-12, HE-13, HE-18, HE-19: in each wire form, nested in results and in envelopes alike."""
    assert live(compacted(talk(letters, api), api)) == stay


@pytest.mark.parametrize(
    ("letters", "stay"),
    [
        ("uTaUau", [3]),  # HE-14: all before the newest user picture, of whatever role
        ("UaUaua", [2]),  # HE-11: text of the user behind it does not move the anchor, and the old one still ages
        ("Uauau", [0]),  # HE-17: nothing newer is shown
        ("UaTu", [2]),  # HE-16, HE-43: the opening picture gives way to a tool's
        ("uTaUu", [3]),  # HE-20, HE-28: a tool's picture before it goes, though it is the newest of its kind
        ("uT", [1]),  # HE-25
        ("uTtTt", [3]),  # HE-18: wherever it sits, the newest part included
    ],
)
def test_the_rules_of_the_two_timelines(letters: str, stay: list[int]) -> None:
    """HE-11, HE-14, HE-16, HE-17, HE-18, HE-19, HE-20, HE-25, HE-28, HE-40, HE-43: case by case."""
    assert live(compacted(talk(letters))) == stay


def test_nothing_ages_between_compactions() -> None:
    """HE-02: an ordinary fit changes no picture, whatever is newer, so the prefix stands."""
    request = talk("UTTaUTT")
    assert compacted(request, compacting=False).request is request


def test_a_compaction_ages_pictures_after_summaries_and_repairs_and_counts_what_is_sent() -> None:
    """HE-01, HE-21: at a compaction only; late results are brought to their calls first, and age with the message that
    they arrived in; the size told is that of the output."""
    request = talk("uTTaTu")
    late = request["messages"][2]
    request["messages"].remove(late)
    request["messages"].append(late)
    made = compacted(request)
    assert live(made) == [1]
    assert made.report.after.tokens == transom.price(made.request, api="anthropic", card=FLAT).tokens
    assert {one.reason for one in made.report.decisions if one.verb == "stub"} == {SUPERSEDED}


@pytest.mark.parametrize("api", APIS)
def test_a_second_compaction_changes_nothing(api: str) -> None:
    """HE-36: the very object, with the state and without it."""
    made = compacted(talk("UTTaUTTu", api), api)
    assert compacted(made.request, api).request is made.request
    again = compacted(talk("UTTaUTTu", api), api, state=made.state)
    assert canon.encode(again.request) == canon.encode(made.request)


def test_a_picture_that_a_limit_took_does_not_come_back_as_a_compaction_makes_room_for_it() -> None:
    request = talk("UUaU")
    policy = Policy.compacting(strict=True, compact_at=0, max_images=2)
    first = compacted(request, policy=policy)
    assert canon.encode(first.request).count(b'"image"') == 1
    assert [(one.seq, one.reason) for one in first.report.decisions if one.verb == "stub"] == [(0, SUPERSEDED), (1, SUPERSEDED)]
    assert compacted(request, policy=policy, state=first.state).request == first.request


@pytest.mark.parametrize("letters", ["uau", "uat", "utt", "Ua", "uTa"])
def test_where_nothing_is_old_the_same_object_comes_back(letters: str) -> None:
    """HE-24, HE-25, HE-35, HE-39: no picture, one picture, an envelope without one."""
    for api in APIS:
        request = talk(letters, api)
        assert compacted(request, api).request is request


def test_what_came_back_never_comes_back() -> None:
    """CM-26 at a compaction: what went is a placeholder in every later request, compaction or not."""
    first = compacted(talk("uTTT"))
    later = compacted(talk("uTTTau"), compacting=False, state=first.state)
    assert live(later) == [3]
    assert later.request["messages"][: len(first.request["messages"])] == first.request["messages"]


def test_the_anchor_and_what_is_not_old_stay_the_same_objects() -> None:
    """HE-15, HE-34: the newest picture's message byte for byte, and the list that came is not touched."""
    request = talk("uTaUTT")
    made = compacted(request)
    kept = [message for message in made.request["messages"] if any(message is old for old in request["messages"])]
    assert request["messages"][4] in kept
    assert len(kept) == len(made.request["messages"]) - 2


def test_a_replaced_picture_is_a_note_in_its_place_and_rows_roles_ids_and_order_stay() -> None:
    """HE-29, HE-30, HE-31, INV-16: other parts as they were; no row is empty or gone."""
    request = talk("UTTu")
    made = compacted(request)
    old, new = request["messages"], made.request["messages"]
    assert [message["role"] for message in new] == [message["role"] for message in old]
    result = new[2]["content"][0]
    media = FORMS["anthropic"].read_message({"role": "user", "content": [picture(1)]}, 0).parts[0].media
    assert media is not None
    assert result["tool_use_id"] == "c1"
    assert result["content"] == [words("seen"), words(placeholder(media))]
    assert new[0]["content"][0] is old[0]["content"][0]


def test_an_envelope_stays_one_with_the_note_in_it() -> None:
    """HE-08, HE-32, HE-42: its words and its summary stay; the picture in it is the note."""
    made = compacted(talk("uTT", "openai-chat"), "openai-chat")
    held = made.request["messages"][2]["content"]
    assert held["text_summary"] == "a page"
    assert [part["type"] for part in held["content"]] == ["text", "text"]
    assert live(made) == [2]


def test_the_sidecar_of_a_rewritten_message_goes() -> None:
    """HE-33, INV-10: replaying it would send again what was taken away."""
    request = talk("UTT")
    request["messages"][0]["api_content"] = copy.deepcopy(request["messages"][0]["content"])
    made = compacted(request)
    assert "api_content" not in made.request["messages"][0]
    assert live(made) == [2]


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data(0)}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{data(0)}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(0)}},
        {"type": "generated_image", "data": data(0), "mimeType": "image/png"},
        {"type": "image", "data": data(0), "mimeType": "image/png"},
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_every_shape_of_a_picture_ages(shape: Json, nested: bool) -> None:
    """HE-06, HE-09, HE-10, HE-42: five shapes in one list, at the top and in a result; each with a text part of its own form
    (OP-43, OP-46).
    """
    request = talk("uTT")
    if nested:
        request["messages"][2]["content"][0]["content"][1] = shape
    else:
        request["messages"][0]["content"].append(shape)
    made = compacted(request, "blocks")
    assert live(made) == [2]


def test_an_assistants_picture_ages_by_the_newest_of_its_own() -> None:
    """HE-23, OP-43: before the user's newest it goes; behind it the newest of the assistant's stays and the older ones go."""
    request = talk("UaaTu")
    for number in (1, 2):
        request["messages"][number]["content"] = [
            words("made"),
            {"type": "generated_image", "data": data(10 + number), "mimeType": "image/png"},
        ]
    assert live(compacted(request, "blocks")) == [3, 12]
    request["messages"].append({"role": "user", "content": [picture(9)]})
    assert live(compacted(request, "blocks")) == [9]


def test_documents_age_by_documents_and_not_by_pictures() -> None:
    """HE-10, OP-43: other media have timelines of their own, so a screenshot never takes a paper away."""

    def paper(name: str) -> Json:
        source = {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF + name.encode())}
        return {"type": "document", "source": source, "title": name}

    request = talk("uaUTu")
    request["messages"][0]["content"].append(paper("old"))
    assert compacted(request).request is request
    request["messages"][-1]["content"].append(paper("new"))
    made = compacted(request)
    assert made.request["messages"][0]["content"][1]["text"].startswith("[document")
    assert made.request["messages"][-1] is request["messages"][-1]


@pytest.mark.parametrize("more", [0, 1])
def test_the_first_message_that_is_no_instruction_is_the_opening(more: int) -> None:
    """HE-26, OP-42: a system row first does not shelter the opening picture."""
    request = talk("UaTu", "openai-chat")
    request["messages"] = [{"role": "system", "content": f"rule {n}"} for n in range(more)] + request["messages"]
    assert live(compacted(request, "openai-chat")) == [2]


def test_a_users_only_picture_behind_the_opening_stays_until_bytes_are_short() -> None:
    """HE-27, OP-41, OP-42: [u U T T] keeps U; where the body is too large for both, the byte limit takes the older one."""
    request = talk("uUTT")
    assert live(compacted(request)) == [1, 3]
    size = len(canon.encode(compacted(request).request))
    assert live(compacted(request, policy=QUIET.having(max_body_bytes=size - 20))) == [3]


def test_a_message_with_many_pictures_keeps_those_that_fit() -> None:
    """HE-22, OP-44: a compaction ages whole messages; where bytes are short, verdicts are the pictures' own."""
    request = talk("uTT")
    request["messages"][-1]["content"][0]["content"] += [picture(n) for n in range(10, 20)]
    whole = compacted(request)
    assert live(whole) == [2, *range(10, 20)]
    short = compacted(request, policy=QUIET.having(max_body_bytes=len(canon.encode(whole.request)) - 200))
    assert 2 in live(short)
    assert 0 < len(live(short)) < len(live(whole))


def test_below_the_mark_nothing_moves_and_at_the_mark_pictures_go_before_a_refusal() -> None:
    """HE-03, HE-05, HE-41, HE-F1, OP-40, OP-41: by body bytes, far below the tokens; after it the body is small, and the loop
    is over.
    """
    state: transom.State | None = None
    sizes, compactions, last = list[int](), 0, -1
    letters = "u" + "T" * 20
    policy = COMPACTING.having(max_body_bytes=6_000, budget=200_000)
    for count in range(2, len(letters) + 1):
        made = compacted(talk(letters[:count]), compacting=False, policy=policy, state=state)
        stubs = made.state.stubs - (state.stubs if state else frozenset())
        if stubs:
            compactions += 1
            assert made.report.breaks
        state, last = made.state, live(made)[-1]
        sizes.append(made.report.after.bytes)
    assert max(sizes) <= 6_000
    assert max(sizes) > 0.8 * 6_000 - 400
    assert 1 <= compactions <= 7
    assert last == 20


def test_the_way_out_of_a_body_that_was_too_large_frees_bytes_at_once() -> None:
    """HE-03, HE-04, HE-F2, HE-F4: a 413 with no limit known; one compaction takes the old pictures, the newest text stays."""
    request = talk("UaTTu")
    poster = encoded(png(900, 900) + b"\0" * 150_000)
    request["messages"][0]["content"][1]["source"]["data"] = poster
    made = compacted(request, policy=COMPACTING)
    assert len(canon.encode(made.request)) < 0.15 * len(canon.encode(request))
    assert "words 4" in canon.text(made.request)


def test_every_picture_that_went_is_a_line_with_what_it_freed() -> None:
    """OP-45, INV-17: place, bytes and reason; the note names the picture."""
    made = compacted(talk("UTTu"))
    lines = [one for one in made.report.decisions if one.verb == "stub"]
    places: list[tuple[int, Place]] = [(one.seq, one.place) for one in lines]
    assert places == [(0, ("content", 1)), (2, ("content", 0, "content", 1))]
    assert all(one.bytes_before > one.bytes_after > 0 for one in lines)
    assert "[image 20x30" in canon.text(made.request)


def test_what_is_no_picture_is_let_through() -> None:
    """HE-07, HE-37, HE-38: text that looks like one and parts of unknown kind come out as they are; no messages at all are no
    request of any provider, which is said."""
    odd = {"messages": [{"role": "user", "content": ["plain", words("image_url"), {"type": "custom", "x": 1}]}]}
    assert compacted(odd, "blocks").request is odd
    with pytest.raises(transom.BadRequest, match="no message"):
        compacted({"messages": []}, "blocks")


def test_the_newest_groups_media_that_are_pinned_stay() -> None:
    """Design section 6: a pin holds through a compaction."""
    assert live(compacted(talk("UTT"), policy=QUIET.having(pins=("messages[0]",)))) == [0, 2]


def test_pictures_that_pairing_puts_behind_results_are_the_tools() -> None:
    """HE-12 where results hold text only: the picture stands in a message of the user, and it is the tool's still."""
    request = talk("UaTuT", "openai-chat")
    for message in request["messages"]:
        if message["role"] == "tool":
            message["content"] = message["content"]["content"]
    assert live(compacted(request, "openai-chat")) == [4]


def test_a_compaction_comes_by_itself_at_its_share_of_the_tokens() -> None:
    """HE-01, HE-05, OP-40: at 80 % of tokens or bytes, before a provider refuses anything."""
    request = talk("uTTTu")
    whole = transom.price(request, api="anthropic", card=FLAT).tokens
    below = compacted(request, compacting=False, policy=COMPACTING.having(budget=int(whole / 0.75)))
    above = compacted(request, compacting=False, policy=COMPACTING.having(budget=int(whole / 0.85)))
    assert below.request is request
    assert live(above) == [3]


def test_a_compaction_that_frees_enough_asks_for_nothing() -> None:
    """A summary is wanted only where media alone do not bring the window down."""
    made = compacted(talk("uTTTaua"), policy=QUIET.having(chunk_tokens=5, recent_tokens=0, budget=100_000))
    assert (live(made), made.asks) == ([3], ())


def test_a_preview_shows_what_is_too_large_and_keeps_the_state() -> None:
    """CM-127, CM-160, INV-20: nothing is raised and nothing is remembered."""
    form = FORMS["anthropic"]
    conversation = form.read(talk("uTTT"))
    state = transom.State()
    made = run(conversation, form=form, policy=QUIET.having(budget=50), prices=PriceList(FLAT), last=state, preview=True)
    assert made.report.after.tokens > 50
    assert made.state is state
