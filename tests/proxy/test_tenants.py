"""Two tenants, hostile headers, and the way out: nothing crosses, nothing is believed, nothing else is connected to."""

from __future__ import annotations

import json
import socket
import sys
import threading
from typing import Any

import httpx2

from bodies import loop
from proxy.provider import Provider
from proxy.rig import Start

CONNECTED: list[tuple[str, int]] = []
LISTENING = threading.Event()


def note(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook; it cannot be taken off again, so it only looks when asked to."""
    if event == "socket.connect" and LISTENING.is_set() and isinstance(arguments[1], tuple):
        CONNECTED.append(arguments[1][:2])


sys.addaudithook(note)


def trimmed(answer: httpx2.Response) -> str:
    return answer.headers["x-transom"]


def test_the_same_conversation_of_two_tenants_shares_nothing(start: Start) -> None:
    """The first tenant's pictures were trimmed long ago; the second's, who sends the same, are judged as a conversation of
    its own.
    """
    begun = start(policy={"max_images": 4})
    for rounds in range(1, 7):
        begun.post("/v1/messages", loop(rounds), key="sk-one")
    one = trimmed(begun.post("/v1/messages", loop(7), key="sk-one"))
    two = trimmed(begun.post("/v1/messages", loop(7), key="sk-two"))
    fresh = trimmed(start(policy={"max_images": 4}).post("/v1/messages", loop(7), key="sk-one"))
    assert two == fresh
    assert one != two


def test_a_session_header_names_a_session_of_ones_own_only(start: Start) -> None:
    begun = start(policy={"max_images": 4})
    for rounds in range(1, 8):
        begun.post("/v1/messages", loop(rounds), key="sk-one", headers={"x-transom-session": "theirs"})
    mine = trimmed(begun.post("/v1/messages", loop(7), key="sk-one", headers={"x-transom-session": "theirs"}))
    stolen = trimmed(begun.post("/v1/messages", loop(7), key="sk-two", headers={"x-transom-session": "theirs"}))
    other = trimmed(begun.post("/v1/messages", loop(7), key="sk-one", headers={"x-transom-session": "another"}))
    assert stolen == other
    assert stolen != mine
    assert all("x-transom-session" not in one.headers for one in begun.provider.seen)


def test_a_header_names_the_tenant_only_where_the_operator_said_so(start: Start) -> None:
    trusting = start(policy={"max_images": 4}, tenant_header="X-Team")
    plain = start(policy={"max_images": 4})
    for begun in (trusting, plain):
        for rounds in range(1, 7):
            begun.post("/v1/messages", loop(rounds), key="sk-one", headers={"x-team": "red"})
    for begun, known in ((trusting, True), (plain, False)):
        fresh = trimmed(start(policy={"max_images": 4}).post("/v1/messages", loop(7)))
        answer = trimmed(begun.post("/v1/messages", loop(7), key="sk-rotated", headers={"x-team": "red"}))
        assert (answer != fresh) == known


def test_cookies_of_one_tenant_are_never_sent_for_another(start: Start) -> None:
    begun = start()
    assert "who=them" in begun.get("/openai/v1/files").headers["set-cookie"]
    begun.get("/openai/v1/files")
    assert all("cookie" not in one.headers for one in begun.provider.seen)


def test_what_a_client_says_of_its_origin_is_dropped(start: Start) -> None:
    begun = start()
    hostile = {
        "host": "evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-for": "10.0.0.1",
        "forwarded": "host=evil.example",
        "x-real-ip": "10.0.0.1",
        "connection": "x-hop",
        "x-hop": "1",
        "te": "trailers",
        "proxy-authorization": "Basic abc",
        "x-kept": "yes",
    }
    begun.post("/v1/messages", loop(1), headers=hostile)
    headers = begun.provider.seen[-1].headers
    assert headers["host"] == begun.direct.removeprefix("http://")
    assert headers["x-kept"] == "yes"
    assert not {*headers} & ({*hostile} - {"host", "x-kept"})
    assert "evil" not in json.dumps(headers)


def test_a_redirect_is_not_followed(start: Start) -> None:
    begun = start()
    elsewhere = start(Provider())
    answer = begun.get(f"/openai/v1/elsewhere?to={elsewhere.direct}/v1/files", authorization="Bearer sk-one")
    assert answer.status_code == 307
    assert not elsewhere.provider.seen


def test_no_connection_is_made_but_to_the_upstreams(start: Start) -> None:
    """Addresses in a conversation, in headers and in a request line lead nowhere."""
    begun = start()
    trap = socket.create_server(("127.0.0.1", 0))
    port = trap.getsockname()[1]
    url = f"http://127.0.0.1:{port}/x.png"
    picture = {"type": "image_url", "image_url": {"url": url}}
    text = {"type": "text", "text": f"see {url} and file:///etc/passwd"}
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": [text, picture]}], "webhook": url, "base_url": url}
    known = {int(url.rpartition(":")[2]) for url in (begun.url, begun.direct)}
    LISTENING.set()
    try:
        headers = {"x-forwarded-host": f"127.0.0.1:{port}", "x-base-url": url, "referer": url}
        assert begun.post("/v1/chat/completions", body, headers=headers).status_code == 200
        with httpx2.Client(trust_env=False) as client:
            request = client.build_request("GET", begun.url, extensions={"target": url.encode()})
            assert client.send(request).status_code == 404
    finally:
        LISTENING.clear()
        trap.close()
    assert CONNECTED
    assert {port for _, port in CONNECTED} <= known
