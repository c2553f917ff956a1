"""The public API as a user's type checker sees it. Never run; mypy reads it."""

from __future__ import annotations

from typing import assert_type

import transom
from transom import Bill, Decision, Fault, Fit, Policy, Price, Report, State

body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hello"}]}

fit = transom.fit(body, api="anthropic", budget=60_000)
assert_type(fit, Fit)
assert_type(fit.report, Report)
assert_type(fit.report.decisions, tuple[Decision, ...])
assert_type(fit.state, State)
assert_type(fit.report.after.tokens, int)
assert_type(transom.fit(body, api="anthropic", state=fit.state, max_images=4).state, State)
assert_type(transom.fit(body, api="anthropic", policy=Policy.sliding(max_images=4)), Fit)
assert_type(State.from_dict(fit.state.to_dict()), State)

bill = transom.price(body, api="openai-chat", model="claude-opus-5")
assert_type(bill, Bill)
assert_type(bill["messages[0]"], Price)
assert_type(bill.tokens, int)

assert_type(transom.lint(body, api="anthropic"), list[Fault])
assert_type(transom.repair(body, api="anthropic"), Fit)
