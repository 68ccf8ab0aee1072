"""Row kernels: reductions over trailing axes and what depends on them (softmax, the norms).

Rows are computed one at a time, in stages. Stage s computes the reductions whose operands need s reductions before
them; a costly value needed in two stages is kept in a row buffer on the thread's stack, cheap ones are computed again
from the (cached) row. Sums run in several vector accumulators, so that their error grows with the logarithm of the
lanes rather than with the length. Where the length is symbolic, row buffers have a fixed size, and rows that do not fit
compute again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from cuvil.codegen.loop_kernel import LoopKernel, attempt, loop_index, outer_loop, store_lanes, store_point
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.points import Coordinate, FlatGroup, Point, PointEvaluator
from cuvil.codegen.reductions import across_lanes, combine, narrowed, neutral, widened
from cuvil.codegen.scalar_lowering import storage_type
from cuvil.dialects import tensor as ct
from cuvil.dialects.fused import YieldOp
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of

_ROW_BUFFER_BYTES = 128 * 1024


def is_rowwise(kernel: LoopKernel) -> bool:
    """Whether all reductions run over the same trailing axes of one shape."""
    first = kernel.reductions[0]
    shape, axes = dims_of(first.input), sorted(ct.numbers(first.axes))
    trailing = axes == list(range(len(shape) - len(axes), len(shape))) and bool(axes)
    return trailing and all(
        dims_of(op.input) == shape and sorted(ct.numbers(op.axes)) == axes for op in kernel.reductions
    )


@dataclass
class Rows:
    """Row by row, in stages; see the module's docstring."""

    b: LoopBuilder
    kernel: LoopKernel
    level: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def prepare(self) -> None:
        """Find out the rows, and what each stage computes."""
        kernel = self.kernel
        first = kernel.reductions[0]
        self.shape = dims_of(first.input)
        self.split = len(self.shape) - len(ct.numbers(first.axes))
        self.rows, self.length = product(self.shape[: self.split]), product(self.shape[self.split :])
        for op in kernel.operations:
            level = max((self.level.get(operand, 0) for operand in op.operands), default=0)
            for result in op.results:
                self.level[result] = level + isinstance(op, ct.ReduceOp)
        self.stages = max(self.level[op.result] for op in kernel.reductions)

    def emit(self) -> None:
        """Append the loops."""
        b, kernel = self.b, self.kernel
        self.prepare()
        if self.rows == 0:
            return
        kept, capacity = self._kept_values()
        for width in dict.fromkeys((kernel.lanes, 1)):
            if attempt(b, lambda width=width: self._nest(width, kept, capacity)) is None:
                return
        raise AssertionError("one element at a time is always possible")

    def _nest(self, width: int, kept: dict[SSAValue, int], capacity: int) -> None:
        b = self.b
        if not kept or b.is_at_least(capacity, self.length):
            self._loop(width, kept, capacity)
            return
        with b.if_else(b.compare_index("sle", self.length, capacity)) as (fits, other):
            with fits:
                self._loop(width, kept, capacity)
            with other:
                self._loop(width, {}, 0)

    def _loop(self, width: int, kept: dict[SSAValue, int], capacity: int) -> None:
        with outer_loop(self.b, self.rows, self.kernel.flops(), self.kernel.threads) as loop:
            with FlatGroup.of_row(self.b, loop_index(loop), self.shape[: self.split]) as row:
                Row(self, row, width, kept, capacity).emit()

    # -- costly values needed in several stages ------------------------------------------------------------------------

    def _kept_values(self) -> tuple[dict[SSAValue, int], int]:
        """Values of the full shape that cost much and are reached in more than one stage, with the stage that makes
        them, and how many elements of a row are kept.
        """
        reached = self._reached()
        sizes: dict[SSAValue, int] = {}
        for op in self.kernel.operations:
            costly = isinstance(op, ct.ElementwiseOp) and op.function.flops >= 10 and op.result.type.element_type != i1
            if costly and self._is_read_in_place(op.results[0]) and len(reached.get(op.results[0], ())) > 1:
                sizes[op.results[0]] = max(getattr(ct.element_of(op.results[0]), "bitwidth", 64) // 8, 1)
        if isinstance(self.length, int):
            capacity, room = self.length, _ROW_BUFFER_BYTES
            for value, size in list(sizes.items()):
                if size * self.length <= room:
                    room -= size * self.length
                else:
                    del sizes[value]
        else:
            capacity = _ROW_BUFFER_BYTES // max(sum(sizes.values()), 1)
            _, longest = self.b.environment.bounds(self.length)
            capacity = capacity if longest is None else min(capacity, max(longest, 1))
        return {value: min(reached[value]) for value in sizes}, capacity

    def _is_read_in_place(self, value: SSAValue) -> bool:
        """Whether a value of the rows' shape is read at the loops' own point only, and not through movement."""
        readers = (ct.ElementwiseOp, ct.CastOp, ct.ReduceOp, YieldOp)
        return dims_of(value) == self.shape and all(isinstance(use.operation, readers) for use in value.uses)

    def _reached(self) -> dict[SSAValue, set[int]]:
        """The stages in which each value is needed."""
        reached: dict[SSAValue, set[int]] = {}

        def walk(value: SSAValue, stage: int) -> None:
            if stage in reached.setdefault(value, set()) or value in self.kernel.buffers:
                return
            reached[value].add(stage)
            if isinstance(value.owner, Operation) and not isinstance(value.owner, ct.ReduceOp):
                for operand in value.owner.operands:
                    walk(operand, stage)

        for op in self.kernel.reductions:
            walk(op.input, self.level.get(op.input, 0))
        for value, _ in self.kernel.results:
            if dims_of(value) == self.shape:
                walk(value, self.stages)
        return reached


class Row:
    """One row of a `Rows` kernel."""

    def __init__(self, nest: Rows, row: FlatGroup, width: int, makers: dict[SSAValue, int], capacity: int):
        self.b, self.kernel, self.nest, self.row = nest.b, nest.kernel, nest, row
        self.width = width
        if isinstance(nest.length, int) and nest.length < width:
            self.width = 1 << (max(nest.length, 1).bit_length() - 1)
        self.scalars: dict[SSAValue, SSAValue] = {}
        self.kept: dict[SSAValue, SSAValue] = {}
        self.makers = makers
        self.row_buffers = {value: self.b.alloca(storage_type(ct.element_of(value)), capacity) for value in self.makers}

    def emit(self) -> None:
        stages = self.nest.stages
        for stage in range(stages):
            reductions = [op for op in self.kernel.reductions if self.nest.level.get(op.input, 0) == stage]
            self._reduce(stage, reductions)
            self._bind_row_values()
        full = [(v, buffer) for v, buffer in self.kernel.results if dims_of(v) == self.nest.shape]
        for value, buffer in self.kernel.results:
            if dims_of(value) != self.nest.shape:
                self._store_row_value(value, buffer)
        if full:
            self._sweep(stages, lambda evaluator, point: [store_point(evaluator, v, out, point) for v, out in full])

    # -- values of the row as a whole ----------------------------------------------------------------------------------

    def _row_point(self, value: SSAValue) -> Point:
        """The point of a value that has one element a row."""
        shape = dims_of(value)
        if product(shape) == 1:
            return tuple(Coordinate(0, 0, 0, 1) for _ in shape)
        return tuple(FlatGroup(self.row.flat, shape).coordinates())

    def _is_row_value(self, value: SSAValue) -> bool:
        return self.nest.level.get(value, 0) > 0 and product(dims_of(value)) == self.nest.rows and self._below(value)

    def _below(self, value: SSAValue) -> bool:
        """Whether a value has one element a row, rather than the full shape where a row has one element."""
        return isinstance(value.owner, ct.ReduceOp) or dims_of(value) != self.nest.shape

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
        whole = self._whole(width)
        if whole != 0:
            with self.b.for_(0, whole, width) as loop:
                self._at(loop.index, width, None, stage, body)
        if whole != length:
            self._tail(whole, lambda position, lanes, mask: self._at(position, lanes, mask, stage, body))

    def _whole(self, step: int) -> Dim:
        """The length without what is left after steps."""
        rest = self.b.rem(self.nest.length, step)
        assert not isinstance(rest, SSAValue), "a dim by a number is a dim"
        return self.nest.length - rest

    def _tail(self, whole: Dim, body: Callable[[Index, int, SSAValue | None], None]) -> None:
        b, length = self.b, self.nest.length

        def masked() -> None:
            if isinstance(length, int):
                body(whole, self.width, b.tail_mask(length - whole, self.width))
                return
            with b.if_(b.compare_index("slt", whole, length)):
                body(whole, self.width, b.tail_mask(length - whole, self.width))

        if attempt(b, masked) is not None:
            with b.for_(whole, length) as loop:
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
        is_long, is_longer = (not b.is_at_least(times * width - 1, length) for times in (4, 8))
        unroll = 4 if is_longer and len(reductions) == 1 else 2 if is_long else 1
        start: Dim = 0
        partial = [[self._neutral(op, width) for _ in range(unroll)] for op in reductions]
        for times in dict.fromkeys((unroll, 1)):
            end = self._whole(times * width)
            if end != start:
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
        start: Dim,
        end: Dim,
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
        self, stage: int, reductions: list[ct.ReduceOp], totals: list[SSAValue], start: Dim
    ) -> list[SSAValue]:
        b, sums, length = self.b, list(totals), self.nest.length

        def add_masked(before: Sequence[SSAValue]) -> None:
            def add(evaluator: PointEvaluator, point: Point) -> None:
                for number, op in enumerate(reductions):
                    sums[number] = self._added(op, evaluator, point, before[number])

            self._at(start, self.width, b.tail_mask(length - start, self.width), stage, add)

        def masked() -> None:
            if isinstance(length, int):
                add_masked(totals)
                return
            # A loop that runs once or not at all: a branch that gives values.
            with b.for_(start, length, self.width, totals) as once:
                add_masked(once.carried)
                once.yield_(*sums)
            sums[:] = once.results

        if attempt(b, masked) is None:
            return sums
        flat = [
            across_lanes(b, op.kind.data, ct.element_of(op.input), total)
            for op, total in zip(reductions, totals, strict=True)
        ]
        with b.for_(start, length, 1, flat) as loop:
            ones = list(loop.carried)

            def add_one(evaluator: PointEvaluator, point: Point) -> None:
                for number, op in enumerate(reductions):
                    ones[number] = self._added(op, evaluator, point, ones[number])

            self._at(loop.index, 1, None, stage, add_one)
            loop.yield_(*ones)
        return list(loop.results)
