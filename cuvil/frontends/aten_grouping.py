"""aten ops on groups and counts: products of grouped rows (mixtures of experts), histograms, places under a mask."""

from __future__ import annotations

import torch
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import ContractOp, GatherOp, ScanOp, ScatterOp, element_domain, element_of, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder, Number, aten, element_type
from cuvil.frontends.aten_contraction import matmul
from cuvil.frontends.aten_movement import rank_of
from cuvil.semantics.dims import product


@aten("_grouped_mm")
def grouped_mm(
    b: GraphBuilder,
    x: SSAValue,
    weights: SSAValue,
    offs: SSAValue | None = None,
    bias: SSAValue | None = None,
    out_dtype: torch.dtype | None = None,
) -> SSAValue:
    """Rows of x, each times the matrix of its group: group g has the rows below offs[g] that no group before it has."""
    if bias is not None:
        raise UnsupportedError("a grouped product has no bias; add it to the result")
    if offs is None:
        return matmul(b, x, weights)
    if rank_of(x) != 2 or rank_of(weights) != 3:
        raise UnsupportedError("only rows are grouped: x is [rows, k], the weights are [groups, k, n]")
    return rows_by_group(b, x, weights, offs)


@aten("transformers.grouped_mm_fallback")
def grouped_mm_fallback(b: GraphBuilder, x: SSAValue, weight: SSAValue, offs: SSAValue) -> SSAValue:
    """What `transformers` puts in the place of a grouped product where PyTorch cannot compile that."""
    return rows_by_group(b, x, weight, offs)


def rows_by_group(b: GraphBuilder, x: SSAValue, weights: SSAValue, offs: SSAValue) -> SSAValue:
    """x: [rows, k], weights: [groups, k, n], offs: [groups], ascending; rows past the last group are 0.

    Few rows fetch their matrices. Many rows are multiplied by every matrix, read once and packed, and each picks the
    product of its group: more arithmetic, but no copy of a matrix for each row.
    """
    (rows, _), groups = shape_of(x.type), shape_of(weights.type)[0]
    columns = shape_of(weights.type)[2]
    ends = b.broadcast(b.cast(offs, i64), [rows, groups], [1])
    passed = b.apply("le", ends, b.iota(0, [rows, groups]))
    group = b.reduce("add", b.cast(passed, i64), [1])
    exists = b.apply("lt", group, groups)
    safe = b.apply("select", exists, group, 0)
    if isinstance(rows, int) and isinstance(groups, int) and rows <= groups:
        matrices = b.value(GatherOp(weights, [safe], [0]))
        product = b.value(ContractOp(x, matrices, lhs_batch=[0], rhs_batch=[0], lhs_contract=[1], rhs_contract=[1]))
    else:
        every = b.value(ContractOp(x, weights, lhs_contract=[1], rhs_contract=[1]))
        product = b.value(GatherOp(every, [b.iota(0, [rows]), safe], [0, 1]))
    return b.apply("select", b.broadcast(exists, [rows, columns], [0]), product, 0)


@aten("histc")
def histc(b: GraphBuilder, x: SSAValue, bins: int = 100, min: Number = 0, max: Number = 0) -> SSAValue:
    """How many elements are in each of `bins` equal parts of [min, max]; others, and NaN, are in none."""
    if min == max:
        raise UnsupportedError("the range of this histogram depends on data; give min and max")
    if element_domain(element_of(x)) != "f":
        return NotImplemented
    x = b.reshape(x, [product(shape_of(x.type))])
    within = b.apply("and", b.apply("ge", x, min), b.apply("le", x, max))
    # In this order, in the elements' own type: PyTorch's rounding decides on the boundaries between bins.
    place = b.apply("div", b.apply("mul", b.apply("sub", x, min), bins), max - min)
    place = b.apply("min", b.cast(b.apply("select", within, place, 0), i64), bins - 1)
    counted = b.cast(within, element_type(b))
    return b.value(ScatterOp("add", b.full(0, element_type(b), [bins]), counted, [place], [0]))


@aten("masked_scatter")
def masked_scatter(b: GraphBuilder, x: SSAValue, mask: SSAValue, source: SSAValue) -> SSAValue:
    """The elements of source, one after the other, in the places where the mask is true."""
    shape = b.shape
    x, mask = b.broadcast(b.cast(x, element_type(b)), shape), b.broadcast(b.cast(mask, i1), shape)
    total, available = product(shape), product(shape_of(source.type))
    if total == 0 or available == 0:
        return x
    flat = b.cast(b.reshape(mask, [total]), i64)
    before = b.value(ScanOp("add", flat, 0, exclusive=True))
    place = b.apply("min", before, available - 1)
    picked = b.value(GatherOp(b.reshape(b.cast(source, element_type(b)), [available]), [place], [0]))
    return b.apply("select", mask, b.reshape(picked, shape), x)


@aten("_is_all_true")
def is_all_true(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Whether every element is true."""
    return b.reduce("and", x, range(rank_of(x)))


@aten("_is_any_true")
def is_any_true(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Whether an element is true."""
    return b.reduce("or", x, range(rank_of(x)))
