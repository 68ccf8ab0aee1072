"""aten ops that combine or order elements along dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute, SSAValue

from cuvil.dialects.tensor import ArgReduceOp, ScanOp, SortOp, TopkOp, element_of, shape_of
from cuvil.frontends.aten_builder import (
    ATEN_BUILDERS,
    Builder,
    GraphBuilder,
    Number,
    aten,
    element_type,
    is_half,
    normal_axes,
    normal_axis,
)
from cuvil.frontends.aten_movement import rank_of

Dims: TypeAlias = "int | Sequence[int] | None"


def _accumulated(b: GraphBuilder, x: SSAValue, wanted: Attribute | None = None) -> SSAValue:
    """x in the type that a sum is kept in: the result's, but float32 for 16-bit floats."""
    wanted = element_type(b) if wanted is None else wanted
    return b.cast(x, f32 if is_half(wanted) else wanted)


@aten("sum", "sum.dim_IntList")
def sum_(b: GraphBuilder, x: SSAValue, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> SSAValue:
    """Integers and bools are summed as int64, unless bools are asked for."""
    if element_type(b) == i1:
        return _truth("or")(b, x, dim, keepdim)
    return b.reduce("add", _accumulated(b, x), normal_axes(dim, rank_of(x)), keepdim)


@aten("prod", "prod.dim_int")
def prod(b: GraphBuilder, x: SSAValue, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> SSAValue:
    """Integers and bools are multiplied as int64, unless bools are asked for."""
    if element_type(b) == i1:
        return _truth("and")(b, x, dim, keepdim)
    return b.reduce("mul", _accumulated(b, x), normal_axes(dim, rank_of(x)), keepdim)


@aten("mean")
def mean(b: GraphBuilder, x: SSAValue, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> SSAValue:
    """The sum over the number of elements."""
    return _mean(b, _accumulated(b, x), normal_axes(dim, rank_of(x)), keepdim)


def _mean(b: GraphBuilder, x: SSAValue, axes: Sequence[int], keepdim: bool) -> SSAValue:
    shape = shape_of(x.type)
    return b.apply("div", b.reduce("add", x, axes, keepdim), b.count([shape[axis] for axis in axes], element_of(x)))


def _moments(b: GraphBuilder, x: SSAValue, dim: Dims, correction: Number, keepdim: bool) -> tuple[SSAValue, SSAValue]:
    """Variance and mean; the variance by the sum of squared distances from the mean."""
    value = _accumulated(b, x)
    axes = normal_axes(dim, rank_of(x))
    shape = shape_of(x.type)
    center = _mean(b, value, axes, True)
    distance = b.apply("sub", value, center)
    total = b.reduce("add", b.apply("mul", distance, distance), axes, keepdim)
    count = b.count([shape[axis] for axis in axes], element_of(value))
    freedom = b.apply("max", b.apply("sub", count, correction), 0.0) if correction else count
    kept = shape_of(total.type)
    return b.apply("div", total, freedom), b.reshape(center, kept)


def _spread(root: bool, with_mean: bool) -> Builder:
    def build(
        b: GraphBuilder,
        x: SSAValue,
        dim: Dims | bool = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: Number | None = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        freedom = (1 if unbiased else 0) if correction is None else correction
        spread, center = _moments(b, x, dim, freedom, keepdim)
        spread = b.apply("sqrt", spread) if root else spread
        return (spread, center) if with_mean else spread

    return build


def _spread_by_correction(root: bool, with_mean: bool) -> Builder:
    def build(
        b: GraphBuilder, x: SSAValue, dim: Dims = None, *, correction: Number | None = None, keepdim: bool = False
    ) -> Any:
        return _spread(root, with_mean)(b, x, dim, True, keepdim, correction=1 if correction is None else correction)

    return build


for _name, _root, _with_mean in (
    ("var", False, False),
    ("std", True, False),
    ("var_mean", False, True),
    ("std_mean", True, True),
):
    ATEN_BUILDERS[_name] = _spread(_root, _with_mean)
    ATEN_BUILDERS[f"{_name}.correction"] = _spread_by_correction(_root, _with_mean)


def _extreme(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, dim: Dims = None, keepdim: bool = False) -> SSAValue:
        return b.reduce(kind, x, normal_axes(dim, rank_of(x)), keepdim)

    return build


def _extreme_with_place(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, dim: int, keepdim: bool = False) -> tuple[SSAValue, SSAValue]:
        if rank_of(x) == 0:
            return x, b.constant(0, i64)
        axis = normal_axis(dim, rank_of(x))
        return b.reduce(kind, x, [axis], keepdim), b.value(ArgReduceOp(kind, x, axis, keepdim))

    return build


for _kind in ("max", "min"):
    ATEN_BUILDERS[f"a{_kind}"] = _extreme(_kind)
    ATEN_BUILDERS[_kind] = _extreme(_kind)
    ATEN_BUILDERS[f"{_kind}.dim"] = _extreme_with_place(_kind)


@aten("aminmax")
def aminmax(b: GraphBuilder, x: SSAValue, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """Both extremes."""
    return _extreme("min")(b, x, dim, keepdim), _extreme("max")(b, x, dim, keepdim)


def _arg_extreme(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, dim: int | None = None, keepdim: bool = False) -> SSAValue:
        if rank_of(x) == 0:
            return b.constant(0, i64)
        if dim is None:
            size: Any = 1
            for part in shape_of(x.type):
                size = size * part
            return b.reshape(b.value(ArgReduceOp(kind, b.reshape(x, [size]), 0)), b.shape)
        return b.value(ArgReduceOp(kind, x, normal_axis(dim, rank_of(x)), keepdim))

    return build


ATEN_BUILDERS["argmax"] = _arg_extreme("max")
ATEN_BUILDERS["argmin"] = _arg_extreme("min")


def _truth(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, dim: Dims = None, keepdim: bool = False) -> SSAValue:
        return b.reduce(kind, b.condition(x), normal_axes(dim, rank_of(x)), keepdim)

    return build


ATEN_BUILDERS["any"] = _truth("or")
ATEN_BUILDERS["all"] = _truth("and")


@aten("count_nonzero")
def count_nonzero(b: GraphBuilder, x: SSAValue, dim: Dims = None) -> SSAValue:
    """How many elements are not zero."""
    return b.reduce("add", b.cast(b.cast(x, i1), i64), normal_axes(dim, rank_of(x)))


def _running(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, dim: int, *, dtype: Any = None) -> SSAValue:
        value = _accumulated(b, x)
        return value if rank_of(x) == 0 else b.value(ScanOp(kind, value, normal_axis(dim, rank_of(x))))

    return build


ATEN_BUILDERS["cumsum"] = _running("add")
ATEN_BUILDERS["cumprod"] = _running("mul")


@aten("logsumexp")
def logsumexp(b: GraphBuilder, x: SSAValue, dim: Dims, keepdim: bool = False) -> SSAValue:
    """log(sum(exp(x - max))) + max, where an infinite max counts as 0."""
    axes = normal_axes(dim, rank_of(x))
    value = _accumulated(b, x)
    highest = b.reduce("max", value, axes, True)
    finite = b.apply("select", b.apply("isinf", highest), b.constant(0.0, element_of(value)), highest)
    total = b.reduce("add", b.apply("exp", b.apply("sub", value, finite)), axes, keepdim)
    return b.apply("add", b.apply("log", total), b.reshape(finite, shape_of(total.type)))


@aten("sort", "sort.stable")
def sort(b: GraphBuilder, x: SSAValue, *arguments: Any, **options: Any) -> tuple[SSAValue, SSAValue]:
    """Stable, NaN last; values and the positions they had."""
    return _sorted(b, x, *arguments, **options)


def _sorted(
    b: GraphBuilder, x: SSAValue, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> tuple[SSAValue, SSAValue]:
    if rank_of(x) == 0:
        return x, b.constant(0, i64)
    op = b.emit(SortOp(x, normal_axis(dim, rank_of(x)), descending))
    return op.values, op.indices


@aten("argsort", "argsort.stable")
def argsort(b: GraphBuilder, x: SSAValue, *arguments: Any, **options: Any) -> SSAValue:
    """The positions alone."""
    return _sorted(b, x, *arguments, **options)[1]


@aten("topk")
def topk(
    b: GraphBuilder, x: SSAValue, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[SSAValue, SSAValue]:
    """The k largest or smallest, in order."""
    if rank_of(x) == 0:
        return b.reshape(x, b.shape), b.reshape(b.constant(0, i64), b.shape)
    op = b.emit(TopkOp(x, k, normal_axis(dim, rank_of(x)), largest))
    return op.values, op.indices


@aten("linalg_vector_norm")
def vector_norm(
    b: GraphBuilder, x: SSAValue, ord: Number = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> SSAValue:
    """sum(|x|^ord)^(1/ord) for ord 1 and 2, and the largest or smallest |x| for infinite ones."""
    axes = normal_axes(dim, rank_of(x))
    value = _accumulated(b, x)
    if ord == 2:
        return b.apply("sqrt", b.reduce("add", b.apply("mul", value, value), axes, keepdim))
    size = b.apply("abs", value)
    if ord == 1:
        return b.reduce("add", size, axes, keepdim)
    if ord in (float("inf"), float("-inf")):
        return b.reduce("max" if ord > 0 else "min", size, axes, keepdim)
    return NotImplemented
