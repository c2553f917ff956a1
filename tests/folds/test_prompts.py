"""How summaries are asked for, and what is made of an ask without a model or with a client."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

import transom
from stage import PDF, encoded, png
from transom import FLAT, Ask, BadSetting, Policy, PriceList, canon
from transom.catalog import Limits
from transom.folds import Chunk, Item, Voice, asked
from transom.folds.prompts import INSTRUCTION
from transom.pairing import pair
from transom.plan import Fold, Size
from transom.summaries import digest, requests, summarise
from transom.wire import FORMS

Json = dict[str, Any]


def data(number: int, filler: int = 0) -> str:
    return encoded(png(20 + number, 30) + b"\0" * filler)


def picture(number: int, api: str = "anthropic", filler: int = 0) -> Json:
    if api == "openai-chat":
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data(number, filler)}"}}
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(number, filler)}}


def ask_of(
    messages: list[Json],
    *,
    api: str = "anthropic",
    card: transom.ModelCard = FLAT,
    before: str = "",
    most: float = 2_000,
    **settings: Any,
) -> Ask:
    """The ask for all of these messages as one chunk, behind an earlier summary where there is one."""
    form = FORMS[api]
    conversation = form.read({"messages": messages})
    groups, _ = pair(conversation, form)
    held = [Item(-1, Size(10, 10, 2), opens=True, fixed=False, fold=Fold(first=-1, last=-1, level=1, text=before, key="k"))]
    items = [*(held if before else []), *(Item(g.start, Size(4_000, 0, 1), g.opens, fixed=False, group=g) for g in groups)]
    chunk = Chunk(tuple(items), len(messages) - 1, -1, ends=True)
    return asked(chunk, most, "key", Voice(form, PriceList(card), Policy.folding(**settings)))


def texts(ask: Ask, number: int = 0) -> list[str]:
    parts = FORMS[ask.api].read_message(ask.prompt[number], 0).parts
    return [part.text if part.media is None else f"<{part.media.payload}>" for part in parts]


MESSAGES: list[Json] = [
    {"role": "user", "content": [{"type": "text", "text": "look"}, {**picture(0), "cache_control": {"type": "ephemeral"}}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "I will"},
            {"type": "tool_use", "id": "a", "name": "shoot", "input": {"x": 1}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "a",
                "content": [{"type": "text", "text": "seen", "cache_control": {"type": "ephemeral"}}, picture(1)],
            },
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF)}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words"}},
            {"type": "strange", "x": 1},
        ],
    },
]


def test_a_prompt_tells_who_said_what_with_pictures_in_place() -> None:
    """Calls and results are words, reasoning is left out, other media are their placeholders; nothing in it needs a pair or a
    mark.
    """
    ask = ask_of(MESSAGES, before="it began")
    found = texts(ask)
    assert found[0] == INSTRUCTION.format(most=2_000)
    assert found[1:6] == [
        "Summary of what was before: it began",
        "User: look",
        f"<{data(0)}>",
        "Assistant: I will",
        'Call of shoot: {"x":1}',
    ]
    assert found[6:8] == ["Result: seen", f"<{data(1)}>"]
    assert found[8].startswith("User: [document")
    assert found[9] == "User: plain words"
    assert found[10].startswith("User: {")
    assert "cache_control" not in canon.text(ask.prompt)
    assert (ask.level, ask.max_tokens, ask.api) == (2, 2_000, "anthropic")
    assert not transom.lint({"model": "claude-opus-4-8", "max_tokens": 9, "messages": list(ask.prompt)}, api="anthropic")


def test_pictures_of_a_prompt_have_their_own_cap() -> None:
    """CM-166: newest first, nested ones included; over it a picture is a placeholder that the summariser sees; 0 or less is
    off.
    """
    assert (Policy.folding().prompt_image_bytes, Policy.folding().summary_tokens) == (12 * 1024**2, 2_000)
    room = len(data(1)) + 10
    found = texts(ask_of(MESSAGES, prompt_image_bytes=room))
    assert f"<{data(1)}>" in found
    assert f"<{data(0)}>" not in found
    assert "User: [image 20x30" in found[2]
    for off in (0, -1, float("nan")):
        assert canon.text(ask_of(MESSAGES, prompt_image_bytes=off).prompt).count("iVBOR") == 2


def test_the_byte_cap_skips_and_does_not_stop() -> None:
    """As CM-20: an older, smaller picture stays where a newer, larger one went."""
    messages = [{"role": "user", "content": [picture(0), picture(1, filler=900)]}]
    found = texts(ask_of(messages, prompt_image_bytes=len(data(0)) + 50))
    assert f"<{data(0)}>" in found
    assert f"<{data(1, 900)}>" not in found


def test_a_prompt_has_no_more_pictures_than_the_provider_takes() -> None:
    """Beside wide ones only so many may stand; the newest stay."""
    messages = [{"role": "user", "content": [picture(n) for n in range(8)]}]
    for limits, most in ((Limits(images=5), 5), (Limits(images=5, many=3, many_side=2_000), 3), (Limits(), 8)):
        found = texts(ask_of(messages, card=replace(FLAT, limits=limits)))
        assert [f"<{data(n)}>" in found for n in range(8)] == [n >= 8 - most for n in range(8)]


def test_an_oversized_prompt_is_split_at_parts_and_inside_a_text() -> None:
    """Design section 6: the prompt is split, the message is not; all of its text is in one of the pieces, the picture once."""
    long = "".join(f"{n:05d} " for n in range(4_000))
    messages = [{"role": "user", "content": [{"type": "text", "text": long}, picture(0), {"type": "text", "text": "end"}]}]
    card = replace(FLAT, window=6_000, input_limit=6_000)
    ask = ask_of(messages, card=card, most=500)
    assert len(ask.prompt) > 2
    said = [text for number in range(len(ask.prompt)) for text in texts(ask, number)[1:]]
    assert "".join(said).replace(f"<{data(0)}>", "").replace("User: ", "") == long + "end"
    assert said.count(f"<{data(0)}>") == 1
    for number in range(len(ask.prompt)):
        priced = transom.price({"messages": [ask.prompt[number]]}, api="anthropic", card=card).tokens
        assert priced <= 5_500
    assert len(ask_of(messages).prompt) == 1  # the flat card's window is not known


def test_a_prompt_in_each_form() -> None:
    """A tool message, pictures beside the content, and pieces that have no JSON of their own."""
    shot = {"role": "tool", "tool_call_id": "a", "content": "clicked"}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    messages: list[Json] = [
        {"role": "user", "content": "go"},
        call,
        shot,
        {"role": "assistant", "content": "a", "images": [data(0)]},
    ]
    found = texts(ask_of(messages, api="openai-chat"))
    assert found[1:5] == ["User: go", "Call of f: {}", "Result: clicked", "Assistant: a"]
    assert found[5].startswith("Assistant: [image")
    generated = {"type": "generated_image", "data": data(1), "mimeType": "image/png"}
    assert f"<{data(1)}>" in texts(ask_of([{"role": "assistant", "content": [generated]}], api="blocks"))


def test_a_digest_names_tools_first_lines_figures_and_pictures() -> None:
    """Deterministic, without a model: the default where nobody has one."""
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Fix the build\nplease"}, picture(0)]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {"c": "make"}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "failed\n12 errors in 3.5 s, 99% done\nat line 12"}
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "  \n"}, {"type": "text", "text": "Fixed in v2"}]},
    ]
    said = digest(ask_of(messages, before="we began"))
    assert said == digest(ask_of(messages, before="we began"))
    before, asked, shown, call, result, answer = said.split("\n")
    assert (before, asked, call) == ("Summary of what was before: we began", "User: Fix the build", 'Call of run: {"c":"make"}')
    assert (result, answer) == ("Result: failed (12, 3.5 s, 99%)", "Assistant: Fixed in v2")
    assert shown.startswith("[image 20x30")


def test_a_digest_keeps_to_its_room_and_gives_up_old_lines_before_the_users() -> None:
    """Within three characters a token; the oldest lines go, the user's last."""
    messages: list[Json] = []
    for n in range(60):
        messages += [{"role": "user", "content": f"ask {n}"}, {"role": "assistant", "content": f"answer {n} " + "w " * 50}]
    said = digest(ask_of(messages, most=100))
    assert len(said) <= 300
    assert "ask 59" in said
    assert "answer" not in said
    assert digest(ask_of([{"role": "user", "content": "hi"}])) == "User: hi"


class Recorder:
    """A client that answers and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, list[Json]()

    def create(self, **request: Any) -> Any:
        self.asked.append(request)
        return self.answer


def openai(text: str | None) -> tuple[Recorder, Any]:
    choices = [] if text is None else [SimpleNamespace(message=SimpleNamespace(content=text))]
    made = Recorder(SimpleNamespace(choices=choices))
    return made, SimpleNamespace(chat=SimpleNamespace(completions=made))


def anthropic(*texts: str) -> tuple[Recorder, Any]:
    made = Recorder(SimpleNamespace(content=[SimpleNamespace(type="text", text=text) for text in texts]))
    return made, SimpleNamespace(messages=made)


@pytest.mark.parametrize("api", ["anthropic", "openai-chat", "blocks"])
def test_the_official_clients_are_asked_in_their_own_form(api: str) -> None:
    """Whatever the conversation's form: an Anthropic client gets Anthropic's parts, an OpenAI client OpenAI's."""
    content = [{"type": "text", "text": "look"}, picture(0, api)]
    ask = ask_of([{"role": "user", "content": content}], api=api)
    recorder, client = anthropic(" a sum", "mary ")
    assert summarise(ask, client=client, model="m", temperature=0) == "a summary"
    (request,) = recorder.asked
    assert (request["model"], request["max_tokens"], request["temperature"]) == ("m", ask.max_tokens, 0)
    assert request["messages"][0]["content"][2] == picture(0)
    recorder, client = openai("a summary")
    assert summarise(ask, client=client, model="m") == "a summary"
    (request,) = recorder.asked
    assert request["max_completion_tokens"] == ask.max_tokens
    assert request["messages"][0]["content"][2] == picture(0, "openai-chat")


def test_pictures_by_url_and_by_id() -> None:
    """HE-47: a URL goes as a URL; an id that only its own provider knows is told as a placeholder."""
    url = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    name = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    ask = ask_of([{"role": "user", "content": [url, name]}])
    shown = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    ours, theirs = requests(ask, api="anthropic", model="m"), requests(ask, api="openai-chat", model="m")
    for made, by_url in ((ours, url), (theirs, shown)):
        content = made[0]["messages"][0]["content"]
        assert content[1] == by_url
        assert content[2]["text"].startswith("[image")


def test_answers_of_several_prompts_are_joined_and_none_is_an_empty_summary() -> None:
    """A piece without an answer adds nothing."""
    card = replace(FLAT, window=2_000, input_limit=2_000)
    ask = ask_of([{"role": "user", "content": "w " * 6_000}], card=card, most=100)
    assert len(ask.prompt) > 1
    _, client = openai("part")
    assert summarise(ask, client=client, model="m") == "\n\n".join(["part"] * len(ask.prompt))
    _, silent = openai(None)
    assert transom.fulfil(ask, summarise(ask, client=silent, model="m")).text == ""


def test_what_is_no_client_is_said_to_be_none() -> None:
    """And what a client raises is the caller's to see: then there is no summary, and nothing is lost."""
    ask = ask_of([{"role": "user", "content": "x"}])
    with pytest.raises(BadSetting, match="neither"):
        summarise(ask, client=object(), model="m")
    with pytest.raises(AttributeError):
        summarise(ask, client=SimpleNamespace(chat=1), model="m")


def test_an_ask_reads_back_from_json_and_what_is_none_is_refused() -> None:
    """Jobs can carry it."""
    ask = ask_of(MESSAGES)
    assert Ask.from_dict(ask.to_dict()) == ask
    assert Fold.from_dict(transom.fulfil(ask, "t").to_dict()).text == "t"
    with pytest.raises(BadSetting, match="cannot be read"):
        Ask.from_dict({"first": 1})
    assert "iVBOR" not in repr(ask)
