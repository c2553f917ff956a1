"""`transom fit` and `transom repair`: the commands that make a request out of a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import typer

import transom
from transom import canon, log
from transom.cli import files, options, sessions, tables
from transom.cli.answers import Exit, code, err, note, out, plain, progress, said, say_error, say_json, sentences
from transom.cli.guess import guess
from transom.errors import BadRequest, BadSetting, TransomError
from transom.types import JsonObject

Work = Callable[[JsonObject, str], transom.Fit]


@dataclass(slots=True, kw_only=True)
class Done:
    """What a run over the items of a file came to: a line of output and a report for each, and the worst exit code."""

    bodies: list[bytes] = field(default_factory=list)
    reports: list[JsonObject] = field(default_factory=list)
    fits: list[tuple[str, transom.Fit]] = field(default_factory=list)
    worst: Exit = Exit.DONE


def fit(  # the options are the command
    body: options.Fields = "",
    api: options.ApiName = None,
    model: options.Model = None,
    output: options.Out = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    state: options.StateFile = None,
    session: options.SessionName = None,
    store: options.StoreUrl = options.STORE,
    settings: options.Settings = None,
    budget: options.Budget = None,
    reserve: options.Reserve = None,
    max_body_bytes: options.MaxBodyBytes = None,
    max_messages: options.MaxMessages = None,
    trigger: options.Trigger = None,
    refit: options.Refit = None,
    max_images: options.MaxImages = None,
    max_image_bytes: options.MaxImageBytes = None,
    image_depth: options.ImageDepth = None,
    newest: options.NewestRule = None,
    keep_requests: options.KeepRequests = None,
    pin: options.Pins = None,
    results_per_tool: options.ResultsPerTool = None,
    late_results: options.LateResults = None,
) -> None:
    """Make a request that fits, of the same form, and say what was done to it.

    Without -o nothing is written: the report says what would be done. Of JSON lines each line is a request; with --state
    they are requests of one conversation, and each keeps the prefix of the one before.
    """
    with sentences():
        named = options.given(
            reserve=reserve, max_body_bytes=max_body_bytes, max_messages=max_messages, trigger=trigger, refit=refit,
            max_images=max_images, max_image_bytes=max_image_bytes, image_depth=image_depth, newest=newest and newest.value,
            keep_requests=keep_requests, pins=tuple(pin) if pin else None, results_per_tool=results_per_tool,
            late_results=late_results and late_results.value,
        )  # fmt: skip
        fields = named | options.others(settings) | options.given(budget=budget)
        if session is not None:
            done, source = _of_session(session, store, _around(body, state), model, fields)
            _answer(done, source, output=output, as_json=as_json, force=force)
            raise typer.Exit(done.worst)
        if not body:
            raise BadRequest(f"{files.NO_BODY}, or --session NAME")
        carried = _read_state(state, output)

        def work(request: JsonObject, form: str) -> transom.Fit:
            nonlocal carried
            made = transom.fit(request, api=form, model=model, state=carried, **fields)
            carried = made.state if state is not None else None
            return made

        source = files.requests(files.read(body))
        done = _each(source, api, work, "fitting")
        _answer(done, source, output=output, as_json=as_json, force=force)
        if state is not None and carried is not None and done.worst == Exit.DONE:
            files.write(state, msgspec.json.encode(carried.to_dict()) + b"\n", force=True)
        raise typer.Exit(done.worst)


def _of_session(name: str, url: str, around: files.Item, model: str | None, fields: JsonObject) -> tuple[Done, files.Source]:
    """The request that a stored session makes next, with the fields `around` it; the session is left as it is."""
    source = files.Source(name=f"session {plain(name)}", data=b"", kind="body", items=(around,))
    with sessions.opened(url, "") as store:
        chat = store.session(name, model=model, policy=transom.Policy.sliding(**fields))
        done = _each(source, chat.api, lambda request, _: chat.preview(**request), "fitting")
    if not all(made.report.budget.admits(made.report.after) for _, made in done.fits):
        say_error("nothing legal fits into the budget; this is the smallest request")
        done.worst = Exit.OVER_BUDGET
    return done, source


def _around(body: str, state: str | None) -> files.Item:
    """The fields around a session's messages. Raises BadRequest for a BODY that is more than these, BadSetting for a state."""
    if state is not None:
        raise BadSetting("--state: a session keeps its own state; leave --state out, or --session")
    if not body:
        return files.Item(line=0, raw=b"", value={})
    source, place = files.read(body), files.shown(body)
    if source.kind == "media":
        raise BadRequest(f"{place} is not JSON; with --session, BODY is a JSON object with the fields around the messages")
    if len(source.items) != 1:
        raise BadRequest(f"{place} holds {len(source.items):,} lines; with --session, BODY is one JSON object")
    found = source.items[0].body()
    if "role" in found:
        raise BadRequest(f"{place} is a message; with --session, BODY holds the fields around the messages: leave it out")
    for name in ("messages", "input", "contents"):
        if name in found:
            raise BadRequest(f"{place} has {name} of its own, and --session sends those that it holds; take them out of BODY")
    return source.items[0]


def repair(
    body: options.Body,
    api: options.ApiName = None,
    output: options.Out = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Make a request that the provider takes again, out of one that it refuses.

    BODY is a request, requests as JSON lines, or a session with one message a line, torn lines and all. What is whole is not
    touched, and a mended file is mended no further.
    """
    with sentences():
        source = files.read(body)
        if source.kind == "session":
            _repair_session(source, api, output=output, as_json=as_json, force=force)
        done = _each(files.requests(source), api, lambda request, form: transom.repair(request, api=form), "mending")
        _answer(done, source, output=output, as_json=as_json, force=force)
        raise typer.Exit(done.worst)


def mend_session(data: bytes, api: str | None) -> tuple[bytes, transom.Fit, list[JsonObject]]:
    """A session's messages as JSON lines again, mended; what was done; and the lines that could not be read.

    A line whose message nothing was done to comes out as the bytes that it was.
    """
    session = log.read(data)
    rows = data.split(b"\n")
    empty = [number for number, row in enumerate(rows[:-1], 1) if not row.strip()]
    lost = [(one.line, one.reason) for one in session.lost] + [(number, "an empty line") for number in empty]
    request = {"messages": list(session.messages)}
    made = transom.repair(request, api=api or guess(request))
    torn, counts = {one.line for one in session.lost}, Counter(session.lines)
    raw = {
        id(message): rows[line - 1].rstrip(b"\r")
        for message, line in zip(session.messages, session.lines, strict=True)
        if line not in torn and counts[line] == 1
    }
    mended = [raw.get(id(message)) or canon.encode(message) for message in made.request["messages"]]
    return b"".join(row + b"\n" for row in mended), made, [{"line": line, "reason": reason} for line, reason in sorted(lost)]


def _repair_session(source: files.Source, api: str | None, *, output: str | None, as_json: bool, force: bool) -> None:
    form = api or said(guess({"messages": list(log.read(source.data).messages)}))
    data, made, lost = mend_session(source.data, form)
    if output is not None:
        if lost and force and files.one_file(output, source.name):
            _keep_unread(source)
        files.write(output, data, source=source.name, force=force)
    if as_json:
        say_json({**made.report.to_dict(), "lost": lost})
    else:
        console = err() if output == files.STREAM else out()
        for row in lost:
            console.print(f"line {row['line']}: left out, {row['reason']}", markup=False)
        tables.show_fit(console, made, files.shown(source.name))
        _unwritten(output)
    raise typer.Exit(Exit.DONE)


def _each(source: files.Source, api: str | None, work: Work, words: str) -> Done:
    """Do the work for each item; one that cannot be done is named and the others go on."""
    done, many, heard = Done(), source.kind == "lines", set[str]()
    with progress(words, len(source.items)) as advance:
        for item in source.items:
            try:
                request = item.body()
                made = work(request, api or said(guess(request), heard))
            except TransomError as error:
                if not many:
                    raise
                _failed(done, item, error)
            else:
                same = made.request is request
                done.bodies.append(item.raw if same else msgspec.json.encode(made.request) + b"\n" * (not many))
                done.reports.append(({"line": item.line} if many else {}) | made.report.to_dict())
                done.fits.append((item.where or files.shown(source.name), made))
            advance()
    return done


def _failed(done: Done, item: files.Item, error: TransomError) -> None:
    words = str(error) if item.where in str(error) else f"{item.where}: {error}"
    say_error(words)
    failure = {"line": item.line, "error": words, "exit": int(code(error))}
    done.bodies.append(msgspec.json.encode({"transom_error": failure}))
    done.reports.append(failure)
    done.worst = max(done.worst, code(error))


def _answer(done: Done, source: files.Source, *, output: str | None, as_json: bool, force: bool) -> None:
    many = source.kind == "lines"
    if output is not None:
        data = b"".join(body + b"\n" for body in done.bodies) if many else b"".join(done.bodies)
        if as_json and output == files.STREAM:
            raise BadSetting("--json and -o - both want standard output; write the body to a file")
        files.write(output, data, source=source.name, force=force)
    if as_json:
        for report in done.reports:
            say_json(report)
        return
    console = err() if output == files.STREAM else out()
    if many:
        tables.show_lines(console, done.fits)
    for name, made in () if many else done.fits:
        tables.show_fit(console, made, name)
    _unwritten(output)


def _keep_unread(source: files.Source) -> None:
    """Lines that are about to be replaced and could not be read, beside the file."""
    numbers = sorted({one.line for one in log.read(source.data).lost})
    files.keep_aside(f"{source.name}.unread", source.data, numbers)
    note(files.kept(len(numbers), f"{source.name}.unread"))


def _read_state(name: str | None, output: str | None) -> transom.State | None:
    """The state in the file `name`, None where there is none yet. Raises BadSetting where it is `output`, or holds no state."""
    if name is not None and output is not None and files.one_file(name, output):
        raise BadSetting(f"-o and --state are the same file, {output}; give each its own")
    if name is None or not Path(name).exists():
        return None
    remedy = "give another --state, or remove it to start afresh"
    if Path(name).is_dir():
        raise BadSetting(f"{name} is a folder, and a state is a file; give the name of a file in it")
    if not Path(name).is_file():
        return None  # a device or a pipe: nothing was kept there
    try:
        item = files.decoded(Path(name).read_bytes())
    except OSError as error:
        raise BadSetting(f"{name} cannot be read ({error.strerror}); {remedy}") from error
    if item.problem or not isinstance(item.value, dict):
        raise BadSetting(f"{name} holds no state ({item.problem or 'it is no object'}); {remedy}")
    try:
        return transom.State.from_dict(item.value)
    except BadSetting as error:
        reason = str(error).removesuffix("; leave it out to start afresh")
        raise BadSetting(f"{name} holds no state that can be used ({reason}); {remedy}") from error


def _unwritten(output: str | None) -> None:
    if output is None:
        note("nothing was written; -o OUT writes the request")
