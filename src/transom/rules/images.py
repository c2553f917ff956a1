"""What a picture costs: four shapes, each with its constants.

The rule of this file: pixels and detail in, tokens out, by integers and exact decimals as the vendor publishes them;
no shape knows a model.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import ClassVar, Protocol, TypeAlias

from transom.frozen import Frozen

Sides: TypeAlias = tuple[int, int]


class ImageRule(Protocol):
    """A shape with its constants. `refuses`: there are pictures that the rule itself refuses."""

    @property
    def refuses(self) -> bool:
        """Whether `refusal` ever says anything."""

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """Tokens of a picture of these stored pixels, each side at least 1."""

    def explain(self, width: int, height: int, detail: str = "") -> str:
        """The same as arithmetic on one line."""

    def refusal(self, width: int, height: int, detail: str = "") -> str:
        """Why the rule itself refuses the picture; "" where it does not."""

    def sent(self, width: int, height: int, detail: str = "") -> Sides:
        """The sides that the provider reduces the picture to."""


class Flat(Frozen, frozen=True, kw_only=True):
    """One price for every picture."""

    price: int
    refuses: ClassVar[bool] = False

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002 - the shape's signature
        """The one price."""
        return self.price

    def explain(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002
        """The one price, in words."""
        return f"{width}x{height}: {self.price:,} tokens for any picture"

    def refusal(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002
        """Nothing is refused."""
        return ""

    def sent(self, width: int, height: int, detail: str = "") -> Sides:  # noqa: ARG002
        """Unchanged."""
        return width, height


class Tiles(Frozen, frozen=True, kw_only=True):
    """OpenAI's tiles: a basis, and a price for each tile of `cell` pixels after fitting `side` and then the short side.

    Source: developers.openai.com, guide images-vision (tile models), 2026-11. `auto` is `high`.
    """

    base: int
    tile: int
    side: int = 2_048
    short: int = 768
    cell: int = 512
    refuses: ClassVar[bool] = False

    def sent(self, width: int, height: int, detail: str = "") -> Sides:
        """Fitted into `side`, then the short side to `short`; never enlarged."""
        if detail == "low":
            return width, height
        scale = min(1.0, self.side / max(width, height))
        w, h = width * scale, height * scale
        if min(w, h) > self.short:
            scale = self.short / min(w, h)
            w, h = w * scale, h * scale
        return max(1, math.floor(w)), max(1, math.floor(h))

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """The basis, plus the tiles unless the detail is low."""
        if detail == "low":
            return self.base
        columns, rows = cells(self.sent(width, height), self.cell)
        return self.base + self.tile * columns * rows

    def explain(self, width: int, height: int, detail: str = "") -> str:
        """As arithmetic."""
        if detail == "low":
            return f"{width}x{height} at low detail: {self.base:,} tokens"
        w, h = self.sent(width, height)
        columns, rows = cells((w, h), self.cell)
        return (
            f"{arrow((width, height), (w, h))}, {self.base:,} + {self.tile:,} x ceil({w}/{self.cell}) x ceil({h}/{self.cell})"
            f" = {self.base:,} + {self.tile:,} x {columns * rows} = {self.tokens(width, height):,} tokens"
        )

    def refusal(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002
        """Nothing is refused."""
        return ""


class Sizing(Frozen, frozen=True, kw_only=True):
    """How a detail reduces a picture: longest side in pixels, most patches, patches above which it is refused. 0: none."""

    side: int = 0
    patches: int = 0
    reject: int = 0


class Patches(Frozen, frozen=True, kw_only=True):
    """OpenAI's 32-pixel patches, multiplied. A detail that the model does not have is `auto`.

    Source: developers.openai.com, guide images-vision (patch models), 2026-11.
    """

    multiplier: Decimal
    details: tuple[tuple[str, Sizing], ...]
    cell: int = 32

    def sizing(self, detail: str) -> Sizing:
        """How this detail reduces a picture."""
        table = dict(self.details)
        return table.get(detail) or table["auto"]

    def sent(self, width: int, height: int, detail: str = "") -> Sides:
        """Fitted into the longest side, then scaled until the patches are within the budget, landing on a whole one."""
        sizing, w, h = self.sizing(detail), width, height
        if sizing.side and max(w, h) > sizing.side:
            scale = sizing.side / max(w, h)
            w, h = max(1, round(w * scale)), max(1, round(h * scale))
        columns, rows = cells((w, h), self.cell)
        if sizing.patches and columns * rows > sizing.patches:
            scale = math.sqrt(self.cell * self.cell * sizing.patches / (w * h))
            across, down = w * scale / self.cell, h * scale / self.cell
            if min(across, down) < 1:  # thinner than a patch: the published arithmetic gives nothing; the budget is the bound
                return (1, sizing.patches * self.cell) if h > w else (sizing.patches * self.cell, 1)
            scale *= min(math.floor(across) / across, math.floor(down) / down)
            w, h = max(1, math.floor(w * scale)), max(1, math.floor(h * scale))
        return w, h

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """The patches that are left, times the multiplier, rounded up."""
        columns, rows = cells(self.sent(width, height, detail), self.cell)
        return math.ceil(columns * rows * self.multiplier)

    def explain(self, width: int, height: int, detail: str = "") -> str:
        """As arithmetic."""
        w, h = self.sent(width, height, detail)
        columns, rows = cells((w, h), self.cell)
        return (
            f"{arrow((width, height), (w, h))}, ceil({w}/{self.cell}) x ceil({h}/{self.cell}) = {columns} x {rows} = "
            f"{columns * rows:,} patches, x {self.multiplier} = {self.tokens(width, height, detail):,} tokens"
        )

    def refusal(self, width: int, height: int, detail: str = "") -> str:
        """Above the limit the provider answers with an error (source: NousResearch/hermes-agent, request 106186)."""
        limit = self.sizing(detail).reject
        columns, rows = cells(self.sent(width, height, detail), self.cell)
        return f"{columns * rows:,} patches after processing, over {limit:,}" if 0 < limit < columns * rows else ""

    @property
    def refuses(self) -> bool:
        """Whether any detail has a limit."""
        return any(sizing.reject for _, sizing in self.details)


class Patch28(Frozen, frozen=True, kw_only=True):
    """Claude's 28-pixel patches: the picture is reduced until its padded sides are within `side` and they within `patches`.

    Rows and columns are filled up to a multiple of `step`. Source: platform.claude.com, vision-coordinates (reference code),
    2026-08-22; the step of Claude 3.5 Haiku is read off bills (docs/pricing.md).
    """

    side: int
    patches: int
    cell: int = 28
    step: int = 1
    refuses: ClassVar[bool] = False

    def fits(self, width: int, height: int) -> bool:
        """Whether a picture of these sides is kept as it is."""
        columns, rows = cells((width, height), self.cell)
        return max(columns, rows) * self.cell <= self.side and columns * rows <= self.patches

    def sent(self, width: int, height: int, detail: str = "") -> Sides:  # noqa: ARG002
        """The largest picture of the same proportions that fits; a small one is never enlarged."""
        if self.fits(width, height):
            return width, height
        if height > width:
            down, across = self.sent(height, width)
            return across, down
        low, high = 1, width
        while low + 1 < high:
            middle = (low + high) // 2
            if self.fits(middle, self.short(middle, width, height)):
                low = middle
            else:
                high = middle
        return low, self.short(low, width, height)

    @staticmethod
    def short(long: int, width: int, height: int) -> int:
        """The short side that goes with `long`; half to even, as in the reference code."""
        return max(round(long / (width / height)), 1)

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """The patches that are left."""
        columns, rows = self.filled(self.sent(width, height))
        return columns * rows

    def filled(self, sides: Sides) -> Sides:
        """Columns and rows of patches, filled up to whole steps."""
        columns, rows = cells(sides, self.cell * self.step)
        return columns * self.step, rows * self.step

    def explain(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002
        """As arithmetic."""
        w, h = self.sent(width, height)
        columns, rows = self.filled((w, h))
        up = f", each up to a multiple of {self.step}" if self.step > 1 else ""
        return (
            f"{arrow((width, height), (w, h))}, ceil({w}/{self.cell}) x ceil({h}/{self.cell}){up} = {columns} x {rows}"
            f" = {columns * rows:,} tokens"
        )

    def refusal(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002
        """Nothing is refused by the rule; the card's limits do."""
        return ""


class Highest(Frozen, frozen=True, kw_only=True):
    """What a model of which nothing is known may cost: the highest of several rules for the very picture."""

    rules: tuple[tuple[str, ImageRule], ...]
    refuses: ClassVar[bool] = False

    def dearest(self, width: int, height: int, detail: str = "") -> tuple[str, ImageRule]:
        """The rule that asks most, and its name."""
        return max(self.rules, key=lambda row: row[1].tokens(width, height, detail))

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """The highest price."""
        return self.dearest(width, height, detail)[1].tokens(width, height, detail)

    def explain(self, width: int, height: int, detail: str = "") -> str:
        """As arithmetic, and whose it is."""
        name, rule = self.dearest(width, height, detail)
        return f"{rule.explain(width, height, detail)} (the highest known rule, {name})"

    def refusal(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002
        """Nothing is refused that may be taken."""
        return ""

    def sent(self, width: int, height: int, detail: str = "") -> Sides:
        """As the dearest rule has it."""
        return self.dearest(width, height, detail)[1].sent(width, height, detail)


def cells(sides: Sides, cell: int) -> Sides:
    """Columns and rows of cells that cover the sides."""
    return -(-sides[0] // cell), -(-sides[1] // cell)


def arrow(before: Sides, after: Sides) -> str:
    """`1920x1080 -> 1456x819`, or the sides alone when nothing is reduced."""
    first = f"{before[0]}x{before[1]}"
    return first if before == after else f"{first} -> {after[0]}x{after[1]}"
