"""Attention for a few queries (decoding), of which there are too few to fill the lanes.

D lies in the lanes, so that K and V are read once, in vectors:

    q [queries][D] = scale * Q
    for each block of keys:
        for each key, query: S [queries][keys] = reduce(K row * q row) + mask       one reduction across lanes each
        for each query: new maximum; P = exp(S - maximum); sum of P                 keys in the lanes
        O [queries][D] = O * exp(old maximum - maximum) + P V                       `microkernel.accumulate`
    epilogue(O / sum)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.attention_spec import AttentionSpec, additive_mask, softmax_exponential
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import PanelView, accumulate
from cuvil.codegen.packing import MatrixView, convert, element_bits

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

MOST_ROWS = 4
"""More queries than this are better off in the lanes of a block, even of one that they do not fill."""
_KEYS = 256
_GROUP = 4
"""Vectors of D that are summed together."""


@dataclass(frozen=True)
class _Scratch:
    queries: SSAValue
    """[queries][width], scaled, zero-padded."""
    scores: SSAValue
    """[queries][_KEYS]."""
    output: SSAValue
    """[queries][value width]."""
    maximum: SSAValue
    total: SSAValue
    factor: SSAValue
    """[queries]: what rows of O are multiplied by."""


@dataclass(frozen=True)
class RowsEmitter:
    """Emits one work item: the few queries of one head."""

    b: LoopBuilder
    target: CpuTarget
    spec: AttentionSpec
    query: StridedOperand
    key: StridedOperand
    value: StridedOperand
    mask: StridedOperand | None
    epilogue: Epilogue
    batch: Index
    head: Index

    def emit(self, queries: int) -> None:
        """All `queries` queries against all of their keys."""
        b, spec = self.b, self.spec
        scratch = self._allocate(queries)
        self._start(scratch, queries)
        kv_head = b.div(self.head, spec.heads // spec.kv_heads)
        key, value = self._view(self.key, kv_head), self._view(self.value, kv_head)
        limit = b.min(spec.keys, b.add(spec.causal_offset, queries)) if spec.causal else spec.keys
        with b.for_(0, limit, _KEYS) as start:
            count = b.min(_KEYS, b.sub(limit, start.index))
            self._scores(scratch, key.at(b, start.index, 0), start.index, count, queries)
            for row in range(queries):
                self._exponentials(scratch, row, count)
            self._multiply_values(scratch, value.at(b, start.index, 0), count, queries)
        self._finish(scratch, queries)

    @property
    def _lanes(self) -> int:
        return self.target.lanes(element_bits(self.spec.accumulator_type))

    def _width(self, columns: int) -> int:
        """`columns` rounded up to whole vectors."""
        return -(-columns // self._lanes) * self._lanes

    def _allocate(self, queries: int) -> _Scratch:
        sizes = (self._width(self.spec.head_dim), _KEYS, self._width(self.spec.value_dim), 1, 1, 1)
        return _Scratch(*(self.b.alloca(self.spec.accumulator_type, max(1, queries * size)) for size in sizes))

    def _view(self, operand: StridedOperand, head: Index) -> MatrixView:
        position = self.b.linear(operand.offset, (self.batch, head), operand.strides[:2])
        return MatrixView(operand.buffer, position, operand.strides[2], operand.strides[3])

    def _load(self, view: MatrixView, row: Index, column: int, columns: int) -> SSAValue:
        """One vector of a row in the accumulator type, zeros past `columns`; lane by lane where columns are strided."""
        b, lanes, kind = self.b, self._lanes, self.spec.accumulator_type
        active = min(lanes, columns - column)
        if view.column_stride == 1:
            position = view.element(b, row, column)
            if active == lanes:
                return convert(b, b.load(view.buffer, position, lanes), kind)
            return convert(b, b.masked_load(view.buffer, position, b.tail_mask(active, lanes), lanes), kind)
        result = b.constant(0.0, kind, lanes)
        for lane in range(active):
            scalar = convert(b, b.load(view.buffer, view.element(b, row, column + lane)), kind)
            result = b.insert_lane(scalar, result, lane)
        return result

    def _start(self, scratch: _Scratch, queries: int) -> None:
        b, spec, lanes, kind = self.b, self.spec, self._lanes, self.spec.accumulator_type
        view = self._view(self.query, self.head)
        scale = b.constant(spec.scale, kind, lanes)
        zero = b.constant(0.0, kind, lanes)
        width, value_width = self._width(spec.head_dim), self._width(spec.value_dim)
        for row in range(queries):
            b.store(b.constant(-inf, kind), scratch.maximum, row)
            b.store(b.constant(0.0, kind), scratch.total, row)
            for column in range(0, width, lanes):
                value = b.mul_float(self._load(view, row, column, spec.head_dim), scale)
                b.store(value, scratch.queries, row * width + column)
            for column in range(0, value_width, lanes):
                b.store(zero, scratch.output, row * value_width + column)

    # -- one block of keys -------------------------------------------------------------------------------------------

    def _scores(self, scratch: _Scratch, key: MatrixView, start: Index, count: Index, queries: int) -> None:
        """S of `count` keys, masked, and -inf after them up to a whole vector."""
        b, lanes, kind = self.b, self._lanes, self.spec.accumulator_type
        width = self._width(self.spec.head_dim)
        lowest = b.constant(-inf, kind, lanes)
        last = b.mul(b.div(b.sub(count, 1), lanes), lanes)
        for row in range(queries):
            b.store(lowest, scratch.scores, b.add(last, row * _KEYS))
        zero = b.constant(0.0, kind, lanes)
        with b.for_(0, count) as loop:
            sums = [zero] * queries
            for column in range(0, width, lanes):
                line = self._load(key, loop.index, column, self.spec.head_dim)
                for row in range(queries):
                    own = b.load(scratch.queries, row * width + column, lanes)
                    sums[row] = b.fma(line, own, sums[row])
            for row, total in enumerate(sums):
                score = self._masked(b.reduce("add", total), row, b.add(start, loop.index))
                b.store(score, scratch.scores, b.add(loop.index, row * _KEYS))

    def _masked(self, score: SSAValue, row: int, key: Index) -> SSAValue:
        b, kind = self.b, self.spec.accumulator_type
        if self.mask is not None:
            position = b.linear(self.mask.offset, (self.batch, self.head, row, key), self.mask.strides)
            score = b.add_float(score, additive_mask(b, b.load(self.mask.buffer, position), kind))
        if self.spec.causal:
            seen = b.compare_index("sle", key, b.add(self.spec.causal_offset, row))
            score = b.select(seen, score, b.constant(-inf, kind))
        return score

    def _exponentials(self, scratch: _Scratch, row: int, count: Index) -> None:
        """P = exp(S - maximum) of one query in place; updates maximum and total, and leaves in `factor` O's."""
        b, lanes, kind = self.b, self._lanes, self.spec.accumulator_type
        lowest, zero = b.constant(-inf, kind), b.constant(0.0, kind)
        with b.for_(0, count, lanes, [b.constant(-inf, kind, lanes)]) as loop:
            score = b.load(scratch.scores, b.add(loop.index, row * _KEYS), lanes)
            # A NaN score loses here and still reaches the sum and the output through its exponential.
            loop.yield_(b.select(b.compare_float("ogt", score, loop.carried[0]), score, loop.carried[0]))
        old = b.load(scratch.maximum, row)
        best = b.reduce("maxnumf", loop.results[0])
        maximum = b.select(b.compare_float("ogt", best, old), best, old)
        # Without a single key seen yet, the maximum is -inf: subtracting 0 instead keeps exp(-inf) = 0.
        shift = b.select(b.compare_float("oeq", maximum, lowest), zero, maximum)
        shifts = b.broadcast(shift, lanes)
        with b.for_(0, count, lanes, [b.constant(0.0, kind, lanes)]) as loop:
            place = b.add(loop.index, row * _KEYS)
            value = softmax_exponential(b, b.sub_float(b.load(scratch.scores, place, lanes), shifts))
            b.store(value, scratch.scores, place)
            loop.yield_(b.add_float(loop.carried[0], value))
        shrink = softmax_exponential(b, b.sub_float(old, shift))
        total = b.fma(b.load(scratch.total, row), shrink, b.reduce("add", loop.results[0]))
        b.store(maximum, scratch.maximum, row)
        b.store(total, scratch.total, row)
        b.store(shrink, scratch.factor, row)

    def _multiply_values(self, scratch: _Scratch, value: MatrixView, count: Index, queries: int) -> None:
        """O = O * factor + P V, by groups of vectors of D."""
        b, lanes, kind = self.b, self._lanes, self.spec.accumulator_type
        columns, width = self.spec.value_dim, self._width(self.spec.value_dim)
        if value.column_stride != 1:
            self._multiply_strided_values(scratch, value, count, queries)
            return
        lhs = MatrixView(scratch.scores, 0, _KEYS, 1)
        for first in range(0, width, _GROUP * lanes):
            vectors = min(_GROUP, (width - first) // lanes)
            left = columns - first - (vectors - 1) * lanes
            tail = b.tail_mask(left, lanes) if left < lanes else None
            rhs = PanelView(value.buffer, b.add(value.position, first), value.row_stride, vectors, lanes, tail)
            places = [row * width + first + number * lanes for row in range(queries) for number in range(vectors)]
            start = [self._shrunk(scratch, place, place // width) for place in places]
            for place, total in zip(places, accumulate(b, lhs, rhs, queries, count, start, kind), strict=True):
                b.store(total, scratch.output, place)

    def _multiply_strided_values(self, scratch: _Scratch, value: MatrixView, count: Index, queries: int) -> None:
        """The same, one element of O after the other, each a dot product along the keys."""
        b, kind = self.b, self.spec.accumulator_type
        width = self._width(self.spec.value_dim)
        for row in range(queries):
            factor = b.load(scratch.factor, row)
            with b.for_(0, self.spec.value_dim) as column:
                place = b.add(column.index, row * width)
                start = b.mul_float(b.load(scratch.output, place), factor)
                with b.for_(0, count, 1, [start]) as key:
                    element = convert(b, b.load(value.buffer, value.element(b, key.index, column.index)), kind)
                    weight = b.load(scratch.scores, b.add(key.index, row * _KEYS))
                    key.yield_(b.fma(weight, element, key.carried[0]))
                b.store(key.results[0], scratch.output, place)

    def _shrunk(self, scratch: _Scratch, place: int, row: int) -> SSAValue:
        b, lanes = self.b, self._lanes
        return b.mul_float(b.load(scratch.output, place, lanes), b.broadcast(b.load(scratch.factor, row), lanes))

    # -- results -----------------------------------------------------------------------------------------------------

    def _finish(self, scratch: _Scratch, queries: int) -> None:
        """epilogue(O / total), row by row."""
        b, spec, lanes, kind = self.b, self.spec, self._lanes, self.spec.accumulator_type
        width = self._width(spec.value_dim)
        first = b.linear(0, (self.batch, self.head), (spec.heads * queries, queries))
        for row in range(queries):
            total, zero = b.load(scratch.total, row), b.constant(0.0, kind)
            inverse = b.div_float(b.constant(1.0, kind), total)
            if not spec.masked_rows_are_nan:
                inverse = b.select(b.compare_float("oeq", total, zero), zero, inverse)
            factor = b.broadcast(inverse, lanes)
            for column in range(0, spec.value_dim, lanes):
                left = spec.value_dim - column
                mask = b.tail_mask(left, lanes) if left < lanes else None
                value = b.mul_float(b.load(scratch.output, row * width + column, lanes), factor)
                self.epilogue.store(b, b.add(first, row), column, value, mask)
