"""Emit convolutions, channels-last: direct, register-tiled, without im2col.

A register tile is `pixels` output pixels x `vectors` vectors of output channels; taps and input channels are summed by
nested loops that carry the accumulators. Where a kernel row's taps are contiguous in the input its loop merges with the
channels' (a 7x7 convolution of 3 channels sums 7 runs of 21). `convolution_schedule` says how the rest is cut.

    for each block of pixels x panels, in parallel:
      stage the block's input if windows reach into padding
      for each panel, for each tile:
        for taps, for channels: accumulators += broadcast(input) * weights
        epilogue.store(...)

Finished values are of the accumulator's type (f32 for f16 and bf16).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_general import emit_general
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, WeightLayout, layout_of
from cuvil.codegen.convolution_schedule import ConvolutionSchedule, choose_schedule
from cuvil.codegen.convolution_staging import (
    BlockOrigin,
    BlockView,
    scratch_size,
    stage_block,
    view_in_place,
)
from cuvil.codegen.depthwise import emit_depthwise
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import multiply_add
from cuvil.codegen.packing import convert
from cuvil.codegen.windows import (
    Dims,
    WindowDim,
    multiply_adds,
    operand_with_unit_dims,
    with_unit_dims,
    work_items,
)
from cuvil.codegen.winograd import emit_winograd

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_INLINE_STORE_REDUCTION = 96
"""Up to this many products an output, finished registers are stored one by one; above, through a small buffer and a
loop, which costs a few cycles a row and saves most of the epilogue's code."""

_ENOUGH_PRODUCTS = 12
"""Multiply-adds in the innermost loop's body that hide its own instructions; small tiles are unrolled to have them."""


def emit_convolution(
    b: LoopBuilder,
    target: CpuTarget,
    spec: ConvolutionSpec,
    input: StridedOperand,
    weight: PackedWeight,
    epilogue: Epilogue,
    threads: int,
) -> None:
    """Append the convolution of `input` [N, spatial..., C] with the packed `weight`, finished by `epilogue`.

    Rows of the epilogue flatten N and the output's spatial dims, columns are output channels.
    """
    dims = with_unit_dims(spec.dims)
    input = operand_with_unit_dims(input)
    layout = layout_of(spec, target)
    is_static = all(dim.is_static for dim in dims)
    if is_static and (input.shape[0] == 0 or any(dim.output == 0 for dim in dims)):
        return
    if spec.is_depthwise:
        emit_depthwise(b, target, spec, dims, input, weight, epilogue, threads)
        return
    if spec.winograd:
        emit_winograd(b, target, spec, layout, dims, input, weight, epilogue, threads)
        return
    if is_static:
        batch, dims, input = _flatten_pointwise(dims, input)
        staged = (
            any(dim.reads_padding for dim in dims)
            or input.strides[4] != 1
            or spec.accumulator_type != spec.element_type
        )
        schedule = choose_schedule(spec, layout, dims, batch if isinstance(batch, int) else 1, staged, threads, target)
        if schedule is not None:
            _Direct(b, spec, layout, dims, input, weight, epilogue, schedule).emit(batch)
            return
    emit_general(b, spec, layout, dims, input, weight, epilogue)


def _flatten_pointwise(dims: Dims, input: StridedOperand) -> tuple[Index, Dims, StridedOperand]:
    """A 1x1 convolution of a dense image as one of a single row of all its pixels (and of all images, if dense)."""
    batch = input.shape[0]
    depth, height, width = dims
    image, plane, row, pixel, _ = input.strides
    is_dense = all(dim.is_identity for dim in dims) and (
        (height.input == 1 or row == _times(width.input, pixel))
        and (depth.input == 1 or plane == _times(height.input, _times(width.input, pixel)))
    )
    if not is_dense:
        return batch, dims, input
    pixels = _times(depth.input, _times(height.input, width.input))
    if isinstance(batch, int) and (batch == 1 or image == _times(pixels, pixel)):
        pixels, batch = _times(pixels, batch), 1
    flat = replace(width, input=pixels, output=pixels)
    unit = WindowDim(1, 1, 1)
    return batch, (unit, unit, flat), replace(input, shape=(batch, 1, 1, pixels, input.shape[4]))


def _times(lhs: Index, rhs: Index) -> int:
    """The product, or -1, which equals no stride, where it is not known."""
    return lhs * rhs if isinstance(lhs, int) and isinstance(rhs, int) else -1


@dataclass
class _Direct:
    """One direct convolution being emitted."""

    b: LoopBuilder
    spec: ConvolutionSpec
    layout: WeightLayout
    dims: Dims
    input: StridedOperand
    weight: PackedWeight
    epilogue: Epilogue
    schedule: ConvolutionSchedule

    def emit(self, batch: Index) -> None:
        """Every work item, in parallel: panel blocks outermost, so that a thread keeps its weights."""
        b, schedule, spec = self.b, self.schedule, self.spec
        depth, height, width = self.outputs
        panels = -(-spec.group_outputs // self.layout.panel)
        extents: list[Index] = [
            spec.groups, -(-panels // schedule.panels), batch, depth,
            -(-height // schedule.rows), -(-width // schedule.columns),
        ]  # fmt: skip
        work = multiply_adds(self.dims, batch, spec.group_inputs * spec.out_channels)
        with work_items(b, b.product(extents), work) as item:
            group, panel_block, image, plane, row_block, column_block = _coordinates(b, item, extents)
            origin = BlockOrigin(
                image, plane, b.mul(row_block, schedule.rows), b.mul(column_block, schedule.columns),
                b.mul(group, spec.group_inputs),
            )  # fmt: skip
            view = self._view(origin)
            finished = self._finished_buffer()
            first = b.mul(panel_block, schedule.panels)
            with b.for_(first, b.min(b.add(first, schedule.panels), panels)) as panel:
                self._panel(view, finished, origin, group, panel.index, panels)

    @property
    def outputs(self) -> tuple[int, int, int]:
        depth, height, width = (dim.static_output for dim in self.dims)
        return depth, height, width

    def _view(self, origin: BlockOrigin) -> BlockView:
        b, lanes = self.b, self.layout.lanes
        if not self.schedule.staged:
            return view_in_place(b, self.input, self.dims, origin)
        scratch = b.alloca(self.spec.accumulator_type, scratch_size(self.schedule, self.dims, lanes))
        return stage_block(b, self.input, self.dims, self.schedule, origin, self.spec.group_inputs, scratch, lanes)

    def _finished_buffer(self) -> SSAValue | None:
        """Where a tile's sums wait to be stored, if not in registers."""
        if self.reduction <= _INLINE_STORE_REDUCTION:
            return None
        tile = self.schedule.tile_rows * self.schedule.tile_columns
        return self.b.alloca(self.spec.accumulator_type, tile * self.layout.panel)

    def _panel(
        self, view: BlockView, finished: SSAValue | None, origin: BlockOrigin, group: Index, panel: Index, panels: int
    ) -> None:
        """Every tile of the block with one panel of weights: whole tiles, then what is left of rows and columns."""
        b, schedule = self.b, self.schedule
        _, height, width = self.outputs
        stream = self.reduction * self.layout.panel
        weights = b.add(self.weight.offset, b.mul(b.add(b.mul(group, panels), panel), stream))
        tile = _Tile(self, view, finished, origin, weights, group, panel, panels)
        rows = b.min(schedule.rows, b.sub(height, origin.row))
        columns = b.min(schedule.columns, b.sub(width, origin.column))
        for row_range in _ranges(b, rows, schedule.tile_rows, height % schedule.tile_rows):
            for column_range in _ranges(b, columns, schedule.tile_columns, width % schedule.tile_columns):
                with b.for_(*row_range) as row, b.for_(*column_range) as column:
                    tile.emit(row.index, column.index, row_range[2], column_range[2])

    @property
    def reduction(self) -> int:
        """Products summed for one output."""
        return self.dims[0].kernel * self.dims[1].kernel * self.dims[2].kernel * self.spec.group_inputs


def _coordinates(b: LoopBuilder, item: Index, extents: Sequence[Index]) -> list[Index]:
    """Row-major coordinates of `item`, constant 0 where an extent is 1."""
    moving = [extent for extent in extents if extent != 1]
    found = iter(b.delinearize(item, moving))
    return [0 if extent == 1 else next(found) for extent in extents]


def _ranges(b: LoopBuilder, extent: Index, step: int, rest: int) -> list[tuple[Index, Index, int]]:
    """(lower, upper, step) of the whole tiles in `extent`, and of the one left over, if there can be one of `rest`."""
    whole = b.mul(b.div(extent, step), step)
    ranges: list[tuple[Index, Index, int]] = [(0, whole, step)]
    if rest:
        ranges.append((whole, extent, rest))
    return [bounds for bounds in ranges if bounds[0] != bounds[1]]


@dataclass(frozen=True)
class _Level:
    """One loop of the sum: `count` steps of `input_step` in the input and `weight_step` in the weights."""

    count: int
    input_step: Index
    weight_step: int


@dataclass(frozen=True)
class _Tile:
    """The register tiles of one block and panel."""

    conv: _Direct
    view: BlockView
    finished: SSAValue | None
    origin: BlockOrigin
    weights: Index
    group: Index
    panel: Index
    panels: int

    def emit(self, row: Index, column: Index, rows: int, columns: int) -> None:
        """Sum and store the tile of `rows` x `columns` pixels at (row, column) of the block."""
        b, view, layout = self.conv.b, self.view, self.conv.layout
        base = b.linear(view.base, (row, column), (view.row_step, view.column_step))
        pixels = [
            b.linear(0, (r, q), (view.row_step, view.column_step)) for r in range(rows) for q in range(columns)
        ]
        zero = b.constant(0, self.conv.spec.accumulator_type, layout.lanes)
        sums = self._sum(self._levels(), base, self.weights, pixels, [zero] * (len(pixels) * layout.vectors))
        self._finish(row, column, columns, sums)

    def _levels(self) -> list[_Level]:
        """The loops of the sum, outermost first, adjacent ones merged where they walk the input contiguously."""
        spec, dims, view = self.conv.spec, self.conv.dims, self.view
        counts = (*(dim.kernel for dim in dims), spec.group_inputs)
        steps = (*view.taps, view.channel_step)
        levels: list[_Level] = []
        weight_step = self.conv.layout.panel
        for count, step in zip(reversed(counts), reversed(steps), strict=True):
            inner = levels[-1] if levels else None
            if inner is not None and step == _times(inner.count, inner.input_step):
                levels[-1] = replace(inner, count=inner.count * count)
            elif count > 1:
                levels.append(_Level(count, step, weight_step))
            weight_step *= count
        return levels[::-1] or [_Level(1, 0, 0)]

    def _sum(
        self, levels: list[_Level], base: Index, weights: Index, pixels: list[Index], sums: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """sums + every product of `levels`, the innermost loop unrolled."""
        b, level, inner = self.conv.b, levels[0], levels[1:]
        unroll = 1 if inner else _unrolling(level.count, len(sums))
        with b.for_(0, level.count, unroll, sums) as loop:
            result: Sequence[SSAValue] = loop.carried
            at = b.add(base, b.mul(loop.index, level.input_step))
            weights_at = b.add(weights, b.mul(loop.index, level.weight_step))
            for step in range(unroll):
                here = b.add(at, b.mul(step, level.input_step))
                weights_here = b.add(weights_at, step * level.weight_step)
                if inner:
                    result = self._sum(inner, here, weights_here, pixels, result)
                else:
                    result = self._step(here, weights_here, pixels, result)
            loop.yield_(*result)
        return loop.results

    def _step(self, at: Index, weights: Index, pixels: list[Index], sums: Sequence[SSAValue]) -> list[SSAValue]:
        """One tap and input channel: a vector of weights each, then for each pixel a broadcast and its products."""
        b, layout, type_ = self.conv.b, self.conv.layout, self.conv.spec.accumulator_type
        buffer = self.conv.weight.buffer
        columns = [
            convert(b, b.load(buffer, b.add(weights, v * layout.lanes), layout.lanes), type_)
            for v in range(layout.vectors)
        ]
        results: list[SSAValue] = []
        for pixel in pixels:
            value = b.broadcast(convert(b, b.load(self.view.buffer, b.add(at, pixel)), type_), layout.lanes)
            for column in columns:
                results.append(multiply_add(b, value, column, sums[len(results)], type_))
        return results

    # -- storing -----------------------------------------------------------------------------------------------------

    def _finish(self, row: Index, column: Index, columns: int, sums: Sequence[SSAValue]) -> None:
        """Hand every finished vector to the epilogue, one by one or in a loop over the tile's pixels."""
        b, vectors = self.conv.b, self.conv.layout.vectors
        if self.finished is None:
            for pixel in range(len(sums) // vectors):
                output = self._output(row, b.add(column, pixel % columns), pixel // columns)
                self._store_pixel(output, sums[pixel * vectors : (pixel + 1) * vectors])
            return
        lanes = self.conv.layout.lanes
        for position, value in enumerate(sums):
            b.store(value, self.finished, position * lanes)
        with b.for_(0, len(sums) // vectors) as pixel:
            output = self._output(row, b.add(column, b.rem(pixel.index, columns)), b.div(pixel.index, columns))
            first = b.mul(pixel.index, vectors * lanes)
            self._store_pixel(output, [b.load(self.finished, b.add(first, v * lanes), lanes) for v in range(vectors)])

    def _output(self, row: Index, column: Index, rows_down: Index) -> Index:
        """The epilogue's row of a pixel of the block."""
        b, origin = self.conv.b, self.origin
        depth, height, width = self.conv.outputs
        line = b.add(b.add(origin.row, row), rows_down)
        planes = b.add(b.mul(origin.image, depth), origin.depth)
        return b.add(b.mul(b.add(b.mul(planes, height), line), width), b.add(origin.column, column))

    def _store_pixel(self, output: Index, values: Sequence[SSAValue]) -> None:
        """One pixel's vectors; the last panel of a group may be partly or wholly past its channels."""
        b, layout, outputs = self.conv.b, self.conv.layout, self.conv.spec.group_outputs
        channel = b.add(b.mul(self.group, outputs), b.mul(self.panel, layout.panel))
        last = outputs - (self.panels - 1) * layout.panel
        if last == layout.panel or self.panels == 1:
            self._store_vectors(output, channel, values, last)
            return
        with b.if_else(b.compare_index("eq", self.panel, self.panels - 1)) as (partial, full):
            with partial:
                self._store_vectors(output, channel, values, last)
            with full:
                self._store_vectors(output, channel, values, layout.panel)

    def _store_vectors(self, output: Index, channel: Index, values: Sequence[SSAValue], active: int) -> None:
        b, lanes = self.conv.b, self.conv.layout.lanes
        for position, value in enumerate(values):
            left = active - position * lanes
            if left > 0:
                mask = None if left >= lanes else b.tail_mask(left, lanes)
                self.conv.epilogue.store(b, output, b.add(channel, position * lanes), value, mask)


def _unrolling(count: int, products: int) -> int:
    """How many steps of `products` multiply-adds the innermost loop's body holds: a divisor of its `count`."""
    wanted = -(-_ENOUGH_PRODUCTS // products)
    return next(unroll for unroll in range(min(wanted, count), 0, -1) if count % unroll == 0)
