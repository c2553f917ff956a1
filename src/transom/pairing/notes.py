"""The words that pairing puts into a conversation: constant texts, so that what stands for a message never changes.

The rule: no note holds an index, a count or the reason for it. A message that lost all it held has the same bytes whether its
result was moved up, was an orphan, or its text was empty; otherwise a later fit, which no longer sees the call, would rewrite it.
"""

from __future__ import annotations

import re
from typing import Final

from transom.parts import Part, walk

EMPTIED: Final = "(nothing is left of this message)"
"""In place of all that a message held: a result that was moved or had no call, or nothing but white space."""
NOT_FINISHED: Final = "This call was not finished. There is no result, and whether it had any effect is not known."
"""The failed result of a call that nobody answered."""
BROKEN_OFF: Final = "(this turn was broken off here)"
"""Behind reasoning that an assistant turn ends with."""
OPENING: Final = "(the conversation goes on here)"
"""The user's turn in front of a conversation that the assistant opens."""
GO_ON: Final = "(please go on)"
"""The user's turn behind a conversation that the assistant ends, where the model takes no such ending."""
GAP: Final = "(some steps are left out here)"
"""The assistant's turn behind results that the window no longer goes on from, so that the turn before it is over."""
NO_THINKING: Final = "(the step above was taken without thinking)"
"""The assistant's turn behind a call without the thinking that the request asks for, so that its turn is over."""
DOCUMENTS: Final = "(documents without words)"
"""In front of the documents of a message that says nothing, where its provider wants some text beside them."""
MEDIA_BELOW: Final = "(what the tool returned stands in the next message of the user)"
"""In a result that may hold text only and held none."""
MEDIA_HERE: Final = "(what the tools above returned)"
"""In front of the media of results that may hold text only."""
SHOWN: Final = "(shown above)"
"""In front of pictures that stood in a message of one who may not show any."""
FAILED: Final = "(the tool failed and said nothing)"
"""In a result that says it failed and holds no words."""
LATE_HEAD: Final = "Late result of call "
"""How a result begins that is appended where it arrived, as a text that names the call."""

CONSTANT: Final = frozenset(
    {EMPTIED, NOT_FINISHED, BROKEN_OFF, OPENING, GO_ON, GAP, NO_THINKING, DOCUMENTS, MEDIA_BELOW, MEDIA_HERE, SHOWN, FAILED}
)

_MOST_WORDS: Final = 200
_BROKEN: Final = re.compile(
    r"\W*(?:(?:the|this|tool|call|request|execution|operation|command|it|was|were|has|been|error|by|user|is)\W+){0,6}"
    r"(?:interrupted|cancell?ed|aborted|timed? ?out|skipped|rejected|not (?:finished|completed|run|executed)"
    r"|no (?:result|output|response)|still running|pending|failed)\b",
    re.IGNORECASE,
)


def late_head(call: str) -> str:
    """The first line of a late result that is appended as text."""
    return f"{LATE_HEAD}{call}:"


def ours(words: str) -> bool:
    """Whether a text is one of these notes, and so nobody's own words."""
    return words in CONSTANT or words.startswith(LATE_HEAD)


def real(result: Part) -> bool:
    """Whether a result says what a call returned, and not that it failed or was interrupted."""
    if result.failed:
        return False
    words = result.text
    for part in walk(result.parts):
        if part.kind != "text":
            return True
        words += part.text
    return len(words) > _MOST_WORDS or not _BROKEN.match(words)
