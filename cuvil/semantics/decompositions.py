"""The declared decomposition of every composite of `cuvil_tensor` into core ops: its meaning, and the pass `decompose`.

Numbers are as in eager PyTorch: variances in two passes, composites on f16 and bf16 computed in f32 and rounded at the
end.

| composite              | core                                                                       |
|------------------------|----------------------------------------------------------------------------|
| softmax, log_softmax   | max, exp of the difference, sum, quotient (or difference of the logarithm) |
| layer_norm, group_norm | mean, corrected mean of squared differences, rsqrt, scale and shift        |
| rms_norm               | mean of squares, rsqrt, scale                                              |
| batch_norm             | scale = w * rsqrt(var + eps), shift = b - mean * scale, x * scale + shift  |
| gelu, silu             | their formulas                                                             |
| linear                 | contract, add                                                              |
| attention              | contract, scale, mask, softmax, contract; grouped heads as one more dim    |
| rope                   | slice, neg, concat, mul, add                                               |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32, i64
from xdsl.ir import Block, SSAValue

from cuvil.dialects.tensor import (
    AttentionOp,
    BatchNormOp,
    CompositeOp,
    ConcatOp,
    ContractOp,
    GeluOp,
    GroupNormOp,
    IotaOp,
    LayerNormOp,
    LinearOp,
    LogSoftmaxOp,
    ReduceOp,
    RmsNormOp,
    RopeOp,
    SiluOp,
    SliceOp,
    SoftmaxOp,
    element_domain,
    element_of,
    numbers,
    shape_of,
)
from cuvil.errors import InternalError, UnsupportedError
from cuvil.semantics.core_builder import CoreBuilder

Decomposition = Callable[[CoreBuilder, Any], SSAValue]


def decompose(op: CompositeOp) -> tuple[Block, SSAValue]:
    """Core ops that compute what `op` does from its operands, in a block of their own, and the result's value.

    The ops have the location of `op`; it is left as it is.
    """
    rule = DECOMPOSITIONS.get(type(op))
    if rule is None:
        raise InternalError(f"{op.name}: no decomposition is declared", op)
    builder = CoreBuilder(op.location)
    result = rule(builder, op)
    assert result.type == op.results[0].type, f"{op.name}: decomposes to {result.type}"
    return builder.block, result


def _wide(b: CoreBuilder, value: SSAValue) -> SSAValue:
    """f16 and bf16 as f32; other element types as they are."""
    return b.cast(value, f32) if isinstance(element_of(value), Float16Type | BFloat16Type) else value


def _narrow(b: CoreBuilder, value: SSAValue, op: CompositeOp) -> SSAValue:
    """A result in the composite's element type."""
    return b.cast(value, element_of(op.results[0]))


# -- softmax -----------------------------------------------------------------------------------------------------------


def _softmax(b: CoreBuilder, op: SoftmaxOp) -> SSAValue:
    x, axes = _wide(b, op.input), [op.axis.value.data]
    powers = b.unary("exp", b.binary("sub", x, b.reduce("max", x, axes)))
    return _narrow(b, b.binary("div", powers, b.reduce("add", powers, axes)), op)


def _log_softmax(b: CoreBuilder, op: LogSoftmaxOp) -> SSAValue:
    x, axes = _wide(b, op.input), [op.axis.value.data]
    shifted = b.binary("sub", x, b.reduce("max", x, axes))
    total = b.add(ReduceOp("add", b.unary("exp", shifted), axes))
    return _narrow(b, b.binary("sub", shifted, b.spread(b.unary("log", total), x, axes)), op)


def _masked_softmax(b: CoreBuilder, scores: SSAValue) -> SSAValue:
    """Softmax along the last axis; a row of -inf alone gives 0, not NaN."""
    axes = [len(shape_of(scores.type)) - 1]
    largest = b.add(ReduceOp("max", scores, axes))
    shift = b.select(b.binary("eq", largest, -math.inf), 0.0, largest, like=largest)
    powers = b.unary("exp", b.binary("sub", scores, b.spread(shift, scores, axes)))
    total = b.add(ReduceOp("add", powers, axes))
    divisor = b.select(b.binary("eq", total, 0.0), 1.0, total, like=total)
    return b.binary("div", powers, b.spread(divisor, scores, axes))


# -- norms -------------------------------------------------------------------------------------------------------------


def _standardized(b: CoreBuilder, x: SSAValue, axes: Sequence[int], eps: float) -> SSAValue:
    """(x - mean) * rsqrt(variance + eps) over `axes`.

    The mean is rounded, which matters where the values hardly differ: the mean of the differences is what it is wrong
    by, and is taken off them and their squares (the corrected two-pass algorithm of Chan, Golub and LeVeque, 1983).
    """
    centered = b.binary("sub", x, b.spread(b.mean(x, axes), x, axes))
    error = b.mean(centered, axes)
    squares = b.mean(b.binary("mul", centered, centered), axes)
    variance = b.binary("max", b.binary("sub", squares, b.binary("mul", error, error)), 0.0)
    scale = b.unary("rsqrt", b.binary("add", variance, eps))
    return b.binary("mul", b.binary("sub", centered, b.spread(error, x, axes)), b.spread(scale, x, axes))


def _inverse_root_mean_square(b: CoreBuilder, x: SSAValue, axes: Sequence[int], eps: float) -> SSAValue:
    return b.unary("rsqrt", b.binary("add", b.mean(b.binary("mul", x, x), axes), eps))


def _affine(
    b: CoreBuilder, x: SSAValue, axes: Sequence[int], weight: SSAValue | None, bias: SSAValue | None
) -> SSAValue:
    """x * weight + bias, whose dims are `axes` of x."""
    for kind, operand in (("mul", weight), ("add", bias)):
        if operand is not None:
            x = b.binary(kind, x, b.broadcast(_by_axes(b, _wide(b, operand), axes), sorted(axes), shape_of(x.type)))
    return x


def _by_axes(b: CoreBuilder, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """`value`, whose dims stand for `axes`, with its dims in the order of the axes."""
    from cuvil.dialects.tensor import TransposeOp

    order = sorted(range(len(axes)), key=lambda place: axes[place])
    return value if order == list(range(len(axes))) else b.add(TransposeOp(value, order))


def _layer_norm(b: CoreBuilder, op: LayerNormOp) -> SSAValue:
    axes = numbers(op.axes)
    normal = _standardized(b, _wide(b, op.input), axes, op.eps.value.data)
    return _narrow(b, _affine(b, normal, axes, op.weight, op.bias), op)


def _rms_norm(b: CoreBuilder, op: RmsNormOp) -> SSAValue:
    axes, x = numbers(op.axes), _wide(b, op.input)
    scale = b.spread(_inverse_root_mean_square(b, x, axes, op.eps.value.data), x, axes)
    return _narrow(b, _affine(b, b.binary("mul", x, scale), axes, op.weight, None), op)


def _batch_norm(b: CoreBuilder, op: BatchNormOp) -> SSAValue:
    # Scale and shift depend on parameters alone, so that `hoist-parameters` can compute them ahead.
    axes = [op.axis.value.data]
    scale = b.unary("rsqrt", b.binary("add", _wide(b, op.variance), op.eps.value.data))
    if op.weight is not None:
        scale = b.binary("mul", _wide(b, op.weight), scale)
    shift = b.binary("mul", _wide(b, op.mean), scale)
    shift = b.unary("neg", shift) if op.bias is None else b.binary("sub", _wide(b, op.bias), shift)
    return _narrow(b, _affine(b, _wide(b, op.input), axes, scale, shift), op)


def _group_norm(b: CoreBuilder, op: GroupNormOp) -> SSAValue:
    x, groups = _wide(b, op.input), op.groups.value.data
    batch, channels, *points = shape_of(x.type)
    if not isinstance(channels, int):
        raise UnsupportedError(f"{op.name}: the number of channels is unknown", op)
    grouped = b.reshape(x, (batch, groups, channels // groups, *points))
    normal = _standardized(b, grouped, range(2, 3 + len(points)), op.eps.value.data)
    return _narrow(b, _affine(b, b.reshape(normal, shape_of(x.type)), [1], op.weight, op.bias), op)


# -- activations -------------------------------------------------------------------------------------------------------


def _gelu(b: CoreBuilder, op: GeluOp) -> SSAValue:
    x = _wide(b, op.input)
    if op.approximate.data == "erf":
        bent = b.unary("erf", b.binary("mul", x, math.sqrt(0.5)))
    else:
        cube = b.binary("mul", b.binary("mul", x, x), x)
        inner = b.binary("add", x, b.binary("mul", cube, 0.044715))
        bent = b.unary("tanh", b.binary("mul", inner, math.sqrt(2 / math.pi)))
    half = b.binary("mul", x, 0.5)
    return _narrow(b, b.binary("mul", half, b.binary("add", bent, 1.0)), op)


def _silu(b: CoreBuilder, op: SiluOp) -> SSAValue:
    x = _wide(b, op.input)
    return _narrow(b, b.binary("mul", x, b.unary("sigmoid", x)), op)


# -- products ----------------------------------------------------------------------------------------------------------


def _linear(b: CoreBuilder, op: LinearOp) -> SSAValue:
    last = len(shape_of(op.input.type)) - 1
    product = b.add(ContractOp(op.input, op.weight, lhs_contract=[last], rhs_contract=[1]))
    if op.bias is None:
        return product
    return b.binary("add", product, b.broadcast(op.bias, [last], shape_of(product.type)))


def _attention(b: CoreBuilder, op: AttentionOp) -> SSAValue:
    query, key, value = (_wide(b, operand) for operand in (op.query, op.key, op.value))
    *batch, heads, length, size = shape_of(query.type)
    groups = shape_of(key.type)[-3]
    shared: int | None = None
    if groups != heads:
        if not isinstance(heads, int) or not isinstance(groups, int):
            raise UnsupportedError(f"{op.name}: grouped queries with an unknown number of heads", op)
        shared = heads // groups
        query = b.reshape(query, (*batch, groups, shared, length, size))
    rank = len(shape_of(query.type))
    outer = list(range(len(batch) + 1))
    scores = b.add(
        ContractOp(query, key, lhs_batch=outer, rhs_batch=outer, lhs_contract=[rank - 1], rhs_contract=[len(batch) + 2])
    )
    scores = b.binary("mul", b.reshape(scores, (*batch, heads, length, shape_of(key.type)[-2])), op.scale.value.data)
    weights = _attention_weights(b, op, scores)
    if shared is not None:
        weights = b.reshape(weights, (*batch, groups, shared, length, shape_of(key.type)[-2]))
    result = b.add(
        ContractOp(
            weights, value, lhs_batch=outer, rhs_batch=outer, lhs_contract=[rank - 1], rhs_contract=[len(batch) + 1]
        )
    )
    return _narrow(b, b.reshape(result, shape_of(op.result.type)), op)


def _attention_weights(b: CoreBuilder, op: AttentionOp, scores: SSAValue) -> SSAValue:
    if op.mask is not None:
        if element_domain(element_of(op.mask)) == "b":
            scores = b.select(op.mask, scores, -math.inf, like=scores)
        else:
            scores = b.binary("add", scores, _wide(b, op.mask))
    if op.causal is not None:
        rank, plane = len(shape_of(scores.type)), shape_of(scores.type)[-2:]
        row, column = (b.add(IotaOp(axis, i64, plane)) for axis in (0, 1))
        seen = b.broadcast(b.binary("le", column, row), [rank - 2, rank - 1], shape_of(scores.type))
        scores = b.select(seen, scores, -math.inf, like=scores)
    return _masked_softmax(b, scores)


def _rope(b: CoreBuilder, op: RopeOp) -> SSAValue:
    *outer, size = shape_of(op.input.type)
    if not isinstance(size, int):
        raise UnsupportedError(f"{op.name}: the last dim is unknown", op)
    half, starts = size // 2, [0] * len(outer)
    first = b.add(SliceOp(op.input, [*starts, 0], (*outer, half)))
    second = b.add(SliceOp(op.input, [*starts, half], (*outer, half)))
    turned = b.add(ConcatOp([b.unary("neg", second), first], len(outer)))
    return b.binary("add", b.binary("mul", op.input, op.cos), b.binary("mul", turned, op.sin))


DECOMPOSITIONS: dict[type[CompositeOp], Decomposition] = {
    SoftmaxOp: _softmax,
    LogSoftmaxOp: _log_softmax,
    LayerNormOp: _layer_norm,
    RmsNormOp: _rms_norm,
    BatchNormOp: _batch_norm,
    GroupNormOp: _group_norm,
    GeluOp: _gelu,
    SiluOp: _silu,
    LinearOp: _linear,
    AttentionOp: _attention,
    RopeOp: _rope,
}
"""The decomposition of each composite, given a builder and the op."""
