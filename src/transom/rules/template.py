"""Framing by a chat template: what most open models and the hosts of others do.

The rule of this file: a template is constants around roles, tools, calls and results; they are read off recorded requests
(docs/pricing.md says how many) and follow the templates that the models are published with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from transom import canon
from transom.frozen import Frozen
from transom.parts import Conversation, Message, Part
from transom.rules import openai, tools, typescript
from transom.rules.claude import parameters, spaced
from transom.rules.tools import Tool
from transom.types import Count, Json, JsonObject

Written: TypeAlias = Literal["spaced", "compact", "kept", "typescript"]

KEPT: Final = ("type", "items", "description", "enum", "required", "properties")
"""What is left of a schema where a server reads it into a type of its own (Ollama 0.9, `api/types.go`)."""
CLOSE: Final = "</think>"


class TemplateFrame(Frozen, frozen=True, kw_only=True):
    """Constants of a chat template, in tokens.

    `start` around all and for the answer's head, `absent` where no system message is sent and the template puts in one of its
    own; `system`, `user`, `assistant` around a message. `tools` around all declarations, `tools_after_system` where a system
    message is there, `per_tool`, `required` and `named` by the choice; `written`: JSON with spaces, without, without what the
    server does not know, or TypeScript. `forced`: a named choice costs this and the declarations nothing. `per_call` and
    `per_result` around each; with `per_parameter` a call is marked up parameter by parameter. `calls`: whether an answer's calls
    are written always, only where it has no text (Ollama's templates), or never. `schema` around a response schema,
    `schema_share` of its JSON. `reasoned`: whether reasoning that is sent back is read never, in the turn in progress, or
    always; a thought inside an answer's text follows it.
    """

    start: int = 3
    absent: int = 0
    system: int = 5
    user: int = 5
    assistant: int = 5
    tools: int = 80
    tools_after_system: int = 0
    per_tool: int = 11
    required: int = 0
    named: int = 0
    forced: int = -1
    written: Written = "spaced"
    per_call: int = 12
    per_parameter: int = 0
    per_result: int = 9
    calls: Literal["written", "textless", "never"] = "written"
    schema: int = 0
    schema_share: float = 0.0
    reasoned: Literal["never", "live", "always"] = "live"

    def request(self, conversation: Conversation, count: Count) -> int:
        """Around all, the declarations and the response schema."""
        body = conversation.body
        given = bool(conversation.system) or any(message.role == "system" for message in conversation.messages)
        outside = self.system * bool(conversation.system)
        around = self.start + outside + (0 if given else self.absent)
        return around + self.declarations(body, count, system=given) + self.response_schema(body, count)

    def declarations(self, body: JsonObject, count: Count, *, system: bool) -> int:
        """The declarations as they are written, and what stands around them."""
        declared = tuple(tool for tool in tools.declared(body) if not tool.server)
        if not declared:
            return 0
        kind, name = tools.chosen(body)
        if kind == "none":  # three requests on Groq: the server leaves them out
            return 0
        if name and self.forced >= 0:
            return self.forced
        choice = self.named if name else self.required * (kind == "any")
        around = (self.tools_after_system or self.tools) if system else self.tools
        return around + choice + self.per_tool * len(declared) + WRITERS[self.written](declared, count)

    def response_schema(self, body: JsonObject, count: Count) -> int:
        """The schema that the answer must follow; most hosts do not show it to the model."""
        inner = openai.wanted(body) if self.schema or self.schema_share else None
        return 0 if inner is None else self.schema + round(self.schema_share * count(canon.text(inner.get("schema"))))

    def message(self, message: Message, count: Count) -> int:  # noqa: ARG002 - the protocol's signature
        """A constant for its role; results and reasoning have their own."""
        if message.role == "tool" or (message.parts and all(part.kind in openai.UNFRAMED for part in message.parts)):
            return 0
        if message.parts and all(part.kind == "result" for part in message.parts):
            return 0
        return {"system": self.system, "assistant": self.assistant}.get(message.role, self.user)

    def writes_calls(self, message: Message) -> bool:
        """Whether this answer's calls are."""
        spoken = any(part.kind == "text" and part.text.strip() for part in message.parts)
        return self.calls == "written" or (self.calls == "textless" and not spoken)

    def call(self, part: Part, count: Count) -> int:
        """Its name, its arguments, and a constant."""
        if self.per_parameter:
            written = sum(count(key) + count(value) + self.per_parameter for key, value in parameters(part.text))
            return count(part.name) + self.per_call + written
        return count(part.name) + count(part.text) + self.per_call

    def result(self, part: Part, count: Count) -> int:
        """Its text, and a constant."""
        return count(part.text) + self.per_result

    def reasoning(self, part: Part, count: Count, *, calls: bool, live: bool) -> int:  # noqa: ARG002
        """Its text, where the template reads it."""
        return count(part.text) if self.reasoned == "always" or (live and self.reasoned == "live") else 0

    def said(self, text: str, *, live: bool) -> str:
        """An answer without the thought that it begins with, where the template does not read it."""
        return text if self.reasoned == "always" or (live and self.reasoned == "live") else spoken(text)

    def hidden(self, part: Part, *, live: bool) -> int:  # noqa: ARG002
        """Nothing."""
        return 0


def spoken(text: str) -> str:
    """An answer without the thought that it begins with."""
    return text.partition(CLOSE)[2].lstrip() if text.lstrip()[:7] == "<think>" and CLOSE in text else text


def as_spaced(declared: tuple[Tool, ...], count: Count) -> int:
    """Name, description and parameters as JSON with spaces, one after the other."""
    return sum(count(spaced(function(tool))) for tool in declared)


def as_compact(declared: tuple[Tool, ...], count: Count) -> int:
    """The same without spaces."""
    return sum(count(canon.text(function(tool))) for tool in declared)


def as_kept(declared: tuple[Tool, ...], count: Count) -> int:
    """The same with what the server knows of it."""
    return sum(count(canon.text({**function(tool), "parameters": kept(tool.schema)})) for tool in declared)


def as_typescript(declared: tuple[Tool, ...], count: Count) -> int:
    """OpenAI's namespace."""
    return count(typescript.namespace(declared))


def function(tool: Tool) -> JsonObject:
    """A declaration in the order that templates write it."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


def kept(schema: Json, depth: int = 0) -> Json:
    """A schema without what the server does not know."""
    if not isinstance(schema, dict) or depth > typescript.DEPTH:
        return schema
    out = {key: schema[key] for key in KEPT if key in schema}
    if isinstance(out.get("properties"), dict):
        out["properties"] = {name: kept(value, depth + 1) for name, value in out["properties"].items()}
    return out


WRITERS: Final[Mapping[Written, Callable[[tuple[Tool, ...], Count], int]]] = MappingProxyType(
    {"spaced": as_spaced, "compact": as_compact, "kept": as_kept, "typescript": as_typescript}
)
