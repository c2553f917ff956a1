"""What a picture costs at the other families: cells and tiles after a reduction of their own, or one price.

The rule of this file: as in `images`: pixels in, tokens out, no shape knows a model. Sources: docs/pricing.md; the shapes of
open models are those of the image processors in transformers 5.24 and mistral-common 1.13.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import ClassVar, TypeAlias

from transom.frozen import Frozen

Sides: TypeAlias = tuple[int, int]


class Grid(Frozen, frozen=True, kw_only=True):
    """A shape that refuses nothing and whose arithmetic is one figure."""

    refuses: ClassVar[bool] = False

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """Tokens of a picture of these stored pixels, each side at least 1."""
        raise NotImplementedError

    def explain(self, width: int, height: int, detail: str = "") -> str:
        """In words."""
        return f"{width}x{height}: {self.tokens(width, height, detail):,} tokens"

    def refusal(self, width: int, height: int, detail: str = "") -> str:  # noqa: ARG002 - the shape's signature
        """Nothing is refused."""
        return ""

    def sent(self, width: int, height: int, detail: str = "") -> Sides:  # noqa: ARG002
        """Unchanged: what the provider reduces a picture to is no size that a caller could send instead at the same price."""
        return width, height


class Fixed(Grid, frozen=True, kw_only=True):
    """One price for every picture, and what it says of it is a rule."""

    price: int

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """The one price."""
        return self.price


class Area(Grid, frozen=True, kw_only=True):
    """A basis and a token for each `pixels` of the area."""

    base: int
    pixels: int

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """The basis and the area's share."""
        return self.base + round(width * height / self.pixels)


class Cells(Grid, frozen=True, kw_only=True):
    """Cells of `cell` pixels after reduction to `side` (0: none), at most `most` (0: no bound), a row end each where `ends`."""

    cell: int
    side: int = 0
    ends: bool = False
    extra: int = 0

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """Rows times columns."""
        scale = max(width, height) / self.side if self.side else 1
        if scale > 1:
            width, height = max(round(width / scale), 1), max(round(height / scale), 1)
        columns, rows = -(-width // self.cell), -(-height // self.cell)
        return (columns + self.ends) * rows + self.extra


class Smart(Grid, frozen=True, kw_only=True):
    """`smart_resize` of Qwen and of those that took it over: sides to whole cells, the area between `least` and `most` pixels."""

    cell: int
    least: int
    most: int
    extra: int = 0

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """Cells of what is left; a picture is never less than one."""
        w, h = (max(round(side / self.cell), 1) * self.cell for side in (width, height))
        if w * h > self.most:
            w, h = self.scaled(width, height, math.sqrt(width * height / self.most), math.floor)
        elif w * h < self.least:
            w, h = self.scaled(width, height, 1 / math.sqrt(self.least / (width * height)), math.ceil)
        return w // self.cell * (h // self.cell) + self.extra

    def scaled(self, width: int, height: int, by: float, whole: Callable[[float], int]) -> Sides:
        """Both sides divided, to whole cells."""
        w, h = (max(self.cell, whole(side / by / self.cell) * self.cell) for side in (width, height))
        return w, h


class Budget(Grid, frozen=True, kw_only=True):
    """Gemini 3 and Gemma 4: as many cells as the budget of the resolution holds in the picture's proportions, whatever its size.

    Source: docs/pricing.md (Gemma 4's processor; measured 1,089, 1,100 and 1,064).
    """

    low: int = 280
    medium: int = 560
    high: int = 1_120
    ultra: int = 2_240

    def cells(self, detail: str) -> int:
        """The budget; what is not said is high."""
        return {"low": self.low, "medium": self.medium, "ultra_high": self.ultra}.get(detail, self.high)

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """Rows times columns; a side that rounds to nothing is one, and the other takes the budget."""
        budget = self.cells(detail)
        columns, rows = math.isqrt(budget * width // height), math.isqrt(budget * height // width)
        return min(budget, max(columns, 1) * max(rows, 1))


class ShortTiles(Grid, frozen=True, kw_only=True):
    """Gemini 2: one `price` up to `small` pixels a side, else one for each tile of two thirds of the short side and `whole` more.

    Source: docs/pricing.md (the tile's size: third-party copies of an earlier guide; as billed on Vertex).
    """

    price: int = 258
    small: int = 384
    least: int = 256
    most: int = 768
    whole: int = 1

    def tokens(self, width: int, height: int, detail: str = "") -> int:
        """The tiles and the whole."""
        if detail == "low":
            return 64
        if max(width, height) <= self.small:
            return self.price
        unit = min(self.most, max(self.least, int(min(width, height) / 1.5)))
        return self.price * (-(-width // unit) * -(-height // unit) + self.whole)


class Canvas(Grid, frozen=True, kw_only=True):
    """The canvas of at most `tiles` tiles that needs the least enlarging, or the least reducing where none is large enough.

    `tile` tokens each, `whole` for the small copy of all where there are several, `seams` for the separators between.
    """

    side: int
    tiles: int
    tile: int
    whole: int
    base: int
    seams: bool = False

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """All tiles, and what goes with several."""
        columns, rows = self.canvas(width, height)
        if columns * rows == 1:
            return self.base + self.tile
        return self.base + self.whole + self.tile * columns * rows + (rows * columns if self.seams else 0)

    def canvas(self, width: int, height: int) -> Sides:
        """Columns and rows."""
        best = max(self.scales(width, height))[-2:]
        return -best[0], -best[1]

    def scales(self, width: int, height: int) -> Iterator[tuple[bool, float, int, int, int]]:
        """Each canvas, the better the higher: large enough, then the nearest scale, then the smaller area."""
        for columns in range(1, self.tiles + 1):
            for rows in range(1, self.tiles // columns + 1):
                scale = min(columns * self.side / width, rows * self.side / height)
                yield scale >= 1, -scale if scale >= 1 else scale, -columns * rows, -columns, -rows


class Capped(Grid, frozen=True, kw_only=True):
    """`price` a tile of `cell` pixels, at most `tiles`, and one for the whole (xAI's earlier guide)."""

    price: int
    cell: int
    tiles: int

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """Tiles and the whole."""
        return self.price * (min(self.tiles, -(-width // self.cell) * -(-height // self.cell)) + 1)


class Padded(Grid, frozen=True, kw_only=True):
    """Kimi's: patches of `cell` / 2 pixels, at most `patches` and `row` a side, never enlarged, padded up to whole cells."""

    cell: int
    patches: int
    row: int

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """Cells of what is left."""
        patch = self.cell // 2
        held = max(1, width // patch) * max(1, height // patch)
        scale = min(1.0, math.sqrt(self.patches / held), self.row * patch / width, self.row * patch / height)
        w, h = max(1, int(width * scale)), max(1, int(height * scale))
        return -(-w // self.cell) * -(-h // self.cell)


class Rows(Grid, frozen=True, kw_only=True):
    """DeepSeek V4.1: cells of three 14-pixel patches with an end for each row, at most `most`; small pictures are enlarged.

    Source: crate deepseek-recipe-core 0.1.0, `token_spec.rs`.
    """

    cell: int = 42
    patch: int = 14
    area: int = 544 * 544
    most: int = 1_024

    def tokens(self, width: int, height: int, detail: str = "") -> int:  # noqa: ARG002
        """Repeated until the sides no longer change."""
        sides = width, height
        while True:
            fitted = self.fitted(*sides)
            if fitted == sides:
                return self.count(*fitted)
            sides = fitted

    def fitted(self, w: int, h: int) -> Sides:
        """One round of it."""
        if w * h < self.area:
            scale = math.sqrt(self.area / (w * h))
            w, h = max(1, int(w * scale)), max(1, int(h * scale))
        fitted = self.patches(w), self.patches(h)
        if self.count(*fitted) <= self.most:
            return fitted
        across, down = self.bound(h / w)
        scale = min(across * self.cell / w, down * self.cell / h)
        return max(self.patch, int(w * scale / self.patch) * self.patch), max(
            self.patch, int(h * scale / self.patch) * self.patch
        )

    def patches(self, side: int) -> int:
        """A side in whole patches."""
        return -(-side // self.patch) * self.patch

    def bound(self, ratio: float) -> Sides:
        """The most columns and rows in these proportions."""
        across = math.sqrt((self.most - 2) / ratio + 0.25) - 0.5
        down = across * ratio
        if across < 1:
            return 1, (self.most - 2) // 2
        return (self.most - 3, 1) if down < 1 else (int(across), int(down))

    def count(self, w: int, h: int) -> int:
        """Rows with their ends, and two around."""
        columns, rows = -(-w // self.cell), -(-h // self.cell)
        return rows * (columns + 1) + 2
