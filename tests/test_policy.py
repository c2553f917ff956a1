"""Settings: each is checked where it is made, with the value and the rule."""

from __future__ import annotations

import math
from typing import Any

import pytest

import transom
from transom import Policy
from transom.policy import limit


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trigger", 0),
        ("trigger", 1.5),
        ("refit", 0),
        ("refit", "0.5"),
        ("refit", math.nan),
        ("grace", 1),
        ("compact_at", 2),
        ("budget", 0),
        ("budget", -5),
        ("budget", 1.5),
        ("budget", 10**400),
        ("budget", True),
        ("reserve", -1),
        ("keep_requests", 0),
        ("merge", 0.5),
        ("max_images", "3"),
        ("max_images", True),
        ("max_body_bytes", "all"),
        ("image_ratio", "half"),
        ("image_depth", None),
        ("pins", "messages[1]"),
        ("pins", 5),
        ("results_per_tool", "2"),
        ("results_per_tool", {"look": "2"}),
        ("cut", 5),
        ("shed", ("everything",)),
        ("newest", "all"),
        ("late_results", 3),
        ("strict", "x"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_with_the_rule(name: str, value: object) -> None:
    """CM-125 and its like: a construction error, never a limit that is silently off."""
    with pytest.raises(transom.BadSetting, match=f"{name} is .*; it is "):
        Policy.sliding(**{name: value})


@pytest.mark.parametrize("value", [0, -1, math.nan, 0.0])
def test_a_limit_that_is_not_positive_is_off(value: float) -> None:
    """CM-14, INV-21."""
    policy = Policy.sliding(max_images=value, image_depth=value, max_messages=value)
    assert limit(policy.max_images) == limit(policy.image_depth) == limit(policy.max_messages) == 0


def test_a_name_that_is_no_setting_is_refused_with_those_there_are() -> None:
    """A typing slip in a name is not a setting that does nothing."""
    with pytest.raises(transom.BadSetting, match="no setting 'max_image'; there are budget"):
        Policy.sliding(max_image=3)


def test_lists_are_taken_where_tuples_are_meant() -> None:
    """JSON and TOML have no tuples."""
    settings: dict[str, Any] = {"pins": ["messages[1]"], "shed": ["images"]}
    assert Policy.sliding(**settings) == Policy.sliding(pins=("messages[1]",), shed=("images",))


@pytest.mark.parametrize("name", ["anchor", "mark", "count", "card"])
@pytest.mark.parametrize("value", ["x", None, [1], 1.5, True])
def test_a_damaged_state_is_refused_with_what_is_wrong_in_it(name: str, value: object) -> None:
    """CM-136: never a crash, and the remedy is said."""
    if name == "card" and value == "x":
        return
    plain = transom.State().to_dict()
    with pytest.raises(transom.BadSetting, match="start afresh"):
        transom.State.from_dict({**plain, name: value})


@pytest.mark.parametrize("value", [5, None, "x", [1], {}, {"format": 1}, {"format": 99}])
def test_what_is_no_state_is_refused(value: Any) -> None:
    """Whatever a state file holds."""
    with pytest.raises(transom.BadSetting, match="start afresh"):
        transom.State.from_dict(value)
