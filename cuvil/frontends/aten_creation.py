"""aten ops that make tensors of nothing: fills, ranges, triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import element_domain, element_of, shape_of
from cuvil.frontends.aten_builder import ATEN_BUILDERS, Builder, GraphBuilder, Number, Operand, aten, element_type
from cuvil.semantics.dims import Dim


def _filled(number: Number) -> Builder:
    def build(b: GraphBuilder, *_: Any, **__: Any) -> SSAValue:
        return b.full(number, element_type(b), b.shape)

    return build


for _name in (
    "zeros",
    "zeros_like",
    "new_zeros",
    "empty",
    "empty_like",
    "new_empty",
    "empty_permuted",
    "empty_strided",
):
    ATEN_BUILDERS[_name] = _filled(0)
for _name in ("ones", "ones_like", "new_ones"):
    ATEN_BUILDERS[_name] = _filled(1)


@aten("full", "full_like", "new_full")
def full(b: GraphBuilder, _: Any, *arguments: Any, **__: Any) -> SSAValue:
    """One value everywhere: the last positional argument."""
    return _fill(b, arguments[-1])


@aten("scalar_tensor")
def scalar_tensor(b: GraphBuilder, value: Operand, **_: Any) -> SSAValue:
    """A 0-d tensor of a number."""
    return _fill(b, value)


@aten("fill")
def fill(b: GraphBuilder, x: SSAValue, value: Operand) -> SSAValue:
    """The shape of x, one value everywhere."""
    return _fill(b, value)


@aten("zero")
def zero(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """The shape of x, zeros."""
    return _fill(b, 0)


def _fill(b: GraphBuilder, value: Operand) -> SSAValue:
    wanted = element_type(b)
    return b.broadcast(b.cast(value, wanted) if isinstance(value, SSAValue) else b.constant(value, wanted), b.shape)


@aten("arange")
def arange(b: GraphBuilder, end: Number, **_: Any) -> SSAValue:
    """0, 1, ... below `end`."""
    return arange_from(b, 0, end)


@aten("arange.start", "arange.start_step")
def arange_from(b: GraphBuilder, start: Number, end: Number, step: Number = 1, **_: Any) -> SSAValue:
    """start + i * step; floats are computed in float64 and rounded once, as PyTorch does."""
    wanted = element_type(b)
    computed = f64 if element_domain(wanted) == "f" else i64
    value = b.iota(0, b.shape, computed)
    if step != 1:
        value = b.apply("mul", value, step)
    if start != 0:
        value = b.apply("add", value, start)
    return b.cast(value, wanted)


@aten("eye")
def eye(b: GraphBuilder, *_: Any, **__: Any) -> SSAValue:
    """1 on the diagonal."""
    return b.cast(b.apply("eq", b.iota(0, b.shape), b.iota(1, b.shape)), element_type(b))


def _triangle(kind: str) -> Callable[..., SSAValue]:
    def build(b: GraphBuilder, x: SSAValue, diagonal: int = 0) -> SSAValue:
        shape = shape_of(x.type)
        return b.apply("select", _triangle_mask(b, kind, shape[-2:], diagonal), x, b.constant(0, element_of(x)))

    return build


def _triangle_mask(b: GraphBuilder, kind: str, shape: Sequence[Dim], diagonal: int) -> SSAValue:
    """Where column - row is <= (`le`, lower) or >= (`ge`, upper) the diagonal."""
    return b.apply(kind, b.apply("sub", b.iota(1, shape), b.iota(0, shape)), diagonal)


ATEN_BUILDERS["tril"] = _triangle("le")
ATEN_BUILDERS["triu"] = _triangle("ge")
