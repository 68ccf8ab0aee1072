"""Strided views: what a chain of movement ops does to one source, as offset and strides.

`transpose`, `slice`, `broadcast`, `reverse` and many reshapes only rename where an element lies. `view_of(value)`
follows such a chain up to its root and composes it; kernels then read the root directly. A reshape that would need a
copy ends the chain: its result is a root itself. Everything is in elements; a stride of 0 repeats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from cuvil.dialects import tensor as ct


@dataclass(frozen=True)
class View:
    """Element [i0, i1, ...] is element `offset + sum(i * stride)` of the row-major `root`."""

    root: SSAValue
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def is_identity(self) -> bool:
        """Whether it reads the root's elements in the root's own order, all of them."""
        return (
            self.offset == 0
            and self.strides == contiguous_strides(self.shape)
            and static_shape(self.root) == self.shape
        )


def static_shape(value: SSAValue) -> tuple[int, ...] | None:
    """The shape of a tensor value as numbers, None where a dim is symbolic."""
    assert isinstance(value.type, TensorType)
    shape = value.type.get_shape()
    return None if any(dim < 0 for dim in shape) else shape


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides: list[int] = []
    stride = 1
    for dim in reversed(shape):
        strides.append(stride)
        stride *= dim
    return tuple(reversed(strides))


def view_of(value: SSAValue, is_root: Callable[[SSAValue], bool] | None = None) -> View | None:
    """`value` as a view of the farthest root that strides can reach; None where its shape is symbolic.

    The chain ends early at a value for which `is_root` holds.
    """
    shape = static_shape(value)
    if shape is None:
        return None
    owner = None if is_root is not None and is_root(value) else value.owner
    view: View | None = None
    match owner:
        case ct.TransposeOp():
            source = view_of(owner.input, is_root)
            view = source and _permuted(source, ct.numbers(owner.input_order))
        case ct.SliceOp():
            source = view_of(owner.input, is_root)
            view = source and _sliced(source, shape, ct.numbers(owner.starts), ct.numbers(owner.steps))
        case ct.BroadcastOp():
            source = view_of(owner.input, is_root)
            view = source and _broadcast(source, shape, ct.numbers(owner.axes))
        case ct.ReverseOp():
            source = view_of(owner.input, is_root)
            view = source and _reversed(source, ct.numbers(owner.axes))
        case ct.ReshapeOp():
            source = view_of(owner.input, is_root)
            strides = source and reshaped_strides(source.shape, source.strides, shape)
            view = View(source.root, source.offset, shape, strides) if source and strides is not None else None
        case _:
            pass
    return View(value, 0, shape, contiguous_strides(shape)) if view is None else view


def _permuted(source: View, order: Sequence[int]) -> View:
    return View(
        source.root,
        source.offset,
        tuple(source.shape[axis] for axis in order),
        tuple(source.strides[axis] for axis in order),
    )


def _sliced(source: View, shape: tuple[int, ...], starts: Sequence[int], steps: Sequence[int]) -> View:
    offset = source.offset + sum(start * stride for start, stride in zip(starts, source.strides, strict=True))
    return View(
        source.root, offset, shape, tuple(step * stride for step, stride in zip(steps, source.strides, strict=True))
    )


def _broadcast(source: View, shape: tuple[int, ...], axes: Sequence[int]) -> View:
    strides = [0] * len(shape)
    for dim, stride, axis in zip(source.shape, source.strides, axes, strict=True):
        strides[axis] = 0 if dim == 1 else stride
    return View(source.root, source.offset, shape, tuple(strides))


def _reversed(source: View, axes: Sequence[int]) -> View:
    offset = source.offset + sum(max(source.shape[axis] - 1, 0) * source.strides[axis] for axis in axes)
    strides = [-stride if axis in axes else stride for axis, stride in enumerate(source.strides)]
    return View(source.root, offset, source.shape, tuple(strides))


def reshape_groups(source: Sequence[int], result: Sequence[int]) -> list[tuple[range, range]]:
    """The finest split of both shapes into runs of dims with equal products; both must have elements."""
    groups: list[tuple[range, range]] = []
    i = j = 0
    while i < len(source) or j < len(result):
        first_i, first_j = i, j
        left = source[i] if i < len(source) else 1
        right = result[j] if j < len(result) else 1
        i, j = min(i + 1, len(source)), min(j + 1, len(result))
        while left != right:
            if left < right:
                left *= source[i]
                i += 1
            else:
                right *= result[j]
                j += 1
        groups.append((range(first_i, i), range(first_j, j)))
    return groups


def reshaped_strides(shape: Sequence[int], strides: Sequence[int], result: Sequence[int]) -> tuple[int, ...] | None:
    """The strides of the same elements under another shape, None where one stride a dim cannot say it."""
    if 0 in shape or 0 in result:
        return contiguous_strides(result)
    new: list[int] = [0] * len(result)
    for old_dims, new_dims in reshape_groups(shape, result):
        kept = [dim for dim in old_dims if shape[dim] != 1]
        for outer, inner in itertools.pairwise(kept):
            if strides[outer] != strides[inner] * shape[inner]:
                return None
        stride = strides[kept[-1]] if kept else 0
        for dim in reversed(new_dims):
            new[dim] = stride
            stride *= result[dim]
    return tuple(new)
