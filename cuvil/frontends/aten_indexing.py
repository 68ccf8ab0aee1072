"""aten ops that read and write at computed positions: embedding, gather, index, scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from cuvil.dialects.tensor import ConcatOp, GatherOp, ScatterOp, element_domain, element_of, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder, Number, Operand, aten, broadcast_shape, known, normal_axis
from cuvil.frontends.aten_movement import clamped_start, rank_of
from cuvil.frontends.aten_types import dtype_of
from cuvil.semantics.dims import Dim, product


@aten("embedding")
def embedding(b: GraphBuilder, weight: SSAValue, indices: SSAValue, *_: Any, **__: Any) -> SSAValue:
    """Rows of the table."""
    return b.value(GatherOp(weight, [b.cast(indices, i64)], [0]))


@aten("index_select")
def index_select(b: GraphBuilder, x: SSAValue, dim: int, index: SSAValue) -> SSAValue:
    """The places of one dim that a 1-d index names."""
    if rank_of(x) == 0:
        return x
    axis = normal_axis(dim, rank_of(x))
    picked = b.value(GatherOp(x, [b.reshape(b.cast(index, i64), [b.shape[axis]])], [axis]))
    return b.transpose(picked, [*range(1, axis + 1), 0, *range(axis + 1, rank_of(x))])


@aten("gather")
def gather(b: GraphBuilder, x: SSAValue, dim: int, index: SSAValue, *, sparse_grad: bool = False) -> SSAValue:
    """result[i, j, k] = x[i, index[i, j, k], k] for dim 1."""
    if rank_of(x) == 0:
        return b.broadcast(x, b.shape)
    places = places_along(b, normal_axis(dim, rank_of(x)), b.cast(index, i64))
    return b.value(GatherOp(x, places, list(range(len(places)))))


def places_along(b: GraphBuilder, axis: int, index: SSAValue) -> list[SSAValue]:
    """The positions of every dim: `index` along `axis`, elsewhere its own coordinates."""
    shape = shape_of(index.type)
    return [index if place == axis else b.iota(place, shape) for place in range(len(shape))]


@aten("index", "_unsafe_index")
def index(b: GraphBuilder, x: SSAValue, indices: Sequence[SSAValue | None]) -> SSAValue:
    """Positions given for some dims, all others whole: x[:, i, j]."""
    axes, places = _positions(b, x, indices)
    picked = b.value(GatherOp(x, places, axes))
    return b.transpose(picked, _in_place_order(axes, len(shape_of(places[0].type)), len(b.shape)))


def _positions(b: GraphBuilder, x: SSAValue, indices: Sequence[SSAValue | None]) -> tuple[list[int], list[SSAValue]]:
    """The indexed dims and their positions, broadcast to one shape."""
    given = [(axis, place) for axis, place in enumerate(indices) if place is not None]
    for _, place in given:
        if element_domain(element_of(place)) == "b":
            raise UnsupportedError("a bool mask picks a number of elements that is not known; use torch.where")
    shape = broadcast_shape([shape_of(place.type) for _, place in given])
    return [axis for axis, _ in given], [b.broadcast(b.cast(place, i64), shape) for _, place in given]


def _in_place_order(axes: Sequence[int], index_rank: int, rank: int) -> list[int]:
    """The order that puts the indices' dims (first in a gather's result) where PyTorch has them."""
    adjacent = list(axes) == list(range(axes[0], axes[0] + len(axes)))
    before = axes[0] if adjacent else 0
    return [*range(index_rank, index_rank + before), *range(index_rank), *range(index_rank + before, rank)]


@aten("index_put", "_unsafe_index_put", "_index_put_impl")
def index_put(
    b: GraphBuilder,
    x: SSAValue,
    indices: Sequence[SSAValue | None],
    values: SSAValue,
    accumulate: bool = False,
    unsafe: bool = False,
) -> SSAValue:
    """x with values put (or added) at positions; a bool mask with one value is a select."""
    given = [place for place in indices if place is not None]
    if len(given) == 1 and element_domain(element_of(given[0])) == "b" and indices[0] is not None:
        return _masked_put(b, x, given[0], values, accumulate)
    axes, places = _positions(b, x, indices)
    rest = [dim for axis, dim in enumerate(shape_of(x.type)) if axis not in axes]
    index_shape = shape_of(places[0].type)
    order = _in_place_order(axes, len(index_shape), len(index_shape) + len(rest))
    gathered = (*index_shape, *rest)
    updates = b.broadcast(b.cast(values, element_of(x)), [gathered[axis] for axis in order])
    updates = b.transpose(updates, [order.index(axis) for axis in range(len(order))])
    return b.value(ScatterOp("add" if accumulate else "assign", x, updates, places, axes))


def _masked_put(b: GraphBuilder, x: SSAValue, mask: SSAValue, values: SSAValue, accumulate: bool) -> SSAValue:
    shape = shape_of(x.type)
    if shape_of(values.type) not in ((), (1,)):
        raise UnsupportedError("values put under a bool mask must be one number; use torch.where")
    mask = b.broadcast(mask, shape, list(range(rank_of(mask))))
    value = b.reshape(b.cast(values, element_of(x)), [])
    return b.apply("select", mask, b.apply("add", x, value) if accumulate else value, x)


@aten("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_reduce.two")
def scatter(
    b: GraphBuilder,
    x: SSAValue,
    dim: int,
    index: SSAValue,
    source: Operand,
    reduction: str | None = None,
    *,
    reduce: str | None = None,
    include_self: bool = True,
) -> SSAValue:
    """x with source[i, j, k] put at [i, index[i, j, k], k], for dim 1."""
    kind = reduction or reduce or "assign"
    if rank_of(x) == 0:
        scattered = scatter(b, b.reshape(x, [1]), 0, _spread_out(b, index), _spread_out(b, source), kind,
                            include_self=include_self)  # fmt: skip
        return b.reshape(scattered, [])
    return _combined(b, kind, x, normal_axis(dim, rank_of(x)), index, source, include_self)


def _spread_out(b: GraphBuilder, value: Operand) -> Operand:
    """A 0-d tensor as one element of a line."""
    return b.reshape(value, [1]) if isinstance(value, SSAValue) and rank_of(value) == 0 else value


def _combined(
    b: GraphBuilder, kind: str, x: SSAValue, axis: int, index: SSAValue, source: Operand, include_self: bool
) -> SSAValue:
    """Scattered with a reduction; of what it reaches, x's own elements may not count."""
    element = element_of(x)
    if kind == "assign":
        return _scattered(b, kind, x, axis, index, source)
    if not include_self:
        x = _scattered(b, "assign", x, axis, index, _neutral(kind, element))
    result = _scattered(b, "add" if kind == "mean" else _SCATTER_KINDS[kind], x, axis, index, source)
    if kind != "mean":
        return result
    ones = b.full(1 if include_self else 0, element, shape_of(x.type))
    counts = b.apply("max", _scattered(b, "add", ones, axis, index, 1), 1)
    return b.apply("div" if element_domain(element) == "f" else "floor_div", result, counts)


def _neutral(kind: str, element: Attribute) -> Number:
    if kind in ("sum", "add", "mean"):
        return 0
    if kind in ("prod", "multiply"):
        return 1
    dtype = dtype_of(element)
    if dtype.is_floating_point:
        return float("-inf") if kind == "amax" else float("inf")
    if dtype == torch.bool:
        return kind == "amin"
    return torch.iinfo(dtype).min if kind == "amax" else torch.iinfo(dtype).max


_SCATTER_KINDS = {
    "assign": "assign", "add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min",
}  # fmt: skip


@aten("scatter_add")
def scatter_add(b: GraphBuilder, x: SSAValue, dim: int, index: SSAValue, source: SSAValue) -> SSAValue:
    """Like scatter, added to what is there."""
    return scatter(b, x, dim, index, source, "sum")


def _scattered(b: GraphBuilder, kind: str, x: SSAValue, dim: int, index: SSAValue, source: Operand) -> SSAValue:
    shape = shape_of(index.type)
    if isinstance(source, SSAValue):
        updates = b.cast(source, element_of(x))
        for axis, size in enumerate(shape):
            updates = b.slice(updates, axis, 0, size)
    else:
        updates = b.full(source, element_of(x), shape)
    places = places_along(b, normal_axis(dim, rank_of(x)), b.cast(index, i64))
    return b.value(ScatterOp(kind, x, updates, places, list(range(len(places)))))


@aten("index_reduce")
def index_reduce(
    b: GraphBuilder,
    x: SSAValue,
    dim: int,
    index: SSAValue,
    source: SSAValue,
    reduce: str,
    *,
    include_self: bool = True,
) -> SSAValue:
    """Slices of `source` combined into those of x along a dim that a 1-d index names."""
    value = _spread_out(b, x)
    assert isinstance(value, SSAValue)
    axis = normal_axis(dim, rank_of(value))
    updates = _spread_out(b, source)
    assert isinstance(updates, SSAValue)
    shape = shape_of(updates.type)
    places = b.broadcast(b.reshape(b.cast(index, i64), [shape[axis]]), shape, [axis])
    return b.reshape(_combined(b, reduce, value, axis, places, updates, include_self), b.shape)


@aten("diagonal_scatter")
def diagonal_scatter(
    b: GraphBuilder, x: SSAValue, source: SSAValue, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> SSAValue:
    """x with the elements of a diagonal replaced."""
    first, second = normal_axis(dim1, rank_of(x)), normal_axis(dim2, rank_of(x))
    rows, columns = _diagonal_places(b, shape_of(source.type)[-1], offset)
    updates = b.transpose(b.cast(source, element_of(x)), [rank_of(source) - 1, *range(rank_of(source) - 1)])
    return b.value(ScatterOp("assign", x, updates, [rows, columns], [first, second]))


@aten("take")
def take(b: GraphBuilder, x: SSAValue, index: SSAValue) -> SSAValue:
    """Elements by their positions in row-major order."""
    flat = b.reshape(x, [product(shape_of(x.type))])
    return b.value(GatherOp(flat, [b.cast(index, i64)], [0]))


@aten("put")
def put(b: GraphBuilder, x: SSAValue, index: SSAValue, source: SSAValue, accumulate: bool = False) -> SSAValue:
    """x with elements put (or added) at positions in row-major order."""
    flat, count = b.reshape(x, [product(shape_of(x.type))]), product(shape_of(index.type))
    updates, places = b.reshape(b.cast(source, element_of(x)), [count]), b.reshape(b.cast(index, i64), [count])
    return b.reshape(b.value(ScatterOp("add" if accumulate else "assign", flat, updates, [places], [0])), b.shape)


@aten("slice_scatter")
def slice_scatter(
    b: GraphBuilder,
    x: SSAValue,
    source: SSAValue,
    dim: int = 0,
    start: Dim | None = None,
    end: Dim | None = None,
    step: int = 1,
) -> SSAValue:
    """x with one slice replaced."""
    axis = normal_axis(dim, rank_of(x))
    shape = shape_of(x.type)
    size = known(shape[axis], "the size of a dim with a slice replaced")
    first = known(clamped_start(start, size), "the start of a slice that is replaced")
    count = known(shape_of(source.type)[axis], "the size of a slice")
    if step == 1:
        parts = [
            b.slice(x, axis, 0, first),
            b.cast(source, element_of(x)),
            b.slice(x, axis, first + count, size - first - count),
        ]
        kept = [part for part in parts if shape_of(part.type)[axis] != 0] or parts[:1]
        return kept[0] if len(kept) == 1 else b.value(ConcatOp(kept, axis))
    place = b.iota(0, [count])
    place = b.apply("add", b.apply("mul", place, step), first)
    order = [axis, *(other for other in range(len(shape)) if other != axis)]
    updates = b.transpose(b.cast(source, element_of(x)), order)
    return b.value(ScatterOp("assign", x, updates, [place], [axis]))


@aten("select_scatter")
def select_scatter(b: GraphBuilder, x: SSAValue, source: SSAValue, dim: int, index: int) -> SSAValue:
    """x with one place of a dim replaced."""
    axis = normal_axis(dim, rank_of(x))
    shape = shape_of(x.type)
    first = known(clamped_start(index, shape[axis]), "the place that is replaced")
    part = b.reshape(source, [1 if place == axis else size for place, size in enumerate(shape)])
    return slice_scatter(b, x, part, axis, first, first + 1)


@aten("one_hot")
def one_hot(b: GraphBuilder, x: SSAValue, num_classes: int = -1) -> SSAValue:
    """1 at each index, in a new last dim of a given size."""
    if num_classes < 0:
        raise UnsupportedError("one_hot's size depends on data; give num_classes")
    rank = len(b.shape)
    spread = b.broadcast(x, b.shape, list(range(rank - 1)))
    return b.cast(b.apply("eq", spread, b.iota(rank - 1, b.shape)), i64)


@aten("diff")
def diff(
    b: GraphBuilder,
    x: SSAValue,
    n: int = 1,
    dim: int = -1,
    prepend: SSAValue | None = None,
    append: SSAValue | None = None,
) -> SSAValue:
    """Differences of neighbours along a dim, n times."""
    axis = normal_axis(dim, rank_of(x))
    parts = [part for part in (prepend, x, append) if part is not None]
    value = b.value(ConcatOp([b.cast(part, element_of(x)) for part in parts], axis)) if len(parts) > 1 else x
    for _ in range(n):
        count = shape_of(value.type)[axis] + -1
        if count == -1:
            return value
        kind = "xor" if element_domain(element_of(x)) == "b" else "sub"
        value = b.apply(kind, b.slice(value, axis, 1, count), b.slice(value, axis, 0, count))
    return value


@aten("unfold", "unfold_copy")
def unfold(b: GraphBuilder, x: SSAValue, dimension: int, size: int, step: int) -> SSAValue:
    """Windows of a dim, their elements in a new last dim."""
    if rank_of(x) == 0:
        return b.reshape(x, b.shape)
    axis = normal_axis(dimension, rank_of(x))
    windows = [b.shape[axis], size]
    place = b.apply("add", b.apply("mul", b.iota(0, windows), step), b.iota(1, windows))
    picked = b.value(GatherOp(x, [place], [axis]))
    return b.transpose(picked, [*range(2, axis + 2), 0, *range(axis + 2, rank_of(x) + 1), 1])


@aten("diagonal", "diagonal_copy")
def diagonal(b: GraphBuilder, x: SSAValue, offset: int = 0, dim1: int = 0, dim2: int = 1) -> SSAValue:
    """Elements whose positions in two dims differ by `offset`, in a new last dim."""
    first, second = normal_axis(dim1, rank_of(x)), normal_axis(dim2, rank_of(x))
    rows, columns = _diagonal_places(b, b.shape[-1], offset)
    picked = b.value(GatherOp(x, [rows, columns], [first, second]))
    return b.transpose(picked, [*range(1, rank_of(picked)), 0])


def _diagonal_places(b: GraphBuilder, count: Dim, offset: int) -> tuple[SSAValue, SSAValue]:
    place = b.iota(0, [count])
    moved = b.apply("add", place, abs(offset)) if offset else place
    return (place, moved) if offset > 0 else (moved, place)
