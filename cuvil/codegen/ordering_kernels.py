"""Kernels of the `ordering` family: ops whose elements depend on an order along an axis, one op each.

arg_reduce and scan run along the axis once, carrying what they know; sort and topk order each row's positions in place by
a stable merge; scatter copies its input, then combines the updates in row-major order, on one thread, so that the last
update of a place wins as the op's meaning says.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from cuvil.codegen.loop_kernels import (
    LoopKernel,
    accumulator_type,
    combine,
    emit_loop_kernel,
    narrowed,
    neutral,
    outer_loop,
    widened,
)
from cuvil.codegen.loops import ForLoop, Index, LoopBuilder
from cuvil.codegen.scalar_lowering import emit_cast, is_float, is_unsigned
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError
from cuvil.semantics.views import contiguous_strides, static_shape

_I64 = IntegerType(64)


def emit_ordering_kernel(b: LoopBuilder, kernel: LoopKernel) -> None:
    """Append the loops of a kernel whose region is one ordering op on buffers (a pack is moved like other elements)."""
    op = next((inner for inner in kernel.operations if type(inner) in _EMITTERS), None)
    if op is None:
        emit_loop_kernel(b, kernel)
    else:
        _EMITTERS[type(op)](b, kernel, op)


def _shape(value: SSAValue) -> tuple[int, ...]:
    shape = static_shape(value)
    if shape is None:
        raise CuvilError(f"native code for symbolic dims is not available: {value.type}; give the dim a number")
    return shape


class _Lines:
    """The 1-d lines of a shape along an axis: `for line` gives the flat position of each one's first element."""

    def __init__(self, shape: tuple[int, ...], axis: int):
        self.length = shape[axis]
        self.stride = prod(shape[axis + 1 :])
        self.count = prod(shape[:axis]) * self.stride

    def start(self, b: LoopBuilder, line: Index) -> Index:
        """The first element of the line with this number."""
        outer, inner = b.div(line, self.stride), b.rem(line, self.stride)
        return b.add(b.mul(outer, self.length * self.stride), inner)


def _line_index(loop: SSAValue | ForLoop) -> SSAValue:
    return loop.index if isinstance(loop, ForLoop) else loop


# -- arg_reduce ------------------------------------------------------------------------------------------------------


def _is_better(b: LoopBuilder, kind: str, element: object, value: SSAValue, best: SSAValue) -> SSAValue:
    """Whether `value` replaces `best`: strictly beyond it, or the first NaN."""
    if is_float(element):  # pyright: ignore[reportArgumentType]
        beyond = b.compare_float("ogt" if kind == "max" else "olt", value, best)
        value_is_nan = b.compare_float("uno", value, value)
        best_is_number = b.compare_float("oeq", best, best)
        return b.int_op(arith.OrIOp, beyond, b.int_op(arith.AndIOp, value_is_nan, best_is_number))
    unsigned = is_unsigned(element) or element == IntegerType(1)  # pyright: ignore[reportArgumentType]
    predicate = ("ugt" if unsigned else "sgt") if kind == "max" else ("ult" if unsigned else "slt")
    return b.compare_int(predicate, value, best)


def _emit_arg_reduce(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ArgReduceOp)
    shape, element = _shape(op.input), ct.element_of(op.input)
    lines = _Lines(shape, op.axis.value.data)
    if lines.count == 0:
        return
    source, target = kernel.buffers[op.input], kernel.results[0][1]
    with outer_loop(b, lines.count, prod(shape), kernel.threads) as loop:
        line = _line_index(loop)
        start = lines.start(b, line)
        first = b.load(source, start)
        with b.for_(1, lines.length, 1, [first, b.constant(0, _I64)]) as along:
            value = b.load(source, b.add(start, b.mul(along.index, lines.stride)))
            better = _is_better(b, op.kind.data, element, value, along.carried[0])
            place = b.cast_index(along.index, _I64)
            along.yield_(b.select(better, value, along.carried[0]), b.select(better, place, along.carried[1]))
        b.store(along.results[1], target, line)


# -- scan ------------------------------------------------------------------------------------------------------------


def _emit_scan(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ScanOp)
    shape, element, kind = _shape(op.input), ct.element_of(op.input), op.kind.data
    lines = _Lines(shape, op.axis.value.data)
    source, target = kernel.buffers[op.input], kernel.results[0][1]
    with outer_loop(b, lines.count, prod(shape), kernel.threads) as loop:
        start = lines.start(b, _line_index(loop))
        with b.for_(0, lines.length, 1, [neutral(b, kind, element, 1)]) as along:
            number = along.index if op.reverse is None else b.sub(lines.length - 1, along.index)
            place = b.add(start, b.mul(number, lines.stride))
            before = along.carried[0]
            after = combine(b, kind, element, before, widened(b, b.load(source, place), element))
            b.store(narrowed(b, before if op.exclusive is not None else after, element), target, place)
            along.yield_(after)


# -- sort and topk ---------------------------------------------------------------------------------------------------


def _goes_before(b: LoopBuilder, element: object, descending: bool, left: SSAValue, right: SSAValue) -> SSAValue:
    """Whether `right` must come before `left`: NaN is the largest number, equal ones keep their order."""
    if is_float(element):  # pyright: ignore[reportArgumentType]
        low, high = (left, right) if descending else (right, left)
        less = b.compare_float("olt", low, high)
        number = b.compare_float("oeq", low, low)
        nan = b.compare_float("uno", high, high)
        return b.int_op(arith.OrIOp, less, b.int_op(arith.AndIOp, number, nan))
    unsigned = is_unsigned(element) or element == IntegerType(1)  # pyright: ignore[reportArgumentType]
    return b.compare_int(("ugt" if unsigned else "sgt") if descending else ("ult" if unsigned else "slt"), right, left)


def _emit_sort(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    """Bottom-up merge of positions between two scratch lines: n log n steps, stable."""
    assert isinstance(op, ct.SortOp | ct.TopkOp)
    shape, element = _shape(op.input), ct.element_of(op.input)
    lines = _Lines(shape, op.axis.value.data)
    out = _Lines(_shape(op.values), op.axis.value.data)
    if lines.count == 0 or lines.length == 0:
        return
    if lines.length > 1 << 14:
        raise CuvilError(f"{op.name}: sorts lines of at most {1 << 14} elements on the CPU, got {lines.length}")
    source = kernel.buffers[op.input]
    targets = dict(kernel.results)
    with outer_loop(b, lines.count, prod(shape) * 16, kernel.threads) as loop:
        line = _line_index(loop)
        start = lines.start(b, line)
        scratch = b.alloca(_I64, 2 * lines.length)
        with b.for_(0, lines.length) as along:
            b.store(b.cast_index(along.index, _I64), scratch, along.index)
        front, back = 0, lines.length
        run = 1
        while run < lines.length:
            _merge_pass(b, op, source, start, lines, scratch, front, back, run, element)
            front, back = back, front
            run *= 2
        first = out.start(b, line)
        with b.for_(0, out.length) as along:
            place = b.load(scratch, b.add(along.index, front))
            target = b.add(first, b.mul(along.index, out.stride))
            if op.indices in targets:
                b.store(place, targets[op.indices], target)
            if op.values in targets:
                value = b.load(source, b.add(start, b.mul(b.cast_index(place, b.index(0).type), lines.stride)))
                b.store(value, targets[op.values], target)


def _merge_pass(
    b: LoopBuilder,
    op: ct.SortOp | ct.TopkOp,
    source: SSAValue,
    start: Index,
    lines: _Lines,
    scratch: SSAValue,
    front: int,
    back: int,
    run: int,
    element: object,
) -> None:
    """Merge neighbouring runs of `run` positions from scratch half `front` into half `back`."""
    length = lines.length
    index_type = b.index(0).type

    def value_at(position: Index) -> tuple[SSAValue, SSAValue]:
        place = b.load(scratch, b.add(b.min(position, length - 1), front))
        return place, b.load(source, b.add(start, b.mul(b.cast_index(place, index_type), lines.stride)))

    with b.for_(0, length, 2 * run) as block:
        middle = b.min(b.add(block.index, run), length)
        end = b.min(b.add(block.index, 2 * run), length)
        with b.for_(block.index, end, 1, [b.index(block.index), b.index(middle)]) as step:
            left, right = step.carried
            left_place, left_value = value_at(left)
            right_place, right_value = value_at(right)
            left_over = b.compare_index("sge", left, middle)
            right_there = b.compare_index("slt", right, end)
            before = _goes_before(b, element, op.descending is not None, left_value, right_value)
            take_right = b.int_op(arith.AndIOp, right_there, b.int_op(arith.OrIOp, left_over, before))
            b.store(b.select(take_right, right_place, left_place), scratch, b.add(step.index, back))
            step.yield_(
                b.select(take_right, left, b.index(b.add(left, 1))),
                b.select(take_right, b.index(b.add(right, 1)), right),
            )


# -- scatter ---------------------------------------------------------------------------------------------------------


def _emit_scatter(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ScatterOp)
    shape, axes, element = _shape(op.input), ct.numbers(op.axes), ct.element_of(op.input)
    source, target = kernel.buffers[op.input], kernel.results[0][1]
    with b.for_(0, prod(shape)) as loop:
        b.store(b.load(source, loop.index), target, loop.index)
    index_shape = _shape(op.indices[0])
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    strides = contiguous_strides(shape)
    inner = prod(shape[axis] for axis in rest)
    index_type = b.index(0).type
    with b.for_(0, prod(index_shape)) as outer:
        base: Index = 0
        for axis, operand in zip(axes, op.indices, strict=True):
            place = emit_cast(b, b.load(kernel.buffers[operand], outer.index), ct.element_of(operand), _I64)
            negative = b.compare_int("slt", place, b.constant(0, _I64))
            place = b.select(negative, b.int_op(arith.AddiOp, place, b.constant(shape[axis], _I64)), place)
            base = b.add(base, b.mul(b.cast_index(place, index_type), strides[axis]))
        with b.for_(0, inner) as along:
            parts = b.delinearize(along.index, [shape[axis] for axis in rest]) if rest else []
            position = b.linear(base, parts, [strides[axis] for axis in rest])
            value = b.load(kernel.buffers[op.updates], b.add(b.mul(outer.index, inner), along.index))
            if op.kind.data != "assign":
                old = widened(b, b.load(target, position), element)
                value = narrowed(b, combine(b, op.kind.data, element, old, widened(b, value, element)), element)
            b.store(value, target, position)


_EMITTERS = {
    ct.ArgReduceOp: _emit_arg_reduce,
    ct.ScanOp: _emit_scan,
    ct.SortOp: _emit_sort,
    ct.TopkOp: _emit_sort,
    ct.ScatterOp: _emit_scatter,
}
