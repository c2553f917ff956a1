"""Hypothesis strategies for conversations as hostile as stored ones get, in every form. Shared by all property tests.

`bodies(api)` makes request bodies that read without an error and break the provider's rules in every way that the oracle names;
`legal_bodies(api)` makes bodies that break none. A conversation is a list of scenes; a scene is a few messages that show one
habit of real agents or one fault of real stores. Nothing here is copied from a real conversation.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hypothesis import strategies as st

from rewritten import MADE_FROM_ANTHROPIC, items_of_its_own, rewritten

Json: TypeAlias = dict[str, Any]
APIS = ("anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "blocks")
"""The forms that there are scenes for."""
Scene: TypeAlias = Callable[["Stage"], None]


def png(width: int, height: int) -> bytes:
    """A PNG with these sides in its header; its pixels are those of one line."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


GIF = b"GIF89a" + struct.pack("<HH", 40, 30) + b"\0\0\0;"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\0\x0b\x08" + struct.pack(">HH", 60, 80) + b"\1\1\x11\0\xff\xd9"
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\x0e\0\0\0\x2f" + struct.pack("<I", 119 | 79 << 14) + b"\0" * 9
BMP = b"BM" + struct.pack("<IHHIIiiHH", 58, 0, 0, 54, 40, 24, 16, 1, 24) + b"\0" * 28
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>'
AVIF = b"\0\0\0\x20ftypavif\0\0\0\0avifmif1miafMA1B" + b"\0" * 40
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)
WAV = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"

PICTURES: dict[str, tuple[str, str]] = {
    "png": ("image/png", encoded(png(64, 48))),
    "large png": ("image/png", encoded(png(1280, 800))),
    "wide png": ("image/png", encoded(png(2400, 300))),
    "jpeg": ("image/jpeg", encoded(JPEG)),
    "gif": ("image/gif", encoded(GIF)),
    "webp": ("image/webp", encoded(WEBP)),
    "too wide": ("image/png", encoded(png(20, 9_000))),
    "claims 60,000": ("image/png", encoded(png(60_000, 60_000))),
    "no side": ("image/png", encoded(png(0, 40))),
    "mislabelled": ("image/png", encoded(JPEG)),
    "jpg": ("image/jpg", encoded(JPEG)),
    "bmp": ("image/bmp", encoded(BMP)),
    "svg": ("image/svg+xml", encoded(SVG)),
    "avif": ("image/avif", encoded(AVIF)),
    "a web page": ("image/png", encoded(b"<!DOCTYPE html><html>not here</html>")),
    "nothing": ("image/png", ""),
    "no base64": ("image/png", "@@@ no base64 @@@"),
    "cut off": ("image/png", encoded(png(64, 48)[:20])),
    "no padding": ("image/png", encoded(png(64, 49)).rstrip("=")),
    "url-safe": ("image/jpeg", base64.urlsafe_b64encode(JPEG).decode()),
    "white space": ("image/gif", encoded(GIF)[:8] + "\r\n " + encoded(GIF)[8:]),
}
"""Pictures as bodies carry them: declared type and base64."""
HOSTILE: tuple[Any, ...] = (0, -1, 2**53, -(2**63), 2**64 - 1, 1e308, -0.0, 5e-324, "NaN", "1600", None, True, [], {"tokens": -1})
"""Numbers, and what stands where numbers should."""
TEXTS = (
    "Where is the key?",
    "Only the first ten.",
    "数える 三つ",
    "ok",
    "  indented",
    "🙂 done",
    "[image left out]",
    "{}",
    "a\0b",
)
BROKEN = ("[interrupted]", "Tool call was cancelled by the user", "Error: command timed out", "(no output)")
BLANKS = ("", " ", "\n\t", "\u3000")
ARGUMENTS = ('{"n": 1', "not json", "[1, 2]", "   ", "\x00", '{"a": NaN}', "9" * 5_000)


@dataclass(slots=True)
class Stage:
    """Where scenes put their messages. `words` numbers what is said, so that each text can be told from all others."""

    api: str
    draw: Callable[[st.SearchStrategy[Any]], Any]
    messages: list[Json] = field(default_factory=list)
    count: int = 0
    late: list[Json] = field(default_factory=list)
    thinking: bool = False

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def choose(self, *choices: Json) -> Json:
        chosen: Json = self.pick(*choices)
        return chosen

    def number(self, least: int, most: int) -> int:
        return int(self.draw(st.integers(least, most)))

    def words(self, mark: str) -> str:
        self.count += 1
        return f"{mark}{self.count:03d} {TEXTS[self.count % len(TEXTS)]}"

    def text(self, mark: str) -> Json:
        return {"type": "text", "text": self.words(mark)}

    def user(self, *parts: Json) -> None:
        whole = len(parts) == 1 and parts[0].keys() == {"type", "text"} and self.count % 2
        self.messages.append({"role": "user", "content": parts[0]["text"] if whole else list(parts)})

    # ---- the forms differ in how they write these

    def picture(self) -> Json:
        mime, data = PICTURES[self.pick(*PICTURES)]
        if self.api == "openai-chat":
            url = self.pick(
                f"data:{mime};base64,{data}",
                f"data:{mime};charset=utf-8;base64,{data}",
                f"DATA:{mime.upper()};BASE64,{data}",
                f"data:;base64,{data}",
                "https://example.com/a.png",
            )
            return {"type": "image_url", "image_url": {"url": url, "detail": self.pick("low", "high", "auto")}}
        sources: tuple[Json, ...] = (
            {"type": "base64", "media_type": mime, "data": data},
            {"type": "base64", "media_type": mime, "data": data},
            {"type": "url", "url": "https://example.com/a.png"},
            {"type": "file", "file_id": "file_011"},
        )
        made: Json = {"type": "image", "source": self.pick(*sources)}
        if self.api == "blocks":
            made = self.pick(
                made,
                {"type": "generated_image", "mimeType": mime, "data": data, "filename": "a.png"},
                {"type": "image", "data": data, "mimeType": mime},
                {"type": "hologram", "layers": [{"blob": data}]},
            )
        if self.count % 3 == 0:
            made["tokenEstimate"] = self.pick(*HOSTILE)
        return made

    def file(self) -> Json:
        if self.api == "openai-chat":
            return self.choose(
                {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{encoded(PDF)}"}},
                {"type": "input_audio", "input_audio": {"format": "wav", "data": encoded(WAV)}},
                {"type": "file", "file": {"file_id": "file-1"}},
            )
        return self.choose(
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF)}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain"}, "title": "notes"},
            {"type": "document", "source": {"type": "content", "content": [self.text("D"), self.picture()]}},
            {"type": "search_result", "source": "s", "title": "t", "content": [self.text("D")]},
        )

    def call(self, name: str, given: Any = None) -> Json:
        self.count += 1
        given = {"n": self.count, "hostile": HOSTILE[self.count % len(HOSTILE)]} if given is None else given
        if self.api == "openai-chat":
            return {"id": name, "type": "function", "function": {"name": "look", "arguments": json.dumps(given)}}
        return {"type": "tool_use", "id": name, "name": "look", "input": given}

    def result(self, name: str, *, broken: bool = False) -> Json:
        words = self.pick(*BROKEN) if broken else self.words("R")
        if self.api == "openai-chat":
            content: Any = self.pick(words, words, [{"type": "text", "text": words}])
            return {"role": "tool", "tool_call_id": name, "content": content}
        made: Json = {"type": "tool_result", "tool_use_id": name, "content": words}
        if broken:
            return {**made, "is_error": self.pick(True, False)}
        match self.number(0, 5):
            case 0:
                made["content"] = [{"type": "text", "text": words}, self.picture()]
            case 1:
                made["content"] = [{"type": "text", "text": words}, self.file()]
            case 2:
                made["is_error"] = True
        if self.api == "blocks":
            made[self.pick("rawItem", "structuredContent")] = {"type": "function_call_output", "id": name, "output": words}
        return made

    def ask(self, *calls: Json, text: str = "") -> None:
        """A message of the assistant that calls."""
        if self.api == "openai-chat":
            self.messages.append({"role": "assistant", "content": text or None, "tool_calls": list(calls)})
            return
        parts = [{"type": "text", "text": text}] if text else []
        if self.thinking:
            parts.insert(0, thought())
        self.messages.append({"role": "assistant", "content": [*parts, *calls]})

    def answer(self, *results: Json) -> None:
        """Results where the form has them."""
        if not results:
            return
        if self.api == "openai-chat":
            self.messages.extend(results)
        else:
            self.messages.append({"role": "user", "content": list(results)})

    def say(self, *parts: Json) -> None:
        content: Any = [part for part in parts if self.api != "openai-chat" or part["type"] == "text"]
        if self.api == "openai-chat" and len(content) == 1:
            content = content[0]["text"]
        self.messages.append({"role": "assistant", "content": content})

    def ids(self, many: int) -> list[str]:
        self.count += 1
        return [f"call_{self.count}_{letter}" for letter in "abcdefgh"[:many]]


def thought() -> Json:
    return {"type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmVk"}


# ------------------------------------------------------------------------------------------- scenes that break no rule


def asks(stage: Stage) -> None:
    stage.user(stage.text("U"))


def shows(stage: Stage) -> None:
    stage.user(stage.text("U"), stage.picture(), *([stage.picture()] if stage.count % 2 else []), stage.text("U"))


def files(stage: Stage) -> None:
    stage.user(stage.file(), stage.text("U"))


def says(stage: Stage) -> None:
    stage.user(stage.text("U"))
    stage.say(stage.text("A"))


def calls(stage: Stage) -> None:
    names = stage.ids(stage.number(1, 4))
    stage.user(stage.text("U"))
    stage.ask(*map(stage.call, names), text=stage.words("A") if stage.count % 2 else "")
    stage.answer(*map(stage.result, stage.pick(names, names[::-1])))
    stage.say(stage.text("A"))


def calls_in_a_loop(stage: Stage) -> None:
    stage.user(stage.text("U"))
    for _ in range(stage.number(1, 3)):
        names = stage.ids(stage.number(1, 2))
        stage.ask(*map(stage.call, names))
        stage.answer(*map(stage.result, names))


def says_in_pieces(stage: Stage) -> None:
    """Several messages of one role in a row."""
    stage.user(stage.text("U"))
    stage.user(stage.text("U"))
    stage.say(stage.text("A"))
    stage.say(stage.text("A"))


def thinks(stage: Stage) -> None:
    names = stage.ids(1)
    stage.user(stage.text("U"))
    if stage.api == "openai-chat":
        stage.messages.append({"role": "assistant", "reasoning_content": "Hm.", "content": stage.words("A")})
        return
    stage.messages.append({"role": "assistant", "content": [thought(), stage.text("A"), *map(stage.call, names)]})
    stage.answer(*map(stage.result, names))


def served(stage: Stage) -> None:
    """A tool that the provider runs, with its result in the same turn."""
    stage.user(stage.text("U"))
    name = f"srvtoolu_{stage.count}"
    stage.say({"type": "text", "text": stage.words("A")}, *serving(name), stage.text("A"))


def serving(name: str) -> tuple[Json, Json]:
    call = {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "q"}}
    found = [{"type": "web_search_result", "title": "t", "url": "https://example.com", "encrypted_content": "eA=="}]
    return call, {"type": "web_search_tool_result", "tool_use_id": name, "content": found}


def instructs(stage: Stage) -> None:
    """A system message in the middle."""
    asks(stage)
    if stage.api != "anthropic":
        stage.messages.append({"role": stage.pick("system", "developer"), "content": stage.words("S")})
        asks(stage)


LEGAL: tuple[Scene, ...] = (asks, shows, files, says, calls, calls_in_a_loop, says_in_pieces, thinks, served, instructs)

# --------------------------------------------------------------------------------------------- scenes that break a rule


def lost_result(stage: Stage) -> None:
    names = stage.ids(stage.number(1, 3))
    stage.ask(*map(stage.call, names))
    stage.answer(*map(stage.result, names[1:]))
    stage.user(stage.text("U"))


def lost_call(stage: Stage) -> None:
    stage.answer(*map(stage.result, stage.ids(stage.number(1, 2))))
    stage.user(stage.text("U"))


def late_result(stage: Stage) -> None:
    """The result arrives some turns later, or never."""
    names = stage.ids(stage.number(1, 3))
    stage.ask(*map(stage.call, names))
    stage.answer(*map(stage.result, names[1:]))
    stage.say(stage.text("A"))
    stage.late.append(stage.result(names[0]))


def late_arrival(stage: Stage) -> None:
    late_result(stage)
    waiting, stage.late[:] = list(stage.late), []
    if stage.number(0, 1):
        stage.user(stage.text("U"))
    stage.answer(*waiting)


def twice(stage: Stage) -> None:
    names = stage.ids(stage.number(1, 2))
    stage.ask(*map(stage.call, names))
    first, second = stage.pick((True, False), (False, True), (True, True), (False, False))
    stage.answer(stage.result(names[0], broken=first), *map(stage.result, names[1:]))
    stage.answer(stage.result(names[0], broken=second))


def reused(stage: Stage) -> None:
    """A model that numbers its calls from 0 in every turn."""
    for _ in range(stage.number(1, 3)):
        names = stage.pick(["run:0"], ["run:0", "run:1"], ["run:0", "run:0"], ["run:1"])
        stage.ask(*map(stage.call, names))
        stage.answer(*map(stage.result, names[stage.number(0, 1) :]))


def nameless(stage: Stage) -> None:
    stage.ask(*(stage.call("") for _ in range(stage.number(1, 2))))
    stage.answer(*(stage.result("") for _ in range(stage.number(0, 2))))


def text_first(stage: Stage) -> None:
    names = stage.ids(2)
    stage.ask(*map(stage.call, names))
    if stage.api == "openai-chat":
        stage.answer(stage.result(names[0]))
        stage.user(stage.text("U"), stage.picture())
        stage.answer(stage.result(names[1]))
    else:
        parts = [stage.result(names[0]), stage.text("U"), stage.result(names[1]), stage.text("U")]
        stage.messages.append({"role": "user", "content": stage.pick(parts, parts[1:], parts[::-1])})


def apart(stage: Stage) -> None:
    """Results spread over several messages, with others between."""
    names = stage.ids(3)
    stage.ask(*map(stage.call, names))
    for name in names:
        stage.answer(stage.result(name))
        if stage.number(0, 1):
            stage.user(stage.text("U"))


def bundled(stage: Stage) -> None:
    """Calls and results in one message."""
    name = stage.ids(1)[0]
    if stage.api == "openai-chat":
        stage.ask(stage.call(name))
        stage.ask(*map(stage.call, stage.ids(1)))
        stage.answer(stage.result(name))
        return
    role = stage.pick("assistant", "assistant", "user")
    parts = [stage.text("A"), stage.call(name), stage.result(name), stage.text("A")]
    stage.messages.append({"role": role, "content": stage.pick(parts, parts[1:3], parts[2:], parts[:2])})


def empty(stage: Stage) -> None:
    blank = stage.pick(*BLANKS)
    role = stage.pick("user", "assistant", "assistant")
    contents: list[Any] = [blank, [], [{"type": "text", "text": blank}], None]
    stage.messages.append({"role": role, "content": stage.pick(*contents)})


def partly_empty(stage: Stage) -> None:
    blank: Json = {"type": "text", "text": stage.pick(*BLANKS)}
    if stage.api != "openai-chat":
        blank["cache_control"] = {"type": "ephemeral"}
    stage.user(stage.text("U"), blank)
    stage.say(stage.text("A"), blank)
    if stage.number(0, 1):
        stage.messages.append({"role": "assistant", "content": ""})


def empty_result(stage: Stage) -> None:
    """An empty result is legal, or its call would stand alone."""
    names = stage.ids(2)
    stage.ask(*map(stage.call, names))
    results = [stage.result(name) for name in names]
    results[0]["content"] = stage.pick([], "", [{"type": "text", "text": ""}])
    stage.answer(*results)


def only_thinking(stage: Stage) -> None:
    stage.user(stage.text("U"))
    if stage.api == "openai-chat":
        stage.messages.append({"role": "assistant", "content": stage.pick(None, ""), "reasoning_content": "Hm."})
    else:
        redacted = {"type": "redacted_thinking", "data": "eA=="}
        stage.messages.append({"role": "assistant", "content": stage.pick([thought()], [stage.text("A"), thought(), redacted])})
    stage.user(stage.text("U"))


def served_badly(stage: Stage) -> None:
    if stage.api == "openai-chat":
        return
    stage.count += 1
    call, found = serving(f"srvtoolu_{stage.count}")
    stage.user(stage.text("U"))
    parts = stage.pick([found], [call], [found, call], [call, found, found], [call, stage.call(*stage.ids(1))])
    stage.messages.append({"role": "assistant", "content": [*parts, *([stage.text("A")] if stage.count % 2 else [])]})
    stage.user(stage.text("U"))


def broken_arguments(stage: Stage) -> None:
    name = stage.ids(1)[0]
    call = stage.call(name)
    if stage.api == "openai-chat":
        given = stage.pick(*ARGUMENTS, None, {"n": 1})
        call["function"] = stage.pick(
            {"name": "look", "arguments": given}, {"name": "look", "arguments": given}, {"name": "look"}
        )
    else:
        call["input"] = stage.pick("text", None, [1], 5)
    stage.ask(call)
    stage.answer(stage.result(name))


def media_in_result(stage: Stage) -> None:
    name = stage.ids(1)[0]
    stage.ask(stage.call(name))
    if stage.api == "openai-chat":
        parts = [stage.text("R"), stage.picture()]
        stage.answer({"role": "tool", "tool_call_id": name, "content": stage.pick(parts, parts[1:], [stage.file()])})
    else:
        stage.answer({**stage.result(name), "content": [stage.picture(), stage.picture()]})


def beside(stage: Stage) -> None:
    """LangChain keeps calls beside the blocks, sometimes in them as well, and results as messages of their own."""
    if stage.api != "blocks":
        return
    names = stage.pick(["lc:0"], ["lc:0", "lc:1"], stage.ids(2), [""])
    calls = [{"type": "tool_call", "id": name, "name": "look", "args": {"n": stage.count}} for name in names]
    inside = [stage.text("A"), *stage.pick([], calls, calls[:1])]
    stage.messages.append({"role": "ai", "content": inside, "tool_calls": calls})
    results = [{"role": "tool", "tool_call_id": name, "content": stage.words("R")} for name in names]
    for result in stage.pick(results, results[1:], results[::-1], [*results, *results]):
        stage.messages.append(result)
        if stage.number(0, 3) == 0:
            asks(stage)


def opens_badly(stage: Stage) -> None:
    stage.messages.insert(0, {"role": "assistant", "content": stage.words("A")})


def many_marks(stage: Stage) -> None:
    mark = {"cache_control": {"type": "ephemeral"}} if stage.api != "openai-chat" else {}
    stage.user(*({**stage.text("U"), **mark} for _ in range(5)))


HOSTILE_SCENES: tuple[Scene, ...] = (
    lost_result, lost_call, late_result, late_arrival, twice, reused, nameless, text_first, apart, bundled, empty, partly_empty,
    empty_result, only_thinking, served_badly, served_badly, broken_arguments, media_in_result, opens_badly, beside, many_marks,
)  # fmt: skip


@st.composite
def _bodies(
    draw: Callable[[st.SearchStrategy[Any]], Any], api: str, scenes: tuple[Scene, ...], ends: tuple[Scene, ...], *, legal: bool
) -> Json:
    spoken = "anthropic" if api in MADE_FROM_ANTHROPIC else api
    thinks = api in ("anthropic", "bedrock") and draw(st.integers(0, 3)) == 0
    stage = Stage(spoken, draw, thinking=thinks)
    if draw(st.integers(0, 3)):
        asks(stage)
    for scene in draw(st.lists(st.sampled_from(scenes), min_size=1, max_size=6)):
        scene(stage)
    stage.answer(*stage.late)
    end = draw(st.sampled_from(ends))
    end(stage)
    model = {"openai-chat": "gpt-4o", "openai-responses": "gpt-5", "gemini": "gemini-2.5-flash"}.get(api, "claude-opus-4-8")
    body: Json = {"model": model, "max_tokens": 1_024, "messages": stage.messages}
    if stage.thinking:
        body["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    return body if spoken == api else _retold(body, api, stage, named=legal or bool(stage.number(0, 2)))


def _retold(body: Json, api: str, stage: Stage, *, named: bool) -> Json:
    """The body in a form that is written after Anthropic's, with what only that form has."""
    made = rewritten(body, api, snake=stage.pick(True, False), ids=stage.pick(True, False), named=named)
    if api == "openai-responses" and stage.number(0, 1):
        picture = PICTURES[stage.pick(*PICTURES)][1]
        made["input"] = [*items_of_its_own(picture, stage.pick), *made["input"]]
    return made


def legal_bodies(api: str) -> st.SearchStrategy[Json]:
    """Request bodies that break no rule of structure; their media may still be refused."""
    scenes = tuple(scene for scene in LEGAL if api != "openai-chat" or scene is not served)
    return _bodies(api, scenes, (asks,), legal=True)


def bodies(api: str) -> st.SearchStrategy[Json]:
    """Request bodies that read, and break the provider's rules in every way."""
    return _bodies(api, (*LEGAL, *HOSTILE_SCENES), (asks, asks, says, lost_result, only_thinking, late_arrival), legal=False)
