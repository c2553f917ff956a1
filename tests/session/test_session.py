"""The verbs of a session, form by form."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import transom
from bodies import picture
from conversations import APIS
from transom import Policy, Store, canon
from transom.session import bodies

Json = dict[str, Any]

USERS: dict[str, Json] = {
    "anthropic": {"role": "user", "content": "go"},
    "openai-chat": {"role": "user", "content": "go"},
    "openai-responses": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
    "gemini": {"role": "user", "parts": [{"text": "go"}]},
    "bedrock": {"role": "user", "content": [{"text": "go"}]},
    "blocks": {"role": "user", "content": [{"type": "text", "text": "go"}]},
}
CALLED: dict[str, Json] = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}  # type: ignore[dict-item]
REPLIES: dict[str, Json] = {
    "anthropic": {
        "model": "m", "role": "assistant", "content": [CALLED], "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    },
    "openai-chat": {
        "model": "m", "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}}],
    },
    "openai-responses": {
        "model": "m", "status": "completed", "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        "output": [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}],
    },
    "gemini": {
        "modelVersion": "m", "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
        "candidates": [{"finishReason": "STOP", "content": {
            "role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}}],
    },
    "bedrock": {
        "stopReason": "tool_use", "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
        "output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {}}}]}},
    },
    "blocks": {"role": "assistant", "content": [CALLED], "stop_reason": "tool_use"},
}  # fmt: skip
RESULTS: dict[str, Json] = {
    "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "seen"}]},
    "openai-chat": {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    "openai-responses": {"type": "function_call_output", "call_id": "c1", "output": "seen"},
    "gemini": {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": "seen"}}}]},
    "bedrock": {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "seen"}]}}]},
    "blocks": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "seen"}]},
}


@pytest.fixture
def store() -> Any:
    with Store("sqlite://") as opened:
        yield opened


def opened(store: Store, api: str, **options: Any) -> transom.Session:
    return store.session("a", api=api, model="claude-opus-4-8", **options)


@pytest.mark.parametrize("api", APIS)
def test_a_round_of_a_tool_loop_grows_the_request_and_moves_nothing(api: str, store: Store) -> None:
    """CM-133: what an extension sends is what the next compile sends, so the prefix stands."""
    chat = opened(store, api)
    chat.append(USERS[api])
    fit = chat.compile(system="Be short.")
    done = chat.record(REPLIES[api])
    assert done.stop_reason in ("tool_use", "tool_calls", "STOP")
    step = chat.extend(RESULTS[api])
    assert step.fits, step.why
    key = bodies.key(api)
    count = len(fit.request[key])
    assert step.request[key][:count] == fit.request[key]
    assert len(step.request[key]) == count + 2
    again = chat.compile(system="Be short.")
    assert again.request == step.request
    assert not again.report.breaks
    if done.usage is not None:
        assert (done.usage.prompt, done.usage.output) == (10, 5)


@pytest.mark.parametrize("api", APIS)
def test_a_restart_changes_nothing(api: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with Store(url) as store:
        chat = opened(store, api)
        chat.append(USERS[api])
        chat.compile(system="Be short.")
        chat.record(REPLIES[api])
        kept = chat.project(RESULTS[api])
    with Store(url) as store:
        chat = store.session("a")
        assert chat.project(RESULTS[api]) == kept
        step = chat.extend(RESULTS[api])
        assert step.fits
    with Store(url) as store:
        chat = store.session("a")
        more = chat.extend(USERS[api])
        assert more.fits
        key = bodies.key(api)
        assert more.request[key][: len(step.request[key])] == step.request[key]
        assert chat.compile(system="Be short.").request == more.request


def test_a_new_picture_is_judged_as_the_compile_judges_it(store: Store) -> None:
    """CM-132, CM-133, CM-134: the same verdicts for messages that are added, pictures in results included."""
    shown = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [picture(n) for n in range(3)]}]}
    chat = opened(store, "anthropic", policy=Policy.sliding(max_images=2, newest="limit", image_ratio=0))
    chat.append(USERS["anthropic"])
    chat.compile()
    chat.record(REPLIES["anthropic"])
    step = chat.extend(shown)
    assert step.fits
    assert canon.encode(step.request).count(b'"image"') == 2
    assert chat.compile().request == step.request


def test_a_late_result_wants_the_request_made_afresh(store: Store) -> None:
    chat = opened(store, "anthropic")
    chat.append(USERS["anthropic"])
    chat.append({"role": "assistant", "content": [CALLED]}, USERS["anthropic"])
    chat.compile()
    step = chat.extend(RESULTS["anthropic"])
    assert not step.fits
    assert "made afresh" in step.why[0] or "afresh" in step.why[0]
    fresh = chat.compile()
    assert fresh.report.breaks
    assert [fault for fault in transom.lint(fresh.request, api="anthropic") if fault.code != "max-tokens"] == []


def test_without_a_request_there_is_nothing_to_extend(store: Store) -> None:
    step = opened(store, "anthropic").extend(USERS["anthropic"])
    assert not step.fits
    assert "compile" in step.why[0]
    assert step.seqs == (0,)


def test_an_sdks_object_is_recorded_as_it_is(store: Store) -> None:
    class Reply:
        def model_dump(self, **_options: object) -> Json:
            return REPLIES["anthropic"]

    chat = opened(store, "anthropic")
    chat.append(USERS["anthropic"])
    chat.compile()
    assert chat.record(Reply()).seqs == (1,)
    assert chat.messages(1) == ({"role": "assistant", "content": [CALLED]},)


@pytest.mark.parametrize("api", APIS)
def test_what_is_no_answer_is_said_and_not_stored(api: str, store: Store) -> None:
    chat = opened(store, api)
    with pytest.raises(transom.BadRequest):
        chat.record({"error": {"message": "overloaded"}})
    assert len(chat) == 0


def test_of_two_writers_the_loser_is_told_and_nothing_is_lost(store: Store) -> None:
    one, two = opened(store, "anthropic"), opened(store, "anthropic")
    one.append(USERS["anthropic"])
    head, slot = two._now()  # noqa: SLF001 - the moment between reading and committing
    one.compile()
    with pytest.raises(transom.StateConflict, match="retry"):
        two.log.commit(slot.to_dict(), over=head.version)
    two.append(USERS["anthropic"])
    assert len(one) == 2
    assert not two.compile().report.breaks


def test_what_is_left_out_before_the_first_request_is_no_change_of_settings(store: Store) -> None:
    chat = opened(store, "anthropic")
    chat.append({"role": "user", "content": [{"type": "text", "text": "see"}, picture(1)]})
    chat.leave_out("messages[0].content[1]")
    assert not [words for words in chat.compile().report.notes if "changed" in words]


def test_a_picture_and_a_message_can_be_left_out_by_hand(store: Store) -> None:
    chat = opened(store, "anthropic")
    chat.append(
        {"role": "user", "content": [picture(1), picture(2)]}, {"role": "assistant", "content": "secret"}, USERS["anthropic"]
    )
    chat.compile()
    chat.leave_out("messages[0].content[1]")
    chat.leave_out("messages[1]")
    made = chat.compile()
    sent = canon.encode(made.request)
    assert sent.count(b'"image"') == 1
    assert b"secret" not in sent
    assert "left out by hand: messages[0].content[1], messages[1]" in made.report.notes
    assert len(chat.messages()) == 3
    chat.append(USERS["anthropic"])
    assert canon.encode(chat.compile().request).count(b'"image"') == 1
    with pytest.raises(transom.BadSetting, match="holds 4"):
        chat.leave_out("messages[9]")
    with pytest.raises(transom.BadSetting, match="no place"):
        chat.leave_out("content[1]")


def test_a_repeated_compile_changes_nothing(store: Store) -> None:
    """INV-12: the same bytes, and no break."""
    chat = opened(store, "anthropic", policy=Policy.sliding(budget=400))
    for n in range(30):
        chat.append({"role": "user", "content": f"message {n} " + "word " * 10})
        first = chat.compile(system="Be short.")
        again = chat.compile(system="Be short.")
        assert again.request == first.request
        assert not again.report.breaks


def test_the_report_of_a_window_adds_up(store: Store) -> None:
    chat = opened(store, "openai-chat", policy=Policy.sliding(budget=300, keep_head=30, keep_requests=2))
    for n in range(40):
        chat.append({"role": "user", "content": f"message {n} " + "word " * 10}, {"role": "assistant", "content": "yes"})
        report = chat.compile(system="Be short.").report
        for unit in ("tokens", "bytes"):
            saved = sum(getattr(one, f"{unit}_before") - getattr(one, f"{unit}_after") for one in report.decisions)
            lost = getattr(report.before, unit) - getattr(report.after, unit)
            assert lost == saved


def test_repr_shows_no_content(store: Store) -> None:
    chat = opened(store, "anthropic")
    chat.append({"role": "user", "content": "secret"})
    assert "secret" not in repr(chat) + repr(chat.log.head()) + repr(chat.compile())


def test_cached_tokens_count_once(store: Store) -> None:
    """Case usage-learning-cached-inside: OpenAI's cached tokens are a part of the prompt, Anthropic's stand beside it."""
    chat = opened(store, "openai-chat")
    chat.append(USERS["openai-chat"])
    chat.compile()
    usage = {"prompt_tokens": 184_704, "completion_tokens": 49, "prompt_tokens_details": {"cached_tokens": 183_936}}
    chat.record({**REPLIES["openai-chat"], "usage": usage})
    assert chat.occupancy() == 184_753
    other = store.session("b", api="anthropic", model="claude-opus-4-8")
    other.append(USERS["anthropic"])
    other.compile()
    other.record(
        {**REPLIES["anthropic"], "usage": {"input_tokens": 768, "cache_read_input_tokens": 183_936, "output_tokens": 49}}
    )
    assert other.occupancy() == 184_753


def test_an_old_session_under_new_settings_pays_one_break(store: Store) -> None:
    """CM-159: the first request of a stored window whose rendering changes is a cache miss, named as such; then none is."""
    chat = opened(store, "anthropic")
    for n in range(6):
        chat.append({"role": "user", "content": [picture(n)]}, {"role": "assistant", "content": "yes"})
    chat.append(USERS["anthropic"])
    chat.compile()
    again = store.session("a", policy=Policy.sliding(max_images=2))
    broken = again.compile()
    assert [one.cause for one in broken.report.breaks] != []
    assert not again.compile().report.breaks


def test_of_two_compiles_at_once_one_is_told(store: Store) -> None:
    """The loser changes nothing, and its retry goes on from the winner's state."""
    winner = opened(store, "anthropic")
    winner.append({"role": "user", "content": "word " * 100})
    races = [True]

    def cut(message: Json, _cap: int) -> Json:
        if races:
            races.clear()
            winner.compile()  # in the middle of the other one's compile
        return message

    loser = opened(store, "anthropic", policy=Policy.sliding(max_message_tokens=10, cut=cut))
    with pytest.raises(transom.StateConflict, match="retry"):
        loser.compile()
    assert loser.log.head().version == 1
    assert not loser.compile().report.breaks


def test_answers_that_are_recorded_at_once_are_all_stored(tmp_path: Path) -> None:
    """An answer is not lost to a race: it is stored on the state that the other one left."""
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with Store(url) as store:
        opened(store, "anthropic").append(USERS["anthropic"])

    def work(who: str) -> None:
        with Store(url) as own:
            chat = own.session("a")
            for n in range(15):
                chat.record({**REPLIES["anthropic"], "content": [{"type": "text", "text": f"{who} {n}"}]})

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, "xy"))
    with Store(url) as store:
        said = [message["content"][0]["text"] for message in store.session("a").messages(1)]
    assert [one for one in said if one[0] == "x"] == [f"x {n}" for n in range(15)]
    assert len(said) == 30


def test_under_other_settings_the_last_request_is_made_afresh(store: Store) -> None:
    chat = opened(store, "anthropic")
    chat.append({"role": "user", "content": [picture(1), picture(2), picture(3)]})
    chat.compile()
    chat.append({"role": "assistant", "content": "yes"})
    other = store.session("a", policy=Policy.sliding(max_images=1, newest="limit", image_ratio=0))
    step = other.extend(USERS["anthropic"])
    assert not step.fits
    assert "compile" in step.why[0]
    assert canon.encode(other.compile().request).count(b'"image"') == 1


def test_a_summary_that_was_asked_for_stands_for_its_messages_and_survives_a_restart(store: Store) -> None:
    """A fulfilled ask is kept with the session; one that says nothing does no harm."""
    policy = Policy.folding(budget=1_500, chunk_tokens=150, recent_tokens=400, summary_tokens=60)
    chat = opened(store, "anthropic", policy=policy)
    for n in range(40):
        chat.append({"role": "user", "content": f"step {n} " + "word " * 30}, {"role": "assistant", "content": "yes"})
        fit = chat.compile()
        for number, ask in enumerate(fit.asks):
            chat.fulfil(ask, "" if number % 2 else f"They took steps up to {n}.")
    again = store.session("a", policy=policy)
    sent = canon.encode(again.compile().request)
    assert b"They took steps up to" in sent
    assert again.log.rows_read < 80
    assert len(again.messages()) == 80


def test_summaries_that_come_after_a_long_log_was_left_out_are_used_and_survive_a_restart(store: Store) -> None:
    """An imported log that is over the budget at once: its first request goes out without what is asked for, the next with the
    summaries, also when it is made in another process; nothing is kept twice.
    """
    policy = Policy.folding(budget=1_500, chunk_tokens=150, recent_tokens=400, summary_tokens=60)
    chat = opened(store, "anthropic", policy=policy)
    for n in range(40):
        chat.append({"role": "user", "content": f"step {n} " + "word " * 30}, {"role": "assistant", "content": "yes"})
    chat.append(USERS["anthropic"])
    fit = chat.compile()
    assert fit.report.notes
    for ask in fit.asks[-4:]:
        chat.fulfil(ask, f"They took steps {ask.first} to {ask.last}.")
    again = store.session("a", policy=policy)
    made = again.compile()
    assert sum(f"They took steps {ask.first} to" in canon.text(made.request) for ask in fit.asks[-4:]) >= 3
    assert again.log.opening("").folds == ()
    assert again.log.rows_read < 40
    later = again.record(REPLIES["anthropic"])
    assert later.seqs
    assert again.extend(RESULTS["anthropic"]).fits
    assert (
        store.session("a", policy=policy).compile().request["messages"][: len(made.request["messages"])]
        == (made.request["messages"])
    )
