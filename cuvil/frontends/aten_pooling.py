"""aten ops over windows of space: max and average pools, adaptive pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import ConcatOp, PadOp, PoolOp, element_domain, element_of, shape_of
from cuvil.frontends.aten_builder import ATEN_BUILDERS, Builder, Deferred, GraphBuilder, aten, is_half, known
from cuvil.frontends.aten_contraction import spread
from cuvil.frontends.aten_movement import rank_of
from cuvil.frontends.aten_window_places import adaptive, places_of_maxima, sliding
from cuvil.semantics.dims import Dim


def _batched(spatial: int, build: Callable[..., SSAValue]) -> Builder:
    """A builder for [N, C, ...] that takes [C, ...] too."""

    def wrapped(b: GraphBuilder, x: SSAValue, *arguments: Any, **options: Any) -> Any:
        value = x if rank_of(x) == spatial + 2 else b.reshape(x, (1, *shape_of(x.type)))
        result = build(b, value, spatial, *arguments, **options)
        return result if result is NotImplemented else b.reshape(result, b.shape)

    return wrapped


def _windows(
    b: GraphBuilder, x: SSAValue, spatial: int, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> dict[str, list[int]]:
    """The attributes of a pool; windows that `ceil_mode` adds at the end are padding there."""
    kernels, paddings, dilations = (spread(value, spatial) for value in (kernel, padding, dilation))
    strides = kernels if stride is None or stride == [] else spread(stride, spatial)
    high = list(paddings)
    for axis, (size, wanted) in enumerate(zip(shape_of(x.type)[2:], b.shape[-spatial:], strict=True)):
        if isinstance(size, int) and isinstance(wanted, int):
            reach = (wanted - 1) * strides[axis] + dilations[axis] * (kernels[axis] - 1) + 1
            high[axis] = max(paddings[axis], reach - size - paddings[axis])
    return {"kernel": kernels, "strides": strides, "low": paddings, "high": high, "dilation": dilations}


def _max_pool(
    b: GraphBuilder,
    x: SSAValue,
    spatial: int,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> SSAValue:
    return b.value(PoolOp("max", x, **_windows(b, x, spatial, kernel_size, stride, padding, dilation)))


def _avg_pool(
    b: GraphBuilder,
    x: SSAValue,
    spatial: int,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> SSAValue:
    windows = _windows(b, x, spatial, kernel_size, stride, padding, 1)
    value = b.cast(x, f32) if is_half(element_of(x)) else x
    total = b.value(PoolOp("add", value, **windows))
    division = "div" if element_domain(element_of(total)) == "f" else "trunc_div"
    if divisor_override is not None:
        return b.apply(division, total, divisor_override)
    overhang = windows["high"] != windows["low"]
    padded = any(windows["low"])
    if not overhang and (count_include_pad or not padded):
        size = 1
        for extent in windows["kernel"]:
            size *= extent
        return b.apply(division, total, size)
    return b.apply(division, total, _window_counts(b, value, windows, count_include_pad))


def _window_counts(b: GraphBuilder, x: SSAValue, windows: dict[str, list[int]], with_padding: bool) -> SSAValue:
    """How many elements each window covers: those of the input, with its padding but not what `ceil_mode` adds."""
    element = element_of(x)
    ones = b.full(1, element, (1, 1, *shape_of(x.type)[2:]))
    if with_padding:
        around = [0, 0, *windows["low"]]
        ones = b.value(PadOp(ones, b.constant(1, element), around, around))
        extra = [high - low for low, high in zip(windows["low"], windows["high"], strict=True)]
        windows = windows | {"low": [0] * len(extra), "high": extra}
    return b.value(PoolOp("add", ones, **windows))


def _with_places(spatial: int) -> Builder:
    """A max pool and, where something reads it, where in its plane each maximum was."""

    def build(
        b: GraphBuilder,
        x: SSAValue,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> tuple[SSAValue, Deferred]:
        outputs = b.shape[-spatial:]

        def places() -> SSAValue:
            kernels, paddings, dilations = (spread(value, spatial) for value in (kernel_size, padding, dilation))
            strides = kernels if stride is None or stride == [] else spread(stride, spatial)
            sizes = shape_of(x.type)[-spatial:]
            described = zip(sizes, outputs, kernels, strides, paddings, dilations, strict=True)
            return places_of_maxima(b, x, [sliding(b, *each) for each in described])

        pooled = _batched(spatial, _max_pool)(b, x, kernel_size, stride, padding, dilation, ceil_mode)
        return pooled, Deferred(places)

    return build


def _adaptive_with_places(spatial: int) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, output_size: Any) -> tuple[SSAValue, Deferred]:
        outputs = b.shape[-spatial:]

        def places() -> SSAValue:
            sizes = [known(size, "the size of an adaptively pooled dim") for size in shape_of(x.type)[-spatial:]]
            counts = [known(size, "the output size of an adaptive pool") for size in outputs]
            windows = [adaptive(b, size, count) for size, count in zip(sizes, counts, strict=True)]
            return places_of_maxima(b, x, windows)

        return _batched(spatial, _adaptive("max"))(b, x, output_size), Deferred(places)

    return build


def _adaptive(kind: str) -> Callable[..., SSAValue]:
    def build(b: GraphBuilder, x: SSAValue, spatial: int, output_size: Any) -> SSAValue:
        value = b.cast(x, f32) if kind == "add" and is_half(element_of(x)) else x
        sizes = shape_of(x.type)[2:]
        wanted = b.shape[-spatial:]
        if all(size == 1 for size in wanted):
            return _averaged(
                b, kind, b.reduce(kind, value, range(2, 2 + spatial), True), b.count(sizes, element_of(value))
            )
        known_sizes = [known(size, "the size of an adaptively pooled dim") for size in sizes]
        counts = [known(size, "the output size of an adaptive pool") for size in wanted]
        if all(count and size % count == 0 for size, count in zip(known_sizes, counts, strict=True)):
            kernel = [size // count for size, count in zip(known_sizes, counts, strict=True)]
            total = b.value(PoolOp(kind, value, kernel=kernel))
            return _averaged(b, kind, total, b.count(kernel, element_of(value)))
        for axis, (size, count) in enumerate(zip(known_sizes, counts, strict=True), 2):
            value = _adaptive_axis(b, kind, value, axis, size, count)
        return value

    return build


def _averaged(b: GraphBuilder, kind: str, total: SSAValue, count: SSAValue) -> SSAValue:
    return b.apply("div", total, count) if kind == "add" else total


def _adaptive_axis(b: GraphBuilder, kind: str, x: SSAValue, axis: int, size: int, count: int) -> SSAValue:
    """One dim at a time: output i is of the elements from floor(i * size / count) to ceil((i + 1) * size / count)."""
    parts: list[SSAValue] = []
    for place in range(count):
        first, last = place * size // count, -(-(place + 1) * size // count)
        total = b.reduce(kind, b.slice(x, axis, first, last - first), [axis], True)
        parts.append(_averaged(b, kind, total, b.count([last - first], element_of(x))))
    return parts[0] if len(parts) == 1 else b.value(ConcatOp(parts, axis))


for _spatial in (1, 2, 3):
    ATEN_BUILDERS[f"max_pool{_spatial}d"] = _batched(_spatial, _max_pool)
    ATEN_BUILDERS[f"max_pool{_spatial}d_with_indices"] = _with_places(_spatial)
    ATEN_BUILDERS[f"avg_pool{_spatial}d"] = _batched(_spatial, _avg_pool)
    ATEN_BUILDERS[f"adaptive_avg_pool{_spatial}d"] = _batched(_spatial, _adaptive("add"))
    ATEN_BUILDERS[f"_adaptive_avg_pool{_spatial}d"] = _batched(_spatial, _adaptive("add"))
    ATEN_BUILDERS[f"adaptive_max_pool{_spatial}d"] = _adaptive_with_places(_spatial)


@aten("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def upsample_nearest(b: GraphBuilder, x: SSAValue, *_: Any, **__: Any) -> SSAValue:
    """Each element repeated, where sizes grow by whole factors; others are left to PyTorch's decomposition."""
    sizes = shape_of(x.type)[2:]
    spreads: list[Dim] = list(shape_of(x.type)[:2])
    axes = [0, 1]
    for size, wanted in zip(sizes, b.shape[2:], strict=True):
        if not isinstance(size, int) or not isinstance(wanted, int) or size == 0 or wanted % size:
            return NotImplemented
        axes.append(len(spreads))
        spreads += [size, wanted // size]
    return b.reshape(b.broadcast(x, spreads, axes), b.shape)
