"""Running a module natively, from any level: the rest of the CPU pipeline, then compiled code, without PyTorch.

What flat buffers no longer tell, the module's `cuvil.host` does (`signatures.py`). Globals with an initializer are
evaluated by the reference interpreter while they are still there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, ModuleOp, TensorType
from xdsl.ir import Attribute

from cuvil.dialects.tensor import shape_of
from cuvil.errors import InternalError, UnsupportedError, UserError
from cuvil.pass_manager import PassManager
from cuvil.pipeline import Pipeline, default_pipeline
from cuvil.runtime.executable import Executable
from cuvil.runtime.memory import aligned_empty
from cuvil.semantics.arrays import Array, bf16_bits, from_bf16_bits, to_reference
from cuvil.semantics.dims import Dim
from cuvil.semantics.interpreter import Interpreter
from cuvil.semantics.levels import level_of
from cuvil.semantics.meanings_fused import buffer_dtype
from cuvil.semantics.signatures import ARENA_BYTES, Host, host_of
from cuvil.semantics.symbol_binding import bind_symbols
from cuvil.targets.cpu import CpuTarget

_FLAT = "lower-fused-to-loops"


def run_natively(module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array]) -> list[Array]:
    """The results of function `name`, compiled from whatever level the module is at."""
    return NativeProgram(module, name, parameters)(inputs)


class NativeProgram:
    """A function compiled and loaded: call it with the arrays that the reference interpreter takes."""

    def __init__(
        self, module: ModuleOp, name: str, parameters: Mapping[str, Array], threads: int | None = None
    ) -> None:
        """Compile the function `name`; `parameters` are the values of external globals.

        Raises `CuvilError` where the pipeline refuses the module, or a parameter has no value.
        """
        module = module.clone()
        values = dict(parameters)
        first, last = _remaining_pipeline(module)
        PassManager(first).run(module)
        if level_of(module) not in ("loops", "llvm"):
            values.update(Interpreter(module, parameters).computed_globals())
        PassManager(last).run(module)
        host = host_of(module)
        if host is not None and not all(isinstance(each, TensorType) for each in (*host.inputs, *host.outputs)):
            raise UnsupportedError(f"function @{name} takes or gives scalars: native code takes tensors only")
        if host is None or host.function != name:
            raise UnsupportedError(
                f"function @{name} cannot be run: the module does not say what its host function takes"
            )
        self.host = host
        self.executable = _loaded(module, host, values)
        self.executable.set_threads(threads)

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        """The results on `inputs`. Raises `UserError` if they do not fit the function."""
        host = self.host
        if len(inputs) != len(host.inputs):
            raise UserError(f"function @{host.function} takes {len(host.inputs)} arguments, got {len(inputs)}")
        sizes = bind_symbols(_sizes(host.inputs, inputs)) if host.symbols else {}
        for name, known in host.symbols.items():
            # Native code relies on it: its row buffers are as large as the range says.
            if not known.allows(sizes[name]):
                raise UserError(f"symbol {name} is {sizes[name]}, outside of its range {known}")
        given = [
            native_array(value, declared, sizes=sizes) for value, declared in zip(inputs, host.inputs, strict=True)
        ]
        results = [aligned_empty(_shape(declared, sizes), _dtype(declared)) for declared in host.outputs]
        addresses, made = ([each.ctypes.data for each in arrays] for arrays in (given, results))
        self.executable.call(addresses, made, [sizes[name] for name in host.symbols])
        return [_reference_array(value, declared) for value, declared in zip(results, host.outputs, strict=True)]


def _remaining_pipeline(module: ModuleOp) -> tuple[Pipeline, Pipeline]:
    """What is still to run before buffers become flat, and from there on."""
    # As texts, so that only the passes that are to run are imported.
    whole = default_pipeline("cpu")
    before, after = _split(whole, _FLAT)
    flatten = f"{_FLAT},{after}"
    match level_of(module):
        case "tensor":
            texts = before, flatten
        case "fused":
            texts = _split(before, "fuse")[1], flatten
        case "buffers":
            is_planned = any(ARENA_BYTES in op.attributes for op in module.ops)
            texts = "" if is_planned else "plan-memory", flatten
        case "gpu":
            raise UserError("kernels of cuvil_gpu are not native code of this machine; `execute` runs them simulated")
        case "loops":
            texts = "", after
        case "llvm":
            texts = "", ""
    return Pipeline.of(texts[0]), Pipeline.of(texts[1])


def _split(pipeline: str, name: str) -> tuple[str, str]:
    """The parts of a pipeline's text before and after the pass called `name`."""
    found = re.search(rf"(?:^|,){re.escape(name)}(?:\{{[^}}]*\}})?(?:,|$)", pipeline)
    if found is None:
        raise InternalError(f"the pipeline '{pipeline}' has no pass '{name}'")
    return pipeline[: found.start()], pipeline[found.end() :]


def _loaded(module: ModuleOp, host: Host, values: Mapping[str, Array]) -> Executable:
    from cuvil.codegen.callbacks import callbacks_of
    from cuvil.codegen.jit import compile_text, load_executable
    from cuvil.codegen.llvm_text import module_to_text

    missing = [name for name in host.parameters if name not in values]
    if missing:
        raise UserError(f"parameter '{missing[0]}' has no value")
    target = CpuTarget.host()
    text = module_to_text(module, target)
    return load_executable(
        [compile_text(text, target)],
        input_count=len(host.inputs),
        output_count=len(host.outputs),
        arena_bytes=host.arena_bytes,
        symbol_count=len(host.symbols),
        callbacks=callbacks_of(module),
        parameters=[
            native_array(values[name], declared, f"parameter '{name}'")
            for name, declared in zip(host.parameters, host.parameter_types, strict=True)
        ],
    )


def _sizes(types: Sequence[Attribute], values: Sequence[Array]) -> list[tuple[Dim, int]]:
    """The dims of the inputs' types and their sizes. Raises `UserError` where the ranks differ."""
    pairs: list[tuple[Dim, int]] = []
    for declared, value in zip(types, values, strict=True):
        shape = shape_of(declared)
        if len(shape) != np.ndim(value):
            raise UserError(f"an argument has shape {list(np.shape(value))}, expected {declared}")
        pairs += zip(shape, np.shape(value), strict=True)
    return pairs


def native_array(
    value: Array, declared: Attribute, what: str = "an argument", sizes: Mapping[str, int] | None = None
) -> Array:
    """An array as compiled code reads a tensor of type `declared`. Raises `UserError` if its shape is another."""
    assert isinstance(declared, TensorType)
    if np.shape(value) != _shape(declared, sizes or {}):
        raise UserError(f"{what} has shape {list(np.shape(value))}, expected {declared}")
    reference = to_reference(value, declared.element_type)
    is_bf16 = isinstance(declared.element_type, BFloat16Type)
    result = aligned_empty(reference.shape, _dtype(declared))
    result[...] = bf16_bits(reference) if is_bf16 else reference
    return result


def _reference_array(value: Array, declared: Attribute) -> Array:
    assert isinstance(declared, TensorType)
    return from_bf16_bits(value) if isinstance(declared.element_type, BFloat16Type) else value


def _shape(declared: Attribute, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(dim if isinstance(dim, int) else dim.evaluate(sizes) for dim in shape_of(declared))


def _dtype(declared: Attribute) -> Any:
    assert isinstance(declared, TensorType)
    return buffer_dtype(declared.element_type)
