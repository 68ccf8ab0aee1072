"""The shape rules of the core ops: pure functions from operand shapes and attributes to the result's shape.

They work on dims (numbers or symbolic expressions, see `dims.py`) and know no IR. A rule raises `ShapeError` with a
message that starts in lower case and names what differs; the dialect puts the op's name before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuvil.semantics.dims import Dim, product

Shape = tuple[Dim, ...]


class ShapeError(ValueError):
    """The operands' shapes or the attributes do not fit together."""


def format_dims(shape: Sequence[Dim]) -> str:
    """`2x3xs0`, as messages spell a shape; `scalar` for rank 0."""
    return "x".join(str(dim) for dim in shape) if shape else "scalar"


def check_axes(axes: Sequence[int], rank: int, what: str = "axes") -> None:
    """Axes must be distinct and within [0, rank)."""
    for axis in axes:
        if not 0 <= axis < rank:
            raise ShapeError(f"{what}: axis {axis} is outside [0, {rank})")
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{what}: an axis is named twice in {list(axes)}")


def _check_count(values: Sequence[int], count: int, what: str) -> None:
    if len(values) != count:
        raise ShapeError(f"{what} has {len(values)} entries, expected {count}")


def broadcast(source: Shape, axes: Sequence[int], result: Shape) -> None:
    """Source dim i becomes result dim axes[i]; it is equal there, or 1 and repeated."""
    _check_count(axes, len(source), "axes")
    check_axes(axes, len(result))
    if list(axes) != sorted(axes):
        raise ShapeError(f"axes must increase, got {list(axes)}; transpose first")
    for number, (dim, axis) in enumerate(zip(source, axes, strict=True)):
        if dim != 1 and dim != result[axis]:
            raise ShapeError(f"source dim {number} is {dim}, result dim {axis} is {result[axis]}")


def reshape(source: Shape, result: Shape) -> None:
    """The number of elements stays."""
    if product(source) != product(result):
        raise ShapeError(
            f"{format_dims(source)} has {product(source)} elements, {format_dims(result)} has {product(result)}"
        )


def transpose(source: Shape, input_order: Sequence[int]) -> Shape:
    """Result dim i is source dim input_order[i]."""
    _check_count(input_order, len(source), "input_order")
    check_axes(input_order, len(source), "input_order")
    return tuple(source[axis] for axis in input_order)


def slice_(source: Shape, starts: Sequence[int], steps: Sequence[int], result: Shape) -> None:
    """Result element i of a dim is source element starts + i * steps."""
    for what, values in (("starts", starts), ("steps", steps), ("the result shape", result)):
        _check_count(values, len(source), what)  # pyright: ignore[reportArgumentType]
    for axis, (dim, start, step, size) in enumerate(zip(source, starts, steps, result, strict=True)):
        if start < 0 or step < 1:
            raise ShapeError(f"dim {axis} starts at {start} with step {step}; starts are >= 0, steps >= 1")
        if isinstance(dim, int) and isinstance(size, int) and size > 0 and start + (size - 1) * step >= dim:
            raise ShapeError(f"dim {axis} reads element {start + (size - 1) * step} of {dim}")


def concat(sources: Sequence[Shape], axis: int) -> Shape:
    """The dims other than `axis` agree; those along it add up."""
    first = sources[0]
    check_axes([axis], len(first), "axis")
    for number, shape in enumerate(sources):
        if len(shape) != len(first):
            raise ShapeError(f"operand {number} has rank {len(shape)}, operand 0 has rank {len(first)}")
        for dim in range(len(first)):
            if dim != axis and shape[dim] != first[dim]:
                raise ShapeError(f"operand {number} has dim {dim} = {shape[dim]}, operand 0 has {first[dim]}")
    total: Dim = 0
    for shape in sources:
        total = total + shape[axis]
    return (*first[:axis], total, *first[axis + 1 :])


def pad(source: Shape, low: Sequence[int], high: Sequence[int]) -> Shape:
    """low elements before and high elements after each dim; negative ones crop."""
    _check_count(low, len(source), "low")
    _check_count(high, len(source), "high")
    result = tuple(dim + before + after for dim, before, after in zip(source, low, high, strict=True))
    for axis, dim in enumerate(result):
        if isinstance(dim, int) and dim < 0:
            raise ShapeError(f"dim {axis} would have {dim} elements")
    return result


def gather(source: Shape, indices: Sequence[Shape], axes: Sequence[int]) -> Shape:
    """The indices' common shape, then the source dims that `axes` does not name."""
    check_axes(axes, len(source))
    _check_count(axes, len(indices), "axes")
    if not indices:
        raise ShapeError("at least one index operand is needed")
    for number, shape in enumerate(indices):
        if shape != indices[0]:
            raise ShapeError(
                f"index {number} is {format_dims(shape)}, index 0 is {format_dims(indices[0])}; broadcast first"
            )
    return (*indices[0], *(dim for axis, dim in enumerate(source) if axis not in axes))


def reduce(source: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Without the reduced dims, or with 1 in their place."""
    check_axes(axes, len(source))
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(source))
    return tuple(dim for axis, dim in enumerate(source) if axis not in axes)


def contract(
    lhs: Shape,
    rhs: Shape,
    lhs_batch: Sequence[int],
    rhs_batch: Sequence[int],
    lhs_contract: Sequence[int],
    rhs_contract: Sequence[int],
) -> Shape:
    """Batch dims, then lhs free dims (M), then rhs free dims (N), each in order of their operand."""
    for what, left, right in (("batch", lhs_batch, rhs_batch), ("contracted", lhs_contract, rhs_contract)):
        if len(left) != len(right):
            raise ShapeError(f"{len(left)} {what} dims on the lhs, {len(right)} on the rhs")
    check_axes([*lhs_batch, *lhs_contract], len(lhs), "lhs dims")
    check_axes([*rhs_batch, *rhs_contract], len(rhs), "rhs dims")
    for what, left, right in (("batch", lhs_batch, rhs_batch), ("contracted", lhs_contract, rhs_contract)):
        for one, other in zip(left, right, strict=True):
            if lhs[one] != rhs[other]:
                raise ShapeError(f"{what} dims differ: lhs dim {one} is {lhs[one]}, rhs dim {other} is {rhs[other]}")
    return (
        *(lhs[axis] for axis in lhs_batch),
        *(dim for axis, dim in enumerate(lhs) if axis not in lhs_batch and axis not in lhs_contract),
        *(dim for axis, dim in enumerate(rhs) if axis not in rhs_batch and axis not in rhs_contract),
    )


def window(size: Dim, kernel: Dim, stride: int, low: int, high: int, dilation: int, input_dilation: int = 1) -> Dim:
    """The number of positions of a window along one spatial dim."""
    if stride < 1 or dilation < 1 or input_dilation < 1:
        raise ShapeError(f"strides and dilations are >= 1, got {stride}, {dilation}, {input_dilation}")
    spread = (size - 1) * input_dilation + 1 if size != 0 else 0
    padded = spread + (low + high) - ((kernel - 1) * dilation + 1)
    if isinstance(padded, int) and padded < 0:
        return 0
    return padded // stride + 1


def convolution(
    source: Shape,
    weight: Shape,
    input_order: Sequence[int],
    strides: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    dilation: Sequence[int],
    input_dilation: Sequence[int],
    groups: int,
) -> Shape:
    """`input_order[i]` is where dim i of (batch, channels, spatial...) lies; weight is [O, I / groups, spatial...]."""
    spatial = len(source) - 2
    if spatial < 1 or len(weight) != len(source):
        raise ShapeError(f"input has rank {len(source)}, weight rank {len(weight)}; both are 2 + spatial dims")
    _check_count(input_order, len(source), "input_order")
    check_axes(input_order, len(source), "input_order")
    for what, values in (
        ("strides", strides),
        ("low", low),
        ("high", high),
        ("dilation", dilation),
        ("input_dilation", input_dilation),
    ):
        _check_count(values, spatial, what)
    channels = source[input_order[1]]
    if groups < 1 or channels != weight[1] * groups:
        raise ShapeError(f"input has {channels} channels, weight takes {weight[1]} in each of {groups} groups")
    if isinstance(weight[0], int) and weight[0] % groups:
        raise ShapeError(f"{weight[0]} output channels do not split into {groups} groups")
    result: list[Dim] = [0] * len(source)
    result[input_order[0]] = source[input_order[0]]
    result[input_order[1]] = weight[0]
    for axis in range(spatial):
        place = input_order[2 + axis]
        result[place] = window(
            source[place], weight[2 + axis], strides[axis], low[axis], high[axis], dilation[axis], input_dilation[axis]
        )
    return tuple(result)


def pool(
    source: Shape,
    input_order: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    dilation: Sequence[int],
) -> Shape:
    """Windows over the spatial dims; batch and channels stay."""
    spatial = len(source) - 2
    if spatial < 1:
        raise ShapeError(f"input has rank {len(source)}; it is 2 + spatial dims")
    _check_count(input_order, len(source), "input_order")
    check_axes(input_order, len(source), "input_order")
    for what, values in (
        ("kernel", kernel),
        ("strides", strides),
        ("low", low),
        ("high", high),
        ("dilation", dilation),
    ):
        _check_count(values, spatial, what)
    result = list(source)
    for axis in range(spatial):
        place = input_order[2 + axis]
        result[place] = window(source[place], kernel[axis], strides[axis], low[axis], high[axis], dilation[axis])
    return tuple(result)


def pack(source: Shape, axes: Sequence[int], tiles: Sequence[int], input_order: Sequence[int]) -> Shape:
    """Each axis of `axes` is padded to a multiple of its tile and cut; outer dims in `input_order`, then the tiles."""
    check_axes(axes, len(source))
    _check_count(tiles, len(axes), "tiles")
    _check_count(input_order, len(source), "input_order")
    check_axes(input_order, len(source), "input_order")
    outer = list(source)
    for axis, tile in zip(axes, tiles, strict=True):
        if tile < 1:
            raise ShapeError(f"tiles are >= 1, got {tile}")
        outer[axis] = (outer[axis] + (tile - 1)) // tile
    return (*(outer[axis] for axis in input_order), *tiles)
