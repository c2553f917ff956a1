"""How long a fit takes, beside parsing the body and beside langchain-core's `trim_messages`.

    python -m bench.fit [--most 10000] [--repeat 5]

Conversations of 100, 1,000 and 10,000 messages of about 300 characters; every tenth is a picture of 200 KB. Cold is a fit that
has nothing to remember; warm is the same conversation with one more turn and the state of the call before. Times are medians.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import transom
from bench.material import shot, words

BUDGET = 20_000
SHOT = shot(1280, 800, 150_000)


def conversation(count: int, *, pictures: bool) -> dict[str, Any]:
    """An OpenAI body of `count` messages; its text never repeats."""
    rng = random.Random(count)
    messages: list[dict[str, Any]] = []
    for n in range(count):
        said = f"{n}: {words(rng, 52)}"
        if n % 2:
            messages.append({"role": "assistant", "content": said})
        elif pictures and n % 10 == 0:
            url = {"url": f"data:image/png;base64,{SHOT}"}
            messages.append(
                {"role": "user", "content": [{"type": "text", "text": said}, {"type": "image_url", "image_url": url}]}
            )
        else:
            messages.append({"role": "user", "content": said})
    return {"model": "gpt-4o", "messages": [*messages, {"role": "user", "content": "And now?"}]}


def grown(body: dict[str, Any]) -> dict[str, Any]:
    """The conversation one turn later."""
    more = [{"role": "assistant", "content": "This, and no more."}, {"role": "user", "content": "And then?"}]
    return {**body, "messages": [*body["messages"], *more]}


def median(work: Callable[[], object], repeat: int) -> float:
    """Median milliseconds of `work`."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(1_000 * (time.perf_counter() - started))
    return statistics.median(times)


def trimmer(body: dict[str, Any]) -> Callable[[], object] | None:
    """The same with langchain-core, as its documentation has it; None where it is not installed."""
    try:
        from langchain_core.messages import trim_messages  # noqa: PLC0415 - an extra, only beside this bench
    except ImportError:
        return None
    return lambda: trim_messages(
        body["messages"],
        max_tokens=BUDGET,
        strategy="last",
        token_counter="approximate",  # noqa: S106 - no secret
        start_on="human",
        include_system=True,
    )


def row(count: int, *, pictures: bool, repeat: int) -> None:
    """Measure one size and print its line."""
    body = conversation(count, pictures=pictures)
    text = json.dumps(body)
    parse = median(lambda: json.loads(text), repeat)
    cold = median(lambda: transom.fit(body, api="openai-chat", budget=BUDGET), repeat)
    state = transom.fit(body, api="openai-chat", budget=BUDGET).state
    later = grown(body)
    warm = median(lambda: transom.fit(later, api="openai-chat", budget=BUDGET, state=state), repeat)
    trim = trimmer(body)
    beside = median(trim, repeat) if trim else float("nan")
    kind = "with pictures" if pictures else "text"
    print(
        f"{count:>7,} {kind:<14} {cold:>9.2f} {1_000 * cold / count:>8.1f} {warm:>9.2f} {parse:>9.2f} {cold / parse:>7.1f} "
        f"{beside:>9.2f} {cold / beside:>7.1f}",
        flush=True,
    )


def profile(count: int) -> None:
    """Where the time of a cold fit goes: the five functions that took most of their own."""
    body = conversation(count, pictures=True)
    profiler = cProfile.Profile()
    profiler.runcall(transom.fit, body, api="openai-chat", budget=BUDGET)
    stats = pstats.Stats(profiler)
    total: float = stats.total_tt  # type: ignore[attr-defined]  # not in the stubs
    rows: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = stats.stats  # type: ignore[attr-defined]  # same
    print(f"\nthe five that took most of a cold fit of {count:,} messages with pictures:")
    for (file, line, name), (_, calls, own, _, _) in sorted(rows.items(), key=lambda item: -item[1][2])[:5]:
        where = f"{file.rpartition('/')[2]}:{line}" if line else "built in"
        print(f"  {own / total:>5.0%}  {calls:>8,} calls  {name} ({where})")


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    print(f"{'':>22} {'cold ms':>9} {'us/msg':>8} {'warm ms':>9} {'parse ms':>9} {'ratio':>7} {'trim ms':>9} {'ratio':>7}")
    for count in (100, 1_000, 10_000):
        for pictures in (False, True):
            if count <= given.most:
                row(count, pictures=pictures, repeat=given.repeat)
    profile(min(1_000, given.most))


if __name__ == "__main__":
    main()
