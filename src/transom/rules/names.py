"""Model names as people write them, and the shorter names that may stand for the same model.

The rule of this file: a name is only ever shortened, step by step, and the longest that a table has wins; a version number
is never cut (`claude-opus-4-9` is not `claude-opus-4`).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

# `us.anthropic.claude-...`, `anthropic.claude-...`, `openai.gpt-oss-...`: Amazon Bedrock's names.
BEDROCK = re.compile(
    r"^(?:[a-z]{2,8}(?:-gov)?\.)?"
    r"(?:anthropic|amazon|openai|meta|mistral|cohere|deepseek|moonshot(?:ai)?|qwen|zai|xai|minimax|nvidia|google|writer|ai21)\.(?=.)"
)
# `databricks-meta-llama-3-3-70b`, `openai-gpt-4.1` (Snowflake), `fw-kimi-k3` (Azure): who hosts or makes it, before its name.
BRAND = re.compile(r"^(?:(?:databricks|fw|openai|snowflake|azure|amazon|google|meta)-)+(?=.)")
# `-v1:0`, `-v2`, `:free`, `@20250929`, `@default`: revisions and routes that do not change what is billed.
REVISION = re.compile(r"(?:-v?\d+:\d+(?:\[\w+\])?|-v\d+(?:\[\w+\])?|@[\w.-]+|:[\w.-]+|\[\w+\])$")
TUNED = re.compile(r"^(?:[\w.-]+/)*ft:([^:]+)(?::.*)?$")
DOTTED = re.compile(r"(?<=\d)\.(?=\d)")
# `glm-5-2` and `llama-v3p1` (Fireworks) for glm-5.2 and llama-v3.1.
DASHED = re.compile(r"(?<=\d)[-p](?=\d{1,2}(?![\da-z]))")
DAY = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|(?:preview-)?\d{2}-\d{4}|preview-\d{2}-\d{2})$")
VERSION = re.compile(r"\d{1,2}")
# `claude-4-sonnet-20250514`, `claude-4.5-haiku`: the line behind the version, as some gateways write it.
TURNED = re.compile(r"^claude-(\d+(?:-\d{1,2})?)-(opus|sonnet|haiku)\b")


VERTEX = frozenset({"vertex_ai", "vertex", "publishers", "projects"})

LONGEST = 300
"""Characters of a name that are looked at; no vendor's is half as long."""


def spelled(name: str) -> str:
    """A name in lower case without provider, region, route and revision; Claude's versions with a dash, as Anthropic has them."""
    name = name.strip().lower()[:LONGEST]
    tuned = TUNED.match(name)
    name = tuned[1] if tuned else name
    name = name.rsplit("/", 1)[-1]
    name = BRAND.sub("", BEDROCK.sub("", name))
    while (shorter := REVISION.sub("", name)) != name:
        name = shorter
    if "claude" in name:
        name = DOTTED.sub("-", name[name.index("claude") :])
        turned = TURNED.match(name)
        if turned and not turned[1].startswith("3"):
            name = TURNED.sub(f"claude-{turned[2]}-{turned[1]}", name)
    return name


def longest(name: str, known: Container[str]) -> str:
    """The longest beginning of `name` that `known` has, cut at a dash and never inside a version; "" where there is none.

    A version that is written with a dash or a `p` is looked for with a dot as well; Claude's all have a dash.
    """
    spellings = (name,) if "claude" in name else (name, DASHED.sub(".", name))
    return next((candidate for spelling in spellings for candidate in beginnings(spelling) if candidate in known), "")


def beginnings(name: str) -> Iterator[str]:
    """The name, and each shorter one that may stand for it: without its date, then step by step."""
    yield name
    while "-" in name:
        shorter = DAY.sub("", name)
        if shorter == name:
            shorter, _, step = name.rpartition("-")
            if VERSION.fullmatch(step):
                return
        name = shorter
        yield name


def host(name: str) -> str:
    """Who hosts or passes on a model, as its name's first part says (`openrouter`, `vertex`, `bedrock`); "" where none does."""
    name = name.strip().lower()[:LONGEST]
    first = name.split("/", 1)[0] if "/" in name else ""
    if first in VERTEX:
        return "vertex"
    return "bedrock" if BEDROCK.match(name) or first.startswith("arn:aws:bedrock") else first


def platform(name: str) -> str:
    """Who hosts it, where the name says so: `bedrock`, `google`, or ""."""
    name = name.strip().lower()[:LONGEST]
    if BEDROCK.match(name.rsplit("/", 1)[-1]) or name.startswith(("bedrock/", "arn:aws:bedrock")):
        return "bedrock"
    return "google" if name.startswith("vertex_ai/") or re.search(r"claude.*@", name) else ""
