"""The window of a session's log as a conversation: only the rows that the next fit needs, each read from the store once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from transom import canon, resume
from transom.errors import BadRequest, StoreError
from transom.frozen import Frozen
from transom.parts import Conversation, Message
from transom.session import bodies
from transom.stages import Reach
from transom.store import Head, Row, StoredLog
from transom.types import JsonObject, Key
from transom.wire.form import Form

SYSTEM = -1
"""The number of a system message that stands in front of the log and is not stored in it."""


class Opened(Frozen, frozen=True, kw_only=True):
    """A window: the conversation, what a fit must know of the log around it, and the numbers of messages that are only in it
    so that those beside them do not seem to be neighbours.
    """

    conversation: Conversation
    history: resume.Log
    beside: frozenset[int]


class Windows:
    """Windows of one log. Rows of the last window are held, as the views that they were read as."""

    def __init__(self, log: StoredLog, form: Form) -> None:
        self.log, self._form = log, form
        self._held: dict[int, tuple[Row, Message]] = {}

    def open(  # noqa: PLR0913 - the window and what goes around it
        self,
        head: Head,
        *,
        reach: Reach,
        model: str,
        asked: JsonObject,
        until: int | None = None,
        left_out: Iterable[Key] = (),
    ) -> Opened:
        """The window that `reach` asks for, up to message number `until` (all), with the fields `asked` around it."""
        end = head.count if until is None else until
        rows = self._rows(reach, end)
        gone = {seq for seq, place in left_out if place == ()}
        views = [view for _, view in rows if view.index not in gone]
        digests = [row.digest for row, _ in rows if row.seq not in gone]
        body, system = bodies.around(head.api, model, asked)
        if system is not None:
            views.insert(0, self._form.read_message(system, SYSTEM))
            digests.insert(0, canon.digest(system))
        key = bodies.key(head.api)
        empty = self._form.read({**body, key: []})
        conversation = replace(empty, body={**body, key: [view.json for view in views]}, messages=tuple(views))
        keys = {0: b"", head.count: head.key, **{row.seq + 1: row.key for row, _ in rows}}
        history = resume.Log(count=end, digests=tuple(digests), keys=keys)
        needed = {*reach.ahead, *range(max(0, reach.start), end), SYSTEM}
        return Opened(conversation=conversation, history=history, beside=frozenset(view.index for view in views) - needed)

    def _rows(self, reach: Reach, end: int) -> Sequence[tuple[Row, Message]]:
        wanted = {seq for seq in (*reach.ahead, *reach.beside) if 0 <= seq < end}
        wanted.update(range(max(0, reach.start), end))
        later = self.log.later_calls(reach.ahead, reach.start) if reach.ahead else ()
        if later:  # an id that a call ahead shares with a later one: results are that one's, unless it is answered by then
            wanted.update(range(min(later), reach.start))
        for row in self.log.read(wanted.difference(self._held)):
            self._held[row.seq] = row, replace(stored(self._form, row), names=row.names)
        self._held = {seq: found for seq, found in self._held.items() if seq in wanted or seq >= reach.start}
        missing = wanted.difference(self._held)
        if missing:
            raise lost(min(missing))
        return [self._held[seq] for seq in sorted(wanted)]


def stored(form: Form, row: Row) -> Message:
    """A stored message as it is read. Raises StoreError where it is none any more."""
    try:
        return form.read_message(row.json, row.seq)
    except BadRequest as error:
        raise StoreError(f"message {row.seq} cannot be read any more ({error}); restore a copy of the store") from error


def lost(seq: int) -> StoreError:
    """What is said of a message that was stored and is not there."""
    return StoreError(
        f"message {seq} of the session is missing in the store; restore a copy of it, "
        f"or read what stands around it with messages({seq + 1}) and messages(0, {seq})"
    )
