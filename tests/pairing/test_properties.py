"""What holds for pairing whatever was stored: nothing that the provider refuses, nothing lost, nothing changed without need."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, Literal

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import conversations
from rewritten import key_of
from transom.pairing import pair
from transom.pairing.notes import real
from transom.parts import Entry, Group, Part, own_entry, walk
from transom.probe.encoded import Encoded
from transom.wire import FORMS

PROVIDERS = ("anthropic", "openai-chat", "openai-responses", "gemini")
ELSEWHERE = {"breakpoints", "ttl-order"}
"""Faults that a later stage mends."""
NO_PREFILL = frozenset({"no-prefill"})

late = st.sampled_from(["move", "append"])


def paired(
    body: dict[str, Any], api: str, *, late_results: Literal["move", "append"] = "move"
) -> tuple[tuple[Group, ...], dict[str, Any]]:
    groups, _ = pair(FORMS[api].read(body), FORMS[api], late_results=late_results, quirks=NO_PREFILL)
    return groups, {**body, key_of(api): [entry.message.json for group in groups for entry in group.entries]}


def entries(groups: Sequence[Group]) -> list[Entry]:
    return [entry for group in groups for entry in group.entries]


@pytest.mark.parametrize("api", PROVIDERS)
@given(data=st.data(), late_results=late)
def test_the_provider_refuses_nothing(
    oracle: ModuleType, api: str, data: st.DataObject, late_results: Literal["move", "append"]
) -> None:
    body = data.draw(conversations.bodies(api))
    for code in {code for code, _ in oracle.faults(body, api)}:
        event(code)
    _, out = paired(body, api, late_results=late_results)
    assert [fault for fault in oracle.refused(out, api) if fault[0] not in ELSEWHERE] == []


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), late_results=late)
def test_the_form_finds_no_fault_either(api: str, data: st.DataObject, late_results: Literal["move", "append"]) -> None:
    _, out = paired(data.draw(conversations.bodies(api)), api, late_results=late_results)
    form = FORMS[api]
    faults = [fault for fault in form.legal(form.read(out), NO_PREFILL) if fault.refused and fault.code not in ELSEWHERE]
    assert faults == []


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), late_results=late)
def test_pairing_its_own_output_changes_nothing(api: str, data: st.DataObject, late_results: Literal["move", "append"]) -> None:
    """CM-104: repair is a no-op on what is valid."""
    _, out = paired(data.draw(conversations.bodies(api)), api, late_results=late_results)
    conversation = FORMS[api].read(out)
    groups, decisions = pair(conversation, FORMS[api], late_results=late_results, quirks=NO_PREFILL)
    assert decisions == ()
    assert all(entry.message is old for entry, old in zip(entries(groups), conversation.messages, strict=True))


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data())
def test_what_is_legal_comes_back_as_the_same_objects(api: str, data: st.DataObject) -> None:
    conversation = FORMS[api].read(data.draw(conversations.legal_bodies(api)))
    assume(not any(FORMS[api].slips(message, NO_PREFILL) for message in conversation.messages))  # pictures in odd base64
    assume(not any(one.code == "name-reused" for one in FORMS[api].legal(conversation)))  # documents that are called alike
    groups, decisions = pair(conversation, FORMS[api], quirks=NO_PREFILL)
    assert decisions == ()
    assert entries(groups) == [own_entry(message) for message in conversation.messages]
    assert all(entry.message is old for entry, old in zip(entries(groups), conversation.messages, strict=True))


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), late_results=late)
def test_the_input_is_not_changed_and_the_same_input_gives_the_same_output(
    api: str, data: st.DataObject, late_results: Literal["move", "append"]
) -> None:
    body = data.draw(conversations.bodies(api))
    before = copy.deepcopy(body)
    first = paired(body, api, late_results=late_results)[1]
    assert repr(body) == repr(before)
    assert paired(body, api, late_results=late_results)[1] == first


def texts(parts: Sequence[Part]) -> Iterator[str]:
    for part in walk(parts):
        if (part.kind == "text" and part.text.strip()) or (part.kind == "result" and not part.parts):
            yield part.text


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data())
def test_every_text_and_the_first_answer_of_every_call_is_still_there(api: str, data: st.DataObject) -> None:
    conversation = FORMS[api].read(data.draw(conversations.bodies(api)))
    groups, _ = pair(conversation, FORMS[api], quirks=NO_PREFILL)
    have = {text for entry in entries(groups) for text in texts(entry.message.parts)}
    calls: set[str] = set()
    answered: set[str] = set()
    for message in conversation.messages:
        for part in message.parts:
            if part.kind == "call":
                assume(part.id not in calls)  # a reused id: who is answered is another test's
                calls.add(part.id)
            elif part.kind == "result" and part.id and part.id in calls - answered and real(part):
                answered.add(part.id)
                assert set(texts([part])) <= have
            elif part.kind == "text" and part.text.strip():
                assert part.text in have


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), late_results=late)
def test_what_stands_before_a_group_does_not_change_what_is_sent_for_it(
    api: str, data: st.DataObject, late_results: Literal["move", "append"]
) -> None:
    """The start law: pairing only the messages from a group's start on sends the same for all that both hold."""
    body = data.draw(conversations.bodies(api))
    conversation = FORMS[api].read(body)
    ids = [part.id for message in conversation.messages for part in message.parts if part.kind == "call"]
    assume(len(ids) == len(set(ids)))  # numbers behind ids are decided by the stored sequence
    shown = [str(part.raw) for message in conversation.messages for part in walk(message.parts) if part.kind == "document"]
    assume(api != "bedrock" or len(shown) == len(set(shown)))  # and so are those behind names of documents
    groups, whole = paired(body, api, late_results=late_results)
    starts = [n for n, group in enumerate(groups) if n and group.opens]
    assume(starts)
    number = data.draw(st.sampled_from(starts))
    key = key_of(api)
    suffix = {**body, key: body[key][groups[number].start :]}
    rest, _ = paired(suffix, api, late_results=late_results)
    sent = [entry.message.json for group in groups[number:] for entry in group.entries]
    assert [entry.message.json for entry in entries(rest)] == sent
    assert whole[key][-len(sent) :] == sent


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data(), late_results=late)
def test_groups_are_whole_and_say_where_their_parts_were_written(
    api: str, data: st.DataObject, late_results: Literal["move", "append"]
) -> None:
    """INV-08: calls and their results stand in one group. CM-93, CM-94: a moved part keeps the place it came from."""
    body = data.draw(conversations.bodies(api))
    conversation = FORMS[api].read(body)
    groups, _ = paired(body, api, late_results=late_results)
    assert [group.start for group in groups] == sorted({group.start for group in groups})
    payload = {
        (message.index, part.place): part.media.payload
        for message in conversation.messages
        for part in walk(message.parts)
        if part.media
    }
    seen = []
    for group in groups:
        kinds = [part for entry in group.entries for part in entry.message.parts]
        asked, got = ([part.id for part in kinds if part.kind == kind] for kind in ("call", "result"))
        assert len(asked) == len(got) if FORMS[api].ids == "position" else sorted(asked) == sorted(got)
        for entry in group.entries:
            assert entry.message.index == entry.seq
            for key, part in entry.keyed():
                if part.media is not None:
                    seen.append(key)
                    assert Encoded(payload[key]).whole() == Encoded(part.media.payload).whole()  # base64 may be spelled anew
    assert len(seen) == len(set(seen))
