"""Emit a contraction (matrix product, batched or not) with a fused epilogue as a loop-level kernel.

result[batch..., m, n] = sum over k of lhs[batch..., m, k] * rhs[batch..., k, n]

One parallel loop over work items; an item is one panel of columns x one block of rows of one batch:

    for item in parallel(batches * row blocks * panels):        panels fastest: the block's rows of lhs stay in L2
        [pack the panel of rhs into thread-private scratch]      unless packed ahead
        for each tile of the block:                              the panel stays in L2 or L1
            registers = sum over k                               `microkernel.accumulate`
            scratch tile = registers
            for each row of the tile: epilogue(scratch row)      one copy of the epilogue's code for all rows

Rows are cut into tiles of h rows, or of h and h - 1 where m does not divide, so that no tile is a scalar remainder; a
dynamic number of rows takes full tiles and then powers of two. Where k is long and packed here, it is cut into blocks
whose partial sums stay in the scratch. Extents of 0 are right: no results, or results that are the epilogue of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.loops import Index, LoopBuilder, element_type_of
from cuvil.codegen.microkernel import PanelView, accumulate, max_rows
from cuvil.codegen.packing import (
    MatrixView,
    PackedOperand,
    accumulator_type,
    choose_panel,
    convert,
    element_bits,
    emit_pack_panel,
)

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_SEQUENTIAL_WORK = 1 << 16
"""Fewer multiply-adds than this take less time than entering a parallel region."""
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
class PlainStore:
    """The epilogue that only stores: element [row, column] at `offset + row * row_stride + column` of `buffer`."""

    buffer: SSAValue
    row_stride: Index
    offset: Index = 0

    def store(self, b: LoopBuilder, row: Index, column: Index, value: SSAValue, mask: SSAValue | None) -> None:
        """Convert to the buffer's element type and store."""
        position = b.add(b.add(self.offset, b.mul(row, self.row_stride)), column)
        value = convert(b, value, element_type_of(self.buffer.type))
        if mask is None:
            b.store(value, self.buffer, position)
        else:
            b.masked_store(value, self.buffer, position, mask)


# -- the schedule ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowTiles:
    """How m rows are cut: `tall` tiles of `rows`, then tiles of rows - 1 (static m), or a remainder (dynamic m)."""

    m: Index
    rows: int
    tall: Index
    count: Index

    @staticmethod
    def cut(b: LoopBuilder, m: Index, least: int, most: int) -> RowTiles:
        """Equal tiles of `least` rows or more if m divides so, for code emitted once; else as few tiles as can be."""
        if not isinstance(m, int):
            rows = most if most < 8 else 1 << most.bit_length() - 1
            return RowTiles(m, rows, b.div(m, rows), b.ceil_div(m, rows))
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

    def each(self, b: LoopBuilder, first: Index, last: Index, body: Callable[[int, Index], None]) -> None:
        """body(number of rows, first row) for tiles first <= tile < last; emitted once for each height."""
        if self.count == 1 and isinstance(self.m, int):
            body(self.m, 0)
            return
        with b.for_(first, last if self.tall == self.count else b.min(last, self.tall)) as tile:
            body(self.rows, b.mul(tile.index, self.rows))
        if self.tall == self.count:
            return
        if isinstance(self.m, int):
            with b.for_(b.max(first, self.tall), last) as tile:
                body(self.rows - 1, b.add(b.mul(tile.index, self.rows - 1), self.tall))
            return
        with b.if_(b.compare_index("sgt", last, self.tall)):
            self._remainder(b, body)

    def _remainder(self, b: LoopBuilder, body: Callable[[int, Index], None]) -> None:
        row = b.mul(self.tall, self.rows)
        power = 1 << (self.rows - 1).bit_length() - 1 if self.rows > 1 else 0
        while power:
            stop = b.sub(self.m, b.rem(b.sub(self.m, row), power))
            with b.for_(row, stop, power) as loop:
                body(power, loop.index)
            row = stop
            power //= 2


@dataclass(frozen=True)
class Schedule:
    """The sizes that the emitter works with."""

    lanes: int
    vectors: int
    tiles: RowTiles
    block_tiles: int
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
    block_tiles = _choose_block_tiles(target, spec, tiles, panels, k_block)
    return Schedule(lanes, vectors, tiles, block_tiles, b.ceil_div(tiles.count, block_tiles), panels, k_block, packs)


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
    target: CpuTarget, spec: ContractionSpec, tiles: RowTiles, panels: Index, k_block: int | None
) -> int:
    """Tiles per work item: the rows of lhs fill half of L2 at most, and every thread gets several items."""
    k = k_block or spec.k
    row_bytes = element_bits(spec.element_type) // 8 * (k if isinstance(k, int) else 1024)
    most = max(1, target.l2_bytes // 2 // max(1, row_bytes * tiles.rows))
    block_tiles = min(most, _MAX_BLOCK_TILES)
    if not isinstance(tiles.count, int):
        return min(block_tiles, 8)
    block_tiles = min(block_tiles, tiles.count)
    outer = [extent for extent in (*spec.batch, panels) if isinstance(extent, int)]
    items = 1
    for extent in outer:
        items *= extent
    while spec.threads > 1 and block_tiles > 1 and -(-tiles.count // block_tiles) * items < 4 * spec.threads:
        block_tiles = -(-block_tiles // 2)
    return -(-tiles.count // -(-tiles.count // block_tiles))


# -- emitting -------------------------------------------------------------------------------------------------------


def emit_contraction(
    b: LoopBuilder,
    target: CpuTarget,
    spec: ContractionSpec,
    lhs: StridedOperand,
    rhs: StridedOperand | PackedOperand,
    epilogue: Epilogue,
) -> None:
    """Append the contraction; `lhs` is [batch..., M, K], `rhs` [batch..., K, N] (or packed).

    The epilogue receives vectors of `spec.accumulator_type`; its rows flatten batch and M.
    """
    if 0 in (*spec.batch, spec.m, spec.n):
        return
    spec, lhs, rhs = _merge_batch_into_rows(spec, lhs, rhs)
    schedule = choose_schedule(b, target, spec, rhs)
    count = b.product([*spec.batch, schedule.blocks, schedule.panels])
    emitter = _Emitter(b, spec, schedule, lhs, rhs, epilogue)
    with _work_items(b, spec, count) as item:
        emitter.item(item)


@contextmanager
def _work_items(b: LoopBuilder, spec: ContractionSpec, count: Index) -> Generator[Index]:
    work = b.product([*spec.batch, spec.m, spec.n, spec.k]) if _is_static(spec) else None
    if count == 1:
        yield 0
    elif isinstance(work, int) and work <= _SEQUENTIAL_WORK:
        with b.for_(0, count) as loop:
            yield loop.index
    else:
        with b.parallel(count) as item:
            yield item


def _is_static(spec: ContractionSpec) -> bool:
    return all(isinstance(extent, int) for extent in (*spec.batch, spec.m, spec.n, spec.k))


def _merge_batch_into_rows(
    spec: ContractionSpec, lhs: StridedOperand, rhs: StridedOperand | PackedOperand
) -> tuple[ContractionSpec, StridedOperand, StridedOperand | PackedOperand]:
    """Make batch dims part of M where every batch has the same rhs and lhs's rows follow at one stride."""
    batch_strides = rhs.batch_strides if isinstance(rhs, PackedOperand) else rhs.strides[:-2]
    batch_strides = batch_strides or (0,) * len(spec.batch)
    while spec.batch and batch_strides[-1] == 0:
        extent, stride = spec.batch[-1], lhs.strides[-3]
        rows, row_stride = spec.m, lhs.strides[-2]
        if not (isinstance(rows, int) and isinstance(extent, int) and isinstance(row_stride, int)):
            break
        if extent != 1 and rows != 1 and stride != rows * row_stride:
            break
        row_stride = stride if rows == 1 else row_stride
        merged = rows * extent
        spec = replace(spec, batch=spec.batch[:-1], m=merged)
        lhs = replace(
            lhs,
            shape=(*lhs.shape[:-3], merged, lhs.shape[-1]),
            strides=(*lhs.strides[:-3], row_stride, lhs.strides[-1]),
        )
        batch_strides = batch_strides[:-1]
        if isinstance(rhs, PackedOperand):
            rhs = replace(rhs, batch_strides=rhs.batch_strides[:-1])
        else:
            rhs = replace(rhs, shape=(*rhs.shape[:-3], *rhs.shape[-2:]), strides=(*rhs.strides[:-3], *rhs.strides[-2:]))
    return spec, lhs, rhs


@dataclass(frozen=True)
class _Emitter:
    b: LoopBuilder
    spec: ContractionSpec
    schedule: Schedule
    lhs: StridedOperand
    rhs: StridedOperand | PackedOperand
    epilogue: Epilogue

    def item(self, item: Index) -> None:
        """One block of rows x one panel of columns."""
        b, schedule = self.b, self.schedule
        *batch, block, panel = b.delinearize(item, (*self.spec.batch, schedule.blocks, schedule.panels))
        first = b.mul(block, schedule.block_tiles)
        last = b.min(b.add(first, schedule.block_tiles), schedule.tiles.count)
        if schedule.tiles.count == schedule.block_tiles:
            first, last = 0, schedule.tiles.count
        batch_row = b.mul(b.linear(0, batch, _row_major(b, self.spec.batch)), self.spec.m)
        rows = _BlockOfRows(first, last, batch_row, self._lhs_view(batch))
        if schedule.k_block is None:
            self._whole_depth(rows, batch, panel)
        else:
            self._blocked_depth(rows, batch, panel, schedule.k_block)

    def _whole_depth(self, rows: _BlockOfRows, batch: Sequence[Index], panel: Index) -> None:
        b, schedule, spec = self.b, self.schedule, self.spec
        scratch = b.alloca(spec.accumulator_type, schedule.tiles.rows * schedule.panel)
        rhs = self._panel_view(batch, panel, 0, spec.k, self._pack_scratch())

        def tile(count: int, row: Index) -> None:
            zero = b.constant(0, spec.accumulator_type, schedule.lanes)
            zeros = [zero] * (count * schedule.vectors)
            sums = accumulate(b, rows.lhs.at(b, row, 0), rhs, count, spec.k, zeros, spec.accumulator_type)
            self._store_tile(scratch, 0, sums)
            self._finish(scratch, b.add(rows.batch_row, row), count, panel)

        schedule.tiles.each(b, rows.first, rows.last, tile)

    def _blocked_depth(self, rows: _BlockOfRows, batch: Sequence[Index], panel: Index, k_block: int) -> None:
        b, schedule, spec = self.b, self.schedule, self.spec
        most_rows = schedule.tiles.rows * schedule.block_tiles
        scratch = b.alloca(spec.accumulator_type, most_rows * schedule.panel)
        packed = self._pack_scratch()
        zero = b.constant(0, spec.accumulator_type, schedule.lanes)
        with b.for_(0, most_rows * schedule.panel, schedule.lanes) as position:
            b.store(zero, scratch, position.index)
        origin = schedule.tiles.start(b, rows.first)
        with b.for_(0, spec.k, k_block) as k:
            even = isinstance(spec.k, int) and spec.k % k_block == 0
            depth = k_block if even else b.min(k_block, b.sub(spec.k, k.index))
            rhs = self._panel_view(batch, panel, k.index, depth, packed)

            def tile(count: int, row: Index) -> None:
                position = b.mul(b.sub(row, origin), schedule.panel)
                offsets = range(0, count * schedule.panel, schedule.lanes)
                sums = [b.load(scratch, b.add(position, offset), schedule.lanes) for offset in offsets]
                lhs = rows.lhs.at(b, row, k.index)
                sums = accumulate(b, lhs, rhs, count, depth, sums, spec.accumulator_type)
                self._store_tile(scratch, position, sums)

            schedule.tiles.each(b, rows.first, rows.last, tile)
        count = b.sub(schedule.tiles.start(b, rows.last), origin)
        self._finish(scratch, b.add(rows.batch_row, origin), count, panel)

    # -- operands ----------------------------------------------------------------------------------------------------

    def _lhs_view(self, batch: Sequence[Index]) -> MatrixView:
        lhs = self.lhs
        position = self.b.linear(lhs.offset, batch, lhs.strides[:-2])
        return MatrixView(lhs.buffer, position, lhs.strides[-2], lhs.strides[-1])

    def _pack_scratch(self) -> SSAValue | None:
        depth = self.schedule.k_block or self.spec.k
        if not self.schedule.packs:
            return None
        assert isinstance(depth, int), "a dynamic k is packed in blocks"
        return self.b.alloca(self.spec.accumulator_type, max(1, depth) * self.schedule.panel)

    def _panel_view(
        self, batch: Sequence[Index], panel: Index, k: Index, depth: Index, scratch: SSAValue | None
    ) -> PanelView:
        """Rows k ... k + depth of a panel; packed into `scratch` where the operand is not packed ahead."""
        b, rhs, schedule = self.b, self.rhs, self.schedule
        width = schedule.panel
        if isinstance(rhs, PackedOperand):
            strides = rhs.batch_strides or (0,) * len(batch)
            row = b.add(b.mul(panel, self.spec.k), k)
            position = b.add(b.linear(rhs.offset, batch, strides), b.mul(row, width))
            return PanelView(rhs.buffer, position, width, schedule.vectors, schedule.lanes)
        position = b.linear(rhs.offset, batch, rhs.strides[:-2])
        view = MatrixView(rhs.buffer, position, rhs.strides[-2], rhs.strides[-1])
        column = b.mul(panel, width)
        view = view.at(b, k, column)
        if scratch is None:
            return PanelView(view.buffer, view.position, view.row_stride, schedule.vectors, schedule.lanes)
        even = isinstance(self.spec.n, int) and self.spec.n % width == 0
        columns = width if even else b.sub(self.spec.n, column)
        emit_pack_panel(b, view, depth, columns, scratch, width, schedule.lanes)
        return PanelView(scratch, 0, width, schedule.vectors, schedule.lanes)

    # -- results -----------------------------------------------------------------------------------------------------

    def _store_tile(self, scratch: SSAValue, position: Index, sums: Sequence[SSAValue]) -> None:
        for number, value in enumerate(sums):
            self.b.store(value, scratch, self.b.add(position, number * self.schedule.lanes))

    def _finish(self, scratch: SSAValue, row: Index, rows: Index, panel: Index) -> None:
        """Pass `rows` rows of the scratch, the first being result row `row`, through the epilogue."""
        b, n, width = self.b, self.spec.n, self.schedule.panel
        column = b.mul(panel, width)
        if isinstance(n, int) and n % width == 0:
            self._finish_columns(scratch, row, rows, column, width)
        elif isinstance(n, int) and n < width:
            self._finish_columns(scratch, row, rows, column, n)
        else:
            end = b.add(column, width)
            with b.if_else(b.compare_index("sle", end, n)) as (full, partial):
                with full:
                    self._finish_columns(scratch, row, rows, column, width)
                with partial:
                    left = n % width if isinstance(n, int) else b.sub(n, column)
                    self._finish_columns(scratch, row, rows, column, left)

    def _finish_columns(self, scratch: SSAValue, row: Index, rows: Index, column: Index, columns: Index) -> None:
        b, lanes, width = self.b, self.schedule.lanes, self.schedule.panel
        with b.for_(0, rows) as line:
            own_row = b.add(row, line.index)
            position = b.mul(line.index, width)
            for first in range(0, width, lanes):
                active = lanes if columns == width else b.sub(columns, first)
                if isinstance(active, int) and active <= 0:
                    break
                mask = None
                if not isinstance(active, int) or active < lanes:
                    mask = b.tail_mask(active if isinstance(active, int) else b.max(active, 0), lanes)
                value = b.load(scratch, b.add(position, first), lanes)
                self.epilogue.store(b, own_row, b.add(column, first), value, mask)


@dataclass(frozen=True)
class _BlockOfRows:
    """Tiles first <= tile < last of one batch, whose rows start at result row `batch_row` and at `lhs`."""

    first: Index
    last: Index
    batch_row: Index
    lhs: MatrixView


def _row_major(b: LoopBuilder, shape: Sequence[Index]) -> list[Index]:
    strides: list[Index] = []
    stride: Index = 1
    for extent in reversed(shape):
        strides.append(stride)
        stride = b.mul(stride, extent)
    return strides[::-1]
