"""Reference meaning of reduce, arg_reduce, scan, sort and topk. Float sums and products are accumulated in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from cuvil.dialects.tensor import ArgReduceOp, ReduceOp, ScanOp, SortOp, TopkOp, element_of, numbers
from cuvil.semantics.arrays import Array, accumulated, dtype_of, rounded
from cuvil.semantics.interpreter import Frame, InterpretationError, Meaning

Arrays = Sequence[Array]

COMBINE: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""The function that each kind of reduction combines two elements with."""


def neutral(kind: str, element_type: Attribute) -> Any:
    """What a reduction of nothing gives, as a scalar of the element type's dtype."""
    dtype = dtype_of(element_type)
    if kind in ("max", "min"):
        sign = 1 if kind == "min" else -1
        if dtype.kind == "f":
            return dtype.type(sign * np.inf)
        if dtype.kind == "b":
            return np.bool_(kind == "min")
        limits = np.iinfo(dtype)
        return dtype.type(limits.max if kind == "min" else limits.min)
    if kind == "and":
        return np.bool_(True) if dtype.kind == "b" else np.array(-1).astype(dtype)[()]
    return dtype.type(1 if kind == "mul" else 0)


def _reduce(frame: Frame, op: ReduceOp, operands: Arrays) -> Arrays:
    keepdims = op.keepdims is not None
    return [reduce(op.kind.data, operands[0], numbers(op.axes), element_of(op.result), keepdims)]


def reduce(kind: str, array: Array, axes: Sequence[int], element_type: Attribute, keepdims: bool = False) -> Array:
    """All elements along `axes` combined."""
    wide = accumulated(array) if kind in ("add", "mul") else array
    # The dtype is named, or NumPy would sum small integers in int64.
    result = COMBINE[kind].reduce(
        wide, axis=tuple(axes), keepdims=keepdims, dtype=wide.dtype, initial=neutral(kind, element_type)
    )
    return rounded(result, element_type)


def _arg_reduce(frame: Frame, op: ArgReduceOp, operands: Arrays) -> Arrays:
    find = np.argmax if op.kind.data == "max" else np.argmin
    result = find(operands[0], axis=op.axis.value.data, keepdims=op.keepdims is not None)
    return [np.asarray(result, np.int64)]


def _scan(frame: Frame, op: ScanOp, operands: Arrays) -> Arrays:
    kind, axis = op.kind.data, op.axis.value.data
    array = np.flip(operands[0], axis) if op.reverse is not None else operands[0]
    wide = accumulated(array) if kind in ("add", "mul") else array
    running = COMBINE[kind].accumulate(wide, axis=axis, dtype=wide.dtype)
    if op.exclusive is not None and running.shape[axis]:
        shifted = np.roll(running, 1, axis)
        first = tuple(slice(1) if dim == axis else slice(None) for dim in range(array.ndim))
        shifted[first] = neutral(kind, element_of(op.result))
        running = shifted
    result = rounded(running, element_of(op.result))
    return [np.flip(result, axis) if op.reverse is not None else result]


def sorted_positions(array: Array, axis: int, descending: bool) -> Array:
    """The positions of the elements in stable order; NaN counts as largest."""
    if not descending:
        return np.argsort(array, axis=axis, kind="stable")
    # Equal elements keep their order if the reversed array is sorted upwards, and that is reversed again.
    upwards = np.argsort(np.flip(array, axis), axis=axis, kind="stable")
    return array.shape[axis] - 1 - np.flip(upwards, axis)


def _sort(frame: Frame, op: SortOp, operands: Arrays) -> Arrays:
    axis = op.axis.value.data
    positions = sorted_positions(operands[0], axis, op.descending is not None)
    return [np.take_along_axis(operands[0], positions, axis), positions.astype(np.int64)]


def _topk(frame: Frame, op: TopkOp, operands: Arrays) -> Arrays:
    axis = op.axis.value.data
    if op.k.value.data > operands[0].shape[axis]:
        raise InterpretationError(
            f"{op.name}: k is {op.k.value.data}, the axis has {operands[0].shape[axis]} elements", op
        )
    order = sorted_positions(operands[0], axis, op.descending is not None)
    positions = np.take(order, np.arange(op.k.value.data), axis)
    return [np.take_along_axis(operands[0], positions, axis), positions.astype(np.int64)]


MEANINGS: dict[str, Meaning] = {
    "cuvil_tensor.reduce": _reduce,
    "cuvil_tensor.arg_reduce": _arg_reduce,
    "cuvil_tensor.scan": _scan,
    "cuvil_tensor.sort": _sort,
    "cuvil_tensor.topk": _topk,
}
