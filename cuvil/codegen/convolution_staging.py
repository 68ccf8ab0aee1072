"""Where a block of output pixels reads its input: in place, or from a padded copy in thread-private scratch.

The copy lays rows [kernel depth][rows][columns][channels of the group] densely, zeros where windows reach into padding
or between the elements of an `lhs_dilation`, in the accumulator's element type. Copies may write up to a vector past a
row's end: rows are written in ascending order, and the scratch has a vector to spare.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.access import StridedOperand
from cuvil.codegen.convolution_schedule import ConvolutionSchedule
from cuvil.codegen.loops import Index, LoopBuilder, element_type_of
from cuvil.codegen.packing import convert
from cuvil.codegen.windows import Dims, WindowDim, position_read


@dataclass(frozen=True)
class BlockOrigin:
    """The first output pixel of a block, and the first input channel of its group."""

    image: Index
    depth: Index
    row: Index
    column: Index
    channel: Index


@dataclass(frozen=True)
class BlockView:
    """A block's input: tap (d, h, w), channel c of its output pixel (r, q) lies at
    `base + d * taps[0] + h * taps[1] + w * taps[2] + r * row_step + q * column_step + c * channel_step`.
    """

    buffer: SSAValue
    base: Index
    taps: tuple[Index, Index, Index]
    row_step: Index
    column_step: Index
    channel_step: Index = 1


def view_in_place(b: LoopBuilder, input: StridedOperand, dims: Dims, origin: BlockOrigin) -> BlockView:
    """The block's input where it is; no window may read padding."""
    depth, height, width = dims
    image, plane, row, pixel, channel = input.strides
    base = b.linear(input.offset, (origin.image, origin.channel), (image, channel))
    for dim, first, stride in zip(dims, (origin.depth, origin.row, origin.column), (plane, row, pixel), strict=True):
        base = b.add(base, b.mul(b.sub(b.mul(first, dim.stride), dim.pad_lo), stride))
    taps = (b.mul(plane, depth.dilation), b.mul(row, height.dilation), b.mul(pixel, width.dilation))
    return BlockView(input.buffer, base, taps, b.mul(row, height.stride), b.mul(pixel, width.stride), channel)


def scratch_size(schedule: ConvolutionSchedule, dims: Dims, lanes: int) -> int:
    """Elements of the scratch that `stage_block` fills."""
    rows = dims[0].kernel * schedule.scratch_rows
    return rows * schedule.scratch_columns * schedule.scratch_pixel + lanes


def stage_block(
    b: LoopBuilder, input: StridedOperand, dims: Dims, schedule: ConvolutionSchedule, origin: BlockOrigin,
    channels: int, scratch: SSAValue, lanes: int,
) -> BlockView:  # fmt: skip
    """Copy the block's input to `scratch`, padded; the view of it there."""
    depth, height, width = dims
    row_size = schedule.scratch_columns * schedule.scratch_pixel
    row_copy = _RowCopy(b, input, width, schedule, channels, scratch, lanes, position_read(b, width, origin.column, 0))
    first_plane = position_read(b, depth, origin.depth, 0)
    first_row = position_read(b, height, origin.row, 0)
    base = b.linear(input.offset, (origin.image, origin.channel), (input.strides[0], input.strides[4]))
    with b.for_(0, depth.kernel) as tap, b.for_(0, schedule.scratch_rows) as row:
        plane_at = b.add(first_plane, b.mul(tap.index, depth.dilation))
        row_at = b.add(first_row, row.index)
        target = b.mul(b.add(b.mul(tap.index, schedule.scratch_rows), row.index), row_size)
        is_inside = _both(b, _is_element(b, depth, plane_at), _is_element(b, height, row_at))
        plane, line = b.div(plane_at, depth.lhs_dilation), b.div(row_at, height.lhs_dilation)
        if is_inside is None:
            row_copy.copy(b.linear(base, (plane, line), input.strides[1:3]), target)
        else:
            with b.if_else(is_inside) as (inside, outside):
                with inside:
                    row_copy.copy(b.linear(base, (plane, line), input.strides[1:3]), target)
                with outside:
                    row_copy.zero(target, row_size)
    pixel = schedule.scratch_pixel
    taps = (schedule.scratch_rows * row_size, height.dilation * row_size, width.dilation * pixel)
    return BlockView(scratch, 0, taps, height.stride * row_size, width.stride * pixel)


def _is_element(b: LoopBuilder, dim: WindowDim, position: Index) -> SSAValue | None:
    """Whether spread `position` is an input element; None where every position read is."""
    if not dim.reads_padding:
        return None
    inside = _both(b, b.compare_index("sge", position, 0), b.compare_index("slt", position, dim.spread))
    if dim.lhs_dilation == 1:
        return inside
    # A negative position is not inside whatever its remainder says.
    return _both(b, inside, b.compare_index("eq", b.rem(position, dim.lhs_dilation), 0))


def _both(b: LoopBuilder, lhs: SSAValue | None, rhs: SSAValue | None) -> SSAValue | None:
    if lhs is None or rhs is None:
        return lhs if rhs is None else rhs
    return b.int_op(arith.AndIOp, lhs, rhs)


@dataclass
class _RowCopy:
    """Copies one row of a block; `first` is the spread column that the row starts at."""

    b: LoopBuilder
    input: StridedOperand
    width: WindowDim
    schedule: ConvolutionSchedule
    channels: int
    scratch: SSAValue
    lanes: int
    first: Index

    @property
    def _type(self) -> Attribute:
        return element_type_of(self.scratch.type)

    def zero(self, target: Index, count: Index) -> None:
        """Zero `count` elements from `target` on, and the rest of the last vector."""
        if count == 0:
            return
        zero = self.b.constant(0, self._type, self.lanes)
        with self.b.for_(0, count, self.lanes) as position:
            self.b.store(zero, self.scratch, self.b.add(target, position.index))

    def copy(self, source: Index, target: Index) -> None:
        """Fill the row at `target` from the input row whose first element is `source`, zeros around it."""
        b, columns, pixel = self.b, self.schedule.scratch_columns, self.schedule.scratch_pixel
        if self.width.lhs_dilation > 1 or not self._is_contiguous:
            self.zero(target, columns * pixel)
            self._copy_pixels(source, target)
            return
        before = b.min(b.max(b.sub(0, self.first), 0), columns)
        after = b.min(b.max(b.sub(self.width.spread, self.first), before), columns)
        self.zero(target, b.mul(before, pixel))
        count = b.mul(b.sub(after, before), pixel)
        start = b.add(source, b.mul(b.add(self.first, before), pixel))
        self._copy_run(start, b.add(target, b.mul(before, pixel)), count)
        self.zero(b.add(target, b.mul(after, pixel)), b.mul(b.sub(columns, after), pixel))

    @property
    def _is_contiguous(self) -> bool:
        return self.input.strides[4] == 1 and self.input.strides[3] == self.schedule.scratch_pixel == self.channels

    def _copy_pixels(self, source: Index, target: Index) -> None:
        b, dilation, columns = self.b, self.width.lhs_dilation, self.schedule.scratch_columns
        first = b.ceil_div(b.max(self.first, 0), dilation)
        end = b.ceil_div(b.max(b.min(b.add(self.first, columns), self.width.spread), 0), dilation)
        with b.for_(first, end) as column:
            start = b.add(source, b.mul(column.index, self.input.strides[3]))
            pixel = b.sub(b.mul(column.index, dilation), self.first)
            into = b.add(target, b.mul(pixel, self.schedule.scratch_pixel))
            if self.input.strides[4] == 1:
                self._copy_channels(start, into)
            else:
                with b.for_(0, self.channels) as channel:
                    value = b.load(self.input.buffer, b.add(start, b.mul(channel.index, self.input.strides[4])))
                    b.store(convert(b, value, self._type), self.scratch, b.add(into, channel.index))

    def _copy_channels(self, source: Index, target: Index) -> None:
        """A pixel's channels: whole vectors, then scalars, so that nothing past the pixel is written."""
        b, whole = self.b, self.channels // self.lanes * self.lanes
        for start, end, width in ((0, whole, self.lanes), (whole, self.channels, 1)):
            if start < end:
                with b.for_(start, end, width) as channel:
                    value = b.load(self.input.buffer, b.add(source, channel.index), width)
                    b.store(convert(b, value, self._type), self.scratch, b.add(target, channel.index))

    def _copy_run(self, source: Index, target: Index, count: Index) -> None:
        """`count` elements by vectors, the last one loaded under a mask."""
        b, lanes = self.b, self.lanes
        whole = b.mul(b.div(count, lanes), lanes)
        if whole != 0:
            with b.for_(0, whole, lanes) as position:
                value = b.load(self.input.buffer, b.add(source, position.index), lanes)
                b.store(convert(b, value, self._type), self.scratch, b.add(target, position.index))
        rest = b.sub(count, whole)
        if rest != 0:
            value = b.masked_load(self.input.buffer, b.add(source, whole), b.tail_mask(rest, lanes), lanes)
            b.store(convert(b, value, self._type), self.scratch, b.add(target, whole))
