"""OpenAI's framing, tools and schemas, against what was billed."""

from __future__ import annotations

import pytest

from transom import catalog
from transom.pricing import PriceList
from transom.rules import tools, typescript
from transom.types import Json, JsonObject
from transom.wire import FORMS


def price(body: JsonObject) -> int:
    """The tokens of a whole request body in the form of Chat Completions."""
    conversation, prices = FORMS["openai-chat"].read(body), PriceList(catalog.card(body["model"]))
    return prices.fixed(conversation).tokens + sum(prices.message(message).tokens for message in conversation.messages)


def function(name: str, description: str = "", /, **schema: Json) -> JsonObject:
    """A tool in the form of Chat Completions."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": {"type": "object", **schema}},
    }


def defs(**schemas: Json) -> JsonObject:
    """Schemas that others may name."""
    return {"$defs": schemas}


def rendered(*declarations: JsonObject) -> str:
    """The declarations as OpenAI's models read them."""
    return typescript.namespace(tools.declared({"tools": list(declarations)}))


HELLO = [{"role": "user", "content": "hello world"}]
ADD = function(
    "add",
    "Add x and y together",
    properties={
        "x": {"type": "number", "description": "The first number to add"},
        "y": {"type": "number", "description": "The second number to add"},
    },
    required=["x", "y"],
)


@pytest.mark.parametrize("model, tokens", [("gpt-4o", 9), ("gpt-3.5-turbo", 9), ("o3", 8), ("gpt-5", 8)])
def test_a_plain_request(model: str, tokens: int) -> None:
    """docs/pricing.md: 3 a request and 4 a message (1,063 of 1,086 exact); one less on the o-series and GPT-5."""
    assert price({"model": model, "messages": HELLO}) == tokens


def test_the_six_messages_of_the_cookbook() -> None:
    """openai-cookbook, How_to_count_tokens_with_tiktoken: 129 counted and billed on gpt-4."""
    said = "This late pivot means we don't have time to boil the ocean for the client deliverable."
    messages = [
        {
            "role": "system",
            "content": "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
        },
        {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
        {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
        {
            "role": "system",
            "name": "example_user",
            "content": "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        },
        {
            "role": "system",
            "name": "example_assistant",
            "content": "Let's talk later when we're less busy about how to do better.",
        },
        {"role": "user", "content": said},
    ]
    assert price({"model": "gpt-4-0613", "messages": messages}) == 129


def test_a_tool_loop_as_billed() -> None:
    """A recorded request of gpt-4o-mini: 100 tokens; of gpt-5-nano, 191 with another system prompt."""
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "Use the provided tool to answer arithmetic questions."}]},
        {"role": "user", "content": "Calculate 2 + 3."},
        {
            "role": "assistant",
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"x":2,"y":3}'}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "5"},
    ]
    assert abs(price({"model": "gpt-4o-mini", "messages": messages, "tools": [ADD]}) - 100) <= 2
    asked = [
        {"role": "system", "content": "Use the add tool to answer arithmetic questions."},
        {"role": "user", "content": "What is 3 + 4?"},
    ]
    assert abs(price({"model": "gpt-5-nano", "messages": [*asked, *messages[2:]], "tools": [ADD]}) - 191) <= 2


def test_tools_are_typescript() -> None:
    assert rendered(ADD, function("now")) == (
        "namespace functions {\n\n// Add x and y together\ntype add = (_: {\n// The first number to add\nx: number,\n"
        "// The second number to add\ny: number,\n}) => any;\n\ntype now = () => any;\n\n} // namespace functions"
    )


@pytest.mark.parametrize(
    "schema, line",
    [
        ({"type": "string"}, "p?: string,"),
        ({"type": "integer"}, "p?: number,"),
        ({"type": "boolean", "default": True}, "p?: boolean, // default: true"),
        ({"type": "null"}, "p?: null,"),
        ({"type": ["string", "null"]}, "p?: string | null,"),
        ({"type": []}, "p?: any,"),
        ({"enum": ["a", 1]}, 'p?: "a" | 1,'),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}, "p?: string | number[],"),
        ({"oneOf": []}, "p?: any,"),
        ({"type": "array"}, "p?: any[],"),
        ({"type": "object"}, "p?: object,"),
        ({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}, "p?: {\nq: string,\n},"),
        ({"type": "array", "items": {"type": "string", "description": "one"}}, "p?: Array<\n// one\nstring\n>,"),
        ({"type": "string", "title": "P"}, "// P\np?: string,"),
        ({"type": "string", "title": "P", "description": "it"}, "// P\n//\n// it\np?: string,"),
        ({"type": "string", "description": "a\n\n    b"}, "// a\n// b\np?: string,"),
        ({"type": "integer", "minimum": 1}, "// Constraints: minimum: 1\np?: number,"),
        ({"$ref": "#/$defs/lost"}, "p?: any,"),
        ({"$ref": "#/$defs/known"}, "p?: string,"),
        ({"type": 7}, "p?: any,"),
        (7, "p?: any,"),
    ],
)
def test_a_property_as_typescript(schema: Json, line: str) -> None:
    assert line in rendered(function("f", properties={"p": schema}, required=7, **defs(known={"type": "string"})))


def test_a_title_of_the_whole_stands_before_the_braces() -> None:
    """Recorded requests with a title on the schema itself: 26 of 28 to the token."""
    text = rendered(function("f", title="fArguments", properties={"p": {}}))
    assert "type f = (_:\n// fArguments\n{\np?: any,\n}\n) => any;" in text


def test_a_schema_that_names_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    assert "any" in rendered(function("f", properties={"p": {"$ref": "#/$defs/node"}}, **defs(node=node)))


@pytest.mark.parametrize(
    "choice, more",
    [("auto", 0), ("none", 1), ("required", 0), ({"type": "function", "function": {"name": "add"}}, 7), (7, 0)],
)
def test_a_choice_of_tools(choice: Json, more: int) -> None:
    """docs/pricing.md: none costs 1, a named one 6 and its name; nothing from gpt-5 on."""
    base = {"messages": HELLO, "tools": [ADD]}
    assert price({"model": "gpt-4o", "tool_choice": choice, **base}) - price({"model": "gpt-4o", **base}) == more
    assert price({"model": "gpt-5", "tool_choice": choice, **base}) == price({"model": "gpt-5", **base})


def test_tools_cost_less_around_with_a_system_message() -> None:
    """docs/pricing.md: 9 on Chat, 5 with a system message, 90 from gpt-5 on."""
    namespace = catalog.card("gpt-4o").counter.count(rendered(ADD))
    asked = [{"role": "system", "content": "hello world"}, *HELLO]
    assert price({"model": "gpt-4o", "messages": HELLO, "tools": [ADD]}) == 9 + namespace + 9
    assert price({"model": "gpt-4o", "messages": asked, "tools": [ADD]}) == 15 + namespace + 5
    assert price({"model": "gpt-5", "messages": HELLO, "tools": [ADD]}) == 8 + namespace + 90


def test_older_functions_are_tools() -> None:
    assert price({"model": "gpt-4", "messages": HELLO, "functions": [ADD["function"]]}) == price(
        {"model": "gpt-4", "messages": HELLO, "tools": [ADD]}
    )


def test_a_response_schema() -> None:
    """docs/pricing.md: its JSON without what is not billed, its name and some 13; 7 with tools."""
    bare = {"type": "object", "properties": {"city": {"type": "string"}}}
    schema = {**bare, "required": ["city"], "additionalProperties": False}
    wanted: JsonObject = {"type": "json_schema", "json_schema": {"name": "result", "schema": schema, "strict": True}}
    count = catalog.card("gpt-4o").counter.count
    written = count('{"type":"object","properties":{"city":{"type":"string"}}}') + count("result")
    plain = {"model": "gpt-4o", "messages": HELLO}
    assert price({**plain, "response_format": wanted}) == price(plain) + written + 13
    assert price({**plain, "response_format": wanted, "tools": [ADD]}) == price({**plain, "tools": [ADD]}) + written + 7
    wanted["json_schema"]["description"] = "A city"
    assert price({**plain, "response_format": wanted}) == price(plain) + written + 13 + count("A city") + 2
    assert price({**plain, "response_format": {"type": "json_object"}}) == price(plain)
    deep: Json = {}
    for _ in range(100):
        deep = {"items": [deep]}
    assert price({**plain, "response_format": {"json_schema": {"schema": deep}}}) > price(plain)


def test_several_calls_at_once_are_wrapped() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    one = {"model": "gpt-4o", "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    two = {"model": "gpt-4o", "messages": [{"role": "assistant", "content": None, "tool_calls": [call, call]}]}
    assert price(two) - price(one) == 8 + 14
