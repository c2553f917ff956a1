"""OpenAI's framing.

The rule of this file: constants and shapes are read off recorded requests with the usage that came back; each says how many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from transom import canon
from transom.parts import Conversation, Message, Part
from transom.rules import tools, typescript
from transom.types import Count, Json, JsonObject

SCHEMA_NOISE: Final = frozenset({"additionalProperties", "$schema", "required", "default"})
"""Keys of a response schema that OpenAI does not bill (docs/pricing.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIFrame:
    """OpenAI's framing: `start` a request, `turn` a message, tools as TypeScript with `tools` around them.

    Source: docs/pricing.md (1,063 of 1,086 requests without tools exact).
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
        written = canon.text(bare(inner.get("schema")))
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


def bare(schema: Json, depth: int = 0) -> Json:
    """A response schema without the keys that are not billed."""
    if depth > typescript.DEPTH:
        return None
    if isinstance(schema, dict):
        return {key: bare(value, depth + 1) for key, value in schema.items() if key not in SCHEMA_NOISE}
    if isinstance(schema, list):
        return [bare(value, depth + 1) for value in schema]
    return schema
