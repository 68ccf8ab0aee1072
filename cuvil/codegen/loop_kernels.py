"""Kernels of the `loop` family: element-wise regions, movement, and reductions along any axes.

Three loop shapes, chosen by what the region holds:

- *pointwise*: every result has the iteration shape. The outer dims are one parallel loop, the inner dims one flat
  vector loop; as many dims go inside as the region's accesses allow (`CannotFlatten` says no), so that a plain
  element-wise kernel is one flat loop whatever its rank.
- *rows*: reductions over trailing axes and what depends on them (softmax, the norms): one row at a time, in stages.
  Stage s computes the reductions whose operands need s reductions before them; a costly value needed in two stages is
  kept in a row buffer on the thread's stack, cheap ones are computed again from the (cached) row.
- *columns*: one level of reductions over other axes; vectors run along the last dim that stays.

Sums run in several vector accumulators, so that their error grows with the logarithm of the lanes rather than with
the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import BFloat16Type, DenseIntOrFPElementsAttr, Float16Type, f32, i1
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.codegen.loops import ForLoop, Index, LoopBuilder, element_type_of
from cuvil.codegen.points import (
    CannotFlatten,
    CannotVectorize,
    Coordinate,
    FlatGroup,
    NeedsCut,
    Point,
    PointEvaluator,
    linear_position,
)
from cuvil.codegen.scalar_lowering import emit_cast, is_float, is_unsigned, storage_type
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError
from cuvil.semantics.views import static_shape
from cuvil.targets.cpu import CpuTarget

PARALLEL_GRAIN = 1 << 15
"""Element operations below which a kernel runs on one thread: entering a parallel region costs about as much."""

_ROW_BUFFER_BYTES = 128 * 1024

_LANES_STORED_IN_LINE = 16

_UNROLLED = 8
"""Single elements that are computed one after the other without a loop."""


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

    def flops(self) -> int:
        """Element-operations of the region, as a measure of its work."""
        total = 0
        for op in self.operations:
            cost = op.function.flops if isinstance(op, ct.ElementwiseOp) else 1
            total += cost * prod(known_shape(op.results[0]) if op.results else ())
            if isinstance(op, ct.ReduceOp):
                total += prod(known_shape(op.input))
        return total


def known_shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value as numbers; an error where it is symbolic."""
    shape = static_shape(value)
    if shape is None:
        raise CuvilError(f"native code for symbolic dims is not available: {value.type}; give the dim a number")
    return shape


def emit_loop_kernel(b: LoopBuilder, kernel: LoopKernel) -> None:
    """Append the loops that compute `kernel`."""
    if not kernel.reductions:
        _Pointwise(b, kernel).emit()
    elif _is_rowwise(kernel):
        _Rows(b, kernel).emit()
    else:
        _Columns(b, kernel).emit()


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
    b: LoopBuilder, count: int, work: int, threads: int
) -> AbstractContextManager[SSAValue] | AbstractContextManager[ForLoop]:
    """A loop over `count` items, in parallel where `work` element operations in all are worth it."""
    if threads > 1 and count > 1 and work >= PARALLEL_GRAIN:
        return b.parallel(count)
    return b.for_(0, count)


def loop_index(loop: SSAValue | ForLoop) -> SSAValue:
    """The induction variable of an `outer_loop`."""
    return loop.index if isinstance(loop, ForLoop) else loop


# -- pointwise -------------------------------------------------------------------------------------------------------


@dataclass
class _Pointwise:
    b: LoopBuilder
    kernel: LoopKernel
    contiguous: bool = False

    def emit(self) -> None:
        # That module needs the parts of this one.
        from cuvil.codegen.transposed_loops import emit_transposed

        shape = known_shape(self.kernel.results[0][0])
        if 0 in shape:
            return
        # Streams first, then blocks that turn streams of another dim, then lanes that load for themselves.
        if self._emit_flat(shape, self.kernel.lanes, contiguous=True) or emit_transposed(self.b, self.kernel):
            return
        if not any(self._emit_flat(shape, width) for width in dict.fromkeys((self.kernel.lanes, 1))):
            raise AssertionError("one element at a time is always possible")

    def _emit_flat(self, shape: tuple[int, ...], width: int, contiguous: bool = False) -> bool:
        """Try inner loops over as many dims as possible; of single elements over one dim, whose position is no
        division.
        """
        self.contiguous = contiguous and width > 1
        splits = range(max(len(shape), 1))
        if width == 1:
            splits = reversed(splits)
        elif not contiguous:
            # Lanes that load for themselves are no faster than single elements: a masked vector of few would be slower.
            splits = [inner_from for inner_from in splits if prod(shape[inner_from:]) >= width]
        return any(self._with_cuts(shape, inner_from, width) is None for inner_from in splits)

    def _with_cuts(self, shape: tuple[int, ...], inner_from: int, width: int) -> type[Exception] | None:
        cuts: set[int] = set()
        while True:
            refusal = attempt(self.b, lambda: self._nest(shape, inner_from, width, sorted(cuts)))
            if not isinstance(refusal, NeedsCut):
                return refusal
            if refusal.position in cuts or len(cuts) > 16:
                return CannotVectorize
            cuts.add(refusal.position)

    def _nest(self, shape: tuple[int, ...], inner_from: int, width: int, cuts: list[int]) -> None:
        b, kernel = self.b, self.kernel
        outer, inner = shape[:inner_from], shape[inner_from:]
        rows, length = prod(outer), prod(inner)
        work = kernel.flops()
        if rows == 1 and not cuts and kernel.threads > 1 and work >= PARALLEL_GRAIN and length >= 4 * width:
            self._flat_chunks(outer, inner, length, width)
            return
        with outer_loop(b, rows, work, kernel.threads) as loop:
            row = FlatGroup(loop_index(loop), outer)
            self._inner(row, inner, 0, length, width, cuts)

    def _flat_chunks(self, outer: tuple[int, ...], inner: tuple[int, ...], length: int, width: int) -> None:
        """One row: its vectors are shared out among the threads."""
        b = self.b
        vectors = -(-length // width)
        items = min(vectors, self.kernel.threads * 4)
        share = -(-vectors // items) * width
        with b.parallel(-(-length // share)) as item:
            start = b.mul(item, share)
            end = b.min(b.add(start, share), length)
            self._range(FlatGroup(0, outer), inner, start, end, width, (0, length), length % width)

    def _inner(
        self, row: FlatGroup, inner: tuple[int, ...], start: int, length: int, width: int, cuts: list[int]
    ) -> None:
        edges = [start, *(cut for cut in cuts if start < cut < length), length]
        for low, high in pairwise(edges):
            self._range(row, inner, low, high, width, (low, high), (high - low) % width)

    def _range(
        self,
        row: FlatGroup,
        inner: tuple[int, ...],
        start: Index,
        end: Index,
        width: int,
        span: tuple[int, int],
        remainder: int,
    ) -> None:
        """Positions [start, end) of the inner dims: whole vectors, then the rest masked or one at a time."""
        b = self.b
        if width == 1 and isinstance(start, int) and isinstance(end, int) and end - start <= _UNROLLED:
            for position in range(start, end):
                self._body(row, inner, position, 1, None, span)
            return
        whole = b.sub(end, b.rem(b.sub(end, start), width)) if remainder else end
        if not (isinstance(whole, int) and isinstance(start, int)) or whole > start:
            with b.for_(start, whole, width) as loop:
                self._body(row, inner, loop.index, width, None, span)
        if not remainder:
            return

        def masked() -> None:
            if isinstance(whole, int) and isinstance(end, int):
                self._body(row, inner, whole, width, b.tail_mask(end - whole, width), span)
                return
            with b.if_(b.compare_index("slt", whole, end)):
                self._body(row, inner, whole, width, b.tail_mask(b.sub(end, whole), width), span)

        if attempt(b, masked) is None:
            return
        if whole == 0 and end == prod(inner):
            raise CannotVectorize
        with b.for_(whole, end) as loop:
            self._body(row, inner, loop.index, 1, None, span)

    def _body(
        self,
        row: FlatGroup,
        inner: tuple[int, ...],
        position: Index,
        width: int,
        mask: SSAValue | None,
        span: tuple[int, int],
    ) -> None:
        step = 1 if width > 1 else 0
        if sum(extent != 1 for extent in inner) <= 1 and inner:
            lone = next((dim for dim, extent in enumerate(inner) if extent != 1), len(inner) - 1)
            lane = Coordinate(position, step, span[0], span[1], loop_offset=0)
            inside = [lane if dim == lone else Coordinate(0, 0, 0, 1) for dim in range(len(inner))]
        else:
            inside = FlatGroup(position, inner, step).coordinates()
        point = (*row.coordinates(), *inside)
        aligned = span[0] % max(width, 1) == 0
        evaluator = PointEvaluator(self.b, width, self.kernel.buffers, mask, aligned, self.contiguous)
        for value, buffer in self.kernel.results:
            store_point(evaluator, value, buffer, point)


def store_point(evaluator: PointEvaluator, value: SSAValue, buffer: SSAValue, point: Point) -> None:
    """Compute the element(s) of `value` at `point` and store them in its row-major buffer."""
    computed = evaluator.vector(value, point)
    position, step = linear_position(evaluator.b, known_shape(value), point)
    store_lanes(evaluator, computed, buffer, position, step)


def store_lanes(evaluator: PointEvaluator, value: SSAValue, buffer: SSAValue, position: Index, step: int) -> None:
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


# -- reductions ------------------------------------------------------------------------------------------------------


def accumulator_type(element: Attribute) -> Attribute:
    """What a reduction of `element` is kept in: f32 for the 16-bit floats, else the (signless) type itself."""
    return f32 if isinstance(element, Float16Type | BFloat16Type) else storage_type(element)


def neutral(b: LoopBuilder, kind: str, element: Attribute, width: int) -> SSAValue:
    """The neutral element of a reduction, in the accumulator's type."""
    kept = accumulator_type(element)
    if is_float(element):
        number = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}[kind]
        return b.constant(number, kept, width)
    bits = kept.width.data
    top = (1 << bits) - 1 if is_unsigned(element) or element == i1 else (1 << (bits - 1)) - 1
    bottom = 0 if is_unsigned(element) or element == i1 else -(1 << (bits - 1))
    number = {"add": 0, "mul": 1, "max": bottom, "min": top, "and": -1, "or": 0, "xor": 0}[kind]
    if element == i1:
        number &= 1
    elif is_unsigned(element) and number >= 1 << (bits - 1):
        number -= 1 << bits
    return b.constant(number, kept, width)


_FLOAT_OPS = {"add": arith.AddfOp, "mul": arith.MulfOp, "max": arith.MaximumfOp, "min": arith.MinimumfOp}
_INT_OPS = {
    "add": arith.AddiOp,
    "mul": arith.MuliOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
}


def combine(b: LoopBuilder, kind: str, element: Attribute, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Two partial results of a reduction as one."""
    if is_float(element):
        return b.float_op(_FLOAT_OPS[kind], lhs, rhs)
    if is_unsigned(element) or element == i1:
        return b.int_op({"max": arith.MaxUIOp, "min": arith.MinUIOp}.get(kind, _INT_OPS[kind]), lhs, rhs)
    return b.int_op(_INT_OPS[kind], lhs, rhs)


def across_lanes(b: LoopBuilder, kind: str, element: Attribute, value: SSAValue) -> SSAValue:
    """The lanes of a partial result combined."""
    if is_float(element):
        return b.reduce({"max": "maximumf", "min": "minimumf"}.get(kind, kind), value)
    unsigned = is_unsigned(element) or element == i1
    names = {"max": "maxui", "min": "minui"} if unsigned else {"max": "maxsi", "min": "minsi"}
    return b.reduce(names.get(kind, kind), value)


def widened(b: LoopBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """A value in the accumulator's type."""
    return emit_cast(b, value, element, f32) if isinstance(element, Float16Type | BFloat16Type) else value


def narrowed(b: LoopBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """An accumulator back in the element type."""
    return emit_cast(b, value, f32, element) if isinstance(element, Float16Type | BFloat16Type) else value


def _is_rowwise(kernel: LoopKernel) -> bool:
    """Whether all reductions run over the same trailing axes of one shape."""
    first = kernel.reductions[0]
    shape, axes = known_shape(first.input), sorted(ct.numbers(first.axes))
    trailing = axes == list(range(len(shape) - len(axes), len(shape))) and bool(axes)
    return trailing and all(
        known_shape(op.input) == shape and sorted(ct.numbers(op.axes)) == axes for op in kernel.reductions
    )


@dataclass
class _Rows:
    """Row by row, in stages; see the module's docstring."""

    b: LoopBuilder
    kernel: LoopKernel
    level: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def emit(self) -> None:
        b, kernel = self.b, self.kernel
        first = kernel.reductions[0]
        self.shape = known_shape(first.input)
        self.split = len(self.shape) - len(ct.numbers(first.axes))
        self.rows, self.length = prod(self.shape[: self.split]), prod(self.shape[self.split :])
        if self.rows == 0:
            return
        for op in kernel.operations:
            level = max((self.level.get(operand, 0) for operand in op.operands), default=0)
            for result in op.results:
                self.level[result] = level + isinstance(op, ct.ReduceOp)
        for width in dict.fromkeys((kernel.lanes, 1)):
            if attempt(b, lambda width=width: self._nest(width)) is None:
                return
        raise AssertionError("one element at a time is always possible")

    def _nest(self, width: int) -> None:
        with outer_loop(self.b, self.rows, self.kernel.flops(), self.kernel.threads) as loop:
            _Row(self, FlatGroup(loop_index(loop), self.shape[: self.split]), width).emit()


class _Row:
    """One row of a `_Rows` kernel."""

    def __init__(self, nest: _Rows, row: FlatGroup, width: int):
        self.b, self.kernel, self.nest, self.row = nest.b, nest.kernel, nest, row
        self.width = min(width, 1 << (max(nest.length, 1).bit_length() - 1)) if nest.length < width else width
        self.scalars: dict[SSAValue, SSAValue] = {}
        self.kept: dict[SSAValue, SSAValue] = {}

    def emit(self) -> None:
        stages = max(self.nest.level[op.result] for op in self.kernel.reductions)
        self._choose_kept(stages)
        for stage in range(stages):
            reductions = [op for op in self.kernel.reductions if self.nest.level.get(op.input, 0) == stage]
            self._reduce(stage, reductions)
            self._bind_row_values()
        full = [(v, buffer) for v, buffer in self.kernel.results if known_shape(v) == self.nest.shape]
        for value, buffer in self.kernel.results:
            if known_shape(value) != self.nest.shape:
                self._store_row_value(value, buffer)
        if full:
            self._sweep(stages, lambda evaluator, point: [store_point(evaluator, v, out, point) for v, out in full])

    # -- values of the row as a whole ----------------------------------------------------------------------------------

    def _row_point(self, value: SSAValue) -> Point:
        """The point of a value that has one element a row."""
        shape = known_shape(value)
        if prod(shape) == 1:
            return tuple(Coordinate(0, 0, 0, 1) for _ in shape)
        return tuple(FlatGroup(self.row.flat, shape).coordinates())

    def _is_row_value(self, value: SSAValue) -> bool:
        return self.nest.level.get(value, 0) > 0 and prod(known_shape(value)) == self.nest.rows and self._below(value)

    def _below(self, value: SSAValue) -> bool:
        """Whether a value has one element a row, rather than the full shape where a row has one element."""
        return isinstance(value.owner, ct.ReduceOp) or known_shape(value) != self.nest.shape

    def _bind_row_values(self) -> None:
        """Compute the row values that are now known, once, before the next sweep uses them."""
        for op in self.kernel.operations:
            for value in op.results:
                ready = all(self._known(operand) for operand in op.operands)
                if (
                    value not in self.scalars
                    and not isinstance(op, ct.ReduceOp)
                    and ready
                    and self._is_row_value(value)
                ):
                    evaluator = self._evaluator(1, None)
                    self.scalars[value] = evaluator.evaluate(value, self._row_point(value))

    def _known(self, operand: SSAValue) -> bool:
        return (
            operand in self.scalars
            or self.nest.level.get(operand, 0) == 0
            or (
                isinstance(operand.owner, Operation)
                and all(self._known(inner) for inner in operand.owner.operands)
                and not isinstance(operand.owner, ct.ReduceOp)
            )
        )

    def _store_row_value(self, value: SSAValue, buffer: SSAValue) -> None:
        evaluator = self._evaluator(1, None)
        self.b.store(evaluator.evaluate(value, self._row_point(value)), buffer, self.row.flat)

    # -- sweeps along the row ------------------------------------------------------------------------------------------

    def _evaluator(self, width: int, mask: SSAValue | None, position: Index = 0) -> PointEvaluator:
        evaluator = PointEvaluator(self.b, width, self.kernel.buffers, mask)
        for value, scalar in self.scalars.items():
            evaluator.bound[value] = lambda _, scalar=scalar: scalar
        for value, buffer in self.kept.items():
            evaluator.bound[value] = lambda _, buffer=buffer: evaluator.load_at(buffer, position, 1)
        return evaluator

    def _sweep(self, stage: int, body: Callable[[PointEvaluator, Point], object]) -> None:
        width, length = self.width, self.nest.length
        whole = length - length % width
        if whole:
            with self.b.for_(0, whole, width) as loop:
                self._at(loop.index, width, None, stage, body)
        if whole != length:
            self._tail(whole, lambda position, lanes, mask: self._at(position, lanes, mask, stage, body))

    def _tail(self, whole: int, body: Callable[[Index, int, SSAValue | None], None]) -> None:
        rest = self.nest.length - whole
        masked = attempt(self.b, lambda: body(whole, self.width, self.b.tail_mask(rest, self.width)))
        if masked is not None:
            with self.b.for_(whole, self.nest.length) as loop:
                body(loop.index, 1, None)

    def _at(
        self,
        position: Index,
        width: int,
        mask: SSAValue | None,
        stage: int,
        body: Callable[[PointEvaluator, Point], object],
    ) -> None:
        evaluator = self._evaluator(width, mask, position)
        point = self._point(position, width)
        self._keep(stage, evaluator, point, position)
        body(evaluator, point)

    def _point(self, position: Index, width: int) -> Point:
        inner = self.nest.shape[self.nest.split :]
        step = 1 if width > 1 else 0
        if sum(extent != 1 for extent in inner) <= 1:
            lone = next((dim for dim, extent in enumerate(inner) if extent != 1), len(inner) - 1)
            lane = Coordinate(position, step, 0, self.nest.length)
            inside = [lane if dim == lone else Coordinate(0, 0, 0, 1) for dim in range(len(inner))]
        else:
            inside = FlatGroup(position, inner, step).coordinates()
        return (*self.row.coordinates(), *inside)

    # -- costly values needed in several stages ------------------------------------------------------------------------

    def _choose_kept(self, stages: int) -> None:
        """Values of the full shape that cost much and are reached in more than one stage, with the stage that makes
        them.
        """
        reached: dict[SSAValue, set[int]] = {}

        def walk(value: SSAValue, stage: int) -> None:
            if stage in reached.setdefault(value, set()) or value in self.kernel.buffers:
                return
            reached[value].add(stage)
            if isinstance(value.owner, Operation) and not isinstance(value.owner, ct.ReduceOp):
                for operand in value.owner.operands:
                    walk(operand, stage)

        for op in self.kernel.reductions:
            walk(op.input, self.nest.level.get(op.input, 0))
        for value, _ in self.kernel.results:
            if known_shape(value) == self.nest.shape:
                walk(value, stages)
        room = _ROW_BUFFER_BYTES
        self.makers: dict[SSAValue, int] = {}
        for op in self.kernel.operations:
            costly = isinstance(op, ct.ElementwiseOp) and op.function.flops >= 10 and op.result.type.element_type != i1
            if costly and known_shape(op.results[0]) == self.nest.shape and len(reached.get(op.results[0], ())) > 1:
                size = self.nest.length * max(getattr(ct.element_of(op.results[0]), "bitwidth", 64) // 8, 1)
                if size <= room:
                    room -= size
                    self.makers[op.results[0]] = min(reached[op.results[0]])
        self.row_buffers = {
            value: self.b.alloca(storage_type(ct.element_of(value)), self.nest.length) for value in self.makers
        }

    def _keep(self, stage: int, evaluator: PointEvaluator, point: Point, position: Index) -> None:
        for value, maker in self.makers.items():
            if maker == stage:
                self.kept.pop(value, None)
                computed = evaluator.vector(value, point)
                store_lanes(evaluator, computed, self.row_buffers[value], position, 1)
                evaluator.bound[value] = lambda _, computed=computed: computed

    # -- reductions ----------------------------------------------------------------------------------------------------

    def _reduce(self, stage: int, reductions: list[ct.ReduceOp]) -> None:
        b, width, length = self.b, self.width, self.nest.length
        unroll = 4 if length >= 8 * width and len(reductions) == 1 else 2 if length >= 4 * width else 1
        start = 0
        partial = [[self._neutral(op, width) for _ in range(unroll)] for op in reductions]
        for times in dict.fromkeys((unroll, 1)):
            end = start + (length - start) // (times * width) * (times * width)
            if end > start:
                partial = self._accumulate(stage, reductions, partial, start, end, times)
            start = end
        totals = [self._joined(op, values) for op, values in zip(reductions, partial, strict=True)]
        if start != length:
            totals = self._accumulate_tail(stage, reductions, totals, start)
        for op, total in zip(reductions, totals, strict=True):
            element = ct.element_of(op.input)
            self.scalars[op.result] = narrowed(b, across_lanes(b, op.kind.data, element, total), element)
        for value, maker in self.makers.items():
            if maker == stage:
                self.kept[value] = self.row_buffers[value]

    def _neutral(self, op: ct.ReduceOp, width: int) -> SSAValue:
        return neutral(self.b, op.kind.data, ct.element_of(op.input), width)

    def _joined(self, op: ct.ReduceOp, values: list[SSAValue]) -> SSAValue:
        element = ct.element_of(op.input)
        while len(values) > 1:
            values = [
                combine(self.b, op.kind.data, element, first, second)
                for first, second in zip(values[::2], values[1::2], strict=True)
            ]
        return values[0]

    def _accumulate(
        self,
        stage: int,
        reductions: list[ct.ReduceOp],
        partial: list[list[SSAValue]],
        start: int,
        end: int,
        times: int,
    ) -> list[list[SSAValue]]:
        """Run over [start, end) with `times` vectors an iteration, each into its own accumulator."""
        b, width = self.b, self.width
        carried = [values[part] for values in partial for part in range(times)]
        with b.for_(start, end, width * times, carried) as loop:
            sums = list(loop.carried)
            for part in range(times):
                position = b.add(loop.index, part * width)

                def add(evaluator: PointEvaluator, point: Point, part: int = part) -> None:
                    for number, op in enumerate(reductions):
                        place = number * times + part
                        sums[place] = self._added(op, evaluator, point, sums[place])

                self._at(position, width, None, stage, add)
            loop.yield_(*sums)
        return [
            [*loop.results[number * times : (number + 1) * times], *values[times:]]
            for number, values in enumerate(partial)
        ]

    def _added(self, op: ct.ReduceOp, evaluator: PointEvaluator, point: Point, total: SSAValue) -> SSAValue:
        element = ct.element_of(op.input)
        value = widened(self.b, evaluator.vector(op.input, point), element)
        if evaluator.mask is not None:
            value = self.b.select(evaluator.mask, value, self._neutral(op, evaluator.width))
        return combine(self.b, op.kind.data, element, total, value)

    def _accumulate_tail(
        self, stage: int, reductions: list[ct.ReduceOp], totals: list[SSAValue], start: int
    ) -> list[SSAValue]:
        b, sums = self.b, list(totals)

        def masked() -> None:
            def add(evaluator: PointEvaluator, point: Point) -> None:
                for number, op in enumerate(reductions):
                    sums[number] = self._added(op, evaluator, point, totals[number])

            self._at(start, self.width, b.tail_mask(self.nest.length - start, self.width), stage, add)

        if attempt(b, masked) is None:
            return sums
        flat = [
            across_lanes(b, op.kind.data, ct.element_of(op.input), total)
            for op, total in zip(reductions, totals, strict=True)
        ]
        with b.for_(start, self.nest.length, 1, flat) as loop:
            ones = list(loop.carried)

            def add_one(evaluator: PointEvaluator, point: Point) -> None:
                for number, op in enumerate(reductions):
                    ones[number] = self._added(op, evaluator, point, ones[number])

            self._at(loop.index, 1, None, stage, add_one)
            loop.yield_(*ones)
        return list(loop.results)


@dataclass
class _Columns:
    """One level of reductions over any axes: vectors along the last dim that stays, or along the last dim if it is
    summed.
    """

    b: LoopBuilder
    kernel: LoopKernel

    def emit(self) -> None:
        first = self.kernel.reductions[0]
        self.shape, self.axes = known_shape(first.input), ct.numbers(first.axes)
        if any(
            known_shape(op.input) != self.shape or ct.numbers(op.axes) != self.axes for op in self.kernel.reductions
        ):
            raise CuvilError("cuvil_fused.kernel: reductions over different axes cannot share one kernel")
        self.kept = tuple(dim for dim in range(len(self.shape)) if dim not in self.axes)
        if prod(self.shape[dim] for dim in self.kept) == 0:
            return
        for width in dict.fromkeys((self.kernel.lanes, 1)):
            if attempt(self.b, lambda width=width: self._nest(width)) is None:
                return
        raise AssertionError("one element at a time is always possible")

    def _nest(self, width: int) -> None:
        along_kept = bool(self.kept) and self.kept[-1] == max(
            (dim for dim, extent in enumerate(self.shape) if extent != 1), default=-1
        )
        b, kernel = self.b, self.kernel
        outer = tuple(self.shape[dim] for dim in (self.kept[:-1] if along_kept else self.kept))
        columns = self.shape[self.kept[-1]] if along_kept else 1
        width = width if along_kept and columns >= width else 1
        unroll = 4 if columns >= 4 * width and width > 1 else 1
        block = width * unroll
        blocks = -(-columns // block)
        with outer_loop(b, prod(outer) * blocks, kernel.flops(), kernel.threads) as loop:
            item = loop_index(loop)
            row = FlatGroup(b.div(item, blocks), outer)
            start = b.mul(b.rem(item, blocks), block)
            if columns % block == 0:
                self._block(row, start, width, unroll, along_kept, None)
                return
            full = b.compare_index("sle", b.add(start, block), columns)
            with b.if_else(full) as (then, other):
                with then:
                    self._block(row, start, width, unroll, along_kept, None)
                with other, b.for_(start, columns, width) as rest:
                    mask = b.tail_mask(b.sub(columns, rest.index), width) if columns % width else None
                    self._block(row, rest.index, width, 1, along_kept, mask)

    def _block(
        self, row: FlatGroup, start: Index, width: int, unroll: int, along_kept: bool, mask: SSAValue | None
    ) -> None:
        b, kernel = self.b, self.kernel
        reductions = kernel.reductions
        lanes = [Coordinate(b.add(start, part * width), 1 if width > 1 else 0) for part in range(unroll)]
        init = [neutral(b, op.kind.data, ct.element_of(op.input), width) for op in reductions for _ in range(unroll)]
        totals = self._loops(row, lanes, width, mask, list(self.axes), {}, init, along_kept)
        for part in range(unroll):
            evaluator = PointEvaluator(b, width, kernel.buffers, mask)
            for number, op in enumerate(reductions):
                element = ct.element_of(op.input)
                total = narrowed(b, totals[number * unroll + part], element)
                evaluator.bound[op.result] = lambda _, total=total: total
            for value, buffer in kernel.results:
                shape = known_shape(value)
                point = self._result_point(row, lanes[part], shape, along_kept)
                store_point(evaluator, value, buffer, point)

    def _result_point(self, row: FlatGroup, lane: Coordinate, shape: tuple[int, ...], along_kept: bool) -> Point:
        """The point of a reduced value, with or without its kept dims of 1."""
        inside = (*row.coordinates(), lane) if along_kept else tuple(row.coordinates())
        if len(shape) == len(self.kept):
            return inside
        ones = Coordinate(0, 0, 0, 1)
        places = dict(zip(self.kept, inside, strict=True))
        return tuple(places.get(dim, ones) for dim in range(len(shape)))

    def _loops(
        self,
        row: FlatGroup,
        lanes: list[Coordinate],
        width: int,
        mask: SSAValue | None,
        axes: list[int],
        fixed: dict[int, Coordinate],
        totals: list[SSAValue],
        along_kept: bool,
    ) -> list[SSAValue]:
        """Nested loops over the reduced dims, carrying the totals."""
        b = self.b
        if axes:
            axis = axes[0]
            with b.for_(0, self.shape[axis], 1, totals) as loop:
                inner = {**fixed, axis: Coordinate(loop.index, 0, 0, self.shape[axis])}
                results = self._loops(row, lanes, width, mask, axes[1:], inner, list(loop.carried), along_kept)
                loop.yield_(*results)
            return list(loop.results)
        new = list(totals)
        for part, lane in enumerate(lanes):
            evaluator = PointEvaluator(b, width, self.kernel.buffers, mask)
            inside = [*row.coordinates(), lane] if along_kept else row.coordinates()
            places = {**fixed, **dict(zip(self.kept, inside, strict=True))}
            point = tuple(places[dim] for dim in range(len(self.shape)))
            for number, op in enumerate(self.kernel.reductions):
                element = ct.element_of(op.input)
                value = widened(b, evaluator.vector(op.input, point), element)
                place = number * len(lanes) + part
                new[place] = combine(b, op.kind.data, element, new[place], value)
        return new
