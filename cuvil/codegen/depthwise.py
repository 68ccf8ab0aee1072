"""Emit depthwise convolutions: a vector is a run of channels, a tile some neighbouring outputs of a row.

Within a tile each kernel row loads every input pixel once and adds it to all the outputs whose windows hold it, so that
a 3x3 window costs little more than one load an output and row. Rows of the kernel outside the image are skipped by the
loop's bounds; columns outside by the tile's code, which is emitted once for each set of columns that lie inside (left
edge, middle, right edge). A kernel with long rows loops over their taps instead: tiles in the middle, single outputs at
the edges. So does the code for rows whose length only the running kernel knows, at their edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import multiply_add
from cuvil.codegen.packing import convert, element_bits
from cuvil.codegen.windows import (
    Channels,
    Dims,
    OutputRow,
    RowTile,
    WindowDim,
    element_read,
    loop_tiles,
    multiply_adds,
    output_rows,
    position_read,
    row_tiles,
    tap_range,
    window_items,
)
from cuvil.semantics.dims import Dim

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_MOST_OUTPUTS = 14
_WIDE_KERNEL = 8
"""Kernel rows up to this wide are unrolled, their weights in registers."""
_WIDE_OUTPUTS = 8
"""Outputs of a tile under a wider kernel: as many chains of multiply-adds as hide their latency."""
_FEW_OUTPUTS = 4
"""Outputs of a tile at the end of a row whose length only the running kernel knows."""


def emit_depthwise(
    b: LoopBuilder, target: CpuTarget, spec: ConvolutionSpec, dims: Dims, input: StridedOperand, weight: PackedWeight,
    epilogue: Epilogue, threads: int,
) -> None:  # fmt: skip
    """Append the depthwise convolution of `input` [N, D, H, W, C] with weights packed `[*K][C]`."""
    lanes = target.lanes(element_bits(spec.accumulator_type))
    is_fast = input.strides[4] == 1 and all(dim.lhs_dilation == 1 for dim in dims)
    kernel = _Depthwise(b, spec, dims, input, weight, epilogue, lanes, -(-spec.out_channels // lanes) * lanes)
    if not is_fast:
        kernel.emit_scalar()
        return
    registers = target.vector_registers - min(dims[2].kernel, _WIDE_KERNEL) - 2
    kernel.emit_tiled(max(4, min(_MOST_OUTPUTS, registers)), threads)


@dataclass
class _Depthwise:
    """One depthwise convolution being emitted; `row_size` is the weights' padded number of channels."""

    b: LoopBuilder
    spec: ConvolutionSpec
    dims: Dims
    input: StridedOperand
    weight: PackedWeight
    epilogue: Epilogue
    lanes: int
    row_size: int

    @property
    def _work(self) -> Dim | None:
        return multiply_adds(self.dims, self.input.shape[0], self.spec.out_channels)

    def emit_tiled(self, most_outputs: int, threads: int) -> None:
        """Rows of outputs in parallel; where they are few, runs of channels too."""
        b, width = self.b, self.dims[2]
        channels = Channels(self.spec.out_channels, self.lanes)
        with output_rows(b, self.dims, self.input.shape[0], channels, threads, self._work) as (row, first, end):
            for tile in self._tiles(width, most_outputs):
                with b.for_(tile.first, tile.end, tile.outputs) as column:
                    self._channels(row, column.index, tile, first, end)

    def _tiles(self, width: WindowDim, most_outputs: int) -> list[RowTile]:
        if width.kernel > _WIDE_KERNEL:
            return loop_tiles(self.b, width, _WIDE_OUTPUTS)
        if width.is_static:
            return row_tiles(width, most_outputs)
        return loop_tiles(self.b, width, most_outputs, _FEW_OUTPUTS)

    def _channels(self, row: OutputRow, column: Index, tile: RowTile, first: Index, end: Index) -> None:
        """Every vector of channels in [first, end), the last one masked if it is not whole."""
        b, channels = self.b, self.spec.out_channels
        whole = channels // self.lanes * self.lanes
        with b.for_(first, b.min(end, whole), self.lanes) as channel:
            self._tile(row, column, tile, channel.index, None)
        if whole == channels:
            return
        mask = b.tail_mask(channels - whole, self.lanes)
        if first == 0 and end == self.row_size:
            self._tile(row, column, tile, whole, mask)
            return
        with b.if_(b.compare_index("sgt", end, whole)):
            self._tile(row, column, tile, whole, mask)

    def _tile(self, row: OutputRow, column: Index, tile: RowTile, channel: Index, mask: SSAValue | None) -> None:
        """The outputs [column, column + tile.outputs) of one vector of channels."""
        b, (depth, height, width) = self.b, self.dims
        _, plane_stride, row_stride, pixel_stride, _ = self.input.strides
        start = b.linear(self.input.offset, (row.image, channel), (self.input.strides[0], 1))
        start = b.add(start, b.mul(b.sub(b.mul(column, width.stride), width.pad_lo), pixel_stride))
        zero = b.constant(0, self.spec.accumulator_type, self.lanes)
        weights = b.add(self.weight.offset, channel)
        planes, lines = tap_range(b, depth, row.plane), tap_range(b, height, row.line)
        with b.for_(*planes, 1, [zero] * tile.outputs) as plane:
            plane_at = b.add(start, b.mul(position_read(b, depth, row.plane, plane.index), plane_stride))
            with b.for_(*lines, 1, plane.carried) as line:
                line_at = b.add(plane_at, b.mul(position_read(b, height, row.line, line.index), row_stride))
                tap = b.mul(b.add(b.mul(plane.index, height.kernel), line.index), width.kernel * self.row_size)
                weights_at = b.add(weights, tap)
                if width.kernel > _WIDE_KERNEL or tile.pixels is None:
                    sums = self._wide_kernel_row(tile, column, line_at, weights_at, line.carried, mask)
                else:
                    sums = self._kernel_row(tile, line_at, weights_at, line.carried, mask)
                line.yield_(*sums)
            plane.yield_(*line.results)
        for output, value in enumerate(plane.results):
            self.epilogue.store(b, b.add(row.first_output, b.add(column, output)), channel, value, mask)

    def _kernel_row(
        self, tile: RowTile, line: Index, weights: Index, sums: Sequence[SSAValue], mask: SSAValue | None
    ) -> list[SSAValue]:
        """sums + one kernel row's products: each input pixel loaded once, and added wherever it is read."""
        b, width, type_ = self.b, self.dims[2], self.spec.accumulator_type
        taps: dict[int, SSAValue] = {}
        result = list(sums)
        for pixel, readers in tile.readers(width):
            value: SSAValue | None = None
            for output, tap in readers:
                if tap not in taps:
                    position = b.add(weights, tap * self.row_size)
                    taps[tap] = convert(b, b.load(self.weight.buffer, position, self.lanes), type_)
                if value is None:
                    value = self._load(b.add(line, b.mul(pixel, self.input.strides[3])), mask)
                result[output] = multiply_add(b, value, taps[tap], result[output], type_)
        return result

    def _wide_kernel_row(
        self, tile: RowTile, column: Index, line: Index, weights: Index, sums: Sequence[SSAValue], mask: SSAValue | None
    ) -> Sequence[SSAValue]:
        """As `_kernel_row`, a loop over the taps; a single output takes only those that lie inside."""
        b, width, type_ = self.b, self.dims[2], self.spec.accumulator_type
        taps = (0, width.kernel) if tile.outputs > 1 else tap_range(b, width, column)
        with b.for_(*taps, 1, sums) as tap:
            at = b.add(weights, b.mul(tap.index, self.row_size))
            weight = convert(b, b.load(self.weight.buffer, at, self.lanes), type_)
            first = b.mul(tap.index, width.dilation)
            results: list[SSAValue] = []
            for output, carried in enumerate(tap.carried):
                pixel = b.add(first, output * width.stride)
                value = self._load(b.add(line, b.mul(pixel, self.input.strides[3])), mask)
                results.append(multiply_add(b, value, weight, carried, type_))
            tap.yield_(*results)
        return tap.results

    def _load(self, position: Index, mask: SSAValue | None) -> SSAValue:
        b, buffer = self.b, self.input.buffer
        if mask is None:
            value = b.load(buffer, position, self.lanes)
        else:
            value = b.masked_load(buffer, position, mask, self.lanes)
        return convert(b, value, self.spec.accumulator_type)

    def emit_scalar(self) -> None:
        """One output element at a time: transposed convolutions, channels that are not contiguous."""
        b, type_ = self.b, self.spec.accumulator_type
        outputs = [dim.output for dim in self.dims]
        shape = [self.input.shape[0], *outputs]
        with window_items(b, b.product(shape), self._work) as row:
            image, *position = b.delinearize(row, shape)
            start = b.linear(self.input.offset, (image,), (self.input.strides[0],))
            with b.for_(0, self.spec.out_channels) as channel:
                at = b.add(start, b.mul(channel.index, self.input.strides[4]))
                value = self._sum_scalar(position, at, channel.index, b.constant(0, type_))
                self.epilogue.store(b, row, channel.index, value, None)

    def _sum_scalar(self, position: Sequence[Index], at: Index, channel: Index, zero: SSAValue) -> SSAValue:
        b, type_, kernel = self.b, self.spec.accumulator_type, [dim.kernel for dim in self.dims]
        taps = b.product([b.min(dim.kernel, b.mul(dim.input, dim.kernel)) for dim in self.dims])
        with b.for_(0, taps, 1, [zero]) as tap:
            element, is_inside = at, None
            coordinates, strides = b.delinearize(tap.index, kernel), self.input.strides[1:4]
            for dim, output, step, stride in zip(self.dims, position, coordinates, strides, strict=True):
                index, inside = element_read(b, dim, output, step)
                element = b.add(element, b.mul(index, stride))
                is_inside = inside if is_inside is None else b.int_op(arith.AndIOp, is_inside, inside)
            value = convert(b, b.load(self.input.buffer, element), type_)
            assert is_inside is not None
            weight = b.load(self.weight.buffer, b.linear(self.weight.offset, (tap.index, channel), (self.row_size, 1)))
            value = b.select(is_inside, value, zero)
            tap.yield_(multiply_add(b, value, convert(b, weight, type_), tap.carried[0], type_))
        return tap.results[0]
