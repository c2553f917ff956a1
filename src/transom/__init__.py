"""transom decides, before each request to a language model, exactly what the model will see.

    fit = transom.fit(request, api="anthropic", budget=60_000)
    reply = client.messages.create(**fit.request)

The request is the provider's own JSON, and so is what comes out.
"""

import importlib
from typing import TYPE_CHECKING

from transom.bill import Bill
from transom.catalog import FLAT, Limits, ModelCard, card, cards
from transom.errors import (
    BadRequest,
    BadSetting,
    NoSession,
    OverBudget,
    PlanMismatch,
    SchemaTooNew,
    StateConflict,
    StoreError,
    TransomError,
)
from transom.fit import Fit, fit, for_boto3, lint, price, repair
from transom.folds import fulfil
from transom.plan import Ask, Break, Budget, Decision, Fold, Size, State
from transom.policy import Policy
from transom.pricing import Known, Price, PriceList
from transom.report import Report
from transom.wire.form import Fault, Usage

if TYPE_CHECKING:
    from transom import summaries
    from transom.session import Session, Store

__version__ = "0.1.0"

__all__ = [
    "FLAT",
    "Ask",
    "BadRequest",
    "BadSetting",
    "Bill",
    "Break",
    "Budget",
    "Decision",
    "Fault",
    "Fit",
    "Fold",
    "Known",
    "Limits",
    "ModelCard",
    "NoSession",
    "OverBudget",
    "PlanMismatch",
    "Policy",
    "Price",
    "PriceList",
    "Report",
    "SchemaTooNew",
    "Session",
    "Size",
    "State",
    "StateConflict",
    "Store",
    "StoreError",
    "TransomError",
    "Usage",
    "card",
    "cards",
    "fit",
    "for_boto3",
    "fulfil",
    "lint",
    "price",
    "repair",
    "summaries",
]


def __getattr__(name: str) -> object:
    """Sessions and summaries, loaded when they are first named: a fit needs no database and asks no model."""
    if name in {"Session", "Store"}:
        return getattr(importlib.import_module("transom.session"), name)
    if name == "summaries":
        return importlib.import_module("transom.summaries")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
