"""Judge, select, shed: which pictures stay live, which groups go out, and what may go when only what must stay is left.

Verdicts come first and see neither the budget nor the start of the window (the start law); the selection changes no verdict.
"""

from transom.planner.planning import Plan, plan

__all__ = ["Plan", "plan"]
