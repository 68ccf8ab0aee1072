"""Strided views: what a chain of movement ops does to one source, as offset and strides.

`transpose`, `slice`, `broadcast`, `reverse` and many reshapes only rename where an element lies. `view_of(value)`
follows such a chain up to its root and composes it; kernels then read the root directly. A reshape that would need a
copy ends the chain: its result is a root itself. Everything is in elements; a stride of 0 repeats. Extents, offsets
and strides are dims, so that views of symbolic shapes are views like others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, exact_quotient


@dataclass(frozen=True)
class View:
    """Element [i0, i1, ...] is element `offset + sum(i * stride)` of the row-major `root`."""

    root: SSAValue
    offset: Dim
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]

    @property
    def is_identity(self) -> bool:
        """Whether it reads the root's elements in the root's own order, all of them."""
        return self.offset == 0 and self.strides == contiguous_strides(self.shape) and dims_of(self.root) == self.shape


def dims_of(value: SSAValue) -> tuple[Dim, ...]:
    """The shape of a tensor value, as numbers and expressions."""
    return ct.shape_of(value.type)


def static_shape(value: SSAValue) -> tuple[int, ...] | None:
    """The shape of a tensor value as numbers, None where a dim is symbolic."""
    assert isinstance(value.type, TensorType)
    shape = value.type.get_shape()
    return None if any(dim < 0 for dim in shape) else shape


def contiguous_strides(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """Row-major strides in elements."""
    strides: list[Dim] = []
    stride: Dim = 1
    for dim in reversed(shape):
        strides.append(stride)
        stride *= dim
    return tuple(reversed(strides))


def view_of(value: SSAValue, is_root: Callable[[SSAValue], bool] | None = None) -> View:
    """`value` as a view of the farthest root that strides can reach.

    The chain ends early at a value for which `is_root` holds.
    """
    shape = dims_of(value)
    owner = None if is_root is not None and is_root(value) else value.owner
    match owner:
        case ct.TransposeOp():
            return _permuted(view_of(owner.input, is_root), ct.numbers(owner.input_order))
        case ct.SliceOp():
            return _sliced(view_of(owner.input, is_root), shape, ct.numbers(owner.starts), ct.numbers(owner.steps))
        case ct.BroadcastOp():
            return _broadcast(view_of(owner.input, is_root), shape, ct.numbers(owner.axes))
        case ct.ReverseOp():
            return _reversed(view_of(owner.input, is_root), ct.numbers(owner.axes))
        case ct.ReshapeOp():
            source = view_of(owner.input, is_root)
            strides = reshaped_strides(source.shape, source.strides, shape)
            if strides is not None:
                return View(source.root, source.offset, shape, strides)
        case _:
            pass
    return View(value, 0, shape, contiguous_strides(shape))


def _permuted(source: View, order: Sequence[int]) -> View:
    return View(
        source.root,
        source.offset,
        tuple(source.shape[axis] for axis in order),
        tuple(source.strides[axis] for axis in order),
    )


def _sliced(source: View, shape: tuple[Dim, ...], starts: Sequence[int], steps: Sequence[int]) -> View:
    offset = source.offset
    for start, stride in zip(starts, source.strides, strict=True):
        offset = offset + start * stride
    return View(
        source.root, offset, shape, tuple(step * stride for step, stride in zip(steps, source.strides, strict=True))
    )


def _broadcast(source: View, shape: tuple[Dim, ...], axes: Sequence[int]) -> View:
    strides: list[Dim] = [0] * len(shape)
    for dim, stride, axis in zip(source.shape, source.strides, axes, strict=True):
        strides[axis] = 0 if dim == 1 else stride
    return View(source.root, source.offset, shape, tuple(strides))


def _reversed(source: View, axes: Sequence[int]) -> View:
    offset = source.offset
    for axis in axes:
        extent = source.shape[axis]
        # A symbolic extent of 0 gives an offset that nothing reads at.
        last = max(extent - 1, 0) if isinstance(extent, int) else extent - 1
        offset = offset + last * source.strides[axis]
    strides = [-stride if axis in axes else stride for axis, stride in enumerate(source.strides)]
    return View(source.root, offset, source.shape, tuple(strides))


def reshape_groups(source: Sequence[Dim], result: Sequence[Dim]) -> list[tuple[range, range]]:
    """A split of both shapes into runs of dims with equal products, the finest for numbers; both must have elements."""
    groups: list[tuple[range, range]] = []
    i = j = 0
    while i < len(source) or j < len(result):
        first_i, first_j = i, j
        left: Dim = source[i] if i < len(source) else 1
        right: Dim = result[j] if j < len(result) else 1
        i, j = min(i + 1, len(source)), min(j + 1, len(result))
        while left != right:
            from_left, from_right = _lags(left, right, i < len(source), j < len(result))
            if from_left:
                left = left * source[i]
                i += 1
            if from_right:
                right = right * result[j]
                j += 1
        groups.append((range(first_i, i), range(first_j, j)))
    return groups


def _lags(left: Dim, right: Dim, has_left: bool, has_right: bool) -> tuple[bool, bool]:
    """Which of two products of dims that differ must take in more dims to become equal: the smaller, or a divisor.

    Both where neither can be told; the products of all dims are equal, so that this ends.
    """
    if isinstance(left, int) and isinstance(right, int):
        return left < right, left > right
    if not has_left or not has_right:
        return has_left, has_right
    if exact_quotient(right, left) is not None:
        return True, False
    if exact_quotient(left, right) is not None:
        return False, True
    return True, True


def reshaped_strides(shape: Sequence[Dim], strides: Sequence[Dim], result: Sequence[Dim]) -> tuple[Dim, ...] | None:
    """The strides of the same elements under another shape, None where one stride a dim cannot say it."""
    if 0 in shape or 0 in result:
        return contiguous_strides(result)
    new: list[Dim] = [0] * len(result)
    for old_dims, new_dims in reshape_groups(shape, result):
        kept = [dim for dim in old_dims if shape[dim] != 1]
        for outer, inner in itertools.pairwise(kept):
            if strides[outer] != strides[inner] * shape[inner]:
                return None
        stride: Dim = strides[kept[-1]] if kept else 0
        for dim in reversed(new_dims):
            new[dim] = stride
            stride = stride * result[dim]
    return tuple(new)
