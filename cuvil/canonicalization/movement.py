"""Laws of movement ops and casts: identities, compositions, movement of constants, and one form where two would do.

The preferred forms are `reshape` for what only adds or drops dims of 1, and `broadcast` straight from the value that
has the elements, so that a kernel reads through as few ops as can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, IntegerType, Signedness
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.canonicalization.rules import Rule, repeated, shape
from cuvil.dialects import tensor as ct
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.dims import Dim
from cuvil.semantics.splats import LARGEST_SPLAT, repeated_element

# -- what stays as it is -----------------------------------------------------------------------------------------------


def keeps_type(op: ct.ReshapeOp | ct.BroadcastOp | ct.CastOp, b: CoreBuilder) -> SSAValue | None:
    """reshape, broadcast or cast x to its own type => x"""
    return op.input


def transpose_in_order(op: ct.TransposeOp, b: CoreBuilder) -> SSAValue | None:
    """transpose x by 0, 1, 2... => x"""
    order = ct.numbers(op.input_order)
    return op.input if order == tuple(range(len(order))) else None


def slice_of_everything(op: ct.SliceOp, b: CoreBuilder) -> SSAValue | None:
    """slice x from 0 to the end => x"""
    whole = shape(op.input) == shape(op.result)
    return op.input if whole and not any(ct.numbers(op.starts)) and set(ct.numbers(op.steps)) <= {1} else None


def pad_by_nothing(op: ct.PadOp, b: CoreBuilder) -> SSAValue | None:
    """pad x by 0 => x"""
    return None if any((*ct.numbers(op.low), *ct.numbers(op.high))) else op.input


def reverse_unit_dims(op: ct.ReverseOp, b: CoreBuilder) -> SSAValue | None:
    """reverse x along dims of 1 too => reverse x along the others; x if there are none"""
    axes = [axis for axis in ct.numbers(op.axes) if shape(op.input)[axis] != 1]
    if not axes:
        return op.input
    return None if len(axes) == len(ct.numbers(op.axes)) else b.add(ct.ReverseOp(op.input, axes))


def concat_of_one(op: ct.ConcatOp, b: CoreBuilder) -> SSAValue | None:
    """concat x, empty => x, without the operands that have no elements along the axis"""
    axis = op.axis.value.data
    kept = [value for value in op.inputs if shape(value)[axis] != 0] or [op.inputs[0]]
    if len(kept) == len(op.inputs) and len(kept) > 1:
        return None
    return kept[0] if len(kept) == 1 else b.add(ct.ConcatOp(kept, axis))


# -- compositions ------------------------------------------------------------------------------------------------------


def reshape_of_reshape(op: ct.ReshapeOp, b: CoreBuilder) -> SSAValue | None:
    """reshape (reshape x) => reshape x"""
    inner = op.input.owner
    return b.reshape(inner.input, shape(op.result)) if isinstance(inner, ct.ReshapeOp) else None


def transpose_of_transpose(op: ct.TransposeOp, b: CoreBuilder) -> SSAValue | None:
    """transpose (transpose x by p) by q => transpose x by p[q]"""
    inner = op.input.owner
    if not isinstance(inner, ct.TransposeOp):
        return None
    first = ct.numbers(inner.input_order)
    return b.add(ct.TransposeOp(inner.input, [first[axis] for axis in ct.numbers(op.input_order)]))


def broadcast_of_broadcast(op: ct.BroadcastOp, b: CoreBuilder) -> SSAValue | None:
    """broadcast (broadcast x along p) along q => broadcast x along q[p]"""
    inner = op.input.owner
    if not isinstance(inner, ct.BroadcastOp):
        return None
    outer = ct.numbers(op.axes)
    return b.add(ct.BroadcastOp(inner.input, [outer[axis] for axis in ct.numbers(inner.axes)], shape(op.result)))


def slice_of_slice(op: ct.SliceOp, b: CoreBuilder) -> SSAValue | None:
    """slice (slice x from s by t) from u by v => slice x from s + t * u by t * v"""
    inner = op.input.owner
    if not isinstance(inner, ct.SliceOp):
        return None
    places = zip(
        ct.numbers(inner.starts), ct.numbers(inner.steps), ct.numbers(op.starts), ct.numbers(op.steps), strict=True
    )
    combined = [(start + step * later, step * stride) for start, step, later, stride in places]
    starts, steps = [start for start, _ in combined], [step for _, step in combined]
    return b.add(ct.SliceOp(inner.input, starts, shape(op.result), steps))


def reverse_of_reverse(op: ct.ReverseOp, b: CoreBuilder) -> SSAValue | None:
    """reverse (reverse x along p) along q => reverse x along what is in one of them only"""
    inner = op.input.owner
    if not isinstance(inner, ct.ReverseOp):
        return None
    axes = sorted(set(ct.numbers(op.axes)) ^ set(ct.numbers(inner.axes)))
    return b.add(ct.ReverseOp(inner.input, axes)) if axes else inner.input


def pad_of_pad(op: ct.PadOp, b: CoreBuilder) -> SSAValue | None:
    """pad (pad x by p with v) by q with v => pad x by p + q with v, where both add"""
    inner = op.input.owner
    if not isinstance(inner, ct.PadOp) or not _is_same_fill(op.fill, inner.fill):
        return None
    counts = [ct.numbers(each) for each in (op.low, op.high, inner.low, inner.high)]
    if any(count < 0 for each in counts for count in each):
        return None
    low = [first + second for first, second in zip(counts[0], counts[2], strict=True)]
    high = [first + second for first, second in zip(counts[1], counts[3], strict=True)]
    return b.add(ct.PadOp(inner.input, op.fill, low, high))


def _is_same_fill(first: SSAValue, second: SSAValue) -> bool:
    if first is second:
        return True
    one, other = first.owner, second.owner
    return isinstance(one, ct.ConstantOp) and isinstance(other, ct.ConstantOp) and one.value == other.value


def concat_of_concat(op: ct.ConcatOp, b: CoreBuilder) -> SSAValue | None:
    """concat (concat x, y), z => concat x, y, z, where the inner one has no other use"""
    axis = op.axis.value.data
    flat: list[SSAValue] = []
    for value in op.inputs:
        inner = value.owner
        if isinstance(inner, ct.ConcatOp) and inner.axis.value.data == axis and value.has_one_use():
            flat += inner.inputs
        else:
            flat.append(value)
    return b.add(ct.ConcatOp(flat, axis)) if len(flat) > len(op.inputs) else None


def slice_of_concat(op: ct.SliceOp, b: CoreBuilder) -> SSAValue | None:
    """slice (concat x, y) within y => slice y"""
    inner = op.input.owner
    if not isinstance(inner, ct.ConcatOp):
        return None
    axis, starts, steps = inner.axis.value.data, list(ct.numbers(op.starts)), ct.numbers(op.steps)
    size = shape(op.result)[axis]
    if not isinstance(size, int) or size == 0:
        return None
    low, end = 0, starts[axis] + (size - 1) * steps[axis] + 1
    for value in inner.inputs:
        extent = shape(value)[axis]
        if not isinstance(extent, int):
            return None
        if low <= starts[axis] and end <= low + extent:
            starts[axis] -= low
            return b.add(ct.SliceOp(value, starts, shape(op.result), steps))
        low += extent
    return None


def concat_of_slices(op: ct.ConcatOp, b: CoreBuilder) -> SSAValue | None:
    """concat (slice x from 0 to k), (slice x from k to n) => slice x from 0 to n"""
    axis = op.axis.value.data
    parts = [value.owner for value in op.inputs]
    first = parts[0]
    if len(parts) < 2 or not isinstance(first, ct.SliceOp) or ct.numbers(first.steps)[axis] != 1:
        return None
    starts = list(ct.numbers(first.starts))
    end = starts[axis]
    for part in parts:
        if not isinstance(part, ct.SliceOp) or part.input is not first.input or part.steps != first.steps:
            return None
        extent = shape(part.result)[axis]
        if list(ct.numbers(part.starts)) != [*starts[:axis], end, *starts[axis + 1 :]] or not isinstance(extent, int):
            return None
        end += extent
    return b.add(ct.SliceOp(first.input, starts, shape(op.result), ct.numbers(first.steps)))


# -- casts -------------------------------------------------------------------------------------------------------------


def cast_of_exact_cast(op: ct.CastOp, b: CoreBuilder) -> SSAValue | None:
    """cast (cast x to a type that holds all of its values) => cast x; x itself if that is its type"""
    inner = op.input.owner
    if not isinstance(inner, ct.CastOp) or not holds_all(ct.element_of(inner.input), ct.element_of(inner.result)):
        return None
    source, result = ct.element_of(inner.input), ct.element_of(op.result)
    if isinstance(ct.element_of(inner.result), AnyFloat) and isinstance(source, IntegerType):
        # Integers wrap into narrower ones, floats out of range give anything: not the same.
        if isinstance(result, IntegerType) and result.width.data != 1 and not holds_all(source, result):
            return None
    return b.cast(inner.input, result)


def holds_all(narrow: Attribute, wide: Attribute) -> bool:
    """Whether every value of element type `narrow` is one of `wide`."""
    if narrow == wide:
        return True
    if isinstance(narrow, IntegerType) and isinstance(wide, IntegerType):
        gains = wide.width.data - narrow.width.data
        if narrow.width.data == 1 or _is_unsigned(narrow):
            return gains > 0
        return gains >= 0 and not _is_unsigned(wide) and wide.width.data != 1
    if isinstance(narrow, IntegerType) and isinstance(wide, AnyFloat):
        bits = narrow.width.data - (0 if _is_unsigned(narrow) or narrow.width.data == 1 else 1)
        return bits <= _significand_bits(wide)
    if isinstance(narrow, AnyFloat) and isinstance(wide, AnyFloat):
        return wide.bitwidth > narrow.bitwidth
    return False


def _is_unsigned(element: IntegerType) -> bool:
    return element.signedness.data == Signedness.UNSIGNED


def _significand_bits(element: AnyFloat) -> int:
    if isinstance(element, BFloat16Type):
        return 8
    return 11 if isinstance(element, Float16Type) else {32: 24, 64: 53}.get(element.bitwidth, 0)


# -- constants ---------------------------------------------------------------------------------------------------------


def moved_splat(
    op: ct.BroadcastOp | ct.ReshapeOp | ct.TransposeOp | ct.SliceOp | ct.ReverseOp, b: CoreBuilder
) -> SSAValue | None:
    """broadcast, reshape, transpose, slice or reverse of a splat constant => the constant of that shape"""
    element = repeated_element(op.input)
    if element is None:
        return None
    if isinstance(op, ct.BroadcastOp) and not shape(op.input) and not _is_small(op.result):
        return None
    return repeated(element, op.result, b)


def _is_small(value: SSAValue) -> bool:
    dims = [dim for dim in shape(value) if isinstance(dim, int)]
    return len(dims) == len(shape(value)) and prod(dims) <= LARGEST_SPLAT


def padded_splat(op: ct.PadOp, b: CoreBuilder) -> SSAValue | None:
    """pad of a splat constant by the same number => the constant of that shape"""
    element = repeated_element(op.input)
    return None if element is None or repeated_element(op.fill) != element else repeated(element, op.result, b)


# -- one form ----------------------------------------------------------------------------------------------------------


def transpose_of_unit_dims(op: ct.TransposeOp, b: CoreBuilder) -> SSAValue | None:
    """transpose x that leaves the order of dims other than 1 => reshape x"""
    wide = [axis for axis in ct.numbers(op.input_order) if shape(op.input)[axis] != 1]
    return b.reshape(op.input, shape(op.result)) if wide == sorted(wide) else None


def broadcast_of_unit_dims(op: ct.BroadcastOp, b: CoreBuilder) -> SSAValue | None:
    """broadcast x that only adds dims of 1 => reshape x"""
    wide = [[dim for dim in shape(value) if dim != 1] for value in (op.input, op.result)]
    return b.reshape(op.input, shape(op.result)) if wide[0] == wide[1] else None


def broadcast_of_reshape(op: ct.BroadcastOp, b: CoreBuilder) -> SSAValue | None:
    """broadcast (reshape x that adds or drops dims of 1) => broadcast x"""
    inner = op.input.owner
    if not isinstance(inner, ct.ReshapeOp):
        return None
    places = _places_of_wide_dims(shape(inner.input), shape(inner.result))
    if places is None:
        return None
    outer = ct.numbers(op.axes)
    axes = _filled([None if place is None else outer[place] for place in places], len(shape(op.result)))
    return None if axes is None else b.add(ct.BroadcastOp(inner.input, axes, shape(op.result)))


def _places_of_wide_dims(source: Sequence[Dim], result: Sequence[Dim]) -> list[int | None] | None:
    """Where each dim of `source` lies in `result`, None for one of 1; None in all if more than dims of 1 differ."""
    wide = [place for place, dim in enumerate(result) if dim != 1]
    if [dim for dim in source if dim != 1] != [result[place] for place in wide]:
        return None
    rest = iter(wide)
    return [None if dim == 1 else next(rest) for dim in source]


def _filled(axes: Sequence[int | None], rank: int) -> list[int] | None:
    """Increasing axes with the missing ones put in between; None if there is no room."""
    filled: list[int] = []
    for place, axis in enumerate(axes):
        least = filled[-1] + 1 if filled else 0
        chosen = least if axis is None else axis
        following = next((later for later in axes[place + 1 :] if later is not None), rank)
        if chosen < least or chosen >= following:
            return None
        filled.append(chosen)
    return filled


def transpose_of_broadcast(op: ct.TransposeOp, b: CoreBuilder) -> SSAValue | None:
    """transpose (broadcast x) => broadcast x along the moved axes, where they still increase"""
    inner = op.input.owner
    if not isinstance(inner, ct.BroadcastOp):
        return None
    order = ct.numbers(op.input_order)
    axes = [order.index(axis) for axis in ct.numbers(inner.axes)]
    return b.add(ct.BroadcastOp(inner.input, axes, shape(op.result))) if axes == sorted(axes) else None


def slice_of_broadcast(op: ct.SliceOp, b: CoreBuilder) -> SSAValue | None:
    """slice (broadcast x) along repeated dims => broadcast x to less"""
    inner = op.input.owner
    if not isinstance(inner, ct.BroadcastOp):
        return None
    own = {axis for axis, dim in zip(ct.numbers(inner.axes), shape(inner.input), strict=True) if dim != 1}
    if any(shape(op.result)[axis] != shape(op.input)[axis] for axis in own):
        return None
    return b.add(ct.BroadcastOp(inner.input, ct.numbers(inner.axes), shape(op.result)))


def pad_that_crops(op: ct.PadOp, b: CoreBuilder) -> SSAValue | None:
    """pad x by negative counts alone => slice x"""
    low, high = ct.numbers(op.low), ct.numbers(op.high)
    if any(count > 0 for count in (*low, *high)):
        return None
    return b.add(ct.SliceOp(op.input, [-count for count in low], shape(op.result)))


def reduce_of_unit_dims(op: ct.ReduceOp, b: CoreBuilder) -> SSAValue | None:
    """reduce x along dims of 1 alone => reshape x"""
    if any(shape(op.input)[axis] != 1 for axis in ct.numbers(op.axes)):
        return None
    return b.reshape(op.input, shape(op.result))


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    ct.ReshapeOp: (keeps_type, reshape_of_reshape, moved_splat),
    ct.BroadcastOp: (keeps_type, broadcast_of_broadcast, moved_splat, broadcast_of_unit_dims, broadcast_of_reshape),
    ct.TransposeOp: (
        transpose_in_order,
        transpose_of_transpose,
        moved_splat,
        transpose_of_unit_dims,
        transpose_of_broadcast,
    ),
    ct.SliceOp: (slice_of_everything, slice_of_slice, moved_splat, slice_of_concat, slice_of_broadcast),
    ct.ConcatOp: (concat_of_one, concat_of_concat, concat_of_slices),
    ct.PadOp: (pad_by_nothing, pad_of_pad, padded_splat, pad_that_crops),
    ct.ReverseOp: (reverse_unit_dims, reverse_of_reverse, moved_splat),
    ct.CastOp: (keeps_type, cast_of_exact_cast),
    ct.ReduceOp: (reduce_of_unit_dims,),
}
"""The laws of each op, in the order in which they are tried."""
