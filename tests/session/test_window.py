"""A compile reads a window of the log and makes the request that the whole log makes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import transom
from conversations import APIS, bodies
from transom import FLAT, Policy, Store, catalog
from transom.errors import OverBudget
from transom.pricing import PriceList
from transom.session import bodies as around

SETTINGS = st.fixed_dictionaries(
    {"budget": st.sampled_from([40, 90, 200, 600])},
    optional={
        "max_images": st.sampled_from([1, 2]),
        "image_depth": st.sampled_from([100, 2_000]),
        "keep_requests": st.sampled_from([1, 2, 3]),
        "keep_head": st.sampled_from([30, 100]),
        "results_per_tool": st.sampled_from([0, 1, 2]),
        "late_results": st.sampled_from(["move", "append"]),
        "refit": st.sampled_from([0.3, 0.5, 1]),
    },
)


def parted(data: st.DataObject, messages: list[Any]) -> list[list[Any]]:
    """Messages in the batches in which they are appended."""
    out, at = [], 0
    while at < len(messages):
        size = data.draw(st.integers(1, 4), label="batch")
        out.append(messages[at : at + size])
        at += size
    return out


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_window_of_the_log_makes_the_request_that_the_whole_log_makes(api: str, data: st.DataObject) -> None:
    body = data.draw(bodies(api), label="body")
    messages = body.pop(around.key(api), None) or []
    policy = Policy.sliding(**data.draw(SETTINGS, label="settings"))
    model = body.pop("model", "") or "claude-opus-4-8"
    system = body.pop("system", None)
    real = catalog.card(model, api=api)
    card = replace(FLAT, name=model, quirks=real.quirks, limits=real.limits)  # its prices do not depend on what is not sent
    state, seen = None, []
    with Store("sqlite://") as store:
        chat = store.session("a", api=api, model=model, policy=policy, card=card)
        for part in parted(data, messages):
            chat.append(part)
            seen += part
            whole, _ = around.around(api, model, {**body, "system": system})
            try:
                full = transom.fit({**whole, around.key(api): seen}, api=api, policy=policy, state=state, prices=PriceList(card))
            except OverBudget as refused:
                with pytest.raises(OverBudget, match=str(refused)[:20]):
                    chat.compile(**body, system=system)
                continue
            fit = chat.compile(**body, system=system)
            assert fit.request == full.request
            assert fit.state == full.state
            assert fit.report.after == full.report.after
            event("windowed" if fit.reach.start else "whole")
            state = full.state
