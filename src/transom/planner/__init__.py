"""Judge, select, shed: which pictures stay live, which groups go out, and what may go when only what must stay is left.

Verdicts come first and see neither the budget nor the start of the window (the start law); the selection changes no verdict.
"""

from transom.planner.judge import Limit, Picture, Row, Verdicts, judge
from transom.planner.select import Keeping, guarded, select
from transom.planner.window import Window, open_window

__all__ = ["Keeping", "Limit", "Picture", "Row", "Verdicts", "Window", "guarded", "judge", "open_window", "select"]
