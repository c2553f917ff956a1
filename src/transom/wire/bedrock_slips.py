"""Slips of `bedrock`: what its provider refuses in one message, in its own words.

Sources of the words: anomalyco/opencode 36517 (2026-07-12, cache points behind reasoning), strands-agents/sdk-python 3677
(2026-08-07, cache points with nothing before them), sigoden/aichat 1542 (2026-08-19) and deepset-ai/haystack 3766 (2026-08-13,
JSON that is no object).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from transom.parts import Message, Part
from transom.types import Json
from transom.wire.form import Slip
from transom.wire.keyed import told

_BEHIND: Final = "Cache point cannot be inserted after reasoning block. Please remove the invalid cache point and try again."
_NOTHING: Final = "There is nothing available to cache."
_NO_OBJECT: Final = (
    "The format of the value at messages.{index}.content.%d.toolResult.content.%d.json is invalid. Provide a json object for the "
    "field and try again."
)
_POINT: Final = "cachePoint"
_THOUGHT: Final = "reasoningContent"


def slips_of(message: Message, quirks: frozenset[str]) -> Sequence[Slip]:  # noqa: ARG001 - one shape for all forms
    """Each slip of one message."""
    out: list[Slip] = []
    given = message.json.get("content")
    if isinstance(given, list) and any(_POINT in raw for raw in given):
        out += _points(given)
    for part in message.parts:
        if part.kind == "result":
            out += _values(part)
    return out


def _points(given: list[Json]) -> Iterator[Slip]:
    """A cache point stands behind something that can be cached: neither first, nor behind reasoning."""
    for at, raw in enumerate(given):
        if _POINT not in raw:
            continue
        if all(_POINT in one for one in given[:at]):
            what = "a cache point with nothing before it in its message"
            yield Slip(place=("content", at), code="cache-point", what=what, so="leave it out", answer=_NOTHING)
        elif _THOUGHT in given[at - 1]:
            what = "a cache point behind reasoning"
            if at > 1 and not {_POINT, _THOUGHT} & given[at - 2].keys():
                so = "let it stand before the reasoning"
                yield Slip(place=("content", at - 1), code="cache-point", what=what, so=so, answer=_BEHIND, now=raw)
                yield Slip(place=("content", at), code="cache-point", what=what, so=so, answer=_BEHIND, now=given[at - 1])
            else:
                yield Slip(place=("content", at), code="cache-point", what=what, so="leave it out", answer=_BEHIND)


def _values(part: Part) -> Iterator[Slip]:
    """The JSON in a result is an object; any other value is told as text."""
    for inner in part.parts:
        now = told(inner.raw)
        if now is not inner.raw:
            answer = _NO_OBJECT % (part.place[-1], inner.place[-1])
            what, so = "JSON in a result that is no object", "tell it as text"
            yield Slip(place=inner.place, code="json", what=what, so=so, answer=answer, now=now)
