"""From a module of the llvm and nvvm dialects to PTX, through LLVM's NVPTX back end. Nothing of CUDA is needed.

An `llvm.func` with the attribute `nvvm.kernel` becomes an entry; other functions are device functions. Globals in
address space 3 are shared memory: with linkage `internal` of a static size, `external` of size 0 the dynamic part.

`nvvm.reqntid` says how many threads a block has; without it ptxas assumes the most, and ignores `nvvm.setmaxregister`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp
from xdsl.ir import Operation

from cuvil.codegen.llvm_text import emit_symbols
from cuvil.codegen.nvvm_text import ACCELERATED, NVVM_ROWS, least_capability, uses_of_nvvm
from cuvil.dialects.nvvm import KERNEL
from cuvil.errors import InternalError, UnsupportedError, UserError
from cuvil.targets.cuda import TRIPLE, CudaTarget

LEVEL = 3
"""LLVM's code generation level: address space inference, loads of 16 bytes and the like come with it."""

_SIZES = ("nvvm.reqntid", "nvvm.maxntid", "nvvm.cluster_dim")
_NUMBERS = ("nvvm.minctasm", "nvvm.maxnreg")


def module_to_text(module: ModuleOp, target: CudaTarget) -> str:
    """PTX of the whole of `module` for `target`.

    Raises `UnsupportedError` for an op of another level, or that `target` has no instruction for; `UserError` where a
    kernel asks for more than `target` has.
    """
    for op in uses_of_nvvm(module):
        check_op(op, target)
    for op in module.ops:
        if isinstance(op, llvm.FuncOp) and KERNEL in op.attributes:
            check_kernel(op, target)
    return compile_text(llvm_text(module, target), target)


def llvm_text(module: ModuleOp, target: CudaTarget) -> str:
    """LLVM IR text of `module` as it goes to the NVPTX back end."""
    symbols = emit_symbols(module, NVVM_ROWS, kernel_attributes)
    attributes = f'attributes #0 = {{ nounwind "target-cpu"="{target.arch}" }}'
    return "\n".join([f'target triple = "{TRIPLE}"', *(symbol.text for symbol in symbols), attributes, ""])


def kernel_attributes(op: llvm.FuncOp) -> str | None:
    """The text of a kernel's own attributes; None for a function that is no kernel."""
    if KERNEL not in op.attributes:
        return None
    texts = [f'"{name}"="{",".join(map(str, sizes))}"' for name in _SIZES if (sizes := _sizes(op, name))]
    texts += [f'"{name}"="{number}"' for name in _NUMBERS if (number := _number(op, name)) is not None]
    return "".join(f" {text}" for text in texts)


def _sizes(op: llvm.FuncOp, name: str) -> Sequence[int]:
    value = op.attributes.get(name)
    return [int(size) for size in value.get_values()] if isinstance(value, DenseArrayBase) else ()


def _number(op: llvm.FuncOp, name: str) -> int | None:
    value = op.attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else None


# -- what the target can do --------------------------------------------------------------------------------------------


def check_op(op: Operation, target: CudaTarget) -> None:
    """Raise `UnsupportedError` if `target` has no instruction for a nvvm op."""
    needed = least_capability(op)
    if target.capability < needed:
        raise UnsupportedError(f"{op.name}: needs sm_{needed} or later, got {target.arch}", op)
    if type(op) in ACCELERATED and not target.is_accelerated:
        raise UnsupportedError(f"{op.name}: needs {target.arch}a, got {target.arch}", op)


def check_kernel(op: llvm.FuncOp, target: CudaTarget) -> None:
    """Raise `UserError` if a kernel's block is larger than `target` allows."""
    threads = 1
    for size in _sizes(op, "nvvm.reqntid"):
        threads *= size
    if threads > target.threads_per_block:
        limit = f"expected at most {target.threads_per_block} threads in a block of {target.arch}"
        raise UserError(f"{op.name}: @{op.sym_name.data}: {limit}, got {threads}")


# -- LLVM --------------------------------------------------------------------------------------------------------------


def compile_text(text: str, target: CudaTarget, level: int = LEVEL) -> str:
    """PTX of one LLVM module.

    Raises `InternalError` if LLVM refuses the text, as it does for an intrinsic that does not exist.
    """
    import llvmlite.binding as binding

    from cuvil.codegen.object_code import initialize

    initialize()
    try:
        module = binding.parse_assembly(text, binding.create_context())
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses the emitted text: {error}") from error
    machine = binding.Target.from_triple(TRIPLE).create_target_machine(cpu=target.arch, opt=level)
    return machine.emit_assembly(module)
