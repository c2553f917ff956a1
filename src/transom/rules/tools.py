"""Tool declarations, whatever form they are written in, as one value.

The rule of this file: who bills is the card, so an OpenAI-shaped declaration can be priced as Claude's and the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from transom.types import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A declared tool. `schema` is its parameters' JSON schema; `raw` the declaration as it stands.

    `server`: the provider runs it or knows its schema itself (`bash_20250124`, `web_search`), so nothing is declared here.
    """

    name: str
    description: str = ""
    schema: JsonObject = field(default_factory=dict, repr=False)
    server: str = ""
    raw: Json = field(default=None, repr=False)


def declared(body: JsonObject) -> tuple[Tool, ...]:
    """Every tool that a request body declares, the older `functions` included."""
    found: list[Tool] = []
    for key in ("tools", "functions"):
        raws = body.get(key)
        if isinstance(raws, list):
            found += [read(raw) for raw in raws if isinstance(raw, dict)]
    return tuple(found)


def read(raw: JsonObject) -> Tool:
    """One declaration in any of the known shapes."""
    inner = raw.get("function")
    source = inner if isinstance(inner, dict) else raw
    schema = next((source[key] for key in ("input_schema", "parameters") if isinstance(source.get(key), dict)), None)
    kind = raw.get("type")
    server = kind if isinstance(kind, str) and kind not in {"function", "custom"} and schema is None else ""
    return Tool(
        name=words(source.get("name")),
        description=words(source.get("description")),
        schema=schema or {},
        server=server,
        raw=raw,
    )


def chosen(body: JsonObject) -> tuple[str, str]:
    """What `tool_choice` (or the older `function_call`) says: its kind (auto, none, any, tool) and the tool's name."""
    choice = body.get("tool_choice", body.get("function_call"))
    if isinstance(choice, str):
        return {"required": "any"}.get(choice, choice), ""
    if not isinstance(choice, dict):
        return "auto", ""
    inner = choice.get("function")
    name = words(inner.get("name") if isinstance(inner, dict) else choice.get("name"))
    kind = words(choice.get("type"))
    return ("tool" if name else kind or "auto"), name


def words(value: Json) -> str:
    """The value if it is a string, else ""."""
    return value if isinstance(value, str) else ""
