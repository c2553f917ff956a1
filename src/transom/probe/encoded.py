"""Base64 text as a source of bytes: decoded only as far as it is asked for, in every spelling that people send.

Read are both alphabets, white space and line breaks anywhere, missing padding, and percent escapes (`%2B`). Text without
white space is decoded without being copied first; the position of its end is known without reading what stands before it.
"""

from __future__ import annotations

import binascii
import re

from transom.probe.window import Head

_SPACE = re.compile(r"\s*")
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_HALF_ESCAPE = re.compile(r"%[0-9A-Fa-f]?\Z")
_SPELLING = str.maketrans("-_", "+/", " \t\r\n\f\v")
_FILLERS = " \n\r\t\f\v%"
"""What moves the characters behind it: white space, and the first sign of an escape."""
_TAIL = 160
"""Characters looked at from the end: some 100 bytes, enough for an end mark and a little rubbish behind it."""


def _plain(text: str) -> str:
    """The same base64 text in the standard alphabet, without white space and percent escapes."""
    if "%" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return text.translate(_SPELLING)


def _decode(text: str) -> bytes:
    """The bytes of plain base64 text of the standard alphabet without padding; a last odd character is left out."""
    spare = len(text) % 4
    if spare == 1:
        text = text[:-1]
    return binascii.a2b_base64(text + "=" * (-len(text) % 4))


class Encoded:
    """Base64 text from the character `start` on."""

    __slots__ = ("_broken", "_dense", "_last", "_size", "_spaced", "_start", "_text", "_whole")

    def __init__(self, text: str, start: int = 0) -> None:
        """Take `text` as it is; nothing is copied."""
        found = _SPACE.match(text, start)
        self._text = text
        self._start = found.end() if found else start
        self._dense = self._start
        self._spaced = False
        self._broken = False
        self._last: bytes | None = None
        self._whole: bytes | None = None
        self._size: int | None = None

    def broken(self) -> bool:
        """Whether a character was seen, so far, that no base64 text has; what stands before it is still read."""
        return self._broken

    @property
    def empty(self) -> bool:
        """Whether there is nothing but white space."""
        return self._start >= len(self._text)

    def head(self, limit: int) -> Head:
        """The first bytes; fewer than `limit` where white space takes their room."""
        end = self._start + -(-limit // 3) * 4
        text = self._text[self._start : end]
        complete = end >= len(self._text)
        if not complete or not len(text) % 4:
            try:
                return Head(binascii.a2b_base64(text, strict_mode=True), complete, self._far)
            except ValueError:
                pass
        return self._head_of(text, complete=complete)

    def _head_of(self, text: str, *, complete: bool) -> Head:
        if not complete:
            text = _HALF_ESCAPE.sub("", text)
        plain = _plain(text)
        self._spaced = self._spaced or len(plain) != len(text)
        good = self._good(plain)
        padded = len(plain) > len(good)
        if not complete and not padded:
            good = good[: len(good) // 4 * 4]
        return Head(_decode(good), complete or padded, self._far)

    def _good(self, plain: str) -> str:
        """The part of plain text that is base64; notes whether anything but padding stands behind it."""
        found = _ALPHABET.match(plain)
        good = found[0] if found else ""
        if plain[len(good) :].strip("="):
            self._broken = True
        return good

    def tail(self) -> bytes:
        """The last bytes.

        Where white space hides how many characters there are, the end is taken for the end of a whole group of four.
        """
        if self._last is None:
            self._last = self._tail()
        return self._last

    def _tail(self) -> bytes:
        first = max(self._start, len(self._text) - _TAIL)
        text = self._text[first:].rstrip()
        plain = _plain(text)
        bare = plain.rstrip("=")
        if self._good(plain) != bare:
            return b""
        hidden = self._spaced or len(plain) != len(text)
        skip = len(plain) % 4 if hidden else -(first - self._start) % 4
        return _decode(bare[skip:])

    def _far(self, at: int, count: int) -> bytes:
        """`count` bytes from `at`; none where white space may stand before them, since then nobody knows where they are."""
        first, last = (self._start + group * 4 for group in (at // 3, -(-(at + count) // 3)))
        if last > len(self._text) or not self._is_dense(last):
            return b""
        return _decode(self._good(_plain(self._text[first:last])))[at % 3 :][:count]

    def _is_dense(self, last: int) -> bool:
        """Whether nothing that moves the characters behind it stands before `last`; each character is asked only once."""
        if not self._spaced and last > self._dense:
            self._spaced = any(self._text.find(mark, self._dense, last) >= 0 for mark in _FILLERS)
            self._dense = last
        return not self._spaced

    def part(self, at: int, count: int) -> bytes:
        """At most `count` bytes from `at`: decoded where they stand, or where white space hides that, cut from the whole."""
        count = min(count, self.size() - at)
        if at < 0 or count <= 0:
            return b""
        first, last = (self._start + group * 4 for group in (at // 3, -(-(at + count) // 3)))
        if self._is_dense(min(last, len(self._text))):
            return _decode(self._good(_plain(self._text[first:last])))[at % 3 :][:count]
        return self.whole()[at : at + count]

    def whole(self) -> bytes:
        """Every byte up to the first character that is not base64; decoded once."""
        if self._whole is None:
            self._whole = self._all()
        return self._whole

    def _all(self) -> bytes:
        try:
            return binascii.a2b_base64(self._text[self._start :], strict_mode=True)
        except ValueError:
            pass
        plain = _plain(self._text[self._start :])
        return _decode(self._good(plain))

    def size(self) -> int:
        """How many bytes there are: reckoned from the length, or counted where there is white space."""
        if self._size is None:
            self._size = self._measure()
        return self._size

    def _measure(self) -> int:
        last = self._text[max(self._start, len(self._text) - _TAIL) :]
        end = len(self._text) - len(last) + len(last.rstrip().rstrip("="))
        return (end - self._start) * 3 // 4 if self._is_dense(end) else len(self.whole())


class Raw:
    """The first bytes of a file of `size` bytes; all of it where they are as many."""

    __slots__ = ("_data", "_size")

    def __init__(self, data: bytes, size: int) -> None:
        """Take `data`, the first of `size` bytes."""
        self._data = data
        self._size = max(size, len(data))

    def head(self, limit: int) -> Head:
        """The first bytes, as far as they are at hand."""
        complete = limit >= self._size == len(self._data)
        return Head(self._data[:limit], complete, lambda at, count: self._data[at : at + count])

    def tail(self) -> bytes:
        """The last bytes, if the whole file is at hand."""
        return self._data[-_TAIL:] if len(self._data) == self._size else b""

    def part(self, at: int, count: int) -> bytes:
        """At most `count` bytes from `at`, as far as they are at hand."""
        return self._data[at : at + count] if at >= 0 and count > 0 else b""

    def whole(self) -> bytes | None:
        """The whole file, if it is at hand."""
        return self._data if len(self._data) == self._size else None

    def size(self) -> int:
        """How many bytes the file has."""
        return self._size
