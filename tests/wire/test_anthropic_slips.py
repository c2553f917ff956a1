"""What Anthropic refuses in one message, and what goes out instead."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

import transom
from bodies import png

Json = dict[str, Any]


def claude(*content: Json, model: str = "claude-sonnet-4-5", **more: Any) -> Json:
    answer = {"role": "assistant", "content": list(content)}
    talk = [{"role": "user", "content": "go"}, answer, {"role": "user", "content": "on"}]
    return {"model": model, "max_tokens": 50, "messages": talk, **more}


def mended(body: Json) -> list[Json]:
    """The answer's parts as they go out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api="anthropic", strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api="anthropic") if one.refused] == []
    assert transom.fit(made, api="anthropic").request is made
    content: list[Json] = made["messages"][1]["content"]
    return content


def answers(body: Json) -> dict[str, str]:
    return {one.code: one.answer for one in transom.lint(body, api="anthropic") if one.refused}


SAID = {"type": "text", "text": "b"}


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ({"type": "thinking", "thinking": "x"}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "thinking", "thinking": "x", "signature": None}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "thinking", "thinking": "x", "signature": ""}, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ({"type": "redacted_thinking"}, "messages.1.content.0.redacted_thinking.data: Field required"),
    ],
)
def test_thinking_that_nobody_signed_is_left_out(thought: Json, answer: str) -> None:
    body = claude(thought, SAID)
    assert answers(body) == {"unsigned": answer}
    assert mended(body) == [SAID]


def test_a_model_whose_provider_signs_nothing_takes_it() -> None:
    body = claude({"type": "thinking", "thinking": "x"}, SAID, model="deepseek-chat")
    assert transom.fit(body, api="anthropic", budget=10_000).request is body


def test_signed_thinking_without_its_text_says_an_empty_one() -> None:
    body = claude({"type": "thinking", "signature": "c2ln"}, SAID)
    assert answers(body) == {"thinking": "messages.1.content.0.thinking.thinking: Field required"}
    assert mended(body) == [{"type": "thinking", "signature": "c2ln", "thinking": ""}, SAID]


SIGNED = {"type": "thinking", "thinking": "x", "signature": "c2ln"}
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def asked(*content: Json, said: tuple[Json, ...] = (SAID,), **more: Any) -> Json:
    """A body whose first message holds these parts."""
    talk = [user(*content), {"role": "assistant", "content": list(said)}, user({"type": "text", "text": "on"})]
    return {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": talk, **more}


def fitted(body: Json) -> Json:
    """What goes out: legal, stable, made of a body that stays as it was."""
    before = copy.deepcopy(body)
    made = transom.fit(body, api="anthropic", strict=True).request
    assert body == before
    assert [str(one) for one in transom.lint(made, api="anthropic") if one.refused] == []
    assert transom.fit(made, api="anthropic").request is made
    return made


def first(body: Json) -> list[Json]:
    """The parts of the first message as they go out."""
    content: list[Json] = fitted(body)["messages"][0]["content"]
    return content


def taken(body: Json) -> None:
    """The body is legal, and goes out as it is."""
    assert answers(body) == {}
    assert transom.fit(body, api="anthropic", budget=100_000).request is body


@pytest.mark.parametrize("thought", [SIGNED, {"type": "redacted_thinking", "data": "x"}])
@pytest.mark.parametrize("mark", [MARK, None])
def test_thinking_bears_no_cache_mark(thought: Json, mark: Json | None) -> None:
    body = claude({**thought, "cache_control": mark}, SAID)
    kind = thought["type"]
    assert answers(body) == {"thinking-mark": f"messages.1.content.0.{kind}.cache_control: Extra inputs are not permitted"}
    assert mended(body) == [thought, SAID]
    taken(claude(thought, {**SAID, "cache_control": MARK}))


@pytest.mark.parametrize(
    ("part", "left"),
    [
        ({"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"index": 1}),
        ({"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"text": ""}),
        ({"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"partial_json": "{}"}),
        (SIGNED, {"index": 0}),
        (SAID, {"index": 0}),
    ],
)
def test_what_streaming_left_on_a_part_is_left_out(part: Json, left: Json) -> None:
    [key] = left
    result = {"type": "tool_result", "tool_use_id": "a", "content": "seen"}
    behind = [result] if part["type"] == "tool_use" else []
    rest = [] if behind else [SAID]
    body = claude({**part, **left}, *rest)
    body["messages"][2]["content"] = [*behind, {"type": "text", "text": "on"}]
    assert answers(body) == {"leftover": f"messages.1.content.0.{part['type']}.{key}: Extra inputs are not permitted"}
    assert mended(body) == [part, *rest]
    body["messages"][1]["content"] = [{**part, "unheard_of": 1}, *rest]
    taken(body)


def test_an_empty_text_with_a_mark_is_refused_in_words_of_its_own() -> None:
    body = asked({"type": "text", "text": "go"}, {"type": "text", "text": "", "cache_control": MARK})
    words = "messages.0.content.1.text: cache_control cannot be set for empty text blocks"
    assert answers(body) == {"empty": words}
    assert first(body) == [{"type": "text", "text": "go", "cache_control": MARK}]
    assert answers(asked(SAID, {"type": "text", "text": ""})) == {"empty": "messages: text content blocks must be non-empty"}


# ------------------------------------------------------------------------------------------------------ the order of marks


LATE = (
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the "
    "following order: `tools`, `system`, `messages`."
)
TOOL = {"name": "look", "input_schema": {"type": "object"}}


def text(words: str, mark: Json | None = None) -> Json:
    return {"type": "text", "text": words, **({"cache_control": mark} if mark else {})}


@pytest.mark.parametrize(
    ("body", "at", "made"),
    [
        (
            asked(text("go", MARK), said=(text("b", HOUR),)),
            "messages.1.content.0",
            asked(text("go", MARK), said=(text("b", MARK),)),
        ),
        (
            asked(text("go", HOUR), system=[text("s", {**HOUR, "ttl": "5m"})]),
            "messages.0.content.0",
            asked(text("go", MARK), system=[text("s", {**HOUR, "ttl": "5m"})]),
        ),
        (
            asked(text("go"), tools=[{**TOOL, "cache_control": MARK}], system=[text("s", HOUR)]),
            "system.0",
            asked(text("go"), tools=[{**TOOL, "cache_control": MARK}], system=[text("s", MARK)]),
        ),
    ],
)
def test_a_mark_of_an_hour_does_not_stand_behind_a_shorter_one(body: Json, at: str, made: Json) -> None:
    assert answers(body) == {"ttl-order": f"{at}.cache_control.ttl: {LATE}"}
    assert fitted(body) == made
    lines = transom.fit(body, api="anthropic", strict=True).report.decisions
    assert [line.verb for line in lines] == ["mark"]


def test_marks_in_the_order_that_they_hold_stay() -> None:
    tools = [{**TOOL, "cache_control": HOUR}]
    taken(asked(text("go", HOUR), said=(text("b", MARK),), tools=tools, system=[text("s", HOUR)]))


def test_a_mark_inside_a_result_is_put_in_order_and_one_that_a_blank_text_gave_up() -> None:
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    body = asked(text("go", MARK), said=(call,))
    result = {"type": "tool_result", "tool_use_id": "a", "content": [text("seen", HOUR)]}
    body["messages"][2]["content"] = [result, text("on"), text(" ", HOUR)]
    made = fitted(body)["messages"][2]["content"]
    assert made == [{**result, "content": [text("seen", MARK)]}, text("on", MARK)]


def test_marks_that_go_since_there_are_too_many_do_not_shorten_others() -> None:
    body = asked(text("a", MARK), text("b", HOUR), text("c", HOUR), text("d", HOUR), text("e", HOUR))
    assert first(body) == [text("a"), text("b", HOUR), text("c", HOUR), text("d", HOUR), text("e", HOUR)]


# ---------------------------------------------------------------------------------------------------- pictures and documents


PNG = base64.b64encode(png()).decode()
ODD = next(code for code in (base64.b64encode(png(shade=n)).decode() for n in range(256)) if "/" in code and "=" in code)
PDF = base64.b64encode(
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
).decode()
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def source(data: str, mime: str | None = "image/png") -> Json:
    return {"type": "base64", **({"media_type": mime} if mime else {}), "data": data}


def image(data: str = PNG, mime: str | None = "image/png") -> Json:
    return {"type": "image", "source": source(data, mime)}


def document(data: str, mime: str | None, **more: Any) -> Json:
    return {"type": "document", "source": source(data, mime), **more}


def encoded(words: str, encoding: str = "utf-8") -> str:
    return base64.b64encode(words.encode(encoding)).decode()


@pytest.mark.parametrize(
    ("data", "mime", "goes"),
    [
        (f"data:image/png;base64,{PNG}", "image/png", image()),
        (f"data:image/png;base64,{PNG}", None, image()),
        (f"data:image/png;base64,{PNG}", "image/jpeg", image()),
        ("\n".join(PNG[n : n + 76] for n in range(0, len(PNG), 76)), "image/png", image()),
        (f" {PNG}\r\n", "image/png", image()),
        (ODD.replace("+", "-").replace("/", "_"), "image/png", image(ODD)),
        (ODD.rstrip("="), "image/png", image(ODD)),
    ],
)
def test_base64_goes_out_alone_and_in_its_plain_alphabet(data: str, mime: str | None, goes: Json) -> None:
    body = asked(image(data, mime))
    assert answers(body)["base64"] == "messages.0.content.0.image.source.base64: invalid base64 data"
    assert first(body) == [goes]
    result = {"type": "tool_result", "tool_use_id": "a", "content": [image(data, mime)]}
    talk = asked(SAID, said=({"type": "tool_use", "id": "a", "name": "look", "input": {}},))
    talk["messages"][2]["content"] = [result]
    place = "messages.2.content.0.tool_result.content.0"
    assert answers(talk)["base64"] == f"{place}.image.source.base64: invalid base64 data"
    assert fitted(talk)["messages"][2]["content"] == [{**result, "content": [goes]}]


def test_a_picture_under_another_kind_of_source_moves_to_its_own() -> None:
    url = {"type": "url", "url": "https://example.com/a.png"}
    assert first(asked({"type": "image", "source": {"type": "url", "url": f"data:image/png;base64,{PNG}"}})) == [image()]
    assert first(asked({"type": "image", "source": source(url["url"])})) == [{"type": "image", "source": url}]
    body = asked(image(PNG, None))
    assert answers(body) == {"document-type": "messages.0.content.0.image.source.base64.media_type: Field required"}
    assert first(body) == [image()]


@pytest.mark.parametrize(
    "part",
    [
        image(),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        {"type": "document", "source": source(PDF, "application/pdf")},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "so"}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "so"}, image()]}},
        {"type": "image", "source": {"type": "unheard_of", "data": f" {PNG}"}},
        {"type": "hologram", "source": {"type": "base64", "data": "a-b"}},
        {"type": "audio", "source": {"type": "base64", "media_type": "audio/wav", "data": PNG}},
    ],
)
def test_what_the_provider_takes_or_nobody_knows_stays(part: Json) -> None:
    taken(asked(part))


def test_what_is_no_base64_is_left_out_as_ever() -> None:
    [part] = first(asked(image("data:image/png;base64,@@ no @@")))
    assert part["text"].startswith("[image ")
    [part] = first(asked({"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "data:,<svg/>"}}))
    assert part["text"].startswith("[image ")
    assert first(asked(image(PNG[:-3])))[0]["type"] == "text"


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (image(), "[image 64x48 "),
        ({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}, "[image "),
        (document(PDF, "application/pdf", title="a.pdf"), 'a.pdf\n[document 9x9 "a.pdf" '),
        (document(encoded("so it is"), "text/plain", title="T"), "T\nso it is"),
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "so"}}, "so"),
        ({"type": "document", "source": {"type": "content", "content": [text("in"), image()]}}, "in\n[image 64x48 "),
    ],
)
def test_pictures_and_documents_in_an_answer_are_told_as_text(part: Json, says: str) -> None:
    body = claude(SAID, {**part, "cache_control": MARK})
    assert answers(body) == {"assistant-media": f"'{part['type']}' blocks are not permitted within assistant turns"}
    kept, told = mended(body)
    assert kept == SAID
    assert told["text"].startswith(says)
    assert told["cache_control"] == MARK


@pytest.mark.parametrize(
    ("part", "goes"),
    [
        (document(encoded("# so"), "text/markdown", title="T"), {**text("# so"), "title": "T"}),
        (document(encoded("a;ä", "cp1252"), "text/csv"), text("a;ä")),
        (document(encoded('{"a": 1}'), "application/json"), text('{"a": 1}')),
        (document(f"data:text/plain;base64,{encoded('so')}", "text/plain"), text("so")),
    ],
)
def test_a_text_that_is_sent_as_a_file_goes_out_as_text(part: Json, goes: Json) -> None:
    body = asked(part)
    words = "messages.0.content.0.document.source.base64.media_type: Input should be 'application/pdf'"
    assert answers(body) == {"document-type": words}
    plain = {"type": "text", "media_type": "text/plain", "data": goes.pop("text")}
    assert first(body) == [{**goes, "type": "document", "source": plain}]


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (document("UEsDBBQAAAAIAAAAIQA=", DOCX, title="r.docx", cache_control=MARK), 'r.docx\n[document "r.docx" '),
        (document(encoded(" "), "application/json"), "[document "),
        (document("QUJDR", "text/plain"), "[document "),
        (document(encoded("ä", "cp1252"), "application/json"), "[document "),
    ],
)
def test_a_file_that_is_neither_says_what_it_was(part: Json, says: str) -> None:
    [told] = first(asked(part))
    assert told["text"].startswith(says)
    assert told.get("cache_control") == part.get("cache_control")


def test_a_document_is_declared_as_what_it_is() -> None:
    assert first(asked(document(PDF, "application/octet-stream"))) == [document(PDF, "application/pdf")]
    body = asked(document(PDF, None))
    assert answers(body) == {"document-type": "messages.0.content.0.document.source.base64.media_type: Field required"}
    assert first(body) == [document(PDF, "application/pdf")]
    assert first(asked(document(f"data:application/pdf;base64,{PDF}", None))) == [document(PDF, "application/pdf")]
    assert first(asked(document(PNG, "image/png", title="a"))) == [image()]
    body = asked({"type": "document", "source": {"type": "text", "media_type": "text/markdown", "data": "so"}})
    assert answers(body) == {
        "document-type": "messages.0.content.0.document.source.text.media_type: Input should be 'text/plain'"
    }
    assert first(body) == [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "so"}}]


# ------------------------------------------------------------------------------------------------------ parts of other forms


SHOT = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
RESOURCE = "resource"


def embedded(**more: Any) -> Json:
    return {"type": RESOURCE, "resource": {"uri": "file:///a", **more}}


@pytest.mark.parametrize(
    ("part", "goes"),
    [
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}, image()),
        ({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, SHOT),
        ({"type": "image_url", "image_url": "https://example.com/a.png", "cache_control": MARK}, {**SHOT, "cache_control": MARK}),
        ({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}, image()),
        ({"type": "input_text", "text": "so"}, text("so")),
        ({"type": "output_text", "text": "so", "annotations": []}, text("so")),
        (embedded(mimeType="text/plain", text="so"), text("so")),
        (embedded(mimeType="image/png", blob=PNG), image()),
        (embedded(mimeType="application/pdf", blob=PDF), document(PDF, "application/pdf")),
        (embedded(mimeType="application/json", blob=encoded("{}")), text("{}")),
        (embedded(mimeType="application/zip", blob="AAAA"), text("[resource file:///a left out]")),
        (embedded(), text("[resource file:///a left out]")),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, text("file:///a\na")),
    ],
)
def test_a_part_of_another_form_goes_out_in_this_one_s_shape(part: Json, goes: Json) -> None:
    body = asked(text("go"), part)
    kind = part["type"]
    words = f"messages.0.content.1: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    assert answers(body) == {"part-type": words}
    assert first(body) == [text("go"), goes]


def test_a_part_that_this_form_has_no_shape_for_says_what_it_was() -> None:
    sound = {"type": "audio", "data": "UklGRiQAAABXQVZF", "mimeType": "audio/wav"}
    stored = {"type": "input_image", "file_id": "file-1"}
    assert [part["text"][:7] for part in first(asked(sound, stored))] == ["[audio ", "[image "]
    told = mended(claude(SAID, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}))[1]["text"]
    assert told.startswith("[image ")


def test_an_mcp_picture_stands_in_a_source() -> None:
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    body = asked(text("go"), said=(call,))
    result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    body["messages"][2]["content"] = [result]
    place = "messages.2.content.0.tool_result.content.0"
    assert answers(body) == {"part-type": f"{place}.image.source: Field required"}
    assert fitted(body)["messages"][2]["content"] == [{**result, "content": [image()]}]


# -------------------------------------------------------------------------------------- server calls, and answers to go on with


@pytest.mark.parametrize(
    ("given", "goes"), [("toolu_1", "srvtoolu_toolu_1"), ("srvtoolu_a-b", "srvtoolu_a_b_"), ("call-1", "srvtoolu_call_1_")]
)
def test_ids_of_server_calls_are_spelled_as_the_provider_does(given: str, goes: str) -> None:
    search = {"type": "server_tool_use", "id": given, "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": given, "content": []}
    caller = {"type": "code_execution_20250825", "tool_id": given}
    call = {"type": "tool_use", "id": "a-1", "name": "look", "input": {}, "caller": caller}
    body = claude(search, found, call)
    body["messages"][2]["content"] = [{"type": "tool_result", "tool_use_id": "a-1", "content": "seen"}]
    said = [one.answer for one in transom.lint(body, api="anthropic") if one.code == "server-id"]
    assert said[0] == "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
    assert len(said) == 3
    one, two, three = mended(body)
    assert one["id"] == two["tool_use_id"] == three["caller"]["tool_id"]
    assert one["id"].startswith(goes)
    assert three["id"] == "a-1"


def test_ids_of_mcp_calls_and_of_other_vendors_stay() -> None:
    call = {"type": "mcp_tool_use", "id": "mcptoolu-1", "name": "look", "server_name": "s", "input": {}}
    taken(claude(call, {"type": "mcp_tool_result", "tool_use_id": "mcptoolu-1", "content": [text("seen")]}, SAID))
    search = {"type": "server_tool_use", "id": "call_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "call_1", "content": []}
    taken(claude(search, found, SAID, model="glm-4.6"))
    own = {"id": "srvtoolu_1"}, {"tool_use_id": "srvtoolu_1"}
    taken(claude({**search, **own[0]}, {**found, **own[1]}, SAID))


UNTHINKING = (
    "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, "
    "enable `thinking` in your request."
)


def prefill(*content: Json, model: str = "claude-sonnet-4-5", **more: Any) -> Json:
    talk = [user(text("go")), *({"role": "assistant", "content": [one]} for one in content[:-2])]
    return {
        "model": model,
        "max_tokens": 50,
        "messages": [*talk, {"role": "assistant", "content": list(content[-2:])}],
        **more,
    }


@pytest.mark.parametrize("more", [{}, {"thinking": {"type": "disabled"}}])
def test_an_answer_to_go_on_with_holds_no_thinking_where_none_is_asked_for(more: Json) -> None:
    body = prefill(SIGNED, SAID, **more)
    assert answers(body) == {"final-thinking": f"messages.1.content.0: {UNTHINKING}"}
    assert fitted(body)["messages"][-1]["content"] == [SAID]
    longer = prefill(SIGNED, SAID, SAID, **more)
    assert len(fitted(longer)["messages"]) == 3
    assert "thinking'" not in str(fitted(longer)["messages"])
    taken({**body, "messages": [*body["messages"], user(text("on"))]})


def test_it_does_where_some_is_asked_for_or_the_vendor_is_another() -> None:
    asks: Json = {"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 2_048}
    taken(prefill(SIGNED, SAID, **asks))
    taken(prefill(SIGNED, SAID, thinking={"type": "adaptive"}))
    taken(prefill(SIGNED, SAID, model="deepseek-chat"))
