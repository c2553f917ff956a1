"""Cases made from bug reports: one file a case, each with what must hold of the request that comes out.

`run` translates a case's options to settings, runs it, and asks two judges: the oracle for what the wire shows, and the
library's own answers (prices, sides, report) for the rest. A case's names are resolved by its own data; see `naming`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

import transom
from evidence import Check, answers, naming, steps
from evidence.outcome import Outcome
from evidence.sums import least
from evidence.tools import load
from evidence.wires import FORMS
from transom import catalog, log
from transom.cli.fitting import mend_session
from transom.pricing import Known, PriceList
from transom.types import Json, JsonObject

OPTIONS = {
    "budget_tokens": "budget",
    "reserve_tokens": "reserve",
    "compact_at": "trigger",
    "max_request_bytes": "max_body_bytes",
    "max_images": "max_images",
}
"""Options of a case that are settings under another name."""


def run(folder: Path, *, every: int = 1, everything: bool = False) -> Iterator[Check]:
    """A check for each expectation of each case in `folder`."""
    judge = load(folder, "wire_oracle")
    for path in sorted(folder.glob("*.json"))[::every]:
        case = json.loads(path.read_text(encoding="utf-8"))
        playable = case["provider"] in FORMS and bool(case.keys() & {"request", "steps", "transcript_jsonl"})
        reason = "" if everything and playable else left(case)
        if reason:
            yield Check(f"{case['id']}", None, reason)
            continue
        for number, options in enumerate(_sets(case)):
            name = case["id"] if number == 0 else f"{case['id']} [{number}]"
            yield from _judged(name, case, options, judge)


def left(case: JsonObject) -> str:
    """Why a case is left for now; "" where it is run."""
    timed = [] if case["provider"] not in FORMS else list(naming.timed(case))
    reasons = (
        (case["provider"] not in FORMS, f"the form {case['provider']} is not read yet"),
        (
            any(not one.pages and not one.seconds and not one.problem for one in timed),
            "it needs pages or seconds that are not read yet",
        ),
    )
    return "; ".join(words for holds, words in reasons if holds)


def _sets(case: JsonObject) -> list[JsonObject]:
    options = dict(case.get("options") or {})
    each = options.pop("each", None)
    return [options | one for one in each] if isinstance(each, list) else [options]


def settings(options: JsonObject) -> JsonObject:
    """The options of a case as keywords of `transom.fit`."""
    out: dict[str, Any] = {OPTIONS[name]: value for name, value in options.items() if name in OPTIONS and value is not None}
    if options.get("keep_images"):
        # "newest pictures that stay live, and only those": no hysteresis, and the newest turn's own count.
        out |= {"max_images": options["keep_images"], "image_ratio": 0, "newest": "limit"}
    return out


def price_list(case: JsonObject, options: JsonObject) -> PriceList:
    """The prices of a case's model, with the limits and the knowledge of files that its options give."""
    card = catalog.card(case["model"], api=case["provider"])
    if options.get("max_image_bytes"):
        card = replace(card, limits=replace(card.limits, image_bytes=options["max_image_bytes"]))
    if options.get("strict_pairs"):
        card = replace(card, quirks=card.quirks | {"strict-pairs"})
    facts = ("tokens", "width", "height", "pages", "seconds")
    known = {
        name: Known(**{fact: one[fact] for fact in facts if fact in one})
        for name, one in (options.get("known_files") or {}).items()
    }
    return PriceList(card, known=known)


def play(case: JsonObject, options: JsonObject) -> Outcome:
    """Run a case once, and once more for the same bytes."""
    if "transcript_jsonl" in case:
        return _mended(case)
    if "steps" in case:
        return steps.play(case, options, settings(options) | {"prices": price_list(case, options)})
    request, api = case["request"], case["provider"]
    if "mcp_result" in case:
        request, api = answers.with_mcp_result(case), "blocks"
    before = json.dumps(request)
    keywords = settings(options) | {"prices": price_list(case, options)}
    started = time.perf_counter()
    outcome = Outcome(case=case, request=request, prices=keywords["prices"])
    try:
        outcome.made = transom.fit(request, api=api, **keywords)
        outcome.seconds = time.perf_counter() - started
        again = transom.fit(request, api=api, **keywords)
        outcome.again = json.dumps(again.request) == json.dumps(outcome.made.request)
    except Exception as error:  # noqa: BLE001 - whatever leaves the library is what the case is about
        outcome.error, outcome.seconds = error, time.perf_counter() - started
    outcome.unchanged = json.dumps(request) == before
    return outcome


def _mended(case: JsonObject) -> Outcome:
    data = case["transcript_jsonl"].encode()
    whole = log.read(data).messages
    outcome = Outcome(case=case, request={"messages": list(whole)}, loaded=len(whole))
    try:
        outcome.session, outcome.made, outcome.lost = mend_session(data, case["provider"])
        outcome.again = mend_session(data, case["provider"])[0] == outcome.session
    except Exception as error:  # noqa: BLE001 - same
        outcome.error = error
    return outcome


def _judged(name: str, case: JsonObject, options: JsonObject, judge: ModuleType) -> Iterator[Check]:
    outcome = play(case, options)
    for broken in case.get("input_breaks", ()):
        expected = next((one for one in case["expect"] if one["check"] == broken), {"check": broken})
        seen = judge.wire_check(broken, expected, case["request"], case)
        yield Check(f"{name}: the input breaks {broken}", None if seen is None else not seen)
    for expected in case["expect"]:
        title = f"{name}: {expected['check']}"
        yield _one(title, expected, outcome, options, judge)


def _one(title: str, expected: JsonObject, outcome: Outcome, options: JsonObject, judge: ModuleType) -> Check:
    if isinstance(outcome, steps.Played) and expected["check"] in steps.ANSWERS:
        return Check(title, *steps.ANSWERS[expected["check"]](expected, outcome, judge))
    if outcome.error is not None:
        return Check(title, *_raised(expected, outcome, options))
    seen: bool | None = None
    if "mcp_result" not in outcome.case:
        seen = judge.wire_check(expected["check"], expected, outcome.output, outcome.case)
    if seen is not None:
        return Check(title, seen, "" if seen else _short(expected["say"]))
    answer = answers.ANSWERS.get(expected["check"])
    if answer is None:
        return Check(title, None, f"nobody answers this yet: {_short(expected['say'])}")
    try:
        holds, says = answer(expected, outcome, judge)
    except (LookupError, ValueError) as error:
        return Check(title, False, f"{_short(expected['say'])} ({type(error).__name__}: {error})")
    return Check(title, holds, says or ("" if holds else _short(expected["say"])))


def _raised(expected: JsonObject, outcome: Outcome, options: JsonObject) -> tuple[bool, str]:
    """An error counts as met where nothing that fits can be made, by a sum of its own, and it names the cause."""
    error = outcome.error
    if isinstance(error, transom.OverBudget) and expected["check"] != "no_exception":
        needs = least(outcome.request, outcome.case["provider"], outcome.case["model"])
        budget = steps.room_of(options)
        return 0 < budget < needs, f"raised: {error} (needs {needs:,} by a sum of its own)"
    return False, f"raised {type(error).__name__}: {error}"


def _short(words: Json) -> str:
    return str(words)[:160]
