"""OpenAI's framing.

The rule of this file: constants and shapes are read off recorded requests with the usage that came back; each says how many.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from transom import canon
from transom.frozen import Frozen
from transom.parts import Conversation, Message, Part
from transom.rules import tools, typescript
from transom.rules.tools import Tool
from transom.types import Count, Json, JsonObject

SCHEMA_NOISE: Final = frozenset({"additionalProperties", "$schema", "required", "default"})
"""Keys of a response schema that OpenAI does not bill (docs/pricing.md)."""
UNFRAMED: Final = frozenset({"reasoning", "reference"})
"""Items that are no turn of their own."""


class OpenAIFrame(Frozen, frozen=True, kw_only=True):
    """OpenAI's framing: `start` a request, `turn` a message, tools as TypeScript with `tools` around them.

    `neighbour` for each call that follows another one as an item of its own (Responses: -4, 297 requests; -5 from gpt-5 on).
    `encrypted` tokens a character of encrypted reasoning behind the user's last turn, less `encrypted_less`; `past_reasoning`:
    visible reasoning of earlier turns is read as well. Source: docs/pricing.md (1,063 of 1,086 requests without tools exact).
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
    neighbour: int = 0
    encrypted: float = 0.0
    encrypted_less: int = 0
    past_reasoning: bool = True

    def request(self, conversation: Conversation, count: Count) -> int:
        """Priming of the answer, declarations, choice, response schema, and the turn of a system text outside the messages."""
        body = conversation.body
        outside = self.turn * bool(conversation.system) + prediction(body, count)
        return self.start + outside + self.declarations(conversation, count) + self.response_schema(body, count)

    def declarations(self, conversation: Conversation, count: Count) -> int:
        """The namespace and what stands around it."""
        declarations = tools.declared(conversation.body)
        if not declarations:
            return 0
        system = bool(conversation.system) or any(message.role == "system" for message in conversation.messages)
        kind, name = tools.chosen(conversation.body)
        choice = self.named_choice + count(name) if kind == "tool" else int(kind == "none")
        choice *= self.choices
        written = typescript.namespace(tuple(seen(tool, conversation.api) for tool in declarations if not tool.server))
        return count(written) + (self.tools_after_system if system else self.tools) + choice

    def response_schema(self, body: JsonObject, count: Count) -> int:
        """The schema that the answer must follow."""
        inner = wanted(body)
        if inner is None:
            return 0
        described = tools.words(inner.get("description"))
        around = self.schema_with_tools if tools.declared(body) else self.schema
        written = canon.text(bare(inner.get("schema")))
        return count(written) + count(tools.words(inner.get("name"))) + count(described) + 2 * bool(described) + around

    def message(self, message: Message, count: Count) -> int:
        """A constant, the name where one is given, and what wraps several calls at once. Reasoning has no frame of its own."""
        if message.parts and all(part.kind in UNFRAMED for part in message.parts):
            return 0
        name = message.json.get("name") if message.role != "tool" else None
        several = sum(part.kind == "call" for part in message.parts) > 1
        own = self.turn + self.parallel * several + self.neighbour * message.follows
        return own + (self.named + count(name) if isinstance(name, str) and name else 0)

    def writes_calls(self, message: Message) -> bool:  # noqa: ARG002 - the protocol's signature
        """They are."""
        return True

    def call(self, part: Part, count: Count) -> int:
        """Its arguments, a constant, and its name twice: the result is headed by the name too, and only the call knows it."""
        return 2 * count(part.name) + count(part.text) + self.per_call

    def result(self, part: Part, count: Count) -> int:
        """Its text, and a constant."""
        return count(part.text) + self.per_result

    def reasoning(self, part: Part, count: Count, *, calls: bool, live: bool) -> int:  # noqa: ARG002
        """Nothing where its provider holds it or sent it encrypted; else its visible text."""
        return 0 if part.signed or not (live or self.past_reasoning) else count(part.text)

    def said(self, text: str, *, live: bool) -> str:  # noqa: ARG002
        """All of it."""
        return text

    def hidden(self, part: Part, *, live: bool) -> int:
        """Encrypted reasoning, by its length; it is billed only behind the user's last turn."""
        sealed = part.raw.get("encrypted_content") if part.kind == "reasoning" and isinstance(part.raw, dict) else None
        if not (live and isinstance(sealed, str) and self.encrypted):
            return 0
        return max(0, round(self.encrypted * len(sealed)) - self.encrypted_less)


def prediction(body: JsonObject, count: Count) -> int:
    """The text that the answer is expected to be (one request: its tokens and 4)."""
    content = tools.held(body, "prediction").get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [tools.words(part.get("text")) for part in parts if isinstance(part, dict)]
    return sum(count(text) + 4 for text in said if text)


def wanted(body: JsonObject) -> JsonObject | None:
    """The response schema with its name: under `response_format` (Chat) or `text.format` (Responses)."""
    found = tools.held(tools.held(body, "response_format"), "json_schema")
    given = tools.held(tools.held(body, "text"), "format")
    return found or (given if given.get("type") == "json_schema" else None)


def seen(tool: Tool, api: str) -> Tool:
    """A tool as the model reads it: one in Chat's form that Responses is sent costs little more than its name (30 of 42)."""
    return replace(tool, description="", schema={}) if tool.wrapped and api == "openai-responses" else tool


def bare(schema: Json, depth: int = 0) -> Json:
    """A response schema without the keys that are not billed."""
    if depth > typescript.DEPTH:
        return None
    if isinstance(schema, dict):
        return {key: bare(value, depth + 1) for key, value in schema.items() if key not in SCHEMA_NOISE}
    if isinstance(schema, list):
        return [bare(value, depth + 1) for value in schema]
    return schema
