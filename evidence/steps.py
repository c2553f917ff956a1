"""Cases with steps: a session in a database of its own, and what came of each request that it made.

The rule: a case's options and steps say everything. A session with a summariser compacts, one without slides; sizes that the
case does not name are shares of its room, since cases are scaled down. An ask is fulfilled with what the summariser returns at
that moment; one that raises fulfils nothing, as a host's own would.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

import transom
from evidence.outcome import Outcome
from evidence.wires import is_assistant, key_of, turns
from transom import canon, catalog
from transom.errors import TransomError
from transom.policy import Policy
from transom.session import Session
from transom.types import Json, JsonObject

SHARE_OF_CHUNK, SHARE_OF_RECENT, SHARE_OF_SUMMARY = 8, 4, 4
"""The room divided by these is the least chunk, the newest part and the longest summary, where that is less than the preset's."""


@dataclass(slots=True)
class Round:
    """One `prepare`: what came out, or the error; what the summariser was given; and how many messages there were."""

    made: transom.Fit | None = None
    error: Exception | None = None
    given: list[str] = field(default_factory=list)
    compacted: bool = False
    count: int = 0


@dataclass(slots=True, kw_only=True)
class Played(Outcome):
    """What came of a case's steps: each request in turn, and what the session says of the last one that was answered."""

    rounds: list[Round] = field(default_factory=list)
    occupancy: int = 0
    stored: tuple[JsonObject, ...] = ()
    appended: list[JsonObject] = field(default_factory=list)
    asks: int = 0

    @property
    def words(self) -> str:
        """All that the library says about it: every report, since each event is told once, where it happens; the last error."""
        said = [words for one in self.outputs for words in (str(one.report), json.dumps(one.report.to_dict()))]
        return "\n".join([*said, str(self.error or "")])

    @property
    def reports(self) -> list[transom.Report]:
        """The report of every request."""
        return [one.report for one in self.outputs]

    @property
    def outputs(self) -> list[transom.Fit]:
        """Every request that was made."""
        return [one.made for one in self.rounds if one.made is not None]


def play(case: JsonObject, options: JsonObject, settings: Mapping[str, Any]) -> Played:
    """Run a case's steps, and once more for the same bytes. `settings` are the case's options as fields of a policy."""
    before = json.dumps(case)
    outcome = _run(case, options, settings)
    again = _run(case, options, settings)
    outcome.again = [canon.text(one.request) for one in outcome.outputs] == [canon.text(one.request) for one in again.outputs]
    outcome.unchanged = json.dumps(case) == before
    return outcome


def room_of(options: JsonObject) -> int:
    """The most tokens of a request; 0 where the case does not say."""
    window, reserve = options.get("context_window") or 0, options.get("reserve_tokens") or 0
    return options.get("budget_tokens") or max(0, window - reserve)


def policy_of(case: JsonObject, options: JsonObject, settings: Mapping[str, Any]) -> Policy:
    """The settings as a policy: one that compacts where the case has a summariser, and one that slides where it has none."""
    if not any(step["do"] == "summarizer" for step in case["steps"]):
        return Policy.sliding(**settings)
    room = room_of(options)
    preset = Policy.compacting()
    scaled: dict[str, Any] = {}
    if room > 0:
        scaled = {
            "chunk_tokens": min(preset.chunk_tokens, room // SHARE_OF_CHUNK),
            "recent_tokens": min(preset.recent_tokens, room // SHARE_OF_RECENT),
            "summary_tokens": max(1, min(preset.summary_tokens, room // SHARE_OF_SUMMARY)),
        }
    if settings.get("trigger"):
        scaled["compact_at"] = settings["trigger"]
    return preset.having(**{**scaled, **settings})


def _run(case: JsonObject, options: JsonObject, settings: Mapping[str, Any]) -> Played:
    request = case.get("request") or {}
    key = key_of(case["provider"])
    outcome = Played(case=case, request={**request, key: list(request.get(key, ()))})
    given = {**settings}
    prices = given.pop("prices", None)
    card = prices.card if prices is not None else catalog.card(case["model"], api=case["provider"])
    if options.get("context_window"):
        card = replace(card, window=options["context_window"])
    with tempfile.TemporaryDirectory() as folder, transom.Store(f"sqlite:///{Path(folder) / 'case.db'}") as store:
        try:
            session = store.session(
                "case", api=case["provider"], model=case["model"], card=card, policy=policy_of(case, options, given)
            )
            _Player(case, outcome, session).play()
            outcome.stored = session.messages()
        except Exception as error:  # noqa: BLE001 - whatever leaves the library is what the case is about
            outcome.error = error
    return outcome


class _Player:
    """The steps of one case, in turn."""

    def __init__(self, case: JsonObject, outcome: Played, session: Session) -> None:
        self.case, self.outcome, self.session = case, outcome, session
        self.key = key_of(case["provider"])
        self.asked = {name: value for name, value in outcome.request.items() if name not in (self.key, "model")}
        self.usage: Json = None
        self.says: JsonObject = {}

    def play(self) -> None:
        self.append(self.outcome.request[self.key], known=True)
        for step in self.case["steps"]:
            if step["do"] == "append":
                self.append(step["messages"])
            elif step["do"] == "summarizer":
                self.says = step
            elif step["do"] == "usage" and step.get("for") != "summary":
                self.usage = step["usage"]
            elif step["do"] == "prepare":
                self.prepare()
        if self.usage is not None:
            self.answered([])

    def append(self, messages: list[JsonObject], *, known: bool = False) -> None:
        """Store messages; those of the assistant that come first after a usage are the answer that it was reported with."""
        self.outcome.appended += messages
        if not known:
            self.outcome.request[self.key] += messages
        own = answered_by(messages, self.case["provider"])
        if self.usage is not None and own:
            self.answered(messages[:own])
            messages = messages[own:]
        if messages:
            self.session.append(*messages)

    def answered(self, own: list[JsonObject]) -> None:
        """Record the answer. A usage without a message is recorded only where the form knows answers without one."""
        if own or self.case["provider"] == "openai-responses":
            self.session.record(answer(self.case["provider"], own, self.usage))
            self.outcome.occupancy = self.session.occupancy()
            self.usage = None

    def prepare(self) -> None:
        """The next request: a preview, which moves nothing, for the summaries that are wanted; then the compile."""
        one = Round(count=len(self.session))
        self.outcome.rounds.append(one)
        before = self.outcome.outputs
        try:
            if self.says:
                self.summed(self.session.preview(**self.asked), one)
            one.made = self.session.compile(**self.asked)
        except TransomError as error:
            one.error, one.made = error, None
        self.outcome.made, self.outcome.error = one.made, one.error
        if one.made is not None:
            last = before[-1] if before else None
            one.compacted = _compacted(last, one.made)

    def summed(self, preview: transom.Fit, one: Round) -> None:
        """Ask the summariser for what is wanted, and keep what it returns."""
        for ask in preview.asks:
            self.outcome.asks += 1
            one.given += ["\n".join(_texts(prompt)) for prompt in ask.prompt]
            if "raises" not in self.says:
                self.session.fulfil(ask, self.says.get("returns"))


def _texts(node: Json) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _texts(inner)


def _compacted(last: transom.Fit | None, made: transom.Fit) -> bool:
    """Whether older messages were summed up, or left the window, with this request."""
    folds, anchor = (last.state.folds, last.state.anchor) if last is not None else ((), 0)
    return made.state.folds != folds or made.state.anchor > anchor


def answered_by(messages: list[JsonObject], api: str) -> int:
    """How many messages, from the first on, one answer of the model is."""
    own = next((i for i, one in enumerate(messages) if not is_assistant(one)), len(messages))
    return own if api == "openai-responses" else min(own, 1)


def answer(api: str, own: list[JsonObject], usage: Json) -> JsonObject:
    """A provider's answer with these messages and the usage that it reported."""
    if api == "openai-responses":
        return {"output": own, "status": "completed", "usage": usage}
    if api == "openai-chat":
        return {"choices": [{"message": own[0], "finish_reason": "stop"}], "usage": usage}
    if api == "gemini":
        return {"candidates": [{"content": own[0], "finishReason": "STOP"}], "usageMetadata": usage}
    if api == "bedrock":
        return {"output": {"message": own[0]}, "stopReason": "end_turn", "usage": usage}
    return {**own[0], "content": blocks(own[0]["content"]), "stop_reason": "end_turn", "usage": usage}


def blocks(content: Json) -> Json:
    """A string as the one block that a provider answers with."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


Answer = tuple[bool | None, str]


def occupancy(expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """The session says of the last answered request what the provider said, 1 % either way."""
    says = f"{outcome.occupancy:,} of {expected['tokens']:,}"
    return abs(outcome.occupancy - expected["tokens"]) <= expected["tokens"] / 100, says


def compactions_at_most(expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """So many requests, at the most, summed older messages up or left them out for the first time."""
    count = sum(one.compacted for one in outcome.rounds)
    return count <= expected["n"], f"{count} of {expected['n']}"


def summarizer_calls_at_most(expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """The summariser was asked no oftener."""
    return outcome.asks <= expected["n"], f"{outcome.asks} of {expected['n']}"


def prefix_stable(_expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """Each request starts with the one before it, cache marks aside, or its report names the break."""
    api = outcome.case["provider"]
    before: list[bytes] = []
    for number, made in enumerate(outcome.outputs):
        now = [msgspec.json.encode(canon.unmarked(one)) for one in turns(made.request, api)]
        if now[: len(before)] != before and not made.report.breaks:
            return False, f"request {number} differs and names no break"
        before = now
    return True, f"{len(outcome.outputs)} requests"


def raises(expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """The last request ended in an error that names each of the words."""
    said = str(outcome.error or "")
    missing = [name for name in expected.get("names", ()) if name.lower() not in said.lower()]
    return bool(said) and not missing, said or "nothing was raised"


def store_keeps(_expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """Every message that came in is stored as it came."""
    return list(outcome.stored) == outcome.appended, f"{len(outcome.stored)} of {len(outcome.appended)}"


def summarizer_input(_expected: JsonObject, outcome: Played, _oracle: ModuleType) -> Answer:
    """No message is in what the summariser got for two requests that do not follow each other."""
    seen: dict[str, int] = {}
    for number, one in enumerate(outcome.rounds):
        for text in {" ".join(_texts(message.get("content"))) for message in outcome.appended[: one.count]}:
            if len(text) < LEAST_TEXT or not any(text in given for given in one.given):
                continue
            if text in seen and number - seen[text] > 1:
                return False, f"given for requests {seen[text]} and {number}: {text[:40]}"
            seen.setdefault(text, number)
    return any(one.given for one in outcome.rounds), f"{len(seen)} messages given, in {outcome.asks} asks"


LEAST_TEXT = 40
"""Characters below which a text can stand in another by chance."""

ANSWERS = {
    "occupancy": occupancy,
    "compactions_at_most": compactions_at_most,
    "summarizer_calls_at_most": summarizer_calls_at_most,
    "prefix_stable": prefix_stable,
    "raises": raises,
    "store_keeps": store_keeps,
    "summarizer_input": summarizer_input,
}
"""What must hold of a case's steps, by the name of the check; the rest is as for any case."""
