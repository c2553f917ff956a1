"""What stands around the content: framing, tool declarations, calls, results and schemas, by who bills.

The rule of this file: a frame is a value with constants; text is counted by the counter that it is handed, so every frame
works with every counter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec

from transom import canon
from transom.parts import Conversation, Message, Part
from transom.rules import tools, typescript
from transom.types import Count, Json, JsonObject

SCHEMA_NOISE = frozenset({"additionalProperties", "$schema", "required", "default"})
"""Keys of a response schema that OpenAI does not bill (pricing rules, section 11)."""


SERVER_TOOLS = (
    ("bash_", 325),
    ("text_editor_", 700),
    ("computer_toolset_", 4_520),
    ("browser_toolset_", 6_610),
    ("computer_", 735),
    ("memory_", 1_072),
    ("", 700),
)
"""Tokens of Anthropic's own tools by the beginning of their type: pricing rules, section 2.3; `memory_` from two recorded
requests; the last row is for all others, a guess."""


class Frame(Protocol):
    """The framing of one family of models. Each answer is tokens."""

    def request(self, conversation: Conversation, count: Count) -> int:
        """Around the whole: framing, tools, schemas; neither system text nor messages."""

    def message(self, message: Message, count: Count) -> int:
        """Around one message, without its parts."""

    def call(self, part: Part, count: Count) -> int:
        """A tool call."""

    def result(self, part: Part, count: Count) -> int:
        """A tool result without the parts inside it."""

    def reasoning(self, part: Part, count: Count, *, calls: bool) -> int:
        """Reasoning that is sent back. `calls`: its message calls tools, so that it may belong to the turn in progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatFrame:
    """The reference figures: no framing; a call costs its input and `per_call` (CM-51, CM-52)."""

    per_call: int = 20

    def request(self, conversation: Conversation, count: Count) -> int:
        """The declarations as JSON."""
        declarations = tools.declared(conversation.body)
        return sum(count(json_text(tool.raw)) for tool in declarations)

    def message(self, message: Message, count: Count) -> int:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return 0

    def call(self, part: Part, count: Count) -> int:
        """The input as JSON, and a constant."""
        return count(part.text) + self.per_call

    def result(self, part: Part, count: Count) -> int:
        """The text, where the result is one string."""
        return count(part.text)

    def reasoning(self, part: Part, count: Count, *, calls: bool) -> int:  # noqa: ARG002
        """Its visible text."""
        return count(part.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIFrame:
    """OpenAI's framing: `start` a request, `turn` a message, tools as TypeScript with `tools` around them.

    Source: pricing rules, sections 1.5, 10 and 11 (1,063 of 1,086 requests without tools exact).
    """

    start: int = 3
    turn: int = 4
    named: int = 1
    tools: int = 9
    tools_after_system: int = 5
    choices: bool = True
    named_choice: int = 6
    schema: int = 13
    schema_with_tools: int = 7
    per_call: int = 5
    per_result: int = 0
    parallel: int = 14

    def request(self, conversation: Conversation, count: Count) -> int:
        """Priming of the answer, declarations, choice and response schema."""
        body = conversation.body
        return self.start + self.declarations(conversation, count) + self.response_schema(body, count)

    def declarations(self, conversation: Conversation, count: Count) -> int:
        """The namespace and what stands around it."""
        declarations = tools.declared(conversation.body)
        if not declarations:
            return 0
        system = bool(conversation.system) or any(message.role == "system" for message in conversation.messages)
        kind, name = tools.chosen(conversation.body)
        choice = self.named_choice + count(name) if kind == "tool" else int(kind == "none")
        choice *= self.choices
        return count(typescript.namespace(declarations)) + (self.tools_after_system if system else self.tools) + choice

    def response_schema(self, body: JsonObject, count: Count) -> int:
        """The schema that the answer must follow."""
        wanted = body.get("response_format")
        inner = wanted.get("json_schema") if isinstance(wanted, dict) else None
        if not isinstance(inner, dict):
            return 0
        described = tools.words(inner.get("description"))
        around = self.schema_with_tools if tools.declared(body) else self.schema
        written = json_text(bare(inner.get("schema")))
        return count(written) + count(tools.words(inner.get("name"))) + count(described) + 2 * bool(described) + around

    def message(self, message: Message, count: Count) -> int:
        """A constant, the name where one is given, and what wraps several calls at once."""
        name = message.json.get("name") if message.role != "tool" else None
        several = sum(part.kind == "call" for part in message.parts) > 1
        return self.turn + self.parallel * several + (self.named + count(name) if isinstance(name, str) and name else 0)

    def call(self, part: Part, count: Count) -> int:
        """Its arguments, a constant, and its name twice: the result is headed by the name too, and only the call knows it."""
        return 2 * count(part.name) + count(part.text) + self.per_call

    def result(self, part: Part, count: Count) -> int:
        """Its text, and a constant."""
        return count(part.text) + self.per_result

    def reasoning(self, part: Part, count: Count, *, calls: bool) -> int:  # noqa: ARG002
        """Its visible text."""
        return count(part.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeFrame:
    """Claude's framing. `start` + `turn` a message; `preamble` of tools by choice; calls and results as marked-up parameters.

    Source: pricing rules, sections 2.3 and 11.
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
    failed: int = 7
    parallel: int = 20
    keeps_thinking: bool = True
    thinking: int = 29
    schema: int = 81

    def request(self, conversation: Conversation, count: Count) -> int:
        """Frame, thinking, tools and schema."""
        body = conversation.body
        thinking = body.get("thinking")
        on = isinstance(thinking, dict) and thinking.get("type") == "enabled"
        return self.start + self.thinking * on + self.declarations(body, count) + self.response_schema(body, count)

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

    def declaration(self, tool: tools.Tool, count: Count) -> int:
        """One tool: its JSON, or what the provider's own tool of that type costs."""
        if not tool.server:
            return self.per_tool + count(spaced({"description": tool.description, "name": tool.name, "parameters": tool.schema}))
        return next(tokens for start, tokens in SERVER_TOOLS if tool.server.startswith(start))

    def response_schema(self, body: JsonObject, count: Count) -> int:
        """The schema that the answer must follow."""
        for key in ("output_format", "output_config"):
            wanted = body.get(key)
            inner = wanted.get("format", wanted) if isinstance(wanted, dict) else None
            if isinstance(inner, dict) and isinstance(inner.get("schema"), dict):
                return count(indented(inner["schema"])) + self.schema
        return 0

    def message(self, message: Message, count: Count) -> int:  # noqa: ARG002 - the protocol's signature
        """A constant, and what each call beside the first one costs more."""
        calls = sum(part.kind == "call" for part in message.parts)
        return self.turn + self.parallel * max(0, calls - 1)

    def call(self, part: Part, count: Count) -> int:
        """Its name, and a constant, key and value for each parameter."""
        written = sum(count(key) + count(value) + self.per_parameter for key, value in parameters(part.text))
        return count(part.name) + self.per_call + written

    def result(self, part: Part, count: Count) -> int:
        """Its text, a constant, and the mark of one that failed."""
        return count(part.text) + self.per_result + self.failed * part.failed

    def reasoning(self, part: Part, count: Count, *, calls: bool) -> int:
        """Its visible text. Models before Opus 4.5 and Sonnet 4.6, and Haiku up to 4.5, drop it once the turn is over, and a message
        without calls is the end of one (pricing rules, section 2.7)."""
        return count(part.text) if calls or self.keeps_thinking else 0


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
        yield key, inner if isinstance(inner, str) else json_text(inner)


def bare(schema: Json, depth: int = 0) -> Json:
    """A response schema without the keys that are not billed."""
    if depth > typescript.DEPTH:
        return None
    if isinstance(schema, dict):
        return {key: bare(value, depth + 1) for key, value in schema.items() if key not in SCHEMA_NOISE}
    if isinstance(schema, list):
        return [bare(value, depth + 1) for value in schema]
    return schema


def json_text(value: Json) -> str:
    """Compact JSON."""
    return canon.encode(value).decode()


def spaced(value: Json) -> str:
    """JSON on one line with a space behind each colon and comma, as Python's `json.dumps` writes it."""
    return msgspec.json.format(canon.encode(value), indent=0).decode()


def indented(value: Json) -> str:
    """JSON over several lines, two spaces a level."""
    return msgspec.json.format(canon.encode(value), indent=2).decode()
