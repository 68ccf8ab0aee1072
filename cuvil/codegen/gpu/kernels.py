"""From a fused kernel to one thread's code: which emitter, how many threads a block, how many items for the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, Block, SSAValue

from cuvil.codegen.column_loops import Columns
from cuvil.codegen.gpu.anchors import emit_anchored
from cuvil.codegen.gpu.builder import GpuLoopBuilder
from cuvil.codegen.gpu.pointwise import emit_pointwise
from cuvil.codegen.gpu.rows import GpuRows, threads_for
from cuvil.codegen.loop_kernel import LoopKernel
from cuvil.codegen.loops import Index
from cuvil.codegen.ordering_kernels import emit_ordering_kernel
from cuvil.codegen.row_loops import is_rowwise
from cuvil.dialects import fused
from cuvil.dialects import gpu as cuvil_gpu
from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, ShapeEnvironment, product
from cuvil.semantics.views import dims_of
from cuvil.targets.cuda import THREAD

_THREADS = 256
_SCALARS = replace(THREAD, vector_bytes=4)
_MANY_THREADS = 1 << 20
"""Threads that loops of the CPU are cut for."""


@dataclass(frozen=True)
class GpuCode:
    """A kernel's body, and what a launch of it needs to know."""

    body: Block
    threads: int
    counts: list[Index]
    """Items of its parallel loops."""
    is_one_block: bool
    parts: int
    """Loops and serial parts that come one after the other, and may depend on what is before them."""


def emit_gpu_kernel(
    op: fused.KernelOp, arguments: Sequence[Attribute], symbols: Sequence[str], environment: ShapeEnvironment
) -> GpuCode:
    """The code of a kernel in destination style; `arguments` are operands, destinations, and the symbols' values.

    Only the threads of one block can wait for each other: a kernel of several parts gets one.
    """
    code = _emit(op, arguments, symbols, environment, is_one_block=False)
    if code.parts > 1:
        code = _emit(op, arguments, symbols, environment, is_one_block=True)
    return code


def _emit(
    op: fused.KernelOp,
    arguments: Sequence[Attribute],
    symbols: Sequence[str],
    environment: ShapeEnvironment,
    is_one_block: bool,
) -> GpuCode:
    block = Block(arg_types=arguments)
    count, end = len(op.inputs), len(op.inputs) + len(op.into)
    buffers: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args[:count], strict=True))
    for argument, buffer in zip(op.body.block.args, block.args[:count], strict=True):
        buffer.name_hint = argument.name_hint
    operations = [inner for inner in op.body.block.ops if not isinstance(inner, fused.YieldOp)]
    results = list(zip(op.yielded, block.args[count:end], strict=True))
    kernel = LoopKernel(operations, results, buffers, _SCALARS, _MANY_THREADS)
    values = dict(zip(symbols, block.args[end:], strict=True))
    for name, value in values.items():
        value.name_hint = name
    b = GpuLoopBuilder(block, _threads(kernel), values, environment, is_one_block)
    _emit_family(b, kernel, op.family.data)
    parts = len(b.parallel_counts) + b.guard_serial_code()
    b.finish()
    b.block.add_op(cuvil_gpu.ReturnOp())
    return GpuCode(block, b.threads, b.parallel_counts, is_one_block, parts)


def _emit_family(b: GpuLoopBuilder, kernel: LoopKernel, family: str) -> None:
    if all(0 in dims_of(value) for value, _ in kernel.results):
        return
    if family == "ordering":
        emit_ordering_kernel(b, kernel)
    elif family != "loop":
        emit_anchored(b, kernel)
    elif not kernel.reductions:
        emit_pointwise(b, kernel)
    elif is_rowwise(kernel):
        GpuRows(b, replace(kernel, target=THREAD)).emit()
    else:
        Columns(b, kernel).emit()


def _threads(kernel: LoopKernel) -> int:
    if kernel.reductions and is_rowwise(kernel):
        return threads_for(_row_length(kernel))
    elements = product(dims_of(kernel.results[0][0]))
    if isinstance(elements, int) and elements < _THREADS:
        return max(-(-elements // cuvil_gpu.WARP_SIZE), 1) * cuvil_gpu.WARP_SIZE
    return _THREADS


def _row_length(kernel: LoopKernel) -> Dim:
    first = kernel.reductions[0]
    shape = dims_of(first.input)
    return product(shape[len(shape) - len(ct.numbers(first.axes)) :])
