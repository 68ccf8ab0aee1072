"""Turn kernels into GPU kernels, and the host program into launches on flat buffers of the device.

    cuvil_fused.kernel @k(%a = %x) into(%o) ...   =>  cuvil_gpu.kernel @k threads = [256, 1, 1] { one thread's code }
      { core ops }                                and cuvil_gpu.launch @k blocks = (%n, %one, %one) (%x, %o) : ...
    memref<4x8xf32>                               =>  memref<32xf32, 1 : i32>

The host program is lowered as by `lower-fused-to-loops`, with its buffers in the device's global memory. A kernel's
emitter is chosen by what the region holds (`cuvil.codegen.gpu`): vectors of 16 bytes for pointwise regions, a block for
each row of reductions along trailing axes, else one thread for each result element; what is ordered (scans, sorts,
scatters) runs as the CPU's loops do, a thread a line, in one block where its parts depend on each other.

Requires: destination style with planned memory (`bufferize`, `plan-memory`), weights that are not packed.
Ensures: `cuvil_gpu` kernels and launches; kernels that are equal but for names share one.
Declines (with an error that names the op): attention, which `decompose` without `keep` takes apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.passes import ModulePass

from cuvil.codegen.gpu.builder import items_of
from cuvil.codegen.gpu.kernels import GpuCode, emit_gpu_kernel
from cuvil.codegen.loops import Index
from cuvil.dialects import fused
from cuvil.dialects import gpu as cuvil_gpu
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError, UserError
from cuvil.passes.lower_fused_to_loops import HostLowering, flat_type
from cuvil.semantics.dims import ShapeEnvironment
from cuvil.targets.cpu import CpuTarget
from cuvil.targets.cuda import THREAD

_MOST_BLOCKS = 2048
"""Blocks of one launch: enough for the largest GPU to be full, after which threads take several items each."""


@dataclass(frozen=True)
class LowerFusedToGpuPass(ModulePass):
    """Kernels to `cuvil_gpu`, calls of them to launches."""

    name: ClassVar[str] = "lower-fused-to-gpu"
    tolerance: ClassVar[float] = 1e-5

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function of the module."""
        lowering = _GpuLowering(op, THREAD, 1 << 20)
        functions = [inner for inner in op.ops if isinstance(inner, func.FuncOp) and not inner.is_declaration]
        for inner in list(op.ops):
            if isinstance(inner, ct.GlobalOp):
                lowering.lower_global(inner)
        for function in functions:
            lowering.lower_function(function)
            _move_to_device(function)
        for inner in op.ops:
            if isinstance(inner, memref.GlobalOp):
                inner.properties["type"] = _on_device(inner.properties["type"])
        lowering.attach_host()


class _GpuLowering(HostLowering):
    """The host program, with launches for calls."""

    pass_name: ClassVar[str] = "lower-fused-to-gpu"

    def __init__(self, module: ModuleOp, target: CpuTarget, threads: int) -> None:
        super().__init__(module, target, threads)
        self.codes: dict[object, GpuCode] = {}

    def _call(self, op: fused.KernelOp, block: Block) -> None:
        name, code, symbols = self._kernel(op)
        b = self._builder()
        count = items_of(code.counts)
        blocks: Index = 1 if code.is_one_block else _MOST_BLOCKS
        if count is not None and not code.is_one_block:
            blocks = b.max(b.min(b.ceil_div(count, code.threads), _MOST_BLOCKS), 1)
        grid = [b.index(blocks), b.index(1), b.index(1)]
        arguments = [*op.inputs, *op.into, *(self.symbols[symbol] for symbol in symbols)]
        launch = cuvil_gpu.LaunchOp(name, grid, arguments)
        launch.location = op.location
        block.insert_ops_before([*self._taken(b), launch], op)
        block.erase_op(op)

    def _kernel(self, op: fused.KernelOp) -> tuple[str, GpuCode, list[str]]:
        key, symbols, environment = self.identity(op)
        if key not in self.kernels:
            self.kernels[key] = self.unused_name(op.kernel_name.data)
            self.codes[key] = self._emit_gpu(self.kernels[key], op, symbols, environment)
        return self.kernels[key], self.codes[key], symbols

    def _emit_gpu(
        self, name: str, op: fused.KernelOp, symbols: Sequence[str], environment: ShapeEnvironment
    ) -> GpuCode:
        buffers = [_on_device(flat_type(value.type)) for value in (*op.inputs, *op.into)]
        try:
            code = emit_gpu_kernel(op, [*buffers, *[IndexType()] * len(symbols)], symbols, environment)
        except CuvilError as error:
            raise UserError(f"kernel @{op.kernel_name.data}: {error}", op) from error
        kernel = cuvil_gpu.KernelOp(name, [code.threads, 1, 1], Region([code.body]))
        kernel.location = op.location
        self.module.body.block.add_op(kernel)
        return code


def _on_device(value_type: Attribute) -> Attribute:
    """A buffer's type, in the device's global memory."""
    if not isinstance(value_type, MemRefType):
        return value_type
    space = IntegerAttr(cuvil_gpu.GLOBAL, 32)
    return MemRefType(value_type.element_type, value_type.get_shape(), value_type.layout, space)


def _move_to_device(function: func.FuncOp) -> None:
    for op in function.walk():
        values: list[SSAValue] = [
            *op.results,
            *(arg for region in op.regions for bl in region.blocks for arg in bl.args),
        ]
        for value in values:
            value._type = _on_device(value.type)  # pyright: ignore[reportPrivateUsage]
    function.function_type = FunctionType.from_lists(
        [argument.type for argument in function.body.block.args], function.function_type.outputs.data
    )
