"""What `cuvil.compile` returns: the model as a function of tensors, with what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from xdsl.dialects.func import FuncOp

from cuvil.arguments import ArgumentError, Arguments
from cuvil.dialects.tensor_symbols import symbols_of
from cuvil.dialects.types import shape_of
from cuvil.errors import CuvilRuntimeError, UserError
from cuvil.frontends.aten_types import array_of_tensor
from cuvil.frontends.exported import ImportedModule, Output
from cuvil.instrument.remarks import Remark
from cuvil.runtime.executable import Executable
from cuvil.semantics.size_obligations import is_met, obligations
from cuvil.semantics.symbol_binding import BoundInput, SymbolBinding

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from cuvil.options import Options


@dataclass(frozen=True)
class MemoryReport:
    """Bytes that an inference needs, known before the first run; weights and inputs are not activations.

    Where sizes are open, this is for their greatest values (for the least of those without a greatest one).
    """

    arena_bytes: int
    """Intermediate values, and scratch space inside kernels."""
    output_bytes: int
    parameter_bytes: int

    @property
    def peak_bytes(self) -> int:
        """The most memory that activations take: the arena and the outputs."""
        return self.arena_bytes + self.output_bytes


class Runner(Protocol):
    """Runs the compiled function on checked inputs."""

    def __call__(self, inputs: Sequence[Tensor], /) -> list[Tensor]: ...


class CompiledModule:
    """A compiled model: call it as the model was called. Its results are new tensors; several threads may call it.

        compiled = cuvil.compile(model, (x,))
        y = compiled(x)

    Arguments may be torch tensors or NumPy arrays. One that the model was not compiled for raises an `ArgumentError`.
    """

    memory: MemoryReport
    compile_seconds: float
    """The whole of `cuvil.compile`: trace, passes, code generation, loading, packing of weights."""
    remarks: tuple[Remark, ...]
    """What passes did and declined to do, with the model's source lines."""
    options: Options
    target: str

    def __init__(
        self,
        imported: ImportedModule,
        run: Runner,
        *,
        target: str,
        options: Options,
        memory: MemoryReport,
        compile_seconds: float,
        remarks: Sequence[Remark] = (),
        stage_text: Callable[[str | None], str],
    ) -> None:
        self.target = target
        self.options = options
        self.memory = memory
        self.compile_seconds = compile_seconds
        self.remarks = tuple(remarks)
        self._imported = imported
        if imported.effects is not None:
            imported = replace(imported, inputs=imported.arguments, output_tree=None)
        self._arguments = Arguments(imported)
        self._run = run
        self._stage_text = stage_text
        self._wrap = _wrapper(imported.outputs, imported.output_tree)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._wrap(self._run(self._arguments.tensors(args, kwargs)))

    @property
    def run_tensors(self) -> Runner:
        """The compiled code itself: contiguous CPU tensors of the right types in, new ones out, unchecked."""
        return self._run

    @property
    def module(self) -> ModuleOp:
        """The model as it was imported: `cuvil_tensor` with composites. It is the compiler's own; do not change it."""
        return self._imported.module

    def text(self, stage: str | None = None) -> str:
        """The IR after a stage, as text; without one, as imported.

        `stage` is a stage of the target's pipeline (`normalize`, `fuse`, `memory`, `loops`, `llvm`), a pass of it, a
        dialect (`cuvil_tensor`, `cuvil_fused`), `llvm-ir` or `assembly`. Nothing is kept: the passes run again.
        Raises `UserError` for an unknown stage.
        """
        return self._stage_text(stage)

    def __copy__(self) -> CompiledModule:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledModule:
        """Itself, for nothing of it can be changed."""
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UserError(
            "a compiled model is code in this process and cannot be pickled; pickle the model, compile again"
        )

    def __repr__(self) -> str:
        inputs = ", ".join(f"{given.name}: {given.type or repr(given.constant)}" for given in self._imported.inputs)
        return f"CompiledModule({inputs}; target={self.target}, peak={self.memory.peak_bytes} bytes)"


def binding_of(imported: ImportedModule) -> SymbolBinding | None:
    """How a program's symbols follow from its inputs' shapes; None where all sizes are known."""
    function = next(op for op in imported.module.ops if isinstance(op, FuncOp) and op.sym_name.data == imported.name)
    symbols = symbols_of(function)
    if not symbols:
        return None
    inputs = [
        BoundInput(given.name, shape_of(given.type), imported.dim_names.get(number, {}))
        for number, given in enumerate(imported.inputs)
        if given.type is not None
    ]
    return SymbolBinding(inputs, symbols, [dim for dim in obligations(function) if not is_met(dim, symbols)])


def native_runner(executable: Executable, imported: ImportedModule) -> Runner:
    """Runs native code on the addresses of the inputs, and of outputs made for the call."""
    binding = binding_of(imported)
    if binding is not None:
        return _dynamic_runner(executable, imported, binding)
    made: list[Any] = [(shape_of(output.type), output.dtype) for output in imported.outputs if output.type is not None]
    take, run, give_back = executable.take_frame, executable.run, executable.give_back
    empty = torch.empty

    def call(inputs: Sequence[Tensor]) -> list[Tensor]:
        frame = take()
        try:
            pointers = frame.inputs
            for number, tensor in enumerate(inputs):
                pointers[number] = tensor.data_ptr() or _no_address(tensor)
            # The device is said, for a `with torch.device(...)` around the call is not meant for these.
            outputs = [empty(shape, dtype=dtype, device="cpu") for shape, dtype in made]
            pointers = frame.outputs
            for number, tensor in enumerate(outputs):
                pointers[number] = tensor.data_ptr() or _no_address(tensor)
            run(frame)
        except CuvilRuntimeError:
            raise
        except RuntimeError as error:  # torch's, from `data_ptr`
            raise ArgumentError(f"{_NO_MEMORY}: {error}") from error
        finally:
            give_back(frame)
        return outputs

    return call


def _dynamic_runner(executable: Executable, imported: ImportedModule, binding: SymbolBinding) -> Runner:
    """As `native_runner`, where the inputs' shapes give the sizes of outputs."""
    outputs_of_call = [output for output in imported.outputs if output.type is not None]
    shapes_of_call = binding.shapes([shape_of(output.type) for output in outputs_of_call if output.type is not None])
    dtypes = [output.dtype for output in outputs_of_call]
    take, run, give_back, bind = executable.take_frame, executable.run, executable.give_back, binding.bind
    empty = torch.empty

    def call(inputs: Sequence[Tensor]) -> list[Tensor]:
        sizes = bind(inputs)
        if sizes is None:
            raise ArgumentError(binding.fault([tuple(tensor.shape) for tensor in inputs]))
        frame = take()
        try:
            frame.symbols[:] = sizes
            pointers = frame.inputs
            for number, tensor in enumerate(inputs):
                pointers[number] = tensor.data_ptr() or _no_address(tensor)
            shapes = shapes_of_call(*sizes)
            outputs = [empty(shape, dtype=dtype, device="cpu") for shape, dtype in zip(shapes, dtypes, strict=True)]
            pointers = frame.outputs
            for number, tensor in enumerate(outputs):
                pointers[number] = tensor.data_ptr() or _no_address(tensor)
            run(frame)
        except CuvilRuntimeError:
            raise
        except RuntimeError as error:  # torch's, from `data_ptr`
            raise ArgumentError(f"{_NO_MEMORY}: {error}") from error
        finally:
            give_back(frame)
        return outputs

    return call


_NO_MEMORY = "compiled code runs on tensors in memory, not under torch's transforms and tracing (vmap, ...)"


def _no_address(tensor: Tensor) -> int:
    """The address of a tensor that has none: only one without elements may do without."""
    if tensor.numel():
        raise ArgumentError(_NO_MEMORY)
    return 0


def interpreting_runner(imported: ImportedModule) -> Runner:
    """Runs the reference interpreter on the imported module."""
    from cuvil.semantics.interpreter import run_function

    dtypes = [output.dtype for output in imported.outputs if output.type is not None]
    binding = binding_of(imported)

    def call(inputs: Sequence[Tensor]) -> list[Tensor]:
        if binding is not None and binding.bind(inputs) is None:
            raise ArgumentError(binding.fault([tuple(tensor.shape) for tensor in inputs]))
        arrays = [array_of_tensor(tensor) for tensor in inputs]
        results = run_function(imported.module, imported.name, arrays, imported.parameters)
        return [
            torch.tensor(np.array(result, order="C"), dtype=dtype)
            for result, dtype in zip(results, dtypes, strict=True)
        ]

    return call


def _wrapper(outputs: Sequence[Output], tree: Any) -> Callable[[list[Tensor]], Any]:
    """Puts the results where the model's own result has them."""
    if tree is None:
        return tuple
    numbers = any(output.is_number for output in outputs)
    if tree.is_leaf() and outputs[0].type is not None and not numbers:
        return lambda results: results[0]
    if all(output.type is not None for output in outputs) and not numbers:
        return lambda results: pytree.tree_unflatten(results, tree)

    def wrap(results: list[Tensor]) -> Any:
        remaining = iter(results)
        leaves = [output.constant if output.type is None else next(remaining) for output in outputs]
        leaves = [leaf.item() if output.is_number else leaf for leaf, output in zip(leaves, outputs, strict=True)]
        return pytree.tree_unflatten(leaves, tree)

    return wrap
