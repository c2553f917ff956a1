"""Slips of `anthropic`: what its provider refuses in one message, in its own words.

Sources of the words, 2026-11: answers quoted in issues: ding113/claude-code-hub 518, earendil-works/pi 1523 (signatures),
LibreChat-AI/agents 279 (thinking without its text).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transom.parts import Message, Part
from transom.wire.form import Slip


def slips_of(message: Message, quirks: frozenset[str]) -> Sequence[Slip]:
    """Each slip of one message."""
    out: list[Slip] = []
    for part in message.parts:
        if part.kind == "reasoning":
            out += _thinking(part, quirks)
    return out


def _thinking(part: Part, quirks: frozenset[str]) -> Iterator[Slip]:
    """Thinking goes back signed, with its text; a model whose provider signs nothing takes it unsigned."""
    raw, at = part.raw, f"messages.{{index}}.content.{part.place[-1]}"
    if not isinstance(raw, dict):
        return
    proof = "data" if raw.get("type") == "redacted_thinking" else "signature"
    if "signed-thinking" in quirks and not raw.get(proof):
        missing = f"{at}.{raw.get('type')}.{proof}: Field required"
        answer = missing if raw.get(proof) is None else f"{at}: Invalid `{proof}` in `{raw.get('type')}` block"
        yield Slip(place=part.place, code="unsigned", what=f"thinking without its {proof}", so="leave it out", answer=answer)
    elif raw.get("type") == "thinking" and not isinstance(raw.get("thinking"), str):
        what, so = "thinking without its text", "say an empty one, which the signature answers for"
        answer = f"{at}.thinking.thinking: Field required"
        yield Slip(place=(*part.place, "thinking"), code="thinking", what=what, so=so, answer=answer, now="")
