"""Content codings, decoded within a bound. The rule: a few bytes never become more than `most`, and never more at once than a
window.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import brotli

from transom.errors import BadRequest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    import backports.zstd as zstd  # noqa: PLR0402 - a namespace that types do not know

NOT_OF_IT: Final = "the body is not of the content coding that its header names"
CUT_OFF: Final = "the body ends in the middle of its content coding; send it whole"
SMALL: Final = 8 * 2**20
"""Bytes that any body may grow to."""
FOLD: Final = 100
"""How many times its own size a body may grow to beyond that."""
SLICE: Final = 4_096
"""Compressed bytes that are decoded at once, so that what they grow to is counted as it grows."""
WINDOW_LOG: Final = 25
"""The largest window of zstd that is taken, as a power of two: 32 MiB."""


class TooLarge(BadRequest):
    """A body is over the limit, as it came or decompressed."""

    status_hint = 413


class Decoder(Protocol):
    """Bytes of a coding in, plain bytes out."""

    def feed(self, data: bytes, most: int) -> bytes:
        """What `data` decodes to. Raises TooLarge for more than `most` bytes, BadRequest for what is not of the coding."""

    @property
    def ended(self) -> bool:
        """Whether what came so far is whole."""


class Inflate:
    """gzip (of any number of members) and deflate, with or without its head."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._engine = zlib.decompressobj(wbits)
        self._head: bytes | None = b"" if wbits == zlib.MAX_WBITS else None

    def feed(self, data: bytes, most: int) -> bytes:
        """As Decoder says."""
        if self._head is not None:
            data = self._begun(self._head + data)
        out = bytearray()
        while data:
            if self._engine.eof:
                data = data.lstrip(b"\0") if self._wbits > zlib.MAX_WBITS else data  # gzip may be padded (gzip manual, section 6)
                if not data:
                    break
                self._engine = zlib.decompressobj(self._wbits)
            try:
                out += self._engine.decompress(data, most + 1 - len(out))
            except zlib.error:
                raise BadRequest(NOT_OF_IT) from None
            if len(out) > most:
                raise TooLarge(f"the body has more than {most:,} bytes when decompressed; send a smaller one")
            data = self._engine.unconsumed_tail or self._engine.unused_data
        return bytes(out)

    @property
    def ended(self) -> bool:
        """As Decoder says."""
        return self._engine.eof

    def _begun(self, data: bytes) -> bytes:
        """What can be decoded of the beginning: its first two bytes say whether there is a head (RFC 1950, section 2.2)."""
        if len(data) < 2:
            self._head = data
            return b""
        self._head = None
        if data[0] & 15 != zlib.DEFLATED or (data[0] << 8 | data[1]) % 31:
            self._wbits, self._engine = -zlib.MAX_WBITS, zlib.decompressobj(-zlib.MAX_WBITS)
        return data


class Brotli:
    """br."""

    def __init__(self) -> None:
        self._engine = brotli.Decompressor()

    def feed(self, data: bytes, most: int) -> bytes:
        """As Decoder says."""
        try:
            out = bytearray(self._engine.process(data, output_buffer_limit=most + 1))
            while not self._engine.can_accept_more_data() and len(out) <= most:
                out += self._engine.process(b"", output_buffer_limit=most + 1 - len(out))
        except brotli.error:
            raise BadRequest(NOT_OF_IT) from None
        if len(out) > most:
            raise TooLarge(f"the body has more than {most:,} bytes when decompressed; send a smaller one")
        return bytes(out)

    @property
    def ended(self) -> bool:
        """As Decoder says."""
        return bool(self._engine.is_finished())


class Zstd:
    """zstd, of any number of frames."""

    def __init__(self) -> None:
        self._engine = self._new()

    @staticmethod
    def _new() -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})

    def feed(self, data: bytes, most: int) -> bytes:
        """As Decoder says."""
        out = bytearray()
        try:
            while data or not (self._engine.needs_input or self._engine.eof):
                if self._engine.eof:
                    self._engine = self._new()
                out += self._engine.decompress(data, most + 1 - len(out))
                if len(out) > most:
                    raise TooLarge(f"the body has more than {most:,} bytes when decompressed; send a smaller one")
                data = self._engine.unused_data if self._engine.eof else b""
        except zstd.ZstdError:
            raise BadRequest(NOT_OF_IT) from None
        return bytes(out)

    @property
    def ended(self) -> bool:
        """As Decoder says."""
        return self._engine.eof


CODINGS: Final[Mapping[bytes, Callable[[], Decoder]]] = {
    b"gzip": lambda: Inflate(zlib.MAX_WBITS | 16),
    b"x-gzip": lambda: Inflate(zlib.MAX_WBITS | 16),
    b"deflate": lambda: Inflate(zlib.MAX_WBITS),
    b"br": Brotli,
    b"zstd": Zstd,
}


def decoder(coding: bytes) -> Decoder | None:
    """The decoder of a content coding; None for one that is not known, or more than one."""
    make = CODINGS.get(coding.strip().lower())
    return make() if make is not None else None


def is_coded(coding: bytes) -> bool:
    """Whether a content coding changes anything."""
    return coding.strip().lower() not in {b"", b"identity"}


def plain(data: bytes, coding: bytes, most: int, grow: Callable[[int], None] | None = None) -> bytes:
    """A whole body without its coding. `grow` is told of the bytes that come of it as they come, and may raise.

    Raises TooLarge above `most` bytes, and for what grows out of all proportion; BadRequest for what cannot be decoded.
    """
    if not is_coded(coding) or not data:
        return data
    engine = decoder(coding)
    if engine is None:
        raise BadRequest(
            f"the content coding {coding.decode('latin-1')[:40]!r} cannot be read; send gzip, deflate, br, zstd, or none"
        )
    bound = max(SMALL, FOLD * len(data))
    out, size = [], 0
    for at in range(0, len(data), SLICE):
        try:
            part = engine.feed(data[at : at + SLICE], min(most, bound) - size)
        except TooLarge:
            raise TooLarge(_too_large(most, bound)) from None
        size += len(part)
        out.append(part)
        if grow is not None:
            grow(len(part))
    if not engine.ended:
        raise BadRequest(CUT_OFF)
    return b"".join(out)


def _too_large(most: int, bound: int) -> str:
    if bound < most:
        return f"the body grows more than {FOLD}-fold when decompressed, beyond {SMALL:,} bytes; send it without a content coding"
    return f"the body has more than {most:,} bytes when decompressed; send a smaller one"
