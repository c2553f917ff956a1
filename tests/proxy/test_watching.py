"""What the proxy tells of itself: figures, and never content or a credential."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bodies import chat, loop
from proxy.provider import Provider
from proxy.rig import Start
from transom.proxy import telemetry
from transom.proxy.app import application
from transom.proxy.counters import Counters
from transom.proxy.exchange import Exchange, Told
from transom.proxy.logs import JsonLog, saved
from transom.proxy.planned import Planned
from transom.proxy.schema import SCHEMA
from transom.proxy.serving import bound, running
from transom.proxy.settings import build

SECRET = "the combination is 1-2-3-4-5"  # noqa: S105 - stands for what a user says
ROOT = Path(__file__).resolve().parents[2]


def test_neither_content_nor_credentials_are_logged_or_stored(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    begun = start(Provider(words="an answer of its own"), store=str(file), policy={"max_images": 2})
    body = {**loop(6), "system": SECRET, "metadata": {"user_id": SECRET}}
    body["messages"][0]["content"] = SECRET
    begun.post("/v1/messages", body, key="sk-very-secret", headers={"x-transom-session": "my-session"})
    begun.post("/v1/messages?key=AIza-query", b"{" + SECRET.encode(), key="sk-very-secret")
    out = io.StringIO()
    for exchange in begun.ended(2):
        JsonLog(out).ended(exchange)
        out.write(repr(exchange))
    told = out.getvalue() + begun.get("/transom/status").text + begun.get("/transom/metrics").text
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for word in ("combination", "sk-very-secret", "AIza-query", "my-session", "answer of its own", "iVBORw0KGgo", "lorem"):
        assert word not in told, word
        assert word.encode() not in kept, word


def test_a_line_of_the_log_is_json_with_the_figures(start: Start) -> None:
    begun = start(policy={"max_images": 2})
    begun.post("/v1/messages", loop(6))
    out = io.StringIO()
    JsonLog(out).ended(begun.ended(1)[0])
    line = json.loads(out.getvalue())
    assert line["outcome"] == "fitted"
    assert line["stubs"] > 0
    assert line["tokens"][0] > line["tokens"][1]
    assert line["billed"]["input"] == begun.provider.seen[0].tokens


def test_a_log_that_cannot_be_written_stops_nothing() -> None:
    out = io.StringIO()
    out.close()
    JsonLog(out).ended(Exchange(family="openai", api="openai-chat"))


def test_the_pages_are_as_their_schema_says(start: Start) -> None:
    begun = start()
    begun.post("/v1/chat/completions", chat())
    begun.ended(1)
    status = begun.get("/transom/status").json()
    described = SCHEMA["paths"]["/transom/status"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert {*described["required"]} <= {*status}
    assert status["requests"] == [{"api": "openai-chat", "outcome": "untouched", "status": "2xx", "count": 1}]
    assert begun.get("/transom/health").json() == {"status": "ok"}
    assert begun.get("/transom/openapi.json").json() == SCHEMA
    assert begun.get("/transom/nothing").status_code == 404
    assert begun.post("/transom/status", b"").status_code == 405


def test_the_metrics_are_in_the_format_of_prometheus(start: Start) -> None:
    begun = start(policy={"max_images": 2})
    begun.post("/v1/messages", loop(6))
    begun.post("/v1/messages", {**loop(1), "model": 'x"}\n# HELP evil{'})
    begun.ended(2)
    text = begun.get("/transom/metrics").text
    line = re.compile(r'(# (HELP|TYPE) transom_\w+ .+|transom_\w+(\{\w+="[\w+.-]*"(,\w+="[\w-]*")*\})? [\d.]+)')
    assert not [row for row in text.splitlines() if not line.fullmatch(row)]
    assert "evil" not in text
    assert 'transom_requests_total{api="anthropic",outcome="fitted",status="2xx"} 1' in text


def test_what_was_saved_is_said() -> None:
    counters = Counters()
    assert saved(counters.to_dict()) == []
    counters.totals["tokens_in"], counters.totals["tokens_planned"] = 100, 40
    assert ("tokens not sent", "60") in saved(counters.to_dict())


def test_spans_and_metrics_follow_the_conventions(start: Start) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporting = pytest.importorskip("opentelemetry.sdk.trace.export")
    api = pytest.importorskip("opentelemetry.trace")
    memory = export.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(exporting.SimpleSpanProcessor(memory))
    api.set_tracer_provider(provider)
    begun = start(policy={"max_images": 2})
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    begun.post("/v1/messages", loop(6), headers={"traceparent": trace})
    (watcher,) = telemetry.watchers()
    watcher.ended(begun.ended(1)[0])
    (span,) = memory.get_finished_spans()
    assert span.name == "chat claude-sonnet-4-5"
    assert f"{span.context.trace_id:032x}" == trace.split("-")[1]
    told = dict(span.attributes)
    assert told["gen_ai.provider.name"] == "anthropic"
    assert told["gen_ai.usage.input_tokens"] == begun.provider.seen[0].tokens
    assert told["transom.stubs"] > 0
    assert begun.provider.seen[0].headers["traceparent"] == trace


def test_telemetry_marks_what_failed() -> None:
    if not telemetry.INSTALLED:
        pytest.skip("the extra `otel` is not installed")
    planned = Planned(data=b"", outcome="untouched")
    failed = Exchange(
        family="gemini", api="gemini", status=502, fault="ConnectError", planned=planned, summaries=Told(asked=2, made=1)
    )
    telemetry.Telemetry().ended(failed)
    telemetry.Telemetry().ended(Exchange(family="gemini", api=""))


def command(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")} | environ
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-W", "ignore", "-m", "transom", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        timeout=60,
    )


ASK = """
import json, os, sys, urllib.request
body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}).encode()
headers = {"content-type": "application/json", "authorization": "Bearer k"}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
sys.exit(3)
"""


def test_run_puts_a_command_behind_the_proxy_and_ends_with_it() -> None:
    provider = Provider()
    with running(provider.app(), bound("127.0.0.1", 0)) as url:
        done = command("run", "--", sys.executable, "-c", ASK, OPENAI_BASE_URL=f"{url}/v1")
    assert done.stdout.strip() == provider.words
    assert done.returncode == 3
    assert "1 request" in done.stderr
    assert provider.taken[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["proxy"], "--upstream"),
        (["proxy", "--upstream", "openai"], "NAME=URL"),
        (["proxy", "--upstream", "openai=https://x", "--shadow", "--strict"], "one of them"),
        (["proxy", "--upstream", "openai=https://x", "--listen", "nowhere"], "HOST:PORT"),
        (["proxy", "--upstream", "openai=https://x", "--fold"], "--summary-model"),
        (["run", "--summary-model", "gpt-4o-mini", "--", "true"], "--fold"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_code_2(arguments: list[str], says: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_without_its_extra_the_command_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text("raise ModuleNotFoundError('no starlette', name='starlette')")
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "src")])}
    done = command("proxy", "--upstream", "openai=https://x", **env)
    assert done.returncode == 2
    assert "pip install 'transom[proxy]'" in done.stderr


def resident() -> int:
    """Bytes of memory that this process holds."""
    path = Path("/proc/self/statm")
    if not path.exists():
        pytest.skip("the system does not say how much memory a process holds")
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_memory_stays_flat_over_many_requests(start: Start) -> None:
    provider = Provider()
    begun = start(provider, policy={"max_images": 2})

    def many(first: int, count: int) -> None:
        for number in range(first, first + count):
            body: dict[str, Any] = loop(3, words=400)
            body["messages"][0]["content"] = f"conversation {number}"
            assert begun.post("/v1/messages", body, key=f"sk-{number % 7}").status_code == 200
            if number % 30 == 0:
                provider.forget()
                begun.notes.all.clear()

    many(0, 60)
    before = resident()
    many(60, 150)
    assert resident() - before < 12 * 2**20


def test_a_store_that_cannot_be_opened_is_said_before_anything_is_served(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be opened"):
        application(build({"upstream": {"openai": "https://x"}, "store": str(tmp_path)}))


def test_what_was_left_out_is_counted_the_same_in_every_answer(start: Start) -> None:
    """Messages, whether this request left them out or an earlier one."""
    begun = start(policy={"budget": 4_000})
    told = [begun.post("/v1/messages", loop(20)).headers["x-transom"].partition("stubs")[2] for _ in range(3)]
    assert told[0] == told[1] == told[2]
    kept = len(begun.provider.seen[-1].body["messages"])
    assert f"drops={len(loop(20)['messages']) - kept}" in told[0]
    more = begun.post("/v1/messages", loop(21)).headers["x-transom"]
    assert f"drops={len(loop(21)['messages']) - len(begun.provider.seen[-1].body['messages'])}" in more


def test_a_second_try_that_cuts_texts_says_so(start: Start) -> None:
    """A message that is larger than the window by itself goes out shorter, and is not cut in silence."""
    begun = start(Provider(window=5_000))
    answer = begun.post("/v1/messages", {**loop(0), "messages": [{"role": "user", "content": "lorem ipsum " * 5_000}]})
    assert answer.status_code == 200
    assert answer.headers["x-transom"].endswith("; cuts=1")
    exchange = begun.ended(1)[0]
    assert exchange.to_dict()["cuts"] == 1
    assert begun.get("/transom/status").json()["cuts"] == 1
    assert "transom_cuts_total 1" in begun.get("/transom/metrics").text
    assert ("texts cut short", "1") in saved(begun.counters.to_dict())
    assert "cuts" not in begun.post("/v1/messages", loop(1)).headers["x-transom"]
