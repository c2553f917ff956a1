"""The ids under which calls go out, decided once, when they are stored.

The rule: a call keeps its id, unless an earlier call of the session went out with it; then it gets a number, the same one that
pairing would give it on the whole log. So a window of the log needs to know nothing of what stands before it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from sqlalchemy import Connection

from transom import canon
from transom.pairing.match import given_id, numbered
from transom.parts import Message
from transom.store import statements
from transom.types import JsonObject


class Names:
    """The names of one session's calls; `of` gives those of the next message as rows. `mine` says which session's."""

    def __init__(self, connection: Connection, mine: Mapping[str, str]) -> None:
        self._connection, self._mine = connection, mine
        self._taken = _Taken(self)
        self._numbers = _Numbers(self)

    def of(self, message: Message) -> Iterator[JsonObject]:
        """A row for each call of a message, by its place."""
        calls = [part for part in message.parts if part.kind == "call" and part.place != ("function_call",)]
        for number, call in enumerate(calls):
            given = given_id(call)
            name = numbered(given, self._taken, self._numbers)
            self._taken.fresh.add(name)
            path = canon.text(list(call.place))
            yield {"number": number, "path": path, "given": given, "name": name, "times": self._numbers.get(given, 1)}

    def is_stored(self, name: str) -> bool:
        """Whether a stored call goes out under a name."""
        return self._connection.execute(statements.NAMED, {**self._mine, "of_name": name}).first() is not None

    def times(self, given: str) -> int:
        """The last number that was put behind an id."""
        return self._connection.execute(statements.TIMES, {**self._mine, "of_given": given}).scalar() or 1


class _Taken(Container[str]):
    def __init__(self, names: Names) -> None:
        self._names = names
        self.fresh: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self.fresh or (isinstance(name, str) and self._names.is_stored(name))


class _Numbers(dict[str, int]):
    """The numbers by id; one that is not known yet is looked up."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def get(self, given: str, default: int = 1) -> int:  # type: ignore[override]  # noqa: ARG002 - the last one is always known
        """The last number of an id."""
        if given not in self:
            self[given] = self._names.times(given)
        return self[given]
