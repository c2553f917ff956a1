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
from transom.session import first

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


def loaded(store: Store, api: str, messages: list[Any], **settings: Any) -> transom.Session:
    """A session whose messages were stored before any request was made."""
    chat = store.session("a", api=api, model="claude-opus-4-8", policy=Policy.sliding(**settings), card=LONG_CARD)
    chat.append(messages)
    return chat


LONG_CARD = replace(FLAT, name="claude-opus-4-8")
SAID = [{"role": "assistant" if n % 2 else "user", "content": f"message {n} " + "word " * 20} for n in range(3_000)]
LOOP = [
    {"role": "user", "content": "the task"},
    *(
        {"role": role, "content": [part]}
        for n in range(600)
        for role, part in (
            ("assistant", {"type": "tool_use", "id": f"c{n}", "name": "look", "input": {}}),
            ("user", {"type": "tool_result", "tool_use_id": f"c{n}", "content": "seen " * 30}),
        )
    ),
]


@pytest.mark.parametrize(
    ("api", "messages", "most", "kept"),
    [
        ("anthropic", SAID, 700, {}),
        ("openai-chat", [{"role": "system", "content": "always this"}, *SAID], 700, {}),
        ("anthropic", SAID, 700, {"keep_requests": 3}),
        ("anthropic", LOOP, 1_201, {}),  # the newest request is the first message
        ("anthropic", SAID, 3_000, {"keep_head": 100}),
    ],
)
def test_the_first_request_of_a_long_log_is_that_of_the_whole(api: str, messages: list[Any], most: int, kept: Any) -> None:
    """What is read is what the request can need: instructions in the list and the newest request, wherever they stand."""
    settings_ = {"budget": 2_000, "strict": True, **kept}
    with Store("sqlite://") as store:
        chat = loaded(store, api, messages, **settings_)
        body = {"model": "claude-opus-4-8", "messages": messages, "max_tokens": 100}
        full = transom.fit(body, api=api, policy=Policy.sliding(**settings_), prices=PriceList(LONG_CARD))
        fit = chat.compile(max_tokens=100)
        assert fit.request == full.request
        assert (fit.state.anchor, fit.state.front) == (full.state.anchor, full.state.front)
        assert chat.log.rows_read <= most
        assert ("were not read" in " ".join(fit.report.notes)) is (most in {700, 701})
        again = chat.compile(max_tokens=100)
        assert (again.request, again.report.breaks) == (fit.request, ())
        later = store.session("a", policy=Policy.sliding(**settings_), card=LONG_CARD)
        later.append({"role": "user", "content": "and now"})
        body["messages"] = [*messages, {"role": "user", "content": "and now"}]
        grown = transom.fit(body, api=api, policy=Policy.sliding(**settings_), prices=PriceList(LONG_CARD), state=full.state)
        assert later.compile(max_tokens=100).request == grown.request


def test_where_the_guess_was_too_small_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored facts say how much to read; that the window moved inside of it says that it was enough."""
    monkeypatch.setattr(first, "CHARACTERS", 0.01)
    with Store("sqlite://") as store:
        chat = loaded(store, "anthropic", SAID, budget=40_000)
        fit = chat.compile(max_tokens=100)
        assert 19_000 <= fit.report.after.tokens <= 40_000
        assert first.LEAST < chat.log.rows_read < 3_000
