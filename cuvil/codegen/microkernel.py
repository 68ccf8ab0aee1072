"""The register-level inner loop of contractions: a tile of rows x vectors accumulators, summed over k.

The left-hand side is read straight from its rows, one broadcast load an element: a register loop of rows x vectors
multiply-adds hides those loads, so that packing it would only cost time. The right-hand side is a stream of vectors
(a packed panel, or rows of a matrix).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.packing import MatrixView, convert

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

_CHAINS = 8
"""Independent multiply-adds that must be in flight: latency 4 x 2 a cycle."""


@dataclass(frozen=True)
class PanelView:
    """The right-hand side of a tile: `vectors` vectors of `lanes` from position + k * k_stride on."""

    buffer: SSAValue
    position: Index
    k_stride: Index
    vectors: int
    lanes: int
    tail: SSAValue | None = None
    """The lanes of the last vector that exist, where not all do; the others are read as zeros."""

    def load(self, b: LoopBuilder, k: Index) -> list[SSAValue]:
        """The vectors of row k."""
        start = b.add(self.position, b.mul(k, self.k_stride))
        positions = [b.add(start, number * self.lanes) for number in range(self.vectors)]
        if self.tail is None:
            return [b.load(self.buffer, position, self.lanes) for position in positions]
        whole = [b.load(self.buffer, position, self.lanes) for position in positions[:-1]]
        return [*whole, b.masked_load(self.buffer, positions[-1], self.tail, self.lanes)]


def max_rows(target: CpuTarget, vectors: int) -> int:
    """The most rows whose accumulators, with a row of the right-hand side and one broadcast, fit in registers."""
    return max(1, (target.vector_registers - 1 - vectors) // vectors)


def multiply_add(
    b: LoopBuilder, lhs: SSAValue, rhs: SSAValue, accumulator: SSAValue, element_type: Attribute
) -> SSAValue:
    """lhs * rhs + accumulator: fused for floats, wrapping for integers."""
    if isinstance(element_type, AnyFloat):
        return b.fma(lhs, rhs, accumulator)
    return b.int_op(arith.AddiOp, b.int_op(arith.MuliOp, lhs, rhs), accumulator)


def add(b: LoopBuilder, lhs: SSAValue, rhs: SSAValue, element_type: Attribute) -> SSAValue:
    """lhs + rhs of either kind of number."""
    return b.add_float(lhs, rhs) if isinstance(element_type, AnyFloat) else b.int_op(arith.AddiOp, lhs, rhs)


def accumulate(
    b: LoopBuilder,
    lhs: MatrixView,
    rhs: PanelView,
    rows: int,
    depth: Index,
    start: list[SSAValue],
    element_type: Attribute,
    row_offsets: list[Index] | None = None,
) -> list[SSAValue]:
    """start[row * vectors + v] + sum over k < depth of lhs[row, k] * rhs[k, v], products and sums in `element_type`.

    `lhs` is a view of rows x k; its rows lie at `row_offsets` if given, else at its stride. Tiles too small to keep the
    multipliers busy sum several k at once.
    """
    tile = rows * rhs.vectors
    ways = 1
    while ways * tile < _CHAINS and not (isinstance(depth, int) and depth < 4 * ways):
        ways *= 2
    row_offsets = row_offsets or [b.mul(row, lhs.row_stride) for row in range(rows)]
    whole = b.mul(b.div(depth, ways), ways)
    zero = b.constant(0, element_type, rhs.lanes)
    carried = start + [zero] * (tile * (ways - 1))
    with b.for_(0, whole, ways, carried) as loop:
        sums: list[SSAValue] = []
        for way in range(ways):
            own = list(loop.carried[way * tile : (way + 1) * tile])
            sums += _step(b, lhs, rhs, row_offsets, b.add(loop.index, way), own, element_type)
        loop.yield_(*sums)
    results = loop.results[:tile]
    for way in range(1, ways):
        more = loop.results[way * tile : (way + 1) * tile]
        results = [add(b, x, y, element_type) for x, y in zip(results, more, strict=True)]
    if whole == depth:
        return results
    with b.for_(whole, depth, 1, results) as loop:
        loop.yield_(*_step(b, lhs, rhs, row_offsets, loop.index, list(loop.carried), element_type))
    return loop.results


def _step(
    b: LoopBuilder,
    lhs: MatrixView,
    rhs: PanelView,
    row_offsets: list[Index],
    k: Index,
    sums: list[SSAValue],
    element_type: Attribute,
) -> list[SSAValue]:
    """One k: the vectors of the right-hand side, then for each row a broadcast and its multiply-adds."""
    columns = [convert(b, value, element_type) for value in rhs.load(b, k)]
    first = b.add(lhs.position, b.mul(k, lhs.column_stride))
    results: list[SSAValue] = []
    for row, offset in enumerate(row_offsets):
        scalar = convert(b, b.load(lhs.buffer, b.add(first, offset)), element_type)
        factor = b.broadcast(scalar, rhs.lanes)
        for v, column in enumerate(columns):
            results.append(multiply_add(b, factor, column, sums[row * rhs.vectors + v], element_type))
    return results
