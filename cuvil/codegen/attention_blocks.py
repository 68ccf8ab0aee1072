"""Attention for blocks of queries, which lie in the lanes of a few vectors.

The softmax then needs no reduction across lanes, and neither K nor V is copied:

    pack the block's queries, scaled, as Q^T [D][queries]
    for each block of keys:                                     not beyond the diagonal, if causal
        S^T [keys][queries] = K Q^T                             K read by broadcast, `microkernel.accumulate`
        S^T += mask; new maximum                                lane-wise
        P^T = exp(S^T - maximum); sum of P                      lane-wise
        O [queries][D] = O * exp(old maximum - maximum) + P V   P read by broadcast from P^T, V in vectors
    epilogue(O / sum)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, i32
from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.attention_spec import AttentionSpec, additive_mask, softmax_exponential
from cuvil.codegen.loops import Index, LoopBuilder, width_of
from cuvil.codegen.microkernel import PanelView, accumulate, max_rows
from cuvil.codegen.packing import MatrixView, convert, element_bits, emit_pack_panel

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget


@dataclass(frozen=True)
class Blocking:
    """The sizes of the blocks: `vectors` x `lanes` queries by `keys` keys; tiles within them by rows."""

    lanes: int
    vectors: int
    keys: int
    key_rows: int
    """Rows of a score tile: a power of two."""
    value_groups: tuple[int, ...]
    """Vectors of D in each group of value tiles."""

    @property
    def queries(self) -> int:
        """Queries of a block."""
        return self.lanes * self.vectors

    @property
    def value_width(self) -> int:
        """D of the values, rounded up to whole vectors."""
        return sum(self.value_groups) * self.lanes


def choose_blocking(target: CpuTarget, spec: AttentionSpec, vectors: int | None = None) -> Blocking:
    """Blocks whose scores, queries and outputs stay in L1 together; queries in `vectors` vectors if given."""
    item_bytes = element_bits(spec.accumulator_type) // 8
    lanes = target.lanes(item_bytes * 8)
    vectors = vectors or (1 if isinstance(spec.queries, int) and spec.queries <= lanes else 2)
    queries = lanes * vectors
    free = target.l1_bytes * 3 // 4 // item_bytes - queries * (spec.head_dim + spec.value_dim)
    keys = max(32, min(512, free // queries)) // 8 * 8
    if isinstance(spec.keys, int) and spec.keys > 0:
        keys = -(-spec.keys // -(-spec.keys // keys))
    # No more rows than queries: a causal block has at least as many keys as queries to fill a tile with.
    rows = _power_of_two_below(min(8, max_rows(target, vectors), queries))
    if isinstance(spec.keys, int):
        rows = min(rows, _power_of_two_below(max(1, spec.keys)))
    total = -(-spec.value_dim // lanes)
    most = 4 if target.vector_registers >= 32 else 2
    count = -(-total // most)
    groups = tuple(total // count + (number < total % count) for number in range(count))
    return Blocking(lanes, vectors, keys, rows, groups)


def _power_of_two_below(number: int) -> int:
    return 1 << number.bit_length() - 1


@dataclass(frozen=True)
class _Scratch:
    """The thread-private buffers of one block of queries."""

    queries: SSAValue
    """Q^T [D][queries], scaled."""
    scores: SSAValue
    """S^T, then P^T [headroom + keys][queries]; the headroom takes the rows that an overlapping tile writes early."""
    output: SSAValue
    """O [queries][value width]."""
    maximum: SSAValue
    total: SSAValue
    factor: SSAValue
    """[queries]: what rows of O are multiplied by."""


@dataclass(frozen=True)
class BlockEmitter:
    """Emits one work item: a block of queries of one head."""

    b: LoopBuilder
    target: CpuTarget
    spec: AttentionSpec
    blocking: Blocking
    query: StridedOperand
    key: StridedOperand
    value: StridedOperand
    mask: StridedOperand | None
    epilogue: Epilogue
    batch: Index
    head: Index

    def emit(self, block: Index) -> None:
        """One block of queries against all of its keys."""
        b, spec, size = self.b, self.spec, self.blocking
        first = b.mul(block, size.queries)
        scratch = self._allocate()
        self._pack_queries(scratch.queries, first)
        self._reset(scratch)
        kv_head = b.div(self.head, spec.heads // spec.kv_heads)
        key = self._view(self.key, kv_head)
        value = self._view(self.value, kv_head)
        limit = spec.keys
        if spec.causal:
            limit = b.min(limit, b.add(b.add(first, size.queries), spec.causal_offset))
        mask = _MaskReader(self, first) if self.mask is not None else None
        with b.for_(0, limit, size.keys) as start:
            even = not spec.causal and isinstance(spec.keys, int) and spec.keys % size.keys == 0
            count = size.keys if even else b.min(size.keys, b.sub(limit, start.index))
            self._scores(scratch, key.at(b, start.index, 0), count)
            maximum = self._mask_and_maximum(scratch, mask, first, start.index, count)
            self._exponentials(scratch, maximum, count)
            self._multiply_values(scratch, value.at(b, start.index, 0), first, count)
        self._finish(scratch, first)

    # -- operands and scratch ----------------------------------------------------------------------------------------

    def _allocate(self) -> _Scratch:
        b, size, kind = self.b, self.blocking, self.spec.accumulator_type
        state = [b.alloca(kind, size.queries) for _ in range(3)]
        return _Scratch(
            b.alloca(kind, max(1, self.spec.head_dim) * size.queries),
            b.alloca(kind, (size.keys + size.key_rows) * size.queries),
            b.alloca(kind, size.queries * size.value_width),
            *state,
        )

    def _view(self, operand: StridedOperand, head: Index) -> MatrixView:
        position = self.b.linear(operand.offset, (self.batch, head), operand.strides[:2])
        return MatrixView(operand.buffer, position, operand.strides[2], operand.strides[3])

    def _pack_queries(self, scratch: SSAValue, first: Index) -> None:
        b, spec, size = self.b, self.spec, self.blocking
        view = self._view(self.query, self.head).at(b, first, 0)
        transposed = MatrixView(view.buffer, view.position, view.column_stride, view.row_stride)

        def scaled(value: SSAValue) -> SSAValue:
            value = convert(b, value, spec.accumulator_type)
            return b.mul_float(value, b.constant(spec.scale, spec.accumulator_type, width_of(value.type)))

        columns = b.sub(spec.queries, first)
        if isinstance(spec.queries, int) and spec.queries % size.queries == 0:
            columns = size.queries
        elif isinstance(spec.queries, int) and spec.queries < size.queries:
            columns = spec.queries
        emit_pack_panel(b, transposed, spec.head_dim, columns, scratch, size.queries, size.lanes, scaled)

    def _reset(self, scratch: _Scratch) -> None:
        b, size = self.b, self.blocking
        zero = b.constant(0.0, self.spec.accumulator_type, size.lanes)
        lowest = b.constant(-inf, self.spec.accumulator_type, size.lanes)
        for lane in range(0, size.queries, size.lanes):
            b.store(lowest, scratch.maximum, lane)
            b.store(zero, scratch.total, lane)
        with b.for_(0, size.queries * size.value_width, size.lanes) as position:
            b.store(zero, scratch.output, position.index)

    # -- one block of keys -------------------------------------------------------------------------------------------

    def _scores(self, scratch: _Scratch, key: MatrixView, count: Index) -> None:
        """S^T of `count` keys. The last tile is moved back to end with the block: its first rows are computed twice.

        Where the keys are the block's first and fewer than a tile, which only a dynamic number can be, one by one.
        """
        rows = self.blocking.key_rows
        if isinstance(self.spec.keys, int):
            self._score_tiles(scratch, key, count, rows)
            return
        with self.b.if_else(self.b.compare_index("sge", self.spec.keys, rows)) as (tiles, single):
            with tiles:
                self._score_tiles(scratch, key, count, rows)
            with single:
                self._score_tiles(scratch, key, count, 1)

    def _score_tiles(self, scratch: _Scratch, key: MatrixView, count: Index, rows: int) -> None:
        b, size = self.b, self.blocking
        queries = PanelView(scratch.queries, 0, size.queries, size.vectors, size.lanes)
        zeros = [b.constant(0.0, self.spec.accumulator_type, size.lanes)] * (rows * size.vectors)
        exact = isinstance(count, int) and count % rows == 0
        with b.for_(0, count, rows) as tile:
            row = tile.index if exact or rows == 1 else b.min(tile.index, b.sub(count, rows))
            lhs = key.at(b, row, 0)
            sums = accumulate(b, lhs, queries, rows, self.spec.head_dim, zeros, self.spec.accumulator_type)
            position = b.mul(b.add(row, size.key_rows), size.queries)
            for number, value in enumerate(sums):
                b.store(value, scratch.scores, b.add(position, number * size.lanes))

    def _mask_and_maximum(
        self, scratch: _Scratch, mask: _MaskReader | None, first: Index, start: Index, count: Index
    ) -> list[SSAValue]:
        """Apply the masks to S^T in place; returns the running maximum with this block's scores, one lane a query."""
        b, size = self.b, self.blocking
        lowest = b.constant(-inf, self.spec.accumulator_type, size.lanes)
        maximum = [b.load(scratch.maximum, lane, size.lanes) for lane in range(0, size.queries, size.lanes)]
        if mask is not None:
            mask.prepare(start, count)
        with b.for_(0, count, 1, maximum) as key:
            position = b.mul(b.add(key.index, size.key_rows), size.queries)
            results: list[SSAValue] = []
            for number, carried in enumerate(key.carried):
                place = b.add(position, number * size.lanes)
                score = b.load(scratch.scores, place, size.lanes)
                if mask is not None:
                    score = b.add_float(score, mask.read(start, key.index, number))
                if self.spec.causal:
                    seen = self._is_seen(first, b.add(start, key.index), number)
                    score = b.select(seen, score, lowest)
                if mask is not None or self.spec.causal:
                    b.store(score, scratch.scores, place)
                # A NaN score loses here and still reaches the sum and the output through its exponential.
                results.append(b.select(b.compare_float("ogt", score, carried), score, carried))
            key.yield_(*results)
        return key.results

    def _is_seen(self, first: Index, key: Index, number: int) -> SSAValue:
        """Lanes whose query, `first` + lane (of vector `number`), may see `key`."""
        b, lanes = self.b, self.blocking.lanes
        distance = b.sub(b.sub(key, b.add(first, number * lanes)), self.spec.causal_offset)
        least = b.broadcast(b.cast_index(b.index(distance), i32), lanes)
        kind = VectorType(i32, [lanes])
        lane_numbers = b.op(
            arith.ConstantOp, result=kind, value=DenseIntOrFPElementsAttr.from_list(kind, list(range(lanes)))
        )
        return b.compare_int("sle", least, lane_numbers)

    def _exponentials(self, scratch: _Scratch, maximum: Sequence[SSAValue], count: Index) -> None:
        """P^T = exp(S^T - maximum) in place; updates maximum and total, and leaves in `factor` how O must shrink."""
        b, size, kind = self.b, self.blocking, self.spec.accumulator_type
        zero = b.constant(0.0, kind, size.lanes)
        lowest = b.constant(-inf, kind, size.lanes)
        # Without a single key seen yet, the maximum is -inf: subtracting 0 instead keeps exp(-inf) = 0.
        shifts = [b.select(b.compare_float("oeq", value, lowest), zero, value) for value in maximum]
        with b.for_(0, count, 1, [zero] * size.vectors) as key:
            position = b.mul(b.add(key.index, size.key_rows), size.queries)
            sums: list[SSAValue] = []
            for number, (shift, total) in enumerate(zip(shifts, key.carried, strict=True)):
                place = b.add(position, number * size.lanes)
                score = b.sub_float(b.load(scratch.scores, place, size.lanes), shift)
                probability = softmax_exponential(b, score)
                b.store(probability, scratch.scores, place)
                sums.append(b.add_float(total, probability))
            key.yield_(*sums)
        for number, (shift, added) in enumerate(zip(shifts, key.results, strict=True)):
            lane = number * size.lanes
            shrink = softmax_exponential(b, b.sub_float(b.load(scratch.maximum, lane, size.lanes), shift))
            total = b.fma(b.load(scratch.total, lane, size.lanes), shrink, added)
            b.store(maximum[number], scratch.maximum, lane)
            b.store(total, scratch.total, lane)
            b.store(shrink, scratch.factor, lane)

    def _multiply_values(self, scratch: _Scratch, value: MatrixView, first: Index, count: Index) -> None:
        """O = O * factor + P V."""
        b, spec, size = self.b, self.spec, self.blocking
        value = self._contiguous_values(value, count)
        probabilities = MatrixView(scratch.scores, size.key_rows * size.queries, 1, size.queries)
        tail = spec.value_dim % size.lanes if value.buffer is self.value.buffer else 0
        groups, column = size.value_groups, 0
        alike = len(set(groups)) == 1 and not tail
        rows = _power_of_two_below(min(size.lanes, max_rows(self.target, max(groups))))
        with b.for_(0, self._rows_of_block(first), rows) as row:
            lhs = probabilities.at(b, row.index, 0)

            def tile(column: Index, vectors: int, mask: SSAValue | None) -> None:
                start = b.add(value.position, column)
                rhs = PanelView(value.buffer, start, value.row_stride, vectors, size.lanes, mask)
                self._value_tile(scratch, lhs, rhs, row.index, column, rows, count)

            if alike and len(groups) > 1:
                with b.for_(0, size.value_width, groups[0] * size.lanes) as group:
                    tile(group.index, groups[0], None)
                return
            for number, vectors in enumerate(groups):
                mask = b.tail_mask(tail, size.lanes) if tail and number == len(groups) - 1 else None
                tile(column, vectors, mask)
                column += vectors * size.lanes

    def _value_tile(
        self,
        scratch: _Scratch,
        lhs: MatrixView,
        rhs: PanelView,
        row: Index,
        column: Index,
        rows: int,
        count: Index,
    ) -> None:
        b, size, kind = self.b, self.blocking, self.spec.accumulator_type
        places: list[Index] = []
        start: list[SSAValue] = []
        origin = b.add(b.mul(row, size.value_width), column)
        for line in range(rows):
            factor = b.broadcast(b.load(scratch.factor, b.add(row, line)), size.lanes)
            for number in range(rhs.vectors):
                place = b.add(origin, line * size.value_width + number * size.lanes)
                places.append(place)
                start.append(b.mul_float(b.load(scratch.output, place, size.lanes), factor))
        for place, total in zip(places, accumulate(b, lhs, rhs, rows, count, start, kind), strict=True):
            b.store(total, scratch.output, place)

    def _contiguous_values(self, value: MatrixView, count: Index) -> MatrixView:
        """The block's values with contiguous D: as they are, or copied where D has a stride."""
        if value.column_stride == 1:
            return value
        size = self.blocking
        width = size.value_width
        copy = self.b.alloca(self.spec.accumulator_type, size.keys * width)
        emit_pack_panel(self.b, value, count, self.spec.value_dim, copy, width, size.lanes)
        return MatrixView(copy, 0, width, 1)

    # -- results -----------------------------------------------------------------------------------------------------

    def _rows_of_block(self, first: Index) -> Index:
        """Queries that exist in the block that starts at `first`."""
        b, total, size = self.b, self.spec.queries, self.blocking
        if isinstance(total, int) and total % size.queries == 0:
            return size.queries
        if isinstance(total, int) and total < size.queries:
            return total
        return b.min(size.queries, b.sub(total, first))

    def _finish(self, scratch: _Scratch, first: Index) -> None:
        """epilogue(O / total), row by row."""
        b, spec, size = self.b, self.spec, self.blocking
        zero = b.constant(0.0, spec.accumulator_type, size.lanes)
        one = b.constant(1.0, spec.accumulator_type, size.lanes)
        for lane in range(0, size.queries, size.lanes):
            total = b.load(scratch.total, lane, size.lanes)
            inverse = b.div_float(one, total)
            if not spec.masked_rows_are_nan:
                inverse = b.select(b.compare_float("oeq", total, zero), zero, inverse)
            b.store(inverse, scratch.factor, lane)
        origin = b.linear(first, (self.batch, self.head), (b.mul(spec.queries, spec.heads), spec.queries))
        with b.for_(0, self._rows_of_block(first)) as row:
            factor = b.broadcast(b.load(scratch.factor, row.index), size.lanes)
            position = b.mul(row.index, size.value_width)
            for column in range(0, spec.value_dim, size.lanes):
                left = spec.value_dim - column
                mask = b.tail_mask(left, size.lanes) if left < size.lanes else None
                value = b.mul_float(b.load(scratch.output, b.add(position, column), size.lanes), factor)
                self.epilogue.store(b, b.add(origin, row.index), column, value, mask)


class _MaskReader:
    """Gives the mask of one key and a vector of queries, as a vector to add to the scores."""

    def __init__(self, block: BlockEmitter, first: Index) -> None:
        assert block.mask is not None
        self._block = block
        b, size, mask = block.b, block.blocking, block.mask
        self._first = first
        position = b.linear(mask.offset, (block.batch, block.head, first), mask.strides[:3])
        # Rows are keys here and columns queries, as in the scores.
        self._view = MatrixView(mask.buffer, position, mask.strides[3], mask.strides[2])
        self._scratch = None if self._shared else b.alloca(block.spec.accumulator_type, size.keys * size.queries)

    @property
    def _shared(self) -> bool:
        """Whether all queries have the same mask, so that a scalar is all there is to read."""
        return self._view.column_stride == 0

    @property
    def _transform(self) -> Callable[[SSAValue], SSAValue]:
        """What is added for a mask value: 0 or -inf for a boolean, a float itself."""
        b, kind = self._block.b, self._block.spec.accumulator_type

        return lambda value: additive_mask(b, value, kind)

    def prepare(self, start: Index, count: Index) -> None:
        """Bring the masks of keys `start` ... into the scratch, transposed, unless all queries share them."""
        if self._scratch is None:
            return
        b, size, queries = self._block.b, self._block.blocking, self._block.spec.queries
        columns: Index = b.sub(queries, self._first)
        if isinstance(queries, int) and (queries % size.queries == 0 or queries < size.queries):
            columns = min(queries, size.queries)
        view = self._view.at(b, start, 0)
        emit_pack_panel(b, view, count, columns, self._scratch, size.queries, size.lanes, self._transform)

    def read(self, start: Index, key: Index, number: int) -> SSAValue:
        """What to add to the scores of key `start` + `key` and the queries of vector `number`."""
        b, size = self._block.b, self._block.blocking
        if self._scratch is None:
            value = b.load(self._view.buffer, self._view.element(b, b.add(start, key), 0))
            return b.broadcast(self._transform(value), size.lanes)
        return b.load(self._scratch, b.linear(number * size.lanes, (key,), (size.queries,)), size.lanes)
