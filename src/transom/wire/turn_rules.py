"""Rules of forms that read neighbours of one role as one turn and want results at the front of the user's turn behind the calls.

The rule: each fault is placed in the message that it was written in; the words that a provider answers with are a table that its
form hands in, and a form whose provider's words are not known hands in an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transom.frozen import Frozen
from transom.parts import Message, Part, spell
from transom.wire.form import Fault
from transom.wire.turns import Turn


class TurnRules(Frozen, frozen=True):
    """The rules with a provider's words: `answers` by fault, with `{index}`, `{at}`, `{id}` and `{kind}` to be filled in."""

    answers: Mapping[str, str]

    def fault(self, index: int, part: Part, code: str, says: str, words: str = "") -> Fault:
        """A fault of one part; `words` names the provider's answer where that is not the one for `code`."""
        kind = part.raw.get("type") if isinstance(part.raw, dict) else "text"
        at = part.place[-1] if len(part.place) > 1 else 0
        answer = self.answers.get(words or code, "").format(index=index, at=at, id=part.id, kind=kind)
        return Fault(place=spell(("messages", index, *part.place)), code=code, says=says, answer=answer)

    def no_turns(self) -> Fault:
        """There is nothing to answer."""
        says = "there is no message; a request has at least one"
        return Fault(place="messages", code="no-turns", says=says, answer=self.answers.get("no-turns", ""))

    def paired(self, messages: Sequence[Message], merged: Sequence[Turn]) -> list[Fault]:
        """Empty messages and texts; ids; and calls and results that do not stand together."""
        out = [fault for message in messages for fault in (*self._empty(message), *self._failed(message))]
        seen: set[str] = set()
        for before, turn in zip((None, *merged), merged, strict=False):
            out.extend(self._ids(turn, seen))
            out.extend(self._pairs(before, turn))
        return out

    def _empty(self, message: Message) -> Iterator[Fault]:
        if not message.parts:
            says = "the message has no content; give it a part or leave it out"
            answer = self.answers.get("no-content", "").format(index=message.index)
            yield Fault(place=f"messages[{message.index}]", code="empty", says=says, answer=answer)
        for part in message.parts:
            if part.kind == "text" and not part.text.strip():
                what = "holds white space alone" if part.text else "is empty"
                says = f"the text {what}; leave the part out"
                marked = "marked" if part.marked and "marked" in self.answers else ""
                yield self.fault(message.index, part, "empty", says, "blank" if part.text else marked)

    def _failed(self, message: Message) -> Iterator[Fault]:
        """A result that says it failed holds text, and nothing else."""
        for part in message.parts:
            if part.kind != "result" or not part.failed:
                continue
            if any(inner.kind != "text" for inner in part.parts):
                says = "the result failed and holds more than text; move the rest behind the results"
                yield self.fault(message.index, part, "failed-result", says)
            elif not part.text.strip() and not any(inner.text.strip() for inner in part.parts):
                says = "the result failed and says nothing; say what went wrong"
                yield self.fault(message.index, part, "failed-result", says, "failed-silent")

    def _ids(self, turn: Turn, seen: set[str]) -> Iterator[Fault]:
        for index, part in turn.of("call"):
            if not part.id or part.id in seen:
                what = f"the id {part.id!r} names two calls" if part.id else "the call has no id"
                yield self.fault(index, part, "id", f"{what}; each needs one of its own")
            seen.add(part.id)
            yield from self._whole(index, part)

    def _whole(self, index: int, call: Part) -> Iterator[Fault]:
        """A call says which tool it calls, and with what."""
        held = call.raw.get("toolUse", call.raw) if isinstance(call.raw, dict) else {}
        if not call.name:
            yield self.fault(index, call, "name", "the call has no `name`; it must say which tool it calls")
        given = held.get("input") if isinstance(held, dict) else None
        if not isinstance(given, dict):
            what = "no `input`" if given is None else "an `input` that is no object"
            says = f"the call has {what}; it must be an object, `{{}}` for none"
            yield self.fault(index, call, "input", says, "no-input" if given is None else "")

    def _pairs(self, before: Turn | None, turn: Turn) -> Iterator[Fault]:
        """Results stand first in the user turn right behind their calls, each call answered once."""
        got = turn.of("result")
        if not got and (before is None or "call" not in before.kinds):
            return
        if turn.role != "user":
            if got:
                says = "a result stands in a turn that is not the user's; move it to the user's turn"
                yield self.fault(*got[0], "orphan-result", says)
            return
        asked = before.of("call") if before is not None and before.role == "assistant" else []
        known = {call.id for _, call in asked}
        for index, result in got:
            if result.id not in known:
                says = f"the result answers {result.id!r}, which the turn before does not call; leave it out"
                yield self.fault(index, result, "orphan-result", says)
        answered: set[str] = set()
        twice: tuple[int, Part] | None = None
        for index, result in got:
            twice = (index, result) if result.id in answered else twice
            answered.add(result.id)
        if twice is not None:
            yield self.fault(*twice, "id", f"the call {twice[1].id!r} is answered twice; keep one result", "answered-twice")
        for index, call in asked:
            if call.id not in answered:
                yield self.open(index, call)
        yield from self._interleaved(turn, got)

    def open(self, index: int, call: Part) -> Fault:
        """A call that the next turn does not answer."""
        says = f"the call {call.id!r} has no result in the next turn; answer it or leave it out"
        return self.fault(index, call, "open-call", says)

    def _interleaved(self, turn: Turn, got: list[tuple[int, Part]]) -> Iterator[Fault]:
        left = len(got)
        for index, part in turn.parts:
            if not left:
                return
            if part.kind != "result":
                yield self.fault(index, part, "interleaved", "this stands before a result of the same turn; results come first")
                return
            left -= 1

    def ends_thinking(self, turn: Turn) -> Iterator[Fault]:
        """A turn of the assistant ends with something else than reasoning."""
        if turn.role == "assistant" and turn.parts and turn.parts[-1][1].kind == "reasoning":
            says = "the turn ends with thinking; leave it out, or let text or a call follow it"
            yield self.fault(*turn.parts[-1], "reasoning", says, "ends-thinking")

    def edges(self, merged: list[Turn], quirks: frozenset[str]) -> Iterator[Fault]:
        """The user's turn comes first, and last where the model continues no answer; no call waits at the end."""
        first, last = merged[0], merged[-1]
        waiting = last.of("call")
        if waiting:
            yield self.open(*waiting[-1])
        if first.role != "user":
            says = f"the first message has the role {first.role!r}; it must be the user's"
            answer = self.answers.get("first-not-user", "")
            yield Fault(place=f"messages[{first.index}]", code="first-not-user", says=says, answer=answer)
        if last.role == "assistant":
            yield Fault(
                place=f"messages[{last.last}]",
                code="last-not-user",
                says="the last message is the assistant's, which newer models do not continue; end with the user's",
                answer=self.answers.get("last-not-user", ""),
                refused="no-prefill" in quirks and last.parts[-1:] != () and last.parts[-1][1].kind != "server-call",
            )
        if last.role == "assistant" and "trailing" in self.answers and last.parts and _trails(last.parts[-1][1]):
            says = "the answer to go on with ends with white space; leave that out"
            yield self.fault(*last.parts[-1], "trailing", says)

    def starts_unthinking(self, merged: list[Turn]) -> Iterator[Fault]:
        """With thinking asked for, the last turn of the assistant starts with thinking if it calls a tool."""
        turn = next((turn for turn in reversed(merged) if turn.role == "assistant"), None)
        if turn is not None and turn.of("call") and turn.parts[0][1].kind != "reasoning":
            says = "thinking is enabled and the assistant's last turn calls a tool without thinking first; keep its thinking"
            yield self.fault(*turn.parts[0], "reasoning", says, "starts-unthinking")


def _trails(part: Part) -> bool:
    return part.kind == "text" and part.text != part.text.rstrip()
