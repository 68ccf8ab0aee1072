"""Run one loop-level kernel on torch tensors: build it, verify it, compile it, call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, bf16, f16, f32, f64, i8, i32, i64
from xdsl.ir import Block, Region, SSAValue

from cuvil.codegen.jit import compile_module
from cuvil.codegen.loops import LoopBuilder
from cuvil.targets.cpu import CpuTarget

ELEMENT_TYPES = {
    torch.float32: f32,
    torch.float64: f64,
    torch.float16: f16,
    torch.bfloat16: bf16,
    torch.int8: i8,
    torch.int32: i32,
    torch.int64: i64,
}
"""The IR's element type of each torch dtype that kernels are tested with."""


def build_kernel(emit: Callable[[LoopBuilder, list[SSAValue]], None], arguments: Sequence[MemRefType]) -> ModuleOp:
    """A verified module whose public function `kernel` has the body that `emit` appends."""
    block = Block(arg_types=arguments)
    emit(LoopBuilder(block), list(block.args))
    block.add_op(func.ReturnOp())
    module = ModuleOp([func.FuncOp("kernel", (arguments, []), Region([block]))])
    module.verify()
    return module


def run_kernel(
    emit: Callable[[LoopBuilder, list[SSAValue]], None], tensors: Sequence[torch.Tensor], target: CpuTarget
) -> None:
    """Run the kernel that `emit` appends on `tensors` (contiguous; written in place), each a flat buffer."""
    arguments = [MemRefType(ELEMENT_TYPES[tensor.dtype], [max(1, tensor.numel())]) for tensor in tensors]
    native = compile_module(build_kernel(emit, arguments), target)
    assert all(tensor.is_contiguous() for tensor in tensors)
    native.function("kernel")(*(tensor.data_ptr() for tensor in tensors))
