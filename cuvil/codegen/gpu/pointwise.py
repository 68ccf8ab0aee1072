"""Pointwise kernels: each thread computes a vector of 16 bytes where the region allows it, else one element.

    vectors = elements / width
    for v in all threads of the grid, in strides:   result[v * width : (v + 1) * width]
    the first threads: what is left, one element each

As on the CPU, as many dims as the region's accesses allow are one flat range; where an operand is broadcast along the
leading dims, vectors stay within the others, if those are a multiple of the width.
"""

from __future__ import annotations

from cuvil.codegen.gpu.builder import GpuLoopBuilder
from cuvil.codegen.loop_kernel import LoopKernel, attempt, store_point
from cuvil.codegen.loops import Index
from cuvil.codegen.points import CannotVectorize, Coordinate, FlatGroup, Point, PointEvaluator
from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import dims_of

_ACCESS_BITS = 128
_MOST_LANES = 8


def emit_pointwise(b: GpuLoopBuilder, kernel: LoopKernel) -> None:
    """Append one thread's part of a kernel without reductions."""
    shape = dims_of(kernel.results[0][0])
    if 0 in shape:
        return
    width = _lanes(kernel)
    while width > 1:
        for inner_from in range(len(shape)):
            if (
                attempt(b, lambda inner_from=inner_from, width=width: _vectors(b, kernel, shape, inner_from, width))
                is None
            ):
                return
        width //= 2
    _elements(b, kernel, shape)


def _lanes(kernel: LoopKernel) -> int:
    """Elements that make an access of 16 bytes, by the widest element type in memory."""
    values = [*kernel.buffers, *(value for value, _ in kernel.results)]
    widest = max((getattr(ct.element_of(value), "bitwidth", 64) for value in values), default=64)
    return min(_ACCESS_BITS // max(widest, 8), _MOST_LANES)


def _vectors(b: GpuLoopBuilder, kernel: LoopKernel, shape: tuple[Dim, ...], inner_from: int, width: int) -> None:
    outer, inner = shape[:inner_from], shape[inner_from:]
    length, total = product(inner), product(shape)
    if inner_from and not b.is_multiple(length, width):
        raise CannotVectorize
    vectors = b.div(total, width)
    with b.parallel(vectors) as item:
        position = b.multiple(b.mul(item, width), width)
        row: Index = 0
        if outer and product(outer) != 1:
            row = b.div(position, length)
            position = b.multiple(b.rem(position, length), width)
        point = (*FlatGroup(row, outer).coordinates(), *_along(position, inner, 1, length))
        _compute(b, kernel, point, width)
    if inner_from == 0 and not b.is_multiple(total, width):
        rest = b.rem(total, width)
        with b.if_(b.compare_index("slt", _number_in_grid(b), rest)):
            last = b.add(b.sub(total, rest), _number_in_grid(b))
            _compute(b, kernel, tuple(FlatGroup(last, shape).coordinates()), 1)
        assert b.block.last_op is not None
        b.parallel_loops.append(b.block.last_op)


def _number_in_grid(b: GpuLoopBuilder) -> Index:
    return b.thread() if b.is_one_block else b.add(b.mul(b.block_number(), b.threads), b.thread())


def _along(position: Index, dims: tuple[Dim, ...], step: int, length: Dim) -> list[Coordinate]:
    wide = [dim for dim, extent in enumerate(dims) if extent != 1]
    if len(wide) > 1:
        return FlatGroup(position, dims, step).coordinates()
    lane = Coordinate(position, step, 0, length, loop_offset=0)
    lone = wide[0] if wide else len(dims) - 1
    return [lane if dim == lone else Coordinate(0, 0, 0, 1) for dim in range(len(dims))]


def _elements(b: GpuLoopBuilder, kernel: LoopKernel, shape: tuple[Dim, ...]) -> None:
    with b.parallel(product(shape)) as item:
        _compute(b, kernel, tuple(FlatGroup(item, shape).coordinates()), 1)


def _compute(b: GpuLoopBuilder, kernel: LoopKernel, point: Point, width: int) -> None:
    evaluator = PointEvaluator(b, width, kernel.buffers, None, aligned=True, contiguous=width > 1)
    for value, buffer in kernel.results:
        store_point(evaluator, value, buffer, point)
