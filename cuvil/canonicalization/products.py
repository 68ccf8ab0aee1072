"""Laws of convolutions, pools and attention: what their own attributes say better than ops around them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from cuvil.canonicalization.rules import Rule, shape
from cuvil.dialects import tensor as ct
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.splats import repeated_number
from cuvil.semantics.window_ops import convolution_like, pool_like


def padded_convolution(op: ct.ConvolutionOp, b: CoreBuilder) -> SSAValue | None:
    """convolution (pad x with 0 in space) => convolution x that pads more"""
    counts = _spatial_padding(op.input, ct.numbers(op.input_order))
    if counts is None or set(ct.numbers(op.input_dilation)) != {1}:
        return None
    source, fill, low, high = counts
    if repeated_number(fill) != 0:
        return None
    low, high = _summed(low, op.low), _summed(high, op.high)
    return b.add(convolution_like(op, source, low=low, high=high))


def padded_pool(op: ct.PoolOp, b: CoreBuilder) -> SSAValue | None:
    """pool (pad x with what the reduction begins with, in space) => pool x that pads more"""
    counts = _spatial_padding(op.input, ct.numbers(op.input_order))
    if counts is None or ct.element_domain(ct.element_of(op.input)) != "f":
        return None
    source, fill, low, high = counts
    if repeated_number(fill) != {"add": 0.0, "max": -math.inf, "min": math.inf}[op.kind.data]:
        return None
    low, high = _summed(low, op.low), _summed(high, op.high)
    return b.add(pool_like(op, source, low=low, high=high))


def _summed(counts: Sequence[int], own: DenseArrayBase) -> list[int]:
    return [first + second for first, second in zip(counts, ct.numbers(own), strict=True)]


def _spatial_padding(value: SSAValue, order: tuple[int, ...]) -> tuple[SSAValue, SSAValue, list[int], list[int]] | None:
    """What `value` pads, with what, and how much in each spatial dim; None if it pads other dims or crops."""
    pad = value.owner
    if not isinstance(pad, ct.PadOp):
        return None
    low, high = ct.numbers(pad.low), ct.numbers(pad.high)
    if any(count < 0 for count in (*low, *high)) or any(low[place] or high[place] for place in order[:2]):
        return None
    return pad.input, pad.fill, [low[place] for place in order[2:]], [high[place] for place in order[2:]]


def repeated_heads(op: ct.AttentionOp, b: CoreBuilder) -> SSAValue | None:
    """attention q, (k with each head repeated), (v likewise) => attention q, k, v, whose heads are shared"""
    key, value = _unrepeated(op.key, b), _unrepeated(op.value, b)
    if key is None or value is None or shape(key)[-3] != shape(value)[-3]:
        return None
    return b.add(ct.AttentionOp(op.query, key, value, op.scale.value.data, op.mask, op.causal is not None))


def _unrepeated(value: SSAValue, b: CoreBuilder) -> SSAValue | None:
    """[..., G, T, D] where `value` is [..., G * R, T, D] with R equal heads in a row; None if it is not made so."""
    reshape = value.owner
    spread = reshape.input.owner if isinstance(reshape, ct.ReshapeOp) else None
    if not isinstance(spread, ct.BroadcastOp):
        return None
    wide, rank = shape(spread.result), len(shape(value))
    if len(wide) != rank + 1 or wide[-2:] != shape(value)[-2:] or wide[: rank - 3] != shape(value)[: rank - 3]:
        return None
    repeats = rank - 2
    source = dict(zip(ct.numbers(spread.axes), shape(spread.input), strict=True))
    kept = [axis for axis in range(rank + 1) if axis != repeats]
    if source.get(repeats, 1) != 1 or any(source.get(axis, 1) != wide[axis] for axis in kept):
        return None
    return b.reshape(spread.input, (*wide[:repeats], *wide[repeats + 1 :]))


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    ct.ConvolutionOp: (padded_convolution,),
    ct.PoolOp: (padded_pool,),
    ct.AttentionOp: (repeated_heads,),
}
"""The laws of each op, in the order in which they are tried."""
