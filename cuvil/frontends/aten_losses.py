"""aten losses and distances whose intermediate results PyTorch rounds in another place than its decompositions do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import element_of, shape_of
from cuvil.frontends.aten_builder import GraphBuilder, Number, aten, is_half
from cuvil.frontends.aten_contraction import matmul
from cuvil.frontends.aten_movement import rank_of

NONE, MEAN, SUM = range(3)
"""PyTorch's numbers of reductions."""


def _reduced(b: GraphBuilder, loss: SSAValue, reduction: int) -> SSAValue:
    if reduction == NONE:
        return loss
    axes = range(rank_of(loss))
    wide = b.cast(loss, f32) if is_half(element_of(loss)) else loss
    total = b.reduce("add", wide, axes)
    return b.apply("div", total, b.count(shape_of(loss.type), element_of(wide))) if reduction == MEAN else total


@aten("soft_margin_loss")
def soft_margin_loss(b: GraphBuilder, x: SSAValue, target: SSAValue, reduction: int = MEAN) -> SSAValue:
    """log(1 + exp(-target * x)); each step is rounded to the dtype, so that 16-bit floats may overflow."""
    value, wanted = b.promoted(x, target)
    power = b.apply("exp", b.apply("mul", b.apply("neg", value), wanted))
    return _reduced(b, b.apply("log1p", power), reduction)


@aten("addbmm")
def addbmm(b: GraphBuilder, x: SSAValue, y: SSAValue, z: SSAValue, *, beta: Number = 1, alpha: Number = 1) -> SSAValue:
    """beta * x + alpha * the sum of a stack's products; x does not count at all where beta is 0."""
    count, rows, inner = shape_of(y.type)
    columns = shape_of(z.type)[-1]
    flat = b.reshape(b.transpose(y, [1, 0, 2]), [rows, count * inner])
    result = matmul(b, flat, b.reshape(z, [count * inner, columns]))
    if alpha != 1:
        result = b.apply("mul", result, alpha)
    if beta == 0:
        return result
    return b.apply("add", b.broadcast(x if beta == 1 else b.apply("mul", x, beta), b.shape), result)


# -- distances ---------------------------------------------------------------------------------------------------------

_OF_POWERS: dict[float, tuple[str, Callable[..., Any]]] = {
    0.0: ("add", lambda b, size: b.cast(b.apply("ne", size, 0.0), element_of(size))),
    1.0: ("add", lambda b, size: size),
    float("inf"): ("max", lambda b, size: size),
}


def _distance(b: GraphBuilder, difference: SSAValue, p: float) -> SSAValue:
    """The p-norm along the last dim."""
    size = b.apply("abs", difference)
    axis = [rank_of(size) - 1]
    if p in _OF_POWERS:
        kind, of = _OF_POWERS[p]
        if kind == "max" and shape_of(size.type)[-1] == 0:
            return b.full(0, element_of(size), shape_of(size.type)[:-1])
        return b.reduce(kind, of(b, size), axis)
    if p == 2.0:
        return b.apply("sqrt", b.reduce("add", b.apply("mul", size, size), axis))
    return b.apply("pow", b.reduce("add", b.apply("pow", size, p), axis), 1.0 / p)


@aten("_cdist_forward", "cdist")
def cdist(b: GraphBuilder, x: SSAValue, y: SSAValue, p: float = 2.0, compute_mode: int | None = None) -> SSAValue:
    """The distance of each row of x from each row of y, of stacks that broadcast."""
    *batch, rows, columns = b.shape
    size = shape_of(x.type)[-1]
    shape = (*batch, rows, columns, size)
    left = b.reshape(x, (*shape_of(x.type)[:-1], 1, size))
    right = b.reshape(y, (*shape_of(y.type)[:-2], 1, *shape_of(y.type)[-2:]))
    return _distance(b, b.apply("sub", b.broadcast(left, shape), b.broadcast(right, shape)), p)
