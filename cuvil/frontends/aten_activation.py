"""Activation functions. On 16-bit floats they are computed in float32 and rounded once, as PyTorch does."""

from __future__ import annotations

from functools import wraps
from typing import Any

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import GeluOp, LogSoftmaxOp, SiluOp, SoftmaxOp, element_of, shape_of
from cuvil.frontends.aten_builder import Builder, GraphBuilder, Number, aten, element_type, is_half, known, normal_axis
from cuvil.frontends.aten_pointwise import clamp


def _activation(*names: str) -> Any:
    """Put a builder in the table that is computed in float32 on 16-bit floats."""

    def put(build: Builder) -> Builder:
        @wraps(build)
        def wide(b: GraphBuilder, x: SSAValue, *arguments: Any, **options: Any) -> SSAValue:
            if not is_half(element_of(x)):
                return build(b, x, *arguments, **options)
            return b.cast(build(b, b.cast(x, f32), *arguments, **options), element_of(x))

        aten(*names)(wide)
        return build

    return put


@aten("relu6")
def relu6(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x within [0, 6]."""
    return hardtanh(b, x, 0.0, 6.0)


@aten("hardtanh")
def hardtanh(b: GraphBuilder, x: SSAValue, min_val: Number = -1.0, max_val: Number = 1.0) -> SSAValue:
    """x within [min_val, max_val]."""
    return clamp(b, x, min_val, max_val)


@_activation("hardsigmoid")
def hardsigmoid(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """relu6(x + 3) / 6."""
    return b.apply("mul", relu6(b, b.apply("add", x, 3.0)), 1.0 / 6.0)


@_activation("hardswish")
def hardswish(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x * relu6(x + 3) / 6."""
    return b.apply("div", b.apply("mul", x, relu6(b, b.apply("add", x, 3.0))), 6.0)


@_activation("leaky_relu")
def leaky_relu(b: GraphBuilder, x: SSAValue, negative_slope: Number = 0.01) -> SSAValue:
    """x where positive, else x * negative_slope."""
    return b.apply("select", b.apply("gt", x, 0.0), x, b.apply("mul", x, negative_slope))


@_activation("elu")
def elu(b: GraphBuilder, x: SSAValue, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> SSAValue:
    """scale * (x where positive, else alpha * (exp(input_scale * x) - 1))."""
    scaled = x if input_scale == 1 else b.apply("mul", x, input_scale)
    negative = b.apply("expm1", scaled)
    if alpha * scale != 1:
        negative = b.apply("mul", negative, alpha * scale)
    positive = x if scale == 1 else b.apply("mul", x, scale)
    return b.apply("select", b.apply("gt", x, 0.0), positive, negative)


@aten("selu")
def selu(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """The self-normalizing elu."""
    return elu(b, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@aten("celu")
def celu(b: GraphBuilder, x: SSAValue, alpha: Number = 1.0) -> SSAValue:
    """elu that is differentiable for every alpha."""
    return elu(b, x, alpha, 1.0, 1.0 / alpha)


@_activation("softplus")
def softplus(b: GraphBuilder, x: SSAValue, beta: Number = 1, threshold: Number = 20) -> SSAValue:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x exceeds the threshold."""
    scaled = x if beta == 1 else b.apply("mul", x, beta)
    soft = b.apply("log1p", b.apply("exp", scaled))
    if beta != 1:
        soft = b.apply("div", soft, beta)
    return b.apply("select", b.apply("gt", scaled, threshold), x, soft)


@_activation("mish")
def mish(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x * tanh(log(1 + exp(x)))."""
    return b.apply("mul", x, b.apply("tanh", softplus(b, x)))


@_activation("log_sigmoid")
def log_sigmoid(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """min(0, x) - log(1 + exp(-|x|))."""
    tail = b.apply("log1p", b.apply("exp", b.apply("neg", b.apply("abs", x))))
    return b.apply("sub", b.apply("min", x, 0.0), tail)


@_activation("softsign")
def softsign(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x / (1 + |x|)."""
    return b.apply("div", x, b.apply("add", b.apply("abs", x), 1.0))


@_activation("hardshrink")
def hardshrink(b: GraphBuilder, x: SSAValue, lambd: Number = 0.5) -> SSAValue:
    """0 within [-lambd, lambd], else x; NaN stays."""
    inside = b.apply("and", b.apply("ge", x, -lambd), b.apply("le", x, lambd))
    return b.apply("select", inside, 0.0, x)


@aten("threshold")
def threshold(b: GraphBuilder, x: SSAValue, threshold: Number, value: Number) -> SSAValue:
    """x where it exceeds the threshold, else the value; NaN stays."""
    return b.apply("select", b.apply("le", x, threshold), value, x)


@aten("prelu", "_prelu_kernel")
def prelu(b: GraphBuilder, x: SSAValue, weight: SSAValue) -> SSAValue:
    """x where positive, else x times the weight of its channel."""
    size = shape_of(weight.type)
    rank = len(shape_of(x.type))
    if len(size) == 1 and size[0] != 1 and rank > 1:
        weight = b.broadcast(weight, shape_of(x.type), [1])
    elif len(size) == 1 and rank == 0:
        weight = b.reshape(weight, [])
    return b.apply("select", b.apply("gt", x, 0.0), x, b.apply("mul", x, weight))


@_activation("glu")
def glu(b: GraphBuilder, x: SSAValue, dim: int = -1) -> SSAValue:
    """The first half times the sigmoid of the second."""
    axis = normal_axis(dim, len(shape_of(x.type)))
    half = b.shape[axis]
    gate = b.apply("sigmoid", b.slice(x, axis, known(half, "the size of a dim that glu splits"), half))
    return b.apply("mul", b.slice(x, axis, 0, half), gate)


@aten("gelu")
def gelu(b: GraphBuilder, x: SSAValue, *, approximate: str = "none") -> SSAValue:
    """A composite."""
    return b.value(GeluOp(x, "tanh" if approximate == "tanh" else "erf"))


@aten("silu")
def silu(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """A composite."""
    (value,) = b.promoted(x, as_float=True)
    return b.value(SiluOp(value))


@aten("softmax", "_softmax")
def softmax(b: GraphBuilder, x: SSAValue, dim: int, *_: Any, **__: Any) -> SSAValue:
    """A composite; integers and a given dtype are cast to the result's dtype first."""
    return _along(b, x, dim, SoftmaxOp)


@aten("log_softmax", "_log_softmax")
def log_softmax(b: GraphBuilder, x: SSAValue, dim: int, *_: Any, **__: Any) -> SSAValue:
    """A composite."""
    return _along(b, x, dim, LogSoftmaxOp)


def _along(b: GraphBuilder, x: SSAValue, dim: int, op: type[SoftmaxOp] | type[LogSoftmaxOp]) -> SSAValue:
    value = b.cast(x, element_type(b))
    shape = shape_of(x.type)
    if not shape:
        return b.reshape(b.value(op(b.reshape(value, [1]), 0)), [])
    return b.value(op(value, normal_axis(dim, len(shape))))
