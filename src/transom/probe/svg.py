"""SVG: the sides of the root element, read from a bounded piece of its text without an XML parser.

A parser would expand entities; we read attributes only.
"""

from __future__ import annotations

import re

from transom.parts import Facts
from transom.probe.window import ZERO_SIDE, Head, Other, Short

_NEAR = 65_536
"""Bytes within which the root element must have ended."""
_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]{0,40}:)?svg(?=[\s>/])")
_ATTRIBUTE = re.compile(rb"\s++([\w:.-]{1,200}+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)')")
_NUMBER = re.compile(rb"\s*\+?(\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})(?:e\+?(\d{1,2}))?\s*([a-z%]{0,3})\s*\Z", re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[>]{0,2000}+(?:\[[^\]]{0,60000}+\]\s*+)?>", re.IGNORECASE)
_UNITS = {b"": 1.0, b"px": 1.0, b"in": 96.0, b"cm": 96 / 2.54, b"mm": 96 / 25.4, b"q": 96 / 101.6, b"pt": 96 / 72, b"pc": 16.0}
"""CSS pixels of each unit (https://www.w3.org/TR/css-values-4/#absolute-lengths); others depend on what is around."""
_PROLOG = 64
_ATTRIBUTES = 200
_MOST = 1 << 31


def accept_svg(start: bytes) -> bool:
    """Whether it may be XML."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<svg", b"<?xml", b"<!--", b"<!DOCTYPE", b"<!doctype"))


def read_svg(head: Head) -> Facts:
    """Width and height of the root; what they leave open comes from the view box; 0 where both do."""
    data = head.data.removeprefix(b"\xef\xbb\xbf")
    try:
        attributes = _attributes(data, _root(data))
    except Short:
        if head.complete or len(data) >= _NEAR:
            raise Other from None
        raise
    width, height = (_length(attributes.get(name, b"")) for name in (b"width", b"height"))
    box = attributes.get(b"viewBox", b"").replace(b",", b" ").split()
    if len(box) == 4:  # x, y, width, height
        width, height = _from_box(width, height, _length(box[2]), _length(box[3]))
    sides = tuple(0 if side is None else min(_MOST, -int(-side // 1)) for side in (width, height))
    problem = ZERO_SIDE if 0 in {width, height} else ""
    return Facts(mime="image/svg+xml", width=sides[0], height=sides[1], problem=problem)


def _from_box(
    width: float | None, height: float | None, wide: float | None, high: float | None
) -> tuple[float | None, float | None]:
    if not wide or not high:
        return width, height
    if width is None and height is None:
        return wide, high
    if width is None and height is not None:
        return height * wide / high, height
    if height is None and width is not None:
        return width, width * high / wide
    return width, height


def _root(data: bytes) -> int:
    """Where the attributes of the root element start. Raises Short, or Other where the root is something else."""
    at = 0
    for _ in range(_PROLOG):
        at += len(data[at:]) - len(data[at:].lstrip())
        if found := _ROOT.match(data, at):
            return found.end()
        if data.startswith(b"<?", at):
            at = _past(data, b"?>", at)
        elif data.startswith(b"<!--", at):
            at = _past(data, b"-->", at)
        elif data[at : at + 9].upper() == b"<!DOCTYPE":
            if not (whole := _DOCTYPE.match(data, at)):
                raise Short(len(data) + 1)
            at = whole.end()
        elif len(data) - at < 50:  # the longest start of a root
            raise Short(len(data) + 50)
        else:
            raise Other
    raise Other


def _past(data: bytes, mark: bytes, at: int) -> int:
    found = data.find(mark, at)
    if found < 0:
        raise Short(len(data) + 1)
    return found + len(mark)


def _attributes(data: bytes, at: int) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for _ in range(_ATTRIBUTES):
        pair = _ATTRIBUTE.match(data, at)
        if pair is None:
            break
        found.setdefault(pair[1], pair[2] if pair[2] is not None else pair[3])
        at = pair.end()
    if data.find(b">", at) < 0:
        raise Short(len(data) + 1)
    return found


def _length(value: bytes) -> float | None:
    """CSS pixels; None for what is missing or relative."""
    number = _NUMBER.match(value)
    if number is None or (unit := _UNITS.get(number[3].lower())) is None:
        return None
    return float(number[1]) * float(10 ** int(number[2] or 0)) * unit
