"""Where a conversation goes on: whether a state belongs to it, and what of the last request is sent again unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from transom.canon import digest, rolling
from transom.frozen import Frozen
from transom.parts import Conversation
from transom.plan import Break, Sent, State, repeated


class Log(Frozen, frozen=True, kw_only=True):
    """What must be known of the log that a conversation is a window of, or the whole.

    `count` messages are stored. `digests` are those of the conversation's messages, without cache marks; `keys` the rolling keys
    after so many messages of the log, as far as they are known.
    """

    count: int
    digests: tuple[bytes, ...]
    keys: Mapping[int, bytes]

    def holds(self, state: State) -> bool:
        """Whether the state was made on a beginning of this log."""
        return self.keys.get(state.count) == state.key

    def key(self) -> bytes:
        """The rolling key after all messages."""
        return self.keys[self.count]


def log(conversation: Conversation) -> Log:
    """The log of a conversation that is the whole."""
    return logged(tuple(digest(message.json) for message in conversation.messages))


def logged(digests: tuple[bytes, ...]) -> Log:
    """The log whose messages have these digests."""
    keys = {0: b""}
    for count, one in enumerate(digests, 1):
        keys[count] = rolling(keys[count - 1], one)
    return Log(count=len(digests), digests=digests, keys=keys)


BRANCH: Final = "messages that were sent before changed, or are gone"
SETTINGS: Final = "the settings changed"
MODEL: Final = "the model changed"


class Resumed(Frozen, frozen=True, kw_only=True):
    """The state to go on from, `notes` on what had to be reset, `cause` why that breaks the prefix ("" where it does not), and
    `sent`, the entries of the last request, whatever became of its state.
    """

    state: State
    notes: tuple[str, ...] = ()
    cause: str = ""
    sent: tuple[Sent, ...] = ()


def resume(last: State | None, history: Log, *, policy: str, card: str) -> Resumed:
    """Whether the last state goes on. On another branch all of it is reset, under another policy the marks of its pictures and
    results. An anchor that is no number, or beyond the log, starts again at 0 (CM-136).
    """
    fresh = State(policy=policy, card=card)
    if last is None:
        return Resumed(state=fresh)
    if not history.holds(last):
        note = "the state belongs to another conversation or branch; it was reset"
        return Resumed(state=fresh, notes=(note,), cause=BRANCH, sent=last.sent)
    state, notes, cause = last, list[str](), ""
    if not 0 <= state.anchor <= max(0, history.count - 1):
        notes.append(f"the state's anchor {state.anchor!r} is no message of this conversation; the window starts at 0 again")
        state = replace(state, anchor=0, front=frozenset())
    if state.card not in ("", card):  # "": a state that no fit has made yet, such as that of a session before its first
        notes.append("the model changed since the last request")
        cause = MODEL
    if state.policy not in ("", policy):
        notes.append("the settings changed since the last request; pictures and results are judged afresh")
        cause = SETTINGS
        state = replace(state, mark=-1, stubs=frozenset(), pruned=())
    return Resumed(state=replace(state, policy=policy, card=card), notes=tuple(notes), cause=cause, sent=last.sent)


def breaks(last: Sequence[Sent], now: Sequence[Sent], cause: str) -> tuple[Break, ...]:
    """Where the new request stops repeating the last one; none when it only grew.

    The tokens are those of entries of the last request that stand in the new one behind that place: they were cached and are
    read again.
    """
    same = repeated(last, now)
    if same == len(last):
        return ()
    known = {one.digest for one in last}
    again = sum(one.tokens for one in now[same:] if one.digest in known)
    return (Break(at=same, cause=cause, tokens=again),)
