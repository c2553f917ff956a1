"""Claude's framing.

The rule of this file: constants and shapes are read off recorded requests with the usage that came back; each says how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from transom import canon
from transom.frozen import Frozen
from transom.parts import Conversation, Message, Part, walk
from transom.rules import tools
from transom.rules.tools import Tool
from transom.types import Count, Json, JsonObject

SERVER_TOOLS: Final = (
    ("bash_", 325),
    ("text_editor_", 700),
    ("computer_toolset_", 4_520),
    ("browser_toolset_", 6_610),
    ("computer_", 735),
    ("memory_", 1_072),
    ("", 700),
)
"""Tokens of Anthropic's own tools by the beginning of their type: docs/pricing.md; `memory_` from two recorded
requests; the last row is for all others, a guess."""


class ClaudeFrame(Frozen, frozen=True, kw_only=True):
    """Claude's framing. `start` + `turn` a message; `preamble` of tools by choice; calls and results as marked-up
    parameters; `shown` in a result that holds media, `beside` where a text stands beside them (9 requests of 4 repositories);
    `opening` where the assistant speaks first (4 requests), `cited` where documents or results of a search are cited from (3).

    Source: docs/pricing.md
    """

    start: int = 4
    turn: int = 3
    preamble: int = 496
    preamble_forced: int = 588
    tools: int = 1
    per_tool: int = 6
    per_call: int = 27
    per_parameter: int = 13
    per_result: int = 13
    shown: int = 6
    beside: int = 13
    failed: int = 7
    picture: int = 3
    parallel: int = 20
    keeps_thinking: bool = True
    thinking: int = 29
    schema: int = 81
    opening: int = 12
    cited: int = 557

    def request(self, conversation: Conversation, count: Count) -> int:
        """Frame, thinking, tools and schema."""
        body = conversation.body
        opens = bool(conversation.messages) and conversation.messages[0].role == "assistant"
        around = self.start + self.opening * opens + self.cited * cites(conversation)
        return around + self.thinking * thinks(body) + self.declarations(body, count) + self.response_schema(body, count)

    def declarations(self, body: JsonObject, count: Count) -> int:
        """The preamble for the choice, and each tool as JSON with spaces."""
        declarations = tools.declared(body)
        if not declarations:
            return 0
        kind, name = tools.chosen(body)
        before = self.preamble_forced if kind in {"any", "tool"} else self.preamble
        chosen = count(name) + 1 if kind == "tool" else 0  # 40 of 46 records within 1
        written = sum(self.declaration(tool, count) for tool in declarations)
        return before + self.tools + chosen + written

    def declaration(self, tool: Tool, count: Count) -> int:
        """One tool: its JSON, or what the provider's own tool of that type costs."""
        if not tool.server:
            return self.per_tool + count(spaced({"description": tool.description, "name": tool.name, "parameters": tool.schema}))
        return next(tokens for start, tokens in SERVER_TOOLS if tool.server.startswith(start))

    def response_schema(self, body: JsonObject, count: Count) -> int:
        """The schema that the answer must follow."""
        wanted = schema_of(body)
        return count(indented(wanted)) + self.schema if wanted else 0

    def message(self, message: Message, count: Count) -> int:  # noqa: ARG002 - the protocol's signature
        """A constant, what each call beside the first one costs more, and what stands around each picture."""
        calls = sum(part.kind == "call" for part in message.parts)
        pictures = sum(part.kind == "image" for part in walk(message.parts))
        return self.turn + self.parallel * max(0, calls - 1) + self.picture * pictures

    def writes_calls(self, message: Message) -> bool:  # noqa: ARG002 - the protocol's signature
        """They are."""
        return True

    def call(self, part: Part, count: Count) -> int:
        """Its name, and a constant, key and value for each parameter."""
        written = sum(count(key) + count(value) + self.per_parameter for key, value in parameters(part.text))
        return count(part.name) + self.per_call + written

    def result(self, part: Part, count: Count) -> int:
        """Its text, a constant, the mark of one that failed, and what stands around media in it."""
        media = any(inner.media is not None for inner in part.parts)
        told = any(inner.kind == "text" for inner in part.parts)
        around = self.shown + self.beside * told if media else 0
        return count(part.text) + self.per_result + around + self.failed * part.failed

    def reasoning(self, part: Part, count: Count, *, calls: bool, live: bool) -> int:
        """Its visible text.

        Models before Opus 4.5 and Sonnet 4.6, and Haiku up to 4.5, drop it once the turn is over, and a message without
        calls is the end of one (docs/pricing.md).
        """
        return count(part.text) if (calls and live) or self.keeps_thinking else 0

    def said(self, text: str, *, live: bool) -> str:  # noqa: ARG002
        """All of it."""
        return text

    def hidden(self, part: Part, *, live: bool) -> int:  # noqa: ARG002
        """Nothing is known of signatures and of redacted thinking."""
        return 0


def schema_of(body: JsonObject) -> JsonObject:
    """The response schema of Anthropic's forms and of Bedrock's, which writes it as a string."""
    for key in ("output_format", "output_config"):
        wanted = tools.held(body, key)
        inner = tools.held(wanted, "format") or wanted
        if isinstance(inner.get("schema"), dict):
            return tools.held(inner, "schema")
    structure = tools.held(tools.held(tools.held(body, "outputConfig"), "textFormat"), "structure")
    written = tools.words(tools.held(structure, "jsonSchema").get("schema"))
    try:
        found = msgspec.json.decode(written) if written else {}
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        found = {}
    return found if isinstance(found, dict) else {}


def cites(conversation: Conversation) -> bool:
    """Whether a document is to be cited from: the provider explains how."""
    documents = (part.raw for message in conversation.messages for part in walk(message.parts) if part.kind == "document")
    inner = (tools.held(raw, "document") or tools.held(raw, "searchResult") or raw for raw in documents if isinstance(raw, dict))
    return any(tools.held(raw, "citations").get("enabled") is True for raw in inner)


def thinks(body: JsonObject) -> bool:
    """Whether thinking is asked for, in any form: Anthropic's, Bedrock's, or a gateway's (OpenRouter, 14 requests)."""
    extra = tools.held(body, "additionalModelRequestFields")
    asked = tools.held(body, "thinking") or tools.held(extra, "thinking") or tools.held(extra, "reasoning_config")
    gateway = tools.held(body, "reasoning")
    return asked.get("type") == "enabled" or bool(gateway.get("effort") or gateway.get("max_tokens") or gateway.get("enabled"))


def parameters(arguments: str) -> Iterator[tuple[str, str]]:
    """Keys and values of a call's arguments; arguments that are no JSON object are one value without a key."""
    try:
        value = msgspec.json.decode(arguments) if arguments else {}
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        value = arguments
    if not isinstance(value, dict):
        yield "", arguments
        return
    for key, inner in value.items():
        yield key, inner if isinstance(inner, str) else canon.text(inner)


def spaced(value: Json) -> str:
    """JSON on one line with a space behind each colon and comma, as Python's `json.dumps` writes it."""
    return msgspec.json.format(canon.encode(value), indent=0).decode()


def indented(value: Json) -> str:
    """JSON over several lines, two spaces a level."""
    return msgspec.json.format(canon.encode(value), indent=2).decode()
