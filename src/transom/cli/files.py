"""What stands in a file, and how a file is written.

A file holds one JSON body, JSON lines (a body a line, or the messages of a session, one a line) or a picture. Nothing that can
be read is given up because of what cannot: a bad line is named and the others go on. A file is written whole or not at all, and
what is no file (a device, a pipe) is written to and never replaced.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from transom import canon, door, log
from transom.cli.answers import note
from transom.errors import BadRequest
from transom.frozen import Frozen
from transom.types import Json, JsonObject

STREAM = "-"
"""The name of standard input where something is read, of standard output where something is written."""
NO_BODY = "no BODY was given; give a request body as a file, or - for standard input"
PACKED: Mapping[bytes, tuple[str, str]] = {
    b"\x1f\x8b": ("gzip", "gunzip -c"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -dc"),
    b"BZh": ("bzip2", "bunzip2 -c"),
    b"\xfd7zXZ": ("xz", "xz -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
}
"""How packed files begin, what they are called, and what unpacks them."""
UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|[\s{\[]\x00[^\x00]\x00|\x00[\s{\[]\x00")
"""How JSON in UTF-16 begins, with and without its mark."""


class Item(Frozen, frozen=True, kw_only=True):
    """One JSON value of a file: its line (0: the file is one value), its bytes, and the value or why there is none."""

    unshown = ("raw", "value")

    line: int
    raw: bytes
    value: Json = None
    problem: str = ""

    @property
    def where(self) -> str:
        """How a message names it: `line 7`, or nothing where the file is one value."""
        return f"line {self.line}" if self.line else ""

    def body(self) -> JsonObject:
        """The value as a request body. Raises BadRequest where it is none."""
        if self.problem or not isinstance(self.value, dict):
            raise BadRequest(self.problem or "a request body is a JSON object", place=self.where)
        return self.value


class Source(Frozen, frozen=True, kw_only=True):
    """A file as read: what it holds, and its items, oldest first. A picture has none."""

    unshown = ("data", "items")

    name: str
    data: bytes
    kind: Literal["body", "lines", "session", "media"]
    items: tuple[Item, ...] = ()


def read(name: str) -> Source:
    """The file `name`, or standard input for `-`. Raises BadRequest where there is no such file or nothing in it that is read."""
    data = _bytes(name)
    text = data.lstrip(b" \t\r\n\x00\xef\xbb\xbf")
    if not text:
        raise BadRequest(f"{shown(name)} is empty; give a request body as JSON, or JSON lines")
    _refuse_coded(name, data)
    if text[:1] not in b"{[":
        _refuse_value(name, text)
        return Source(name=name, data=data, kind="media")
    whole = decoded(data.removeprefix(b"\xef\xbb\xbf"))
    if not whole.problem or not _has_lines(data):
        return Source(name=name, data=data, kind="body", items=(whole,))
    return lines(name, data)


def requests(source: Source) -> Source:
    """A file with its requests as items. A session becomes one request, and that is said; its unreadable lines are left aside.

    Raises BadRequest where the file is not JSON.
    """
    if source.kind == "media":
        raise BadRequest(f"{shown(source.name)} is not JSON; a request body is a JSON object with a list of messages")
    if source.kind != "session":
        return source
    session = log.read(source.data)
    body: JsonObject = {"messages": list(session.messages)}
    note(f"{shown(source.name)} holds a message a line; its {len(session.messages):,} messages are read as one request")
    for loss in session.lost:
        note(f"left aside: {loss}")
    return replace(source, kind="body", items=(Item(line=0, raw=canon.encode(body) + b"\n", value=body),))


def lines(name: str, data: bytes) -> Source:
    """The bytes of JSON lines, each line by itself."""
    rows = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if rows and not rows[-1].strip():
        rows.pop()
    items = tuple(decoded(row.rstrip(b"\r"), line) for line, row in enumerate(rows, 1))
    good = [item.value for item in items if not item.problem]
    talk = bool(good) and all(isinstance(value, dict) and "role" in value and "messages" not in value for value in good)
    if talk:  # every line of a session is accounted for
        return Source(name=name, data=data, kind="session", items=items)
    return Source(name=name, data=data, kind="lines", items=tuple(item for item in items if item.raw.strip()))


def decoded(raw: bytes, line: int = 0) -> Item:
    """One JSON value, or the sentence that says why it is none."""
    if not raw.strip():
        return Item(line=line, raw=raw, problem="the line is empty")
    if not raw.strip(b" \t\r\n\x00"):
        return Item(line=line, raw=raw, problem=f"nothing but {len(raw):,} NUL bytes, as a crash leaves them")
    try:
        return Item(line=line, raw=raw, value=door.parse(raw))
    except BadRequest as error:
        words = str(error)
        return Item(line=line, raw=raw, problem=words.removeprefix("line 1, ") if line else words)


def write(name: str, data: bytes, *, source: str = "", force: bool = False) -> None:
    """Write `data` to the file `name`, whole or not at all; `-` is standard output.

    Raises BadRequest where that is the file `source` that was read, unless `force`, and where it cannot be written.
    """
    if name == STREAM:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if source not in ("", STREAM) and not force and one_file(name, source) and Path(name).is_file():
        raise BadRequest(f"{name} is the file that was read; give another -o, or --force to replace it")
    try:
        if Path(name).is_dir():
            raise BadRequest(f"{name} is a folder; give the name of a file in it")
        if Path(name).exists() and not Path(name).is_file():
            with Path(name).open("wb") as device:  # a device or a pipe: it takes bytes and is never replaced
                device.write(data)
        else:
            real = Path(os.path.realpath(name))  # a link's target, there or not
            if real.is_symlink():
                raise BadRequest(f"{name} is a link that leads in a circle; give another file")
            _replace(real, data)
    except OSError as error:
        raise BadRequest(f"{name} cannot be written ({error.strerror}); give another file") from error


def one_file(one: str, other: str) -> bool:
    """Whether two names are those of one file, there or not; never so for standard input and output."""
    if STREAM in (one, other):
        return False
    with contextlib.suppress(OSError):
        return Path(one).samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def keep_aside(target: str, data: bytes, numbers: list[int]) -> None:
    """Keep these lines of `data`, numbered from 1, in the file `target`, behind what an earlier run kept there."""
    rows = data.split(b"\n")
    path = Path(target)
    kept = path.read_bytes() if path.is_file() else b""
    kept += b"\n" if kept and not kept.endswith(b"\n") else b""
    there = set(kept.split(b"\n"))
    fresh = [rows[number - 1] for number in numbers if rows[number - 1] not in there]
    write(target, kept + b"".join(row + b"\n" for row in fresh), force=True)


def kept(count: int, target: str) -> str:
    """What is said of lines that were kept aside."""
    return f"{count:,} lines are kept in {target}" if count != 1 else f"1 line is kept in {target}"


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
    if not name:
        raise BadRequest(NO_BODY)
    if name == STREAM:
        if sys.stdin is None:
            raise BadRequest("standard input is closed; give a file, or let something write to it")
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise BadRequest(f"{name} cannot be read ({error.strerror}); check the path, or give - for standard input") from error


def _refuse_coded(name: str, data: bytes) -> None:
    """Raises BadRequest for what is JSON only after it is unpacked or converted, with the command that does it."""
    where = "" if name == STREAM else f" {name}"
    for start, (packing, command) in PACKED.items():
        if data.startswith(start):
            raise BadRequest(f"{shown(name)} is packed with {packing}; unpack it first: {command}{where} | transom ... -")
    if UTF_16.match(data):
        raise BadRequest(f"{shown(name)} is UTF-16, and JSON is UTF-8; convert it first: iconv -f UTF-16 -t UTF-8{where}")


def _refuse_value(name: str, text: bytes) -> None:
    """Raises BadRequest for JSON that is no object."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    kind = {b'"': "a string", b"t": "true", b"f": "false", b"n": "null"}.get(text[:1], "a number")
    raise BadRequest(f"{shown(name)} is JSON, but {kind}; a request body is a JSON object with a list of messages")


def _has_lines(data: bytes) -> bool:
    # More than one line that could hold a value: not a body that was broken over lines and cut off.
    rows = [row for row in data.split(b"\n") if row.strip(b" \t\r\x00")]
    return len(rows) > 1 and sum(row.lstrip(b"\xef\xbb\xbf")[:1] == b"{" for row in rows) > len(rows) // 2


def shown(name: str) -> str:
    """A file's name as people read it."""
    return "standard input" if name == STREAM else name
