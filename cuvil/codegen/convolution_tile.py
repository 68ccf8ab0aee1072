"""The register tile of a direct convolution: some output pixels x a panel of output channels, summed and stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, WeightLayout
from cuvil.codegen.convolution_schedule import ConvolutionSchedule
from cuvil.codegen.convolution_staging import BlockOrigin, BlockView
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import multiply_add
from cuvil.codegen.packing import convert, element_bits
from cuvil.codegen.windows import Dims

INLINE_STORE_REDUCTION = 96
"""Up to this many products an output, finished registers are stored one by one; above, through a small buffer and a
loop, which costs a few cycles a row and saves most of the epilogue's code."""

_MOST_PREFETCH_SHARES = 8
"""Tiles that share the prefetch of a panel at most; further tiles repeat the last share."""

_CACHE_LINE_BYTES = 64

_ENOUGH_PRODUCTS = 12
"""Multiply-adds in the innermost loop's body that hide its own instructions; small tiles are unrolled to have them."""


def known_product(lhs: Index, rhs: Index) -> int:
    """The product, or -1, which equals no stride, where it is not known."""
    return lhs * rhs if isinstance(lhs, int) and isinstance(rhs, int) else -1


@dataclass
class DirectKernel:
    """One direct convolution being emitted, its spatial extents static."""

    b: LoopBuilder
    spec: ConvolutionSpec
    layout: WeightLayout
    dims: Dims
    input: StridedOperand
    weight: PackedWeight
    epilogue: Epilogue
    schedule: ConvolutionSchedule

    @property
    def outputs(self) -> tuple[int, int, int]:
        depth, height, width = (dim.static_output for dim in self.dims)
        return depth, height, width

    @property
    def reduction(self) -> int:
        """Products summed for one output."""
        return self.dims[0].kernel * self.dims[1].kernel * self.dims[2].kernel * self.spec.group_inputs


@dataclass(frozen=True)
class _Level:
    """One loop of the sum: `count` steps of `input_step` in the input and `weight_step` in the weights."""

    count: int
    input_step: Index
    weight_step: int


@dataclass(frozen=True)
class _Streams:
    """Positions that advance with the sum: in the input, in the weights, and in the next panel's share to prefetch."""

    input: Index
    weights: Index
    ahead: Index

    def at(self, b: LoopBuilder, step: Index, level: _Level, shares: int) -> _Streams:
        """These, `step` steps of `level` further on."""
        return _Streams(
            b.add(self.input, b.mul(step, level.input_step)),
            b.add(self.weights, b.mul(step, level.weight_step)),
            b.add(self.ahead, b.mul(step, level.weight_step // shares)),
        )


@dataclass(frozen=True)
class RegisterTile:
    """The register tiles of one block and panel."""

    conv: DirectKernel
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
        pixels = [b.linear(0, (r, q), (view.row_step, view.column_step)) for r in range(rows) for q in range(columns)]
        zero = b.constant(0, self.conv.spec.accumulator_type, layout.lanes)
        zeros = [zero] * (len(pixels) * layout.vectors)
        streams = _Streams(base, self.weights, self._prefetch_start(row, column))
        sums = self._sum(self._levels(), streams, pixels, zeros)
        self._finish(row, column, columns, sums)

    @property
    def _shares(self) -> int:
        """How many tiles share the prefetch of the next panel: a power of two, so that it divides a panel's steps."""
        schedule = self.conv.schedule
        tiles = -(-schedule.rows // schedule.tile_rows) * -(-schedule.columns // schedule.tile_columns)
        return min(_MOST_PREFETCH_SHARES, 1 << tiles.bit_length() - 1)

    def _prefetch_start(self, row: Index, column: Index) -> Index:
        """Where the next panel's share of the tile at (row, column) begins."""
        b, schedule = self.conv.b, self.conv.schedule
        across = -(-schedule.columns // schedule.tile_columns)
        tile = b.add(b.mul(b.div(row, schedule.tile_rows), across), b.div(column, schedule.tile_columns))
        stream = self.conv.reduction * self.conv.layout.panel
        share = b.mul(b.min(tile, self._shares - 1), stream // self._shares)
        return b.add(b.add(self.weights, stream), share)

    def _levels(self) -> list[_Level]:
        """The loops of the sum, outermost first, adjacent ones merged where they walk the input contiguously."""
        spec, dims, view = self.conv.spec, self.conv.dims, self.view
        counts = (*(dim.kernel for dim in dims), spec.group_inputs)
        steps = (*view.taps, view.channel_step)
        levels: list[_Level] = []
        weight_step = self.conv.layout.panel
        for count, step in zip(reversed(counts), reversed(steps), strict=True):
            inner = levels[-1] if levels else None
            if inner is not None and step == known_product(inner.count, inner.input_step):
                levels[-1] = replace(inner, count=inner.count * count)
            elif count > 1:
                levels.append(_Level(count, step, weight_step))
            weight_step *= count
        return levels[::-1] or [_Level(1, 0, 0)]

    def _sum(
        self, levels: list[_Level], streams: _Streams, pixels: list[Index], sums: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """sums + every product of `levels`, the innermost loop unrolled."""
        b, level, inner = self.conv.b, levels[0], levels[1:]
        unroll = 1 if inner else _unrolling(level.count, len(sums))
        with b.for_(0, level.count, unroll, sums) as loop:
            result: Sequence[SSAValue] = loop.carried
            first = streams.at(b, loop.index, level, self._shares)
            for step in range(unroll):
                here = first.at(b, step, level, self._shares)
                if inner:
                    result = self._sum(inner, here, pixels, result)
                else:
                    self._prefetch(here.ahead)
                    result = self._step(here.input, here.weights, pixels, result)
            loop.yield_(*result)
        return loop.results

    def _prefetch(self, ahead: Index) -> None:
        """The lines of the next panel that go with one step of this one."""
        layout = self.conv.layout
        line = _CACHE_LINE_BYTES * 8 // element_bits(self.conv.spec.element_type)
        for offset in range(0, max(1, layout.panel // self._shares), line):
            self.conv.b.prefetch(self.conv.weight.buffer, self.conv.b.add(ahead, offset))

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
