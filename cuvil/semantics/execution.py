"""Running a function of a module at any level: the interpreter where it can, native code below.

| level     | what it is                                                | runs by                                    |
|-----------|-----------------------------------------------------------|--------------------------------------------|
| `tensor`  | `cuvil_tensor`, control flow on tensors                   | the interpreter                            |
| `fused`   | `cuvil_fused.kernel` on values                            | the interpreter                            |
| `buffers` | kernels in destination style, `alloc`, views of the arena | the interpreter, on buffers                |
| `gpu`     | launches of `cuvil_gpu` kernels on buffers                | the interpreter, kernels in the simulator  |
| `loops`   | func, scf, arith, math, vector, memref on flat buffers    | the rest of the pipeline, then native code |
| `llvm`    | the llvm dialect                                          | native code                                |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from cuvil.semantics.arrays import Array
from cuvil.semantics.levels import level_of


def execute(
    module: ModuleOp,
    name: str,
    inputs: Sequence[Array],
    parameters: Mapping[str, Array] | None = None,
    computed: dict[str, Array] | None = None,
) -> list[Array]:
    """The results of function `name`, whatever level the module is at; the module is left as it is.

    `computed` takes up the values of globals that have an initializer; they are used at lower levels, which have lost
    the initializers. Raises `InterpretationError` or another `CuvilError` if the function cannot be run.
    """
    level = level_of(module)
    if level in ("loops", "llvm"):
        from cuvil.semantics.native_execution import run_natively

        return run_natively(module, name, inputs, {**(parameters or {}), **(computed or {})})
    from cuvil.semantics.interpreter import Interpreter

    interpreter = Interpreter(module, parameters)
    if computed is not None:
        computed.update(interpreter.computed_globals())
    if level == "gpu":
        from cuvil.semantics.device_execution import run_on_device

        return run_on_device(interpreter, name, inputs)
    if level == "buffers":
        from cuvil.semantics.buffer_execution import run_on_buffers

        return run_on_buffers(interpreter, name, inputs)
    return interpreter.run(name, inputs)
