"""Settings: one flat frozen value, and named ways to make it. Nothing here decides anything.

A limit that is not a positive number is off, here and in every pass (CM-14, INV-21): 0, a negative number and NaN mean the same.
`None` means: what the model card says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from transom.errors import BadSetting
from transom.types import Cut

Step: TypeAlias = Literal["text", "images", "files"]
STEPS: tuple[Step, ...] = ("text", "images", "files")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may be sent. Make one with `Policy.sliding(...)`.

    budget: most tokens of the whole request, fixed parts included; None: the card's input limit, or window less reserve.
    reserve: tokens kept for the answer; None: the body's own max tokens, else min(card's output, window / 4, at least 256).
    trigger: share of the budget (beside the fixed parts) at which anything moves.
    refit: the share it moves to.
    grace: share of the budget that a plan may exceed it by before it counts as over.
    max_body_bytes: most bytes of the body as compact JSON; None: the card's.
    max_messages: most messages, system messages aside.
    max_images: most live pictures; None: the card's limit only.
    max_image_bytes: most base64 characters of all live pictures together.
    image_depth: pictures further than this many tokens from the newest message become placeholders.
    image_ratio: when one of the three binds, pictures are trimmed to this share of it, so that it binds rarely; 0: none.
    newest: "keep": pictures of the newest request and of the newest group are exempt from count and depth; "limit": they are not.
    keep_head: tokens at the start of the conversation that always stay.
    keep_requests, keep_requests_cap: how many of the user's requests stay in all; bytes that the earlier ones may have together.
    pins: places ("messages[3]", "messages[3].content[1]") or picture digests (as placeholders print them) that always stay.
    results_per_tool: how many results of a tool stay whole, for every tool or by name; None: all.
    max_input_tokens: longest input of a call; longer ones go out as a short note of what they were.
    max_message_tokens, cut: the cap of a message, and the hook that cuts it.
    late_results: "move" a result up to its call, or "append" its content where it arrived.
    shed: what may go when only what must stay is left, in this order: "text", "images", "files".
    marks: "client": cache marks are only made legal; "place": where the client set none, transom sets at most two.
    strict: raise when plan and output differ even where both are legal and within the budget.
    """

    budget: int | None = None
    reserve: int | None = None
    trigger: float = 1.0
    refit: float = 0.5
    grace: float = 0.0
    max_body_bytes: float | None = None
    max_messages: float = 0
    max_images: float | None = None
    max_image_bytes: float = 0
    image_depth: float = 0
    image_ratio: float = 0.5
    newest: Literal["keep", "limit"] = "keep"
    keep_head: float = 0
    keep_requests: int = 1
    keep_requests_cap: float = 0
    pins: tuple[str, ...] = ()
    results_per_tool: int | Mapping[str, int] | None = None
    max_input_tokens: float = 0
    max_message_tokens: float = 0
    cut: Cut | None = None
    late_results: Literal["move", "append"] = "move"
    shed: tuple[Step, ...] = ()
    marks: Literal["client", "place"] = "client"
    strict: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with the value and the rule."""
        for name in ("trigger", "refit"):
            share = getattr(self, name)
            if not _number(share) or not 0 < share <= 1:
                raise BadSetting(f"{name} is {share!r}; it is a share of the budget above 0 and at most 1, such as 0.5")
        if not _number(self.grace) or not 0 <= self.grace < 1:
            raise BadSetting(f"grace is {self.grace!r}; it is a share of the budget from 0 up to, not including, 1")
        for name in ("budget", "reserve"):
            tokens = getattr(self, name)
            least = 1 if name == "budget" else 0
            if tokens is not None and not (_number(tokens) and tokens >= least):
                raise BadSetting(f"{name} is {tokens!r}; it is a whole number of tokens, or None for the model card's")
        _among("newest", self.newest, ("keep", "limit"))
        _among("late_results", self.late_results, ("move", "append"))
        _among("marks", self.marks, ("client", "place"))
        for step in self.shed:
            _among("a step of shed", step, STEPS)
        if not isinstance(self.keep_requests, int) or self.keep_requests < 1:
            raise BadSetting(f"keep_requests is {self.keep_requests!r}; the newest request always stays, so it is at least 1")

    @classmethod
    def sliding(cls, **settings: Any) -> Policy:  # noqa: ANN401 - the fields above, checked by name
        """A moving start: what fits goes out; when it does not, the window moves once, to `refit` of the budget.

        Takes any field of Policy by name. Raises BadSetting for an unknown name or a value out of range.
        """
        return cls().having(**settings)

    def having(self, **settings: Any) -> Policy:  # noqa: ANN401 - as above
        """This policy with other values for the fields named. Raises BadSetting as `sliding` does."""
        known = {one.name for one in fields(self)}
        for name in settings:
            if name not in known:
                raise BadSetting(f"there is no setting {name!r}; there are {', '.join(sorted(known))}")
        return replace(self, **settings) if settings else self

    def fingerprint(self) -> str:
        """The settings that decide verdicts, as text: a state made under others starts its pictures afresh."""
        judged = (self.max_images, self.max_image_bytes, self.image_depth, self.image_ratio, self.newest, self.pins)
        pruned = (self.results_per_tool, self.max_input_tokens, self.max_message_tokens, self.late_results)
        return repr((judged, dict(pruned[0]) if isinstance(pruned[0], Mapping) else pruned[0], pruned[1:]))


def limit(value: float | None) -> float:
    """A limit as every pass reads it: the number where it is a positive one, else 0, which is off."""
    return value if value is not None and _number(value) and value > 0 else 0


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _among(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise BadSetting(f"{name} is {value!r}; it is one of {', '.join(choices)}")
