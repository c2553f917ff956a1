"""What a reader of a format sees: the first bytes, how to ask for more of them, and how to say that they are something else.

A number read from a header is a claim: it may be compared and reported, it never sizes an allocation or a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from transom.parts import Facts

ZERO_SIDE = "a side of 0 pixels"
CUT_OFF = "cut off"
_FAR = 4_096
"""From here on a reader's jumps are worth a fetch of their own; nearer bytes come with the head."""


class Short(Exception):  # a question for more bytes, not an error
    """The reader needs the first `until` bytes; it is called again with more of them, if there are any."""

    def __init__(self, until: int) -> None:
        self.until = until
        super().__init__(until)


class Other(Exception):  # an answer, not an error
    """The signature fits, but what follows is another format."""


class Source(Protocol):
    """Where the bytes come from. Nothing is decoded before it is asked for."""

    def head(self, limit: int, /) -> Head:
        """The first bytes, at most `limit` of them."""

    def tail(self) -> bytes:
        """The last bytes (some 100), or none where they are not at hand."""

    def whole(self) -> bytes | None:
        """Every byte, or None where they are not at hand. Costs what they are long; only for odd endings."""

    def size(self) -> int:
        """How many bytes there are."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes. `complete` says that there are no more than these.

    `far` fetches bytes behind them without what stands between, where the source can: place and count in, those bytes out
    (fewer, or none, where it cannot).
    """

    data: bytes
    complete: bool
    far: Callable[[int, int], bytes] | None = None

    def take(self, at: int, count: int) -> bytes:
        """`count` bytes from `at`. Raises Short where they are not there."""
        end = at + count
        if end <= len(self.data):
            return self.data[at:end]
        if self.far is not None and at >= _FAR and not self.complete and len(found := self.far(at, count)) == count:
            return found
        raise Short(end)

    def big(self, at: int, count: int) -> int:
        """A number of `count` bytes, highest first. Raises Short."""
        return int.from_bytes(self.take(at, count), "big")

    def little(self, at: int, count: int) -> int:
        """A number of `count` bytes, lowest first. Raises Short."""
        return int.from_bytes(self.take(at, count), "little")


def picture(mime: str, width: int, height: int, *, animated: bool = False) -> Facts:
    """The facts of a picture whose header states both sides."""
    problem = "" if width and height else ZERO_SIDE
    return Facts(mime=mime, width=width, height=height, animated=animated, problem=problem)
