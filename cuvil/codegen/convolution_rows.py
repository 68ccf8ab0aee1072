"""Convolutions whose spatial extents only the running kernel knows: by rows of outputs, the input read in place.

    for each panel of weights, image, plane, line of outputs, in parallel:
        for tiles of outputs whose windows lie inside, then single ones at the edges:
            for taps inside, for channels: accumulators += broadcast(input) * weights
            for each output of the tile: epilogue

The register tile is the direct kernel's; what is missing against that is the staging of padded blocks, the schedule
that cuts a known image evenly, and the prefetch of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_general import store_panel
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, WeightLayout
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import multiply_add
from cuvil.codegen.packing import convert
from cuvil.codegen.windows import Dims, RowTile, loop_tiles, multiply_adds, position_read, tap_range, window_items

_FEW_OUTPUTS = 4


def emit_rows(
    b: LoopBuilder, spec: ConvolutionSpec, layout: WeightLayout, dims: Dims, input: StridedOperand,
    weight: PackedWeight, epilogue: Epilogue,
) -> None:  # fmt: skip
    """Append the convolution, without `lhs_dilation`; panels outermost, so that a thread keeps its weights."""
    depth, height, width = dims
    panels = -(-spec.group_outputs // layout.panel)
    extents = [spec.groups * panels, input.shape[0], depth.output, height.output]
    work = multiply_adds(dims, input.shape[0], spec.group_inputs * spec.out_channels)
    with window_items(b, b.product(extents), work) as item:
        stream, image, plane, line = b.delinearize(item, extents)
        group = b.div(stream, panels) if spec.groups > 1 else 0
        panel = b.rem(stream, panels) if spec.groups > 1 else stream
        row = _Row(b, spec, layout, dims, input, weight, epilogue, image, plane, line, group, panel, stream)
        for tile in loop_tiles(b, width, layout.pixels, min(_FEW_OUTPUTS, layout.pixels)):
            finished = b.alloca(spec.accumulator_type, tile.outputs * layout.panel)
            with b.for_(tile.first, tile.end, tile.outputs) as column:
                row.tile(tile, column.index, finished)


@dataclass(frozen=True)
class _Row:
    """One row of outputs with one panel of weights; `stream` numbers the panels of all groups."""

    b: LoopBuilder
    spec: ConvolutionSpec
    layout: WeightLayout
    dims: Dims
    input: StridedOperand
    weight: PackedWeight
    epilogue: Epilogue
    image: Index
    plane: Index
    line: Index
    group: Index
    panel: Index
    stream: Index

    def tile(self, tile: RowTile, column: Index, finished: SSAValue) -> None:
        """The outputs [column, column + tile.outputs), passed through `finished`."""
        b, lanes, vectors = self.b, self.layout.lanes, self.layout.vectors
        for number, value in enumerate(self._sum(tile, column)):
            b.store(value, finished, number * lanes)
        depth, height, width = self.dims
        first = b.linear(0, (self.image, self.plane, self.line), self._row_strides(depth.output, height.output))
        first = b.add(b.mul(first, width.output), column)
        with b.for_(0, tile.outputs) as output:
            start = b.mul(output.index, vectors * lanes)
            values = [b.load(finished, b.add(start, v * lanes), lanes) for v in range(vectors)]
            row = b.add(first, output.index)
            store_panel(b, self.spec, self.layout, self.epilogue, row, self.group, self.panel, values)

    def _row_strides(self, planes: Index, lines: Index) -> tuple[Index, Index, Index]:
        return self.b.mul(planes, lines), lines, 1

    def _sum(self, tile: RowTile, column: Index) -> Sequence[SSAValue]:
        """The products of all taps and channels: loops over taps that lie inside, then channels."""
        b, spec, (depth, height, width) = self.b, self.spec, self.dims
        image, plane_step, line_step, pixel_step, channel_step = self.input.strides
        base = b.linear(self.input.offset, (self.image, b.mul(self.group, spec.group_inputs)), (image, channel_step))
        size = spec.group_inputs * self.layout.panel
        taps = depth.kernel * height.kernel * width.kernel
        weights = b.add(self.weight.offset, b.mul(self.stream, taps * size))
        zero = b.constant(0, spec.accumulator_type, self.layout.lanes)
        across = (0, width.kernel) if tile.pixels is not None else tap_range(b, width, column)
        zeros = [zero] * (tile.outputs * self.layout.vectors)
        with b.for_(*tap_range(b, depth, self.plane), 1, zeros) as plane:
            plane_at = b.add(base, b.mul(position_read(b, depth, self.plane, plane.index), plane_step))
            with b.for_(*tap_range(b, height, self.line), 1, plane.carried) as line:
                line_at = b.add(plane_at, b.mul(position_read(b, height, self.line, line.index), line_step))
                line_tap = b.add(b.mul(plane.index, height.kernel), line.index)
                with b.for_(*across, 1, line.carried) as tap:
                    at = b.add(line_at, b.mul(position_read(b, width, column, tap.index), pixel_step))
                    number = b.add(b.mul(line_tap, width.kernel), tap.index)
                    tap.yield_(*self._channels(tile, at, b.add(weights, b.mul(number, size)), tap.carried))
                line.yield_(*tap.results)
            plane.yield_(*line.results)
        return plane.results

    def _channels(self, tile: RowTile, at: Index, weights: Index, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """One tap: for each channel the vectors of weights, then for each output a broadcast and its products."""
        b, layout, type_ = self.b, self.layout, self.spec.accumulator_type
        lanes, buffer = layout.lanes, self.weight.buffer
        step = b.mul(self.input.strides[3], self.dims[2].stride)
        with b.for_(0, self.spec.group_inputs, 1, sums) as channel:
            start = b.add(weights, b.mul(channel.index, layout.panel))
            columns = [convert(b, b.load(buffer, b.add(start, v * lanes), lanes), type_) for v in range(layout.vectors)]
            here = b.add(at, b.mul(channel.index, self.input.strides[4]))
            results: list[SSAValue] = []
            for output in range(tile.outputs):
                value = convert(b, b.load(self.input.buffer, b.add(here, b.mul(output, step))), type_)
                factor = b.broadcast(value, lanes)
                for column in columns:
                    results.append(multiply_add(b, factor, column, channel.carried[len(results)], type_))
            channel.yield_(*results)
        return channel.results
