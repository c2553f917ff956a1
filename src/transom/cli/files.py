"""What stands in a file, and how a file is written.

A file holds one JSON body, JSON lines (a body a line, or the messages of a session, one a line) or a picture. Nothing that can
be read is given up because of what cannot: a bad line is named and the others go on. A file is written whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from transom import door
from transom.errors import BadRequest
from transom.types import Json, JsonObject

STDIN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One JSON value of a file: its line (0: the file is one value), its bytes, and the value or why there is none."""

    line: int
    raw: bytes = field(repr=False)
    value: Json = field(default=None, repr=False)
    problem: str = ""

    @property
    def where(self) -> str:
        """How a message names it: `line 7`, or nothing where the file is one value."""
        return f"line {self.line}" if self.line else ""

    def body(self) -> JsonObject:
        """The value as a request body. Raises BadRequest where it is none."""
        if self.problem:
            raise BadRequest(self.problem, place=self.where)
        if not isinstance(self.value, dict):
            kind = type(self.value).__name__
            raise BadRequest(f"a request body is a JSON object, and this is a {kind}", place=self.where)
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file as read: what it holds, and its items, oldest first. A picture has none."""

    name: str
    data: bytes = field(repr=False)
    kind: Literal["body", "lines", "session", "media"]
    items: tuple[Item, ...] = field(default=(), repr=False)


def read(name: str) -> Source:
    """The file `name`, or standard input for `-`. Raises BadRequest where there is no such file or nothing in it."""
    data = _bytes(name)
    text = data.lstrip(b" \t\r\n\x00\xef\xbb\xbf")
    if not text:
        raise BadRequest(f"{shown(name)} is empty; give a request body as JSON, or JSON lines")
    if text[:1] not in b"{[":
        return Source(name=name, data=data, kind="media")
    whole = decoded(data.removeprefix(b"\xef\xbb\xbf"))
    if not whole.problem or not _has_lines(data):
        return Source(name=name, data=data, kind="body", items=(whole,))
    return lines(name, data)


def lines(name: str, data: bytes) -> Source:
    """The bytes of JSON lines, each line by itself."""
    rows = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if rows and not rows[-1].strip():
        rows.pop()
    items = tuple(decoded(row.rstrip(b"\r"), line) for line, row in enumerate(rows, 1))
    good = [item.value for item in items if not item.problem]
    talk = bool(good) and all(isinstance(value, dict) and "role" in value and "messages" not in value for value in good)
    return Source(name=name, data=data, kind="session" if talk else "lines", items=items)


def decoded(raw: bytes, line: int = 0) -> Item:
    """One JSON value, or the sentence that says why it is none."""
    if not raw.strip():
        return Item(line=line, raw=raw, problem="the line is empty")
    if not raw.strip(b" \t\r\n\x00"):
        return Item(line=line, raw=raw, problem=f"nothing but {len(raw):,} NUL bytes, as a crash leaves them")
    try:
        return Item(line=line, raw=raw, value=door.parse(raw))
    except BadRequest as error:
        return Item(line=line, raw=raw, problem=str(error))


def write(name: str, data: bytes, *, source: str = "", force: bool = False) -> None:
    """Write `data` to the file `name`, whole or not at all; `-` is standard output.

    Raises BadRequest where that is the file `source` that was read, unless `force`, and where it cannot be written.
    """
    if name == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    if source not in ("", STDIN) and not force and target.exists() and target.samefile(source):
        raise BadRequest(f"{name} is the file that was read; give another -o, or --force to replace it")
    try:
        _replace(target, data)
    except OSError as error:
        raise BadRequest(f"{name} cannot be written ({error.strerror}); give another -o") from error


def _replace(target: Path, data: bytes) -> None:
    # A temporary file beside the target, so that the rename stays on one file system and is atomic.
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _bytes(name: str) -> bytes:
    if name == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise BadRequest(f"{name} cannot be read ({error.strerror}); check the path, or give - for standard input") from error


def _has_lines(data: bytes) -> bool:
    # More than one line that could hold a value: not a body that was broken over lines and cut off.
    rows = [row for row in data.split(b"\n") if row.strip(b" \t\r\x00")]
    return len(rows) > 1 and sum(row.lstrip(b"\xef\xbb\xbf")[:1] == b"{" for row in rows) > len(rows) // 2


def shown(name: str) -> str:
    """A file's name as people read it."""
    return "standard input" if name == STDIN else name
