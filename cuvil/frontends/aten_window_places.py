"""Where the maxima of windows are: the second results of aten's max pools.

A window is described dim by dim: a table `[outputs, lanes]` of positions in the input and one of which lanes count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import ArgReduceOp, GatherOp, element_domain, element_of, shape_of
from cuvil.frontends.aten_builder import GraphBuilder, known
from cuvil.frontends.aten_types import dtype_of
from cuvil.semantics.dims import Dim, product


@dataclass(frozen=True)
class Windows:
    """The windows along one dim: `places` and `counts` are `[outputs, lanes]`, an i64 and a bool tensor."""

    places: SSAValue
    counts: SSAValue
    size: Dim


def sliding(b: GraphBuilder, size: Dim, outputs: Dim, kernel: int, stride: int, padding: int, dilation: int) -> Windows:
    """Windows of `kernel` elements, `stride` apart; lanes in the padding do not count."""
    shape = (outputs, kernel)
    first = b.apply("sub", b.apply("mul", b.iota(0, shape), stride), padding)
    places = b.apply("add", first, b.apply("mul", b.iota(1, shape), dilation))
    counts = b.apply("and", b.apply("ge", places, 0), b.apply("lt", places, size))
    # Where nothing is larger than what PyTorch starts from, it names the first element that counts.
    start = b.reduce("min", b.apply("select", counts, places, torch.iinfo(torch.int64).max), [1], True)
    return Windows(b.apply("select", counts, places, b.broadcast(start, shape)), counts, size)


def adaptive(b: GraphBuilder, size: int, outputs: int) -> Windows:
    """Window i is from floor(i * size / outputs) to ceil((i + 1) * size / outputs)."""
    lanes = max((-(-(place + 1) * size // outputs) - place * size // outputs for place in range(outputs)), default=1)
    shape = (outputs, lanes)
    number = b.apply("mul", b.iota(0, shape), size)
    first = b.apply("floor_div", number, max(outputs, 1))
    end = b.apply("floor_div", b.apply("add", number, size + outputs - 1), max(outputs, 1))
    places = b.apply("add", first, b.iota(1, shape))
    counts = b.apply("lt", places, end)
    return Windows(b.apply("select", counts, places, first), counts, size)


def places_of_maxima(b: GraphBuilder, x: SSAValue, windows: Sequence[Windows]) -> SSAValue:
    """For each window the flat position, in its plane, of its maximum: the first one, or the last NaN."""
    lead = shape_of(x.type)[: -len(windows)]
    outputs = [shape_of(each.places.type)[0] for each in windows]
    lanes = [known(shape_of(each.places.type)[1], "the size of a window") for each in windows]
    table = (*outputs, *lanes)
    flat = counts = None
    for axis, each in enumerate(windows):
        axes = [axis, axis + len(windows)]
        place, count = b.broadcast(each.places, table, axes), b.broadcast(each.counts, table, axes)
        flat = place if flat is None else b.apply("add", b.apply("mul", flat, each.size), place)
        counts = count if counts is None else b.apply("and", counts, count)
    assert flat is not None
    assert counts is not None
    merged = (*outputs, product(lanes))
    flat, counts = b.reshape(flat, merged), b.reshape(counts, merged)
    plane = b.reshape(x, (*lead, product([each.size for each in windows])))
    picked = b.value(GatherOp(plane, [flat], [len(lead)]))
    values = b.transpose(picked, [*range(len(merged), len(merged) + len(lead)), *range(len(merged))])
    shape = (*lead, *merged)
    values = b.apply("select", counts, values, _lowest(b, x))
    lane = b.value(ArgReduceOp("max", values, len(shape) - 1))
    if element_domain(element_of(x)) == "f":
        numbers = b.apply("select", b.apply("isnan", values), b.iota(len(shape) - 1, shape), -1)
        last_nan = b.reduce("max", numbers, [len(shape) - 1])
        lane = b.apply("max", lane, last_nan)
    chosen = b.apply("eq", b.iota(len(shape) - 1, shape), b.broadcast(lane, shape, range(len(shape) - 1)))
    return b.reduce("max", b.apply("select", chosen, b.broadcast(flat, shape), -1), [len(shape) - 1])


def _lowest(b: GraphBuilder, x: SSAValue) -> SSAValue:
    if element_domain(element_of(x)) == "f":
        return b.constant(float("-inf"), element_of(x))
    return b.constant(torch.iinfo(dtype_of(element_of(x))).min, element_of(x))
