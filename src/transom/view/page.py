"""A request and its fit as one HTML file."""

from __future__ import annotations

import math
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

import transom
from transom import door
from transom.types import JsonObject
from transom.view.blocks import Thumbs, grouped, message_blocks, segments
from transom.wire import FORMS


def page(  # noqa: PLR0913 - the subject and its options
    request: JsonObject, *, api: str, model: str | None = None, fit: transom.Fit | None, name: str = "", trouble: str = ""
) -> str:
    """The page for `request`.

    `fit` is what `transom.fit` made of it; without one the page shows the request as it came, and `trouble` says why
    there is none. `name` is its title. Raises BadRequest where `request` is no request.
    """
    talk = FORMS[api].read(door.admit(request))
    bill = transom.price(request, api=api, model=model)
    report = fit.report if fit is not None else None
    thumbs = Thumbs()
    blocks = message_blocks(talk, bill, report.decisions if report is not None else (), thumbs)
    budget = report.budget if report is not None else None
    return _template().render(
        name=name,
        api=api,
        bill=bill,
        report=report,
        trouble=trouble,
        groups=grouped(report.decisions if report is not None else ()),
        messages=blocks,
        segments=segments(bill),
        thumbs_refused=thumbs.refused,
        budget_tokens=int(budget.tokens) if budget is not None and math.isfinite(budget.tokens) else 0,
        finite=math.isfinite,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("transom.view", ""),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["n"] = lambda number: f"{number:,}"
    environment.filters["pct"] = lambda share: f"{share:.2f}"
    return environment.get_template("page.html")
