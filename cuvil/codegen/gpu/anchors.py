"""Kernels around an anchor, one thread an element of its result: contractions, convolutions and pools of any shape.

These are right for every shape, stride and type, and keep the epilogue fused. Nothing is tiled: what neighbouring
threads read in common comes from the caches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.analysis.fusion import contraction_dims
from cuvil.codegen.anchored_kernels import RegionEpilogue
from cuvil.codegen.gpu.builder import GpuLoopBuilder
from cuvil.codegen.loop_kernel import LoopKernel
from cuvil.codegen.loops import Index
from cuvil.codegen.points import Coordinate, PointEvaluator
from cuvil.codegen.reductions import combine, neutral, widened
from cuvil.codegen.scalar_lowering import is_float
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of


def emit_anchored(b: GpuLoopBuilder, kernel: LoopKernel) -> None:
    """Append one thread's part of a kernel with an anchor. Raises `CuvilError` where the anchor is no such op."""
    anchor = next((op for op in kernel.operations if type(op) in _SUMS), None)
    if anchor is None:
        names = ", ".join(op.name for op in kernel.operations)
        remedy = (
            "; decompose takes attention apart"
            if any(isinstance(op, ct.AttentionOp) for op in kernel.operations)
            else ""
        )
        raise CuvilError(f"a kernel of this family is of one contraction, convolution or pool; it has {names}{remedy}")
    value = anchor.results[0]
    shape = dims_of(value)
    if 0 in shape:
        return
    rows = max(len(shape) - 1, 0)
    epilogue = RegionEpilogue(kernel, value, tuple(range(rows)), tuple(range(rows, len(shape))))
    with b.parallel(product(shape)) as item:
        parts = b.delinearize(item, shape)
        places = [Coordinate(part, 0, 0, 1 << 62) for part in parts]
        evaluator = PointEvaluator(b, 1, kernel.buffers)
        total = _SUMS[type(anchor)](b, evaluator, anchor, places)
        columns = shape[-1] if shape else 1
        epilogue.store(b, b.div(item, columns), b.rem(item, columns), total, None)


def _summed(
    b: GpuLoopBuilder,
    extents: Sequence[Index],
    start: SSAValue,
    add: Callable[[list[Index], SSAValue], SSAValue],
    places: list[Index] | None = None,
) -> SSAValue:
    """Nested loops over `extents` that carry a total."""
    places = places or []
    if not extents:
        return add(places, start)
    with b.for_(0, extents[0], 1, [start]) as loop:
        loop.yield_(_summed(b, extents[1:], loop.carried[0], add, [*places, loop.index]))
    return loop.results[0]


def _multiplied(b: GpuLoopBuilder, element: Attribute, lhs: SSAValue, rhs: SSAValue, total: SSAValue) -> SSAValue:
    left, right = widened(b, lhs, element), widened(b, rhs, element)
    if is_float(element):
        return b.fma(left, right, total)
    if element == i1:
        return b.int_op(arith.OrIOp, total, b.int_op(arith.AndIOp, left, right))
    return b.int_op(arith.AddiOp, total, b.int_op(arith.MuliOp, left, right))


def _at(place: Index) -> Coordinate:
    return Coordinate(place, 0, 0, 1 << 62)


def _contraction(b: GpuLoopBuilder, evaluator: PointEvaluator, op: Operation, places: list[Coordinate]) -> SSAValue:
    assert isinstance(op, ct.ContractOp)
    element = ct.element_of(op.lhs)
    batch, left_free, left_summed = contraction_dims(op, 0)
    right_batch, right_free, right_summed = contraction_dims(op, 1)
    shape = dims_of(op.lhs)

    def add(summed: list[Index], total: SSAValue) -> SSAValue:
        left: dict[int, Coordinate] = dict(zip(batch, places, strict=False))
        left |= zip(left_free, places[len(batch) :], strict=False)
        left |= zip(left_summed, map(_at, summed), strict=True)
        right: dict[int, Coordinate] = dict(zip(right_batch, places, strict=False))
        right |= zip(right_free, places[len(batch) + len(left_free) :], strict=True)
        right |= zip(right_summed, map(_at, summed), strict=True)
        lhs = evaluator.evaluate(op.lhs, tuple(left[dim] for dim in range(len(left))))
        rhs = evaluator.evaluate(op.rhs, tuple(right[dim] for dim in range(len(right))))
        return _multiplied(b, element, lhs, rhs, total)

    return _summed(b, [shape[dim] for dim in left_summed], neutral(b, "add", element, 1), add)


def _window(
    b: GpuLoopBuilder,
    op: ct.ConvolutionOp | ct.PoolOp,
    places: Sequence[Coordinate],
    offsets: Sequence[Index],
    extents: Sequence[Dim],
    input_dilation: Sequence[int],
) -> tuple[list[Index], SSAValue | None]:
    """The input's position under an offset of the window, and whether it is there; None: certainly."""
    inside: SSAValue | None = None
    found: list[Index] = []
    for number, offset in enumerate(offsets):
        stride, dilation = ct.numbers(op.strides)[number], ct.numbers(op.dilation)[number]
        low, high = ct.numbers(op.low)[number], ct.numbers(op.high)[number]
        spread = input_dilation[number]
        position = b.sub(b.add(b.mul(places[number].at(b), stride), b.mul(offset, dilation)), low)
        tests: list[SSAValue] = []
        if low or high or spread > 1:
            tests.append(b.compare_index("sge", position, 0))
        if spread > 1:
            safe = b.max(position, 0)
            tests.append(b.compare_index("eq", b.rem(safe, spread), 0))
            position = b.div(safe, spread)
        if tests:
            tests.append(b.compare_index("slt", position, extents[number]))
            position = b.max(b.min(position, b.sub(extents[number], 1)), 0)
        for test in tests:
            inside = test if inside is None else b.int_op(arith.AndIOp, inside, test)
        found.append(position)
    return found, inside


def _convolution(b: GpuLoopBuilder, evaluator: PointEvaluator, op: Operation, places: list[Coordinate]) -> SSAValue:
    assert isinstance(op, ct.ConvolutionOp)
    order = ct.numbers(op.input_order)
    element, source, weight = ct.element_of(op.input), dims_of(op.input), dims_of(op.weight)
    batch, channel, spatial = places[order[0]], places[order[1]], [places[place] for place in order[2:]]
    groups = op.groups.value.data
    first = b.mul(b.div(channel.at(b), b.div(weight[0], groups)), weight[1]) if groups > 1 else 0
    extents = [source[place] for place in order[2:]]

    def add(summed: list[Index], total: SSAValue) -> SSAValue:
        inner, *offsets = summed
        found, inside = _window(b, op, spatial, offsets, extents, ct.numbers(op.input_dilation))
        point: dict[int, Coordinate] = {order[0]: batch, order[1]: _at(b.add(first, inner))}
        point |= zip(order[2:], map(_at, found), strict=True)
        lhs = evaluator.evaluate(op.input, tuple(point[dim] for dim in range(len(point))))
        rhs = evaluator.evaluate(op.weight, (channel, _at(inner), *map(_at, offsets)))
        more = _multiplied(b, element, lhs, rhs, total)
        return more if inside is None else b.select(inside, more, total)

    return _summed(b, weight[1:], neutral(b, "add", element, 1), add)


def _pool(b: GpuLoopBuilder, evaluator: PointEvaluator, op: Operation, places: list[Coordinate]) -> SSAValue:
    assert isinstance(op, ct.PoolOp)
    order = ct.numbers(op.input_order)
    element, source = ct.element_of(op.input), dims_of(op.input)
    spatial, extents = [places[place] for place in order[2:]], [source[place] for place in order[2:]]

    def add(offsets: list[Index], total: SSAValue) -> SSAValue:
        found, inside = _window(b, op, spatial, offsets, extents, [1] * len(offsets))
        point: dict[int, Coordinate] = {order[0]: places[order[0]], order[1]: places[order[1]]}
        point |= zip(order[2:], map(_at, found), strict=True)
        value = widened(b, evaluator.evaluate(op.input, tuple(point[dim] for dim in range(len(point)))), element)
        more = combine(b, op.kind.data, element, total, value)
        return more if inside is None else b.select(inside, more, total)

    return _summed(b, ct.numbers(op.kernel), neutral(b, op.kind.data, element, 1), add)


_SUMS: dict[type[Operation], Callable[[GpuLoopBuilder, PointEvaluator, Operation, list[Coordinate]], SSAValue]] = {
    ct.ContractOp: _contraction,
    ct.ConvolutionOp: _convolution,
    ct.PoolOp: _pool,
}
