"""Running a function of a module at any level: the interpreter where it can, native code below.

| level     | what it is                                                 | runs by                                     |
|-----------|------------------------------------------------------------|---------------------------------------------|
| `tensor`  | `cuvil_tensor`, control flow on tensors                      | the interpreter                             |
| `fused`   | `cuvil_fused.kernel` on values                               | the interpreter                             |
| `buffers` | kernels in destination style, `alloc`, views of the arena      | the interpreter, on buffers                 |
| `loops`   | func, scf, arith, math, vector, memref on flat buffers         | the rest of the pipeline, then native code  |
| `llvm`    | the llvm dialect                                           | native code                                 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from cuvil.semantics.arrays import Array

Level: TypeAlias = Literal["tensor", "fused", "buffers", "loops", "llvm"]

_LOOP_DIALECTS = ("memref", "vector", "cuvil_vector")


def level_of(module: ModuleOp) -> Level:
    """The lowest level that any operation of the module belongs to."""
    level: Level = "tensor"
    has_kernels = has_loops = False
    for op in module.walk():
        dialect = op.name.partition(".")[0]
        if dialect == "llvm":
            return "llvm"
        if dialect == "cuvil_fused":
            has_kernels = True
            if level == "tensor":
                level = "fused"
            if op.name not in ("cuvil_fused.kernel", "cuvil_fused.yield") or getattr(op, "into", ()):
                level = "buffers"
        has_loops = has_loops or dialect in _LOOP_DIALECTS
    return "loops" if has_loops and not has_kernels else level


def execute(
    module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array] | None = None
) -> list[Array]:
    """The results of function `name`, whatever level the module is at; the module is left as it is.

    Raises `InterpretationError` or another `CuvilError` if it cannot be run.
    """
    level = level_of(module)
    if level in ("tensor", "fused"):
        from cuvil.semantics.interpreter import run_function

        return run_function(module, name, inputs, parameters)
    if level == "buffers":
        from cuvil.semantics.buffer_execution import run_on_buffers

        return run_on_buffers(module, name, inputs, parameters or {})
    from cuvil.semantics.native_execution import run_natively

    return run_natively(module, name, inputs, parameters or {})
