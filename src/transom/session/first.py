"""Where the first window of a long log begins: an imported or bulk-loaded log is read from its end, as far as the request can
need it.

The rule: what is read first is a guess from stored facts, and what came of it says whether it was enough. Only where the window
had to move inside of what was read is that the window that the whole log would have led to.
"""

from __future__ import annotations

from typing import Final

from transom.parts import Conversation
from transom.plan import Budget, State
from transom.policy import Policy, limit
from transom.pricing import is_turn
from transom.stages import Fit, Reach
from transom.store import Head, StoredLog

LEAST: Final = 256
"""Messages that are read in any case."""
PAGE: Final = 1_024
"""Messages whose facts are looked at in one go."""
TIMES: Final = 2
"""How many budgets full are read at first."""
CHARACTERS: Final = 5
"""Bytes of text that are taken for a token: more than most have, so that rather too much is read than too little."""
NOT_READ: Final = "messages 0 to {last:,} were not read, since the newer ones alone are more than the budget"


def may_begin_later(policy: Policy, head: Head) -> bool:
    """Whether old messages can matter to a first request only by being left out: nothing sums them up or keeps them."""
    return not (policy.chunk_tokens or limit(policy.keep_head) or policy.pins or "reference" in head.kinds)


def begin(log: StoredLog, head: Head, budget: Budget) -> int:
    """The number of the message behind which the log is more than the budget by what is known of it; 0: all of it is needed."""
    tokens = size = 0.0
    last = head.count - 1
    while last >= 0:
        for one in log.facts(max(0, last - PAGE + 1), last):
            tokens += one.text / CHARACTERS
            size += one.text
            count = head.count - one.seq
            over = tokens > TIMES * budget.tokens or size > TIMES * budget.bytes or count > TIMES * budget.messages
            if over and count >= LEAST:
                return one.seq
        last -= PAGE
    return 0


def reach(log: StoredLog, start: int) -> Reach:
    """What is read of the log: all from number `start` on, the instructions ahead of it, and what stands beside these."""
    ahead = log.instructions(start)
    beside = {seq + 1 for seq in ahead} | {start - 1}
    return Reach(start=start, ahead=ahead, beside=tuple(sorted(seq for seq in beside.difference(ahead) if seq < start)))


def state(head: Head, found: Reach, *, policy: str, card: str) -> State:
    """What a fit that had left out all ahead of the start would have left."""
    return State(anchor=found.start, front=frozenset(found.ahead), count=head.count, key=head.key, policy=policy, card=card)


def is_enough(fit: Fit, read: Conversation, start: int, policy: Policy) -> bool:
    """Whether more of the log would have led to the same window: it had to move, and holds the requests that are kept."""
    requests = sum(message.index > start and is_turn(message) for message in read.messages)
    return fit.state.anchor > start and requests >= policy.keep_requests
