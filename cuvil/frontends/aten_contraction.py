"""aten ops that sum products: matrix products, linear layers, convolutions, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from cuvil.dialects.tensor import (
    AttentionOp,
    ContractOp,
    ConvolutionOp,
    LinearOp,
    ReverseOp,
    element_domain,
    element_of,
    shape_of,
)
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder, Number, aten, broadcast_shape, element_type, known
from cuvil.frontends.aten_movement import rank_of
from cuvil.semantics.dims import Dim


@aten("mm", "bmm", "matmul", "mv", "dot", "linalg_matmul", "vdot")
def matmul(b: GraphBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The product of matrices, of stacks of them, and of vectors; stacks broadcast."""
    left, right = rank_of(x), rank_of(y)
    if right <= 2 or left == 1:
        # Free dims of either side stay in place: no batch dims are needed.
        return b.value(ContractOp(x, y, lhs_contract=[left - 1], rhs_contract=[max(right - 2, 0)]))
    batch = broadcast_shape([shape_of(x.type)[:-2], shape_of(y.type)[:-2]])
    x = b.broadcast(x, (*batch, *shape_of(x.type)[-2:]))
    y = b.broadcast(y, (*batch, *shape_of(y.type)[-2:]))
    axes = list(range(len(batch)))
    return b.value(
        ContractOp(x, y, lhs_batch=axes, rhs_batch=axes, lhs_contract=[len(batch) + 1], rhs_contract=[len(batch)])
    )


@aten("addmm", "baddbmm", "addmv")
def addmm(b: GraphBuilder, x: SSAValue, y: SSAValue, z: SSAValue, *, beta: Number = 1, alpha: Number = 1) -> SSAValue:
    """beta * x + alpha * (y @ z); x does not count at all where beta is 0."""
    result = matmul(b, y, z)
    if alpha != 1:
        result = b.apply("mul", result, alpha)
    if beta == 0:
        return result
    return b.apply("add", x if beta == 1 else b.apply("mul", x, beta), result)


@aten("linear")
def linear(b: GraphBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """A composite; a weight without rows (a vector) is a product."""
    if rank_of(weight) != 2:
        result = matmul(b, x, weight)
        return result if bias is None else b.apply("add", result, bias)
    return b.value(LinearOp(x, weight, bias))


@aten("conv1d", "conv2d", "conv3d")
def conv(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> SSAValue:
    """Cross-correlation of [N, C, ...] or, without N, of [C, ...]; padding in numbers, or `same` or `valid`."""
    spatial = rank_of(weight) - 2
    dilations = spread(dilation, spatial)
    low, high = _padding(padding, dilations, [known(size, "a kernel size") for size in shape_of(weight.type)[2:]])
    return _convolution(
        b, x, weight, bias, groups, strides=spread(stride, spatial), low=low, high=high, dilation=dilations
    )


@aten("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> SSAValue:
    """The gradient of a convolution: one over the input spread by zeros, with the weight reversed in space."""
    spatial = rank_of(weight) - 2
    sizes = [known(size, "a kernel size") for size in shape_of(weight.type)[2:]]
    strides, paddings, dilations = (spread(value, spatial) for value in (stride, padding, dilation))
    reach = [dilation * (size - 1) for dilation, size in zip(dilations, sizes, strict=True)]
    low = [far - pad for far, pad in zip(reach, paddings, strict=True)]
    high = [before + extra for before, extra in zip(low, spread(output_padding, spatial), strict=True)]
    # A convolution pads, it does not crop: what a padding larger than the kernel's reach crops is cut off afterwards.
    result = _convolution(
        b,
        x,
        _transposed_weight(b, weight, groups),
        bias,
        groups,
        low=[max(value, 0) for value in low],
        high=[max(value, 0) for value in high],
        dilation=dilations,
        input_dilation=strides,
    )
    for axis, (before, size) in enumerate(zip(low, b.shape[-spatial:], strict=True), rank_of(result) - spatial):
        result = b.slice(result, axis, max(-before, 0), size)
    return result


def _transposed_weight(b: GraphBuilder, weight: SSAValue, groups: int) -> SSAValue:
    """[I, O / groups, ...] as [O, I / groups, ...], reversed in space."""
    inputs, outputs, *sizes = (known(size, "a weight's size") for size in shape_of(weight.type))
    spatial = list(range(2, 2 + len(sizes)))
    weight = b.value(ReverseOp(weight, spatial)) if any(size > 1 for size in sizes) else weight
    if groups == 1:
        return b.transpose(weight, [1, 0, *spatial])
    split = b.reshape(weight, [groups, inputs // groups, outputs, *sizes])
    swapped = b.transpose(split, [0, 2, 1, *(axis + 1 for axis in spatial)])
    return b.reshape(swapped, [groups * outputs, inputs // groups, *sizes])


@aten("convolution", "_convolution")
def convolution(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *_: Any,
) -> SSAValue:
    """Either of the two."""
    if 0 in b.shape:  # of no input channels PyTorch makes no output channels
        return b.full(0, element_type(b), b.shape)
    if transposed:
        return conv_transpose(b, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(b, x, weight, bias, stride, padding, dilation, groups)


def _convolution(
    b: GraphBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue | None, groups: int, **windows: Sequence[int]
) -> SSAValue:
    batched = rank_of(x) == rank_of(weight)
    value = x if batched else b.reshape(x, (1, *shape_of(x.type)))
    result = b.value(ConvolutionOp(value, weight, groups=groups, **windows))
    if bias is not None:
        result = b.apply("add", result, b.broadcast(bias, shape_of(result.type), [1]))
    return result if batched else b.reshape(result, shape_of(result.type)[1:])


def spread(value: int | Sequence[int], count: int) -> list[int]:
    """One number for each of `count` dims."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def _padding(padding: Any, dilations: Sequence[int], sizes: Sequence[int]) -> tuple[list[int], list[int]]:
    if padding == "valid":
        padding = 0
    if padding != "same":
        return spread(padding, len(sizes)), spread(padding, len(sizes))
    total = [dilation * (size - 1) for dilation, size in zip(dilations, sizes, strict=True)]
    return [count // 2 for count in total], [count - count // 2 for count in total]


@aten("scaled_dot_product_attention")
def attention(
    b: GraphBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    attn_mask: SSAValue | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> SSAValue:
    """A composite over [..., heads, length, size]."""
    if dropout_p > 0:
        raise UnsupportedError("attention has dropout in training mode; call model.eval() before compiling")
    keys, values = shape_of(key.type)[-2], shape_of(value.type)[-2]
    if keys != values:
        raise UnsupportedError(f"attention over {keys} keys and {values} values; they must be equally many")
    if scale is None:
        scale = 1.0 / math.sqrt(known(shape_of(query.type)[-1], "the size of a head"))
    query, key, value = _with_heads(b, [query, key, value], enable_gqa)
    mask = attn_mask
    if mask is not None:
        if element_domain(element_of(mask)) != "b":
            mask = b.cast(mask, element_of(query))
        mask = b.broadcast(mask, (*shape_of(query.type)[:-1], shape_of(key.type)[-2]))
    return b.reshape(b.value(AttentionOp(query, key, value, scale, mask, is_causal)), b.shape)


def _with_heads(b: GraphBuilder, values: Sequence[SSAValue], grouped: bool) -> list[SSAValue]:
    """The three operands with their batch dims, and their heads unless grouped, broadcast to one shape."""
    values = [value if rank_of(value) > 2 else b.reshape(value, (1, *shape_of(value.type))) for value in values]
    shapes = [shape_of(value.type) for value in values]
    batch = broadcast_shape([shape[:-3] for shape in shapes])
    heads: list[Dim] = [shape[-3] for shape in shapes]
    if not grouped:
        heads = [*broadcast_shape([[head] for head in heads])] * 3
    elif heads[1] != heads[2]:
        heads[1:] = [*broadcast_shape([[head] for head in heads[1:]])] * 2
    return [
        b.broadcast(value, (*batch, head, *shape[-2:]))
        for value, head, shape in zip(values, heads, shapes, strict=True)
    ]
