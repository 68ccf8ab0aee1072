"""aten ops about the order of elements: order statistics, running extremes, search in sorted sequences."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness, i1, i64
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import ArgReduceOp, ConcatOp, GatherOp, ScanOp, SortOp, element_domain, element_of, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import (
    ATEN_BUILDERS,
    Builder,
    GraphBuilder,
    Operand,
    aten,
    known,
    normal_axis,
)
from cuvil.frontends.aten_indexing import places_along
from cuvil.frontends.aten_movement import rank_of
from cuvil.semantics.dims import product

_U8 = IntegerType(8, Signedness.UNSIGNED)


def _at_place(b: GraphBuilder, x: SSAValue, axis: int, place: SSAValue) -> SSAValue:
    """The elements of x at the positions `place` along `axis`, which is 1 long there."""
    places = places_along(b, axis, place)
    return b.value(GatherOp(x, places, list(range(len(places)))))


def _without_axis(b: GraphBuilder, x: SSAValue, axis: int, keepdim: bool) -> SSAValue:
    shape = shape_of(x.type)
    return x if keepdim else b.reshape(x, [*shape[:axis], *shape[axis + 1 :]])


@aten("kthvalue")
def kthvalue(b: GraphBuilder, x: SSAValue, k: int, dim: int = -1, keepdim: bool = False) -> tuple[SSAValue, SSAValue]:
    """The k-th smallest element of each line and where it is; NaN counts as largest."""
    if rank_of(x) == 0:
        return x, b.constant(0, i64)
    axis = normal_axis(dim, rank_of(x))
    op = b.emit(SortOp(x, axis))
    parts = (b.slice(result, axis, k - 1, 1) for result in (op.values, op.indices))
    values, places = (_without_axis(b, part, axis, keepdim) for part in parts)
    return values, places


def _median(b: GraphBuilder, x: SSAValue, axis: int, ignores_nan: bool) -> tuple[SSAValue, SSAValue]:
    """The lower median of each line, kept as a dim of 1, and where it is; a NaN where there is any, unless ignored."""
    op = b.emit(SortOp(x, axis))
    size = known(shape_of(x.type)[axis], "the size of a dim whose median is taken")
    if element_domain(element_of(x)) != "f":
        values, places = (b.slice(result, axis, (size - 1) // 2, 1) for result in (op.values, op.indices))
        return values, places
    nans = b.reduce("add", b.cast(b.apply("isnan", x), i64), [axis], True)
    numbers = b.apply("sub", b.full(size, i64, shape_of(nans.type)), nans)
    rank = b.apply("max", b.apply("floor_div", b.apply("sub", numbers, 1), 2), 0)
    if not ignores_nan:
        rank = b.apply("select", b.apply("gt", nans, 0), numbers, rank)
    return _at_place(b, op.values, axis, rank), _at_place(b, op.indices, axis, rank)


def _medians(ignores_nan: bool) -> tuple[Builder, Builder]:
    def whole(b: GraphBuilder, x: SSAValue) -> SSAValue:
        count = product(shape_of(x.type))
        if count == 0:
            if element_domain(element_of(x)) != "f":
                raise UnsupportedError("the median of no integers is not defined")
            return b.full(float("nan"), element_of(x), [])
        return b.reshape(_median(b, b.reshape(x, [count]), 0, ignores_nan)[0], [])

    def along(b: GraphBuilder, x: SSAValue, dim: int, keepdim: bool = False) -> tuple[SSAValue, SSAValue]:
        if rank_of(x) == 0:
            return x, b.constant(0, i64)
        axis = normal_axis(dim, rank_of(x))
        values, places = (_without_axis(b, part, axis, keepdim) for part in _median(b, x, axis, ignores_nan))
        return values, places

    return whole, along


for _name, _ignores in (("median", False), ("nanmedian", True)):
    ATEN_BUILDERS[f"{_name}.default"], ATEN_BUILDERS[f"{_name}.dim"] = _medians(_ignores)


@aten("mode")
def mode(b: GraphBuilder, x: SSAValue, dim: int = -1, keepdim: bool = False) -> tuple[SSAValue, SSAValue]:
    """The most frequent element of each line, the smallest of several, and the last place where it is."""
    if rank_of(x) == 0:
        return x, b.constant(0, i64)
    axis = normal_axis(dim, rank_of(x))
    shape = shape_of(x.type)
    op = b.emit(SortOp(x, axis))
    number = b.iota(axis, shape)
    before = b.slice(op.values, axis, 0, shape[axis] + -1)
    begins = b.apply("ne", b.slice(op.values, axis, 1, shape[axis] + -1), before)
    first = b.full(True, i1, [*shape[:axis], 1, *shape[axis + 1 :]])
    begins = b.value(ConcatOp([first, begins], axis))
    start = b.value(ScanOp("max", b.apply("select", begins, number, 0), axis))
    rank = b.value(ArgReduceOp("max", b.apply("sub", number, start), axis, True))
    values, places = (_at_place(b, result, axis, rank) for result in (op.values, op.indices))
    return _without_axis(b, values, axis, keepdim), _without_axis(b, places, axis, keepdim)


def _running_extreme(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, dim: int) -> tuple[SSAValue, SSAValue]:
        if rank_of(x) == 0:
            return x, b.constant(0, i64)
        axis = normal_axis(dim, rank_of(x))
        value = b.cast(x, _U8) if element_domain(element_of(x)) == "b" else x
        best = b.value(ScanOp(kind, value, axis))
        # A later equal element takes the place over, and any NaN from the first on.
        takes = b.apply("eq", value, best)
        if element_domain(element_of(x)) == "f":
            takes = b.apply("or", takes, b.apply("isnan", value))
        place = b.apply("select", takes, b.iota(axis, shape_of(x.type)), 0)
        place = b.value(ScanOp("max", place, axis))
        # Of zeros, which are equal, the sign is that of the one at the place.
        return _at_place(b, x, axis, place), place

    return build


ATEN_BUILDERS["cummax"] = _running_extreme("max")
ATEN_BUILDERS["cummin"] = _running_extreme("min")


# -- search ----------------------------------------------------------------------------------------------------------


@aten("searchsorted", "searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(
    b: GraphBuilder,
    sequence: SSAValue,
    values: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: SSAValue | None = None,
) -> SSAValue:
    """Before (right: behind) which element of a sorted line each value belongs."""
    return _searched(b, sequence, values, right or side == "right", sorter)


@aten("bucketize", "bucketize.Tensor", "bucketize.Scalar")
def bucketize(
    b: GraphBuilder, values: Operand, boundaries: SSAValue, *, out_int32: bool = False, right: bool = False
) -> SSAValue:
    """The bucket between sorted boundaries that each value is in."""
    return _searched(b, boundaries, values, right, None)


def _searched(b: GraphBuilder, sequence: SSAValue, values: Operand, right: bool, sorter: SSAValue | None) -> SSAValue:
    if sorter is not None:
        places = places_along(b, rank_of(sequence) - 1, b.cast(sorter, i64))
        sequence = b.value(GatherOp(sequence, places, list(range(len(places)))))
    sequence, wanted = b.promoted(sequence, values)
    shape = shape_of(wanted.type)
    if rank_of(sequence) == 0:
        sequence = b.reshape(sequence, [1])
    size = known(shape_of(sequence.type)[-1], "the size of a sorted sequence")
    lead = [] if rank_of(sequence) == 1 else [b.iota(axis, shape) for axis in range(rank_of(sequence) - 1)]
    axes = [*range(len(lead)), rank_of(sequence) - 1]

    def is_before(place: SSAValue) -> SSAValue:
        found = b.value(GatherOp(sequence, [*lead, place], axes))
        return b.apply("not", b.apply("gt" if right else "ge", found, wanted))

    # Bit by bit, the largest count of elements that all lie before the value.
    count = b.full(0, i64, shape)
    step = 1 << (size.bit_length() - 1) if size else 0
    while step:
        more = b.apply("add", count, step)
        within = b.apply("le", more, size)
        last = b.apply("sub", b.apply("min", more, size), 1)
        count = b.apply("select", b.apply("and", within, is_before(last)), more, count)
        step >>= 1
    return count
