"""Views as values: reading a strided view out of a memory's value, and putting one back into it.

A memory's value is that of its *owner*, the tensor that it was made for. Another tensor on the memory differs in sizes,
strides and offset alone; most such views are slices of the owner under another shape with dims in another order:

    read:  owner -> reshape to radices -> slices -> transpose -> reshape (-> broadcast)
    write: the way back, with each slice replaced

and those that are not (a diagonal of a slice, windows) are gathered and scattered by a table of positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils import _python_dispatch
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import ConcatOp, GatherOp, ScatterOp, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder
from cuvil.frontends.aten_types import dim_of

Hold = Callable[[Tensor], SSAValue]
"""Gives the value of a tensor of positions."""

LARGEST_TABLE = 1 << 24
"""Elements of a memory up to which positions are looked up one by one, where strides do not tell them."""

_disabled: Any = getattr(_python_dispatch, "_disable_current_modes")  # noqa: B009  it has no public name


@dataclass(frozen=True, slots=True)
class Geometry:
    """Where the elements of a tensor are in its memory: sizes, strides and offset in elements."""

    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    offset: Any
    dtype: torch.dtype

    @staticmethod
    def of(tensor: Tensor) -> Geometry:
        """The geometry of a tensor; symbolic sizes are expressions."""
        return Geometry(
            tuple(dim_of(size) for size in tensor.shape),
            tuple(dim_of(stride) for stride in tensor.stride()),
            dim_of(tensor.storage_offset()),
            tensor.dtype,
        )

    @staticmethod
    def flat(count: int, offset: int, dtype: torch.dtype) -> Geometry:
        """`count` elements one after the other."""
        return Geometry((count,), (1,), offset, dtype)

    @property
    def is_known(self) -> bool:
        """Whether there are numbers only."""
        return all(isinstance(number, int) for number in (*self.shape, *self.strides, self.offset))

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def end(self) -> int:
        """One past the last element's position in the memory."""
        if not self.count:
            return self.offset
        return self.offset + 1 + sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))

    def is_same(self, other: Geometry) -> bool:
        """Whether both name the same elements in the same order."""
        if self.shape != other.shape or self.dtype != other.dtype:
            return False
        if self.is_known and not self.count:
            return True
        steps = zip(self.shape, self.strides, other.strides, strict=True)
        return self.offset == other.offset and all(size == 1 or one == two for size, one, two in steps)


@dataclass(frozen=True)
class Regular:
    """A view as slices: of each radix `counts[k]` places from `starts[k]` on in `steps[k]`; result dims in `order`."""

    owner_order: tuple[int, ...]
    radices: tuple[int, ...]
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]
    order: tuple[int, ...]


def read_view(b: GraphBuilder, owner: Geometry, value: SSAValue, view: Geometry, hold: Hold) -> SSAValue:
    """The elements of a view, where `value` are those of its memory's owner."""
    if owner.is_same(view):
        return value
    compact = _without_repeats(view)
    found = _relation(owner, compact)
    if isinstance(found, Regular):
        part = b.reshape(b.transpose(value, found.owner_order), found.radices)
        for axis in range(len(found.radices)):
            part = b.slice(part, axis, found.starts[axis], found.counts[axis], found.steps[axis])
        part = b.transpose(part, found.order)
    else:
        part = b.value(GatherOp(b.reshape(value, (owner.count,)), [hold(found)], [0]))
    return b.broadcast(b.reshape(part, compact.shape), view.shape)


def write_view(
    b: GraphBuilder, owner: Geometry, value: SSAValue, view: Geometry, new: SSAValue, hold: Hold
) -> SSAValue:
    """The value of a memory's owner with the elements of a view replaced."""
    if owner.is_same(view):
        return new
    if view.is_known and not view.count:
        return value
    if _without_repeats(view).shape != view.shape:
        raise UnsupportedError("a tensor is changed whose elements share memory; work on a clone()")
    found = _relation(owner, view)
    if isinstance(found, Regular):
        ordered = [found.counts[axis] for axis in found.order]
        part = b.transpose(b.reshape(new, ordered), _inverse(found.order))
        whole = b.reshape(b.transpose(value, found.owner_order), found.radices)
        changed = _placed(b, whole, part, found, 0)
        dense = [owner.shape[axis] for axis in found.owner_order]
        return b.transpose(b.reshape(changed, dense), _inverse(found.owner_order))
    flat = b.reshape(value, (owner.count,))
    places = hold(found.reshape(-1))
    changed = b.value(ScatterOp("assign", flat, b.reshape(new, (view.count,)), [places], [0]))
    return b.reshape(changed, owner.shape)


def _placed(b: GraphBuilder, whole: SSAValue, part: SSAValue, found: Regular, axis: int) -> SSAValue:
    """`whole` with the slices of the dims from `axis` on replaced by `part`."""
    while axis < len(found.radices) and found.counts[axis] == found.radices[axis]:
        axis += 1
    if axis == len(found.radices):
        return part
    start, count, step = found.starts[axis], found.counts[axis], found.steps[axis]
    size = found.radices[axis]
    inner = _placed(b, b.slice(whole, axis, start, count, step), part, found, axis + 1)
    if step != 1 and count > 1:
        place = b.apply("add", b.apply("mul", b.iota(0, [count]), step), start)
        order = [axis, *(other for other in range(len(found.radices)) if other != axis)]
        return b.value(ScatterOp("assign", whole, b.transpose(inner, order), [place], [axis]))
    after = start + count
    parts = [b.slice(whole, axis, 0, start), inner, b.slice(whole, axis, after, size - after)]
    parts = [each for each in parts if shape_of(each.type)[axis] != 0]
    return parts[0] if len(parts) == 1 else b.value(ConcatOp(parts, axis))


def _relation(owner: Geometry, view: Geometry) -> Regular | Tensor:
    """How a view lies in its owner: as slices, or the place of each element among the owner's in row-major order."""
    if owner.dtype != view.dtype:
        raise UnsupportedError(
            f"memory of {_name(owner.dtype)} is changed and seen as {_name(view.dtype)}; work on a clone()"
        )
    if not (owner.is_known and view.is_known):
        raise UnsupportedError("memory of symbolic size is changed through a view; work on a clone()")
    order = _dense_order(owner)
    if order is not None:
        found = _regular(owner.count, view.shape, view.strides, view.offset - owner.offset, order)
        if found is not None:
            return found
    places = _places(owner, view)
    if order is None and (affine := _affine(places)) is not None:
        first, strides = affine
        found = _regular(owner.count, view.shape, strides, first, tuple(range(len(owner.shape))))
        if found is not None:
            return found
    return places


def _dense_order(owner: Geometry) -> tuple[int, ...] | None:
    """The order of dims in which a tensor has each element of its memory once; None of one with gaps."""
    order = sorted(range(len(owner.shape)), key=lambda axis: (-owner.strides[axis], owner.shape[axis] == 1, axis))
    order = [axis for axis in order if owner.shape[axis] != 1] + [axis for axis in order if owner.shape[axis] == 1]
    expected = 1
    for axis in reversed(order):
        if owner.shape[axis] != 1 and owner.strides[axis] != expected:
            return None
        expected *= owner.shape[axis]
    dense = [axis for axis in order if owner.shape[axis] != 1]
    return tuple(range(len(order))) if dense == sorted(dense) else tuple(order)


def _regular(
    total: int, shape: Sequence[int], strides: Sequence[int], offset: int, owner_order: tuple[int, ...]
) -> Regular | None:
    """A view of `total` elements in a row as slices of a reshape of them, if it is that."""
    dims = sorted((step, axis) for axis, (size, step) in enumerate(zip(shape, strides, strict=True)) if size > 1)
    if not total or any(step <= 0 for step, _ in dims) or 0 in shape:
        return None
    bounds = [1]
    spans: list[tuple[int, int]] = [(1, 1)]  # count and step in each radix, innermost first; the first is of no dim
    for place, (step, axis) in enumerate(dims):
        bound = math.gcd(step, total)
        if bound % bounds[-1] or (place and bound == bounds[-1]):
            return None
        if bound == 1:
            spans.pop()
        else:
            bounds.append(bound)
        spans.append((shape[axis], step // bound))
    bounds.append(total)
    radices = [bounds[place + 1] // bounds[place] for place in range(len(spans))]
    starts = [offset // bounds[place] % radices[place] for place in range(len(spans))]
    for start, (count, step), radix in zip(starts, spans, radices, strict=True):
        if start + (count - 1) * step >= radix:
            return None
    has_inner = len(spans) == len(dims) + 1
    axes = [axis for _, axis in dims]
    outermost_first = ([None] if has_inner else []) + axes
    outermost_first.reverse()
    places = {axis: place for place, axis in enumerate(outermost_first) if axis is not None}
    order = [places[axis] for axis in sorted(places)]
    if has_inner:
        order.append(len(spans) - 1)
    return Regular(
        owner_order,
        tuple(reversed(radices)),
        tuple(reversed(starts)),
        tuple(count for count, _ in reversed(spans)),
        tuple(step if count > 1 else 1 for count, step in reversed(spans)),
        tuple(order),
    )


def _places(owner: Geometry, view: Geometry) -> Tensor:
    """The place of each element of a view among the elements of its owner."""
    end = max(owner.end, view.end)
    if end > LARGEST_TABLE:
        raise UnsupportedError("a large memory is changed through a view of another layout; work on a clone()")
    with _disabled():
        table = torch.full((end,), -1, dtype=torch.int64)
        every = torch.arange(owner.count).reshape(owner.shape)
        torch.as_strided(table, owner.shape, owner.strides, owner.offset).copy_(every)
        places = torch.as_strided(table, view.shape, view.strides, view.offset).contiguous()
        if bool((places < 0).any()):
            raise UnsupportedError("a view reaches beyond the tensor that it is of; work on a clone()")
        return places


def _affine(places: Tensor) -> tuple[int, tuple[int, ...]] | None:
    """The first place and the step of each dim, if these tell all places."""
    if not places.numel():
        return None
    with _disabled():
        first = int(places.reshape(-1)[0])
        strides = tuple(
            int(places.select(axis, 1).reshape(-1)[0]) - first if size > 1 else 0
            for axis, size in enumerate(places.shape)
        )
        told = torch.full_like(places, first)
        for axis, (size, step) in enumerate(zip(places.shape, strides, strict=True)):
            told += (torch.arange(size) * step).reshape([-1 if axis == other else 1 for other in range(places.dim())])
        return (first, strides) if bool((told == places).all()) else None


def _without_repeats(view: Geometry) -> Geometry:
    """The view with one place of each dim that repeats the same elements."""
    if not view.is_known:
        return view
    shape = tuple(1 if step == 0 and size > 1 else size for size, step in zip(view.shape, view.strides, strict=True))
    return Geometry(shape, view.strides, view.offset, view.dtype)


def _inverse(order: Sequence[int]) -> list[int]:
    return [list(order).index(axis) for axis in range(len(order))]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


__all__ = ["Geometry", "Regular", "read_view", "write_view"]
