"""Texts of the system prompt that say nothing: no provider that takes a list of them takes such a one.

The rule: it is a part of a list that must hold words; an empty string in place of a list is taken (recorded requests to
Anthropic, 2026). Sources of the words: neohq/dbx 1298 and agentjido/req_llm 712 (2026-05, Anthropic), songquanpeng/one-api 2243
(2025-04, Gemini), and the service model of botocore's bedrock-runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from transom.parts import Conversation, spell
from transom.types import Place
from transom.wire.form import Fault

_ANSWERS: Final = MappingProxyType(
    {
        "anthropic": "system: text content blocks must be non-empty",
        "bedrock": "",
        "gemini": "GenerateContentRequest.system_instruction.parts[0].data: required oneof field 'data' must have one "
        "initialized field",
    }
)


def blanks(conversation: Conversation) -> list[Place]:
    """The places of system texts that say nothing; that of all of them together, where nothing else is there."""
    if conversation.api not in _ANSWERS:
        return []
    system = conversation.system
    found = [part.place for part in system if part.kind == "text" and isinstance(part.place[-1], int) and not part.text.strip()]
    if not found or len(found) < len(system):
        return found
    around = found[0][:-1]
    return [around[:-1] if around[-1] == "parts" else around]


def faults(conversation: Conversation) -> Iterator[Fault]:
    """Each of them as a fault."""
    for place in blanks(conversation):
        says = "a system text that is empty or only white space; leave it out"
        yield Fault(place=spell(place), code="blank-system", says=says, answer=_ANSWERS[conversation.api])
