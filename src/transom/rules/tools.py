"""Tool declarations, whatever form they are written in, as one value.

The rule of this file: who bills is the card, so an OpenAI-shaped declaration can be priced as Claude's and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import field

from transom.frozen import Frozen
from transom.types import Json, JsonObject

SCHEMAS: Final = ("input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema")
DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
ANSWERS: Final = ("response", "responseJsonSchema", "response_json_schema")
OWN: Final = frozenset({"function", "custom"})
"""Types of the tools that a caller declares; any other is the provider's own."""


class Tool(Frozen, frozen=True, kw_only=True):
    """A declared tool. `schema` is its parameters' JSON schema; `answer` that of its result; `raw` the declaration as it stands.

    `server`: the provider runs it or knows its schema itself (`bash_20250124`, `web_search`), so nothing is declared here.
    `wrapped`: it stands in Chat Completions' form, under `function`.
    """

    unshown = ("schema", "answer", "raw")

    name: str
    description: str = ""
    schema: JsonObject = field(default_factory=dict)
    answer: JsonObject = field(default_factory=dict)
    server: str = ""
    wrapped: bool = False
    raw: Json = None


def declared(body: JsonObject) -> tuple[Tool, ...]:
    """Every tool that a request body declares, the older `functions` included."""
    return tuple(read(raw) for raw in raws(body))


def raws(body: JsonObject) -> Iterator[JsonObject]:
    """Each declaration as it stands, out of whatever it is wrapped in."""
    config, given = held(body, "toolConfig"), held(body, "config")
    for listed in (body.get("tools"), body.get("functions"), config.get("tools"), given.get("tools")):
        for raw in listed if isinstance(listed, list) else ():
            if isinstance(raw, dict):
                yield from unpacked(raw)


def unpacked(raw: JsonObject) -> Iterator[JsonObject]:
    """Gemini's object of declarations one by one, and what the provider runs beside them."""
    found = next((raw[key] for key in DECLARATIONS if isinstance(raw.get(key), list)), None)
    if found is None:
        yield raw
        return
    yield from (one for one in found if isinstance(one, dict))
    rest = {key: value for key, value in raw.items() if key not in DECLARATIONS and value is not None}
    if rest:
        yield rest


def read(raw: JsonObject) -> Tool:
    """One declaration in any of the known shapes."""
    inner = next((raw[key] for key in ("function", "toolSpec") if isinstance(raw.get(key), dict)), None)
    source: JsonObject = raw if inner is None else inner
    schema = next((source[key] for key in SCHEMAS if isinstance(source.get(key), dict)), None)
    if schema is None and isinstance(source.get("inputSchema"), dict):
        schema = source["inputSchema"].get("json", source["inputSchema"])
    kind = raw.get("type")
    server = kind if isinstance(kind, str) and kind not in OWN and schema is None else ""
    if not server and inner is None and kind is None and "name" not in raw:
        server = next(iter(raw), "")
    return Tool(
        name=words(source.get("name")),
        description=words(source.get("description")),
        schema=schema if isinstance(schema, dict) else {},
        answer=next((source[key] for key in ANSWERS if isinstance(source.get(key), dict)), {}),
        server=server,
        wrapped=inner is not None and "function" in raw,
        raw=raw,
    )


def chosen(body: JsonObject) -> tuple[str, str]:
    """What the choice of tools says: its kind (auto, none, any, tool) and the tool's name."""
    choice = body.get("tool_choice", body.get("function_call"))
    if choice is None:
        choice = held(body, "toolConfig").get("toolChoice") or configured(body)
    if isinstance(choice, str):
        return {"required": "any"}.get(choice, choice), ""
    if not isinstance(choice, dict):
        return "auto", ""
    inner = choice.get("function", choice.get("tool"))
    name = words(inner.get("name") if isinstance(inner, dict) else choice.get("name"))
    kind = words(choice.get("type")) or next(iter(choice), "")
    return ("tool" if name else kind or "auto"), name


def configured(body: JsonObject) -> str:
    """Gemini's mode as the choice of the other forms."""
    outer = held(body, "toolConfig") or held(body, "tool_config")
    inner = held(outer, "functionCallingConfig") or held(outer, "function_calling_config")
    return words(inner.get("mode")).lower()


def held(holder: JsonObject, key: str) -> JsonObject:
    """The object under a key, else an empty one."""
    found = holder.get(key)
    return found if isinstance(found, dict) else {}


def words(value: Json) -> str:
    """The value if it is a string, else ""."""
    return value if isinstance(value, str) else ""
