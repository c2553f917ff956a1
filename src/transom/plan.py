"""The values that a plan is made of. Nothing here decides anything."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, MutableMapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, TypeVar

import msgspec
from msgspec import field
from msgspec.structs import asdict, replace

from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.parts import Group, MediaKind
from transom.types import JsonObject, Key, Place

Verb: TypeAlias = Literal["stub", "cut", "prune", "drop", "repair", "mend", "mark", "fold"]

_Value = TypeVar("_Value", "Ask", "Fold")

STATE_FORMAT = 1
"""The number of the form that `State.to_dict` writes; a higher one is refused, never guessed at."""

OUTSIDE = -1
"""The number of a decision about what stands outside the messages: its place is one of the body."""


class Decision(Frozen, frozen=True, kw_only=True):
    """One line of the report: what was done, where and why, and the size before and after.

    `seq` is the number of the stored message, `place` the place inside it (`()`: all of it), `name` a call id, tool or file
    name where one says more, `reason` a few words ("a result without its call", "over the limit of 6 pictures"). Sizes are
    tokens and bytes of the body. `media` is the kind of what became a placeholder. `last` is the newest message that the line
    covers, where it covers several.
    """

    verb: Verb
    seq: int
    place: Place = ()
    reason: str
    name: str = ""
    media: MediaKind | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    last: int = -1

    def sized(self, *, tokens: tuple[int, int], bytes: tuple[int, int]) -> Decision:  # noqa: A002 - the unit's name
        """The same decision with its sizes before and after."""
        return replace(self, tokens_before=tokens[0], tokens_after=tokens[1], bytes_before=bytes[0], bytes_after=bytes[1])


class Size(Frozen, frozen=True):
    """Three sizes that are never mixed: tokens, bytes of the body, messages."""

    tokens: int = 0
    bytes: int = 0
    messages: int = 0

    def __add__(self, other: Size) -> Size:
        """Both together."""
        return Size(self.tokens + other.tokens, self.bytes + other.bytes, self.messages + other.messages)

    def __sub__(self, other: Size) -> Size:
        """This one without the other."""
        return Size(self.tokens - other.tokens, self.bytes - other.bytes, self.messages - other.messages)


class Budget(Frozen, frozen=True):
    """The most that each size may be; infinity where a size is not limited."""

    tokens: float = math.inf
    bytes: float = math.inf
    messages: float = math.inf

    def admits(self, size: Size) -> bool:
        """Whether `size` is within all three; equality is inside."""
        return size.tokens <= self.tokens and size.bytes <= self.bytes and size.messages <= self.messages

    def share(self, fixed: Size, part: float) -> Budget:
        """The budget in which all but the `fixed` parts has only `part` of its room. Bytes and messages shrink alike."""
        return Budget(
            fixed.tokens + part * (self.tokens - fixed.tokens),
            fixed.bytes + part * (self.bytes - fixed.bytes),
            fixed.messages + part * (self.messages - fixed.messages),
        )

    def less(self, size: Size) -> Budget:
        """What is left when `size` is taken out."""
        return Budget(self.tokens - size.tokens, self.bytes - size.bytes, self.messages - size.messages)

    def plus(self, size: Size) -> Budget:
        """The budget when `size` is given back."""
        return Budget(self.tokens + size.tokens, self.bytes + size.bytes, self.messages + size.messages)


class Sent(Frozen, frozen=True):
    """An entry of a request that was sent: digest of its JSON without cache marks, and its tokens."""

    digest: bytes
    tokens: int


class Ask(Frozen, frozen=True, kw_only=True):
    """A summary that is wanted of messages `first` to `last`, numbered as they are stored.

    level: 1 for a summary of messages, 2 and 3 for one that takes in earlier summaries.
    prompt: messages in the conversation's own form (`api`), each one a request of its own; there is more than one only where
    the
        material is too long for the model's window, and then the answers are joined with an empty line.
    max_tokens: the most that the answer should have.
    key: digest of what it is about. A summary is used only for the very messages that it was asked for.
    """

    unshown = ("prompt",)

    first: int
    last: int
    level: int
    prompt: tuple[JsonObject, ...]
    max_tokens: int
    key: str
    api: str

    def to_dict(self) -> JsonObject:
        """The ask as JSON. `Ask.from_dict` reads it back."""
        return _written(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Ask:
        """The ask that `to_dict` wrote. Raises BadSetting where it is not one."""
        return _read(plain, cls, "ask")


class FoldPicture(Frozen, frozen=True, kw_only=True):
    """A live picture in a folded message: its key, its characters in the body, and whether a side is over what many may have."""

    key: Key
    inline: int
    wide: bool = False


class FoldRow(Frozen, frozen=True, kw_only=True):
    """A folded message as the judge counts it: its uncalibrated tokens before verdicts, and its live pictures.

    Messages without a live picture are summed into the next older row.
    """

    seq: int
    tokens: int
    pictures: tuple[FoldPicture, ...] = ()


class Fold(Frozen, frozen=True, kw_only=True):
    """A summary that stands for messages `first` to `last`.

    host: the number of the user's message whose turn it lies in; -1 where it stands for whole turns.
    ends: the turn that it lies in, or the last of its turns, is over behind it.
    rows: what it stands for, as depth and slots count it. tokens, bytes, messages: the size of what it stands for, as that was
    sent. All of these are 0 or empty until the fold is part of a state; a ready one is only a text with its place and key.
    """

    unshown = ("text", "rows")

    first: int
    last: int
    level: int
    text: str
    key: str
    host: int = -1
    ends: bool = True
    rows: tuple[FoldRow, ...] = ()
    tokens: int = 0
    bytes: int = 0
    messages: int = 0

    def covers(self, seq: int) -> bool:
        """Whether a stored message is one that it stands for."""
        return self.first <= seq <= self.last

    @property
    def name(self) -> tuple[int, int, str]:
        """What it answers: the messages, and the key of what was asked for."""
        return self.first, self.last, self.key

    def meets(self, other: Fold) -> bool:
        """Whether there are messages that both stand for."""
        return self.first <= other.last and other.first <= self.last

    def holds(self, other: Fold) -> bool:
        """Whether it stands for every message that the other stands for."""
        return self.first <= other.first and other.last <= self.last

    def to_dict(self) -> JsonObject:
        """The fold as JSON. `Fold.from_dict` reads it back."""
        return _written(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Fold:
        """The fold that `to_dict` wrote. Raises BadSetting where it is not one."""
        return _read(plain, cls, "fold")


def covering(folds: Sequence[Fold], seq: int) -> Fold | None:
    """The fold that stands for a stored message; `folds` are disjoint, oldest first."""
    at = bisect_right(folds, seq, key=lambda fold: fold.first) - 1
    return folds[at] if at >= 0 and folds[at].covers(seq) else None


class State(Frozen, frozen=True, kw_only=True):
    """What the next fit of the same conversation must know to keep the prefix. A value: each fit returns the next one.

    anchor: number of the stored message that the window starts at.
    front: starts of the groups that stand ahead of the anchor; chosen at a jump and kept until the next.
    mark: pictures in stored messages up to and including this one stay placeholders.
    stubs: keys of placeholders newer than the mark.
    pruned: per tool, the stored message up to which its results stay pruned.
    folds: the summaries that stand for messages, oldest first. ready: summaries that were given and not needed yet.
    asked: summaries without their text that were asked for, and of which messages were left out since: they may still come.
    sent: the entries of the request that was made, in order.
    count, key: the place in the log: how many stored messages there were, and the rolling digest over them.
    policy, card: fingerprints of the settings and of the model card that it was made under.
    memo: counts of texts by hash and length, never the text; it saves counting again in this process and is not written.
    """

    unshown = ("sent", "memo")

    anchor: int = 0
    front: frozenset[int] = frozenset()
    mark: int = -1
    stubs: frozenset[Key] = frozenset()
    pruned: tuple[tuple[str, int], ...] = ()
    folds: tuple[Fold, ...] = ()
    ready: tuple[Fold, ...] = ()
    asked: tuple[Fold, ...] = ()
    sent: tuple[Sent, ...] = ()
    count: int = 0
    key: bytes = b""
    policy: str = ""
    card: str = ""
    memo: MutableMapping[tuple[int, int, bool], int] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Whether both lead to the same next request: what was counted already changes nothing."""
        return isinstance(other, State) and asdict(replace(self, memo=other.memo)) == asdict(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def moved(self) -> bool:
        """Whether an earlier fit moved the window, or summed messages up."""
        return self.anchor > 0 or bool(self.folds)

    def to_dict(self) -> JsonObject:
        """The state as JSON, to be kept wherever the caller keeps it. `State.from_dict` reads it back."""
        plain = asdict(replace(self, sent=(), folds=(), ready=(), asked=(), memo={}))
        del plain["memo"]
        plain["format"] = STATE_FORMAT
        plain["front"] = sorted(self.front)
        plain["stubs"] = sorted(([seq, list(place)] for seq, place in self.stubs), key=repr)
        plain["pruned"] = [list(pair) for pair in self.pruned]
        plain["sent"] = [[one.digest.hex(), one.tokens] for one in self.sent]
        plain["key"] = self.key.hex()
        plain["folds"] = [fold.to_dict() for fold in self.folds]
        plain["ready"] = [fold.to_dict() for fold in self.ready]
        plain["asked"] = [fold.to_dict() for fold in self.asked]
        return plain

    @classmethod
    def from_dict(cls, plain: object) -> State:
        """The state that `to_dict` wrote. Raises BadSetting where it is not one: a state file can hold anything."""
        data = dict(plain) if isinstance(plain, Mapping) else {}
        if data.pop("format", None) != STATE_FORMAT:
            raise BadSetting(f"the state is not one of format {STATE_FORMAT}; leave it out to start afresh")
        try:
            return cls(**_revived(data))
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            raise BadSetting(f"the state is not one that to_dict wrote ({error!r}); leave it out to start afresh") from error


def _revived(data: dict[str, object]) -> JsonObject:
    known = set(State.__struct_fields__) - {"memo"}
    out: JsonObject = {name: value for name, value in data.items() if name in known}
    for name, kind in (("anchor", int), ("mark", int), ("count", int), ("policy", str), ("card", str)):
        if not isinstance(out[name], kind) or isinstance(out[name], bool):
            raise TypeError(f"{name} is {out[name]!r}")
    out["front"] = frozenset(int(start) for start in out["front"])
    out["stubs"] = frozenset((int(seq), tuple(place)) for seq, place in out["stubs"])
    out["pruned"] = tuple((str(tool), int(seq)) for tool, seq in out["pruned"])
    out["sent"] = tuple(Sent(bytes.fromhex(digest), int(tokens)) for digest, tokens in out["sent"])
    out["key"] = bytes.fromhex(out["key"])
    for name in ("folds", "ready", "asked"):  # a state that was written before there were folds has none
        out[name] = tuple(Fold.from_dict(fold) for fold in out.get(name, ()))
    if any(one.last >= two.first for one, two in pairwise(out["folds"])) or any(one.first > one.last for one in out["folds"]):
        raise ValueError("two folds stand for one message")
    return out


def _written(value: Ask | Fold) -> JsonObject:
    plain: JsonObject = msgspec.to_builtins(value)
    return plain


def _read(plain: Mapping[str, object], kind: type[_Value], name: str) -> _Value:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadSetting(f"the {name} cannot be read ({error}); it is not one that to_dict wrote") from error


def repeated(last: Sequence[Sent], now: Sequence[Sent]) -> int:
    """How many entries, from the first on, two requests share."""
    pairs = enumerate(zip(last, now, strict=False))
    return next((i for i, (old, new) in pairs if old.digest != new.digest), min(len(last), len(now)))


class Break(Frozen, frozen=True, kw_only=True):
    """A place where bytes that were sent before are sent differently: the provider's cache ends there.

    `at` is the number of the first entry of the request that differs, `cause` why, `tokens` how many tokens of entries that
    the last request held, too, are read again uncached.
    """

    at: int
    cause: str
    tokens: int


class Selection(Frozen, frozen=True, kw_only=True):
    """Which groups go out, and where the window starts now. `moved` is "" where nothing sent before was left out."""

    kept: tuple[Group, ...]
    anchor: int
    front: frozenset[int]
    moved: Literal["", "refit"]
