"""Pointwise kernels: every result has the iteration shape.

The outer dims are one parallel loop, the inner dims one flat vector loop; as many dims go inside as the region's
accesses allow (`CannotFlatten` says no), so that a plain element-wise kernel is one flat loop whatever its rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from xdsl.ir import SSAValue

from cuvil.codegen.loop_kernel import LoopKernel, attempt, is_small, loop_index, outer_loop, shares, store_point
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.points import CannotVectorize, Coordinate, FlatGroup, NeedsCut, PointEvaluator
from cuvil.codegen.transposed_loops import emit_transposed
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of

_UNROLLED = 8
"""Single elements that are computed one after the other without a loop."""


@dataclass
class Pointwise:
    """One pointwise kernel, tried with ever fewer dims inside until its region allows the shape."""

    b: LoopBuilder
    kernel: LoopKernel
    contiguous: bool = False

    def emit(self) -> None:
        shape = dims_of(self.kernel.results[0][0])
        if 0 in shape:
            return
        # Streams first, then blocks that turn streams of another dim, then lanes that load for themselves.
        if self._emit_flat(shape, self.kernel.lanes, contiguous=True):
            return
        if not emit_transposed(self.b, self.kernel, lambda: self._emit_any(shape, 1)):
            self._emit_any(shape, self.kernel.lanes)

    def _emit_any(self, shape: tuple[Dim, ...], width: int) -> None:
        """Loops without demands on how the region reads, of vectors if that can be."""
        if not any(self._emit_flat(shape, width) for width in dict.fromkeys((width, 1))):
            raise AssertionError("one element at a time is always possible")

    def _emit_flat(self, shape: tuple[Dim, ...], width: int, contiguous: bool = False) -> bool:
        """Try inner loops over as many dims as possible; of single elements over one dim, whose position is no
        division.
        """
        self.contiguous = contiguous and width > 1
        splits = range(max(len(shape), 1))
        if width == 1:
            splits = reversed(splits)
        elif not contiguous:
            # Lanes that load for themselves are no faster than single elements: a masked vector of few would be slower.
            splits = [inner_from for inner_from in splits if not self._is_short(shape[inner_from:], width)]
        return any(self._with_cuts(shape, inner_from, width) is None for inner_from in splits)

    def _is_short(self, inner: tuple[Dim, ...], width: int) -> bool:
        """Whether there are certainly less elements than lanes."""
        return self.b.is_at_least(width - 1, product(inner))

    def _with_cuts(self, shape: tuple[Dim, ...], inner_from: int, width: int) -> type[Exception] | None:
        cuts: list[Dim] = []
        while True:
            refusal = attempt(self.b, lambda: self._nest(shape, inner_from, width, cuts))
            if not isinstance(refusal, NeedsCut):
                return refusal
            if refusal.position in cuts or len(cuts) > 16:
                return CannotVectorize
            place = next((n for n, cut in enumerate(cuts) if self.b.is_at_least(cut, refusal.position)), len(cuts))
            if place and not self.b.is_at_least(refusal.position, cuts[place - 1]):
                return CannotVectorize
            cuts.insert(place, refusal.position)

    def _nest(self, shape: tuple[Dim, ...], inner_from: int, width: int, cuts: list[Dim]) -> None:
        b, kernel = self.b, self.kernel
        outer, inner = shape[:inner_from], shape[inner_from:]
        rows, length = product(outer), product(inner)
        work = kernel.flops()
        if rows == 1 and not cuts and kernel.threads > 1 and not is_small(b, work):
            if not b.is_at_least(4 * width - 1, length):
                self._flat_chunks(outer, inner, length, width, work)
                return
        with outer_loop(b, rows, work, kernel.threads) as loop:
            with FlatGroup.of_row(b, loop_index(loop), outer) as row:
                self._inner(row, inner, 0, length, width, cuts)

    def _flat_chunks(self, outer: tuple[Dim, ...], inner: tuple[Dim, ...], length: Dim, width: int, work: Dim) -> None:
        """One row: its vectors are shared out among the threads."""
        b = self.b
        vectors = b.ceil_div(length, width)
        if isinstance(length, int):
            items = min(-(-length // width), self.kernel.threads * 4)
        else:
            items = b.max(shares(b, vectors, work, self.kernel.threads), 1)
        share = b.mul(b.div(b.sub(b.add(vectors, items), 1), items), width)
        with b.parallel(b.div(b.sub(b.add(length, share), 1), b.max(share, 1))) as item:
            start = b.mul(item, share)
            end = b.min(b.add(start, share), length)
            self._range(FlatGroup(0, outer), inner, start, end, width, (0, length), b.rem(length, width) != 0)

    def _inner(
        self, row: FlatGroup, inner: tuple[Dim, ...], start: Dim, length: Dim, width: int, cuts: list[Dim]
    ) -> None:
        b = self.b
        inside = [cut for cut in cuts if not b.is_at_least(start, cut) and not b.is_at_least(cut, length)]
        for low, high in pairwise([start, *inside, length]):
            # A cut that lies elsewhere at run time leaves a part empty.
            first, last = b.min(b.max(low, start), length), b.min(b.max(high, start), length)
            is_known = not isinstance(first, SSAValue) and not isinstance(last, SSAValue)
            has_rest = not is_known or b.rem(b.sub(last, first), width) != 0
            self._range(row, inner, first, last, width, (low, high), has_rest)

    def _range(
        self,
        row: FlatGroup,
        inner: tuple[Dim, ...],
        start: Index,
        end: Index,
        width: int,
        span: tuple[Dim, Dim],
        has_rest: bool,
    ) -> None:
        """Positions [start, end) of the inner dims: whole vectors, then the rest masked or one at a time."""
        b = self.b
        if width == 1 and isinstance(start, int) and isinstance(end, int) and end - start <= _UNROLLED:
            for position in range(start, end):
                self._body(row, inner, position, 1, None, span)
            return
        whole = b.sub(end, b.rem(b.sub(end, start), width)) if has_rest else end
        if not (isinstance(whole, int) and isinstance(start, int)) or whole > start:
            with b.for_(start, whole, width) as loop:
                self._body(row, inner, loop.index, width, None, span)
        if not has_rest:
            return

        def masked() -> None:
            if isinstance(whole, int) and isinstance(end, int):
                self._body(row, inner, whole, width, b.tail_mask(end - whole, width), span)
                return
            with b.if_(b.compare_index("slt", whole, end)):
                self._body(row, inner, whole, width, b.tail_mask(b.sub(end, whole), width), span)

        if attempt(b, masked) is None:
            return
        if whole == 0 and end == product(inner):
            raise CannotVectorize
        with b.for_(whole, end) as loop:
            self._body(row, inner, loop.index, 1, None, span)

    def _body(
        self,
        row: FlatGroup,
        inner: tuple[Dim, ...],
        position: Index,
        width: int,
        mask: SSAValue | None,
        span: tuple[Dim, Dim],
    ) -> None:
        step = 1 if width > 1 else 0
        if sum(extent != 1 for extent in inner) <= 1 and inner:
            lone = next((dim for dim, extent in enumerate(inner) if extent != 1), len(inner) - 1)
            lane = Coordinate(position, step, span[0], span[1], loop_offset=0)
            inside = [lane if dim == lone else Coordinate(0, 0, 0, 1) for dim in range(len(inner))]
        else:
            inside = FlatGroup(position, inner, step).coordinates()
        point = (*row.coordinates(), *inside)
        aligned = self.b.environment.is_multiple_of(span[0], max(width, 1))
        evaluator = PointEvaluator(self.b, width, self.kernel.buffers, mask, aligned, self.contiguous)
        for value, buffer in self.kernel.results:
            store_point(evaluator, value, buffer, point)
