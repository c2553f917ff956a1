"""What Gemini refuses, as far as the structure shows it, and what it takes although only stricter servers would not.

The rule: neighbouring contents of the model are one turn; calls and responses pair by their number, turn by turn. Sources,
November 2026: the guide to function calling, google-gemini/gemini-cli 11814 (order of turns), diegosouzapw/OmniRoute 13573,
openclaw/openclaw 47857 (2026-03-16, names of responses), LibreChat-AI/agents 323 (2026-07-21, requests that end with the model's
turn), langgenius/dify-official-plugins 2088 (2025-11-18) and nearai/ironclaw 1510 (2026-03-21, signatures of calls).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from transom.frozen import Frozen
from transom.parts import Conversation, Message, Part, spell
from transom.wire.foreign import foreign
from transom.wire.form import Fault
from transom.wire.keyed import CALLS, RESPONSES

_COUNT: Final = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call "
    "turn."
)
_ORDER: Final = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
_AFTER: Final = "Please ensure that function response turn comes immediately after a function call turn."
_EMPTY: Final = "Unable to submit request because it must include at least one parts field, which describes the prompt input."
_NO_TURNS: Final = "GenerateContentRequest.contents: contents is not specified"

_NAMELESS: Final = "* GenerateContentRequest.contents[%d].parts[%d].%s.name: Name cannot be empty."
_NAMED: Final[dict[str, tuple[str, str]]] = {
    "call": ("function_call", "the call has no name; it must say which function it calls"),
    "result": ("function_response", "the response has no name; it must be that of the call it answers"),
}
_PREFILL: Final = "Requests ending with a model turn are not supported."
_UNSIGNED: Final = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and "
    "missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , "
    "position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)


class _Turn(Frozen, frozen=True):
    """A content, or neighbouring ones of the model, as one turn."""

    index: int
    role: str | None
    parts: tuple[tuple[int, Part], ...]

    def of(self, kind: str) -> list[tuple[int, Part]]:
        return [one for one in self.parts if one[1].kind == kind]


def faults(conversation: Conversation, quirks: frozenset[str]) -> list[Fault]:
    """Each fault, turn by turn, then those of the end."""
    if not conversation.messages:
        says = "there is no content; a request has at least one"
        return [Fault(place="contents", code="no-turns", says=says, answer=_NO_TURNS)]
    joined = list(_joined(conversation.messages))
    out = [*foreign(conversation, _own), *_nameless(conversation)]
    out += [_style(turn.index) for first, turn in pairwise(conversation.messages) if _said(first) == "model" == _said(turn)]
    held = bool(conversation.held)
    for before, turn in zip((None, *joined), joined, strict=False):
        out.extend(_turn(before, turn, unseen=held and before is None))
    out.extend(_ends(joined, held=held, refused="no-prefill" in quirks))
    if "signed-calls" in quirks:
        out.extend(_unsigned(conversation.messages))
    return out


def _own(_: Message, part: Part) -> bool:
    return isinstance(part.raw, dict) and any(key in part.raw for key in (*CALLS, *RESPONSES)) and "type" not in part.raw


def _nameless(conversation: Conversation) -> Iterator[Fault]:
    for message in conversation.messages:
        for part in message.parts:
            if part.kind not in _NAMED or part.name:
                continue
            key, says = _NAMED[part.kind]
            if part.kind == "call" or any(name in part.raw for name in RESPONSES):
                place = spell(("contents", message.index, *part.place))
                yield Fault(place=place, code="name", says=says, answer=_NAMELESS % (message.index, part.place[-1], key))


def _said(message: Message) -> str | None:
    role = message.json.get("role")
    return role if isinstance(role, str) else None


def _joined(messages: Sequence[Message]) -> Iterator[_Turn]:
    if not messages:
        return
    waiting: list[Message] = []
    for message in messages:
        if waiting and not _said(message) == "model" == _said(waiting[-1]):
            yield _one(waiting)
            waiting = []
        waiting.append(message)
    yield _one(waiting)


def _one(run: Sequence[Message]) -> _Turn:
    return _Turn(run[0].index, _said(run[0]), tuple([(message.index, part) for message in run for part in message.parts]))


def _turn(before: _Turn | None, turn: _Turn, *, unseen: bool) -> Iterator[Fault]:
    """The faults of one turn. `unseen`: what stands before it is held by the provider."""
    place = f"contents[{turn.index}]"
    blank = next((one for one in turn.parts if _blank(one[1])), None)
    if not turn.parts or blank is not None:
        where = spell(("contents", blank[0], *blank[1].place)) if blank else place
        says = "the text is empty or white space alone" if blank else "the content has no part"
        yield Fault(place=where, code="empty", says=f"{says}; leave it out", answer=_EMPTY)
    if not unseen:
        yield from _answers(before, turn, place)
    if turn.of("call") and not unseen and (before is None or before.role == "model"):
        says = "the call comes first, and must follow a turn of the user or of responses"
        yield Fault(place=place, code="first-not-user", says=says, answer=_ORDER)
    if before is not None and before.role == turn.role:
        yield _style(turn.index)


def _blank(part: Part) -> bool:
    """Whether a part is a text that says nothing; one that carries a signature has a use (Gemini 3, streamed answers)."""
    return part.kind in ("text", "reasoning") and isinstance(part.raw, dict) and not part.text.strip() and not part.signed


def _answers(before: _Turn | None, turn: _Turn, place: str) -> Iterator[Fault]:
    got = len(turn.of("result"))
    asked = len(before.of("call")) if before is not None else 0
    if got and not asked:
        says = "the response answers no call of the turn before; leave it out"
        yield Fault(place=place, code="orphan-result", says=says, answer=_AFTER)
    elif got != asked:
        code = "open-call" if got < asked else "orphan-result"
        says = f"{got} of {asked} calls of the turn before are answered here; each wants one response"
        yield Fault(place=place, code=code, says=says, answer=_COUNT)
    if got and got != len(turn.parts):
        says = "something else stands beside the responses; they have a content of their own"
        yield Fault(place=place, code="interleaved", says=says)


def _ends(joined: Sequence[_Turn], *, held: bool, refused: bool) -> Iterator[Fault]:
    first, last = joined[0], joined[-1]
    if last.of("call"):
        says = "the last turn calls and nothing answers; answer or leave it out"
        yield Fault(place=f"contents[{last.index}]", code="open-call", says=says, answer=_COUNT)
    if first.role == "model" and not held:
        says = "the first turn is the model's; it must be the user's"
        yield Fault(place=f"contents[{first.index}]", code="first-not-user", says=says, answer=_ORDER)
    if last.role == "model":
        says = "the last turn is the model's, which newer models do not continue; end with the user's"
        yield Fault(place=f"contents[{last.index}]", code="last-not-user", says=says, answer=_PREFILL, refused=refused)


def _unsigned(messages: Sequence[Message]) -> Iterator[Fault]:
    """Steps of the turn that goes on whose first call is not signed, which the provider's own models refuse. Only told of, since
    logs of calls that other models made look the same; earlier turns are not looked at.
    """
    asked = [n for n, one in enumerate(messages) if _said(one) != "model" and any(part.kind != "result" for part in one.parts)]
    for turn in _joined(messages[asked[-1] + 1 if asked else 0 :]):
        index, call = next(iter(turn.of("call")), (0, None))
        if turn.role == "model" and call is not None and not call.signed:
            says = "the step's first call is not signed; send its signature back, or the word that stands for it"
            place, answer = spell(("contents", index, *call.place)), _UNSIGNED % (call.name, index + 1)
            yield Fault(place=place, code="unsigned-call", says=says, answer=answer, refused=False)


def _style(index: int) -> Fault:
    says = "roles do not alternate here; stricter servers want them to"
    return Fault(place=f"contents[{index}]", code="not-alternating", says=says, refused=False)
