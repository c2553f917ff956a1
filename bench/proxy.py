"""How much the proxy costs, beside the same proxy passing bodies through without looking at them.

    python -m bench.proxy [--seconds 2] [--rounds 3] [--sizes 20000,2000000] [--clients 1,8,64]

A server that answers at once, the proxy in front of it, and the clients are three processes on loopback. Planned requests go to
`/v1/chat/completions` and grow by two messages each, as an agent's do; passed ones are the same bytes at `/v1/embeddings`,
which the proxy streams through. Both are measured in turn, round by round, so that what else the machine does meets both.
The ratio is requests per second planned by requests per second passed; `added` is the difference of the latencies. `cpu` is
the proxy's processor time a request in milliseconds, passed and planned, and the ratio of the two: what requests per second
come to where nothing else wants the processor.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

from bench.material import shot, words
from transom.proxy.app import application
from transom.proxy.serving import bound, server, settle, url_of
from transom.proxy.settings import build

PLANNED, PASSED = "/openai/v1/chat/completions", "/openai/v1/embeddings"
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "so " * 200}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5_000, "completion_tokens": 200, "total_tokens": 5_200},
    }
).encode()


async def provider(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers every request at once."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


def serve(role: str, upstream: str) -> None:
    """One of the servers, in a process of its own; says its URL on the first line."""
    listener = bound("127.0.0.1", 0)
    sys.stdout.write(url_of(listener) + "\n")
    sys.stdout.flush()
    if role == "provider":
        config = uvicorn.Config(
            provider, log_level="critical", lifespan="off", ws="none", access_log=False, timeout_keep_alive=75
        )
        uvicorn.Server(config).run(sockets=[listener])
    else:
        app = application(build({"upstream": {"openai": upstream}}))
        settle()  # as `transom proxy` does
        server(app).run(sockets=[listener])


@contextmanager
def started(role: str, upstream: str = "") -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its URL and process id."""
    command = [sys.executable, "-m", "bench.proxy", "--serve", role, "--upstream", upstream]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - this very file
        if process.stdout is None:
            raise RuntimeError(role)
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def bodies(size: int, count: int, seed: int) -> list[bytes]:
    """Requests of `size` bytes on average: conversations that grow by an answer and a question each, from half of it to half
    as much again, and then begin anew.
    """
    rng = random.Random(seed)
    picture = shot(1280, 800, 150_000)

    def said(role: str) -> dict[str, Any]:
        text = f"{rng.random()}: {words(rng, 52)}"
        if size < 200_000 or role == "assistant":
            return {"role": role, "content": text}
        url = {"url": f"data:image/png;base64,{picture}"}
        return {"role": role, "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": url}]}

    out: list[bytes] = []
    messages: list[dict[str, Any]] = []
    held = 0
    while len(out) < count:
        if held > size * 1.5:
            messages, held = [], 0
        while not messages or held < size / 2:
            messages += [said("user"), said("assistant")]
            held = len(json.dumps(messages))
        messages.append(said("user"))
        out.append(json.dumps({"model": "gpt-4o", "messages": messages}).encode())
        messages.append(said("assistant"))
        held = len(out[-1])
    return out


async def one_client(port: int, path: str, given: list[bytes], until: float, times: list[float]) -> None:
    """Requests one after the other over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.perf_counter() < until:
        body = given[number % len(given)]
        number += 1
        began = time.perf_counter()
        writer.write(
            f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(head)
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - began)
    writer.close()


async def load(port: int, path: str, given: list[list[bytes]], seconds: float) -> list[float]:
    """The latencies of all requests that so many clients made."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(one_client(port, path, own, until, times) for own in given))
    return times


def at(times: list[float], share: float) -> float:
    """A percentile in milliseconds."""
    return 1_000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def spent(process: int) -> float:
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:  # noqa: PTH123 - no path to speak of
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(port: int, process: int, size: int, clients: int, *, seconds: float, rounds: int) -> None:  # noqa: PLR0913 - what is measured
    """Measure one size and number of clients, and print its line."""
    given = [bodies(size, max(60, 1_200 // clients) if size < 200_000 else 8, seed) for seed in range(clients)]
    asyncio.run(load(port, PLANNED, given, min(1.0, seconds)))
    asyncio.run(load(port, PASSED, given, min(1.0, seconds)))
    ratios: list[float] = []
    planned: list[float] = []
    passed: list[float] = []
    cpu = [0.0, 0.0]
    for _ in range(rounds):
        before = spent(process)
        through = asyncio.run(load(port, PASSED, given, seconds))
        between = spent(process)
        looked = asyncio.run(load(port, PLANNED, given, seconds))
        cpu = [cpu[0] + between - before, cpu[1] + spent(process) - between]
        ratios.append(len(looked) / len(through))
        planned += looked
        passed += through
    rate = [len(times) / (rounds * seconds) for times in (planned, passed)]
    print(
        f"{size:>9,} {clients:>7} {rate[1]:>9.0f} {rate[0]:>9.0f} {statistics.median(ratios):>6.2f} {min(ratios):>6.2f} "
        f"{at(planned, 0.5) - at(passed, 0.5):>9.2f} {at(planned, 0.99) - at(passed, 0.99):>9.2f} "
        f"{1_000 * cpu[0] / len(passed):>7.2f} {1_000 * cpu[1] / len(planned):>7.2f} "
        f"{(cpu[0] / len(passed)) / (cpu[1] / len(planned)):>6.2f}",
        flush=True,
    )


def resident(process: int) -> float:
    """MiB of memory that a process holds; 0 where the system does not say."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:  # noqa: PTH123 - no path to speak of
            return int(file.read().split()[1]) * 4_096 / 2**20
    except OSError:
        return 0.0


def main() -> None:
    """Measure every size with every number of clients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", default="20000,2000000")
    parser.add_argument("--clients", default="1,8,64")
    parser.add_argument("--requests", type=int, default=0, help="then so many requests more, to see that memory stays flat")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--upstream", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.upstream)
        return
    with started("provider") as (direct, _), started("proxy", direct) as (url, process):
        port = int(url.rpartition(":")[2])
        print(
            f"{'bytes':>9} {'clients':>7} {'passed/s':>9} {'planned/s':>9} {'ratio':>6} {'worst':>6} "
            f"{'added p50':>9} {'p99 ms':>9} {'cpu':>7} {'cpu':>7} {'ratio':>6}"
        )
        for size in map(int, given.sizes.split(",")):
            for clients in map(int, given.clients.split(",")):
                row(port, process, size, clients, seconds=given.seconds, rounds=given.rounds)
        done = 0
        while done < given.requests:
            fresh = [bodies(20_000, 200, random.randrange(10**9)) for _ in range(8)]
            done += len(asyncio.run(load(port, PLANNED, fresh, 15.0)))
            print(f"{done:>9,} requests more, {resident(process):.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
