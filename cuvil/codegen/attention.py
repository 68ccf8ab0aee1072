"""Emit scaled dot-product attention as one streamed loop-level kernel: softmax(scale * Q K^T + mask) V, online.

Keys are taken in blocks; a running maximum and sum correct what was summed before, so that memory is O(block): all of
it is thread-private scratch. One parallel loop runs over (batch, head, block of queries); `attention_blocks` emits a
block whose queries lie in the lanes of vectors, `attention_rows` a few queries (decoding), with D in the lanes.

A number of queries that is known only when the kernel runs has code for one query, for as many as a vector has lanes,
and for more; which of them runs is decided then.

A row whose keys are all masked gives zeros, as PyTorch's scaled_dot_product_attention does, or NaN where the spec asks
for the meaning of a plain softmax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.attention_blocks import BlockEmitter, Blocking, choose_blocking
from cuvil.codegen.attention_rows import MOST_ROWS, RowsEmitter
from cuvil.codegen.attention_spec import AttentionSpec
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.work_items import work_items

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

__all__ = ["AttentionSpec", "emit_attention"]

_PARALLEL_WORK = 1 << 16
"""Fewer multiply-adds than this take less time than threads do to wake, where only the running kernel knows."""


def emit_attention(
    b: LoopBuilder,
    target: CpuTarget,
    spec: AttentionSpec,
    query: StridedOperand,
    key: StridedOperand,
    value: StridedOperand,
    mask: StridedOperand | None,
    epilogue: Epilogue,
) -> None:
    """Append the attention. `mask` is [B, H, S, T] (0 strides where it broadcasts): i1 (true: seen), or floats to add.

    The epilogue receives vectors of the accumulator type; its rows flatten B, H and S, its columns are D.
    """
    if 0 in (spec.batch, spec.heads, spec.queries, spec.value_dim):
        return

    def rows(batch: Index, head: Index, queries: int) -> None:
        RowsEmitter(b, target, spec, query, key, value, mask, epilogue, batch, head).emit(queries)

    def blocks(batch: Index, head: Index, block: Index, blocking: Blocking) -> None:
        BlockEmitter(b, target, spec, blocking, query, key, value, mask, epilogue, batch, head).emit(block)

    if isinstance(spec.queries, int) and spec.queries <= MOST_ROWS:
        with b.parallel(b.mul(spec.batch, spec.heads)) as item:
            batch, head = b.delinearize(item, (spec.batch, spec.heads))
            rows(batch, head, spec.queries)
        return
    blocking = choose_blocking(target, spec)
    count = b.ceil_div(spec.queries, blocking.queries)
    if isinstance(spec.queries, int):
        with b.parallel(b.product((spec.batch, spec.heads, count))) as item:
            batch, head, block = b.delinearize(item, (spec.batch, spec.heads, count))
            blocks(batch, head, block, blocking)
        return
    narrow = choose_blocking(target, spec, vectors=1)
    with work_items(b, b.product((spec.batch, spec.heads, count)), _work(b, spec), _PARALLEL_WORK) as item:
        batch, head, block = b.delinearize(item, (spec.batch, spec.heads, count))
        with b.if_else(b.compare_index("sle", spec.queries, 1)) as (one, more):
            with one:
                rows(batch, head, 1)
            with more, b.if_else(b.compare_index("sle", spec.queries, narrow.queries)) as (few, many):
                with few:
                    blocks(batch, head, 0, narrow)
                with many:
                    blocks(batch, head, block, blocking)


def _work(b: LoopBuilder, spec: AttentionSpec) -> Index:
    """Multiply-adds of the two products."""
    return b.product((spec.batch, spec.heads, spec.queries, spec.keys, spec.head_dim + spec.value_dim))
