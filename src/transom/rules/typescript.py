"""Tools as OpenAI's models read them: a namespace of TypeScript types.

The rule of this file: JSON schema in, the text that is billed out. Undocumented by OpenAI; the rendering is the one that the
community recovered in 2023 (hmarr/openai-chat-tokens) and that the recorded bills confirm (pricing rules, section 11).
"""

from __future__ import annotations

from transom import canon
from transom.rules.tools import Tool, words
from transom.types import Json, JsonObject

DEPTH = 24
"""Deepest level of a schema that is rendered; below it stands `any`."""


def namespace(tools: tuple[Tool, ...]) -> str:
    """All declarations as one text."""
    lines = ["namespace functions {", ""]
    for tool in tools:
        lines += [f"// {line}" for line in tool.description.split("\n")] if tool.description else []
        properties = tool.schema.get("properties")
        if isinstance(properties, dict) and properties:
            lines += [f"type {tool.name} = (_: {{", *fields(tool.schema, 0), "}) => any;", ""]
        else:
            lines += [f"type {tool.name} = () => any;", ""]
    return "\n".join([*lines, "} // namespace functions"])


def fields(schema: JsonObject, depth: int) -> list[str]:
    """The properties of an object, a line or more each."""
    properties = schema.get("properties")
    required = schema.get("required")
    needed = set(filter(lambda name: isinstance(name, str), required)) if isinstance(required, list) else set()
    lines: list[str] = []
    for name, value in properties.items() if isinstance(properties, dict) else ():
        inner = value if isinstance(value, dict) else {}
        lines += comments(inner, depth)
        lines.append(f"{name}{'' if name in needed else '?'}: {spelled(inner, depth)},")
    return lines


def comments(schema: JsonObject, depth: int) -> list[str]:
    """The comment lines before a property: its description, and what TypeScript cannot say."""
    lines = [f"// {line}" for line in words(schema.get("description")).split("\n")] if words(schema.get("description")) else []
    if "default" in schema and depth >= 0:
        lines.append(f"// default: {canon.encode(schema['default']).decode()}")
    return lines


def spelled(schema: JsonObject, depth: int) -> str:
    """The type of a property."""
    if depth >= DEPTH:
        return "any"
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return " | ".join(literal(option) for option in options)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return " | ".join(spelled(inner, depth + 1) for inner in schema[key] if isinstance(inner, dict)) or "any"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(spelled({**schema, "type": one}, depth + 1) for one in kind) or "any"
    return simple(kind, schema, depth)


def simple(kind: Json, schema: JsonObject, depth: int) -> str:
    """The type of a property that has one type."""
    if kind == "array":
        items = schema.get("items")
        return f"{spelled(items, depth + 1)}[]" if isinstance(items, dict) and items else "any[]"
    if kind == "object":
        inner = fields(schema, depth + 1)
        return "\n".join(["{", *inner, "}"]) if inner else "object"
    return {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}.get(
        kind if isinstance(kind, str) else "", "any"
    )


def literal(option: Json) -> str:
    """One value of an enumeration."""
    return f'"{option}"' if isinstance(option, str) else canon.encode(option).decode()
