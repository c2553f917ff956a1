"""What the conversations of property tests are made of: pictures, files, odd numbers and texts, and the stage of the scenes.

Nothing here is copied from a real conversation.
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

Json: TypeAlias = dict[str, Any]


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
