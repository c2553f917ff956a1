"""Pictures in messages of those who may not show any: they go out behind, in a message of the user.

The rule: only pictures whose type is known are moved. Source of the words: answer of the API quoted in openai/openai-node 1030
(2024-09); compatible servers take pictures of the assistant, so it is a matter of the model (`quirks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transom.parts import Conversation, Part, Role, spell
from transom.wire.form import Fault
from transom.wire.openai_checks import CHECKED, PICTURES

_BLIND: Final[dict[str, tuple[Role, ...]]] = {"openai-chat": ("assistant", "system"), "openai-responses": ("assistant",)}
"""Roles that show no picture, by form."""
_ANSWERS: Final = {
    "openai-chat": "Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', but this message "
    "with role '{role}' contains an image URL.",
    "openai-responses": "Invalid value: 'input_image'. Supported values are: 'output_text' and 'refusal'.",
}


def blind(api: str, quirks: frozenset[str]) -> tuple[Role, ...]:
    """The roles that show no picture."""
    return _BLIND.get(api, ()) if CHECKED in quirks else ()


def shown(part: Part) -> bool:
    """Whether a part is a picture in the content of a message."""
    known = part.kind == "image" and part.place[:1] == ("content",)
    return known and isinstance(part.raw, dict) and part.raw.get("type") in PICTURES


def faults(conversation: Conversation, quirks: frozenset[str]) -> Iterator[Fault]:
    """Each picture in a message whose role shows none."""
    api = conversation.api
    roles = blind(api, quirks)
    for message in conversation.messages if roles else ():
        for part in message.parts if message.role in roles else ():
            if shown(part):
                place = spell((conversation.key, message.index, *part.place))
                says = f"the role {message.json.get('role')!r} shows a picture; let the user show it"
                answer = _ANSWERS[api].format(index=message.index, role=message.json.get("role"))
                yield Fault(place=place, code="image-role", says=says, answer=answer)
