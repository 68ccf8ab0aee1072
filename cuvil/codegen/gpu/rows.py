"""Row kernels: a block for each row, its threads side by side along it (softmax, norms, sums over trailing axes).

The stages are the CPU's (`cuvil.codegen.row_loops`); a reduction ends with an exchange among the block's threads: by
shuffles within warps where the type has 32 bits, then through shared memory. What several stages need is computed
again from the row, which the caches hold.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, IntegerAttr, i32
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.gpu.builder import GpuLoopBuilder
from cuvil.codegen.loop_kernel import LoopKernel, attempt
from cuvil.codegen.points import FlatGroup, Point, PointEvaluator
from cuvil.codegen.reductions import accumulator_type, across_lanes, combine, narrowed, neutral
from cuvil.codegen.row_loops import Row, Rows
from cuvil.dialects import gpu as cuvil_gpu
from cuvil.dialects import tensor as ct
from cuvil.dialects.gpu import ShuffleKind
from cuvil.semantics.dims import Dim

WARP = cuvil_gpu.WARP_SIZE
_MOST_THREADS = 512
_SYMBOLIC_THREADS = 256


def threads_for(length: Dim) -> int:
    """The threads of a block for rows of this length."""
    if not isinstance(length, int):
        return _SYMBOLIC_THREADS
    wanted = WARP
    while wanted < _MOST_THREADS and wanted * 4 < length:
        wanted *= 2
    return wanted


class GpuRows(Rows):
    """Rows by blocks; see the module's docstring."""

    def __init__(self, b: GpuLoopBuilder, kernel: LoopKernel) -> None:
        super().__init__(b, kernel)
        self.threads = b

    def emit(self) -> None:
        self.prepare()
        if self.rows == 0:
            return
        for width in dict.fromkeys((self.kernel.lanes, 1)):
            if width > 1 and not self.threads.is_multiple(self.length, width):
                continue
            if attempt(self.b, lambda width=width: self._over_rows(width)) is None:
                return
        raise AssertionError("one element at a time is always possible")

    def _over_rows(self, width: int) -> None:
        b = self.threads
        b.parallel_counts[:] = [b.mul(self.rows, b.threads)]
        with b.for_(b.block_number(), self.rows, b.blocks()) as loop:
            _GpuRow(self, FlatGroup(loop.index, self.shape[: self.split]), width).emit()
        assert b.block.last_op is not None
        b.parallel_loops.append(b.block.last_op)


class _GpuRow(Row):
    def __init__(self, nest: GpuRows, row: FlatGroup, width: int) -> None:
        super().__init__(nest, row, width, {}, 0)
        self.block, self.width = nest.threads, width

    def _store_row_value(self, value: SSAValue, buffer: SSAValue) -> None:
        b = self.block
        with b.if_(b.compare_index("eq", b.thread(), 0)):
            super()._store_row_value(value, buffer)

    def _sweep(self, stage: int, body: Callable[[PointEvaluator, Point], object]) -> None:
        b, width = self.block, self.width
        start = b.mul(b.thread(), width)
        with b.for_(start, self.nest.length, width * b.threads) as loop:
            position = b.multiple(loop.index, width)
            body(self._evaluator(width, None), self._point(position, width))

    def _reduce(self, stage: int, reductions: list[ct.ReduceOp]) -> None:
        b, width = self.block, self.width
        totals = [neutral(b, op.kind.data, ct.element_of(op.input), width) for op in reductions]
        start = b.mul(b.thread(), width)
        with b.for_(start, self.nest.length, width * b.threads, totals) as loop:
            position = b.multiple(loop.index, width)
            evaluator, point = self._evaluator(width, None), self._point(position, width)
            sums = zip(reductions, loop.carried, strict=True)
            loop.yield_(*(self._added(op, evaluator, point, total) for op, total in sums))
        for op, total in zip(reductions, loop.results, strict=True):
            element = ct.element_of(op.input)
            own = across_lanes(b, op.kind.data, element, total) if width > 1 else total
            whole = reduce_over_block(b, op.kind.data, element, own)
            self.scalars[op.result] = narrowed(b, whole, element)


def reduce_over_block(b: GpuLoopBuilder, kind: str, element: Attribute, value: SSAValue) -> SSAValue:
    """Every thread's value combined, for every thread; all threads of the block call it together."""
    kept = accumulator_type(element)
    if isinstance(kept, Float32Type) or kept == i32:
        distance = WARP // 2
        while distance:
            offset = b.op(arith.ConstantOp, result=i32, value=IntegerAttr(distance, i32))
            other = b.insert(cuvil_gpu.WarpShuffleOp(ShuffleKind.XOR, value, offset))
            value = combine(b, kind, element, value, other)
            distance //= 2
        return value if b.threads == WARP else _over_shared(b, kind, element, value, b.threads // WARP, WARP)
    return _over_shared(b, kind, element, value, b.threads, 1)


def _over_shared(
    b: GpuLoopBuilder, kind: str, element: Attribute, value: SSAValue, parts: int, threads_each: int
) -> SSAValue:
    """Combine the values of `parts` groups of threads: each group's first writes, a tree halves them."""
    buffer = b.shared(accumulator_type(element), parts)
    part = b.div(b.thread(), threads_each)
    with b.if_(b.compare_index("eq", b.rem(b.thread(), threads_each), 0)):
        b.store(value, buffer, part)
    b.barrier()
    half = parts // 2
    while half:
        with b.if_(b.compare_index("slt", b.thread(), half)):
            both = combine(b, kind, element, b.load(buffer, b.thread()), b.load(buffer, b.add(b.thread(), half)))
            b.store(both, buffer, b.thread())
        b.barrier()
        half //= 2
    result = b.load(buffer, 0)
    # The buffer is written again for the next row.
    b.barrier()
    return result
