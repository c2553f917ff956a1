"""Tools as OpenAI's models read them: a namespace of TypeScript types.

The rule of this file: JSON schema in, the text that is billed out. Undocumented by OpenAI; the rendering is the one that the
community recovered in 2023 (hmarr/openai-chat-tokens) and that the recorded bills confirm (docs/pricing.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from transom import canon
from transom.rules.tools import Tool, words
from transom.types import Json, JsonObject

Defs: TypeAlias = Mapping[str, Json]

LIMITS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
)
"""What TypeScript cannot say. A `minimum` costs 9 tokens beside the type (8 of 9 recorded requests, gpt-4o to gpt-5.1)."""

DEPTH = 24
"""Deepest level of a schema that is rendered; below it stands `any`."""


def namespace(tools: tuple[Tool, ...]) -> str:
    """All declarations as one text."""
    lines = ["namespace functions {", ""]
    for tool in tools:
        lines += remark(tool.description)
        properties = tool.schema.get("properties")
        if isinstance(properties, dict) and properties:
            above = comments(tool.schema)
            opening = [f"type {tool.name} = (_:", *above, "{"] if above else [f"type {tool.name} = (_: {{"]
            closing = ["}", ") => any;", ""] if above else ["}) => any;", ""]
            lines += [*opening, *fields(tool.schema, 0, definitions(tool.schema)), *closing]
        else:
            lines += [f"type {tool.name} = () => any;", ""]
    return "\n".join([*lines, "} // namespace functions"])


def definitions(schema: JsonObject) -> Defs:
    """What `$ref` may name."""
    found = schema.get("$defs", schema.get("definitions"))
    return found if isinstance(found, dict) else {}


def fields(schema: JsonObject, depth: int, defs: Defs) -> list[str]:
    """The properties of an object, a line or more each."""
    properties = schema.get("properties")
    required = schema.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    lines: list[str] = []
    for name, value in properties.items() if isinstance(properties, dict) else ():
        inner = resolved(value, defs)
        lines += comments(inner)
        lines.append(f"{name}{'' if name in needed else '?'}: {spelled(inner, depth, defs)},{default(inner)}")
    return lines


def comments(schema: JsonObject) -> list[str]:
    """The comment lines before a property: its title and its description."""
    title, description = words(schema.get("title")), words(schema.get("description"))
    lines = [f"// {title}", *["//"] * bool(description)] if title else []
    return lines + remark(description) + [f"// Constraints: {key}: {canon.text(schema[key])}" for key in LIMITS if key in schema]


def remark(text: str) -> list[str]:
    """A description as comment lines: indentation and empty lines are not billed."""
    return [f"// {line.strip()}" for line in text.split("\n") if line.strip()]


def default(schema: JsonObject) -> str:
    """The comment behind a property that has a default."""
    return f" // default: {canon.text(schema['default'])}" if "default" in schema else ""


def resolved(value: Json, defs: Defs) -> JsonObject:
    """A schema, or the one that its `$ref` names, once."""
    if not isinstance(value, dict):
        return {}
    target = defs.get(words(value.get("$ref")).rsplit("/", 1)[-1])
    if isinstance(target, dict):
        return {**target, **{key: inner for key, inner in value.items() if key != "$ref"}}
    return value


def spelled(schema: JsonObject, depth: int, defs: Defs) -> str:
    """The type of a property."""
    if depth >= DEPTH:
        return "any"
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return " | ".join(literal(option) for option in options)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return " | ".join(spelled(resolved(inner, defs), depth + 1, defs) for inner in schema[key]) or "any"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(spelled({**schema, "type": one}, depth + 1, defs) for one in kind) or "any"
    return simple(kind, schema, depth, defs)


def simple(kind: Json, schema: JsonObject, depth: int, defs: Defs) -> str:
    """The type of a property that has one type."""
    if kind == "array":
        items = resolved(schema.get("items"), defs)
        above = comments(items)
        if above:
            return "\n".join(["Array<", *above, spelled(items, depth + 1, defs), ">"])
        return f"{spelled(items, depth + 1, defs)}[]" if items else "any[]"
    if kind == "object":
        inner = fields(schema, depth + 1, defs)
        return "\n".join(["{", *inner, "}"]) if inner else "object"
    return {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}.get(
        kind if isinstance(kind, str) else "", "any"
    )


def literal(option: Json) -> str:
    """One value of an enumeration."""
    return f'"{option}"' if isinstance(option, str) else canon.encode(option).decode()
