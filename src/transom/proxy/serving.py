"""The server: a socket that is bound before anything else, so that a port that is taken is one sentence, and uvicorn on it.

uvicorn with h11, which bounds a request's head, in time too (`heads`); no header of a client's proxy is believed, and none of
uvicorn's own is added, so that an answer's headers are the upstream's.
"""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from transom.errors import BadSetting
from transom.proxy.heads import Protocol

BACKLOG = 512
HEAD = 60.0
"""Seconds that a request's head may take, where nobody says otherwise."""
LEAVING = 5
"""Seconds that open requests have when the proxy is told to end."""


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at `host` and `port`; 0 is any free port. Raises BadSetting where it cannot be had."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, since asyncio sends small writes at once only on sockets that name it: without it each answer in
    # two pieces, and each piece of a stream, waits some 40 ms for the client to acknowledge the one before.
    found = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        raise BadSetting(f"the proxy cannot listen at {host}:{port} ({error.strerror}); give another --listen") from error
    return found


def url_of(listener: socket.socket) -> str:
    """The URL of a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(app: ASGIApp, *, head: float = HEAD) -> uvicorn.Server:
    """A server for an application; `head` is how many seconds a request's head may take."""
    config = uvicorn.Config(
        app,
        http=type("Limited", (Protocol,), {"seconds": head}),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=LEAVING,
    )
    return uvicorn.Server(config)


def settle() -> None:
    """For a process that does nothing but serve: leave what is loaded by now out of the collector's searches. Modules and tables
    live as long as the process, so that looking through them again finds nothing.
    """
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def running(app: ASGIApp, listener: socket.socket, *, head: float = HEAD) -> Iterator[str]:
    """Serve an application in a thread as long as the block lasts; yields its URL. `head` as `server` says."""
    one = server(app, head=head)
    thread = threading.Thread(target=one.run, kwargs={"sockets": [listener]}, name="transom-proxy", daemon=True)
    thread.start()
    try:
        yield url_of(listener)
    finally:
        one.should_exit = True
        thread.join(LEAVING + 5)
        listener.close()
