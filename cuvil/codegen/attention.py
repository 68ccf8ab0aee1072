"""Emit scaled dot-product attention as one streamed loop-level kernel: softmax(scale * Q K^T + mask) V, online.

Keys are taken in blocks; a running maximum and sum correct what was summed before, so that memory is O(block): all of
it is thread-private scratch. One parallel loop runs over (batch, head, block of queries); `attention_blocks` emits a
block whose queries lie in the lanes of vectors, `attention_rows` a few queries (decoding), with D in the lanes.

A row whose keys are all masked gives zeros, as PyTorch's scaled_dot_product_attention does, or NaN where the spec asks
for the meaning of a plain softmax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.attention_blocks import BlockEmitter, choose_blocking
from cuvil.codegen.attention_rows import MOST_ROWS, RowsEmitter
from cuvil.codegen.attention_spec import AttentionSpec
from cuvil.codegen.loops import LoopBuilder

if TYPE_CHECKING:
    from cuvil.targets.cpu import CpuTarget

__all__ = ["AttentionSpec", "emit_attention"]


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
    if isinstance(spec.queries, int) and spec.queries <= MOST_ROWS:
        with b.parallel(b.mul(spec.batch, spec.heads)) as item:
            batch, head = b.delinearize(item, (spec.batch, spec.heads))
            RowsEmitter(b, target, spec, query, key, value, mask, epilogue, batch, head).emit(spec.queries)
        return
    blocking = choose_blocking(target, spec)
    blocks = b.ceil_div(spec.queries, blocking.queries)
    with b.parallel(b.product((spec.batch, spec.heads, blocks))) as item:
        batch, head, block = b.delinearize(item, (spec.batch, spec.heads, blocks))
        BlockEmitter(b, target, spec, blocking, query, key, value, mask, epilogue, batch, head).emit(block)
