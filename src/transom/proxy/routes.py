"""Which API a path belongs to, and whether its body is planned. The rule: a table; the path is forwarded as it was written.

Two ways lead to an upstream: the API's own path (`/v1/messages`), and the same below the family's name
(`/anthropic/v1/messages`), which settles paths that two APIs share (`/v1/models`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from transom.frozen import Frozen
from transom.proxy.settings import FAMILIES, Family
from transom.wire import FORMS

PLANNED: Final[Mapping[tuple[Family, str], tuple[str, bool]]] = {
    ("anthropic", "/v1/messages"): ("anthropic", False),
    ("anthropic", "/v1/messages/count_tokens"): ("anthropic", True),
    ("openai", "/v1/chat/completions"): ("openai-chat", False),
    ("openai", "/chat/completions"): ("openai-chat", False),
    ("openai", "/v1/responses"): ("openai-responses", False),
    ("openai", "/responses"): ("openai-responses", False),
    ("openai", "/v1/responses/input_tokens"): ("openai-responses", True),
    ("openai", "/responses/input_tokens"): ("openai-responses", True),
}
"""Family and path of a POST whose body is planned: its wire form, and whether it only counts."""

ERRORS: Final[Mapping[Family, str]] = {"anthropic": "anthropic", "openai": "openai-chat", "gemini": "gemini"}
"""The wire form that a family's errors are written in."""

_GEMINI: Final = re.compile(
    r"/v1(?:beta|alpha)?/(?:models|tunedModels|publishers/google/models)/([^/:]+):(generateContent|streamGenerateContent|countTokens)"
)
_GEMINI_PATHS: Final = re.compile(r"/(?:upload/|download/)?v1(?:beta|alpha)\d*/|/v1/(?:models|tunedModels)/[^/:]+:")
_ANTHROPIC_PATHS: Final = re.compile(r"/v1/(?:messages|complete|skills)(?:[/?]|$)")
_DOTS: Final = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$|%2f)|\\", re.IGNORECASE)


class Route(Frozen, frozen=True, kw_only=True):
    """Where a request goes: the family, the API's own path, and, where its body is planned, the wire form.

    `model` is the one that the path names (Gemini). `counts`: the answer is a count, so nothing is remembered.
    """

    family: Family
    path: str
    api: str = ""
    model: str = ""
    counts: bool = False


def find(method: str, path: str, headers: Mapping[bytes, bytes]) -> Route | None:
    """The route of a path as it was written, without its query; None where it belongs to no API.

    A path with `.` or `..` as a segment belongs to none: it could leave the path in front of the upstream's.
    """
    if not path.startswith("/") or _DOTS.search(path):
        return None
    first, _, rest = path[1:].partition("/")
    named = next((family for family in FAMILIES if family == first), None)
    route = Route(family=named, path=f"/{rest}") if named else _by_path(path, headers)
    return _planned(route) if route is not None and method == "POST" else route


def speaker(path: str, headers: Mapping[bytes, bytes]) -> Family:
    """Whose errors a client most likely reads, for a path that belongs to none."""
    first = path[1:].partition("/")[0]
    named = next((family for family in FAMILIES if family == first), None)
    if named:
        return named
    if b"anthropic-version" in headers:
        return "anthropic"
    return "gemini" if b"x-goog-api-key" in headers or b"x-goog-api-client" in headers else "openai"


def _by_path(path: str, headers: Mapping[bytes, bytes]) -> Route | None:
    if _GEMINI_PATHS.match(path):
        return Route(family="gemini", path=path)
    if path.startswith("/v1/"):
        if _ANTHROPIC_PATHS.match(path) or b"anthropic-version" in headers:
            return Route(family="anthropic", path=path)
        shared = b"x-goog-api-key" in headers and path.startswith("/v1/models")
        return Route(family="gemini" if shared else "openai", path=path)
    return Route(family="openai", path=path) if ("openai", path) in PLANNED else None


def _planned(route: Route) -> Route:
    if route.family == "gemini":
        found = _GEMINI.fullmatch(route.path)
        api, counts, model = ("gemini", found[2] == "countTokens", found[1]) if found else ("", False, "")
    else:
        (api, counts), model = PLANNED.get((route.family, route.path), ("", False)), ""
    return replace(route, api=api, counts=counts, model=model) if api in FORMS else route
