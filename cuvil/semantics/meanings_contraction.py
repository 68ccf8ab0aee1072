"""Reference meaning of contract, convolution and pool: float64 matrix products, rounded once; integers wrap.

A convolution is a sum over the weight's spatial positions of one matrix product each, on a strided view of the padded
input: no patches are materialized, and BLAS does the work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from cuvil.dialects.tensor import ContractOp, ConvolutionOp, PoolOp, element_of, numbers
from cuvil.semantics.arrays import Array, accumulated, rounded
from cuvil.semantics.interpreter import Frame, Meaning
from cuvil.semantics.meanings_movement import pad
from cuvil.semantics.meanings_reduction import COMBINE, neutral

Arrays = Sequence[Array]

# Sums of products of 8 and 16-bit integers are exact in float64, and BLAS has no integer products.
_EXACT_AS_FLOAT = ("i1", "i2", "u1", "u2")


def _multiplicand(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.str[1:] in _EXACT_AS_FLOAT else accumulated(array)


def _finished(product: Array, like: Array) -> Array:
    """Exact sums that wrap to the integer type they belong to."""
    return product.astype(np.int64).astype(like.dtype) if like.dtype.kind in "iu" else product


def _contract(frame: Frame, op: ContractOp, operands: Arrays) -> Arrays:
    result = contract(
        operands[0],
        operands[1],
        numbers(op.lhs_batch),
        numbers(op.rhs_batch),
        numbers(op.lhs_contract),
        numbers(op.rhs_contract),
    )
    return [rounded(result, element_of(op.result))]


def contract(
    lhs: Array,
    rhs: Array,
    lhs_batch: Sequence[int],
    rhs_batch: Sequence[int],
    lhs_contract: Sequence[int],
    rhs_contract: Sequence[int],
) -> Array:
    """The sums of products, not yet rounded: batch dims, then lhs free dims, then rhs free dims."""
    rows = [axis for axis in range(lhs.ndim) if axis not in lhs_batch and axis not in lhs_contract]
    columns = [axis for axis in range(rhs.ndim) if axis not in rhs_batch and axis not in rhs_contract]
    batch_shape = [lhs.shape[axis] for axis in lhs_batch]
    row_shape, column_shape = [lhs.shape[axis] for axis in rows], [rhs.shape[axis] for axis in columns]
    depth = math.prod(lhs.shape[axis] for axis in lhs_contract)
    batch, height, width = math.prod(batch_shape), math.prod(row_shape), math.prod(column_shape)
    left = lhs.transpose([*lhs_batch, *rows, *lhs_contract]).reshape(batch, height, depth)
    right = rhs.transpose([*rhs_batch, *rhs_contract, *columns]).reshape(batch, depth, width)
    product = np.matmul(_multiplicand(left), _multiplicand(right))
    return _finished(product, lhs).reshape((*batch_shape, *row_shape, *column_shape))


def _convolution(frame: Frame, op: ConvolutionOp, operands: Arrays) -> Arrays:
    order = numbers(op.input_order)
    source = operands[0].transpose(order)
    spread = _spread(source, numbers(op.input_dilation))
    padded = pad(spread, source.dtype.type(0), [0, 0, *numbers(op.low)], [0, 0, *numbers(op.high)])
    result = convolve(padded, operands[1], numbers(op.strides), numbers(op.dilation), op.groups.value.data)
    return [rounded(result.transpose(np.argsort(order)), element_of(op.result))]


def _spread(source: Array, dilation: Sequence[int]) -> Array:
    """`source` with `dilation - 1` zeros between neighbours of each spatial dim."""
    if all(step == 1 for step in dilation) or 0 in source.shape:
        return source
    sizes = [(size - 1) * step + 1 for size, step in zip(source.shape[2:], dilation, strict=True)]
    result = np.zeros((*source.shape[:2], *sizes), source.dtype)
    result[(slice(None), slice(None), *(slice(None, None, step) for step in dilation))] = source
    return result


def convolve(padded: Array, weight: Array, strides: Sequence[int], dilation: Sequence[int], groups: int) -> Array:
    """The cross-correlation of a padded [N, C, ...] with [O, C / groups, ...], not yet rounded."""
    sizes = _positions(padded, weight.shape[2:], strides, dilation)
    batch, outputs = padded.shape[0], weight.shape[0]
    points = math.prod(sizes)
    grouped = _multiplicand(weight).reshape(groups, outputs // groups, weight.shape[1], *weight.shape[2:])
    wide = _multiplicand(padded)
    total = np.zeros((batch, groups, outputs // groups, points), wide.dtype)
    if total.size:
        for place, view in _windows(wide, weight.shape[2:], sizes, strides, dilation):
            total += grouped[(..., *place)] @ view.reshape(batch, groups, weight.shape[1], points)
    return _finished(total, padded).reshape(batch, outputs, *sizes)


def _positions(
    padded: Array, kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> tuple[int, ...]:
    spans = [(taps - 1) * step + 1 for taps, step in zip(kernel, dilation, strict=True)]
    return tuple(
        max((size - span) // stride + 1, 0) for size, span, stride in zip(padded.shape[2:], spans, strides, strict=True)
    )


def _windows(
    padded: Array, kernel: Sequence[int], sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each position in the kernel, the input elements that it meets: a view [N, C, sizes...]."""
    for place in np.ndindex(*kernel):
        starts = [tap * step for tap, step in zip(place, dilation, strict=True)]
        cut = [
            slice(start, start + (size - 1) * stride + 1, stride)
            for start, size, stride in zip(starts, sizes, strides, strict=True)
        ]
        yield place, padded[(slice(None), slice(None), *cut)]


def _pool(frame: Frame, op: PoolOp, operands: Arrays) -> Arrays:
    order, kind, element_type = numbers(op.input_order), op.kind.data, element_of(op.result)
    kernel, strides, dilation = numbers(op.kernel), numbers(op.strides), numbers(op.dilation)
    source = operands[0].transpose(order)
    padded = pad(source, neutral(kind, element_type), [0, 0, *numbers(op.low)], [0, 0, *numbers(op.high)])
    wide = accumulated(padded) if kind == "add" else padded
    sizes = _positions(padded, kernel, strides, dilation)
    total = np.full((*padded.shape[:2], *sizes), neutral(kind, element_type), wide.dtype)
    if total.size:
        for _, view in _windows(wide, kernel, sizes, strides, dilation):
            COMBINE[kind](total, view, out=total)
    return [rounded(total.transpose(np.argsort(order)), element_type)]


MEANINGS: dict[str, Meaning] = {
    "cuvil_tensor.contract": _contract,
    "cuvil_tensor.convolution": _convolution,
    "cuvil_tensor.pool": _pool,
}
