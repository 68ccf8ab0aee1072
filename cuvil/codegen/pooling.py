"""Emit pools, channels-last: maximum, minimum, sum and average over sliding windows.

A vector is a run of channels, a tile some neighbouring outputs of a row. Each input column under the tile is first
combined over the window's planes and rows, once for all the outputs that read it; then each output combines its
columns. Rows outside the image are skipped by the loops' bounds, columns by the tile's code (see `windows.row_tiles`),
or one output at a time at the edges of rows whose length only the running kernel knows.

Finished values are of the accumulator's type (f32 for f16 and bf16). NaN propagates through extremes, as in PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import add
from cuvil.codegen.packing import accumulator_type, convert, element_bits
from cuvil.codegen.windows import (
    Channels,
    Dims,
    OutputRow,
    RowTile,
    WindowDim,
    loop_tiles,
    multiply_adds,
    operand_with_unit_dims,
    output_rows,
    position_read,
    row_tiles,
    tap_range,
    with_unit_dims,
)

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_SPARE_REGISTERS = 8
_MOST_OUTPUTS = 14
_FEW_OUTPUTS = 4


@dataclass(frozen=True)
class PoolSpec:
    """A pool of [N, spatial..., channels]; spatial rank 1 to 3.

    Windows may reach past `padding` at the end of a dim, as `ceil_mode` makes them do. An average divides by
    `divisor_override` if given, else by the number of window elements that lie in the input or, with
    `count_include_pad`, in the input and its `padding`. Elements past that padding never count.
    """

    kind: Literal["max", "min", "sum", "average"]
    element_type: Attribute
    channels: int
    input: tuple[Index, ...]
    kernel: tuple[int, ...]
    output: tuple[Index, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    count_include_pad: bool = True
    divisor_override: int | None = None
    is_unsigned: bool = False
    """Whether integers, which are signless here, count as unsigned."""

    @property
    def dims(self) -> tuple[WindowDim, ...]:
        """The spatial dims, outermost first."""
        return tuple(
            WindowDim(extent, kernel, output, stride, lo, hi, dilation)
            for extent, kernel, output, stride, (lo, hi), dilation in zip(
                self.input, self.kernel, self.output, self.strides, self.padding, self.dilation, strict=True
            )
        )  # fmt: skip


def emit_pool(
    b: LoopBuilder, target: CpuTarget, spec: PoolSpec, input: StridedOperand, epilogue: Epilogue, threads: int
) -> None:
    """Append the pool of `input`; the epilogue's rows flatten N and output spatial dims, its columns are channels."""
    dims = with_unit_dims(spec.dims)
    input = operand_with_unit_dims(input)
    type_ = accumulator_type(spec.element_type)
    if spec.channels == 0 or any(extent == 0 for extent in (input.shape[0], *(dim.output for dim in dims))):
        return
    lanes = target.lanes(element_bits(type_)) if input.strides[4] == 1 else 1
    room = target.vector_registers - _SPARE_REGISTERS
    outputs = _outputs_of_tile(dims[2], room)
    _Pool(b, spec, dims, input, epilogue, type_, lanes).emit(outputs, threads)


def _outputs_of_tile(width: WindowDim, room: int) -> int:
    """How many neighbouring outputs read at most `room` columns; 0 where not even one does.

    In rows whose length only the running kernel knows, few, since what is left of them goes one by one.
    """
    most = _MOST_OUTPUTS if width.is_static else _FEW_OUTPUTS
    return min(most, max(0, (room - width.reach(1)) // width.stride + 1)) if width.reach(1) <= room else 0


@dataclass
class _Pool:
    """One pool being emitted."""

    b: LoopBuilder
    spec: PoolSpec
    dims: Dims
    input: StridedOperand
    epilogue: Epilogue
    type: Attribute
    lanes: int

    def emit(self, outputs: int, threads: int) -> None:
        """Rows of outputs in parallel; where they are few, runs of channels too. No `outputs`: one at a time."""
        b, width = self.b, self.dims[2]
        work = multiply_adds(self.dims, self.input.shape[0], self.spec.channels)
        channels = Channels(self.spec.channels, self.lanes)
        with output_rows(b, self.dims, self.input.shape[0], channels, threads, work) as (row, first, end):
            if outputs == 0:
                with b.for_(0, width.output) as column:
                    self._channels(row, column.index, None, first, end)
                return
            for tile in row_tiles(width, outputs) if width.is_static else loop_tiles(b, width, outputs):
                with b.for_(tile.first, tile.end, tile.outputs) as column:
                    self._channels(row, column.index, None if tile.pixels is None else tile, first, end)

    def _channels(self, row: OutputRow, column: Index, tile: RowTile | None, first: Index, end: Index) -> None:
        """Every vector of channels in [first, end), the last one masked if it is not whole."""
        b, channels, lanes = self.b, self.spec.channels, self.lanes
        whole = channels // lanes * lanes
        divisors = self._divisors(row, column, tile.outputs if tile else 1)
        if whole:
            with b.for_(first, b.min(end, whole), lanes) as channel:
                self._tile(row, column, tile, channel.index, divisors, None)
        if whole == channels:
            return
        mask = b.tail_mask(channels - whole, lanes)
        with b.if_(b.compare_index("sgt", end, whole)):
            self._tile(row, column, tile, whole, divisors, mask)

    def _tile(
        self, row: OutputRow, column: Index, tile: RowTile | None, channel: Index, divisors: list[SSAValue],
        mask: SSAValue | None,
    ) -> None:  # fmt: skip
        """The outputs [column, column + tile.outputs) of one vector of channels."""
        b, (_, _, width) = self.b, self.dims
        start = b.linear(self.input.offset, (row.image, channel), (self.input.strides[0], self.input.strides[4]))
        if tile is None:
            values = [self._window(row, column, start, mask)]
        else:
            start = b.add(start, b.mul(position_read(b, width, column, 0), self.input.strides[3]))
            values = self._outputs(tile, self._columns(row, tile, start, mask))
        for output, value in enumerate(values):
            if divisors:
                value = self._divide(value, divisors[output])
            self.epilogue.store(b, b.add(row.first_output, b.add(column, output)), channel, value, mask)

    def _columns(self, row: OutputRow, tile: RowTile, start: Index, mask: SSAValue | None) -> dict[int, SSAValue]:
        """Each column under the tile, combined over the window's planes and rows."""
        b, (depth, height, width) = self.b, self.dims
        pixels = [pixel for pixel, _ in tile.readers(width)]
        init = [self._neutral] * len(pixels)
        with b.for_(*tap_range(b, depth, row.plane), 1, init) as plane:
            plane_at = b.mul(position_read(b, depth, row.plane, plane.index), self.input.strides[1])
            with b.for_(*tap_range(b, height, row.line), 1, plane.carried) as line:
                line_at = b.mul(position_read(b, height, row.line, line.index), self.input.strides[2])
                at = b.add(start, b.add(plane_at, line_at))
                line.yield_(
                    *(
                        self._combine(carried, self._load(b.add(at, b.mul(pixel, self.input.strides[3])), mask))
                        for carried, pixel in zip(line.carried, pixels, strict=True)
                    )
                )
            plane.yield_(*line.results)
        return dict(zip(pixels, plane.results, strict=True))

    def _outputs(self, tile: RowTile, columns: dict[int, SSAValue]) -> list[SSAValue]:
        values: list[SSAValue | None] = [None] * tile.outputs
        for pixel, readers in tile.readers(self.dims[2]):
            for output, _ in readers:
                value = values[output]
                values[output] = columns[pixel] if value is None else self._combine(value, columns[pixel])
        return [self._neutral if value is None else value for value in values]

    def _window(self, row: OutputRow, column: Index, start: Index, mask: SSAValue | None) -> SSAValue:
        """One output's whole window, element by element."""
        b, (depth, height, width) = self.b, self.dims
        strides = self.input.strides
        with b.for_(*tap_range(b, depth, row.plane), 1, [self._neutral]) as plane:
            plane_at = b.add(start, b.mul(position_read(b, depth, row.plane, plane.index), strides[1]))
            with b.for_(*tap_range(b, height, row.line), 1, plane.carried) as line:
                line_at = b.add(plane_at, b.mul(position_read(b, height, row.line, line.index), strides[2]))
                with b.for_(*tap_range(b, width, column), 1, line.carried) as tap:
                    at = b.add(line_at, b.mul(position_read(b, width, column, tap.index), strides[3]))
                    tap.yield_(self._combine(tap.carried[0], self._load(at, mask)))
                line.yield_(*tap.results)
            plane.yield_(*line.results)
        return plane.results[0]

    # -- elements ----------------------------------------------------------------------------------------------------

    @property
    def _neutral(self) -> SSAValue:
        kind = self.spec.kind
        if kind not in ("max", "min"):
            return self.b.constant(0, self.type, self.lanes)
        if isinstance(self.type, AnyFloat):
            return self.b.constant(float("-inf" if kind == "max" else "inf"), self.type, self.lanes)
        assert isinstance(self.type, IntegerType)
        least = 0 if self._is_unsigned else -(1 << self.type.width.data - 1)
        # Below the least number is the largest one, in two's complement or not.
        return self.b.constant(least if kind == "max" else least - 1, self.type, self.lanes)

    @property
    def _is_unsigned(self) -> bool:
        type_ = self.type
        is_integer = isinstance(type_, IntegerType)
        return self.spec.is_unsigned or (
            is_integer and (type_.signedness.data == Signedness.UNSIGNED or type_.width.data == 1)
        )

    def _load(self, position: Index, mask: SSAValue | None) -> SSAValue:
        b, buffer = self.b, self.input.buffer
        if mask is None:
            value = b.load(buffer, position, self.lanes)
        else:
            value = b.masked_load(buffer, position, mask, self.lanes)
        return convert(b, value, self.type)

    def _combine(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        b = self.b
        kind = self.spec.kind
        if kind not in ("max", "min"):
            return add(b, lhs, rhs, self.type)
        if not isinstance(self.type, AnyFloat):
            signed, unsigned = (arith.MaxSIOp, arith.MaxUIOp) if kind == "max" else (arith.MinSIOp, arith.MinUIOp)
            return b.int_op(unsigned if self._is_unsigned else signed, lhs, rhs)
        # One machine maximum, which yields lhs where either is NaN, and a repair where rhs is; `arith.maximumf` would
        # also order the zeros, which PyTorch does not.
        beyond = b.select(b.compare_float("ogt" if kind == "max" else "olt", rhs, lhs), rhs, lhs)
        return b.select(b.compare_float("uno", rhs, rhs), rhs, beyond)

    # -- averages ----------------------------------------------------------------------------------------------------

    def _divisors(self, row: OutputRow, column: Index, outputs: int) -> list[SSAValue]:
        """What each of the tile's outputs is divided by, in every lane; empty if the pool is no average."""
        if self.spec.kind != "average":
            return []
        b = self.b
        if self.spec.divisor_override is not None:
            return [b.constant(self.spec.divisor_override, self.type, self.lanes)] * outputs
        area = b.mul(self._count(self.dims[0], row.plane), self._count(self.dims[1], row.line))
        counts = [b.mul(area, self._count(self.dims[2], b.add(column, output))) for output in range(outputs)]
        return [self._lanes_of(count) for count in counts]

    def _count(self, dim: WindowDim, output: Index) -> Index:
        """The taps of one dim that count in an average: at least one, so that an empty window gives 0."""
        b = self.b
        if not self.spec.count_include_pad:
            first, end = tap_range(b, dim, output)
            return b.max(b.sub(end, first), 1)
        if dim.is_static and isinstance(dim.input, int) and isinstance(dim.output, int):
            if dim.reach(dim.output) <= dim.pad_lo + dim.input + dim.pad_hi:
                return dim.kernel
        end = b.sub(b.add(dim.input, dim.pad_hi), position_read(b, dim, output, 0))
        return b.max(b.min(dim.kernel, b.ceil_div(b.max(end, 0), dim.dilation)), 1)

    def _lanes_of(self, count: Index) -> SSAValue:
        b = self.b
        if isinstance(count, int):
            return b.constant(count, self.type, self.lanes)
        if not isinstance(self.type, AnyFloat):
            return b.broadcast(b.cast_index(b.index(count), self.type), self.lanes)
        whole = b.cast_index(b.index(count), IntegerType(32))
        return b.broadcast(b.op(arith.SIToFPOp, whole, result=self.type), self.lanes)

    def _divide(self, value: SSAValue, divisor: SSAValue) -> SSAValue:
        if isinstance(self.type, AnyFloat):
            return self.b.div_float(value, divisor)
        return self.b.int_op(arith.DivSIOp, value, divisor)
