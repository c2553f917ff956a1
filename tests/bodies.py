"""Bodies that the tests of commands and page are made of."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any


def png(width: int = 64, height: int = 48, shade: int = 0) -> bytes:
    """A grey PNG of these sides."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes([shade]) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def picture(shade: int = 0, **sides: int) -> dict[str, Any]:
    """A picture as Anthropic takes it."""
    data = base64.b64encode(png(shade=shade, **sides)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def loop(rounds: int, words: int = 60) -> dict[str, Any]:
    """An Anthropic body: a question, and so many rounds of a tool that answers with words and a screenshot."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at every page and say what you see."}]
    for n in range(rounds):
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "look", "input": {"page": n}}
        said = {"type": "text", "text": f"page {n}: " + "lorem " * words}
        messages.append({"role": "assistant", "content": [call]})
        shot = picture(n, width=640, height=480)
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": [said, shot]}
        messages.append({"role": "user", "content": [result]})
    return {"model": "claude-sonnet-4-5", "max_tokens": 256, "system": "Be short.", "messages": messages}


def chat(words: str = "Hello") -> dict[str, Any]:
    """An OpenAI body of one question."""
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": words}]}
