"""Lower the loop level to the llvm dialect.

```
func.func private @double(%x: memref<8xf32>, %y: memref<8xf32>) {
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  ...
}
=>
llvm.func internal @double(%x: !llvm.ptr, %y: !llvm.ptr) {
  %p = llvm.getelementptr %x[%c0] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  ...
}
```

| source                                  | target                                             | where           |
|-----------------------------------------|----------------------------------------------------|-----------------|
| `arith`, `math`, `cuvil_vector`         | llvm instructions and intrinsics                   | `llvm_scalar`   |
| `memref`, `vector`                      | addresses, loads and stores, shuffles, intrinsics  | `llvm_memory`   |
| `scf`, `cf`, `func.call`, `func.return` | blocks, branches, calls                            | `llvm_control`  |
| `scf.parallel`                          | an outlined function run by `GOMP_parallel`        | `llvm_parallel` |
| `func.func`                             | `llvm.func`, internal if private and defined here  | here            |
| `func.func` with `cuvil.inputs`         | also `@cuvil_entry`, the C ABI                     | `llvm_host`     |
| `memref.global`, uninitialized          | a slot of the array of parameters                  | here            |
| `memref.global`, initialized            | `llvm.mlir.global internal`                        | here            |

ABI: a memref is a bare pointer to its first element, an `index` an i64; strides count elements, `memref.view` bytes.
A function that reads parameters, or calls one that does, takes the array of parameters as its last argument. A public
kernel keeps its name and is called with bare pointers. `llvm.noalias` on a func argument is kept: whoever sets it
promises it.

Requires: the ops that `LoopBuilder` makes (flat buffers, rank-1 vectors), cf, scf; `math` expanded by `lower-math`.
Ensures: only builtin, llvm and `cuvil_llvm` ops are left, and the values computed are the same.
Declines (with an error): nested or strided `scf.parallel`, vectors of higher rank, dynamic allocas, functions with
several results, ops of other levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DictionaryAttr, MemRefType, ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from cuvil.codegen.llvm_build import function
from cuvil.codegen.llvm_control import CONTROL_RULES
from cuvil.codegen.llvm_function import FunctionLowering, ModuleLowering
from cuvil.codegen.llvm_host import INPUTS, add_entry
from cuvil.codegen.llvm_memory import MEMORY_RULES
from cuvil.codegen.llvm_parallel import NOALIAS
from cuvil.codegen.llvm_scalar import SCALAR_RULES, constant_value
from cuvil.codegen.llvm_types import PTR, llvm_type, memory_type
from cuvil.errors import UnsupportedError, UserError
from cuvil.targets.cpu import CpuTarget

RULES = {**SCALAR_RULES, **MEMORY_RULES, **CONTROL_RULES}


@dataclass(frozen=True)
class LowerLoopsToLlvmPass(ModulePass):
    """Loop level => llvm dialect; `target` decides between instruction sequences (`host`, `x86-64-v3`, ...)."""

    name = "lower-loops-to-llvm"

    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace the module's operations by their lowered forms."""
        try:
            target = CpuTarget.named(self.target)
        except ValueError as error:
            raise UserError(f"{self.name}: {error}") from error
        lower_module(op, target)


def lower_module(module: ModuleOp, target: CpuTarget) -> None:
    """Lower every function and global of `module`, in place."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    externals = _external_globals(module)
    lowering = ModuleLowering(
        target,
        parameters={name: position for position, name in enumerate(externals)},
        needs_parameters=_parameter_readers(functions, set(externals)),
        names=_symbols(module),
        rules=RULES,
    )
    for op in module.ops:
        if isinstance(op, func.FuncOp):
            _lower_function(lowering, op)
        elif isinstance(op, memref.GlobalOp):
            _lower_global(lowering, op)
        elif op.dialect_name() in ("llvm", "cuvil_llvm"):
            lowering.lowered.append(op)
        else:
            raise UnsupportedError(f"{op.name}: expected functions and globals at the top of a module", op)
    for host in functions:
        if INPUTS in host.attributes:
            add_entry(lowering, host)
    lowering.install(module)


def _symbols(module: ModuleOp) -> set[str]:
    return {op.properties["sym_name"].data for op in module.ops if "sym_name" in op.properties}  # pyright: ignore


# -- globals -----------------------------------------------------------------------------------------------------------


def _is_external(op: memref.GlobalOp) -> bool:
    return not isinstance(op.initial_value, DenseIntOrFPElementsAttr)


def _external_globals(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, memref.GlobalOp) and _is_external(op)]


def _lower_global(lowering: ModuleLowering, op: memref.GlobalOp) -> None:
    if not isinstance(op.initial_value, DenseIntOrFPElementsAttr):
        return
    buffer = op.type
    element = memory_type(llvm_type(buffer.element_type))
    lowering.lowered.append(
        llvm.GlobalOp(
            llvm.LLVMArrayType(op.initial_value.type.element_count(), element),
            op.sym_name,
            "internal",
            constant=op.constant is not None,
            value=constant_value(op.initial_value),
            alignment=64,
        )
    )


# -- functions ---------------------------------------------------------------------------------------------------------


def _parameter_readers(functions: Sequence[func.FuncOp], externals: set[str]) -> set[str]:
    """Functions that read a parameter, or call one that does."""
    callers: dict[str, set[str]] = {}
    readers: list[str] = []
    for function_op in functions:
        name = function_op.sym_name.data
        for op in function_op.walk():
            if isinstance(op, func.CallOp):
                callers.setdefault(op.callee.root_reference.data, set()).add(name)
            elif isinstance(op, memref.GetGlobalOp) and op.name_.root_reference.data in externals:
                readers.append(name)
    found: set[str] = set()
    while readers:
        name = readers.pop()
        if name not in found:
            found.add(name)
            readers.extend(callers.get(name, ()))
    return found


def _lower_function(lowering: ModuleLowering, op: func.FuncOp) -> None:
    name = op.sym_name.data
    results = op.function_type.outputs.data
    if len(results) > 1:
        raise UnsupportedError(f"{op.name}: @{name} has {len(results)} results, expected one at most", op)
    arg_types = [llvm_type(arg_type) for arg_type in op.function_type.inputs]
    if name in lowering.needs_parameters:
        arg_types.append(PTR)
    result = llvm_type(results[0]) if results else None
    if not op.body.blocks:
        lowering.lowered.append(function(name, arg_types, result, None, is_internal=False))
        return
    f = FunctionLowering(lowering, name, arg_types)
    _lower_body(f, op, is_reader=name in lowering.needs_parameters)
    is_private = op.sym_visibility is not None and op.sym_visibility.data == "private"
    attrs = [DictionaryAttr({k: v for k, v in a.data.items() if k.startswith("llvm.")}) for a in op.arg_attrs or ()]
    body = f.b.finish()
    lowering.lowered.append(function(name, arg_types, result, body, is_internal=is_private, arg_attrs=attrs))


def _lower_body(f: FunctionLowering, op: func.FuncOp, is_reader: bool) -> None:
    entry = op.body.blocks[0]
    f.values.update(zip(entry.args, f.b.entry.args, strict=False))
    if is_reader:
        f.parameters = f.b.entry.args[-1]
    for arg, attrs in zip(entry.args, op.arg_attrs or (), strict=False):
        if NOALIAS in attrs.data and isinstance(arg.type, MemRefType):
            f.noalias.add(arg)
    for block in list(op.body.blocks)[1:]:
        made = Block(arg_types=[llvm_type(arg.type) for arg in block.args])
        f.blocks[block] = made
        f.values.update(zip(block.args, made.args, strict=True))
    f.lower_block(entry)
    for block, made in f.blocks.items():
        f.b.start(made)
        f.lower_block(block)
