"""Emit a contraction (matrix product, batched or not) with a fused epilogue as a loop-level kernel.

result[batch..., m, n] = sum over k of lhs[batch..., m, k] * rhs[batch..., k, n]

One parallel loop over work items; an item is one panel of columns x one block of rows of one batch:

    for item in parallel(batches * row blocks * panels):        panels fastest: the block's rows of lhs stay in L2
        [pack the panel of rhs into thread-private scratch]      unless packed ahead
        for each tile of the block:                              the panel stays in L2 or L1
            registers = sum over k                               `microkernel.accumulate`
            scratch tile = registers
            for each row of the tile: epilogue(scratch row)      one copy of the epilogue's code for all rows

Rows are cut into tiles of h rows, or of h and h - 1 where m does not divide, so that no tile is a scalar remainder. A
number of rows that is known only when the kernel runs takes full tiles and then the lowest tile that holds what is
left; it is then, too, that tiles are gathered in blocks and that threads are found worth it. Where k is long and packed
here, it is cut into blocks whose partial sums stay in the scratch. Extents of 0 are right: no results, or results that
are the epilogue of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.contraction_schedule import ContractionSpec, Schedule, choose_schedule
from cuvil.codegen.loops import Index, LoopBuilder, element_type_of
from cuvil.codegen.microkernel import PanelView, accumulate
from cuvil.codegen.packing import MatrixView, PackedOperand, convert, emit_pack_panel
from cuvil.codegen.work_items import divides, work_items

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

__all__ = ["ContractionSpec", "PlainStore", "emit_contraction"]

_PARALLEL_WORK = (1 << 16) + 1
"""Fewer multiply-adds than this take less time than entering a parallel region."""


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
    work = b.product([*spec.batch, spec.m, spec.n, spec.k])
    with work_items(b, count, work, _PARALLEL_WORK) as item:
        emitter.item(item)


def _merge_batch_into_rows(
    spec: ContractionSpec, lhs: StridedOperand, rhs: StridedOperand | PackedOperand
) -> tuple[ContractionSpec, StridedOperand, StridedOperand | PackedOperand]:
    """Make batch dims part of M where every batch has the same rhs and lhs's rows follow at one stride."""
    batch_strides = rhs.batch_strides if isinstance(rhs, PackedOperand) else rhs.strides[:-2]
    batch_strides = batch_strides or (0,) * len(spec.batch)
    while spec.batch and batch_strides[-1] == 0:
        extent, stride = spec.batch[-1], lhs.strides[-3]
        rows, row_stride = spec.m, lhs.strides[-2]
        if isinstance(extent, SSAValue) or isinstance(rows, SSAValue) or isinstance(row_stride, SSAValue):
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
        packed = self._pack_scratch()
        if schedule.k_block is None:
            self._whole_depth(rows, batch, panel, packed)
        elif isinstance(self.spec.k, int):
            self._blocked_depth(rows, batch, panel, schedule.k_block, packed)
        else:
            with b.if_else(b.compare_index("sle", self.spec.k, schedule.k_block)) as (short, long):
                with short:
                    self._whole_depth(rows, batch, panel, packed)
                with long:
                    self._blocked_depth(rows, batch, panel, schedule.k_block, packed)

    def _whole_depth(self, rows: _BlockOfRows, batch: Sequence[Index], panel: Index, packed: SSAValue | None) -> None:
        b, schedule, spec = self.b, self.schedule, self.spec
        scratch = b.alloca(spec.accumulator_type, schedule.tiles.rows * schedule.panel)
        rhs = self._panel_view(batch, panel, 0, spec.k, packed)

        def tile(height: int, row: Index, count: Index) -> None:
            zero = b.constant(0, spec.accumulator_type, schedule.lanes)
            lines = _Lines(rows.lhs.at(b, row, 0), height, count)
            sums = self._sum(lines, rhs, spec.k, [zero] * (height * schedule.vectors))
            self._store_tile(scratch, 0, sums)
            self._finish(scratch, b.add(rows.batch_row, row), count, panel)

        schedule.tiles.each(b, rows.first, rows.last, tile)

    def _blocked_depth(
        self, rows: _BlockOfRows, batch: Sequence[Index], panel: Index, k_block: int, packed: SSAValue | None
    ) -> None:
        b, schedule, spec = self.b, self.schedule, self.spec
        most_rows = schedule.tiles.rows * schedule.most_block_tiles
        scratch = b.alloca(spec.accumulator_type, most_rows * schedule.panel)
        zero = b.constant(0, spec.accumulator_type, schedule.lanes)
        origin = schedule.tiles.start(b, rows.first)
        count = b.sub(schedule.tiles.start(b, rows.last), origin)
        used_rows = most_rows if isinstance(spec.m, int) else b.mul(b.sub(rows.last, rows.first), schedule.tiles.rows)
        with b.for_(0, b.mul(used_rows, schedule.panel), schedule.lanes) as position:
            b.store(zero, scratch, position.index)
        with b.for_(0, spec.k, k_block) as k:
            depth = k_block if divides(b, k_block, spec.k) else b.min(k_block, b.sub(spec.k, k.index))
            rhs = self._panel_view(batch, panel, k.index, depth, packed)

            def tile(height: int, row: Index, count: Index) -> None:
                position = b.mul(b.sub(row, origin), schedule.panel)
                offsets = range(0, height * schedule.panel, schedule.lanes)
                sums = [b.load(scratch, b.add(position, offset), schedule.lanes) for offset in offsets]
                sums = self._sum(_Lines(rows.lhs.at(b, row, k.index), height, count), rhs, depth, sums)
                self._store_tile(scratch, position, sums)

            schedule.tiles.each(b, rows.first, rows.last, tile)
        self._finish(scratch, b.add(rows.batch_row, origin), count, panel)

    def _sum(self, lines: _Lines, rhs: PanelView, depth: Index, start: list[SSAValue]) -> list[SSAValue]:
        """start + the products of a tile's rows; rows that do not exist read the last one that does."""
        b, lhs = self.b, lines.lhs
        if lines.count == lines.height:
            return accumulate(b, lhs, rhs, lines.height, depth, start, self.spec.accumulator_type)
        last = b.sub(lines.count, 1)
        offsets = [b.mul(b.min(row, last), lhs.row_stride) if row else 0 for row in range(lines.height)]
        return accumulate(b, lhs, rhs, lines.height, depth, start, self.spec.accumulator_type, offsets)

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
        columns = width if divides(b, width, self.spec.n) else b.sub(self.spec.n, column)
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
        if divides(b, width, n):
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


@dataclass(frozen=True)
class _Lines:
    """Rows of lhs from its origin on: as many as a tile's code sums, and how many of them exist."""

    lhs: MatrixView
    height: int
    count: Index


def _row_major(b: LoopBuilder, shape: Sequence[Index]) -> list[Index]:
    strides: list[Index] = []
    stride: Index = 1
    for extent in reversed(shape):
        strides.append(stride)
        stride = b.mul(stride, extent)
    return strides[::-1]
