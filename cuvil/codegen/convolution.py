"""Emit convolutions, channels-last: direct, register-tiled, without im2col.

A register tile is `pixels` output pixels x `vectors` vectors of output channels; taps and input channels are summed by
nested loops that carry the accumulators. Where a kernel row's taps are contiguous in the input its loop merges with the
channels' (a 7x7 convolution of 3 channels sums 7 runs of 21). `convolution_schedule` says how the rest is cut. Extents
that only the running kernel knows go to `convolution_rows`.

    for each block of pixels x panels, in parallel:
      stage the block's input if windows reach into padding
      for each panel, for each tile:
        for taps, for channels: accumulators += broadcast(input) * weights
        epilogue.store(...)

While a panel's tiles are computed, the next panel's weights are prefetched into L2, each tile a share of them: weights
that come from memory (14x14 and smaller images) otherwise take up to as long as the arithmetic.

Finished values are of the accumulator's type (f32 for f16 and bf16).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_general import emit_general
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, layout_of
from cuvil.codegen.convolution_rows import emit_rows
from cuvil.codegen.convolution_schedule import choose_schedule
from cuvil.codegen.convolution_staging import (
    BlockOrigin,
    BlockView,
    scratch_size,
    stage_block,
    view_in_place,
)
from cuvil.codegen.convolution_tile import INLINE_STORE_REDUCTION, DirectKernel, RegisterTile, known_product
from cuvil.codegen.depthwise import emit_depthwise
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.windows import (
    Dims,
    WindowDim,
    multiply_adds,
    operand_with_unit_dims,
    window_items,
    with_unit_dims,
)
from cuvil.codegen.winograd import emit_winograd

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget


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
    elif all(dim.lhs_dilation == 1 for dim in dims):
        emit_rows(b, spec, layout, dims, input, weight, epilogue)
        return
    emit_general(b, spec, layout, dims, input, weight, epilogue)


def _flatten_pointwise(dims: Dims, input: StridedOperand) -> tuple[Index, Dims, StridedOperand]:
    """A 1x1 convolution of a dense image as one of a single row of all its pixels (and of all images, if dense)."""
    batch = input.shape[0]
    depth, height, width = dims
    image, plane, row, pixel, _ = input.strides
    is_dense = all(dim.is_identity for dim in dims) and (
        (height.input == 1 or row == known_product(width.input, pixel))
        and (depth.input == 1 or plane == known_product(height.input, known_product(width.input, pixel)))
    )
    if not is_dense:
        return batch, dims, input
    pixels = known_product(depth.input, known_product(height.input, width.input))
    if isinstance(batch, int) and (batch == 1 or image == known_product(pixels, pixel)):
        pixels, batch = known_product(pixels, batch), 1
    flat = replace(width, input=pixels, output=pixels)
    unit = WindowDim(1, 1, 1)
    return batch, (unit, unit, flat), replace(input, shape=(batch, 1, 1, pixels, input.shape[4]))


@dataclass
class _Direct(DirectKernel):
    """One direct convolution being emitted."""

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
        with window_items(b, b.product(extents), work) as item:
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

    def _view(self, origin: BlockOrigin) -> BlockView:
        b, lanes = self.b, self.layout.lanes
        if not self.schedule.staged:
            return view_in_place(b, self.input, self.dims, origin)
        scratch = b.alloca(self.spec.accumulator_type, scratch_size(self.schedule, self.dims, lanes))
        return stage_block(b, self.input, self.dims, self.schedule, origin, self.spec.group_inputs, scratch, lanes)

    def _finished_buffer(self) -> SSAValue | None:
        """Where a tile's sums wait to be stored, if not in registers."""
        if self.reduction <= INLINE_STORE_REDUCTION:
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
        tile = RegisterTile(self, view, finished, origin, weights, group, panel, panels)
        rows = b.min(schedule.rows, b.sub(height, origin.row))
        columns = b.min(schedule.columns, b.sub(width, origin.column))
        for row_range in _ranges(b, rows, schedule.tile_rows, height % schedule.tile_rows):
            for column_range in _ranges(b, columns, schedule.tile_columns, width % schedule.tile_columns):
                with b.for_(*row_range) as row, b.for_(*column_range) as column:
                    tile.emit(row.index, column.index, row_range[2], column_range[2])


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
