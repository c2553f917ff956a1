"""What the names in a case mean: a name that stands in the report's words, or a description of messages or pictures.

A description ("each of step-0 to step-4 by message index", "three pictures that are no pictures") is resolved to places of
the request by the case's own data, and holds when the report has a decision at each of them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator

from evidence.outcome import Outcome
from evidence.wires import key_of
from transom import door
from transom.parts import Conversation, Facts, Media, Message, Part, spell, walk
from transom.types import JsonObject
from transom.wire import FORMS

NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def talk(body: JsonObject, api: str) -> Conversation:
    """A body through the library's own eyes."""
    return FORMS[api].read(door.admit(body))


def media(conversation: Conversation) -> Iterator[tuple[str, Message, Part, Media]]:
    """Every piece of media of a request, nested ones included, with its place."""
    for message in conversation.messages:
        for part in walk(message.parts):
            if part.media is not None:
                yield spell((conversation.key, message.index, *part.place)), message, part, part.media


def sha(one: Media) -> str:
    """SHA-256 of the bytes of inline media; "" where there are none."""
    text = re.sub(r"\s+", "", one.payload).replace("-", "+").replace("_", "/")
    try:
        return hashlib.sha256(base64.b64decode(text + "=" * (-len(text) % 4))).hexdigest()
    except ValueError:
        return ""


def timed(case: JsonObject) -> Iterator[Facts]:
    """What is read of each named piece of media that has pages or seconds."""
    if "request" not in case:
        return
    there = {sha(one): one.facts for _, _, _, one in media(talk(case["request"], case["provider"]))}
    for one in case.get("media", {}).values():
        if (one.keys() & {"pages", "seconds"} or one.get("format") == "pdf") and one["sha256"] in there:
            yield there[one["sha256"]]


def places_of(name: str, outcome: Outcome) -> list[str]:
    """Where the named piece of media of a case stands in its request."""
    wanted = outcome.case["media"][name]["sha256"]
    conversation = talk(outcome.request, outcome.case["provider"])
    return [place for place, _, _, one in media(conversation) if sha(one) == wanted]


def named_media(words: str, outcome: Outcome) -> list[str]:
    """The pieces of media that a phrase names, "step-0 to step-4" as all from the one to the other."""
    names = list(outcome.case.get("media", {}))
    found = [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words)]
    if len(found) == 2 and f"{found[0]} to {found[1]}" in words:
        return names[names.index(found[0]) : names.index(found[1]) + 1]
    return found


def in_report(name: str, outcome: Outcome) -> bool:
    """Whether the report names what `name` stands for."""
    if literal(name, outcome.words):
        return True
    if " or " in name and not re.match(r"\d+ or more", name):
        return any(in_report(one.strip(), outcome) for one in name.split(" or "))
    wanted = described(name, outcome)
    return bool(wanted) and all(decided(place, outcome) for place in wanted)


def literal(name: str, words: str) -> bool:
    """Whether `name` stands in the report's words as it is; a number also with separators between the thousands."""
    if name.isdigit():
        return re.search(rf"(?<!\d){name}(?!\d)", words.replace(",", "")) is not None
    return re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", words.lower()) is not None


def described(name: str, outcome: Outcome) -> list[str]:
    """The places that a description means; none where it means nothing that the case's data shows."""
    named = named_media(name, outcome)
    if named:
        return [place for one in named for place in places_of(one, outcome)[:1]]
    key = key_of(outcome.case["provider"])
    conversation = talk(outcome.request, outcome.case["provider"])
    pictures = [(place, one) for place, _, _, one in media(conversation) if one.kind == "image"]
    count = re.match(rf"(\d+|{'|'.join(NUMBERS)})( or more)?\b", name)
    if "picture" in name and "no picture" in name:
        found = [place for place, one in pictures if one.facts.problem]
    elif "picture" in name:
        there = {sha(one) for _, _, _, one in media(talk(outcome.output, outcome.case["provider"]))}
        found = [place for place, one in pictures if sha(one) not in there]
    elif "turn" in name or "message" in name or name.startswith("what was "):
        kept = {json.dumps(message) for message in outcome.output.get(key, ())}
        found = [f"{key}[{i}]" for i, one in enumerate(outcome.request[key]) if json.dumps(one) not in kept]
    else:
        found = [f"{key}[{i}]" for i, one in enumerate(outcome.request[key]) if name in json.dumps(one, ensure_ascii=False)]
    return found if count is None or _enough(count, len(found)) else []


def decided(place: str, outcome: Outcome) -> bool:
    """Whether the report has a decision at a place, inside it, or about the whole message that it is in."""
    message = re.match(r"\w+\[\d+\]", place)
    for report in outcome.reports:
        whole = report.at(message.group()) if message else ()
        if report.at(place) or any(not one.place or one.last > one.seq for one in whole):
            return True
    return False


def _enough(count: re.Match[str], found: int) -> bool:
    wanted = NUMBERS.get(count.group(1)) or int(count.group(1))
    return found >= wanted if count.group(2) else found == wanted
