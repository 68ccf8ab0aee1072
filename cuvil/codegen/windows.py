"""The spatial dims of a sliding window (convolution or pool): which inputs an output position reads."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from cuvil.codegen.access import StridedOperand
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.work_items import work_items
from cuvil.semantics.dims import Dim


@dataclass(frozen=True)
class WindowDim:
    """Output o, tap t reads position `o * stride + t * dilation - pad_lo` of the input spread by `lhs_dilation`.

    Positions outside `[0, spread)` and positions between the spread elements are padding.
    """

    input: Index
    kernel: int
    output: Index
    stride: int = 1
    pad_lo: int = 0
    pad_hi: int = 0
    dilation: int = 1
    lhs_dilation: int = 1

    @property
    def is_static(self) -> bool:
        """Both extents are known."""
        return isinstance(self.input, int) and isinstance(self.output, int)

    @property
    def is_identity(self) -> bool:
        """Output o reads input o and nothing else."""
        return (self.kernel, self.stride, self.pad_lo, self.pad_hi, self.lhs_dilation) == (1, 1, 0, 0, 1)

    @property
    def static_output(self) -> int:
        """The output's extent, which must be known."""
        assert isinstance(self.output, int)
        return self.output

    @property
    def spread(self) -> int:
        """The input's extent with `lhs_dilation - 1` holes between its elements (static extents)."""
        assert isinstance(self.input, int)
        return (self.input - 1) * self.lhs_dilation + 1 if self.input else 0

    def reach(self, outputs: int) -> int:
        """How many consecutive positions `outputs` neighbouring outputs read."""
        return (outputs - 1) * self.stride + (self.kernel - 1) * self.dilation + 1

    @property
    def reads_padding(self) -> bool:
        """Some output reads a position that is not an input element (static extents)."""
        outside = self.pad_lo > 0 or self.reach(self.static_output) - self.pad_lo > self.spread
        return self.static_output > 0 and (outside or self.lhs_dilation > 1)


Dims: TypeAlias = tuple[WindowDim, WindowDim, WindowDim]
"""Depth, height, width."""


def with_unit_dims(dims: Sequence[WindowDim]) -> Dims:
    """Three dims (depth, height, width), the missing leading ones of extent 1."""
    padded = (*(WindowDim(1, 1, 1) for _ in range(3 - len(dims))), *dims)
    return padded[0], padded[1], padded[2]


def operand_with_unit_dims(operand: StridedOperand) -> StridedOperand:
    """[N, spatial..., C] seen as [N, D, H, W, C]."""
    missing = 5 - len(operand.shape)
    shape = (operand.shape[0], *[1] * missing, *operand.shape[1:])
    strides = (operand.strides[0], *[0] * missing, *operand.strides[1:])
    return StridedOperand(operand.buffer, operand.offset, shape, strides)


_SEQUENTIAL_WORK = 1 << 18
"""Fewer multiply-adds than this (a few microseconds) take less time than it takes to wake the threads."""


def window_items(b: LoopBuilder, count: Index, work: Dim | None) -> AbstractContextManager[Index]:
    """The body for each of `count` items, over the threads if the `work` in all, in multiply-adds, is worth it."""
    return b.parallel(count) if work is None and count != 1 else work_items(b, count, work or 0, _SEQUENTIAL_WORK)


def multiply_adds(dims: Dims, batch: Index, each: int) -> Dim | None:
    """`each` multiply-adds for every tap of every output pixel of all images, if the symbols tell the number."""
    total: Dim = each * dims[0].kernel * dims[1].kernel * dims[2].kernel
    for extent in (batch, *(dim.output for dim in dims)):
        if isinstance(extent, SSAValue):
            return None
        total = total * extent
    return total


# -- what is read, as IR -----------------------------------------------------------------------------------------------


def position_read(b: LoopBuilder, dim: WindowDim, output: Index, tap: Index) -> Index:
    """The spread position that `tap` of `output` reads; negative or past the end in the padding."""
    return b.add(b.sub(b.mul(output, dim.stride), dim.pad_lo), b.mul(tap, dim.dilation))


def tap_range(b: LoopBuilder, dim: WindowDim, output: Index) -> tuple[Index, Index]:
    """The taps [first, end) of `output` that read input elements (no `lhs_dilation`); first >= end if none does."""
    if dim.is_static and not dim.reads_padding:
        return 0, dim.kernel
    start = position_read(b, dim, output, 0)
    first = b.ceil_div(b.max(b.sub(0, start), 0), dim.dilation)
    return first, b.min(b.ceil_div(b.max(b.sub(dim.input, start), 0), dim.dilation), dim.kernel)


def element_read(b: LoopBuilder, dim: WindowDim, output: Index, tap: Index) -> tuple[Index, SSAValue]:
    """The input element that `tap` of `output` reads, clamped into the input, and whether it really is one."""
    at = position_read(b, dim, output, tap)
    clamped = b.max(at, 0)
    element = b.div(clamped, dim.lhs_dilation)
    inside = b.int_op(arith.AndIOp, b.compare_index("sge", at, 0), b.compare_index("slt", element, dim.input))
    if dim.lhs_dilation > 1:
        inside = b.int_op(arith.AndIOp, inside, b.compare_index("eq", b.rem(clamped, dim.lhs_dilation), 0))
    return b.min(element, b.sub(dim.input, 1)), inside


# -- rows of outputs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutputRow:
    """A row of outputs: where it is, and the epilogue's row of its first output."""

    image: Index
    plane: Index
    line: Index
    first_output: Index


@dataclass(frozen=True)
class Channels:
    """How many channels there are, and how many of them a vector takes."""

    count: int
    lanes: int


@contextmanager
def output_rows(
    b: LoopBuilder, dims: Dims, images: Index, channels: Channels, threads: int, work: Dim | None
) -> Generator[tuple[OutputRow, Index, Index]]:
    """Rows of outputs in parallel, with a range [first, end) of channels: all, or runs of them where rows are few."""
    depth, height, width = dims
    vectors = -(-channels.count // channels.lanes)
    rows = b.product([images, depth.output, height.output])
    is_uneven = isinstance(rows, int) and rows % threads != 0 and rows < 16 * threads
    blocks = min(threads, vectors) if is_uneven else 1
    share = -(-vectors // blocks) * channels.lanes
    with window_items(b, b.mul(rows, blocks), work) as item:
        block, row = (0, item) if blocks == 1 else (b.div(item, rows), b.rem(item, rows))
        image, plane, line = b.delinearize(row, [images, depth.output, height.output])
        first = b.mul(block, share)
        yield OutputRow(image, plane, line, b.mul(row, width.output)), first, b.add(first, share)


# -- tiles along a row -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowTile:
    """Tiles of `outputs` neighbouring outputs at first, first + outputs ... < end, alike in which pixels lie inside.

    Pixels are counted from the position that tap 0 of the tile's first output reads; None for tiles of one output whose
    pixels only the running kernel knows.
    """

    first: Index
    end: Index
    outputs: int
    pixels: tuple[int, ...] | None

    def readers(self, dim: WindowDim) -> list[tuple[int, list[tuple[int, int]]]]:
        """For each pixel inside the input, in order: the (output, tap) pairs that read it."""
        found: dict[int, list[tuple[int, int]]] = {pixel: [] for pixel in self.pixels or ()}
        for output in range(self.outputs):
            for tap in range(dim.kernel):
                pixel = output * dim.stride + tap * dim.dilation
                if pixel in found:
                    found[pixel].append((output, tap))
        return [(pixel, readers) for pixel, readers in found.items() if readers]


def row_tiles(dim: WindowDim, most: int) -> list[RowTile]:
    """A row of outputs (static, no `lhs_dilation`) in nearly equal tiles of at most `most`, alike ones together."""
    extent = dim.static_output
    step = -(-extent // -(-extent // most)) if extent else 1
    tiles: list[RowTile] = []
    for first in range(0, extent, step):
        outputs = min(step, extent - first)
        start = first * dim.stride - dim.pad_lo
        pixels = tuple(pixel for pixel in range(dim.reach(outputs)) if 0 <= start + pixel < dim.spread)
        last = tiles[-1] if tiles else None
        if last is not None and (last.outputs, last.pixels) == (outputs, pixels):
            tiles[-1] = RowTile(last.first, first + outputs, outputs, pixels)
        else:
            tiles.append(RowTile(first, first + outputs, outputs, pixels))
    return tiles


def loop_tiles(b: LoopBuilder, dim: WindowDim, *sizes: int) -> list[RowTile]:
    """A row (no `lhs_dilation`) in tiles whose windows lie inside, as many as can be of each of the `sizes` in turn,
    and in single outputs at the edges.
    """
    extent, stride = dim.output, dim.stride
    first = b.min(extent, max(0, -(-dim.pad_lo // stride)))
    reaching = b.add(dim.input, dim.pad_lo - dim.reach(1) + stride)
    inside = b.min(b.div(b.max(reaching, 0), stride), extent)
    tiles = [RowTile(0, first, 1, None)]
    for outputs in sizes:
        count = b.div(b.max(b.sub(inside, first), 0), outputs)
        end = b.add(first, b.mul(count, outputs))
        tiles.append(RowTile(first, end, outputs, tuple(range(dim.reach(outputs)))))
        first = end
    tiles.append(RowTile(first, extent, 1, None))
    return [tile for tile in tiles if tile.first is not tile.end and tile.first != tile.end]
