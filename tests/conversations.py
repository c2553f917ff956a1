"""Hypothesis strategies for conversations as hostile as stored ones get, in every form. Shared by all property tests.

`bodies(api)` makes request bodies that read without an error and break the provider's rules in every way that the oracle names;
`legal_bodies(api)` makes bodies that break none. A conversation is a list of scenes; a scene is a few messages that show one
habit of real agents or one fault of real stores. What they are made of stands in stage.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from hypothesis import strategies as st

from rewritten import MADE_FROM_ANTHROPIC, items_of_its_own, rewritten
from stage import ARGUMENTS, BLANKS, PICTURES, Json, Stage, thought

APIS = ("anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "blocks")
"""The forms that there are scenes for."""
Scene: TypeAlias = Callable[["Stage"], None]


# ------------------------------------------------------------------------------------------- scenes that break no rule


def asks(stage: Stage) -> None:
    stage.user(stage.text("U"))


def shows(stage: Stage) -> None:
    stage.user(stage.text("U"), stage.picture(), *([stage.picture()] if stage.count % 2 else []), stage.text("U"))


def files(stage: Stage) -> None:
    stage.user(stage.file(), stage.text("U"))


def says(stage: Stage) -> None:
    stage.user(stage.text("U"))
    stage.say(stage.text("A"))


def calls(stage: Stage) -> None:
    names = stage.ids(stage.number(1, 4))
    stage.user(stage.text("U"))
    stage.ask(*map(stage.call, names), text=stage.words("A") if stage.count % 2 else "")
    stage.answer(*map(stage.result, stage.pick(names, names[::-1])))
    stage.say(stage.text("A"))


def calls_in_a_loop(stage: Stage) -> None:
    stage.user(stage.text("U"))
    for _ in range(stage.number(1, 3)):
        names = stage.ids(stage.number(1, 2))
        stage.ask(*map(stage.call, names))
        stage.answer(*map(stage.result, names))


def says_in_pieces(stage: Stage) -> None:
    """Several messages of one role in a row."""
    stage.user(stage.text("U"))
    stage.user(stage.text("U"))
    stage.say(stage.text("A"))
    stage.say(stage.text("A"))


def thinks(stage: Stage) -> None:
    names = stage.ids(1)
    stage.user(stage.text("U"))
    if stage.api == "openai-chat":
        stage.messages.append({"role": "assistant", "reasoning_content": "Hm.", "content": stage.words("A")})
        return
    stage.messages.append({"role": "assistant", "content": [thought(), stage.text("A"), *map(stage.call, names)]})
    stage.answer(*map(stage.result, names))


def served(stage: Stage) -> None:
    """A tool that the provider runs, with its result in the same turn."""
    stage.user(stage.text("U"))
    name = f"srvtoolu_{stage.count}"
    stage.say({"type": "text", "text": stage.words("A")}, *serving(name), stage.text("A"))


def serving(name: str) -> tuple[Json, Json]:
    call = {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "q"}}
    found = [{"type": "web_search_result", "title": "t", "url": "https://example.com", "encrypted_content": "eA=="}]
    return call, {"type": "web_search_tool_result", "tool_use_id": name, "content": found}


def instructs(stage: Stage) -> None:
    """A system message in the middle."""
    asks(stage)
    if stage.api != "anthropic":
        stage.messages.append({"role": stage.pick("system", "developer"), "content": stage.words("S")})
        asks(stage)


LEGAL: tuple[Scene, ...] = (asks, shows, files, says, calls, calls_in_a_loop, says_in_pieces, thinks, served, instructs)

# --------------------------------------------------------------------------------------------- scenes that break a rule


def lost_result(stage: Stage) -> None:
    names = stage.ids(stage.number(1, 3))
    stage.ask(*map(stage.call, names))
    stage.answer(*map(stage.result, names[1:]))
    stage.user(stage.text("U"))


def lost_call(stage: Stage) -> None:
    stage.answer(*map(stage.result, stage.ids(stage.number(1, 2))))
    stage.user(stage.text("U"))


def late_result(stage: Stage) -> None:
    """The result arrives some turns later, or never."""
    names = stage.ids(stage.number(1, 3))
    stage.ask(*map(stage.call, names))
    stage.answer(*map(stage.result, names[1:]))
    stage.say(stage.text("A"))
    stage.late.append(stage.result(names[0]))


def late_arrival(stage: Stage) -> None:
    late_result(stage)
    waiting, stage.late[:] = list(stage.late), []
    if stage.number(0, 1):
        stage.user(stage.text("U"))
    stage.answer(*waiting)


def twice(stage: Stage) -> None:
    names = stage.ids(stage.number(1, 2))
    stage.ask(*map(stage.call, names))
    first, second = stage.pick((True, False), (False, True), (True, True), (False, False))
    stage.answer(stage.result(names[0], broken=first), *map(stage.result, names[1:]))
    stage.answer(stage.result(names[0], broken=second))


def reused(stage: Stage) -> None:
    """A model that numbers its calls from 0 in every turn."""
    for _ in range(stage.number(1, 3)):
        names = stage.pick(["run:0"], ["run:0", "run:1"], ["run:0", "run:0"], ["run:1"])
        stage.ask(*map(stage.call, names))
        stage.answer(*map(stage.result, names[stage.number(0, 1) :]))


def nameless(stage: Stage) -> None:
    stage.ask(*(stage.call("") for _ in range(stage.number(1, 2))))
    stage.answer(*(stage.result("") for _ in range(stage.number(0, 2))))


def text_first(stage: Stage) -> None:
    names = stage.ids(2)
    stage.ask(*map(stage.call, names))
    if stage.api == "openai-chat":
        stage.answer(stage.result(names[0]))
        stage.user(stage.text("U"), stage.picture())
        stage.answer(stage.result(names[1]))
    else:
        parts = [stage.result(names[0]), stage.text("U"), stage.result(names[1]), stage.text("U")]
        stage.messages.append({"role": "user", "content": stage.pick(parts, parts[1:], parts[::-1])})


def apart(stage: Stage) -> None:
    """Results spread over several messages, with others between."""
    names = stage.ids(3)
    stage.ask(*map(stage.call, names))
    for name in names:
        stage.answer(stage.result(name))
        if stage.number(0, 1):
            stage.user(stage.text("U"))


def bundled(stage: Stage) -> None:
    """Calls and results in one message."""
    name = stage.ids(1)[0]
    if stage.api == "openai-chat":
        stage.ask(stage.call(name))
        stage.ask(*map(stage.call, stage.ids(1)))
        stage.answer(stage.result(name))
        return
    role = stage.pick("assistant", "assistant", "user")
    parts = [stage.text("A"), stage.call(name), stage.result(name), stage.text("A")]
    stage.messages.append({"role": role, "content": stage.pick(parts, parts[1:3], parts[2:], parts[:2])})


def empty(stage: Stage) -> None:
    blank = stage.pick(*BLANKS)
    role = stage.pick("user", "assistant", "assistant")
    contents: list[Any] = [blank, [], [{"type": "text", "text": blank}], None]
    stage.messages.append({"role": role, "content": stage.pick(*contents)})


def partly_empty(stage: Stage) -> None:
    blank: Json = {"type": "text", "text": stage.pick(*BLANKS)}
    if stage.api != "openai-chat":
        blank["cache_control"] = {"type": "ephemeral"}
    stage.user(stage.text("U"), blank)
    stage.say(stage.text("A"), blank)
    if stage.number(0, 1):
        stage.messages.append({"role": "assistant", "content": ""})


def empty_result(stage: Stage) -> None:
    """An empty result is legal, or its call would stand alone."""
    names = stage.ids(2)
    stage.ask(*map(stage.call, names))
    results = [stage.result(name) for name in names]
    results[0]["content"] = stage.pick([], "", [{"type": "text", "text": ""}])
    stage.answer(*results)


def only_thinking(stage: Stage) -> None:
    stage.user(stage.text("U"))
    if stage.api == "openai-chat":
        stage.messages.append({"role": "assistant", "content": stage.pick(None, ""), "reasoning_content": "Hm."})
    else:
        redacted = {"type": "redacted_thinking", "data": "eA=="}
        stage.messages.append({"role": "assistant", "content": stage.pick([thought()], [stage.text("A"), thought(), redacted])})
    stage.user(stage.text("U"))


def served_badly(stage: Stage) -> None:
    if stage.api == "openai-chat":
        return
    stage.count += 1
    call, found = serving(f"srvtoolu_{stage.count}")
    stage.user(stage.text("U"))
    parts = stage.pick([found], [call], [found, call], [call, found, found], [call, stage.call(*stage.ids(1))])
    stage.messages.append({"role": "assistant", "content": [*parts, *([stage.text("A")] if stage.count % 2 else [])]})
    stage.user(stage.text("U"))


def broken_arguments(stage: Stage) -> None:
    name = stage.ids(1)[0]
    call = stage.call(name)
    if stage.api == "openai-chat":
        given = stage.pick(*ARGUMENTS, None, {"n": 1})
        call["function"] = stage.pick(
            {"name": "look", "arguments": given}, {"name": "look", "arguments": given}, {"name": "look"}
        )
    else:
        call["input"] = stage.pick("text", None, [1], 5)
    stage.ask(call)
    stage.answer(stage.result(name))


def media_in_result(stage: Stage) -> None:
    name = stage.ids(1)[0]
    stage.ask(stage.call(name))
    if stage.api == "openai-chat":
        parts = [stage.text("R"), stage.picture()]
        stage.answer({"role": "tool", "tool_call_id": name, "content": stage.pick(parts, parts[1:], [stage.file()])})
    else:
        stage.answer({**stage.result(name), "content": [stage.picture(), stage.picture()]})


def beside(stage: Stage) -> None:
    """LangChain keeps calls beside the blocks, sometimes in them as well, and results as messages of their own."""
    if stage.api != "blocks":
        return
    names = stage.pick(["lc:0"], ["lc:0", "lc:1"], stage.ids(2), [""])
    calls = [{"type": "tool_call", "id": name, "name": "look", "args": {"n": stage.count}} for name in names]
    inside = [stage.text("A"), *stage.pick([], calls, calls[:1])]
    stage.messages.append({"role": "ai", "content": inside, "tool_calls": calls})
    results = [{"role": "tool", "tool_call_id": name, "content": stage.words("R")} for name in names]
    for result in stage.pick(results, results[1:], results[::-1], [*results, *results]):
        stage.messages.append(result)
        if stage.number(0, 3) == 0:
            asks(stage)


def opens_badly(stage: Stage) -> None:
    stage.messages.insert(0, {"role": "assistant", "content": stage.words("A")})


def many_marks(stage: Stage) -> None:
    mark = {"cache_control": {"type": "ephemeral"}} if stage.api != "openai-chat" else {}
    stage.user(*({**stage.text("U"), **mark} for _ in range(5)))


HOSTILE_SCENES: tuple[Scene, ...] = (
    lost_result, lost_call, late_result, late_arrival, twice, reused, nameless, text_first, apart, bundled, empty, partly_empty,
    empty_result, only_thinking, served_badly, served_badly, broken_arguments, media_in_result, opens_badly, beside, many_marks,
)  # fmt: skip


@st.composite
def _bodies(
    draw: Callable[[st.SearchStrategy[Any]], Any], api: str, scenes: tuple[Scene, ...], ends: tuple[Scene, ...], *, legal: bool
) -> Json:
    spoken = "anthropic" if api in MADE_FROM_ANTHROPIC else api
    thinks = api in ("anthropic", "bedrock") and draw(st.integers(0, 3)) == 0
    stage = Stage(spoken, draw, thinking=thinks)
    if draw(st.integers(0, 3)):
        asks(stage)
    for scene in draw(st.lists(st.sampled_from(scenes), min_size=1, max_size=6)):
        scene(stage)
    stage.answer(*stage.late)
    end = draw(st.sampled_from(ends))
    end(stage)
    model = {"openai-chat": "gpt-4o", "openai-responses": "gpt-5", "gemini": "gemini-2.5-flash"}.get(api, "claude-opus-4-8")
    body: Json = {"model": model, "max_tokens": 1_024, "messages": stage.messages}
    if stage.thinking:
        body["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    return body if spoken == api else _retold(body, api, stage, named=legal or bool(stage.number(0, 2)))


def _retold(body: Json, api: str, stage: Stage, *, named: bool) -> Json:
    """The body in a form that is written after Anthropic's, with what only that form has."""
    made = rewritten(body, api, snake=stage.pick(True, False), ids=stage.pick(True, False), named=named)
    if api == "openai-responses" and stage.number(0, 1):
        picture = PICTURES[stage.pick(*PICTURES)][1]
        made["input"] = [*items_of_its_own(picture, stage.pick), *made["input"]]
    return made


def legal_bodies(api: str) -> st.SearchStrategy[Json]:
    """Request bodies that break no rule of structure; their media may still be refused."""
    scenes = tuple(scene for scene in LEGAL if api != "openai-chat" or scene is not served)
    return _bodies(api, scenes, (asks,), legal=True)


def bodies(api: str) -> st.SearchStrategy[Json]:
    """Request bodies that read, and break the provider's rules in every way."""
    return _bodies(api, (*LEGAL, *HOSTILE_SCENES), (asks, asks, says, lost_result, only_thinking, late_arrival), legal=False)
