"""Many clients of several tenants through the proxy, with faults injected: is anything lost, crossed, or kept?

    python -m bench.soak [--minutes 10] [--clients 16] [--tenants 4] [--seed 1]

A provider and `transom proxy` are processes of their own on loopback. Each conversation grows with words and pictures over its
budget; summaries are on. Every word that a client writes names its tenant and conversation, so the provider sees at once whether
a request holds anything of somebody else, and the client whether an answer does. A client chooses what shall go wrong with its
next request: the provider refuses (429, 500, an overflow, 413), is slow, closes the connection, breaks off a stream, or answers
compressed; the client sends what is no JSON, stops in its body, or leaves before or in the middle of the answer.

A refusal as too large is tried again, smaller; where the newest turn alone is too large, it is passed on. Lost: an answer that is
not the one that this fault leads to, or none within a minute. Crossed: a word of another tenant or conversation, in a request or
an answer. At the end the proxy's own count must be that of the clients, and it holds no connection.
Exits with 1 where anything of this is not so.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

from bench.material import shot

MARK = re.compile(r"mark-(\d+)-(\d+)-")
SUMMARY = "summary-model"
PATH = "/openai/v1/chat/completions"
WHOLE = {"": 200, "429": 429, "500": 500, "overflow": 200, "413": 200, "reset": 502, "slow": 200, "gzip": 200, "garbage": 400}
"""What a client asks to go wrong with an answer that is no stream, and the status that it must see."""
STREAMED = ("", "broken", "leave")
PATIENCE = 60.0
LAST = {"authorization": "Bearer key-0", "x-talk": "0", "x-number": "0"}
OVERFLOW = "This model's maximum context length is 3000 tokens. However, your messages resulted in 9000 tokens."
Json = dict[str, Any]


# ------------------------------------------------------------------------------------------------------------- provider


class Provider:
    """Speaks enough of chat completions; says 599 where a request holds a word of another tenant."""

    def __init__(self) -> None:
        self.refused: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                headers = {name.lower(): value for name, _, value in (row.partition(": ") for row in head.split("\r\n")[1:])}
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                if not await self.answer(headers, raw, writer):
                    break
        writer.close()

    def first(self, name: str) -> bool:
        """Whether a request came for the first time; only the newest thousand are remembered."""
        self.refused[name] += 1
        if len(self.refused) > 1_000:
            del self.refused[next(iter(self.refused))]
        return self.refused[name] == 1

    async def answer(  # noqa: PLR0911 - one for each fault
        self, headers: dict[str, str], raw: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer a request; False where the connection ends."""
        body, tenant, fault = json.loads(raw), headers["authorization"].removeprefix("Bearer key-"), headers.get("x-fault", "")
        marks = set(MARK.findall(raw.decode()))
        mine = f"{tenant}-{headers.get('x-talk', '')}"
        if body["model"] == SUMMARY:
            whose = [f"mark-{'-'.join(mark)}-" for mark in marks]  # none where a long text was split
            crossed = len(marks) > 1 or not all(one.startswith(f"mark-{tenant}-") for one in whose)
            return send(writer, 599 if crossed else 200, said(f"{''.join(whose)}summed up"))
        if any("-".join(mark) != mine for mark in marks):
            return send(writer, 599, {"error": {"message": "crossed"}})
        words = f"mark-{mine}-answer {headers['x-number']}"
        if fault in ("overflow", "413") and self.first(f"{mine}-{headers['x-number']}"):
            return send(writer, 400 if fault == "overflow" else 413, {"error": {"message": OVERFLOW}})
        if fault in ("429", "500"):
            return send(writer, int(fault), {"error": {"message": "as you asked"}})
        if fault == "reset":
            return False
        if fault in ("slow", "wait"):
            await asyncio.sleep(0.3)
        if body.get("stream"):
            return await stream(writer, words, fault)
        return send(writer, 200, said(words), packed=fault == "gzip")


def said(words: str) -> Json:
    """An answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 9}}


def send(writer: asyncio.StreamWriter, status: int, body: Json, *, packed: bool = False) -> bool:
    """Write a whole answer."""
    raw = json.dumps(body).encode()
    raw, coding = (gzip.compress(raw, 1), "content-encoding: gzip\r\n") if packed else (raw, "")
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{coding}content-length: {len(raw)}\r\n\r\n"
    writer.write(head.encode() + raw)
    return True


async def stream(writer: asyncio.StreamWriter, words: str, fault: str) -> bool:
    """Write a stream, chunk by chunk, as far as the fault lets it come."""
    writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for number, word in enumerate(words.split("-")):
        if fault == "broken" and number == 2:
            return False
        event = f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await writer.drain()
        await asyncio.sleep(0.01 if fault == "leave" else 0)
    writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
    return True


async def provide() -> None:
    """Serve until the process ends; says the port."""
    served = await asyncio.start_server(Provider().serve, "127.0.0.1", 0, limit=2**24)
    sys.stderr.write(f"port {served.sockets[0].getsockname()[1]}\n")
    sys.stderr.flush()
    await served.serve_forever()


# --------------------------------------------------------------------------------------------------------------- clients


class Soak:
    """What all clients share: what was seen, and what must not have been."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.random = url, random.Random(seed)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.times: list[float] = []
        self.shot = shot(512, 512, 3_000)

    async def client(self, tenant: int, number: int, until: float) -> None:
        """One client: conversations one after the other, each with a name of its own."""
        talk = 0
        async with httpx2.AsyncClient(base_url=self.url, timeout=PATIENCE, trust_env=False) as client:
            while time.monotonic() < until:
                talk += 1
                await self.talk(client, tenant, number * 1_000_000 + talk, until)

    async def talk(self, client: httpx2.AsyncClient, tenant: int, talk: int, until: float) -> None:
        """A conversation that grows over its budget."""
        messages: list[Json] = []
        for turn in range(self.random.randint(4, 30)):
            if time.monotonic() > until:
                return
            words = f"mark-{tenant}-{talk}-question {turn} " + "so many words " * self.random.randint(5, 120)
            content: Any = words
            if self.random.random() < 0.3:
                url = {"url": f"data:image/png;base64,{self.shot}"}
                content = [{"type": "text", "text": words}, {"type": "image_url", "image_url": url}]
            messages.append({"role": "user", "content": content})
            headers = {"authorization": f"Bearer key-{tenant}", "x-talk": str(talk), "x-number": str(turn)}
            began = time.perf_counter()
            try:
                await self.turn(client, {"model": "gpt-4o", "messages": messages}, headers, f"mark-{tenant}-{talk}-answer {turn}")
            except Exception as error:  # noqa: BLE001 - whatever else comes is a loss, and is told
                self.wrong.append(f"lost: {error!r}")
            self.times.append(time.perf_counter() - began)
            messages.append({"role": "assistant", "content": f"mark-{tenant}-{talk}-answer {turn}"})

    async def turn(self, client: httpx2.AsyncClient, body: Json, headers: dict[str, str], expected: str) -> None:
        """One request with something that goes wrong, or nothing."""
        kind = self.random.choice(["whole", "stream", "give up"] if self.random.random() < 0.9 else ["stall"])
        if kind == "whole":
            await self.whole(client, body, headers, expected)
        elif kind == "stream":
            await self.streamed(client, body, headers, expected)
        else:
            await self.given_up(client, body, headers, stalls=kind == "stall")

    async def whole(self, client: httpx2.AsyncClient, body: Json, headers: dict[str, str], expected: str) -> None:
        """A request for a whole answer."""
        fault = self.random.choice(["", "", "", *WHOLE])
        raw = json.dumps(body).encode()
        answer = await client.post(PATH, content=raw[:-9] if fault == "garbage" else raw, headers={**headers, "x-fault": fault})
        refused = fault in ("overflow", "413") and answer.status_code != 200 and OVERFLOW in answer.text
        self.done[f"whole {fault} {'passed on' if refused else ''}".strip()] += 1
        if answer.status_code != WHOLE[fault] and not refused:
            self.wrong.append(f"{fault or 'no fault'}: {answer.status_code} {answer.text[:200]}")
        elif answer.status_code == 200 and answer.json()["choices"][0]["message"]["content"] != expected:
            self.wrong.append(f"crossed: {answer.text[:200]} is not {expected}")

    async def streamed(self, client: httpx2.AsyncClient, body: Json, headers: dict[str, str], expected: str) -> None:
        """A request for a stream."""
        fault = self.random.choice(["", *STREAMED])
        self.done[f"stream {fault}".strip()] += 1
        words: list[str] = []
        ended = False
        with suppress(httpx2.RemoteProtocolError):
            async with client.stream(
                "POST", PATH, json={**body, "stream": True}, headers={**headers, "x-fault": fault}
            ) as answer:
                async for line in answer.aiter_lines():
                    ended = ended or line == "data: [DONE]"
                    if line.startswith("data: {"):
                        words.append(json.loads(line[6:])["choices"][0]["delta"]["content"])
                        if fault == "leave":
                            return
        if ended == (fault == "broken") or (ended and "-".join(words) != expected):
            self.wrong.append(
                f"stream {fault or 'without fault'}: {'whole' if ended else 'cut'}, {'-'.join(words)!r} for {expected!r}"
            )

    async def given_up(self, client: httpx2.AsyncClient, body: Json, headers: dict[str, str], *, stalls: bool) -> None:
        """A request that its client leaves: before the answer, or in the middle of its own body."""
        self.done["stalled body" if stalls else "gave up"] += 1
        raw = json.dumps(body).encode()

        async def part() -> AsyncIterator[bytes]:
            yield raw[: len(raw) // 2]
            await asyncio.sleep(PATIENCE)

        with suppress(httpx2.TransportError, TimeoutError):
            async with asyncio.timeout(0.1):
                await client.post(PATH, content=part() if stalls else raw, headers={**headers, "x-fault": "wait"})


# ------------------------------------------------------------------------------------------------------------- processes


@contextmanager
def started(*command: str, sign: str) -> Iterator[tuple[str, int]]:
    """A process, once it says `sign` on standard error: what it says behind it, and its id."""
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - this file, and the command that is measured
        if process.stderr is None:
            raise RuntimeError(command)
        try:
            yield next(line.partition(sign)[2].strip() for line in process.stderr if sign in line), process.pid
        finally:
            process.terminate()


def proxy(port: str) -> tuple[str, ...]:
    """The command that is measured: a small budget, few pictures, and summaries."""
    at = ("--upstream", f"openai=http://127.0.0.1:{port}/v1", "--listen", "127.0.0.1:0", "--log", "none")
    policy = ("--budget", "3000", "--max-images", "4", "--set", "chunk_tokens=400", "--set", "recent_tokens=600")
    return ("-m", "transom", "proxy", *at, *policy, "--fold", "--summary-model", SUMMARY)


def held(process: int) -> tuple[float, int]:
    """MiB of memory and open files of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4_096 / 2**20, len(list(Path(f"/proc/{process}/fd").iterdir()))


async def soak(url: str, process: int, given: argparse.Namespace) -> Soak:
    """Let all clients run, and tell each minute how it stands."""
    one = Soak(url, given.seed)
    until = time.monotonic() + 60 * given.minutes
    clients = [asyncio.ensure_future(one.client(number % given.tenants, number, until)) for number in range(given.clients)]
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(60, left))
        memory, files = held(process)
        print(f"{sum(one.done.values()):>8,} requests, {len(one.wrong)} wrong, {memory:.0f} MiB, {files} files", flush=True)
    await asyncio.gather(*clients)
    return one


def told(one: Soak, url: str, process: int, before: int) -> int:
    """Say what came of it; 1 where anything is not as it must be."""
    time.sleep(6)  # an idle connection to the provider is kept for three seconds, and closed at the next request
    last = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Bye"}]}
    httpx2.post(url + PATH, json=last, headers=LAST, trust_env=False, timeout=PATIENCE)
    status = httpx2.get(f"{url}/transom/status", trust_env=False, timeout=PATIENCE).json()
    counted = sum(row["count"] for row in status["requests"])
    sent = sum(one.done.values()) + 1
    files = held(process)[1]
    for name, count in sorted(one.done.items()):
        print(f"{count:>8,} {name}")
    times = sorted(one.times)
    print(f"{sent:,} requests, {counted:,} counted by the proxy; {files} files open, {before} before")
    print(f"seconds a request: p50 {times[len(times) // 2]:.3f}, p99 {times[len(times) * 99 // 100]:.3f}, most {times[-1]:.3f}")
    print(json.dumps({name: value for name, value in status.items() if name not in ("upstreams", "version")}, indent=1))
    for line in one.wrong[:20]:
        print(line)
    # A client that left before the proxy read its request line was never there.
    unseen = one.done["gave up"] + one.done["stalled body"]
    good = not one.wrong and sent - unseen <= counted <= sent and files <= before + 2
    print("nothing lost, nothing crossed" if good else f"{len(one.wrong)} wrong")
    return 0 if good else 1


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(provide())
        return 0
    with (
        started("-m", "bench.soak", "--serve", sign="port ") as (port, _),
        started(*proxy(port), sign="proxy at ") as (said, process),
    ):
        url = said.partition(",")[0]
        httpx2.get(f"{url}/transom/health", trust_env=False, timeout=PATIENCE)
        before = held(process)[1]
        return told(asyncio.run(soak(url, process, given)), url, process, before)


if __name__ == "__main__":
    sys.exit(main())
