"""Every error that transom raises on purpose, in one tree.

    TransomError
    ├── BadRequest      what came in is no request of the form it was said to be
    ├── BadSetting      a policy, budget, state or model card cannot be used as given
    ├── OverBudget      nothing legal fits; carries the numbers
    ├── PlanMismatch    what was written is not what was planned (a fault of transom's own)
    └── StoreError      the store cannot do what was asked: a full disk, a damaged or foreign file, no such session
        ├── NoSession       there is no session of this name
        ├── StateConflict   somebody else went on with the session in the meantime; read it again and retry
        └── SchemaTooNew    the file was written by a newer version of transom

Each message is one sentence that states the place, the value, the rule and the remedy. `status_hint` is the
HTTP status that a proxy would answer with.
"""

from __future__ import annotations


class TransomError(Exception):
    """The base of all; never raised itself.

    `place` is the JSON path the error is about (`messages[3].content[1]`), or "" for the whole request.
    """

    status_hint = 400

    def __init__(self, message: str, *, place: str = "") -> None:
        self.place = place
        super().__init__(f"{place}: {message}" if place else message)


class BadRequest(TransomError):
    """The body is not JSON, not a request, or not of the form it was said to be."""


class BadSetting(TransomError):
    """A setting is outside its range, or settings contradict each other."""


class OverBudget(TransomError):
    """Nothing legal fits into the budget.

    `tokens`, `bytes`, `messages` are what the smallest legal request needs; `budget_tokens`, `budget_bytes` and
    `budget_messages` what it may have (0: that size is not limited).
    """

    status_hint = 413

    def __init__(  # noqa: PLR0913 - three sizes, twice
        self,
        what: str,
        *,
        tokens: int,
        bytes: int,  # noqa: A002 - the unit's name
        messages: int,
        budget_tokens: int,
        budget_bytes: int,
        budget_messages: int,
    ) -> None:
        self.what = what
        self.tokens, self.bytes, self.messages = tokens, bytes, messages
        self.budget_tokens, self.budget_bytes, self.budget_messages = budget_tokens, budget_bytes, budget_messages
        over = [
            f"{need:,} {unit} of {limit:,}"
            for need, limit, unit in (
                (tokens, budget_tokens, "tokens"),
                (bytes, budget_bytes, "bytes"),
                (messages, budget_messages, "messages"),
            )
            if 0 < limit < need
        ]
        super().__init__(f"{what} alone need {', '.join(over)}; raise the budget, or make them smaller")


class PlanMismatch(TransomError):
    """The request that was written breaks a rule, or is not the one that was planned; please report it."""

    status_hint = 500


class StoreError(TransomError):
    """The store cannot do what was asked. What an earlier call returned from is kept."""

    status_hint = 500


class NoSession(StoreError):
    """There is no session of this name for this tenant."""

    status_hint = 404


class StateConflict(StoreError):
    """Somebody else went on with the session in the meantime: nothing of this call was stored."""

    status_hint = 409


class SchemaTooNew(StoreError):
    """The store was written by a newer version of transom, and is left as it is."""
