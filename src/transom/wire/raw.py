"""Bytes where boto3 has bytes and HTTP has base64: boto3 encodes them itself, and would encode a text once more.

The rule: who gave bytes gets bytes back, in every place where Converse has them. Source: the service model of botocore's
bedrock-runtime, 2026-11. (google-genai 3.6.1 takes base64 and bytes alike.)
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from transom.types import Json

OWN: Final = frozenset({"input", "json", "additionalModelRequestFields"})
"""Keys behind which stands the caller's own JSON, in which boto3 takes no bytes."""
BLOBS: Final = frozenset({("source", "bytes"), ("reasoningContent", "redactedContent")})
"""Where Converse has bytes: the key of the object, and the key in it."""


def given(node: object) -> bool:
    """Whether there are bytes in what somebody gave. It has come through the door, so it ends."""
    if isinstance(node, Mapping):
        return any(given(value) for value in node.values())
    if isinstance(node, list | tuple):
        return any(given(value) for value in node)
    return isinstance(node, bytes | bytearray | memoryview)


def with_bytes(node: Json, key: str = "") -> Json:
    """The same JSON with bytes in place of base64; the same object where there is none. What is no base64 stays."""
    if key in OWN:
        return node
    if isinstance(node, dict):
        made = {name: _decoded(value) if (key, name) in BLOBS else with_bytes(value, name) for name, value in node.items()}
        return made if any(made[name] is not node[name] for name in node) else node
    if isinstance(node, list):
        items = [with_bytes(value) for value in node]
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node


def _decoded(value: Json) -> Json:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        return value
