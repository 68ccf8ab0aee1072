"""At which level of the IR a module is."""

from __future__ import annotations

from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp

Level: TypeAlias = Literal["tensor", "fused", "buffers", "gpu", "loops", "llvm"]

_LOOP_DIALECTS = ("memref", "vector", "cuvil_vector")


def level_of(module: ModuleOp) -> Level:
    """The lowest level that any operation of the module belongs to."""
    level: Level = "tensor"
    has_kernels = has_gpu = False
    # A program of call-backs alone has nothing but calls.
    has_loops = "cuvil.callbacks" in module.attributes
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
        has_gpu = has_gpu or dialect == "cuvil_gpu"
        has_loops = has_loops or dialect in _LOOP_DIALECTS
    if has_gpu:
        return "gpu"
    return "loops" if has_loops and not has_kernels else level
