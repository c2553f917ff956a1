"""A mapping of bounded size: what was put in first goes first. For memos, where a loss costs time and nothing else."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V]):
    """A dictionary that forgets the older half when it is full, so that a write costs the same on average however full it is."""

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Put `value` under `key`."""
        if len(self) >= self._most and key not in self:
            for old in list(self)[: max(1, self._most // 2)]:
                self.pop(old, None)
        super().__setitem__(key, value)
