"""Gemini's framing.

The rule of this file: constants and shapes are read off recorded requests with the usage that came back; each says how many.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import field

from transom import canon
from transom.frozen import Frozen
from transom.parts import Conversation, Message, Part, walk
from transom.rules import tools
from transom.rules.tools import Tool, words
from transom.types import Count, Json, JsonObject

DEPTH: Final = 24
"""Deepest level of a schema that is read."""
SIGNATURES: Final = ("thoughtSignature", "thought_signature")
SHORT: Final = 100
"""Characters of a signature below which it holds no thoughts: "skip_thought_signature_validator" and the like, or one that a
recorder made unreadable."""


class GeminiFrame(Frozen, frozen=True, kw_only=True):
    """Gemini's framing: `turn` a content; declarations as words and a constant for each thing that is declared.

    `declared` are those constants: `tool`, `described` (a tool with a description), `property`, `optional`, `required` (a list of
    required names), `description` (of a property), `enum`, `title`, `array`, `object` (one inside). `json`: calls and results
    are billed as JSON and `per_call` and `per_result` more; otherwise their words alone are. `signature` tokens a character of a
    thought signature after the user's last turn, less `signature_less`; `streamed`: only of one that begins with a short piece,
    as that of a streamed answer does; `keeps_thoughts`: in earlier turns as well;
    `past_thoughts`: visible thoughts of earlier turns are read; `schema`: a response schema is.

    Source: docs/pricing.md
    """

    turn: int = 1
    declared: Mapping[str, float] = field(default_factory=dict)
    json: bool = True
    per_call: int = 5
    per_result: int = 5
    picture: int = 0
    signature: float = 0.0
    signature_less: int = 0
    streamed: bool = False
    keeps_thoughts: bool = False
    past_thoughts: bool = True
    schema: bool = False

    def request(self, conversation: Conversation, count: Count) -> int:
        """The declarations. A response schema is free on 1.5 and from 2.5 on (50 of 50 requests)."""
        declared = sum(self.declaration(tool, count) for tool in tools.declared(conversation.body) if not tool.server)
        return declared + (self.response_schema(conversation.body, count) if self.schema else 0)

    def response_schema(self, body: JsonObject, count: Count) -> int:
        """One that is not plain JSON schema is billed on 2.0 as a declaration is (5 of 5 requests)."""
        config = tools.held(body, "generationConfig") or tools.held(body, "generation_config")
        wanted = tools.held(config, "responseSchema") or tools.held(config, "response_schema")
        order = wanted.get("propertyOrdering", wanted.get("property_ordering"))
        ordered = sum(count(words(name)) for name in order) if isinstance(order, list) else 0
        return ordered + self.declaration(Tool(name="", schema=wanted), count) if wanted else 0

    def declaration(self, tool: Tool, count: Count) -> int:
        """One tool: its words, and what each thing around them costs (2.5: 91 of 99 requests within 5; 3: 36 of 39)."""
        features: Counter[str] = Counter(tool=1, described=bool(tool.description))
        total = count(tool.name) + count(tool.description)
        for schema in (tool.schema, tool.answer):
            total += sum(count(word) for word in read(schema, features))
        features["description"] -= bool(words(tool.schema.get("description")))
        return round(total + sum(times * self.declared.get(name, 0) for name, times in features.items()))

    def message(self, message: Message, count: Count) -> int:  # noqa: ARG002 - the protocol's signature
        """A constant, and what stands around each picture."""
        return self.turn + self.picture * sum(part.kind == "image" for part in walk(message.parts))

    def writes_calls(self, message: Message) -> bool:  # noqa: ARG002 - the protocol's signature
        """They are."""
        return True

    def call(self, part: Part, count: Count) -> int:
        """Its name and arguments."""
        return count(part.name) + self.value(part.text, count) + self.per_call

    def result(self, part: Part, count: Count) -> int:
        """Its name and what it says, with the key that it says it under."""
        held = tools.held(part.raw, "functionResponse") or tools.held(part.raw, "function_response")
        said = canon.text(held["response"]) if held.get("response") else part.text
        return count(part.name) + self.value(said, count) + self.per_result

    def value(self, text: str, count: Count) -> int:
        """Arguments or a response: as JSON, or only the strings in it, keys included."""
        if self.json or text[:1] not in "{[":
            return count(text)
        try:
            return sum(count(word) for word in strings(msgspec.json.decode(text)))
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return count(text)

    def reasoning(self, part: Part, count: Count, *, calls: bool, live: bool) -> int:  # noqa: ARG002
        """Its visible text, which 2.5 is billed for when it is sent back, and 3 only in the turn in progress."""
        return count(part.text) if live or self.past_thoughts else 0

    def said(self, text: str, *, live: bool) -> str:  # noqa: ARG002
        """All of it."""
        return text

    def hidden(self, part: Part, *, live: bool) -> int:
        """The thoughts behind a part's signature, by its length."""
        if not (self.signature and (live or self.keeps_thoughts) and isinstance(part.raw, dict)):
            return 0
        signature = next((words(part.raw[key]) for key in SIGNATURES if key in part.raw), "")
        length = len(signature)
        if length <= SHORT or (self.streamed and not begins_short(signature)):
            return 0
        return max(0, round(self.signature * length) - self.signature_less)


def begins_short(signature: str) -> bool:
    """Whether a signature begins with a piece of less than half of it. Its bytes are fields of protocol buffers, each with its
    length: that of a streamed answer is made of a short one and more, any other is mostly one.
    """
    try:
        head = base64.urlsafe_b64decode(signature[:8].replace("+", "-").replace("/", "_"))
    except ValueError:
        return False
    length = 0
    for at, byte in enumerate(head[1:]):
        length |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            return head[0] == 0x0A and at + 2 + length < len(signature) * 3 // 8
    return False


def read(schema: JsonObject, features: Counter[str], depth: int = 0) -> Iterator[str]:
    """The words of a schema, and how often each thing occurs in it."""
    if depth > DEPTH:
        return
    for key, feature in (("description", "description"), ("title", "title"), ("format", "")):
        if words(schema.get(key)):
            features[feature] += 1
            yield schema[key]
    options, required = (schema[key] if isinstance(schema.get(key), list) else [] for key in ("enum", "required"))
    features["enum"] += bool(options)
    features["required"] += bool(required)
    yield from (one if isinstance(one, str) else canon.text(one) for one in (*options, *required))
    properties = tools.held(schema, "properties")
    features["object"] += bool(properties) and depth > 0
    features["property"] += len(properties)
    features["optional"] += sum(name not in required for name in properties)
    for name, value in properties.items():
        yield name
        yield from read(value if isinstance(value, dict) else {}, features, depth + 1)
    items = tools.held(schema, "items")
    features["array"] += bool(items)
    yield from read(items, features, depth + 1)
    for value in inner(schema):
        yield from read(value, features, depth + 1)


def inner(schema: JsonObject) -> Iterator[JsonObject]:
    """Schemas that stand in a schema under a list or a table of them."""
    for key in ("anyOf", "any_of", "oneOf", "allOf"):
        listed = schema.get(key)
        yield from (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))
    for key in ("$defs", "definitions"):
        yield from (one for one in tools.held(schema, key).values() if isinstance(one, dict))


def strings(value: Json) -> Iterator[str]:
    """Every string in a value, keys included; numbers are not billed (Vertex: 18 of 18 requests)."""
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            yield from node
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, str):
            yield node
