"""Judge, fold, select, shed: which pictures stay live, what summaries stand for, which groups go out, and what may go at last.

Verdicts come first and see neither the budget nor the start of the window (the start law); the selection changes no verdict.
"""

from transom.planner.planning import Folded, Plan, plan

__all__ = ["Folded", "Plan", "plan"]
