"""What stands around the content, by who bills: framing, tool declarations, calls, results and schemas.

The rule of this file: a frame is a value with constants; text is counted by the counter that it is handed, so every frame
works with every counter.
"""

from __future__ import annotations

from typing import Protocol

from transom import canon
from transom.frozen import Frozen
from transom.parts import Conversation, Message, Part
from transom.rules import tools
from transom.types import Count


class Frame(Protocol):
    """The framing of one family of models. Each answer is tokens."""

    def request(self, conversation: Conversation, count: Count) -> int:
        """Around the whole: framing, tools, schemas; neither system text nor messages."""

    def message(self, message: Message, count: Count) -> int:
        """Around one message, without its parts."""

    def writes_calls(self, message: Message) -> bool:
        """Whether the calls of an answer are read."""

    def call(self, part: Part, count: Count) -> int:
        """A tool call."""

    def result(self, part: Part, count: Count) -> int:
        """A tool result without the parts inside it."""

    def reasoning(self, part: Part, count: Count, *, calls: bool, live: bool) -> int:
        """Visible reasoning that is sent back. `calls`: its message calls tools. `live`: it stands behind the user's last turn,
        or nobody knows where it stands.
        """

    def said(self, text: str, *, live: bool) -> str:
        """What is read of a text: some templates drop the thought that an earlier answer begins with."""

    def hidden(self, part: Part, *, live: bool) -> int:
        """What a part costs beside what can be read of it: encrypted reasoning, thoughts behind a signature. An estimate."""


class FlatFrame(Frozen, frozen=True, kw_only=True):
    """The reference figures: no framing; a call costs its input and `per_call` (CM-51, CM-52)."""

    per_call: int = 20

    def request(self, conversation: Conversation, count: Count) -> int:
        """The declarations as JSON."""
        declarations = tools.declared(conversation.body)
        return sum(count(canon.text(tool.raw)) for tool in declarations)

    def message(self, message: Message, count: Count) -> int:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return 0

    def writes_calls(self, message: Message) -> bool:  # noqa: ARG002 - the protocol's signature
        """They are."""
        return True

    def call(self, part: Part, count: Count) -> int:
        """The input as JSON, and a constant."""
        return count(part.text) + self.per_call

    def result(self, part: Part, count: Count) -> int:
        """The text, where the result is one string."""
        return count(part.text)

    def reasoning(self, part: Part, count: Count, *, calls: bool, live: bool) -> int:  # noqa: ARG002
        """Its visible text."""
        return count(part.text)

    def said(self, text: str, *, live: bool) -> str:  # noqa: ARG002
        """All of it."""
        return text

    def hidden(self, part: Part, *, live: bool) -> int:  # noqa: ARG002
        """Nothing."""
        return 0
