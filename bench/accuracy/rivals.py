"""What other libraries say of the same requests, where they are installed: litellm, langchain-core, and characters by four.

The rule of this file: each is used as its documentation says, on the messages as they were sent; what it cannot take is None.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec

from transom.types import JsonObject

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}  # nothing is fetched while others are measured

Rival = Callable[[JsonObject, JsonObject], float | None]


def characters(_record: JsonObject, body: JsonObject) -> float | None:
    """The body's JSON by four characters a token."""
    return len(json.dumps(body, ensure_ascii=False)) / 4


def litellm(record: JsonObject, body: JsonObject) -> float | None:
    """`litellm.token_counter` on messages and tools."""
    if record["api"] not in {"openai-chat", "anthropic"}:
        return None
    counter = import_module("litellm").token_counter
    try:
        return float(counter(model=record["model"] or "gpt-4o", messages=body["messages"], tools=body.get("tools")))
    except Exception:  # noqa: BLE001 - whatever it cannot take
        return None


def langchain(record: JsonObject, body: JsonObject) -> float | None:
    """`count_tokens_approximately` on messages that langchain-core makes of OpenAI's or Anthropic's."""
    if record["api"] not in {"openai-chat", "anthropic"}:
        return None
    messages = import_module("langchain_core.messages")
    try:
        made = messages.convert_to_messages(body["messages"])
        return float(import_module("langchain_core.messages.utils").count_tokens_approximately(made, tools=body.get("tools")))
    except Exception:  # noqa: BLE001 - whatever it cannot take
        return None


def installed() -> Mapping[str, Rival]:
    """Those that can be asked here."""
    found: dict[str, Rival] = {"characters / 4": characters}
    if find_spec("langchain_core"):
        found["langchain-core"] = langchain
    if find_spec("litellm"):
        found["litellm"] = litellm
    return found
