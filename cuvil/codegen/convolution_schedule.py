"""How a direct convolution is cut: register tiles, blocks of output pixels, blocks of panels, and who stages its input.

An output image is cut into blocks of `rows` x `columns` pixels; a work item is one block times `panels` weight panels.
Within an item each panel meets each register tile of `tile_rows` x `tile_columns` pixels: one row of pixels where a row
is long enough, several whole rows where it is short (7x7 images take two rows at a time).

Where windows reach into padding, or elements must be converted or gathered, an item first copies the input that its
block reads into a thread-private scratch (zeros around it), so that the inner loop has no special cases. The copy is
small beside the arithmetic: an input element is read kernel x output channels times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuvil.codegen.convolution_packing import ConvolutionSpec, WeightLayout
from cuvil.codegen.packing import element_bits
from cuvil.codegen.windows import WindowDim

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_SCRATCH_BYTES = 384 << 10
"""Stack that a staged block may take: `LoopBuilder.alloca` grants 512 KiB a kernel."""

_COPY_BYTES_PER_CYCLE = 16
_STREAM_BYTES_PER_CYCLE = 24
"""Rates of staging a block, and of bringing weights or input from the outer caches, in the cost of a schedule."""


@dataclass(frozen=True)
class ConvolutionSchedule:
    """The cuts of one convolution with static spatial extents (see the module's text)."""

    tile_rows: int
    tile_columns: int
    rows: int
    columns: int
    panels: int
    staged: bool
    scratch_rows: int = 0
    scratch_columns: int = 0
    scratch_pixel: int = 0
    """Elements from one pixel to the next in the scratch."""


@dataclass(frozen=True)
class _Cost:
    """What a cut of `shape` costs, in cycles of the busiest thread."""

    outer: int
    height: WindowDim
    width: WindowDim
    depth: WindowDim
    tile: tuple[int, int]
    pixel_bytes: int
    vectors: int
    panels: int
    panel_bytes: int
    reduction: int
    staged: bool
    threads: int

    def block_bytes(self, rows: int, columns: int) -> int:
        """Bytes of input that a block reads."""
        return self.depth.kernel * self.height.reach(rows) * self.width.reach(columns) * self.pixel_bytes

    def cycles(self, rows: int, columns: int, panels: int) -> float:
        """The busiest thread's time with these blocks."""
        blocks = self.outer * _ceil(self.height.static_output, rows) * _ceil(self.width.static_output, columns)
        items = blocks * _ceil(self.panels, panels)
        pixels = _ceil(rows, self.tile[0]) * self.tile[0] * columns
        arithmetic = pixels * panels * self.vectors * self.reduction / 2
        copies = self.block_bytes(rows, columns) / (_COPY_BYTES_PER_CYCLE if self.staged else _STREAM_BYTES_PER_CYCLE)
        weights = panels * self.panel_bytes / _STREAM_BYTES_PER_CYCLE
        return _ceil(items, self.threads) * (arithmetic + copies + weights + 500)


def choose_schedule(
    spec: ConvolutionSpec, layout: WeightLayout, dims: tuple[WindowDim, ...], batch: int, staged: bool, threads: int,
    target: CpuTarget,
) -> ConvolutionSchedule | None:  # fmt: skip
    """The best cut for `dims` (depth, height, width; static), or None where no block's input fits the scratch."""
    pixels = layout.pixels
    while pixels:
        found = _schedule_of_tile(spec, layout, dims, batch, staged, threads, target, pixels)
        if found is not None:
            return found
        pixels //= 2
    return None


def _schedule_of_tile(
    spec: ConvolutionSpec, layout: WeightLayout, dims: tuple[WindowDim, ...], batch: int, staged: bool, threads: int,
    target: CpuTarget, pixels: int,
) -> ConvolutionSchedule | None:  # fmt: skip
    """`choose_schedule` for register tiles of at most `pixels` pixels."""
    depth, height, width = dims
    tile = choose_tile(height.static_output, width.static_output, pixels)
    bytes_ = element_bits(spec.accumulator_type) // 8
    reduction = depth.kernel * height.kernel * width.kernel * spec.group_inputs
    panels = _ceil(spec.group_outputs, layout.panel)
    outer = max(1, batch) * depth.static_output * spec.groups
    cost = _Cost(
        outer, height, width, depth, tile, spec.group_inputs * bytes_, layout.vectors, panels,
        reduction * layout.panel * bytes_, reduction, staged, threads,
    )  # fmt: skip
    limit = min(_SCRATCH_BYTES, target.l2_bytes * 2 // 5)
    fits = [
        (rows, columns)
        for rows in _multiples(tile[0], height.static_output)
        for columns in (_multiples(tile[1], width.static_output) if rows == tile[0] else [width.static_output])
        if cost.block_bytes(rows, columns) <= limit
    ]
    if not fits:
        if staged:
            return None
        fits = [tile]
    cuts = [(rows, columns, group) for rows, columns in fits for group in _shares(panels)]
    rows, columns, group = min(cuts, key=lambda cut: cost.cycles(*cut))
    if not staged:
        return ConvolutionSchedule(*tile, rows, columns, group, False)
    return ConvolutionSchedule(
        *tile, rows, columns, group, True, height.reach(rows), width.reach(columns), spec.group_inputs
    )


def choose_tile(height: int, width: int, pixels: int) -> tuple[int, int]:
    """Rows and columns of the register tile, at most `pixels` in all: a row cut evenly, or several short ones."""
    if width == 0 or height == 0:
        return 1, 1
    if width > pixels // 2:
        return 1, _ceil(width, _ceil(width, pixels))
    rows = min(height, pixels // width)
    return _ceil(height, _ceil(height, rows)), width


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _multiples(step: int, extent: int) -> list[int]:
    """Block sizes, multiples of `step` that cut `extent` into 1, 2, 3 ... nearly equal blocks."""
    tiles = max(1, _ceil(extent, step))
    return sorted({min(_ceil(tiles, cuts) * step, max(extent, step)) for cuts in range(1, tiles + 1)})


def _shares(panels: int) -> list[int]:
    """Panels per block when `panels` are cut into 1, 2, 3 ... nearly equal blocks."""
    return sorted({_ceil(panels, cuts) for cuts in range(1, min(panels, 64) + 1)})
