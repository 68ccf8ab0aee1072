"""Reference meaning of the movement ops of `cuvil_tensor`. Results may be views: nothing is ever written in place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cuvil.dialects.tensor import (
    BroadcastOp,
    ConcatOp,
    GatherOp,
    IotaOp,
    PackOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
    UnpackOp,
    element_of,
    numbers,
)
from cuvil.semantics.arrays import Array, accumulated, rounded
from cuvil.semantics.interpreter import Frame, Meaning

Arrays = Sequence[Array]


def _broadcast(frame: Frame, op: BroadcastOp, operands: Arrays) -> Arrays:
    return [broadcast(operands[0], numbers(op.axes), frame.shape(op.result.type))]


def broadcast(source: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """Source dim i becomes result dim axes[i], repeated where it is 1."""
    spread = [1] * len(shape)
    for axis, size in zip(axes, source.shape, strict=True):
        spread[axis] = size
    return np.broadcast_to(source.reshape(spread), shape)


def _reshape(frame: Frame, op: ReshapeOp, operands: Arrays) -> Arrays:
    return [operands[0].reshape(frame.shape(op.result.type))]


def _transpose(frame: Frame, op: TransposeOp, operands: Arrays) -> Arrays:
    return [operands[0].transpose(numbers(op.input_order))]


def _slice(frame: Frame, op: SliceOp, operands: Arrays) -> Arrays:
    window = tuple(
        slice(start, start + (size - 1) * step + 1 if size else start, step)
        for start, step, size in zip(numbers(op.starts), numbers(op.steps), frame.shape(op.result.type), strict=True)
    )
    return [_of_shape(operands[0][window], frame.shape(op.result.type))]


def _of_shape(array: Array, shape: tuple[int, ...]) -> Array:
    if array.shape != shape:
        raise IndexError(f"reads beyond the input: got {array.shape}, expected {shape}")
    return array


def _concat(frame: Frame, op: ConcatOp, operands: Arrays) -> Arrays:
    return [np.concatenate(operands, axis=op.axis.value.data)]


def _pad(frame: Frame, op: PadOp, operands: Arrays) -> Arrays:
    return [pad(operands[0], operands[1], numbers(op.low), numbers(op.high))]


def pad(source: Array, fill: Array, low: Sequence[int], high: Sequence[int]) -> Array:
    """`fill` before and after each dim; negative counts crop."""
    shape = [size + before + after for size, before, after in zip(source.shape, low, high, strict=True)]
    result = np.full(shape, fill, source.dtype)
    inside: list[slice] = []
    taken: list[slice] = []
    for size, padded, before in zip(source.shape, shape, low, strict=True):
        inside.append(slice(max(before, 0), max(min(before + size, padded), 0)))
        taken.append(slice(max(-before, 0), max(min(size, padded - before), 0)))
    result[tuple(inside)] = source[tuple(taken)]
    return result


def _gather(frame: Frame, op: GatherOp, operands: Arrays) -> Arrays:
    source, *indices = operands
    axes, shape = numbers(op.axes), frame.shape(op.result.type)
    if 0 in shape:
        # Nothing is read, so that eager does not look at the indices either.
        return [np.zeros(shape, source.dtype)]
    return [np.moveaxis(source, axes, range(len(axes)))[tuple(indices)]]


_ACCUMULATE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter(frame: Frame, op: ScatterOp, operands: Arrays) -> Arrays:
    source, updates, *indices = operands
    axes = numbers(op.axes)
    kind = op.kind.data
    result = np.array(source) if kind in ("assign", "max", "min") else np.array(accumulated(source))
    place = tuple(indices)
    moved = np.moveaxis(result, axes, range(len(axes)))
    if kind == "assign":
        moved[place] = updates
    else:
        _ACCUMULATE[kind].at(moved, place, updates)
    return [rounded(result, element_of(op.result))]


def _iota(frame: Frame, op: IotaOp, operands: Arrays) -> Arrays:
    shape = frame.shape(op.result.type)
    axis = op.axis.value.data
    positions = rounded(np.arange(shape[axis]), element_of(op.result))
    return [broadcast(positions, [axis], shape)]


def _reverse(frame: Frame, op: ReverseOp, operands: Arrays) -> Arrays:
    return [np.flip(operands[0], numbers(op.axes))]


def _pack(frame: Frame, op: PackOp, operands: Arrays) -> Arrays:
    return [pack(operands[0], numbers(op.axes), numbers(op.tiles), numbers(op.input_order))]


def pack(source: Array, axes: Sequence[int], tiles: Sequence[int], input_order: Sequence[int]) -> Array:
    """Each axis padded with zeros to a multiple of its tile and split; outer dims in `input_order`, then the tiles."""
    tile_of = dict(zip(axes, tiles, strict=True))
    missing = [-size % tile_of.get(axis, 1) for axis, size in enumerate(source.shape)]
    padded = pad(source, source.dtype.type(0), [0] * source.ndim, missing)
    split: list[int] = []
    outer_place: dict[int, int] = {}
    inner_place: dict[int, int] = {}
    for axis, size in enumerate(padded.shape):
        outer_place[axis] = len(split)
        split.append(size // tile_of.get(axis, 1))
        if axis in tile_of:
            inner_place[axis] = len(split)
            split.append(tile_of[axis])
    order = [outer_place[axis] for axis in input_order] + [inner_place[axis] for axis in axes]
    return padded.reshape(split).transpose(order)


def _unpack(frame: Frame, op: UnpackOp, operands: Arrays) -> Arrays:
    shape = frame.shape(op.result.type)
    return [unpack(operands[0], numbers(op.axes), numbers(op.tiles), numbers(op.input_order), shape)]


def unpack(
    packed: Array, axes: Sequence[int], tiles: Sequence[int], input_order: Sequence[int], shape: Sequence[int]
) -> Array:
    """The inverse of `pack` onto an array of `shape`."""
    rank = len(shape)
    order: list[int] = []
    whole: list[int] = []
    for axis in range(rank):
        outer = list(input_order).index(axis)
        order.append(outer)
        whole.append(packed.shape[outer])
        if axis in axes:
            position = list(axes).index(axis)
            order.append(rank + position)
            whole[-1] *= tiles[position]
    return packed.transpose(order).reshape(whole)[tuple(slice(size) for size in shape)]


MEANINGS: dict[str, Meaning] = {
    "cuvil_tensor.broadcast": _broadcast,
    "cuvil_tensor.reshape": _reshape,
    "cuvil_tensor.transpose": _transpose,
    "cuvil_tensor.slice": _slice,
    "cuvil_tensor.concat": _concat,
    "cuvil_tensor.pad": _pad,
    "cuvil_tensor.gather": _gather,
    "cuvil_tensor.scatter": _scatter,
    "cuvil_tensor.iota": _iota,
    "cuvil_tensor.reverse": _reverse,
    "cuvil_tensor.pack": _pack,
    "cuvil_tensor.unpack": _unpack,
}
