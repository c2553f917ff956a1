"""Settings: one flat frozen value, and named ways to make it. Nothing here decides anything.

A limit that is not a positive number is off, here and in every pass (CM-14, INV-21): 0, a negative number and NaN mean the
same. `None` means: what the model card says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from transom.errors import BadSetting
from transom.frozen import Frozen
from transom.types import Cut, JsonObject

Step: TypeAlias = Literal["requests", "text", "images", "files"]
STEPS: tuple[Step, ...] = ("requests", "text", "images", "files")
MIB: Final = 1024 * 1024
LEAST_MESSAGES: Final = 2
"""A request and an exchange: no preset allows fewer messages (AN-35)."""

FOLDING: Final = {
    "trigger": 0.8,
    "max_images": 6,
    "max_image_bytes": 20 * MIB,
    "image_depth": 30_000,
    "chunk_tokens": 3_000,
    "recent_tokens": 30_000,
    "fold_first": "salience",
}
SHEDDING: Final = {
    "refit": 1.0,
    "max_messages": 40,
    "image_ratio": 0,
    "keep_requests": 3,
    "keep_requests_cap": 4_096,
    "shed": STEPS,
}
COMPACTING: Final = {
    "trigger": 0.8,
    "compact_at": 0.8,
    "image_ratio": 0,
    "chunk_tokens": 3_000,
    "recent_tokens": 30_000,
    "merge": 1,
}


MOST_TOKENS: Final = 10**15
"""Above this a number of tokens is a slip, and no float holds it exactly."""
LIMITS: Final = (
    "max_messages", "max_image_bytes", "image_depth", "image_ratio", "keep_head", "keep_requests_cap", "max_input_tokens",
    "max_message_tokens", "chunk_tokens", "recent_tokens", "prompt_image_bytes",
)  # fmt: skip
"""Fields that are limits: any number, and off where it is not positive."""


class Policy(Frozen, frozen=True, kw_only=True):
    """What may be sent. Make one with `Policy.sliding(...)`, `folding`, `shedding` or `compacting`.

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
    newest: "keep": pictures of the newest request and of the newest group are exempt from count and depth; "limit": they are
    not. keep_head: tokens at the start of the conversation that always stay. keep_requests, keep_requests_cap: how many of
    the user's requests stay in all; bytes that the earlier ones may have together. pins: places ("messages[3]",
    "messages[3].content[1]") or picture digests (as placeholders print them) that always stay. results_per_tool: how many
    results of a tool stay whole, for every tool or by name; None: all. max_input_tokens: longest input of a call; longer ones
    go out as a short note of what they were. max_message_tokens, cut: the cap of a message, and the hook that cuts it.
    late_results: "move" a result up to its call, or "append" its content where it arrived. chunk_tokens: what one summary
    stands for, at the least; 0: nothing is summed up. recent_tokens: the newest tokens that no summary covers; never more
    than half of what `refit` leaves. summary_tokens: the most that a summary may have. merge: so many neighbouring summaries
    of one level become one of the next; 1: each summary takes in those before it. folded: "free": pictures of messages that a
    summary stands for take no slot; "count": they do. fold_first: which summaries go in first where not all are needed: by
    "age", or by "salience", those first that stand for
        results and media, which can be had again.
    prompt_image_bytes: most base64 characters of all pictures that one request for a summary shows.
    compact_at: share of the budget at which a compaction happens, where older pictures give way to newer ones on two timelines,
        the user's and the tools'; 0: only when asked for.
    shed: what may go when only what must stay is left, in this order: "requests", "text", "images", "files".
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
    chunk_tokens: float = 0
    recent_tokens: float = 0
    summary_tokens: int = 2_000
    merge: int = 6
    folded: Literal["free", "count"] = "free"
    fold_first: Literal["age", "salience"] = "age"
    prompt_image_bytes: float = 12 * MIB
    compact_at: float = 0
    shed: tuple[Step, ...] = ()
    marks: Literal["client", "place"] = "client"
    strict: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with the value and the rule."""
        for names, holds, rule in RULES:
            for name in names:
                value = getattr(self, name)
                if not holds(value):
                    raise BadSetting(f"{name} is {value!r}; it is {rule}")

    @classmethod
    def sliding(cls, **settings: Any) -> Policy:  # noqa: ANN401 - the fields above, checked by name
        """A moving start: what fits goes out; when it does not, the window moves once, to `refit` of the budget.

        Takes any field of Policy by name. Raises BadSetting for an unknown name or a value out of range.
        """
        return cls().having(**settings)

    @classmethod
    def folding(cls, **settings: Any) -> Policy:  # noqa: ANN401 - as above
        """Head, a middle that is summed up, and the newest part: summaries are asked for at `trigger`, dropping starts at the
        budget.

        Pictures: 6, 20 MiB and 30,000 tokens deep. Takes and raises what `sliding` does.
        """
        return cls().having(**{**FOLDING, **settings})

    @classmethod
    def shedding(cls, **settings: Any) -> Policy:  # noqa: ANN401 - as above
        """The newest 40 messages with up to three of the user's requests; when that is too much: requests, texts, pictures,
        files.

        A `max_messages` below 2 is 2, since a request and its answer are two. Takes and raises what `sliding` does.
        """
        made = cls().having(**{**SHEDDING, **settings})
        least = limit(made.max_messages)
        return made.having(max_messages=LEAST_MESSAGES) if 0 < least < LEAST_MESSAGES else made

    @classmethod
    def compacting(cls, **settings: Any) -> Policy:  # noqa: ANN401 - as above
        """Nothing moves until `compact_at` of the tokens or bytes is reached; then older pictures go, and one summary takes
        the place of all but the newest part. Also the way out of a body that is too large (413). Takes and raises what
        `sliding` does.
        """
        return cls().having(**{**COMPACTING, **settings})

    def having(self, **settings: Any) -> Policy:  # noqa: ANN401 - as above
        """This policy with other values for the fields named. Raises BadSetting as `sliding` does."""
        known = set(self.__struct_fields__)
        for name in settings:
            if name not in known:
                raise BadSetting(f"there is no setting {name!r}; there are {', '.join(sorted(known))}")
        given: JsonObject = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        return replace(self, **given) if given else self

    def fingerprint(self) -> str:
        """The settings that decide verdicts, as text: a state made under others starts its pictures afresh."""
        judged = (self.max_images, self.max_image_bytes, self.image_depth, self.image_ratio, self.newest, self.pins, self.folded)
        pruned = (self.results_per_tool, self.max_input_tokens, self.max_message_tokens, self.late_results)
        return repr((judged, dict(pruned[0]) if isinstance(pruned[0], Mapping) else pruned[0], pruned[1:]))


def limit(value: float | None) -> float:
    """A limit as every pass reads it: the number where it is a positive one, else 0, which is off."""
    return value if value is not None and _number(value) and value > 0 else 0


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - false for NaN alone, and no float of a huge number


def _limit(value: object) -> bool:
    """A number of any kind: one that is not positive, NaN included, is off."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _tokens(least: int) -> Callable[[object], bool]:
    def holds(value: object) -> bool:
        return value is None or (_number(value) and isinstance(value, int) and least <= value <= MOST_TOKENS)

    return holds


def _within(least: float, most: float, *, open_at_least: bool = False, open_at_most: bool = False) -> Callable[[object], bool]:
    def holds(value: object) -> bool:
        if not isinstance(value, int | float) or not _number(value):
            return False
        return (least < value if open_at_least else least <= value) and (value < most if open_at_most else value <= most)

    return holds


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _of(*choices: object) -> Callable[[object], bool]:
    return lambda value: isinstance(value, bool | str) and value in choices


def _texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _results(value: object) -> bool:
    counts = value.values() if isinstance(value, Mapping) else () if value is None else (value,)
    return all(isinstance(count, int) and not isinstance(count, bool) for count in counts)


RULES: tuple[tuple[tuple[str, ...], Callable[[object], bool], str], ...] = (
    (("trigger", "refit"), _within(0, 1, open_at_least=True), "a share of the budget above 0 and at most 1, such as 0.5"),
    (("grace",), _within(0, 1, open_at_most=True), "a share of the budget from 0 up to, not including, 1"),
    (("compact_at",), _within(0, 1), "a share of the budget up to 1, or 0 for only when asked"),
    (("budget",), _tokens(1), "a whole number of tokens of at least 1, or left out for what the model takes"),
    (("reserve",), _tokens(0), "a whole number of tokens of at least 0, or left out for a default"),
    (("keep_requests",), _count, "a whole number of at least 1, since the newest request always stays"),
    (("merge", "summary_tokens"), _count, "a whole number of at least 1"),
    (("max_body_bytes", "max_images"), lambda value: value is None or _limit(value), "a number, 0 for no limit, or left out"),
    (LIMITS, _limit, "a number; 0 or less is off"),
    (("pins",), _texts, "a list of places or picture digests, such as messages[3]"),
    (("results_per_tool",), _results, "a whole number, a mapping of tool names to whole numbers, or left out"),
    (("cut",), lambda value: value is None or callable(value), "a function of a message and its cap, or left out"),
    (("shed",), lambda value: _texts(value) and set(value) <= set(STEPS), f"a list out of {', '.join(STEPS)}"),  # type: ignore[call-overload]
    (("newest",), _of("keep", "limit"), "keep or limit"),
    (("late_results",), _of("move", "append"), "move or append"),
    (("marks",), _of("client", "place"), "client or place"),
    (("folded",), _of("free", "count"), "free or count"),
    (("fold_first",), _of("age", "salience"), "age or salience"),
    (("strict",), _of(True, False), "true or false"),
)
"""What each field may be, and the rule in words."""
