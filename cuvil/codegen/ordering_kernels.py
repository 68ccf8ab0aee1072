"""Kernels of the `ordering` family: ops whose elements depend on an order along an axis, one op each.

arg_reduce and scan run along the axis once, carrying what they know; sort and topk order each line's positions by a
stable merge, or by selection where few of many are wanted; scatter copies its input, then combines the updates in
row-major order, on one thread, so that the last update of a place wins as the op's meaning says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerType, VectorType, i1
from xdsl.ir import Operation, SSAValue

from cuvil.codegen.loop_kernel import LoopKernel, outer_loop
from cuvil.codegen.loop_kernels import emit_loop_kernel
from cuvil.codegen.loops import ForLoop, Index, LoopBuilder
from cuvil.codegen.points import position_of
from cuvil.codegen.reductions import across_lanes, combine, narrowed, neutral, widened
from cuvil.codegen.scalar_lowering import emit_cast, is_float, is_unsigned, storage_type
from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import contiguous_strides, dims_of

_I64 = IntegerType(64)
_INDEX = IndexType()


def emit_ordering_kernel(b: LoopBuilder, kernel: LoopKernel) -> None:
    """Append the loops of a kernel whose region is one ordering op on buffers (a pack is moved like other elements)."""
    op = next((inner for inner in kernel.operations if type(inner) in _EMITTERS), None)
    if op is None:
        emit_loop_kernel(b, kernel)
    else:
        _EMITTERS[type(op)](b, kernel, op)


class _Lines:
    """The 1-d lines of a shape along an axis: `for line` gives the flat position of each one's first element."""

    def __init__(self, shape: tuple[Dim, ...], axis: int):
        self.length = shape[axis]
        self.stride = product(shape[axis + 1 :])
        self.count = product(shape[:axis]) * self.stride

    def start(self, b: LoopBuilder, line: Index) -> Index:
        """The first element of the line with this number."""
        outer, inner = b.div(line, self.stride), b.rem(line, self.stride)
        return b.add(b.mul(outer, b.mul(self.length, self.stride)), inner)


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
    shape = dims_of(op.input)
    lines = _Lines(shape, op.axis.value.data)
    if lines.count == 0:
        return
    source, target = kernel.buffers[op.input], kernel.results[0][1]
    width = kernel.target.lanes(64)
    may_be_streamed = width > 1 and lines.stride == 1 and ct.element_of(op.input) != i1
    if not may_be_streamed or b.is_at_least(8 * width - 1, lines.length):
        is_streamed: SSAValue | bool = False
    elif b.is_at_least(lines.length, 8 * width):
        is_streamed = True
    else:
        is_streamed = b.compare_index("sge", lines.length, 8 * width)
    with outer_loop(b, _unless_empty(b, lines), product(shape), kernel.threads) as loop:
        line = _line_index(loop)
        start = lines.start(b, line)
        in_stream = lambda: _place_in_stream(b, op, source, start, lines.length, width)  # noqa: E731
        one_by_one = lambda: _place_one_by_one(b, op, source, start, lines)  # noqa: E731
        if isinstance(is_streamed, SSAValue):
            place = b.choose(is_streamed, in_stream, one_by_one, _I64)
        else:
            place = in_stream() if is_streamed else one_by_one()
        b.store(place, target, line)


def _unless_empty(b: LoopBuilder, lines: _Lines) -> Index:
    """The number of lines; none where they turn out to have no element."""
    if isinstance(lines.length, int) or b.is_at_least(lines.length, 1):
        return lines.count
    return b.select(b.compare_index("sge", lines.length, 1), b.index(lines.count), b.index(0))


def _place_one_by_one(b: LoopBuilder, op: ct.ArgReduceOp, source: SSAValue, start: Index, lines: _Lines) -> SSAValue:
    first = b.load(source, start)
    with b.for_(1, lines.length, 1, [first, b.constant(0, _I64)]) as along:
        value = b.load(source, b.add(start, b.mul(along.index, lines.stride)))
        better = _is_better(b, op.kind.data, ct.element_of(op.input), value, along.carried[0])
        place = b.cast_index(along.index, _I64)
        along.yield_(b.select(better, value, along.carried[0]), b.select(better, place, along.carried[1]))
    return along.results[1]


def _place_in_stream(
    b: LoopBuilder, op: ct.ArgReduceOp, source: SSAValue, start: Index, length: Dim, width: int
) -> SSAValue:
    """Two sweeps of vectors: the extreme, which is NaN if any element is, then the first element that is it or NaN."""
    kind, element = op.kind.data, ct.element_of(op.input)
    parts = 4
    whole, unrolled = (b.sub(length, b.rem(length, step)) for step in (width, parts * width))

    def load(position: Index) -> SSAValue:
        return widened(b, b.load(source, b.add(start, position), width), element)

    init = [neutral(b, kind, element, width)] * parts
    with b.for_(0, unrolled, parts * width, init) as sweep:
        loads = [load(b.add(sweep.index, part * width)) for part in range(parts)]
        sweep.yield_(*(combine(b, kind, element, *pair) for pair in zip(sweep.carried, loads, strict=True)))
    best = sweep.results
    if isinstance(unrolled, int) and isinstance(whole, int):
        for position in range(unrolled, whole, width):
            best[0] = combine(b, kind, element, best[0], load(position))
    else:
        with b.for_(unrolled, whole, width, best[:1]) as sweep:
            sweep.yield_(combine(b, kind, element, sweep.carried[0], load(sweep.index)))
        best[0] = sweep.results[0]
    # The last vector overlaps others: an extreme does not mind.
    best[0] = combine(b, kind, element, best[0], load(length - width))
    for part in range(1, parts):
        best[0] = combine(b, kind, element, best[0], best[part])
    extreme = b.broadcast(across_lanes(b, kind, element, best[0]), width)

    lanes = DenseIntOrFPElementsAttr.from_list(VectorType(_I64, [width]), list(range(width)))
    numbers = b.op(arith.ConstantOp, result=lanes.type, value=lanes)
    if isinstance(length, int):
        none = b.constant(length, _I64, width)
    else:
        none = b.broadcast(b.cast_index(b.index(length), _I64), width)

    def nearest(found: SSAValue, position: Index) -> SSAValue:
        value = load(position)
        if is_float(element):
            hit = b.compare_float("oeq", value, extreme)
            hit = b.int_op(arith.OrIOp, hit, b.compare_float("uno", value, value))
        else:
            hit = b.compare_int("eq", value, extreme)
        base = b.broadcast(b.cast_index(b.index(position), _I64), width)
        return b.int_op(arith.MinSIOp, found, b.select(hit, b.int_op(arith.AddiOp, base, numbers), none))

    with b.for_(0, whole, width, [none]) as sweep:
        sweep.yield_(nearest(sweep.carried[0], sweep.index))
    return b.reduce("minsi", nearest(sweep.results[0], length - width))


# -- scan ------------------------------------------------------------------------------------------------------------


def _emit_scan(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ScanOp)
    shape, element, kind = dims_of(op.input), ct.element_of(op.input), op.kind.data
    lines = _Lines(shape, op.axis.value.data)
    source, target = kernel.buffers[op.input], kernel.results[0][1]
    with outer_loop(b, lines.count, product(shape), kernel.threads) as loop:
        start = lines.start(b, _line_index(loop))
        with b.for_(0, lines.length, 1, [neutral(b, kind, element, 1)]) as along:
            number = along.index if op.reverse is None else b.sub(lines.length - 1, along.index)
            place = b.add(start, b.mul(number, lines.stride))
            before = along.carried[0]
            after = combine(b, kind, element, before, widened(b, b.load(source, place), element))
            b.store(narrowed(b, before if op.exclusive is not None else after, element), target, place)
            along.yield_(after)


# -- sort and topk ---------------------------------------------------------------------------------------------------


_MOST_SELECTED = 256
_STACK_LINE = 1 << 14


def _emit_sort(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    """Each line's positions in order: by selection where few are wanted, else by a stable merge sort."""
    assert isinstance(op, ct.SortOp | ct.TopkOp)
    shape = dims_of(op.input)
    lines = _Lines(shape, op.axis.value.data)
    out = _Lines(dims_of(op.values), op.axis.value.data)
    if lines.count == 0 or out.length == 0:
        return
    few = isinstance(out.length, int) and out.length <= _MOST_SELECTED
    is_selection = few and not b.is_at_least(4 * out.length - 1, lines.length)
    work = product(shape) * (2 if is_selection else 16)
    with outer_loop(b, lines.count, work, kernel.threads) as loop:
        line = _Line(b, op, lines, lines.start(b, _line_index(loop)), kernel.buffers[op.input])
        first = out.start(b, _line_index(loop))
        if is_selection:
            assert isinstance(out.length, int)
            line.write(kernel, line.select(out.length), 0, out, first)
        elif (longest := _longest(b, lines)) <= _STACK_LINE:
            line.write(kernel, *line.merge_sort(b.alloca(_I64, 2 * longest)), out, first)
        else:
            with b.heap(_I64, 2 * lines.length) as scratch:
                line.write(kernel, *line.merge_sort(scratch), out, first)


def _longest(b: LoopBuilder, lines: _Lines) -> int:
    """The most elements that a line may have; too many for the stack where that is not known."""
    _, longest = b.environment.bounds(lines.length)
    return _STACK_LINE + 1 if longest is None else longest


@dataclass
class _Line:
    """One line being ordered: element i is `source[start + i * stride]`."""

    b: LoopBuilder
    op: ct.SortOp | ct.TopkOp
    lines: _Lines
    start: Index
    source: SSAValue

    def value(self, position: Index) -> SSAValue:
        """The element at a position of the line."""
        return self.b.load(self.source, self.b.add(self.start, self.b.mul(position, self.lines.stride)))

    def goes_before(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """Whether `right` must come before `left`: NaN is the largest number, equal ones keep their order."""
        b, element, descending = self.b, ct.element_of(self.op.input), self.op.descending is not None
        if is_float(element):
            low, high = (left, right) if descending else (right, left)
            less = b.compare_float("olt", low, high)
            number = b.compare_float("oeq", low, low)
            nan = b.compare_float("uno", high, high)
            return b.int_op(arith.OrIOp, less, b.int_op(arith.AndIOp, number, nan))
        sign = "u" if is_unsigned(element) or element == i1 else "s"
        return b.compare_int(f"{sign}{'gt' if descending else 'lt'}", right, left)

    def write(self, kernel: LoopKernel, places: SSAValue, offset: Index, out: _Lines, first: Index) -> None:
        """Store the elements whose positions `places` has from `offset` on, and the positions."""
        b, targets = self.b, dict(kernel.results)
        with b.for_(0, out.length) as along:
            place = b.load(places, b.add(along.index, offset))
            target = b.add(first, b.mul(along.index, out.stride))
            if self.op.indices in targets:
                b.store(place, targets[self.op.indices], target)
            if self.op.values in targets:
                b.store(self.value(b.cast_index(place, _INDEX)), targets[self.op.values], target)

    # -- selection -----------------------------------------------------------------------------------------------------

    def select(self, count: int) -> SSAValue:
        """The positions of the first `count` elements in order: each element is inserted among the best so far."""
        b = self.b
        values = b.alloca(storage_type(ct.element_of(self.op.input)), count)
        places = b.alloca(_I64, count)
        with b.for_(0, count) as along:
            self._insert(values, places, along.index, along.index)
        with b.for_(count, self.lines.length) as along:
            with b.if_(self.goes_before(b.load(values, count - 1), self.value(along.index))):
                self._insert(values, places, along.index, count - 1)
        return places

    def _insert(self, values: SSAValue, places: SSAValue, position: SSAValue, last: Index) -> None:
        """Insert an element into the first `last` kept ones, which move up; what stood at `last` is lost."""
        b = self.b
        init = [self.value(position), b.cast_index(position, _I64), b.constant(0, i1)]
        with b.for_(0, last, 1, init) as slot:
            moved, moved_place, is_placed = slot.carried
            kept, kept_place = b.load(values, slot.index), b.load(places, slot.index)
            moves = b.int_op(arith.OrIOp, is_placed, self.goes_before(kept, moved))
            b.store(b.select(moves, moved, kept), values, slot.index)
            b.store(b.select(moves, moved_place, kept_place), places, slot.index)
            slot.yield_(b.select(moves, kept, moved), b.select(moves, kept_place, moved_place), moves)
        b.store(slot.results[0], values, last)
        b.store(slot.results[1], places, last)

    # -- merge sort ----------------------------------------------------------------------------------------------------

    def merge_sort(self, scratch: SSAValue) -> tuple[SSAValue, Index]:
        """All positions in order, in one half of `scratch`, and where that half begins: runs of 1, 2, 4, ... are
        merged.
        """
        b, length = self.b, self.lines.length
        with b.for_(0, length) as along:
            b.store(b.cast_index(along.index, _I64), scratch, along.index)
        init = [b.index(1), b.index(0), b.index(length)]
        with b.for_(0, self._passes(), 1, init) as passes:
            run, front, back = passes.carried
            with b.for_(0, length, b.mul(run, 2)) as block:
                middle = b.min(b.add(block.index, run), length)
                end = b.min(b.add(middle, run), length)
                self._merge(scratch, front, back, block.index, middle, end)
            passes.yield_(b.index(b.mul(run, 2)), back, front)
        return scratch, passes.results[1]

    def _passes(self) -> Index:
        """How often runs of one element must double to be the whole line."""
        b, length = self.b, self.lines.length
        if isinstance(length, int):
            return (length - 1).bit_length()
        last = b.cast_index(b.index(length - 1), _I64)
        unused = b.cast_index(b.op(math.CountLeadingZerosOp, last, result=_I64), _INDEX)
        return b.sub(64, unused)

    def _merge(
        self, scratch: SSAValue, front: SSAValue, back: SSAValue, start: SSAValue, middle: Index, end: Index
    ) -> None:
        """Merge positions [start, middle) and [middle, end) of the front half into the back half."""
        b, length = self.b, self.lines.length

        def candidate(position: Index) -> tuple[SSAValue, SSAValue]:
            place = b.load(scratch, b.add(b.min(position, length - 1), front))
            return place, self.value(b.cast_index(place, _INDEX))

        with b.for_(start, end, 1, [start, b.index(middle)]) as step:
            left, right = step.carried
            left_place, left_value = candidate(left)
            right_place, right_value = candidate(right)
            is_left_over = b.compare_index("sge", left, middle)
            is_right_there = b.compare_index("slt", right, end)
            before = self.goes_before(left_value, right_value)
            takes_right = b.int_op(arith.AndIOp, is_right_there, b.int_op(arith.OrIOp, is_left_over, before))
            b.store(b.select(takes_right, right_place, left_place), scratch, b.add(step.index, back))
            step.yield_(
                b.select(takes_right, left, b.index(b.add(left, 1))),
                b.select(takes_right, b.index(b.add(right, 1)), right),
            )


# -- scatter ---------------------------------------------------------------------------------------------------------


def _emit_scatter(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ScatterOp)
    shape, axes, element = dims_of(op.input), ct.numbers(op.axes), ct.element_of(op.input)
    source, target = kernel.buffers[op.input], kernel.results[0][1]
    with b.for_(0, product(shape)) as loop:
        b.store(b.load(source, loop.index), target, loop.index)
    index_shape = dims_of(op.indices[0])
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    strides = contiguous_strides(shape)
    inner = product(shape[axis] for axis in rest)
    with b.for_(0, product(index_shape)) as outer:
        base: Index = 0
        for axis, operand in zip(axes, op.indices, strict=True):
            place = emit_cast(b, b.load(kernel.buffers[operand], outer.index), ct.element_of(operand), _I64)
            base = b.add(base, b.mul(position_of(b, place, shape[axis]), strides[axis]))
        with b.for_(0, inner) as along:
            parts = b.delinearize(along.index, [shape[axis] for axis in rest]) if rest else []
            position = b.linear(base, parts, [strides[axis] for axis in rest])
            value = b.load(kernel.buffers[op.updates], b.add(b.mul(outer.index, inner), along.index))
            if op.kind.data != "assign":
                old = widened(b, b.load(target, position), element)
                value = narrowed(b, combine(b, op.kind.data, element, old, widened(b, value, element)), element)
            b.store(value, target, position)


_EMITTERS: dict[type[Operation], Callable[[LoopBuilder, LoopKernel, Operation], None]] = {
    ct.ArgReduceOp: _emit_arg_reduce,
    ct.ScanOp: _emit_scan,
    ct.SortOp: _emit_sort,
    ct.TopkOp: _emit_sort,
    ct.ScatterOp: _emit_scatter,
}
