"""Pointwise kernels whose operands run along another dim than the result: blocks of lanes x lanes, transposed in
registers.

    result[d, l] = f(source[l, d]):  lanes run along d for loads and arithmetic, along l for stores

A block is read as `width` vectors along *columns* (the dims that the operands are contiguous in), computed there, and
transposed by `packing.transpose`; its rows are stored along *rows* (the result's last dims). The last block of a dim
begins early enough to be whole, and computes some elements again: no operand can have been overwritten by then, since
one that is read along `columns` cannot share the result's buffer. A dim whose size is symbolic may be shorter than a
block: then a test at run time chooses other loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from cuvil.codegen.loop_kernel import LoopKernel, attempt, loop_index, outer_loop
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.packing import transpose
from cuvil.codegen.points import Coordinate, FlatGroup, PointEvaluator, linear_position
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of


def emit_transposed(b: LoopBuilder, kernel: LoopKernel, otherwise: Callable[[], None]) -> bool:
    """Append the kernel's loops if blocks serve it: every load is then contiguous or one scalar.

    `otherwise` appends the loops for dims that turn out shorter than a block, where that is known at run time only.
    """
    shape, width = dims_of(kernel.results[0][0]), kernel.lanes
    if width < 4 or len(kernel.results) > 2:
        return False
    return any(
        attempt(b, lambda split=split: _emit_blocks(_Blocks(b, kernel, shape, width, *split), otherwise)) is None
        for split in _splits(b, shape, width)
    )


def _emit_blocks(blocks: _Blocks, otherwise: Callable[[], None]) -> None:
    b, width = blocks.b, blocks.width
    extents = [blocks.extent(dims) for dims in (blocks.columns, blocks.rows)]
    tests = [b.compare_index("sge", extent, width) for extent in extents if not b.is_at_least(extent, width)]
    if not tests:
        blocks.emit()
        return
    is_long = tests[0] if len(tests) == 1 else b.int_op(arith.AndIOp, *tests)
    with b.if_else(is_long) as (then, other):
        with then:
            blocks.emit()
        with other:
            otherwise()


def _splits(b: LoopBuilder, shape: tuple[Dim, ...], width: int) -> Iterator[tuple[range, range]]:
    """The dims of columns and of rows that a block could have, the most dims first; both at least a vector long, as
    far as is known.
    """
    rank = len(shape)
    for row in range(1, rank):
        if b.is_at_least(width - 1, product(shape[row:])):
            continue
        for end in range(row, 0, -1):
            for start in range(end):
                if not b.is_at_least(width - 1, product(shape[start:end])):
                    yield range(start, end), range(row, rank)


@dataclass
class _Blocks:
    b: LoopBuilder
    kernel: LoopKernel
    shape: tuple[Dim, ...]
    width: int
    columns: range
    rows: range

    def emit(self) -> None:
        b, width = self.b, self.width
        others = tuple(
            self.shape[dim] for dim in range(len(self.shape)) if dim not in self.columns and dim not in self.rows
        )
        across, along = self.extent(self.columns), self.extent(self.rows)
        blocks = b.ceil_div(across, width)
        with outer_loop(b, b.mul(product(others), blocks), self.kernel.flops(), self.kernel.threads) as loop:
            item = loop_index(loop)
            with FlatGroup.of_row(b, b.div(item, blocks), others) as fixed:
                column = self._start(b.mul(b.rem(item, blocks), width), across)
                with b.for_(0, along, width) as inner:
                    self._block(fixed, column, self._start(inner.index, along))

    def extent(self, dims: range) -> Dim:
        """The elements along the dims taken as one."""
        return product(self.shape[dim] for dim in dims)

    def _start(self, position: Index, extent: Dim) -> Index:
        return position if self.b.rem(extent, self.width) == 0 else self.b.min(position, extent - self.width)

    def _point(
        self, fixed: FlatGroup, column: Index, column_step: int, row: Index, row_step: int
    ) -> tuple[Coordinate, ...]:
        columns, rows = self._run(self.columns, column, column_step), self._run(self.rows, row, row_step)
        rest = iter(fixed.coordinates())
        return tuple(
            columns[dim - self.columns.start]
            if dim in self.columns
            else rows[dim - self.rows.start]
            if dim in self.rows
            else next(rest)
            for dim in range(len(self.shape))
        )

    def _run(self, dims: range, position: Index, step: int) -> list[Coordinate]:
        """Coordinates of neighbouring dims from their flat position."""
        extents = tuple(self.shape[dim] for dim in dims)
        wide = [place for place, extent in enumerate(extents) if extent != 1]
        if len(wide) > 1:
            return FlatGroup(position, extents, step).coordinates()
        inside = [Coordinate(0, 0, 0, 1) for _ in extents]
        inside[wide[0]] = Coordinate(position, step, 0, extents[wide[0]])
        return inside

    def _block(self, fixed: FlatGroup, column: Index, row: Index) -> None:
        b, width = self.b, self.width
        is_aligned = b.rem(self.extent(self.columns), width) == 0
        lines = [list[SSAValue]() for _ in self.kernel.results]
        evaluator = PointEvaluator(b, width, self.kernel.buffers, aligned=is_aligned, contiguous=True)
        for line in range(width):
            point = self._point(fixed, column, 1, b.add(row, line), 0)
            for values, (value, _) in zip(lines, self.kernel.results, strict=True):
                values.append(evaluator.vector(value, point))
        for values, (value, buffer) in zip(lines, self.kernel.results, strict=True):
            for line, turned in enumerate(transpose(b, values)):
                point = self._point(fixed, b.add(column, line), 0, row, 1)
                position, _ = linear_position(b, dims_of(value), point)
                b.store(turned, buffer, position)
