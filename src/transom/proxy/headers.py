"""Headers on the way through. The rule: what belongs to one connection stays on it, and nothing a client says of its own
origin counts.

Credentials go on to the upstream, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes

Pairs: TypeAlias = list[tuple[bytes, bytes]]

HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110, section 7.6.1."""
OWN: Final = frozenset({b"host", b"content-length", b"expect", b"accept-encoding", b"forwarded", b"x-real-ip", b"via"})
"""What the proxy says itself, or what is said of the client's origin, which it cannot vouch for."""
ACCEPT: Final = b"accept-encoding"
STAY: Final = HOP | OWN
STAY_DECODED: Final = STAY | {b"content-encoding"}
CREDENTIALS: Final = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key")
SESSION: Final = b"x-transom-session"
READABLE: Final = frozenset({b"gzip", b"deflate", b"br", b"zstd", b"identity"})
"""Codings of answers that usage can be read through; others are not asked for."""


def to_upstream(
    pairs: Iterable[tuple[bytes, bytes]], *, authority: str, length: int | None, encoded: bool, reads: bool = True
) -> Pairs:
    """The headers of a request as the upstream gets them; `length` of its body where that is known.

    `encoded`: the body goes out as it came, so that its content coding still holds. `reads`: the answer is read on its way, so
    that only codings that can be read through are asked for.
    """
    given = list(pairs)
    named = _named(given)
    dropped = STAY if encoded else STAY_DECODED
    out: Pairs = [(b"host", authority.encode())]
    out += [
        (name, value)
        for name, value in given
        if (name not in dropped or (name == ACCEPT and not reads))
        and name not in named
        and not name.startswith((b"x-forwarded-", b"x-transom-"))
    ]
    if reads:
        out.append((ACCEPT, _readable(given)))
    if length is not None:
        out.append((b"content-length", b"%d" % length))
    return out


def to_client(pairs: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """The headers of an answer as the client gets them."""
    given = [(name.lower(), value) for name, value in pairs]
    named = _named(given)
    return [(name, value) for name, value in given if name not in HOP and name not in named]


def credential(headers: Mapping[bytes, bytes], query: bytes) -> bytes:
    """What the caller proves itself with, as one string of bytes; b"" for nobody."""
    found = [name + b"\0" + headers[name] for name in CREDENTIALS if headers.get(name)]
    pairs = [pair.partition(b"=") for pair in query.split(b"&")] if query else []
    keys = [unquote_to_bytes(value) for name, _, value in pairs if value and unquote_to_bytes(name) == b"key"]
    return b"\0\0".join([*found, *(b"key\0" + key for key in keys)])


def _named(pairs: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """The headers that `Connection` names as its own."""
    listed = b",".join([value for name, value in pairs if name == b"connection"])
    return frozenset([word.strip().lower() for word in listed.split(b",")]) if listed else frozenset()


def _readable(pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    """What the client takes, less what cannot be read through."""
    listed = b",".join(value for name, value in pairs if name == b"accept-encoding")
    kept = [word.strip() for word in listed.split(b",") if word.partition(b";")[0].strip().lower() in READABLE]
    return b", ".join(kept) or b"identity"
