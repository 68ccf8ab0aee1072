"""What every emitter of loops starts from: the kernel to emit, refusals taken back, and stores of lanes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from cuvil.codegen.loops import ForLoop, Index, LoopBuilder, element_type_of
from cuvil.codegen.points import (
    CannotFlatten,
    CannotVectorize,
    NeedsCut,
    Point,
    PointEvaluator,
    linear_position,
)
from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of
from cuvil.targets.cpu import CpuTarget

_LANES_STORED_IN_LINE = 16
_PARTS_A_THREAD = 4
"""Parts of a loop of unknown length for each thread that it was compiled for: there may be more when it runs."""


@dataclass(frozen=True)
class LoopKernel:
    """A region to emit: its results with the flat buffers they go to, and the buffers of its arguments."""

    operations: Sequence[Operation]
    results: Sequence[tuple[SSAValue, SSAValue]]
    buffers: dict[SSAValue, SSAValue]
    target: CpuTarget
    threads: int

    @property
    def reductions(self) -> list[ct.ReduceOp]:
        """The region's reductions in order."""
        return [op for op in self.operations if isinstance(op, ct.ReduceOp)]

    @property
    def lanes(self) -> int:
        """Lanes of a vector: as many as fit of the widest common element type; bools and bytes count as 32 bits."""
        widest = 32
        for op in self.operations:
            for value in (*op.operands, *op.results):
                element = ct.element_of(value)
                bits = getattr(element, "bitwidth", 32)
                widest = max(widest, bits)
        return max(self.target.lanes(widest), 1)

    def flops(self) -> Dim:
        """Element-operations of the region, as a measure of its work."""
        total: Dim = 0
        for op in self.operations:
            cost = op.function.flops if isinstance(op, ct.ElementwiseOp) else 1
            total = total + cost * product(dims_of(op.results[0]) if op.results else ())
            if isinstance(op, ct.ReduceOp):
                total = total + product(dims_of(op.input))
        return total


def attempt(b: LoopBuilder, emit: Callable[[], None]) -> type[Exception] | NeedsCut | None:
    """Run `emit`; on a refusal take back what it appended and say why."""
    block, last = b.block, b.block.last_op
    saved = b.save()
    try:
        emit()
    except (CannotFlatten, CannotVectorize, NeedsCut) as refusal:
        while block.last_op is not last:
            assert block.last_op is not None
            block.erase_op(block.last_op, safe_erase=False)
        b.restore(saved)
        return refusal if isinstance(refusal, NeedsCut) else type(refusal)
    return None


def outer_loop(
    b: LoopBuilder, count: Index, work: Dim, threads: int
) -> AbstractContextManager[SSAValue] | AbstractContextManager[ForLoop]:
    """A loop over `count` items, in parallel where `work` element operations in all are worth it."""
    if threads <= 1 or is_small(b, work) or (not isinstance(count, SSAValue) and b.is_at_least(1, count)):
        return b.for_(0, count)
    if b.is_at_least(work, b.grain):
        return b.parallel(count)
    return _shared_loop(b, count, work, threads)


def is_small(b: LoopBuilder, work: Dim) -> bool:
    """Whether `work` element operations are certainly not worth threads."""
    return b.is_at_least(b.grain - 1, work)


def shares(b: LoopBuilder, count: Index, work: Dim, threads: int) -> Index:
    """Into how many parts to cut `count` items: one where the work, known when running only, is too little."""
    is_worth_it = b.compare_index("sge", work, b.grain)
    return b.min(b.select(is_worth_it, b.index(threads * _PARTS_A_THREAD), b.index(1)), count)


@contextmanager
def _shared_loop(b: LoopBuilder, count: Index, work: Dim, threads: int) -> Generator[SSAValue]:
    """A loop whose work is known when running only: contiguous parts of it in parallel, or all of it as one part."""
    parts = shares(b, count, work, threads)
    with b.parallel(parts) as part:
        start = b.div(b.mul(part, count), parts)
        end = b.div(b.mul(b.add(part, 1), count), parts)
        with b.for_(start, end) as loop:
            yield loop.index


def loop_index(loop: SSAValue | ForLoop) -> SSAValue:
    """The induction variable of an `outer_loop`."""
    return loop.index if isinstance(loop, ForLoop) else loop


def store_point(evaluator: PointEvaluator, value: SSAValue, buffer: SSAValue, point: Point) -> None:
    """Compute the element(s) of `value` at `point` and store them in its row-major buffer."""
    computed = evaluator.vector(value, point)
    position, step = linear_position(evaluator.b, dims_of(value), point)
    store_lanes(evaluator, computed, buffer, position, step)


def store_lanes(evaluator: PointEvaluator, value: SSAValue, buffer: SSAValue, position: Index, step: Dim) -> None:
    """Store lanes at `position + lane * step`."""
    b, mask = evaluator.b, evaluator.mask
    if evaluator.width == 1 or step == 1:
        if mask is None:
            b.store(value, buffer, position)
        else:
            b.masked_store(value, buffer, position, mask)
        return
    if mask is None and evaluator.width <= _LANES_STORED_IN_LINE:
        for lane in range(evaluator.width):
            b.store(b.extract(value, lane), buffer, b.add(position, lane * step))
        return
    # A loop over lanes in memory: a branch for each lane would be most of a kernel's code.
    lanes = b.alloca(element_type_of(value.type), evaluator.width)
    b.store(value, lanes, 0)
    with b.for_(0, evaluator.width if mask is None else active_lanes(mask)) as loop:
        b.store(b.load(lanes, loop.index), buffer, b.add(position, b.mul(loop.index, step)))


def active_lanes(mask: SSAValue) -> Index:
    """How many lanes a tail mask sets."""
    match mask.owner:
        case vector.CreateMaskOp(mask_dim_sizes=sizes):
            return sizes[0]
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as bits):
            return sum(map(bool, bits.get_values()))
        case _:
            raise AssertionError("masks are made by LoopBuilder.tail_mask")
