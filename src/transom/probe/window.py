"""What a reader of a format sees: the first bytes, how to ask for more of them, and how to say that they are something else.

A number read from a header is a claim: it may be compared and reported, it never sizes an allocation or a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from transom.frozen import Frozen
from transom.parts import Facts

ZERO_SIDE = "a side of 0 pixels"
CUT_OFF = "cut off"
_LEAST = 16
"""Bytes that a second of sound or film takes at the least. Silence in Opus takes some 20, in FLAC 150."""
_MOST = float(1 << 63)
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

    def part(self, at: int, count: int, /) -> bytes:
        """Bytes from `at`; fewer than `count`, or none, where the file ends or they are not at hand."""

    def whole(self) -> bytes | None:
        """Every byte, or None where they are not at hand. Costs what they are long; only for odd endings and for PDF."""

    def size(self) -> int:
        """How many bytes there are."""


class Head(Frozen, frozen=True):
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


class Reach:
    """Any bytes of a source by their position. Nothing is fetched before it is asked for."""

    __slots__ = ("size", "source")

    def __init__(self, source: Source) -> None:
        """Take a source; `size` is how many bytes it has."""
        self.source = source
        self.size = source.size()

    def take(self, at: int, count: int) -> bytes:
        """`count` bytes from `at`. Raises Short where they are not there."""
        found = self.source.part(at, count)
        if len(found) < count:
            raise Short(at + count)
        return found

    def some(self, at: int, count: int) -> bytes:
        """At most `count` bytes from `at`."""
        return self.source.part(at, count)

    def big(self, at: int, count: int) -> int:
        """A number of `count` bytes, highest first. Raises Short."""
        return int.from_bytes(self.take(at, count), "big")

    def little(self, at: int, count: int) -> int:
        """A number of `count` bytes, lowest first. Raises Short."""
        return int.from_bytes(self.take(at, count), "little")


def claimed(amount: float, rate: float, size: int) -> float:
    """Seconds that a header claims, `amount` of units of which `rate` go in a second; 0.0 where `size` bytes cannot hold them."""
    if not 0 < amount < _MOST or not 0 < rate < _MOST:
        return 0.0
    seconds = amount / rate
    return seconds if seconds <= size / _LEAST else 0.0


def picture(mime: str, width: int, height: int, *, animated: bool = False) -> Facts:
    """The facts of a picture whose header states both sides."""
    problem = "" if width and height else ZERO_SIDE
    return Facts(mime=mime, width=width, height=height, animated=animated, problem=problem)
