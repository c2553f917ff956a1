"""What the library must answer of a case: prices, sides, report, repairs. A table of questions by the name of the check.

Each answer takes the expectation, the outcome and the oracle, and says whether it holds, and more where that helps.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import TypeAlias

import transom
from evidence import naming
from evidence.outcome import Outcome
from evidence.wires import calls, results, turns
from transom import log
from transom.parts import Conversation, Part, spell, walk
from transom.types import Json, JsonObject
from transom.wire import FORMS

Answer: TypeAlias = tuple[bool | None, str]
Question: TypeAlias = Callable[[JsonObject, Outcome, ModuleType], Answer]

_FILE_ID = re.compile(r'"(?:file_id|fileUri|file_uri)": "([^"]+)"')
LOST = frozenset({"drop", "stub", "cut", "prune"})
UNFINISHED = re.compile(r"\b(not|never|no result|interrupted|unfinished|missing|unknown)\b", re.IGNORECASE)


def priced_between(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """The price of what `what` means, on the model that it names, is in the range."""
    words = expected["what"]
    on = re.search(r" on (\S+)$", words)
    if on:
        bill = transom.price(outcome.request, api=outcome.case["provider"], model=on.group(1))
    else:
        bill = transom.price(outcome.request, api=outcome.case["provider"], prices=outcome.prices)
    found = priced(words.removesuffix(on.group()) if on else words, bill, outcome)
    return (
        all(expected["lo"] <= tokens <= expected["hi"] for tokens in found) and bool(found),
        f"{', '.join(f'{tokens:,}' for tokens in found)} of {expected['lo']:,} to {expected['hi']:,}",
    )


def priced(words: str, bill: transom.Bill, outcome: Outcome) -> list[int]:
    """The prices of the places that `words` mean."""
    if "request" in words or "history" in words:
        return [bill.tokens]
    if "tool list" in words:
        bare = {key: value for key, value in outcome.request.items() if key != "tools"}
        return [bill.tokens - transom.price(bare, api=outcome.case["provider"], model=bill.model).tokens]
    conversation = naming.talk(outcome.request, outcome.case["provider"])
    if "arguments" in words:
        return [sum(bill[place].tokens for place, part in _parts(conversation) if part.kind == "call")]
    named = naming.named_media(words, outcome)
    if named:
        return [bill[place].tokens for place in _with_detail(words, naming.places_of(named[0], outcome), outcome)]
    kind = next((kind for word, kind in KINDS.items() if word in words), "")
    found = [bill[place].tokens for place, _, _, one in naming.media(conversation) if one.kind == kind]
    return found if "each" in words or len(found) == 1 else []


KINDS: Mapping[str, str] = {
    "picture": "image",
    "image": "image",
    "document": "document",
    "paper": "document",
    "clip": "audio",
    "sound": "audio",
    "film": "video",
}


def _with_detail(words: str, places: list[str], outcome: Outcome) -> list[str]:
    wanted = re.search(r"\bat (low|high|auto|original)\b", words)
    detail = wanted.group(1) if wanted else "" if "without detail" in words else None
    if detail is None:
        return places[:1]
    there = {place: one for place, _, _, one in naming.media(naming.talk(outcome.request, outcome.case["provider"]))}
    return [place for place in places if there[place].detail == detail]


def priced_at_most(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """The output's own price, told anew, is within the budget."""
    tokens = transom.price(outcome.output, api=outcome.case["provider"], model=outcome.case["model"]).tokens
    return tokens <= expected["tokens"], f"{tokens:,} of {expected['tokens']:,}"


def sides(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Stored sides of each named picture; names that the case's media do not have go by the order of the pictures."""
    conversation = naming.talk(outcome.request, outcome.case["provider"])
    pictures = [one for _, _, _, one in naming.media(conversation) if one.kind == "image"]
    wrong = []
    for number, (name, wanted) in enumerate(expected["of"].items()):
        known = outcome.case["media"].get(name)
        one = next((p for p in pictures if naming.sha(p) == known["sha256"]), None) if known else pictures[number]
        read = f"{one.facts.width} x {one.facts.height}" if one else "not found"
        if read != wanted:
            wrong.append(f"{name}: {read} instead of {wanted}")
    return not wrong, "; ".join(wrong)


def pages(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Pages of each named document."""
    return _facts(expected, outcome, "pages", 0)


def seconds(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Seconds of each named sound or film, 10 % either way."""
    return _facts(expected, outcome, "seconds", 0.1)


def _facts(expected: JsonObject, outcome: Outcome, name: str, slack: float) -> Answer:
    conversation = naming.talk(outcome.request, outcome.case["provider"])
    there = {naming.sha(one): getattr(one.facts, name) for _, _, _, one in naming.media(conversation)}
    read = {key: there.get(outcome.case["media"][key]["sha256"], 0) for key in expected["of"]}
    holds = all(abs(read[key] - wanted) <= slack * wanted for key, wanted in expected["of"].items())
    return holds, "" if holds else f"read {read}"


def reports(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Each name is in the report."""
    missing = [name for name in expected["names"] if not naming.in_report(name, outcome)]
    return not missing, f"not in the report: {', '.join(missing)}" if missing else ""


def reports_any(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """One of the names is in the report."""
    return any(naming.in_report(name, outcome) for name in expected["names"]), ""


def nothing_dropped(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """No decision takes anything away."""
    lost = [one for one in outcome.made.report.decisions if one.verb in LOST] if outcome.made else []
    return not lost, ", ".join(f"{one.verb} {one.seq}" for one in lost)


def finite_numbers(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Every number in the report is finite."""
    return all(math.isfinite(one) for one in _numbers(outcome.made.report.to_dict() if outcome.made else {})), ""


def within_seconds(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """The run took no longer."""
    return outcome.seconds <= expected["n"], f"{outcome.seconds:.3f} s"


def loads(expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """So many whole messages were read."""
    return outcome.loaded == expected["n"], f"{outcome.loaded} loaded"


def append_safe(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """A message behind the mended session is read again, and so is everything before it."""
    more = {"role": "user", "content": "one more"}
    for stored in (outcome.case["transcript_jsonl"].encode(), outcome.session):
        before, after = log.read(stored), log.read(stored + log.appended(stored, more))
        if after.messages != (*before.messages, more):
            return False, "the message behind it is not read again"
    return True, ""


def idempotent(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Fitting the output again changes nothing."""
    again = transom.fit(outcome.output, api=outcome.case["provider"], model=outcome.case["model"])
    return again.request is outcome.output, ""


def order(_expected: JsonObject, outcome: Outcome, oracle: ModuleType) -> Answer:
    """Each result is with the call that it answered; pictures keep their order and stand behind the results of their group."""
    api = outcome.case["provider"]
    lost = [pair for pair in _pairs(outcome.request, api) if pair not in _pairs(outcome.output, api)]
    came = [naming.sha(one) for _, _, _, one in naming.media(naming.talk(outcome.request, api))]
    went = [naming.sha(one) for _, _, _, one in naming.media(naming.talk(outcome.output, api))]
    in_order = went == [one for one in came if one in went]
    loose = [where for code, where in oracle.faults(outcome.output, api) if code == "interleaved"]
    return not lost and in_order and not loose, f"lost {lost}" if lost else ""


def last_mark(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """One of the cache marks is in one of the last two messages."""
    last = turns(outcome.output, outcome.case["provider"])[-2:]
    return any(mark in json.dumps(last) for mark in ('"cache_control"', '"prompt_cache_breakpoint"')), ""


def kept_empty_result(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Every empty result is still there, and still empty."""
    api = outcome.case["provider"]
    empty = [one.id for one in results(outcome.request, api) if not one.holds]
    there = {one.id: one for one in results(outcome.output, api)}
    return bool(empty) and all(id_ in there and not there[id_].holds for id_ in empty), ""


def repair_is_an_error(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """A result that was made up says that it failed, in words and, where the form has one, by its flag."""
    api = outcome.case["provider"]
    known = {one.id for one in results(outcome.request, api)}
    made = [one for one in results(outcome.output, api) if one.id not in known]
    flagged = all(one.failed is not False for one in made)
    return flagged and all(UNFINISHED.search(json.dumps(one.holds)) for one in made), f"{len(made)} made up"


def upright(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """No picture was encoded anew, so that each still shows as it did."""
    api = outcome.case["provider"]
    came = {naming.sha(one) for _, _, _, one in naming.media(naming.talk(outcome.request, api))}
    went = {naming.sha(one) for _, _, _, one in naming.media(naming.talk(outcome.output, api))}
    return went <= came, "nothing is encoded anew"


def kept_ids(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Every file id is in the output as it was."""
    came = set(_FILE_ID.findall(json.dumps(outcome.request)))
    return came <= set(_FILE_ID.findall(json.dumps(outcome.output))), f"{len(came)} ids"


def with_mcp_result(case: JsonObject) -> JsonObject:
    """The request of a case as a host's own log of blocks, with the MCP result behind the last call."""
    messages: list[JsonObject] = []
    for message in case["request"]["messages"]:
        calls = [
            {
                "type": "tool_use",
                "id": call["id"],
                "name": call["function"]["name"],
                "input": json.loads(call["function"]["arguments"]),
            }
            for call in message.get("tool_calls") or ()
        ]
        messages.append({"role": message["role"], "content": calls} if calls else message)
    last = messages[-1]["content"][-1]
    result = {"type": "tool_result", "tool_use_id": last["id"], "content": case["mcp_result"]["content"]}
    return {**case["request"], "messages": [*messages, {"role": "user", "content": [result]}]}


def import_mcp(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
    """Text, picture and embedded text each become their own part; the picture has its sides, the sound its kind."""
    parts = [part for _, part in _parts(naming.talk(outcome.request, "blocks"))]
    texts = {part.text for part in parts if part.kind == "text"}
    wanted = {one.get("text") or one.get("resource", {}).get("text") for one in outcome.case["mcp_result"]["content"]}
    kinds = [part.media.kind for part in parts if part.media is not None]
    read = all(part.media.facts.width for part in parts if part.media is not None and part.media.kind == "image")
    return wanted - {None} <= texts and "image" in kinds and "audio" in kinds and read, f"media {kinds}"


def _in_blocks(question: str) -> Question:
    """A check of the wire for a log of blocks, which the oracle does not read."""

    def answer(expected: JsonObject, outcome: Outcome, oracle: ModuleType) -> Answer:
        if question == "pairs_ok":
            faults = [one for one in FORMS["blocks"].legal(naming.talk(outcome.output, "blocks")) if one.refused]
            return not faults, "; ".join(map(str, faults))
        if question == "media_kept":
            there = {naming.sha(one) for _, _, _, one in naming.media(naming.talk(outcome.output, "blocks"))}
            return all(outcome.case["media"][name]["sha256"] in there for name in expected["media"]), ""
        have = "\n".join(oracle.texts(outcome.output))
        return all(words in have for words in expected["texts"]), ""

    return answer


def _parts(conversation: Conversation) -> Iterator[tuple[str, Part]]:
    for message in conversation.messages:
        for part in walk(message.parts):
            yield spell((conversation.key, message.index, *part.place)), part


def _numbers(node: Json) -> Iterator[float]:
    if isinstance(node, bool):
        return
    if isinstance(node, int | float):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _numbers(inner)


def _pairs(body: JsonObject, api: str) -> list[tuple[str, str]]:
    # The nth call of an id belongs to the nth result of that id.
    left = [(one.id, json.dumps(one.holds)) for one in results(body, api)]
    out = []
    for name, ask in calls(body, api):
        answer = next((one for one in left if one[0] == name), None)
        if answer is not None:
            left.remove(answer)
            out.append((ask, answer[1]))
    return out


def _seen(name: str) -> Question:
    """An answer that the outcome holds already."""

    def answer(_expected: JsonObject, outcome: Outcome, _oracle: ModuleType) -> Answer:
        return bool(getattr(outcome, name)), ""

    return answer


ANSWERS: Mapping[str, Question] = {
    "priced_between": priced_between,
    "priced_at_most": priced_at_most,
    "sides": sides,
    "pages": pages,
    "seconds": seconds,
    "reports": reports,
    "reports_any": reports_any,
    "nothing_dropped": nothing_dropped,
    "finite_numbers": finite_numbers,
    "within_seconds": within_seconds,
    "loads": loads,
    "append_safe": append_safe,
    "idempotent": idempotent,
    "order": order,
    "last_mark": last_mark,
    "kept_empty_result": kept_empty_result,
    "repair_is_an_error": repair_is_an_error,
    "kept_ids": kept_ids,
    "upright": upright,
    "import_mcp": import_mcp,
    "same_twice": _seen("again"),
    "input_not_mutated": _seen("unchanged"),
    "no_exception": _seen("made"),
    "pairs_ok": _in_blocks("pairs_ok"),
    "media_kept": _in_blocks("media_kept"),
    "contains_text": _in_blocks("contains_text"),
}
