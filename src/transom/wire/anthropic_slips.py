"""Slips of `anthropic`: what its provider refuses in one message, in its own words.

Sources of the words, 2026-11: answers quoted in issues: ding113/claude-code-hub 518, earendil-works/pi 1523 (signatures),
LibreChat-AI/agents 279 (thinking without its text), Wei-Shaw/sub2api 225, BerriAI/litellm 39815 (cache marks on thinking),
langchain-ai/langchain 31208, anthropics/claude-code 4378 (what streaming left), ding113/claude-code-hub 470 (ids of calls that
the provider runs). Pictures, documents and parts of other forms: `anthropic_media`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from transom import edit
from transom.parts import Message, Part
from transom.wire.anthropic_media import content_slips
from transom.wire.form import Slip
from transom.wire.naming import digest

OWN: Final = "signed-thinking"
"""The quirk of the vendor's own models; others that speak this form sign nothing, and give ids of their own."""

_MARK: Final = "cache_control"
_LEFT: Final = {
    "text": ("index",),
    "thinking": ("index",),
    "redacted_thinking": ("index",),
    "tool_use": ("index", "partial_json", "text"),
}
"""Keys that events of a stream have and blocks of a message have not."""
_SERVED: Final = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_ODD: Final = re.compile(r"[^a-zA-Z0-9_]")


def slips_of(message: Message, quirks: frozenset[str]) -> Sequence[Slip]:
    """Each slip of one message."""
    out: list[Slip] = []
    for part in message.parts:
        raw = part.raw
        if isinstance(raw, dict) and (part.kind != "text" or raw.get("type") != "text" or "index" in raw):
            out += _slips(message, part, quirks)
    return out


def _slips(message: Message, part: Part, quirks: frozenset[str]) -> Iterator[Slip]:
    at = f"messages.{{index}}.content.{part.place[-1]}"
    if part.kind == "reasoning":
        yield from _thinking(part, quirks, at)
    elif part.kind == "result":
        for number, inner in enumerate(part.parts):
            yield from content_slips(inner, message.json, f"{at}.tool_result.content.{number}")
    elif part.kind in ("call", "server-call", "server-result"):
        yield from _left(part, at)
        if OWN in quirks:
            yield from _served(part, at)
    else:
        yield from _left(part, at)
        yield from content_slips(part, message.json, at, answers=message.role == "assistant")


def _thinking(part: Part, quirks: frozenset[str], at: str) -> Iterator[Slip]:
    """Thinking goes back signed, with its text; a model whose provider signs nothing takes it unsigned. It bears no mark."""
    raw = part.raw
    proof = "data" if raw.get("type") == "redacted_thinking" else "signature"
    if OWN in quirks and not raw.get(proof):
        missing = f"{at}.{raw.get('type')}.{proof}: Field required"
        answer = missing if raw.get(proof) is None else f"{at}: Invalid `{proof}` in `{raw.get('type')}` block"
        yield Slip(place=part.place, code="unsigned", what=f"thinking without its {proof}", so="leave it out", answer=answer)
        return
    if raw.get("type") == "thinking" and not isinstance(raw.get("thinking"), str):
        what, so = "thinking without its text", "say an empty one, which the signature answers for"
        answer = f"{at}.thinking.thinking: Field required"
        yield Slip(place=(*part.place, "thinking"), code="thinking", what=what, so=so, answer=answer, now="")
    if _MARK in raw:
        answer = f"{at}.{raw.get('type')}.{_MARK}: Extra inputs are not permitted"
        what, so = "a cache mark on thinking", "put it on a part of another type"
        yield Slip(place=(*part.place, _MARK), code="thinking-mark", what=what, so=so, answer=answer)
    yield from _left(part, at)


def _left(part: Part, at: str) -> Iterator[Slip]:
    """What the events of a stream hold and the blocks that are made of them do not."""
    kind = part.raw.get("type")
    for key in _LEFT.get(kind, ()) if isinstance(kind, str) else ():
        if key in part.raw:
            answer = f"{at}.{kind}.{key}: Extra inputs are not permitted"
            what, so = f"`{key}`, which streaming left on the part", "leave it out"
            yield Slip(place=(*part.place, key), code="leftover", what=what, so=so, answer=answer)


def _served(part: Part, at: str) -> Iterator[Slip]:
    """Ids of calls that the provider runs begin with `srvtoolu_`, in the call, in its result and in the calls that it made."""
    raw, kind = part.raw, part.raw.get("type")
    places: list[tuple[str, ...]] = [("caller", "tool_id")] if "caller" in raw else []
    if kind == "server_tool_use":
        places.append(("id",))
    elif part.kind == "server-result" and kind != "mcp_tool_result":
        places.append(("tool_use_id",))
    for keys in places:
        given = edit.look(raw, keys)
        if isinstance(given, str) and given and not _SERVED.fullmatch(given):
            answer = f"{at}.{kind}.{'.'.join(keys)}: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
            what, so = f"the id {given!r} of a server tool's call", "spell it as the provider does, in the call and in its result"
            yield Slip(place=(*part.place, *keys), code="server-id", what=what, so=so, answer=answer, now=_served_id(given))


def _served_id(given: str) -> str:
    """An id as the provider gives it to calls that it runs; one that lost characters is told apart by a digest."""
    bare = given.removeprefix("srvtoolu_")
    spelled = _ODD.sub("_", bare)
    return f"srvtoolu_{spelled}" if spelled == bare and bare else f"srvtoolu_{spelled}_{digest(given)}"
