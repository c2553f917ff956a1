"""Turns: neighbouring messages of one role, read as one, as some providers do. The rule: a part keeps its message's index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from transom.frozen import Frozen
from transom.parts import Kind, Message, Part, Role


class Turn(Frozen, frozen=True):
    """Neighbouring messages of one role: `index` is the first's, `last` the last's, `parts` carry their own message's."""

    role: Role
    index: int
    last: int
    parts: tuple[tuple[int, Part], ...]
    kinds: frozenset[Kind]

    def of(self, kind: Kind) -> list[tuple[int, Part]]:
        """The parts of one kind, each with the index of its message."""
        return [found for found in self.parts if found[1].kind == kind] if kind in self.kinds else []


def turns(messages: Sequence[Message]) -> list[Turn]:
    """The turns of these messages, oldest first."""
    return [_turn(tuple(run)) for _, run in groupby(messages, key=_role)]


def _role(message: Message) -> Role:
    return message.role


def _turn(run: Sequence[Message]) -> Turn:
    parts = tuple([(message.index, part) for message in run for part in message.parts])
    return Turn(run[0].role, run[0].index, run[-1].index, parts, frozenset([part.kind for _, part in parts]))
