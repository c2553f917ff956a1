"""What both of OpenAI's forms check of parts: texts that are none, and pictures by an address that leads nowhere.

The rule: a shape is looked at only where its type is known; what has another type stays as it is. Sources of the words, 2026-11:
answers of the API quoted in OmniSearch 3 (pictures as bare base64, 2025-02), langchain-ai/langchain 35054 (names, 2026-02).
"""

from __future__ import annotations

from typing import Final

from transom import probe
from transom.parts import Part
from transom.types import Json, JsonObject

CHECKED: Final = "openai-checks"
"""The quirk of OpenAI's own models: ids, names and fields are checked one by one, which compatible servers do not do."""
LONGEST_ID: Final = 64
"""Characters of the id of a call. Sent live and taken: 51 in Chat Completions (vercel/ai 17233, 2026-07)."""
TEXTS: Final = ("text", "input_text", "output_text")
PICTURES: Final = ("image_url", "input_image")
"""Types of pictures that are known by where they stand. One of the type `image` is another provider's."""
UNLIT: Final = "a picture by an address that only the sender can read"
UNSAID: Final = "a text that is none"

_HEAD: Final = 16
_SHOWN: Final = 120
_ELSEWHERE: Final = ("blob:", "file:")
_ANSWERED: Final = ("annotations", "logprobs")
"""Keys of a text that only an answer has."""


def unsaid(raw: Json) -> bool:
    """Whether a part is a text that says nothing at all: no empty string, none."""
    return isinstance(raw, dict) and raw.get("type") in TEXTS and raw.get("text") is None


def said_as(raw: JsonObject, want: str) -> JsonObject:
    """A text under another type; what only answers have goes."""
    keep = {key: value for key, value in raw.items() if want == "output_text" or key not in _ANSWERED}
    return {**keep, "type": want}


def address(url: str) -> str:
    """The address of a picture as it goes out: bare base64 that shows a picture becomes a data URL, all else stays."""
    if not url or ":" in url[:_HEAD]:
        return url
    mime = probe.sniff(url)
    return f"data:{mime};base64,{url}" if mime.startswith("image/") else url


def unreadable(url: str, *, checked: bool) -> bool:
    """Whether no provider can read a picture from this address. Some servers of one's own read `file:`."""
    return not url or url[:_HEAD].lower().startswith(_ELSEWHERE if checked else _ELSEWHERE[:1])


def instead(url: str) -> str:
    """The words in the place of a picture that cannot be read."""
    return f"[image {url[:_SHOWN]} left out]" if url else "[image left out]"


def carried(part: Part) -> str:
    """The address of a picture in another provider's shape; "" where it has none that can be spelled as one."""
    media = part.media
    if part.kind != "image" or media is None or not media.payload:
        return ""
    if media.source == "url":
        return media.payload
    mime = media.facts.mime or media.declared
    inline = media.source in ("base64", "data-url") and mime.startswith("image/")
    return f"data:{mime};base64,{media.payload}" if inline else ""
