"""What a contraction computes, and how its work is cut: registers, tiles of rows, blocks, panels, blocks of k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import Attribute

from cuvil.codegen.access import StridedOperand
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import max_rows
from cuvil.codegen.packing import PackedOperand, accumulator_type, choose_panel, element_bits
from cuvil.codegen.work_items import divides

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_MAX_BLOCK_TILES = 32
_ENOUGH_SUMS = 16
"""Registers of sums that keep the multipliers busy and loads fewer than multiply-adds; more gain nothing."""


@dataclass(frozen=True)
class ContractionSpec:
    """The extents and types of a contraction; `threads` is a hint for how finely to cut the work."""

    batch: tuple[Index, ...]
    m: Index
    n: Index
    k: Index
    element_type: Attribute
    accumulator_type: Attribute
    threads: int = 1

    @staticmethod
    def of(
        batch: tuple[Index, ...], m: Index, n: Index, k: Index, element_type: Attribute, threads: int = 1
    ) -> ContractionSpec:
        """A contraction that sums in the type usual for `element_type`."""
        return ContractionSpec(batch, m, n, k, element_type, accumulator_type(element_type), threads)


@dataclass(frozen=True)
class RowTiles:
    """How m rows are cut: `tall` tiles of `rows`, then tiles of rows - 1 (m a number), or one tile of what is left.

    The latter, where m is known only when the kernel runs, may have fewer rows than its code sums: another pass over
    the panel would cost more than the products of rows that are not there.
    """

    m: Index
    rows: int
    tall: Index
    count: Index

    @staticmethod
    def cut(b: LoopBuilder, m: Index, least: int, most: int) -> RowTiles:
        """Equal tiles of `least` rows or more if m divides so, for code emitted once; else as few tiles as can be."""
        if not isinstance(m, int):
            rows = most if most < 8 else 1 << most.bit_length() - 1
            count = b.div(m, rows) if divides(b, rows, m) else b.ceil_div(m, rows)
            return RowTiles(m, rows, b.div(m, rows), count)
        even = [rows for rows in range(min(least, most), most + 1) if m % rows == 0]
        count = m // even[-1] if even else -(-m // most)
        rows, longer = -(-m // count), m % count
        return RowTiles(m, rows, longer or count, count)

    def start(self, b: LoopBuilder, tile: Index) -> Index:
        """The first row of a tile; m for `count`."""
        if isinstance(self.m, int) and self.tall == self.count:
            return b.mul(tile, self.rows)
        if isinstance(self.m, int):
            return b.add(b.mul(tile, self.rows - 1), b.min(tile, self.tall))
        return b.min(b.mul(tile, self.rows), self.m)

    def each(self, b: LoopBuilder, first: Index, last: Index, body: TileBody) -> None:
        """body(rows, first row, rows that exist) for tiles first <= tile < last; emitted once for each height."""
        if self.count == 1 and isinstance(self.m, int):
            body(self.m, 0, self.m)
            return
        with b.for_(first, last if self.tall == self.count else b.min(last, self.tall)) as tile:
            body(self.rows, b.mul(tile.index, self.rows), self.rows)
        if self.tall == self.count:
            return
        if isinstance(self.m, int):
            with b.for_(b.max(first, self.tall), last) as tile:
                body(self.rows - 1, b.add(b.mul(tile.index, self.rows - 1), self.tall), self.rows - 1)
            return
        with b.if_(b.compare_index("sgt", last, self.tall)):
            row = b.mul(self.tall, self.rows)
            _last_tile(b, row, b.sub(self.m, row), _last_heights(self.rows), body)


TileBody: TypeAlias = Callable[[int, Index, Index], None]
"""Takes a tile's height, its first row, and how many of its rows exist (the height, or fewer)."""


def _last_heights(rows: int) -> list[int]:
    """The heights that a last tile of fewer than `rows` rows may have: powers of two, then `rows`."""
    powers = [1 << power for power in range((rows - 1).bit_length())]
    return powers if powers and powers[-1] == rows - 1 else [*powers, rows]


def _last_tile(b: LoopBuilder, row: Index, left: Index, heights: list[int], body: TileBody) -> None:
    """The lowest tile that `left` rows, of which there is one at least, fit in."""
    height, *others = heights
    if not others:
        body(height, row, left)
        return
    with b.if_else(b.compare_index("sle", left, height)) as (fits, higher):
        with fits:
            body(height, row, left if height > 2 else height)
        with higher:
            _last_tile(b, row, left, others, body)


@dataclass(frozen=True)
class Schedule:
    """The sizes that the emitter works with."""

    lanes: int
    vectors: int
    tiles: RowTiles
    block_tiles: Index
    most_block_tiles: int
    blocks: Index
    panels: Index
    k_block: int | None
    """None: all of k at once."""
    packs: bool

    @property
    def panel(self) -> int:
        """Columns of a panel."""
        return self.lanes * self.vectors


def choose_schedule(
    b: LoopBuilder, target: CpuTarget, spec: ContractionSpec, rhs: StridedOperand | PackedOperand
) -> Schedule:
    """Cut the work for the target's registers and caches, and finely enough for `spec.threads`."""
    lanes = target.lanes(element_bits(spec.accumulator_type))
    columns = spec.n if isinstance(spec.n, int) else None
    panel = rhs.panel if isinstance(rhs, PackedOperand) else choose_panel(target, spec.element_type, columns)
    vectors = panel // lanes
    tiles = RowTiles.cut(b, spec.m, -(-_ENOUGH_SUMS // vectors), max_rows(target, vectors))
    panels = b.ceil_div(spec.n, panel)
    packs = isinstance(rhs, StridedOperand) and not _reads_directly(spec, rhs, tiles, panel)
    item_bytes = element_bits(spec.accumulator_type) // 8
    k_block = _choose_k_block(target, spec.k, panel * item_bytes, packs)
    block_tiles, most = _choose_block_tiles(b, target, spec, tiles, panels, k_block)
    blocks = _ceil_div(b, tiles.count, block_tiles)
    return Schedule(lanes, vectors, tiles, block_tiles, most, blocks, panels, k_block, packs)


def _reads_directly(spec: ContractionSpec, rhs: StridedOperand, tiles: RowTiles, panel: int) -> bool:
    """Whether reading `rhs` in place beats copying its panels first: contiguous columns used by few tiles."""
    whole = isinstance(spec.n, int) and spec.n % panel == 0
    return whole and rhs.strides[-1] == 1 and isinstance(tiles.count, int) and tiles.count <= 2


def _choose_k_block(target: CpuTarget, k: Index, row_bytes: int, packs: bool) -> int | None:
    most = max(64, target.l2_bytes // 8 // row_bytes)
    if not isinstance(k, int):
        return most if packs else None
    if k <= most * 3 // 2 or not packs:
        return None
    return -(-k // -(-k // most))


def _choose_block_tiles(
    b: LoopBuilder, target: CpuTarget, spec: ContractionSpec, tiles: RowTiles, panels: Index, k_block: int | None
) -> tuple[Index, int]:
    """Tiles per work item, and the most that can be: the rows of lhs fill half of L2 at most, and every thread gets
    several items.
    """
    k = k_block or spec.k
    row_bytes = element_bits(spec.element_type) // 8 * (k if isinstance(k, int) else 1024)
    most = max(1, target.l2_bytes // 2 // max(1, row_bytes * tiles.rows))
    block_tiles = min(most, _MAX_BLOCK_TILES)
    if not isinstance(tiles.count, int):
        return _cut_at_run_time(b, spec, tiles.count, panels, block_tiles), block_tiles
    block_tiles = min(block_tiles, tiles.count)
    outer = [extent for extent in (*spec.batch, panels) if isinstance(extent, int)]
    items = 1
    for extent in outer:
        items *= extent
    while spec.threads > 1 and block_tiles > 1 and -(-tiles.count // block_tiles) * items < 4 * spec.threads:
        block_tiles = -(-block_tiles // 2)
    block_tiles = -(-tiles.count // -(-tiles.count // block_tiles))
    return block_tiles, block_tiles


def _cut_at_run_time(b: LoopBuilder, spec: ContractionSpec, tiles: Index, panels: Index, most: int) -> Index:
    """Tiles per work item where only the running kernel knows how many there are: nearly equal blocks, at least 1."""
    largest: Index = most
    if spec.threads > 1:
        share = b.ceil_div(b.product([*spec.batch, panels, tiles]), 4 * spec.threads)
        largest = b.max(b.min(share, most), 1)
    blocks = b.max(_ceil_div(b, tiles, largest), 1)
    return b.max(_ceil_div(b, tiles, blocks), 1)


def _ceil_div(b: LoopBuilder, number: Index, divisor: Index) -> Index:
    """ceil(number / divisor) of a divisor that is not 0."""
    return b.div(b.add(number, b.sub(divisor, 1)), divisor)
