"""What a wire form must be able to do. Each form is one module with these functions; forms do not know each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, Protocol

from transom.frozen import Frozen
from transom.parts import Conversation, Media, Message, Part
from transom.types import Json, JsonObject, Place


class Fault(Frozen, frozen=True, kw_only=True):
    """A rule of the provider that a request breaks.

    `place` is the JSON path, `code` the kind of fault ("orphan-result", "open-call", "interleaved", "id", "empty",
    "first-not-user", "last-not-user", "reasoning", "breakpoints", ...), `says` a sentence with value, rule and remedy, and
    `answer` what the provider would answer, as far as its wording is known ("" otherwise). `refused` is False where the
    provider itself takes it and only stricter servers mind.
    """

    place: str
    code: str
    says: str
    answer: str = ""
    refused: bool = True

    def __str__(self) -> str:
        """The fault on one line."""
        return f"{self.place}: {self.says}"


GONE: Final = object()
"""In the place of a value: there is none."""


class Slip(Frozen, frozen=True, kw_only=True):
    """Something in one message that the provider refuses, and what stands there instead.

    `place` is inside the message, `what` says in words what stands there and `so` what to do about it; `answer` is the
    provider's ("" where its wording is not known), with `{index}` for the message's number. `now` is the new value (GONE: none).
    """

    place: Place
    code: str
    what: str
    so: str
    answer: str = ""
    now: Json = GONE


class Usage(Frozen, frozen=True, kw_only=True):
    """Tokens that a provider reported for one request: `prompt` is all of the input, cached tokens included."""

    prompt: int
    output: int
    cached: int = 0
    written: int = 0


class Form(Protocol):
    """A wire form: how to read it, what is legal in it, and the makers that edits need.

    No maker changes what it is given; each returns a copy that shares whatever it did not touch.
    """

    api: str
    results_in: Literal["user", "tool"]
    """Where results stand: in parts of user messages, or each in a message of role `tool`."""
    merges: bool
    """Whether the provider reads neighbouring messages of one role as one turn."""
    items: bool
    """Whether each part of an answer is an item of its own, a message that is its one part: neighbouring items of the assistant
    are one answer."""
    ids: Literal["turn", "request", "position"]
    """Where the ids of calls differ. "position": ids are optional, and what has none answers by name and place."""
    results_alone: bool
    """Whether all results of a turn stand in one message that holds nothing else."""
    results_hold: Literal["text", "media"]
    """What a result may hold."""
    bare_reasoning: Literal["taken", "closed", "lost"]
    """Reasoning that nothing follows: taken as it is; refused, until a note closes its turn; lost with the item it led to."""
    results_tell: bool
    """Whether a value in a result must be told as text or as parts: logs keep it as its host put it there."""
    failures_say: bool
    """Whether a result that says it failed must hold text, and nothing else."""
    names_documents: bool
    """Whether every document needs a name, of few characters."""
    prefill_trimmed: bool
    """Whether an answer that the model is to go on with must not end with white space."""
    odd_in_ids: re.Pattern[str] | None
    """Characters that may not stand in an id of a call; None: all may."""
    plain_names: bool
    """Whether names of called tools are letters, digits, `_` and `-`, unless a tool is declared with another."""
    longest_id: int
    """Characters that an id of a call may have; 0: no limit is known."""
    longest_for: str
    """The quirk of models whose provider holds to that limit; "": of all."""

    def read(self, body: JsonObject, /) -> Conversation:
        """The whole body as views. Raises BadRequest with the place of what does not belong."""

    def read_message(self, json: JsonObject, index: int, /) -> Message:
        """One message as a view."""

    def legal(self, conversation: Conversation, quirks: frozenset[str] = frozenset(), /) -> list[Fault]:
        """Each fault of structure. `quirks` are the model card's flags ("no-prefill": may not end with the assistant)."""

    def slips(self, message: Message, quirks: frozenset[str], /) -> Sequence[Slip]:
        """Each thing in one message that the provider refuses and that can be put right there. `legal` names them too."""

    def usage(self, answer: JsonObject, /) -> Usage | None:
        """The usage that an answer of the provider reports; None where it reports none that can be used."""

    def error_body(self, status: int, words: str, /) -> JsonObject:
        """An error in this form's own shape."""

    def text(self, words: str, /) -> Json:
        """A text part."""

    def message(self, role: Literal["user", "assistant"], parts: Sequence[Json], /) -> JsonObject:
        """A message of `role` with these raw parts."""

    def with_parts(self, json: JsonObject, parts: Sequence[Json], /) -> JsonObject:
        """A copy of a message with these raw parts, in this order, in place of its top-level parts."""

    def placeholder(self, part: Part, words: str, /) -> Json:
        """What stands in the place of `part`, which is left out, and says `words`."""

    def result_stub(self, call: Part, words: str, /) -> Json:
        """A raw result for `call` that failed and says `words`."""

    def set_result(self, raw: Json, words: str, /) -> Json:
        """A copy of a raw result whose whole content is the text `words`; its id and error flag stay."""

    def place_results(self, results: Sequence[Json], after: JsonObject | None, /) -> tuple[JsonObject, ...]:
        """The messages that carry `results` right behind their calls; `after` is the message that follows them, if any,
        and is the last of the answer (with the results put in front of it, or unchanged behind them).
        """

    def rename_call(self, raw: Json, new: str, /) -> Json:
        """A copy of a raw call or result with another id."""

    def set_media(self, json: JsonObject, part: Part, media: Media, /) -> JsonObject:
        """A copy of a message whose media `part` declares `media.declared` and carries `media.payload`."""

    def join(self, first: JsonObject, second: JsonObject, /) -> JsonObject:
        """Two neighbouring messages of one role as one."""

    def mark(self, json: JsonObject, part: Part, mark: Json | None, /) -> JsonObject:
        """A copy of a message whose `part` carries the cache mark `mark`, or none."""
