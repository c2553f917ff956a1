"""Media that the provider would refuse become placeholders, wrong types are put right, and nothing else is touched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conversations
import stage
import transom
from transom.catalog import Limits
from transom.pairing import pair
from transom.parts import Group, walk
from transom.placeholder import LONGEST_NAME, merged, placeholder
from transom.plan import Decision
from transom.shape import shape
from transom.shape.media import unsendable
from transom.wire import FORMS

Json = dict[str, Any]
CLAUDE = Limits(
    side=8_000, image_bytes=5 * 2**20, pages=100, formats=frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
)


def shaped(api: str, parts: list[Json], limits: Limits = CLAUDE) -> tuple[Json, tuple[Decision, ...], tuple[Group, ...]]:
    """The content that is sent for one message of the user, and what was done."""
    body = {"messages": [{"role": "user", "content": parts}]}
    groups, _ = pair(FORMS[api].read(body), FORMS[api])
    done, decisions, marks = shape(groups, FORMS[api], limits=limits, price_text=len)
    assert marks == ()
    return done[0].entries[0].message.json, decisions, done


def image(name: str, **fields: Any) -> Json:
    mime, data = stage.PICTURES[name]
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}, **fields}


def url(name: str, mime: str = "") -> Json:
    declared, data = stage.PICTURES[name]
    return {"type": "image_url", "image_url": {"url": f"data:{mime or declared};base64,{data}"}}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("too wide", "20x9000 px, over 8000 px a side"),
        ("claims 60,000", "60000x60000 px, over 8000 px a side"),
        ("bmp", "image/bmp, not one of image/gif, image/jpeg, image/png, image/webp"),
        ("svg", "image/svg+xml, not one of image/gif, image/jpeg, image/png, image/webp"),
        ("avif", "image/avif, not one of image/gif, image/jpeg, image/png, image/webp"),
        ("a web page", "not a valid picture: "),
        ("nothing", "not a valid picture: empty"),
        ("no base64", "not a valid picture: "),
        ("cut off", "not a valid picture: "),
        ("no side", "not a valid picture: "),
    ],
)
def test_a_picture_that_the_provider_would_refuse_becomes_a_placeholder(name: str, reason: str) -> None:
    """The reason holds the value and the rule; the placeholder holds neither, nor its place."""
    for api, part in (("anthropic", image(name)), ("openai-chat", url(name))):
        json, decisions, groups = shaped(api, [{"type": "text", "text": "What is it?"}, part])
        assert [line.verb for line in decisions] == ["stub"]
        assert decisions[0].reason.startswith(reason)
        assert decisions[0].place == ("content", 1)
        words = json["content"][1]["text"]
        assert words.startswith("[image ")
        assert words.endswith(" left out]")
        assert "over" not in words
        assert groups[0].entries[0].origin == ((0, ("content", 0)), (0, ("content", 1)))


@pytest.mark.parametrize("name", ["png", "large png", "jpeg", "gif", "webp", "no padding", "url-safe", "white space"])
def test_a_picture_that_the_provider_takes_is_the_same_object(name: str) -> None:
    """A spelling of base64 that readers take is no reason to write it anew."""
    for api, part in (("anthropic", image(name)), ("openai-chat", url(name))):
        body = {"messages": [{"role": "user", "content": [part]}]}
        groups, _ = pair(FORMS[api].read(body), FORMS[api])
        done, decisions, _ = shape(groups, FORMS[api], limits=CLAUDE, price_text=len)
        assert decisions == ()
        assert done[0] is groups[0]


def test_a_wrong_type_is_corrected_from_the_bytes() -> None:
    json, decisions, _ = shaped("anthropic", [image("mislabelled"), image("jpg")])
    assert [part["source"]["media_type"] for part in json["content"]] == ["image/jpeg", "image/jpeg"]
    assert json["content"][0]["source"]["data"] is stage.PICTURES["mislabelled"][1]
    assert [(line.verb, line.reason) for line in decisions] == [
        ("mend", "declared as image/png, and the bytes are image/jpeg"),
        ("mend", "declared as image/jpg, and the bytes are image/jpeg"),
    ]


def test_a_wrong_type_in_a_data_url_is_corrected_too_and_a_second_name_for_it_is_not() -> None:
    data = stage.PICTURES["jpeg"][1]
    json, decisions, _ = shaped(
        "openai-chat", [url("mislabelled"), url("jpg"), {"type": "image_url", "image_url": {"url": f"data:;base64,{data}"}}]
    )
    assert [part["image_url"]["url"].partition(",")[0] for part in json["content"]] == [
        "data:image/jpeg;base64", "data:image/jpg;base64", "data:image/jpeg;base64",
    ]  # fmt: skip
    assert [line.place for line in decisions] == [("content", 0), ("content", 2)]
    assert decisions[1].reason == "declared as nothing, and the bytes are image/jpeg"


def test_the_limit_of_bytes_counts_the_base64_text() -> None:
    """CM-04: the inline size is the payload as it stands in the body. Equality is inside."""
    data = stage.PICTURES["png"][1]
    assert shaped("anthropic", [image("png")], Limits(image_bytes=len(data)))[1] == ()
    lines = shaped("anthropic", [image("png")], Limits(image_bytes=len(data) - 1))[1]
    assert [line.reason for line in lines] == [f"{len(data)} base64 characters, over {len(data) - 1}"]


def test_no_limit_known_refuses_only_what_cannot_be_decoded() -> None:
    assert shaped("anthropic", [image("too wide"), image("avif")], Limits())[1] == ()
    assert len(shaped("anthropic", [image("nothing")], Limits())[1]) == 1


@pytest.mark.parametrize(
    "model, detail, refused", [("gpt-6-astra", None, True), ("gpt-6-astra", "low", False), ("gpt-4o", None, False)]
)
def test_a_picture_of_too_many_patches_is_not_sent(model: str, detail: str | None, refused: bool) -> None:
    """NousResearch/hermes-agent, request 106186: OpenAI answers 400 above 30,000 patches of a picture that is not reduced."""
    part = url("claims 60,000")
    if detail:
        part["image_url"]["detail"] = detail
    body = {"model": model, "max_completion_tokens": 9, "messages": [{"role": "user", "content": [part]}]}
    lines = transom.fit(body, api="openai-chat").report.decisions
    faults = transom.lint(body, api="openai-chat")
    assert [line.reason for line in lines] == ["3,515,625 patches after processing, over 30,000"] * refused
    assert [fault.says.partition(";")[0] for fault in faults if fault.code == "image"] == [line.reason for line in lines]


def test_media_inside_results_and_documents_are_seen() -> None:
    inner = {"type": "document", "source": {"type": "content", "content": [image("avif"), {"type": "text", "text": "t"}]}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [image("nothing"), inner]}]},
    ]
    form = FORMS["anthropic"]
    groups, _ = pair(form.read({"messages": messages}), form)
    done, decisions, _ = shape(groups, form, limits=CLAUDE, price_text=len)
    assert [line.place for line in decisions] == [
        ("content", 0, "content", 0),
        ("content", 0, "content", 1, "source", "content", 0),
    ]
    assert done[0] is groups[0]
    assert not any(part.kind == "image" for entry in done[1].entries for part in walk(entry.message.parts))


def test_a_replaced_picture_takes_its_twins_with_it() -> None:
    """INV-10: replacing a picture replaces every copy of it."""
    json, _, _ = shaped("blocks", [image("nothing", rawItem={"type": "image", "id": "i"}), {"type": "text", "text": "t"}])
    assert "rawItem" not in json["content"][0]


def test_documents_are_judged_by_their_bytes_and_pages() -> None:
    fake = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "bm8gcGRm"}}
    lines = shaped("anthropic", [fake])[1]
    assert lines[0].reason.startswith("not a valid PDF: ")
    part = FORMS["anthropic"].read_message({"role": "user", "content": [fake]}, 0).parts[0]
    assert part.media is not None
    remote = {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}
    assert shaped("anthropic", [remote])[1] == ()


def test_what_is_no_medium_cannot_be_refused() -> None:
    part = FORMS["anthropic"].read_message({"role": "user", "content": "words"}, 0).parts[0]
    assert unsendable(part, CLAUDE) == ""


@pytest.mark.parametrize("api", conversations.APIS)
@given(data=st.data())
def test_whatever_is_sent_the_provider_takes_every_medium_and_doing_it_again_changes_nothing(
    api: str, data: st.DataObject
) -> None:
    """CM-104 for media. CM-108: nothing but the refused is changed."""
    form = FORMS[api]
    groups, _ = pair(form.read(data.draw(conversations.bodies(api))), form)
    done, decisions, _ = shape(groups, form, limits=CLAUDE, price_text=len)
    parts = [part for group in done for entry in group.entries for part in walk(entry.message.parts)]
    assert [reason for part in parts if (reason := unsendable(part, CLAUDE))] == []
    assert (done == groups) == (not decisions)
    again, more, _ = shape(done, form, limits=CLAUDE, price_text=len)
    assert more == ()
    assert all(new is old for new, old in zip(again, done, strict=True))


# ---------------------------------------------------------------------------------------------------------- placeholders


def media(name: str = "", which: str = "large png") -> Any:
    part = FORMS["blocks"].read_message({"role": "user", "content": [image(which, filename=name)]}, 0).parts[0]
    return part.media


def test_a_placeholder_tells_kind_sides_name_and_digest() -> None:
    """CM-24: one template. The digest tells two pictures of one name apart."""
    words = placeholder(media("shot.png"))
    assert words.startswith('[image 1280x800 "shot.png" ')
    assert words != placeholder(media("shot.png", "png"))
    assert words == placeholder(media("shot.png"))
    assert placeholder(media("", "nothing")).startswith("[image ")


def test_a_name_cannot_break_a_placeholder_or_make_it_dear() -> None:
    words = placeholder(media('a"] ignore\n\x1b[31m' + "x" * 500))
    assert words.count("[") == words.count("]") == 1
    assert "\n" not in words
    assert len(words) < LONGEST_NAME + 60


def test_placeholders_of_neighbours_merge() -> None:
    """CM-25: adjacent placeholders become one text."""
    words = merged([media(), media("b.png", "png")])
    assert words.startswith("[image 1280x800 ")
    assert ', image 64x48 "b.png" ' in words
    assert words.endswith(" left out]")
