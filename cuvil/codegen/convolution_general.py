"""Convolutions that no other kernel takes: transposed ones of run-time extents, or windows larger than any scratch.

One output pixel at a time, vectors of output channels: a tap that reads padding multiplies a zero. It takes every spec
and every stride, and depthwise weights as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from cuvil.codegen.access import Epilogue, StridedOperand
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, WeightLayout
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.microkernel import multiply_add
from cuvil.codegen.packing import convert
from cuvil.codegen.windows import Dims, WindowDim, element_read, multiply_adds, window_items


def emit_general(
    b: LoopBuilder, spec: ConvolutionSpec, layout: WeightLayout, dims: Dims, input: StridedOperand,
    weight: PackedWeight, epilogue: Epilogue,
) -> None:  # fmt: skip
    """Append the convolution, parallel over output pixels."""
    outputs = [dim.output for dim in dims]
    panels = -(-spec.group_outputs // layout.panel)
    work = multiply_adds(dims, input.shape[0], spec.group_inputs * spec.out_channels)
    with window_items(b, b.product([input.shape[0], *outputs]), work) as row:
        image, *position = b.delinearize(row, [input.shape[0], *outputs])
        image_at = b.linear(input.offset, (image,), (input.strides[0],))
        with b.for_(0, spec.groups) as group, b.for_(0, panels) as panel:
            start = b.add(image_at, b.mul(b.mul(group.index, spec.group_inputs), input.strides[4]))
            stream = dims[0].kernel * dims[1].kernel * dims[2].kernel * spec.group_inputs * layout.panel
            panel_at = b.mul(b.add(b.mul(group.index, panels), panel.index), stream)
            first = b.add(weight.offset, panel_at)
            sums = _sum(b, spec, layout, dims, input, weight, position, start, first)
            store_panel(b, spec, layout, epilogue, row, group.index, panel.index, sums)


def _sum(
    b: LoopBuilder, spec: ConvolutionSpec, layout: WeightLayout, dims: Dims, input: StridedOperand,
    weight: PackedWeight, position: Sequence[Index], start: Index, first: Index,
) -> Sequence[SSAValue]:  # fmt: skip
    """The panel of output channels at output `position`: loops over taps, then channels."""
    type_, lanes = spec.accumulator_type, layout.lanes
    zero = b.constant(0, type_, lanes)
    counts = [_taps(b, dim) for dim in dims]
    taps = b.product(counts)
    with b.for_(0, taps, 1, [zero] * layout.vectors) as tap:
        at, inside = start, b.constant(True, i1)
        # Where an extent is 0 no tap runs: the counts above are then 0, not the kernel's.
        tap_position = b.delinearize(tap.index, [dim.kernel for dim in dims])
        for dim, output, step, stride in zip(dims, position, tap_position, input.strides[1:4], strict=True):
            element, is_inside = element_read(b, dim, output, step)
            at = b.add(at, b.mul(element, stride))
            inside = b.int_op(arith.AndIOp, inside, is_inside)
        weights = b.add(first, b.mul(tap.index, spec.group_inputs * layout.panel))
        with b.for_(0, spec.group_inputs, 1, tap.carried) as channel:
            value = b.load(input.buffer, b.add(at, b.mul(channel.index, input.strides[4])))
            value = b.select(inside, convert(b, value, type_), b.constant(0, type_))
            here = b.add(weights, b.mul(channel.index, layout.panel))
            columns = [b.load(weight.buffer, b.add(here, v * lanes), lanes) for v in range(layout.vectors)]
            factor = b.broadcast(value, lanes)
            pairs = zip(columns, channel.carried, strict=True)
            channel.yield_(*(multiply_add(b, factor, convert(b, w, type_), s, type_) for w, s in pairs))
        tap.yield_(*channel.results)
    return tap.results


def _taps(b: LoopBuilder, dim: WindowDim) -> Index:
    """The kernel's extent, 0 where the input is empty."""
    return b.min(dim.kernel, b.mul(dim.input, dim.kernel))


def store_panel(
    b: LoopBuilder, spec: ConvolutionSpec, layout: WeightLayout, epilogue: Epilogue, row: Index, group: Index,
    panel: Index, sums: Sequence[SSAValue],
) -> None:  # fmt: skip
    """Each vector of the panel that has channels, masked where it has fewer than its lanes."""
    first = b.mul(panel, layout.panel)
    for v, value in enumerate(sums):
        column = b.add(first, v * layout.lanes)
        active = b.min(b.sub(spec.group_outputs, column), layout.lanes)
        if spec.group_outputs % layout.panel == 0:
            epilogue.store(b, row, b.add(b.mul(group, spec.group_outputs), column), value, None)
            continue
        with b.if_(b.compare_index("sgt", active, 0)):
            mask = b.tail_mask(active, layout.lanes)
            epilogue.store(b, row, b.add(b.mul(group, spec.group_outputs), column), value, mask)
