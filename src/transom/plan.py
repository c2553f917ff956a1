"""The values that a plan is made of. Nothing here decides anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from transom.types import Place

Verb: TypeAlias = Literal["keep", "stub", "cut", "prune", "drop", "repair", "mend", "mark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One line of the report: what was done, where and why, and the size before and after.

    `seq` is the number of the stored message, `place` the place inside it (`()`: all of it), `name` a call id, tool or file
    name where one says more, `reason` a few words ("a result without its call", "over the limit of 6 pictures"). Sizes are
    tokens and bytes of the body. `last` is the newest message that the line covers, where it covers several.
    """

    verb: Verb
    seq: int
    place: Place = ()
    reason: str
    name: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    last: int = -1

    def sized(self, *, tokens: tuple[int, int], bytes: tuple[int, int]) -> Decision:  # noqa: A002 - the unit's name
        """The same decision with its sizes before and after."""
        return replace(
            self, tokens_before=tokens[0], tokens_after=tokens[1], bytes_before=bytes[0], bytes_after=bytes[1]
        )


@dataclass(frozen=True, slots=True)
class Size:
    """Three sizes that are never mixed: tokens, body bytes, messages. In a budget, 0 or less means that one is off."""

    tokens: int = 0
    bytes: int = 0
    messages: int = 0

    def __add__(self, other: Size) -> Size:
        """The sizes of both together."""
        return Size(self.tokens + other.tokens, self.bytes + other.bytes, self.messages + other.messages)
