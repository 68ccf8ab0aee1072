"""aten ops that rearrange, repeat, cut and join: views, which are values here, slices, concatenations, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from cuvil.dialects.tensor import ConcatOp, GatherOp, PadOp, ReverseOp, element_of, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder, Number, aten, element_type, normal_axes, normal_axis
from cuvil.semantics.dims import Dim


def rank_of(value: SSAValue) -> int:
    """The number of dims of a tensor value."""
    return len(shape_of(value.type))


@aten(
    "view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "view_copy", "_reshape_alias",
    "squeeze_copy", "unsqueeze_copy", "ravel", "atleast_1d", "view_as", "reshape_as", "_reshape_copy",
)  # fmt: skip
def reshape(b: GraphBuilder, x: SSAValue, *_: Any, **__: Any) -> SSAValue:
    """The same elements in the result's shape."""
    return b.reshape(x, b.shape)


@aten("view.dtype")
def view_dtype(b: GraphBuilder, x: SSAValue, dtype: Any) -> SSAValue:
    """Only as another name of the same dtype: bits are not reinterpreted."""
    if element_of(x) != element_type(b):
        raise UnsupportedError(f"the bits of {element_of(x)} cannot be read as {dtype}")
    return x


@aten("permute", "permute_copy")
def permute(b: GraphBuilder, x: SSAValue, dims: Sequence[int]) -> SSAValue:
    """Result dim i is dim dims[i]."""
    return b.transpose(x, [normal_axis(dim, rank_of(x)) for dim in dims])


@aten("transpose", "swapaxes", "swapdims", "transpose_copy")
def transpose(b: GraphBuilder, x: SSAValue, dim0: int, dim1: int) -> SSAValue:
    """Two dims exchanged."""
    order = list(range(rank_of(x)))
    if order:
        first, second = normal_axis(dim0, len(order)), normal_axis(dim1, len(order))
        order[first], order[second] = order[second], order[first]
    return b.transpose(x, order)


@aten("t", "numpy_T", "t_copy")
def reversed_dims(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Dims in reverse order."""
    return b.transpose(x, list(reversed(range(rank_of(x)))))


@aten("mT", "adjoint", "mH")
def matrix_transpose(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """The last two dims exchanged."""
    return transpose(b, x, -2, -1)


@aten("movedim", "moveaxis")
def movedim(b: GraphBuilder, x: SSAValue, source: int | Sequence[int], destination: int | Sequence[int]) -> SSAValue:
    """Dims at `source` put to `destination`, the others in order."""
    rank = rank_of(x)
    places = dict(zip(normal_axes(destination, rank), normal_axes(source, rank), strict=True))
    rest = iter(axis for axis in range(rank) if axis not in places.values())
    return b.transpose(x, [places[axis] if axis in places else next(rest) for axis in range(rank)])


@aten("expand", "expand_as", "broadcast_to", "expand_copy")
def expand(b: GraphBuilder, x: SSAValue, *_: Any, **__: Any) -> SSAValue:
    """Repeated to the result's shape, aligned at the last dim."""
    return b.broadcast(x, b.shape)


@aten("slice", "slice_copy")
def slice_(
    b: GraphBuilder, x: SSAValue, dim: int = 0, start: Dim | None = None, end: Dim | None = None, step: int = 1
) -> SSAValue:
    """Elements from `start` on in steps; the result's shape says how many."""
    axis = normal_axis(dim, rank_of(x))
    return b.slice(x, axis, clamped_start(start, shape_of(x.type)[axis]), b.shape[axis], step)


def clamped_start(start: Dim | None, size: Dim) -> Dim:
    """The first element of a slice; negative ones count from the end.

    Of a symbolic size or start it is taken that the start is inside: torch.export has made sure of that.
    """
    first = 0 if start is None else start
    if not isinstance(first, int):
        # A start such as `s0 - 5` is counted from the front already; one such as `-s0` is not.
        return first + size if all(factor < 0 for _, factor in first.terms) else first
    if not isinstance(size, int):
        return first + size if first < 0 else first
    return min(max(0, first + size) if first < 0 else first, size)


@aten("narrow", "narrow_copy")
def narrow(b: GraphBuilder, x: SSAValue, dim: int, start: Dim, length: Dim) -> SSAValue:
    """`length` elements from `start` on."""
    axis = normal_axis(dim, rank_of(x))
    return b.slice(x, axis, clamped_start(start, shape_of(x.type)[axis]), length)


@aten("select", "select_copy")
def select(b: GraphBuilder, x: SSAValue, dim: int, index: Dim | SSAValue) -> SSAValue:
    """One place of a dim, which goes; it may be one that the running program knows."""
    axis = normal_axis(dim, rank_of(x))
    if isinstance(index, SSAValue):
        return b.value(GatherOp(x, [index], [axis]))
    return b.reshape(b.slice(x, axis, clamped_start(index, shape_of(x.type)[axis]), 1), b.shape)


@aten(
    "split", "split_with_sizes", "chunk", "unsafe_chunk", "unsafe_split", "tensor_split", "split_with_sizes_copy",
    "split_copy", "unsafe_split_with_sizes",
)  # fmt: skip
def split(b: GraphBuilder, x: SSAValue, sizes: Any, dim: int = 0) -> tuple[SSAValue, ...]:
    """Parts one after the other along a dim; the results' shapes say how long."""
    axis = normal_axis(dim, rank_of(x))
    parts: list[SSAValue] = []
    start: Dim = 0
    for shape in b.result_shapes:
        parts.append(b.slice(x, axis, start, shape[axis]))
        start = start + shape[axis]
    return tuple(parts)


@aten("unbind", "unbind_copy")
def unbind(b: GraphBuilder, x: SSAValue, dim: int = 0) -> tuple[SSAValue, ...]:
    """Every place of a dim, which goes."""
    axis = normal_axis(dim, rank_of(x))
    return tuple(b.reshape(b.slice(x, axis, place, 1), shape) for place, shape in enumerate(b.result_shapes))


@aten("cat", "concat", "concatenate")
def cat(b: GraphBuilder, tensors: Sequence[SSAValue], dim: int = 0) -> SSAValue:
    """Tensors one after the other; PyTorch skips those of shape [0]."""
    kept = [tensor for tensor in tensors if shape_of(tensor.type) != (0,)] or list(tensors[:1])
    values = [b.cast(tensor, element_type(b)) for tensor in kept]
    return values[0] if len(values) == 1 else b.value(ConcatOp(values, normal_axis(dim, rank_of(values[0]))))


@aten("stack")
def stack(b: GraphBuilder, tensors: Sequence[SSAValue], dim: int = 0) -> SSAValue:
    """Tensors one after the other along a new dim."""
    axis = normal_axis(dim, len(b.shape))
    shape = [1 if place == axis else size for place, size in enumerate(b.shape)]
    return b.value(ConcatOp([b.reshape(b.cast(tensor, element_type(b)), shape) for tensor in tensors], axis))


@aten("flip")
def flip(b: GraphBuilder, x: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The order turned round along dims."""
    axes = sorted({normal_axis(dim, rank_of(x)) for dim in dims}) if rank_of(x) else []
    return b.value(ReverseOp(x, axes)) if axes else x


@aten("roll")
def roll(b: GraphBuilder, x: SSAValue, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> SSAValue:
    """Elements moved on, those pushed out come in at the front."""
    shape = shape_of(x.type)
    shift_list = [shifts] if isinstance(shifts, int) else list(shifts)
    if not dims and dims != 0:
        flat = b.reshape(x, [_elements(shape)])
        return b.reshape(_rolled(b, flat, shift_list[0], 0), shape)
    for shift, axis in zip(shift_list, normal_axes(dims, len(shape)), strict=True):
        x = _rolled(b, x, shift, axis)
    return x


def _elements(shape: Sequence[Dim]) -> Dim:
    total: Dim = 1
    for size in shape:
        total = total * size
    return total


def _rolled(b: GraphBuilder, x: SSAValue, shift: int, axis: int) -> SSAValue:
    size = shape_of(x.type)[axis]
    if not isinstance(size, int):
        places = b.apply("rem", b.apply("sub", b.iota(0, [size]), shift), size)
        picked = b.value(GatherOp(x, [places], [axis]))
        return b.transpose(picked, [*range(1, axis + 1), 0, *range(axis + 1, rank_of(x))])
    shift = shift % size if size else 0
    if shift == 0:
        return x
    return b.value(ConcatOp([b.slice(x, axis, size - shift, shift), b.slice(x, axis, 0, size - shift)], axis))


@aten("repeat", "tile")
def repeat(b: GraphBuilder, x: SSAValue, repeats: Sequence[Dim]) -> SSAValue:
    """The whole tensor repeated along each dim."""
    rank = len(b.shape)
    source = [1] * (rank - rank_of(x)) + list(shape_of(x.type))
    counts = [1] * (rank - len(repeats)) + list(repeats)
    spread = [size for pair in zip(counts, source, strict=True) for size in pair]
    return b.reshape(b.broadcast(b.reshape(x, source), spread, list(range(1, 2 * rank, 2))), b.shape)


@aten("repeat_interleave.self_int")
def repeat_interleave(
    b: GraphBuilder, x: SSAValue, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> SSAValue:
    """Each element of a dim repeated in place."""
    source = [_elements(shape_of(x.type))] if dim is None else list(shape_of(x.type))
    axis = 0 if dim is None else normal_axis(dim, len(source))
    spread = [*source[: axis + 1], repeats, *source[axis + 1 :]]
    axes = [*range(axis + 1), *range(axis + 2, len(spread))]
    return b.reshape(b.broadcast(b.reshape(x, source), spread, axes), b.shape)


@aten("constant_pad_nd")
def constant_pad(b: GraphBuilder, x: SSAValue, padding: Sequence[int], value: Number = 0) -> SSAValue:
    """Padding is given in pairs from the last dim on; negative counts crop."""
    low, high = [0] * rank_of(x), [0] * rank_of(x)
    for pair in range(len(padding) // 2):
        low[-1 - pair], high[-1 - pair] = padding[2 * pair], padding[2 * pair + 1]
    return x if not any(low) and not any(high) else b.value(PadOp(x, b.constant(value, element_of(x)), low, high))


@aten("pad")
def pad(
    b: GraphBuilder, x: SSAValue, padding: Sequence[int], mode: str = "constant", value: Number | None = None
) -> SSAValue:
    """Constant padding; other modes are left to PyTorch's decomposition."""
    if mode != "constant":
        return NotImplemented
    return constant_pad(b, x, padding, 0 if value is None else value)
