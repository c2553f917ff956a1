"""Where results go and how a talk ends: moved media, late results, last messages, and the groups that come out."""

from __future__ import annotations

import pytest

from pairing.messages import (
    Json,
    asked,
    assistant,
    call,
    calling,
    mend,
    result,
    said,
    text,
    thinking,
    tool,
    user,
)
from transom.pairing import notes


def test_media_in_a_tool_message_move_behind_the_results_and_keep_their_place() -> None:
    """CM-93, CM-94: a moved picture is known by the place that it was written at."""
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    other = {"type": "json", "value": "v"}
    stored = [
        asked("q"),
        calling("1", "2", "3"),
        tool("1", [picture]),
        tool("2", [text("words"), picture, other]),
        tool("3", [{"type": "input_text", "text": "typed"}]),
    ]
    sent, groups, decisions = mend("openai-chat", stored)
    assert sent[2:5] == [
        tool("1", [text(notes.MEDIA_BELOW)]),
        tool("2", [text("words"), text("v")]),
        tool("3", [text("typed")]),
    ]
    assert sent[5] == {"role": "user", "content": [text(notes.MEDIA_HERE), picture, picture]}
    entry = groups[-1].entries[-1]
    assert [key for key, part in entry.keyed() if part.media] == [(2, ("content", 0)), (3, ("content", 1))]
    assert not groups[-1].request
    assert len(decisions) == 3


# ---------------------------------------------------------------------------------------------------------- late results


def test_a_late_result_is_appended_where_it_arrived_and_nothing_before_it_changes() -> None:
    """A tool that answers after other turns: the stub that was sent stays, and so does the prefix."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    early = [user("q"), assistant(call("slow"), call("fast")), user(result("fast"), "busy"), assistant("a")]
    late = [*early, user(result("slow", [text("twelve"), picture]), "so?")]
    before, _, _ = mend("anthropic", [*early, user("so?")], late_results="append")
    sent, groups, decisions = mend("anthropic", late, late_results="append")
    assert sent[:4] == before[:4]
    assert sent[4] == user("so?", f"{notes.late_head('slow')}\ntwelve", picture)
    assert [key for key, part in groups[-1].entries[0].keyed() if part.media] == [(4, ("content", 0, "content", 1))]
    assert groups[-1].request
    assert "slow" in {line.name for line in decisions}


def test_a_late_tool_message_is_appended_as_a_message_of_the_user() -> None:
    stored = [asked("q"), calling("1"), asked("wait"), said("a"), tool("1", "twelve"), asked("so?")]
    sent, groups, _ = mend("openai-chat", stored, late_results="append")
    assert sent[2] == tool("1", notes.NOT_FINISHED)
    assert sent[5] == asked(f"{notes.late_head('1')}\ntwelve")
    assert [group.request for group in groups] == [True, False, True, False, False, True]


def test_a_result_directly_behind_its_call_is_never_late() -> None:
    stored = [asked("q"), calling("1", "2"), tool("1", "[interrupted]"), tool("1", "one"), tool("2"), asked("so?")]
    assert mend("openai-chat", stored, late_results="append")[0] == [*stored[:2], *stored[3:]]


# ------------------------------------------------------------------------------------------------------------------ ends


def test_a_talk_that_the_assistant_ends_goes_on_only_where_the_model_wants_it_so() -> None:
    stored = [user("q"), assistant("It is in")]
    assert mend("anthropic", stored, quirks=frozenset())[0] == stored
    sent, groups, _ = mend("anthropic", stored)
    assert sent == [*stored, user(notes.GO_ON)]
    assert len(groups) == 2
    assert not groups[-1].request


@pytest.mark.parametrize("behind", [[], [user("stop")]])
def test_a_call_without_the_thinking_that_is_asked_for_is_closed_by_a_note(behind: list[Json]) -> None:
    stored = [user("q"), assistant("a", call("1")), user(result("1")), *behind]
    sent, _, _ = mend("anthropic", stored, thinking={"type": "enabled", "budget_tokens": 1024})
    assert sent == [*stored[:3], assistant(notes.NO_THINKING), *(behind or [user(notes.GO_ON)])]
    assert mend("anthropic", stored)[0] == stored


def test_a_call_that_was_thought_about_is_left_alone() -> None:
    enabled = {"type": "enabled", "budget_tokens": 1024}
    stored = [user("q"), assistant(thinking(), call("1")), user(result("1"))]
    assert mend("anthropic", stored, thinking=enabled)[0] == stored
    assert mend("anthropic", [user("q")], thinking=enabled)[0] == [user("q")]


def test_a_conversation_without_messages_has_no_groups() -> None:
    assert mend("anthropic", []) == ([], (), ())


# ---------------------------------------------------------------------------------------------------------------- groups


def test_groups_say_what_they_are() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    stored = [
        user("q"),
        assistant("a"),
        assistant(call("1")),
        user(result("1")),
        assistant(call("2")),
        user(result("2"), "and?"),
        user(picture),
        assistant("b"),
    ]
    _, groups, _ = mend("anthropic", stored, quirks=frozenset())
    assert [(group.start, len(group.entries), group.request, group.opens) for group in groups] == [
        (0, 1, True, True),
        (1, 3, False, False),
        (4, 2, True, False),
        (6, 1, True, True),
        (7, 1, False, False),
    ]


def test_system_messages_in_the_list_are_pinned() -> None:
    stored = [{"role": "system", "content": "be short"}, asked("q"), {"role": "developer", "content": "in metres"}]
    _, groups, decisions = mend("openai-chat", stored)
    assert [(group.pinned, group.request, group.opens) for group in groups] == [
        (True, False, False),
        (False, True, True),
        (True, False, False),
    ]
    assert decisions == ()


def test_system_messages_do_not_stand_between_calls_and_results() -> None:
    system = {"role": "system", "content": "in metres"}
    sent, _, _ = mend("openai-chat", [asked("q"), calling("1"), system, tool("1")], quirks=frozenset())
    assert sent == [asked("q"), calling("1"), tool("1"), system]


def test_pieces_of_one_message_stay_in_one_group() -> None:
    """Two groups never start at the same stored message."""
    parts = [part for n in range(3) for part in (call(str(n)), result(str(n)))]
    _, groups, _ = mend("anthropic", [user("q"), assistant(*parts, "done"), user("and?")])
    assert [(group.start, len(group.entries)) for group in groups] == [(0, 1), (1, 7), (2, 1)]


# ------------------------------------------------------------------------------------------------ results that are messages


def test_a_log_whose_results_are_messages_keeps_them_whole() -> None:
    """LangChain's tool messages: a result that is its own message moves as it is, and leaves no part of another."""

    def whole(name: str, words: str = "found") -> Json:
        return {"role": "tool", "tool_call_id": name, "content": words}

    late = [user("q"), assistant(call("1"), call("2")), whole("2"), user("wait"), assistant("a"), whole("1"), user("so?")]
    sent, _, _ = mend("blocks", late)
    assert sent == [late[0], late[1], late[5], late[2], late[3], late[4], late[6]]
    lost = [user("q"), assistant("a"), whole("gone"), user("so?")]
    assert mend("blocks", lost)[0] == [lost[0], lost[1], lost[3]]
    assert mend("blocks", lost, late_results="append")[0][2] == user(f"{notes.late_head('gone')}\nfound")
    reused = [user("q"), assistant(call("x")), whole("x"), assistant(call("x")), whole("x", "two")]
    assert mend("blocks", reused)[0][4] == {**whole("x_2", "two")}


def test_a_moved_result_gives_up_a_replay_form_that_it_shares() -> None:
    """A replay form that a part left behind shares goes from the part that leaves; one that nobody shares goes with it."""
    shared, own = {"type": "message", "id": "m"}, {"type": "message", "id": "n"}
    late = user(result("1", rawItem=shared), result("2", rawItem=own), text("so?", rawItem=shared))
    stored = [user("q"), assistant(call("1"), call("2")), user("wait"), assistant("a"), late]
    sent, _, _ = mend("blocks", stored)
    assert sent[2] == user(result("1"), result("2", rawItem=own))
