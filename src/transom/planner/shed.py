"""Shedding: what may go when only what must stay is left and is still too large, in the order that the policy names.

Whole groups and earlier requests gave way in the selection (AN-47, AN-48). Here each step's acts come largest first, and only
as many are taken as are needed (AN-49..54). Texts shrink to powers of two, so that the same text is cut to the same bytes on
most turns. If it still does not fit, the caller refuses with the numbers (AN-53).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from transom import edit
from transom.frozen import Frozen
from transom.ledger import Ledger
from transom.parts import Entry, Group, Part
from transom.plan import Decision, Size
from transom.planner.window import message_count, summed
from transom.policy import Step
from transom.stubs import stubbed
from transom.texts import is_text, reworded
from transom.types import Key
from transom.wire.form import Form

LEAST_TEXT: Final = 128
"""Bytes that no text is cut below (AN-49)."""
SHED: Final = "shed, since what must stay was still too large"
OUTCOME: Final = re.compile(
    r'"(?:\w*(?:error|fail|success|pass|warning|skip)\w*)"\s*:\s*(?:\d{1,9}|true|false|null)(?![\w.])'
    r'|"(?:ok|done|valid|found|truncated)"\s*:\s*(?:true|false)|"(?:attachments|files|images)"\s*:\s*\[\s*\]'
)
"""Fields that say how something went (AN-50)."""
MOST_OUTCOME: Final = 160
FILE: Final = re.compile(r"\s*(?:\[|<|#+ ?)?(?:attached |attachment|file\b|document\b)", re.IGNORECASE)
"""How a text begins that holds an attached file (AN-52)."""


class Shed(Frozen, frozen=True, kw_only=True):
    """What is left: `groups` as they are sent now, `stubs` the keys of pictures that went, `lines` what was done to texts."""

    groups: tuple[Group, ...]
    stubs: frozenset[Key]
    lines: tuple[Decision, ...]


def shed(  # noqa: PLR0913 - the stage's inputs
    groups: Sequence[Group],
    *,
    fits: Callable[[Size], bool],
    fixed: Size,
    steps: Sequence[Step],
    pinned: frozenset[Key],
    ledger: Ledger,
    form: Form,
) -> Shed:
    """Make `groups` fit, as far as `steps` allow; `pinned` parts stay as they are."""
    work = _Work(list(groups), ledger, form, fixed, pinned)
    acts = {"text": work.texts, "images": work.images, "files": work.files}
    for step in steps:
        for act in acts[step]() if step in acts else ():  # earlier requests ("requests") went in the selection
            if fits(work.total):
                break
            act()
    return Shed(
        groups=tuple(group for _, group in sorted(work.groups.items())), stubs=frozenset(work.stubs), lines=tuple(work.lines)
    )


class _Work:
    """The groups by start, with what is done to them; `owner` says which group holds a part."""

    def __init__(
        self,
        groups: Sequence[Group],
        ledger: Ledger,
        form: Form,
        fixed: Size,
        pinned: frozenset[Key],
    ) -> None:
        self.groups = {group.start: group for group in groups}
        self.ledger, self.form, self.pinned = ledger, form, pinned
        self.total = sum((self._size(group) for group in groups), fixed)
        self.stubs: set[Key] = set()
        self.lines: list[Decision] = []
        self.words: dict[Key, str] = {}
        self.owner = {key: group.start for group in groups for entry in group.entries for key, _ in entry.keyed()}

    def images(self) -> Iterator[Callable[[], None]]:
        """Live pictures, the dearest first (AN-51)."""
        found = [
            (-self.ledger.prices.part(part).tokens, -part.media.inline, repr(key), key)
            for key, part in self._parts()
            if part.kind == "image" and part.media is not None and key not in self.pinned
        ]
        return (partial(self._stub, key) for *_, key in sorted(found))

    def texts(self) -> Iterator[Callable[[], None]]:
        """Texts but attached files, the longest first (AN-49)."""
        return self._longest(lambda text: FILE.match(text) is None)

    def files(self) -> Iterator[Callable[[], None]]:
        """Attached files, the longest first: the last resort (AN-52)."""
        return self._longest(lambda text: FILE.match(text) is not None)

    def _longest(self, wanted: Callable[[str], bool]) -> Iterator[Callable[[], None]]:
        heap = [
            (-len(part.text.encode()), repr(key), key)
            for key, part in self._parts()
            if is_text(part) and key not in self.pinned and wanted(part.text)
        ]
        heapq.heapify(heap)
        while heap and -heap[0][0] > LEAST_TEXT:
            size, name, key = heap[0]
            room = max(LEAST_TEXT, 1 << ((-size - 1).bit_length() - 1))
            yield partial(self._cut, key, room)
            heapq.heapreplace(heap, (-room, name, key))

    def _parts(self) -> Iterator[tuple[Key, Part]]:
        """Every part of what is no system message; those are never cut."""
        for group in self.groups.values():
            for entry in group.entries:
                if entry.message.role != "system":
                    yield from entry.keyed()

    def _size(self, group: Group) -> Size:
        return summed([self.ledger.message(entry.message) for entry in group.entries], messages=message_count(group))

    def _stub(self, key: Key) -> None:
        self.stubs.add(key)
        self._change(key, lambda entry: stubbed(entry, {key}, self.form))

    def _cut(self, key: Key, room: int) -> None:
        def cut(entry: Entry) -> Entry:
            part = next((part for own, part in entry.keyed() if own == key), None)
            if part is None:
                return entry
            words = self.words.setdefault(key, part.text)  # always cut from the whole text, so that its size is told
            raw = reworded(part, clipped(words, room), self.form)
            if raw is None:
                return entry
            json = edit.edited(entry.message.json, [(part, raw)])
            return replace(entry, message=self.form.read_message(json, entry.message.index))

        self._change(key, cut)
        self.lines = [line for line in self.lines if (line.seq, line.place) != key]
        self.lines.append(Decision(verb="cut", seq=key[0], place=key[1], reason=f"{SHED}; cut to {room:,} bytes"))

    def _change(self, key: Key, change: Callable[[Entry], Entry]) -> None:
        start = self.owner[key]
        group = self.groups[start]
        new = replace(group, entries=tuple(change(entry) for entry in group.entries))
        self.groups[start] = new
        self.total += self._size(new) - self._size(group)


def clipped(text: str, room: int) -> str:
    """Head and tail of a text in at most `room` bytes, with a marker of its size between them, and of how things went in it,
    where there is room (AN-50). No character is split.
    """
    data = text.encode()
    told = f"{len(data):,} bytes in all, the middle is left out"
    kept = outcome(text)
    marker = f"\n[{told}; {kept}]\n"
    if not kept or 2 * len(marker) > room:
        marker = f"\n[{told}]\n"
    half = max(0, (room - len(marker.encode())) // 2)
    head = data[:half].decode(errors="ignore")
    tail = data[len(data) - half :].decode(errors="ignore") if half else ""
    return f"{head}{marker}{tail}"


def outcome(text: str) -> str:
    """The fields of a text that say how something went, without any other value: counts of errors and successes, flags, and
    whether a list of attachments was empty.
    """
    return ", ".join(dict.fromkeys(found.group() for found in OUTCOME.finditer(text)))[:MOST_OUTCOME]
