"""The items of a Responses `input` that are no messages: whose they are, and what stands in them.

The rule: an item is one part, whose place is the item itself. What the provider ran itself (searches, code, pictures) is one item
with its result; what the caller ran is two, a call and an output. Source: types of the official SDK (openai 3.57), November 2026.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from transom import canon
from transom.parts import Part, Role
from transom.types import Json, JsonObject
from transom.wire import shapes
from transom.wire.keyed import string, written

Reader: TypeAlias = Callable[[JsonObject], Part]

CALLS: Final = {
    "function_call": "arguments",
    "computer_call": "action",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "mcp_approval_request": "arguments",
}
"""Calls that the caller answers, and where their input stands."""
NAMED: Final = {
    "mcp_approval_request": ("id",),
    "mcp_approval_response": ("approval_request_id",),
    "local_shell_call": ("call_id", "id"),
    "local_shell_call_output": ("call_id", "id"),
}
"""Where items name their call that do not do so under `call_id` alone: the `id` of most is that of the item."""
SERVED: Final = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools"}
)
"""Calls that the provider answers itself, in the same item."""
BLANK: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQAAAABbAUdZAAAAD0lEQVR42mP4DwQMg5cAANrpf4Em8vpjAAAAAElFTkSuQmCC"
)
"""A blank picture of one patch: what stands for a screenshot that is left out, where nothing but a screenshot may stand."""
LEFT_OUT: Final = "[screenshot left out]"


def kind(json: JsonObject) -> str:
    """The type of an item; a message may leave it out, and so may a reference, which has an id and nothing else to say."""
    said = json.get("type")
    if isinstance(said, str):
        return said
    return "item_reference" if isinstance(json.get("id"), str) and not {"role", "content"} & json.keys() else "message"


def is_output(said: str) -> bool:
    """Whether items of this type are results."""
    return said.endswith("_call_output") or said in ("mcp_approval_response", "tool_search_output")


def is_call(json: JsonObject) -> bool:
    """Whether an item is a call that the caller answers."""
    said = kind(json)
    return said in CALLS or (said == "tool_search_call" and isinstance(json.get("call_id"), str))


def is_item(json: JsonObject) -> bool:
    """Whether an object that has no role is an item of a kind that is known here."""
    said = kind(json)
    return isinstance(json.get("type"), str) and (is_call(json) or is_output(said) or said in _READERS)


def read(json: JsonObject) -> tuple[Role, Part]:
    """An item that is no message: whose it is and its one part."""
    said = kind(json)
    if is_call(json):
        return "assistant", _call(json, said)
    if is_output(said) and (said != "tool_search_output" or isinstance(json.get("call_id"), str)):
        return "tool", _output(json, said)
    reader = _READERS.get(said, _other)
    return ("system" if said == "compaction" else "assistant"), reader(json)


def named(json: JsonObject, said: str) -> str:
    """The id by which a call and its output know each other."""
    return string(json, *NAMED.get(said, ("call_id",)))


def _call(json: JsonObject, said: str) -> Part:
    given = json.get(CALLS.get(said, "arguments"))
    name = string(json, "name") or said
    return Part(kind="call", place=(), raw=json, text=written(given), id=named(json, said), name=name)


def _output(json: JsonObject, said: str) -> Part:
    held = json.get("output", json.get("tools"))
    if said == "mcp_approval_response":
        held = f"{'approved' if json.get('approve') else 'refused'}\n{string(json, 'reason')}".strip()
    blank = isinstance(held, dict) and held.get("image_url") == BLANK
    inner: tuple[Part, ...] = ()
    if isinstance(held, list):
        inner = shapes.parts(held, ("output" if "output" in json else "tools",), 1)
    elif isinstance(held, dict) and not blank:
        inner = (shapes.part(held, ("output",), 1),)
    return Part(
        kind="result",
        place=(),
        raw=json,
        text=LEFT_OUT if blank else held if isinstance(held, str) else "",
        id=named(json, said),
        name=string(json, "name"),
        failed=json.get("status") in ("failed", "incomplete") or json.get("approve") is False,
        parts=inner,
    )


def _reasoning(json: JsonObject) -> Part:
    words = [text for key in ("summary", "content") for text in _texts(json.get(key))]
    return Part(kind="reasoning", place=(), raw=json, text="\n".join(words), signed=True)


def _texts(listed: Json) -> list[str]:
    return [string(one, "text") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _picture(json: JsonObject) -> Part:
    return shapes.part(json, ())


def _sealed(json: JsonObject) -> Part:
    """What nobody here can read: an encrypted summary of all that was before."""
    return Part(kind="opaque", place=(), raw=json, text=string(json, "encrypted_content"), signed=True)


def _reference(json: JsonObject) -> Part:
    return Part(kind="reference", place=(), raw=json, id=string(json, "id"))


def _served(json: JsonObject) -> Part:
    """A call that the provider ran, with what it found: words as text, pictures as parts."""
    words = [written(json.get(key)) for key in ("query", "queries", "arguments", "code", "output", "error") if json.get(key)]
    action = json.get("action")
    words += [canon.text(action)] if isinstance(action, dict) else []
    inner: list[Part] = []
    for key in ("outputs", "results", "tools"):
        found = json.get(key)
        for part in shapes.parts(found, (key,), 1) if isinstance(found, list) else ():
            words += [part.text] if part.text else []
            inner += [part] if part.media is not None else []
    name = string(json, "name") or kind(json)
    return Part(kind="opaque", place=(), raw=json, text="\n".join(words), name=name, parts=tuple(inner))


def _other(json: JsonObject) -> Part:
    found = shapes.part(json, ())
    known = found.kind == "opaque" or found.media is not None
    return found if known else Part(kind="opaque", place=(), raw=json, text=found.text)


_READERS: Final[dict[str, Reader]] = {
    "reasoning": _reasoning,
    "compaction": _sealed,
    "item_reference": _reference,
    "image_generation_call": _picture,
    **dict.fromkeys(SERVED - {"image_generation_call"}, _served),
}
"""Items that are neither messages, calls nor outputs. Any other is opaque."""
