"""The objects of a PDF: where each stands by the file's own tables, and by a search where these are torn.

The rule: a table's place is a claim that is checked against the object's number; every claim that fails leads to the search.
Classic tables, cross-reference streams, hybrids, updates (`/Prev`), object streams and rubbish before the head are followed.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from typing import Final

from transom.frozen import Frozen
from transom.probe.pdf_filters import undone, unpredicted
from transom.probe.pdf_syntax import BLANK, WINDOW, Purse, Ref, Torn, Value, parse, whole
from transom.probe.window import Source

_HEADER: Final = re.compile(rb"[" + BLANK + rb"]*+([0-9]{1,10})[" + BLANK + rb"]++[0-9]{1,5}[" + BLANK + rb"]++obj")
_NUMBERS: Final = re.compile(rb"([0-9]{1,10})[" + BLANK + rb"]{1,4}[0-9]{1,5}[" + BLANK + rb"]{0,4}\Z")
_START: Final = re.compile(rb"startxref[" + BLANK + rb"]*+([0-9]{1,12})")
_RANGE: Final = re.compile(rb"[" + BLANK + rb"]*+([0-9]{1,10})[" + BLANK + rb"]++([0-9]{1,10})[" + BLANK + rb"]*+")
_ENTRY: Final = re.compile(rb"([0-9]{10}) ([0-9]{5}) ([nf])([ \r\n]{1,2})")
_STREAM: Final = re.compile(rb"[" + BLANK + rb"]*+stream(?:\r\n|\n|\r)?")
_UPDATES: Final = 512
_HOPS: Final = 16
_BACK: Final = 24
_BLOCK: Final = 3 << 13
"""Bytes that are decoded at a time."""
_SMALL: Final = 4_096
"""Bytes that most objects are shorter than."""
_END: Final = 2_048
"""Bytes at the end in which the place of the newest table is looked for first."""


class Stream(Frozen, frozen=True):
    """A stream: its dictionary and where its bytes start."""

    head: dict[str, Value]
    at: int


class _Table(Frozen, frozen=True):
    """A stretch of a classic table; its lines are read when they are asked for."""

    first: int
    count: int
    at: int
    width: int


class _Rows(Frozen, frozen=True):
    """A stretch of a cross-reference stream."""

    first: int
    count: int
    at: int
    widths: tuple[int, int, int]
    data: bytes


@dataclass(slots=True)
class Document:
    """A PDF. `purse` pays for all that is done with it; `data` holds the blocks that were asked for, and zeros elsewhere."""

    source: Source
    size: int
    purse: Purse
    shift: int = 0
    trailers: list[dict[str, Value]] = field(default_factory=list)
    searched: bool = False
    data: bytearray = field(init=False)
    _have: bytearray = field(init=False)
    _depth: int = 0
    _tables: list[_Table | _Rows] = field(default_factory=list)
    _found: dict[int, int] = field(default_factory=dict)
    _known: dict[int, Value | Stream] = field(default_factory=dict)
    _packs: dict[int, dict[int, tuple[bytes, int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data = bytearray(self.size)
        self._have = bytearray(self.size // _BLOCK + 1)

    def need(self, at: int, end: int) -> None:
        """Have the bytes from `at` to `end` in `data`."""
        for block in range(max(0, at) // _BLOCK, (min(end, self.size) - 1) // _BLOCK + 1):
            if not self._have[block]:
                self._have[block] = 1
                piece = self.source.part(block * _BLOCK, _BLOCK)
                self.data[block * _BLOCK : block * _BLOCK + len(piece)] = piece

    def open(self) -> None:
        """Read the tables, newest first. Torn ones are left; raises Enough only."""
        self.need(0, _END)
        self.shift = max(0, self.data.find(b"%PDF-", 0, _END))
        self.need(self.size - _END, self.size)
        at = self.data.rfind(b"startxref", max(0, self.size - _END))
        if at < 0:
            self.need(0, self.size)
            at = self.data.rfind(b"startxref")
        start = _START.match(self.data, at) if at >= 0 else None
        if start is None:
            return
        todo, seen = [int(start[1])], set[int]()
        while todo and len(seen) < _UPDATES:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            for place in {at + self.shift, at} if self.shift else {at}:
                try:
                    trailer = self._section(place)
                except Torn:
                    continue
                self.trailers.append(trailer)
                todo += [step for key in ("Prev", "XRefStm") if (step := whole(trailer.get(key))) >= 0]
                break

    def search(self) -> None:
        """Look for the objects themselves; what the tables said is dropped. Of two of a number the later one stands."""
        self.searched = True
        self._tables.clear()
        self._known.clear()
        self.need(0, self.size)
        at = self.data.find(b"obj")
        while at >= 0:
            self.purse.spend(3)
            if self.data[at - 1 : at] != b"d" and (number := _NUMBERS.search(self.data[max(0, at - _BACK) : at])):
                self._found[int(number[1])] = max(0, at - _BACK) + number.start()
            at = self.data.find(b"obj", at + 3)
        at = self.data.rfind(b"trailer")
        for _ in range(_UPDATES):
            if at < 0:
                break
            self._take_trailer(at + 7)
            at = self.data.rfind(b"trailer", 0, at)
        for one, place in tuple(self._found.items()):
            head = self.data[place : place + 512]
            if b"/Catalog" in head:
                self.trailers.append({"Root": Ref(one)})
            elif b"/ObjStm" in head or b"/XRef" in head:
                self._unpack(place)

    def get(self, value: Value | Stream) -> Value | Stream:
        """The object behind a reference, or the value itself."""
        for _ in range(_HOPS):
            if not isinstance(value, Ref):
                return value
            number = int(value)
            if number not in self._known:
                if self._depth >= _HOPS:
                    return None
                self._known[number] = None  # whoever asks for it while it is read gets nothing
                self._depth += 1
                self._known[number] = self._load(number)
                self._depth -= 1
            value = self._known[number]
        return None

    def is_leaf(self, value: Value) -> bool:
        """Whether a reference leads to an object that names no kids: a page, if it stands in the tree. False if in doubt."""
        if not isinstance(value, Ref) or value in self._known:
            return False
        self.purse.spend(2)
        try:
            place = self._place(int(value))
        except Torn:
            return False
        piece = self._piece(int(value), *place) if place else b""
        return b"/Page" in piece and not any(mark in piece for mark in (b"/Kids", b"/Pages", b"#"))

    def _piece(self, number: int, kind: int, at: int) -> bytes:
        """The bytes of an object, if it is small and stands where the table has it."""
        if kind != 1:
            data, start, end = self._pack_of(at).get(number, (b"", 0, 0))
            return data[start : min(end, start + _SMALL)]
        at += self.shift
        self.need(at, at + _SMALL)
        header = _HEADER.match(self.data, at, at + 64)
        end = self.data.find(b"endobj", at, at + _SMALL)
        return bytes(self.data[at:end]) if header and end >= 0 and int(header[1]) == number else b""

    def fields(self, value: Value | Stream) -> dict[str, Value]:
        """The dictionary behind a reference, that of a stream included; an empty one for anything else."""
        found = self.get(value)
        if isinstance(found, Stream):
            return found.head
        return found if isinstance(found, dict) else {}

    def inflated(self, stream: Stream, most: int) -> bytes:
        """At most `most` bytes of what a stream holds; none where a filter is not known or its data are torn."""
        end = self._end(stream)
        self.need(stream.at, end)
        data = bytes(self.data[stream.at : end])
        for filter_, parameters in self._filters(stream.head):
            try:
                data = undone(filter_, data, most, self.purse)
                if whole(parameters.get("Predictor")) > 9:  # the PNG ones
                    data = unpredicted(data, min(max(whole(parameters.get("Columns")), 1), len(data) + 1), self.purse)
            except (ValueError, zlib.error, struct.error):
                return b""
        return data[:most]

    def _filters(self, head: dict[str, Value]) -> list[tuple[str, dict[str, Value]]]:
        filters, parameters = self.get(head.get("Filter")), self.get(head.get("DecodeParms"))
        names = filters if isinstance(filters, list) else [] if filters is None else [filters]
        extras = parameters if isinstance(parameters, list) else [parameters]
        known = [str(self.get(one)) for one in names[:_HOPS] if not isinstance(one, Stream)]
        return [(one, self.fields(extras[i]) if i < len(extras) else {}) for i, one in enumerate(known)]

    def _end(self, stream: Stream) -> int:
        """Where a stream's bytes end: as its length says if that leads to the end mark, else at the next end mark."""
        length = self.get(stream.head.get("Length"))
        end = stream.at + whole(length)
        if stream.at <= end < self.size:
            self.need(end, end + 12)
            if self.data[end : end + 12].lstrip().startswith(b"endstre"):
                return end
        for at in range(stream.at, self.size, WINDOW):
            self.purse.spend(WINDOW >> 14)
            self.need(at, at + WINDOW + 8)
            if (end := self.data.find(b"endstream", at, at + WINDOW + 8)) >= 0:
                return end
        return self.size

    # ------------------------------------------------------------------------------------------------ where things are

    def _load(self, number: int) -> Value | Stream:
        try:
            return self._load_by_table(number)
        except Torn:
            pass
        if not self.searched:
            self.search()
        try:
            return self._load_by_table(number)
        except Torn:
            return None

    def _load_by_table(self, number: int) -> Value | Stream:
        """The object where the newest table has it, or the search. None where no table has it. Raises Torn."""
        place = self._place(number)
        if place is None:
            return None
        kind, at = place
        return self._object_near(at, number) if kind == 1 else self._packed(at, number)

    def _place(self, number: int) -> tuple[int, int] | None:
        """Where an object is: 1 and its place, or 2 and its object stream; None where nothing says. Raises Torn."""
        if number in self._found:
            return 1, self._found[number] - self.shift
        self.purse.spend(len(self._tables) >> 4)
        for table in self._tables:
            if 0 <= (row := number - table.first) < table.count and (place := self._line(table, row))[0] in {1, 2}:
                return place
        packs = reversed(self._packs) if self.searched else ()
        return next(((2, pack) for pack in packs if number in self._packs[pack]), None)

    def _line(self, table: _Table | _Rows, row: int) -> tuple[int, int]:
        """What a table says of an object: 1 and its place, 2 and its object stream, or 0. Raises Torn."""
        self.purse.spend(1)
        if isinstance(table, _Rows):
            first, second, third = table.widths
            at = table.at + row * (first + second + third)
            kind = int.from_bytes(table.data[at : at + first], "big") if first else 1
            return kind, int.from_bytes(table.data[at + first : at + first + second], "big")
        at = table.at + row * table.width
        self.need(at, at + 20)
        entry = _ENTRY.match(self.data, at)
        if entry is None:
            raise Torn
        return int(entry[3] == b"n"), int(entry[1])

    def _object_near(self, place: int, number: int) -> Value | Stream:
        if self.shift:
            try:
                return self._object(place + self.shift, number)
            except Torn:
                pass
        return self._object(place, number)

    def _object(self, at: int, number: int) -> Value | Stream:
        """The object that starts at `at`. Raises Torn where another one does, or none."""
        self.need(at, at + 64)
        header = _HEADER.match(self.data, at, at + 64)
        if header is None or (number >= 0 and int(header[1]) != number):
            raise Torn
        value, end = self._parse(header.end())
        self.need(end, end + 64)
        if isinstance(value, dict) and (mark := _STREAM.match(self.data, end, end + 64)):
            return Stream(value, mark.end())
        return value

    def _parse(self, at: int) -> tuple[Value, int]:
        """The object at `at` and where it ends; most are small, so that a small piece is tried first. Raises Torn."""
        self.need(at, at + _SMALL)
        try:
            return parse(self.data, at, at + _SMALL, self.purse)
        except Torn:
            self.need(at, at + WINDOW)
            return parse(self.data, at, at + WINDOW, self.purse)

    def _packed(self, pack: int, number: int) -> Value:
        found = self._pack_of(pack).get(number)
        if found is None:
            raise Torn
        data, at, _ = found
        return parse(data, at, at + WINDOW, self.purse)[0]

    def _pack_of(self, pack: int) -> dict[int, tuple[bytes, int, int]]:
        if pack not in self._packs:
            self._packs[pack] = {}
            self._packs[pack] = self._pack(self.get(Ref(pack)))
        return self._packs[pack]

    def _pack(self, stream: Value | Stream) -> dict[int, tuple[bytes, int, int]]:
        """The objects of an object stream: its data, and where in them each starts and the next one does."""
        if not isinstance(stream, Stream):
            return {}
        first = max(0, whole(self.get(stream.head.get("First"))))
        data = self.inflated(stream, self.purse.room)
        numbers = [int(one) if one.isdigit() else -1 for one in data[: min(first, 1 << 20)].split()]
        self.purse.spend(len(numbers) >> 2)
        starts = [first + at if at >= 0 else len(data) for at in numbers[1::2]]
        spans = zip(numbers[::2], starts, [*starts[1:], len(data)], strict=False)
        return {number: (data, start, end) for number, start, end in spans}

    # -------------------------------------------------------------------------------------------------------- sections

    def _section(self, at: int) -> dict[str, Value]:
        """One table, classic or stream, and its trailer. Raises Torn."""
        self.need(at, at + 128)
        at += len(self.data[at : at + 64]) - len(self.data[at : at + 64].lstrip())
        if not self.data.startswith(b"xref", at):
            return self._section_stream(self._object(at, -1))
        at += 4
        while span := _RANGE.match(self.data, at, at + 64):
            self.purse.spend(1)
            self.need(span.end(), span.end() + 20)
            entry = _ENTRY.match(self.data, span.end())
            width = 18 + len(entry[4]) if entry else 20
            self._tables.append(_Table(int(span[1]), int(span[2]), span.end(), width))
            at = span.end() + width * int(span[2])
            self.need(at, at + 64)
        mark = self.data.find(b"trailer", at, at + 64)
        value = self._parse(mark + 7)[0] if mark >= 0 else None
        if not isinstance(value, dict):
            raise Torn
        return value

    def _section_stream(self, stream: Value | Stream) -> dict[str, Value]:
        if not isinstance(stream, Stream) or stream.head.get("Type") != "XRef":
            raise Torn
        widths = stream.head.get("W")
        sizes = [whole(one) for one in widths] if isinstance(widths, list) else []
        if len(sizes) != 3 or min(sizes) < 0 or max(sizes) > 8:  # the three columns, as numbers of 64 bits
            raise Torn
        index = stream.head.get("Index")
        spans = [whole(one) for one in index] if isinstance(index, list) else [0, whole(stream.head.get("Size"))]
        data, at = self.inflated(stream, self.purse.room), 0
        for first, count in zip(spans[::2], spans[1::2], strict=False):
            self._tables.append(_Rows(first, count, at, (sizes[0], sizes[1], sizes[2]), data))
            at += sum(sizes) * max(0, count)
        return stream.head

    # ------------------------------------------------------------------------------------------------------ the search

    def _take_trailer(self, at: int) -> None:
        try:
            value, _ = self._parse(at)
        except Torn:
            return
        if isinstance(value, dict):
            self.trailers.append(value)

    def _unpack(self, at: int) -> None:
        """Take in an object stream, or the trailer that a cross-reference stream is."""
        try:
            stream = self._object(at, -1)
        except Torn:
            return
        if isinstance(stream, Stream):
            if stream.head.get("Type") == "ObjStm":
                self._packs[-at] = self._pack(stream)
                for number, (data, start, end) in self._packs[-at].items():
                    if b"/Catalog" in data[start : min(end, start + _SMALL)]:
                        self.trailers.append({"Root": Ref(number)})
            elif stream.head.get("Type") == "XRef":
                self.trailers.append(stream.head)
