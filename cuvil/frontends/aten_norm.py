"""Normalizations, all of them composites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp, element_of, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import Deferred, GraphBuilder, aten, is_half
from cuvil.frontends.aten_movement import rank_of
from cuvil.frontends.aten_types import element_type_of
from cuvil.semantics.dims import Dim, product

_TRAINING = "batch_norm updates its statistics in training mode; call model.eval() before compiling"


def _like(b: GraphBuilder, x: SSAValue, value: SSAValue | None) -> SSAValue | None:
    """A weight in the element type of the input: composites do not mix them."""
    return None if value is None else b.cast(value, element_of(x))


def _last(x: SSAValue, shape: Sequence[Dim]) -> list[int]:
    return list(range(rank_of(x) - len(shape), rank_of(x)))


@aten("layer_norm")
def layer_norm(
    b: GraphBuilder,
    x: SSAValue,
    normalized_shape: Sequence[Dim],
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = False,
) -> SSAValue:
    """Over the last dims."""
    return b.value(LayerNormOp(x, _last(x, normalized_shape), eps, _like(b, x, weight), _like(b, x, bias)))


@aten("native_layer_norm")
def native_layer_norm(
    b: GraphBuilder,
    x: SSAValue,
    normalized_shape: Sequence[Dim],
    weight: SSAValue | None,
    bias: SSAValue | None,
    eps: float,
) -> tuple[SSAValue, Any, Any]:
    """The norm, the mean and one over the deviation."""
    axes = _last(x, normalized_shape)
    mean, rstd = _statistics(b, x, axes, eps, b.result_shapes[1])
    return layer_norm(b, x, normalized_shape, weight, bias, eps), mean, rstd


def _statistics(
    b: GraphBuilder, x: SSAValue, axes: Sequence[int], eps: float, shape: Sequence[Dim]
) -> tuple[Deferred, Deferred]:
    """The mean along axes and 1 / sqrt(variance + eps), in float32 of 16-bit floats, built where they are read."""

    def moments() -> tuple[SSAValue, SSAValue]:
        value = b.cast(x, f32) if is_half(element_of(x)) else x
        count = b.count([shape_of(x.type)[axis] for axis in axes], element_of(value))
        mean = b.apply("div", b.reduce("add", value, axes, True), b.broadcast(count, _kept(x, axes)))
        distance = b.apply("sub", value, mean)
        total = b.reduce("add", b.apply("mul", distance, distance), axes, True)
        return mean, b.apply("div", total, b.broadcast(count, _kept(x, axes)))

    def rstd() -> SSAValue:
        return b.reshape(b.apply("rsqrt", b.apply("add", moments()[1], eps)), shape)

    return Deferred(lambda: b.reshape(moments()[0], shape)), Deferred(rstd)


def _kept(x: SSAValue, axes: Sequence[int]) -> list[Dim]:
    return [1 if axis in axes else size for axis, size in enumerate(shape_of(x.type))]


@aten("rms_norm")
def rms_norm(
    b: GraphBuilder,
    x: SSAValue,
    normalized_shape: Sequence[Dim],
    weight: SSAValue | None = None,
    eps: float | None = None,
) -> SSAValue:
    """Over the last dims; without eps, the smallest step of the dtype."""
    smallest = torch.finfo(b.dtype).eps if eps is None else eps
    return b.value(RmsNormOp(x, _last(x, normalized_shape), smallest, _like(b, x, weight)))


@aten("_fused_rms_norm")
def fused_rms_norm(
    b: GraphBuilder, x: SSAValue, normalized_shape: Sequence[Dim], weight: SSAValue | None, eps: float | None
) -> tuple[SSAValue, Any]:
    """The norm; its statistics are for training."""
    return rms_norm(b, x, normalized_shape, weight, eps), NotImplemented


@aten("batch_norm")
def batch_norm(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> SSAValue:
    """With the statistics that training left, or the batch's own where there are none to keep."""
    if rank_of(x) < 2:
        raise UnsupportedError("batch_norm needs a dim of channels behind that of the batch")
    if running_mean is None or running_var is None:
        return _by_batch_statistics(b, x, weight, bias, eps)
    if training:
        raise UnsupportedError(_TRAINING)
    mean, variance = b.cast(running_mean, element_of(x)), b.cast(running_var, element_of(x))
    return b.value(BatchNormOp(x, mean, variance, 1, eps, _like(b, x, weight), _like(b, x, bias)))


def _by_batch_statistics(
    b: GraphBuilder, x: SSAValue, weight: SSAValue | None, bias: SSAValue | None, eps: float
) -> SSAValue:
    """Each channel by the mean and variance of the batch, as `track_running_stats=False` asks for."""
    result = b.value(LayerNormOp(x, [axis for axis in range(rank_of(x)) if axis != 1], eps))
    for kind, operand in (("mul", weight), ("add", bias)):
        if operand is not None:
            result = b.apply(kind, result, b.broadcast(b.cast(operand, element_of(x)), shape_of(x.type), [1]))
    return result


@aten("_native_batch_norm_legit_no_training")
def batch_norm_no_training(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue,
    running_var: SSAValue,
    momentum: float,
    eps: float,
) -> tuple[SSAValue, Any, Any]:
    """The norm; its statistics are for training, and empty."""
    result = batch_norm(b, x, weight, bias, running_mean, running_var, False, momentum, eps)
    return result, *(_empty(b, place) for place in (1, 2))


def _empty(b: GraphBuilder, place: int) -> Any:
    shape, dtype = b.result_shapes[place], b.result_dtypes[place]
    return Deferred(lambda: b.full(0, element_type_of(dtype), shape)) if 0 in shape else NotImplemented


@aten("native_batch_norm", "_native_batch_norm_legit")
def native_batch_norm(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[SSAValue, Any, Any]:
    """The norm; its statistics are for training."""
    result = batch_norm(b, x, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        return result, _empty(b, 1), _empty(b, 2)
    return result, *_statistics(b, x, [axis for axis in range(rank_of(x)) if axis != 1], eps, b.result_shapes[1])


@aten("group_norm")
def group_norm(
    b: GraphBuilder,
    x: SSAValue,
    num_groups: int,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = False,
) -> SSAValue:
    """Over groups of channels."""
    return b.value(GroupNormOp(x, num_groups, eps, _like(b, x, weight), _like(b, x, bias)))


@aten("native_group_norm")
def native_group_norm(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    n: Dim,
    channels: Dim,
    extent: Dim,
    groups: int,
    eps: float,
) -> tuple[SSAValue, Any, Any]:
    """The norm, and of each group the mean and one over the deviation."""
    grouped = b.reshape(x, (n, groups, product(shape_of(x.type)[1:]) // groups))
    mean, rstd = _statistics(b, grouped, [2], eps, b.result_shapes[1])
    return group_norm(b, x, groups, weight, bias, eps), mean, rstd


@aten("instance_norm")
def instance_norm(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> SSAValue:
    """Each channel by itself, or with the statistics that training left."""
    if not use_input_stats:
        return batch_norm(b, x, weight, bias, running_mean, running_var, False, momentum, eps)
    channels = shape_of(x.type)[1]
    if not isinstance(channels, int):
        raise UnsupportedError(f"instance_norm needs a known number of channels, got {channels}")
    return group_norm(b, x, channels, weight, bias, eps)
