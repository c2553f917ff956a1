"""A process that appends to a session and says each number on its standard output once the call has returned."""

from __future__ import annotations

import sys

import transom


def main(url: str, name: str, who: str, count: int, fits: int) -> None:
    """Append messages up to number `count`, behind what is stored of one's own; make a request after each `fits`-th (0: none)."""
    with transom.Store(url) as store:
        chat = store.session(name, api="anthropic", model="claude-opus-4-8", policy=transom.Policy.sliding(budget=2_000))
        print("ready", flush=True)  # noqa: T201 - that is what it is for
        own = [message for message in chat.messages() if message["content"].startswith(f"{who} ")]
        for number in range(len(own), count):
            role = "assistant" if number % 2 else "user"
            chat.append({"role": role, "content": f"{who} {number} " + "word " * 20})
            print(number, flush=True)  # noqa: T201
            if fits and number % fits == 0:
                try:
                    chat.compile(system="Be short.")
                except transom.StateConflict:
                    continue


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
