"""Fuzz the probes and the readers: bytes in, no exception but the library's own, no figure that is none.

    pip install atheris && python scripts/fuzz.py probe -max_total_time=600 [FOLDER OF MEDIA]
    python scripts/fuzz.py read  -max_total_time=600 --bodies BODIES.jsonl [FOLDER]

Options with one dash are libFuzzer's; a folder keeps what was found interesting, and `--going-on FOLDER` notes what is
found there and goes on. `probe` reads the bytes as every source of media; `read` turns them into changes of a request
of one of the forms (the small ones below, and one JSON object `{"api": ..., "request": ...}` a line), which is then
priced, linted, repaired and fitted. What it finds becomes a test.
"""

from __future__ import annotations

import base64
import copy
import json
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import atheris

with atheris.instrument_imports(include=["transom"]):
    import transom
    from transom import probe
    from transom.errors import PlanMismatch, TransomError
    from transom.parts import Facts
    from transom.wire import FORMS

Json: TypeAlias = Any
Target: TypeAlias = Callable[[bytes], None]

ODD: tuple[Json, ...] = (
    None, True, False, 0, -1, 2**63, 10**400, 1e308, -0.0, "", " ", "\0", "text", "image", "data:image/png;base64,", "data:,",
    "iVBORw0KGgo=", "JVBERi0=", "=", "%PDF-", "UEsDBA==", "call_1", "\ud800".encode("utf-8", "replace").decode(), "x" * 5_000,
    [], {}, [[]], [None], {"type": "text"}, {"type": "image"}, {"text": None}, {"type": []}, {"": {}}, {"parts": {}},
    {"type": "tool_result"}, {"functionCall": {}}, {"toolUse": {}}, {"source": {"data": "AA"}}, [{"role": "user"}],
)  # fmt: skip
"""Values that stand where others belong."""
SEEDS = """
{"api": "anthropic", "request": {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "s", "messages": [
  {"role": "user", "content": [{"type": "text", "text": "a"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]},
  {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"},
    {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r"}]}]}],
  "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}]}}

{"api": "openai-chat", "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "s"},
  {"role": "user", "content": [{"type": "text", "text": "a"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}]},
  {"role": "assistant", "content": null,
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "1", "content": "r"}],
  "tools": [{"type": "function", "function": {"name": "f", "parameters":
    {"type": "object", "properties": {"a": {"type": ["string", "null"], "enum": ["x"]}}}}}],
  "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}}

{"api": "openai-responses", "request": {"model": "gpt-5", "instructions": "s", "input": [
  {"role": "user", "content": [{"type": "input_text", "text": "a"},
    {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0=", "filename": "f.pdf"}]},
  {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "abc"},
  {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
  {"type": "function_call_output", "call_id": "1", "output": "r"}],
  "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
  "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}}}

{"api": "gemini", "request": {"model": "gemini-2.5-flash", "systemInstruction": {"parts": [{"text": "s"}]}, "contents": [
  {"role": "user", "parts": [{"text": "a"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]},
  {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "abcd"}]},
  {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": "r"}}}]}],
  "tools": [{"functionDeclarations": [{"name": "f",
    "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}]}],
  "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW"}}}

{"api": "bedrock", "request": {"modelId": "anthropic.claude-sonnet-4-5", "system": [{"text": "s"}], "messages": [
  {"role": "user", "content": [{"text": "a"}, {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
    {"document": {"format": "pdf", "name": "d", "source": {"bytes": "JVBERi0="}}}]},
  {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}]},
  {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"json": {"a": 1}}]}}]}],
  "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]}}}

{"api": "blocks", "request": {"messages": [
  {"role": "user", "content": [{"type": "text", "text": "a"},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]},
  {"role": "assistant", "content": "b"}]}}
"""
"""A small request of each form, with a blank line between two."""
MODELS = (
    "",
    "claude-opus-5-5",
    "gpt-4o",
    "gpt-6-astra",
    "gemini-3-pro",
    "nova-lite",
    "qwen3-vl",
    "openrouter/x/y",
    "deepseek-v4.1",
)
KINDS = ("base64", "data-url", "text", "url", "file")
DECLARED = ("image/png", "application/pdf", "audio/mp3", "video/mp4", "text/plain", "", "application/zip")


def try_probe(data: bytes) -> None:
    """Bytes as a file, as base64 of each source, and as what may stand in a text."""
    encoded = base64.b64encode(data).decode()
    for kind in KINDS[:2]:
        figures(probe.facts(encoded, kind, DECLARED[len(data) % len(DECLARED)]))  # type: ignore[arg-type]
    figures(probe.facts_of_bytes(data, len(data)))
    figures(probe.facts_of_bytes(data[:100], len(data)))
    text = data.decode("utf-8", "replace")
    figures(probe.facts(text, "text", ""))
    figures(probe.facts(text, "data-url", "image/svg+xml"))
    probe.sniff(encoded)
    probe.sniff(text)


def figures(facts: Facts) -> None:
    """Every figure is one."""
    for value in (facts.width, facts.height, facts.pages, facts.seconds, facts.text_chars, facts.image_pages):
        if not (math.isfinite(value) and value >= 0):
            raise AssertionError(facts)


def places(node: Json) -> Iterator[tuple[Json, Json]]:
    """Every holder of a value and the key it stands under."""
    todo = [node]
    while todo:
        holder = todo.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            yield holder, key
            todo.append(holder[key])


def changed(body: Json, pick: atheris.FuzzedDataProvider) -> Json:
    """The body with a few changes that the bytes decide."""
    body = copy.deepcopy(body)
    for _ in range(pick.ConsumeIntInRange(1, 6)):
        spots = list(places(body))
        if not spots:
            return body
        holder, key = spots[pick.ConsumeIntInRange(0, len(spots) - 1)]
        match pick.ConsumeIntInRange(0, 6):
            case 0 | 1:
                holder[key] = copy.deepcopy(ODD[pick.ConsumeIntInRange(0, len(ODD) - 1)])
            case 2:
                del holder[key]
            case 3:
                other, at = spots[pick.ConsumeIntInRange(0, len(spots) - 1)]
                holder[key] = copy.deepcopy(other[at]) if isinstance(other, dict) or at < len(other) else None
            case 4:
                holder[key] = pick.ConsumeUnicodeNoSurrogates(40)
            case 5:
                holder[key] = [copy.deepcopy(holder[key])] * pick.ConsumeIntInRange(1, 3)
            case _ if isinstance(holder, dict):
                other, at = spots[pick.ConsumeIntInRange(0, len(spots) - 1)]
                holder[str(at)] = holder.pop(key)
            case _:
                holder.append(copy.deepcopy(holder[key]))
    return body


def try_body(api: str, body: Json, model: str, budget: int) -> None:
    """Priced, linted, repaired and fitted; the library may say no in its own words."""
    try:
        bill = transom.price(body, api=api, model=model or None)
    except TransomError:
        return
    if not (isinstance(bill.tokens, int) and bill.tokens >= 0):
        raise AssertionError(bill)
    calls = (
        lambda: transom.lint(body, api=api, model=model or None),
        lambda: transom.repair(body, api=api, model=model or None),
        lambda: transom.fit(body, api=api, model=model or None, budget=budget),
    )
    for call in calls:
        try:
            call()
        except PlanMismatch:
            raise
        except TransomError:
            pass


def reader(bodies: list[tuple[str, Json]]) -> Target:
    """The target that changes one of these bodies."""

    def target(data: bytes) -> None:
        pick = atheris.FuzzedDataProvider(data)
        api, body = bodies[pick.ConsumeIntInRange(0, len(bodies) - 1)]
        if pick.ConsumeIntInRange(0, 19) == 0:
            api = sorted(FORMS)[pick.ConsumeIntInRange(0, len(FORMS) - 1)]
        model = MODELS[pick.ConsumeIntInRange(0, len(MODELS) - 1)]
        try_body(api, changed(body, pick), model, pick.ConsumeIntInRange(1, 3_000))

    return target


def going_on(target: Target, folder: Path) -> Target:
    """The target, which writes each new kind of exception into the folder and goes on."""
    seen: set[str] = set()

    def wrapped(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            frames = traceback.extract_tb(error.__traceback__)
            kind = f"{type(error).__name__} in {frames[-1].filename.rsplit('/', 1)[-1]} {frames[-1].name}"
            if kind not in seen:
                seen.add(kind)
                (folder / f"{len(seen)}.txt").write_text(f"{kind}: {error}\n{data!r}\n{traceback.format_exc()}", encoding="utf-8")
                print(kind, flush=True)

    return wrapped


def main() -> None:
    """Read the arguments, leave the rest to libFuzzer."""
    kind, arguments = sys.argv[1], sys.argv[2:]
    found = [json.loads(seed) for seed in SEEDS.strip().split("\n\n")]
    if "--bodies" in arguments:
        at = arguments.index("--bodies")
        found += map(json.loads, Path(arguments[at + 1]).read_text(encoding="utf-8").splitlines())
        del arguments[at : at + 2]
    target = try_probe if kind == "probe" else reader([(one["api"], one["request"]) for one in found])
    if "--going-on" in arguments:
        at = arguments.index("--going-on")
        target = going_on(target, Path(arguments[at + 1]))
        del arguments[at : at + 2]
    atheris.Setup([sys.argv[0], *arguments], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
