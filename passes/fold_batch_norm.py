"""Take a batch norm into the convolution (or linear) before it: scale the weight, shift the result.

    %1 = cuvil_tensor.convolution %x, %w ...
    %2 = cuvil_tensor.batch_norm %1, %mean, %variance weight = %g bias = %b axis = 1 eps = 1.0e-05
=>
    %s = g / sqrt(variance + eps), %t = b - mean * s                  one number a channel
    %1 = cuvil_tensor.convolution %x, (%w * s)
    %2 = %1 + t

A bias added between the two is scaled along. `hoist-parameters` computes the new weight once.

Requires: cuvil_tensor with composites.   Ensures: same results up to rounding (products of weight and scale round once
more).
Declines: a convolution whose result has other uses, weights or statistics that are neither parameters nor constants, a
batch norm over another axis than the channels, 16-bit floats, whose weights would round again; each with a remark.
Source: Jacob et al., Quantization and Training of Neural Networks (2018), 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct
from cuvil.instrument import remarks, statistics


@dataclass(frozen=True)
class FoldBatchNormPass(ModulePass):
    """batch_norm after a convolution or linear => part of its weight and bias."""

    name: ClassVar[str] = "fold-batch-norm"
    function_local: ClassVar[bool] = True
    tolerance: ClassVar[float] = 1e-5

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for norm in [inner for inner in op.walk() if isinstance(inner, ct.BatchNormOp)]:
            match = _match(norm)
            if isinstance(match, str):
                remarks.emit("missed", pass_name=self.name, op=norm, message=f"{norm.name} not folded: {match}")
                continue
            _fold(norm, match)
            statistics.count(self.name, "folded")
            message = f"{norm.name} folded into {match.producer.name}"
            remarks.emit("passed", pass_name=self.name, op=norm, message=message)


@dataclass(frozen=True)
class _Match:
    """The op that takes the norm up, its channel dim, and the bias (one number a channel) added behind it."""

    producer: ct.ConvolutionOp | ct.LinearOp
    axis: int
    bias: SSAValue | None


def _is_known(value: SSAValue | None) -> bool:
    """Whether a value is there at compile time."""
    return value is None or isinstance(value.owner, ct.ParameterOp | ct.ConstantOp)


def _bias_added(op: ct.BinaryOp, axis: int) -> tuple[SSAValue, SSAValue] | None:
    """(x, bias) where `op` is x + bias, a number for each place along `axis`, and x has no other use; else None."""
    if op.kind.data != "add":
        return None
    for value, added in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        spread = added.owner
        if isinstance(spread, ct.BroadcastOp) and ct.numbers(spread.axes) == (axis,) and _is_known(spread.input):
            if value.has_one_use() and ct.shape_of(spread.input.type) == (ct.shape_of(op.result.type)[axis],):
                return value, spread.input
    return None


def _match(norm: ct.BatchNormOp) -> _Match | str:
    """What the norm can be folded into, or why not."""
    bias: SSAValue | None = None
    if not norm.input.has_one_use():
        return "its input has other uses"
    if getattr(ct.element_of(norm.input), "bitwidth", 0) < 32:
        return "16-bit weights would round once more"
    owner, axis = norm.input.owner, norm.axis.value.data
    if isinstance(owner, ct.BinaryOp) and (added := _bias_added(owner, axis)) is not None:
        owner, bias = added[0].owner, added[1]
    if isinstance(owner, ct.LinearOp):
        channels, weight = len(ct.shape_of(owner.result.type)) - 1, owner.weight
        bias = owner.bias if bias is None else bias
        if owner.bias is not None and bias is not owner.bias:
            return "two biases are added before it"
    elif isinstance(owner, ct.ConvolutionOp):
        channels, weight = ct.numbers(owner.input_order)[1], owner.weight
    else:
        return "its input is neither a convolution nor a linear"
    if axis != channels:
        return f"it normalizes dim {axis}, the channels are dim {channels}"
    if not all(_is_known(value) for value in (weight, bias, norm.mean, norm.variance, norm.weight, norm.bias)):
        return "the weight or a statistic is computed at run time"
    return _Match(owner, axis, bias)


def _fold(norm: ct.BatchNormOp, match: _Match) -> None:
    made: list[Operation] = []

    def add(op: Operation) -> SSAValue:
        op.location = norm.location
        made.append(op)
        return op.results[0]

    producer = match.producer
    channel_type = norm.mean.type
    eps = add(ct.ConstantOp.splat(norm.eps.value.data, channel_type))
    scale = add(ct.UnaryOp("rsqrt", add(ct.BinaryOp("add", norm.variance, eps))))
    if norm.weight is not None:
        scale = add(ct.BinaryOp("mul", norm.weight, scale))
    mean = norm.mean if match.bias is None else add(ct.BinaryOp("sub", norm.mean, match.bias))
    shift = add(ct.BinaryOp("mul", mean, scale))
    shift = add(ct.UnaryOp("neg", shift)) if norm.bias is None else add(ct.BinaryOp("sub", norm.bias, shift))
    weight_shape = ct.shape_of(producer.weight.type)
    spread = add(ct.BroadcastOp(scale, [0], weight_shape))
    weight = add(ct.BinaryOp("mul", producer.weight, spread))
    if isinstance(producer, ct.LinearOp):
        result = add(ct.LinearOp(producer.input, weight))
    else:
        copy = producer.clone({producer.weight: weight})
        result = add(copy)
        copy.location = producer.location
    total = add(ct.BinaryOp("add", result, add(ct.BroadcastOp(shift, [match.axis], ct.shape_of(norm.result.type)))))
    block = norm.parent
    assert block is not None
    block.insert_ops_before(made, norm)
    norm.result.replace_all_uses_with(total)
    dead: list[Operation] = [norm]
    dead += [op for op in (norm.input.owner, producer) if isinstance(op, Operation)]
    for op in dict.fromkeys(dead):
        if op.parent is not None and all(result.first_use is None for result in op.results):
            block.erase_op(op)
