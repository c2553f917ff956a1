"""A line of JSON for each exchange, and the live summary on a terminal. Numbers and names of models; never content."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.table import Table

from transom import canon
from transom.proxy.counters import Counters
from transom.proxy.exchange import Exchange

PER_SECOND = 2


class JsonLog:
    """Writes a line for each exchange."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def ended(self, exchange: Exchange) -> None:
        """Write the line. A log that cannot be written is no reason to refuse a request."""
        line = canon.text({"time": round(time.time(), 3), **exchange.to_dict()})
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except (OSError, ValueError):
            return


class Summary:
    """The counters as a table that is drawn again as they change."""

    def __init__(self, counters: Counters, console: Console, title: str) -> None:
        self._counters, self._title = counters, title
        self._live = Live(console=console, get_renderable=self._table, refresh_per_second=PER_SECOND, transient=True)

    def __enter__(self) -> None:
        """Begin to draw."""
        self._live.start()

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        self._live.stop()

    def _table(self) -> Table:
        figures = self._counters.to_dict()
        table = Table(title=self._title, title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column(justify="left")
        table.add_column(justify="right")
        for row in figures["requests"]:
            table.add_row(f"{row['api']} {row['outcome']} {row['status']}", f"{row['count']:,}")
        for line in saved(figures):
            table.add_row(*line)
        for fault, count in figures["faults"].items():
            table.add_row(f"fault: {fault}", f"{count:,}")
        return table


def saved(figures: Mapping[str, int]) -> list[tuple[str, str]]:
    """What was saved, as lines of a name and a figure; nothing of what is 0."""
    lines = {
        "tokens as they came": figures["tokens_in"],
        "tokens not sent": figures["tokens_in"] - figures["tokens_planned"],
        "bytes not sent": figures["bytes_received"] - figures["bytes_sent"],
        "input tokens billed": figures["tokens_billed"],
        "of them from the cache": figures["tokens_cached"],
        "pictures left out": figures["stubs"],
        "messages left out": figures["drops"],
        "texts cut short": figures["cuts"],
        "summaries that stood for messages": figures["folds"],
        "summaries made": figures["summaries_made"],
        "summary tokens billed": figures["summary_tokens_in"] + figures["summary_tokens_out"],
        "cache breaks": figures["cache_breaks"],
        "second tries": figures["retries"],
    }
    return [(name, f"{value:,}") for name, value in lines.items() if value > 0]
