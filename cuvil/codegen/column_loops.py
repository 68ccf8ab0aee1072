"""Column kernels: one level of reductions over any axes; vectors run along the last dim that stays."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from cuvil.codegen.loop_kernel import LoopKernel, attempt, loop_index, outer_loop, store_point
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.points import Coordinate, FlatGroup, Point, PointEvaluator
from cuvil.codegen.reductions import combine, narrowed, neutral, widened
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of


@dataclass
class Columns:
    """One level of reductions over any axes: vectors along the last dim that stays, or along the last dim if it is
    summed.
    """

    b: LoopBuilder
    kernel: LoopKernel

    def emit(self) -> None:
        first = self.kernel.reductions[0]
        self.shape, self.axes = dims_of(first.input), ct.numbers(first.axes)
        if any(dims_of(op.input) != self.shape or ct.numbers(op.axes) != self.axes for op in self.kernel.reductions):
            raise CuvilError("cuvil_fused.kernel: reductions over different axes cannot share one kernel")
        self.kept = tuple(dim for dim in range(len(self.shape)) if dim not in self.axes)
        if product(self.shape[dim] for dim in self.kept) == 0:
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
        columns: Dim = self.shape[self.kept[-1]] if along_kept else 1
        width = width if along_kept and not b.is_at_least(width - 1, columns) else 1
        unroll = 4 if not b.is_at_least(4 * width - 1, columns) and width > 1 else 1
        block = width * unroll
        blocks = b.ceil_div(columns, block)
        with outer_loop(b, b.mul(product(outer), blocks), kernel.flops(), kernel.threads) as loop:
            item = loop_index(loop)
            with FlatGroup.of_row(b, b.div(item, blocks), outer) as row:
                start = b.mul(b.rem(item, blocks), block)
                if b.rem(columns, block) == 0:
                    self._block(row, start, width, unroll, along_kept, None)
                else:
                    self._last_blocks(row, start, columns, width, unroll, along_kept)

    def _last_blocks(
        self, row: FlatGroup, start: Index, columns: Dim, width: int, unroll: int, along_kept: bool
    ) -> None:
        """A block that may be the row's last: whole, or as many vectors as are left."""
        b = self.b
        full = b.compare_index("sle", b.add(start, width * unroll), columns)
        with b.if_else(full) as (then, other):
            with then:
                self._block(row, start, width, unroll, along_kept, None)
            with other, b.for_(start, columns, width) as rest:
                mask = b.tail_mask(b.sub(columns, rest.index), width) if b.rem(columns, width) != 0 else None
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
                shape = dims_of(value)
                point = self._result_point(row, lanes[part], shape, along_kept)
                store_point(evaluator, value, buffer, point)

    def _result_point(self, row: FlatGroup, lane: Coordinate, shape: tuple[Dim, ...], along_kept: bool) -> Point:
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
