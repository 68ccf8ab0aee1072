"""Emit 3x3 convolutions of stride 1 by Winograd's F(m x m, 3 x 3): fewer multiplications than outputs x taps.

An image is cut into tiles of m x m outputs, each of which reads a x a inputs, a = m + 2. A work item is a block of
tiles times some panels of weights:

    for each tile, each vector of channels:    V[xi][tile][C] = transform of the tile's inputs     (xi < a * a)
    for each panel, each xi:                   M[xi][tile][NR] = V[xi] x U[panel][xi]              [tiles, C] x [C, NR]
      for each tile, each vector of the panel: outputs = transform of M, to the epilogue

V and M are thread-private and stay in L2. The transforms run as two loops over the rows and columns of a small square
of vectors, which is a third of the code of unrolled ones and no slower. Weights U are transformed and packed ahead (see
`convolution_packing`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, WeightLayout, layout_of
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import PanelView, accumulate
from cuvil.codegen.packing import MatrixView, element_bits
from cuvil.codegen.windows import Dims, multiply_adds, window_items, with_unit_dims
from cuvil.codegen.winograd_transforms import transform_input, transform_output
from cuvil.errors import InternalError

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_SCRATCH_BYTES = 400 << 10
"""Stack for V, M and the transforms' square of vectors, of the 512 KiB that a kernel has."""

_TRANSFORM_CYCLES = 2.5
"""Cycles for each of the a * a vectors of a tile, transformed on the way in or out."""
_STREAM_BYTES_PER_CYCLE = 20
_MOST_WEIGHT_BYTES = 6 << 20
"""Transformed weights are 16/9 or 4 times as large, and come from memory: reading more costs what arithmetic saves."""
_WORTHWHILE = 1.2
"""How many times faster than the direct convolution the estimate must be."""


@dataclass(frozen=True)
class WinogradSchedule:
    """Tiles of a block, tiles of a register tile (which divide the block's), and panels of a work item."""

    tiles: int
    register_tiles: int
    panels: int


def choose_winograd_schedule(
    spec: ConvolutionSpec, layout: WeightLayout, dims: Dims, batch: int, threads: int, target: CpuTarget
) -> tuple[WinogradSchedule, float] | None:
    """The best cut and its cycles on the busiest thread; None where not even one tile fits the scratch."""
    m, inputs = layout.winograd, spec.in_channels
    squares = (m + 2) ** 2
    tiles = batch * _ceil(dims[1].static_output, m) * _ceil(dims[2].static_output, m)
    panels = _ceil(spec.out_channels, layout.panel)
    bytes_ = element_bits(spec.element_type) // 8
    fixed = squares * layout.lanes * bytes_
    most = (min(_SCRATCH_BYTES, target.l2_bytes // 2) - fixed) // (squares * (inputs + layout.panel) * bytes_)
    best: tuple[float, WinogradSchedule] | None = None
    for block in range(1, min(most, tiles, 4 * layout.pixels) + 1):
        register = _ceil(block, _ceil(block, layout.pixels))
        if block % register:
            continue
        for share in sorted({_ceil(panels, cuts) for cuts in range(1, min(panels, 16) + 1)}):
            items = _ceil(tiles, block) * _ceil(panels, share)
            # A short register tile cannot hide the loads of its weights.
            products = block * inputs * layout.vectors / 2 + (block // register) * inputs * layout.vectors / 2
            gemm = squares * share * (products + (block // register) * 50)
            vectors = block * squares * (inputs + share * layout.panel) / layout.lanes
            weights = squares * share * layout.panel * inputs * bytes_ / _STREAM_BYTES_PER_CYCLE
            cycles = _ceil(items, threads) * (gemm + vectors * _TRANSFORM_CYCLES + weights)
            if best is None or cycles < best[0]:
                best = cycles, WinogradSchedule(block, register, share)
    return None if best is None else (best[1], best[0])


def can_use_winograd(spec: ConvolutionSpec, target: CpuTarget) -> bool:
    """Whether the emitter takes `spec`: f32, 3x3, stride 1, one group, whole vectors of channels, static extents.

    The input must also have its channels contiguous when the convolution is emitted.
    """
    lanes = target.lanes(32)
    dims = spec.dims
    return (
        spec.element_type == f32
        and spec.kernel == (3, 3)
        and spec.groups == 1
        and spec.in_channels % lanes == 0
        and spec.out_channels % lanes == 0
        and all(dim.is_static and (dim.stride, dim.dilation, dim.lhs_dilation) == (1, 1, 1) for dim in dims)
        and all(dim.static_output > 0 and dim.spread > 0 for dim in dims)
    )


def choose_winograd(spec: ConvolutionSpec, target: CpuTarget, batch: int = 1, threads: int = 1) -> int:
    """The m of the fastest way to compute `spec` with constant weights: 2, 4, or 0 for a direct convolution.

    The answer goes into the spec: `replace(spec, winograd=choose_winograd(spec, target))`.
    """
    if not can_use_winograd(spec, target) or batch == 0:
        return 0
    dims = with_unit_dims(spec.dims)
    products = multiply_adds(dims, batch, spec.in_channels * spec.out_channels)
    assert isinstance(products, int), "Winograd takes numbers"
    best, chosen = products / target.lanes(32) / 2 / threads / _WORTHWHILE, 0
    for m in (2, 4):
        weights = (m + 2) ** 2 * spec.in_channels * spec.out_channels * 4
        found = choose_winograd_schedule(
            spec, layout_of(replace(spec, winograd=m), target), dims, batch, threads, target
        )  # fmt: skip
        if found is not None and weights <= _MOST_WEIGHT_BYTES and found[1] < best:
            best, chosen = found[1], m
    return chosen


def emit_winograd(
    b: LoopBuilder, target: CpuTarget, spec: ConvolutionSpec, layout: WeightLayout, dims: Dims, input: StridedOperand,
    weight: PackedWeight, epilogue: Epilogue, threads: int,
) -> None:  # fmt: skip
    """Append the convolution of `input` [N, 1, H, W, C]; see `can_use_winograd` for what it takes."""
    batch = input.shape[0]
    found = choose_winograd_schedule(
        spec, layout, dims, batch if isinstance(batch, int) else 1, threads, target
    )  # fmt: skip
    if found is None or input.strides[4] != 1:
        raise InternalError("winograd was chosen for a convolution that it does not take")
    _Winograd(b, spec, layout, dims, input, weight, epilogue, found[0]).emit()


@dataclass
class _Winograd:
    """One convolution being emitted."""

    b: LoopBuilder
    spec: ConvolutionSpec
    layout: WeightLayout
    dims: Dims
    input: StridedOperand
    weight: PackedWeight
    epilogue: Epilogue
    schedule: WinogradSchedule

    def __post_init__(self) -> None:
        self.m = self.layout.winograd
        self.a = self.m + 2
        self.down = _ceil(self.dims[1].static_output, self.m)
        self.across = _ceil(self.dims[2].static_output, self.m)
        self.tiles = self.b.mul(self.input.shape[0], self.down * self.across)

    def emit(self) -> None:
        """Every work item: panel shares outermost, so that a thread keeps its weights."""
        b, spec, layout, schedule = self.b, self.spec, self.layout, self.schedule
        panels = _ceil(spec.out_channels, layout.panel)
        blocks = b.ceil_div(self.tiles, schedule.tiles)
        squares = self.a * self.a
        work = multiply_adds(self.dims, self.input.shape[0], spec.in_channels * spec.out_channels)
        with window_items(b, b.mul(blocks, _ceil(panels, schedule.panels)), work) as item:
            transformed = b.alloca(spec.element_type, squares * schedule.tiles * spec.in_channels)
            products = b.alloca(spec.element_type, squares * schedule.tiles * layout.panel)
            square = b.alloca(spec.element_type, squares * layout.lanes)
            first = b.mul(b.rem(item, blocks), schedule.tiles)
            count = b.min(schedule.tiles, b.sub(self.tiles, first))
            with b.for_(0, count) as tile:
                self._transform_tile(b.add(first, tile.index), tile.index, transformed, square)
            share = b.mul(b.div(item, blocks), schedule.panels)
            with b.for_(share, b.min(b.add(share, schedule.panels), panels)) as panel:
                self._multiply(panel.index, transformed, products)
                outputs = b.sub(spec.out_channels, b.mul(panel.index, layout.panel))
                end = b.min(layout.panel, outputs) if spec.out_channels % layout.panel else layout.panel
                with b.for_(0, count) as tile, b.for_(0, end, layout.lanes) as lane:
                    self._finish_tile(b.add(first, tile.index), tile.index, panel.index, lane.index, products, square)

    def _position(self, tile: Index) -> tuple[Index, Index, Index]:
        """The image of a tile, and its first output row and column."""
        image, row, column = self.b.delinearize(tile, [self.input.shape[0], self.down, self.across])
        return image, self.b.mul(row, self.m), self.b.mul(column, self.m)

    # -- the way in --------------------------------------------------------------------------------------------------

    def _transform_tile(self, tile: Index, slot: Index, transformed: SSAValue, square: SSAValue) -> None:
        """V[.][slot] = transform of the inputs of `tile`, a vector of channels at a time."""
        b, a, lanes, channels = self.b, self.a, self.layout.lanes, self.spec.in_channels
        image, row, column = self._position(tile)
        row, column = b.sub(row, self.dims[1].pad_lo), b.sub(column, self.dims[2].pad_lo)
        start = b.linear(self.input.offset, (image, row, column), (self.input.strides[0], *self.input.strides[2:4]))
        rows = [self._is_inside(b.add(row, r), self.dims[1].spread) for r in range(a)]
        is_whole = self._is_whole(row, column)
        with b.for_(0, channels, lanes) as channel:
            at = b.add(start, channel.index)
            with b.if_else(is_whole) as (whole, edge):
                with whole:
                    self._transform_columns(at, square, None, column)
                with edge:
                    self._transform_columns(at, square, rows, column)
            with b.for_(0, a) as line:
                first = b.mul(line.index, a * lanes)
                values = transform_input(b, [b.load(square, b.add(first, q * lanes), lanes) for q in range(a)])
                step = self.schedule.tiles * channels
                into = b.add(b.mul(line.index, a * step), b.add(b.mul(slot, channels), channel.index))
                for q, value in enumerate(values):
                    b.store(value, transformed, b.add(into, q * step))

    def _transform_columns(self, at: Index, square: SSAValue, rows: list[SSAValue] | None, column: Index) -> None:
        """The transform down each of a columns; `rows` says which rows lie in the image, None: the whole tile does."""
        b, a, lanes = self.b, self.a, self.layout.lanes
        with b.for_(0, a) as position:
            here = b.add(at, b.mul(position.index, self.input.strides[3]))
            places = [b.add(here, b.mul(r, self.input.strides[2])) for r in range(a)]
            if rows is None:
                values = [b.load(self.input.buffer, place, lanes) for place in places]
            else:
                is_inside = self._is_inside(b.add(column, position.index), self.dims[2].spread)
                values: list[SSAValue] = []
                for place, row in zip(places, rows, strict=True):
                    mask = b.broadcast(b.int_op(arith.AndIOp, row, is_inside), lanes)
                    values.append(b.masked_load(self.input.buffer, place, mask, lanes))
            for r, value in enumerate(transform_input(b, values)):
                b.store(value, square, b.mul(b.add(position.index, r * a), lanes))

    def _is_inside(self, position: Index, extent: int) -> SSAValue:
        b = self.b
        return b.int_op(arith.AndIOp, b.compare_index("sge", position, 0), b.compare_index("slt", position, extent))

    def _is_whole(self, row: Index, column: Index) -> SSAValue:
        """Whether all the inputs of the tile whose first is at (row, column) lie in the image."""
        b, last = self.b, self.a - 1
        sides = [
            b.compare_index("sge", b.min(row, column), 0),
            b.compare_index("slt", b.add(row, last), self.dims[1].spread),
            b.compare_index("slt", b.add(column, last), self.dims[2].spread),
        ]
        return b.int_op(arith.AndIOp, b.int_op(arith.AndIOp, sides[0], sides[1]), sides[2])

    # -- the products ------------------------------------------------------------------------------------------------

    def _multiply(self, panel: Index, transformed: SSAValue, products: SSAValue) -> None:
        """M[xi] = V[xi] x U[panel][xi]. Slots past the block's tiles hold anything, and are multiplied too."""
        b, layout, schedule, channels = self.b, self.layout, self.schedule, self.spec.in_channels
        squares, height, lanes = self.a * self.a, self.schedule.register_tiles, self.layout.lanes
        zero = b.constant(0, self.spec.element_type, lanes)
        with b.for_(0, squares) as xi, b.for_(0, schedule.tiles, height) as slot:
            row = b.add(b.mul(xi.index, schedule.tiles), slot.index)
            stream = b.mul(b.add(b.mul(panel, squares), xi.index), channels * layout.panel)
            sums = accumulate(
                b,
                MatrixView(transformed, b.mul(row, channels), channels, 1),
                PanelView(self.weight.buffer, b.add(self.weight.offset, stream), layout.panel, layout.vectors, lanes),
                height,
                channels,
                [zero] * (height * layout.vectors),
                self.spec.element_type,
            )
            into = b.mul(row, layout.panel)
            for position, value in enumerate(sums):
                b.store(value, products, b.add(into, position * lanes))

    # -- the way out -------------------------------------------------------------------------------------------------

    def _finish_tile(
        self, tile: Index, slot: Index, panel: Index, lane: Index, products: SSAValue, square: SSAValue
    ) -> None:  # fmt: skip
        """The outputs of `tile` for one vector of the panel's channels."""
        b, a, m, lanes, panel_size = self.b, self.a, self.m, self.layout.lanes, self.layout.panel
        height, width = self.dims[1].static_output, self.dims[2].static_output
        image, row, column = self._position(tile)
        step = self.schedule.tiles * panel_size
        with b.for_(0, a) as position:
            start = b.add(b.mul(position.index, step), b.add(b.mul(slot, panel_size), lane))
            values = [b.load(products, b.add(start, r * a * step), lanes) for r in range(a)]
            for r, value in enumerate(transform_output(b, values)):
                b.store(value, square, b.mul(b.add(position.index, r * a), lanes))
        channel = b.add(b.mul(panel, panel_size), lane)
        first = b.linear(0, (image, row), (height * width, width))
        with b.for_(0, b.min(m, b.sub(height, row))) as line:
            start = b.mul(line.index, a * lanes)
            values = transform_output(b, [b.load(square, b.add(start, q * lanes), lanes) for q in range(a)])
            output = b.add(b.add(first, b.mul(line.index, width)), column)
            for q, value in enumerate(values):
                if q < (width - 1) % m + 1:
                    self.epilogue.store(b, b.add(output, q), channel, value, None)
                    continue
                with b.if_(b.compare_index("slt", b.add(column, q), width)):
                    self.epilogue.store(b, b.add(output, q), channel, value, None)


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)
