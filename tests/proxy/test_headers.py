"""Headers and routes on the way through."""

from __future__ import annotations

import pytest

from transom.proxy.headers import credential, to_client, to_upstream
from transom.proxy.routes import Route, find

SENT = [
    (b"host", b"evil.example"),
    (b"content-length", b"3"),
    (b"content-encoding", b"gzip"),
    (b"connection", b"close, X-Hop"),
    (b"x-hop", b"1"),
    (b"transfer-encoding", b"chunked"),
    (b"x-forwarded-proto", b"https"),
    (b"x-transom-session", b"s"),
    (b"accept-encoding", b"br;q=1, compress, gzip"),
    (b"authorization", b"Bearer k"),
    (b"x-twice", b"a"),
    (b"x-twice", b"b"),
]


def test_what_belongs_to_a_connection_stays_on_it() -> None:
    out = to_upstream(SENT, authority="api.example", length=7, encoded=True)
    assert out == [
        (b"host", b"api.example"),
        (b"content-encoding", b"gzip"),
        (b"authorization", b"Bearer k"),
        (b"x-twice", b"a"),
        (b"x-twice", b"b"),
        (b"accept-encoding", b"br;q=1, gzip"),
        (b"content-length", b"7"),
    ]


def test_a_body_that_was_changed_is_sent_plain() -> None:
    names = [name for name, _ in to_upstream(SENT, authority="x", length=7, encoded=False)]
    assert b"content-encoding" not in names


def test_an_answer_keeps_its_own_headers() -> None:
    given = [
        (b"Content-Encoding", b"br"),
        (b"Keep-Alive", b"5"),
        (b"Connection", b"x-own"),
        (b"X-Own", b"1"),
        (b"Set-Cookie", b"a=b"),
    ]
    assert to_client(given) == [(b"content-encoding", b"br"), (b"set-cookie", b"a=b")]


def test_every_way_to_prove_oneself_tells_callers_apart() -> None:
    ways = [
        credential({}, b""),
        credential({b"authorization": b"Bearer a"}, b""),
        credential({b"x-api-key": b"Bearer a"}, b""),
        credential({b"x-goog-api-key": b"a"}, b""),
        credential({}, b"alt=sse&key=a"),
        credential({}, b"key=a%26"),
        credential({}, b"k%65y=b"),
    ]
    assert len({*ways}) == len(ways)
    assert credential({}, b"x=1&" * 500 + b"key=a") == credential({}, b"key=a")


@pytest.mark.parametrize(
    "path, meant",
    [
        ("/v1/messages", Route(family="anthropic", path="/v1/messages", api="anthropic")),
        (
            "/anthropic/v1/messages/count_tokens",
            Route(family="anthropic", path="/v1/messages/count_tokens", api="anthropic", counts=True),
        ),
        ("/v1/messages/batches", Route(family="anthropic", path="/v1/messages/batches")),
        ("/v1/chat/completions", Route(family="openai", path="/v1/chat/completions", api="openai-chat")),
        ("/openai/chat/completions", Route(family="openai", path="/chat/completions", api="openai-chat")),
        ("/v1/responses", Route(family="openai", path="/v1/responses", api="openai-responses")),
        (
            "/v1/responses/input_tokens",
            Route(family="openai", path="/v1/responses/input_tokens", api="openai-responses", counts=True),
        ),
        ("/v1/embeddings", Route(family="openai", path="/v1/embeddings")),
        (
            "/v1beta/models/gemini-3-pro:streamGenerateContent",
            Route(family="gemini", path="/v1beta/models/gemini-3-pro:streamGenerateContent", api="gemini", model="gemini-3-pro"),
        ),
        (
            "/gemini/v1/models/g:countTokens",
            Route(family="gemini", path="/v1/models/g:countTokens", api="gemini", model="g", counts=True),
        ),
        ("/v1beta/models/g:embedContent", Route(family="gemini", path="/v1beta/models/g:embedContent")),
        ("/upload/v1beta/files", Route(family="gemini", path="/upload/v1beta/files")),
        ("/", None),
        ("/favicon.ico", None),
        ("http://evil.example/v1/messages", None),
        ("/openai/v1/../../x", None),
        ("/openai/v1/%2E%2e/x", None),
        ("/openai/v1/..%2fx", None),
    ],
)
def test_a_path_leads_where_it_belongs(path: str, meant: Route | None) -> None:
    assert find("POST", path, {}) == meant


def test_only_a_post_is_planned() -> None:
    assert find("GET", "/v1/responses", {}) == Route(family="openai", path="/v1/responses")
