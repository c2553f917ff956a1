"""Checks of transom against folders of data: cases, prices, usage, transcripts.

Each kind is a module with `run(folder, every=..., everything=...)`, which yields a Check for every claim that it looked at.
Nothing here knows a file by name: any folder with the same layout can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One claim and how it came out: `ok` is None where it was left, for the reason that `says` gives."""

    name: str
    ok: bool | None
    says: str = ""

    def __str__(self) -> str:
        """The check on one line."""
        word = {True: "ok", False: "FAILED", None: "left"}[self.ok]
        return f"{word:<7} {self.name}{f': {self.says}' if self.says else ''}"
