"""What goes to nobody, and what breaks: the answer is the proxy's own, in the client's form, and says which of both it is."""

from __future__ import annotations

import asyncio
import json

import pytest

from bodies import chat, loop
from proxy.raw import answering, listening, said
from proxy.rig import Start
from transom.proxy.through import Through

CLOSE = b"Connection: close\r\n"


@pytest.mark.parametrize(
    "target",
    [b"/transom/status/", b"/transom/nope", b"/transom", b"*", b"http://evil.example/v1/models", b"/nothing"],
    ids=["slash", "no page", "no slash", "star", "absolute", "nothing"],
)
def test_what_is_no_path_of_an_api_is_a_404_in_the_clients_form_and_names_no_host(start: Start, target: bytes) -> None:
    begun = start()
    answer = said(begun.url, b"GET " + target + b" HTTP/1.1\r\nHost: evil.example\r\nanthropic-version: 1\r\n" + CLOSE + b"\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404")
    assert b"location" not in head.lower()
    assert b"evil" not in answer
    assert json.loads(body)["type"] == "error"
    assert (begun.ended(1)[0].status, begun.ended(1)[0].outcome) == (404, "refused")
    assert not begun.provider.seen


@pytest.mark.parametrize(
    "line, more, status",
    [
        (b"GET /v1/realtime", b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nConnection: Upgrade\r\n", 501),
        (b"CONNECT api.example:443", CLOSE, 405),
        (b"TRACE /v1/models", CLOSE, 405),
    ],
    ids=["websocket", "CONNECT", "TRACE"],
)
def test_what_the_proxy_does_not_speak_is_said_so_and_goes_to_nobody(start: Start, line: bytes, more: bytes, status: int) -> None:
    begun = start()
    end = b"GET /transom/health HTTP/1.1\r\nHost: x\r\n" + CLOSE + b"\r\n" if more != CLOSE else b""
    answer = said(begun.url, line + b" HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n" + end)
    assert answer.startswith(b"HTTP/1.1 %d" % status)
    assert b"x-transom: refused" in answer
    assert (b"allow: GET" in answer) == (status == 405)
    assert b"does not serve" in answer or b"serves no websockets" in answer
    assert not begun.provider.seen


def test_whatever_breaks_before_an_answer_is_a_500_in_the_clients_form(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(*_: object) -> None:
        raise ZeroDivisionError("the user said 1-2-3")

    begun = start()
    monkeypatch.setattr(Through, "serve", breaks)
    answer = begun.post("/v1/messages", loop(1))
    assert answer.status_code == 500
    assert answer.json()["type"] == "error"
    assert "ZeroDivisionError" in answer.text
    assert "1-2-3" not in answer.text
    assert answer.headers["x-transom"] == "failed"
    assert begun.ended(1)[0].fault == "ZeroDivisionError"


@pytest.mark.parametrize("status", [b"999 Odd", b"600 Odder"])
def test_a_status_that_is_none_is_a_502(start: Start, status: bytes) -> None:
    with listening(answering(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")) as url:
        begun = start(upstream={"openai": url})
        for path in ("/v1/chat/completions", "/v1/embeddings"):
            answer = begun.post(path, chat())
            assert answer.status_code == 502
            assert answer.headers["x-transom"] == "failed"
            assert f"the status {status[:3].decode()}" in answer.json()["error"]["message"]
        assert [one.fault for one in begun.ended(2)] == ["BadStatus", "BadStatus"]


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/chat/completions"])
def test_a_transfer_coding_overrides_a_length(start: Start, path: str) -> None:
    begun = start()
    body = json.dumps(chat()).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: k\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n".encode()
    answer = said(begun.url, head + CLOSE + b"\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    assert answer.startswith(b"HTTP/1.1 200")
    assert begun.provider.seen[-1].raw == body


def test_what_an_answer_may_be_coded_in_is_the_clients_to_say_where_it_is_not_read(start: Start) -> None:
    begun = start()
    for path, given in (("/v1/embeddings", "compress, gzip;q=0.5"), ("/v1/chat/completions", "gzip;q=0.5")):
        begun.post(path, chat(), headers={"accept-encoding": "compress, gzip;q=0.5"})
        assert begun.provider.seen[-1].headers["accept-encoding"] == given
    head = b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
    assert said(begun.url, head + CLOSE + b"\r\n").startswith(b"HTTP/1.1 200")
    assert "accept-encoding" not in begun.provider.seen[-1].headers


def test_an_answer_that_breaks_here_ends_the_connection(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an answer must not look whole, whoever broke it."""

    async def half(_: object, call: object) -> None:
        send, call.begun = call.send, True  # type: ignore[attr-defined]  # any call
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await asyncio.sleep(0)
        raise ZeroDivisionError

    begun = start()
    monkeypatch.setattr(Through, "serve", half)
    body = b"{}"
    head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    answer = said(begun.url, head + body)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")
    assert begun.ended(1)[0].fault == "ZeroDivisionError"
