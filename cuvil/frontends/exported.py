"""The front end from torch.export: an exported program becomes a module of `cuvil_tensor` with one function.

    imported = trace_model(model, (x,))
    print(imported.module)

The function takes the program's tensor inputs in order and gives its tensor outputs in order. Weights and buffers
become globals by name, tied ones a single global, with their values beside the module (`ImportedModule.parameters`);
small lifted constants become constants in the text. Composites (layer_norm, attention, ...) stay whole. Non-tensor
inputs are constants of the program: the compiled module checks that a call passes the same.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind, TensorArgument
from torch.fx import GraphModule
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import UNKNOWN_LOC, BytesAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from cuvil.aliasing import apart, storage_address
from cuvil.dialects.tensor import ConstantOp, GlobalOp, ParameterOp, element_of
from cuvil.dialects.types import tensor_of
from cuvil.errors import UnsupportedError, UserError
from cuvil.frontends.assigned_buffers import assigned_buffers
from cuvil.frontends.aten_builder import GraphBuilder
from cuvil.frontends.aten_graph import GraphImporter, Problem, UnsupportedOpsError
from cuvil.frontends.aten_mutation import needs_functionalization
from cuvil.frontends.aten_types import array_of_tensor, dtype_of, type_of_value
from cuvil.frontends.export_errors import explained, quiet
from cuvil.frontends.exported_control import has_batching
from cuvil.frontends.exported_numbers import as_value
from cuvil.frontends.exported_symbols import declare_symbols
from cuvil.write_back import Effects

EXPORTING = threading.RLock()
"""torch.export keeps its state in globals: one thread at a time."""

LARGEST_CONSTANT = 64
"""Lifted constants of at most this many elements are written into the text."""


@dataclass(frozen=True)
class Input:
    """One leaf of the program's inputs: a tensor of a type, or a constant that calls must repeat."""

    name: str
    type: TensorType[Attribute] | None
    dtype: torch.dtype | None = None
    constant: Any = None


@dataclass(frozen=True)
class Output:
    """One leaf of the program's outputs: a tensor of a type and dtype, or a constant."""

    type: TensorType[Attribute] | None
    dtype: torch.dtype | None = None
    constant: Any = None
    is_number: bool = False
    """Whether the model gives a Python number where the function gives a 0-d tensor."""


@dataclass
class ImportedModule:
    """A model as IR, with what the IR does not carry."""

    module: ModuleOp
    parameters: dict[str, Any]
    """Values of the module's external globals by symbol: NumPy arrays that share memory with the model's tensors."""
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    input_tree: Any
    """The pytree (torch.utils._pytree.TreeSpec) of (args, kwargs)."""
    output_tree: Any
    name: str = "main"
    dim_names: Mapping[int, Mapping[int, str]] = field(default_factory=dict[int, Mapping[int, str]])
    """What the caller calls open dims: for each leaf of the inputs, by axis."""
    effects: Effects | None = None
    """What a call does besides computing, of a program that changes or gives back tensors from outside."""
    arguments: tuple[Input, ...] = ()
    """The leaves of the program's inputs where it has effects; `inputs` are then those of the compiled code."""

    def __str__(self) -> str:
        return str(self.module)


def trace_model(
    model: torch.nn.Module,
    example_inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    name: str = "main",
    is_aliasing: bool = False,
    is_called: bool = False,
) -> ImportedModule:
    """Export a model for inference on example inputs and import it; `is_aliasing` if it is wanted for inputs that
    share memory as these do, `is_called` as for `import_exported`.

    Raises `UserError` where torch.export fails, and as `import_exported` does.
    """
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    try:
        args, keywords = _distinct(model, (tuple(example_inputs), dict(kwargs or {})), is_aliasing)
        with EXPORTING, torch.no_grad(), quiet(), assigned_buffers(model) as assigned:
            program = torch.export.export(model, args, keywords, strict=False)
    except Exception as error:
        raise explained(error, type(model).__name__) from error
    return import_exported(program, name, model, is_called, assigned)


def _distinct(model: torch.nn.Module, arguments: Any, is_aliasing: bool) -> Any:
    """Arguments with every tensor a tensor of its own: torch.export takes one passed twice for one input.

    Of its own are its elements too, unless the program is wanted for tensors that share them (`is_aliasing`).
    """
    seen: set[int] = set()
    storages = {storage_address(tensor) for tensor in (*model.parameters(), *model.buffers())}

    def distinct(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        address = storage_address(leaf)
        is_known = id(leaf) in seen or address in storages
        seen.add(id(leaf))
        storages.add(address)
        if not is_known or not address:
            return leaf
        return leaf.detach() if is_aliasing else apart(leaf)

    return pytree.tree_map(distinct, arguments)


def import_exported(
    program: ExportedProgram,
    name: str = "main",
    model: torch.nn.Module | None = None,
    is_called: bool = False,
    assigned: Mapping[str, torch.Tensor] | None = None,
) -> ImportedModule:
    """The module of an exported program, with its function called `name`; `model` is what it was exported from, and
    `assigned` are the buffers that it replaces.

    Where it is to be called as the program is (`is_called`), results that share memory with inputs or one another are
    left to `ImportedModule.effects`; else the function gives each as a value.

    Raises `UnsupportedOpsError` for ops that cannot be compiled, all at once, and `UserError` for a program that
    changes its inputs or buffers within regions.
    """
    from cuvil.frontends.exported_mutation import Sharing, SharingImport, needs_memory

    graphs = [module.graph for module in program.graph_module.modules() if isinstance(module, GraphModule)]
    inner = [graph for graph in graphs if graph is not program.graph]
    if has_batching(program.graph) or any(needs_functionalization(graph) or has_batching(graph) for graph in inner):
        with EXPORTING:
            program = program.run_decompositions({})
        _refuse_mutation(program)
        return ProgramImport(program, name).run()
    sharing = Sharing.of(program, assigned or {})
    if not sharing.writes and not (is_called and sharing.is_sensitive) and not needs_memory(program.graph):
        return ProgramImport(program, name).run()
    return SharingImport(program, name, sharing=sharing, model=model, is_called=is_called).run()


def _refuse_mutation(program: ExportedProgram) -> None:
    changed = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION)
    for spec in program.graph_signature.output_specs:
        if spec.kind in changed:
            is_input = spec.kind == OutputKind.USER_INPUT_MUTATION
            what, training = ("input", "") if is_input else ("buffer", ", or call eval() on a model in training mode")
            raise UserError(
                f"the model changes its {what} '{spec.target}' in place; return the new value instead{training}"
            )


@dataclass
class ProgramImport:
    """One program on its way."""

    program: ExportedProgram
    name: str
    block: Block = field(default_factory=Block)
    globals: dict[str, GlobalOp] = field(default_factory=dict[str, GlobalOp])
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    _symbols: dict[Any, str] = field(default_factory=dict[Any, str])
    _values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def run(self) -> ImportedModule:
        self.builder = GraphBuilder(self.block, UNKNOWN_LOC)
        importer = GraphImporter(self.builder, self.constant_value)
        graph_inputs, inputs = self.arguments(importer)
        values = importer.run(self.program.graph_module, graph_inputs)
        if importer.problems:
            raise UnsupportedOpsError(importer.problems)
        results, outputs = self.results(values)
        if not results and not self.block.args:
            raise UnsupportedError("no input and no output of the model is a tensor; there is nothing to compile")
        function = self.function(results)
        module = ModuleOp([*self.globals.values(), function])
        spec = self.program.call_spec
        return ImportedModule(module, self.parameters, inputs, outputs, spec.in_spec, spec.out_spec, self.name)

    def function(self, results: Sequence[SSAValue]) -> FuncOp:
        self.builder.location = UNKNOWN_LOC
        self.builder.emit(ReturnOp(*results))
        types = ([argument.type for argument in self.block.args], [result.type for result in results])
        return declare_symbols(FuncOp(self.name, types, Region([self.block])), self.program)

    # -- inputs ------------------------------------------------------------------------------------------------------

    def arguments(self, importer: GraphImporter) -> tuple[list[Any], tuple[Input, ...]]:
        """The values of the graph's placeholders, and what the program's inputs are."""
        placeholders = [node for node in self.program.graph.nodes if node.op == "placeholder"]
        values: list[Any] = []
        inputs: list[Input] = []
        for spec, node in zip(self.program.graph_signature.input_specs, placeholders, strict=True):
            if spec.kind == InputKind.USER_INPUT:
                argument = self.user_input(spec, node.meta.get("val"), importer)
                inputs.append(argument)
                values.append(self.block.args[-1] if argument.type is not None else argument.constant)
            else:
                # Weights that nothing reads (a batch norm's counter) stay out of the module.
                values.append(self.held_tensor(spec) if node.users else None)
        return values, tuple(inputs)

    def user_input(self, spec: InputSpec, value: Any, importer: GraphImporter) -> Input:
        name = spec.arg.name
        if isinstance(spec.arg, ConstantArgument):
            return Input(name, None, constant=spec.arg.value)
        if not isinstance(value, torch.Tensor):
            raise UnsupportedError(f"input '{name}' is a symbolic number; pass it as a tensor")
        try:
            tensor_type = type_of_value(value)
        except UnsupportedError as error:
            raise UnsupportedError(f"input '{name}': {error.message}") from error
        argument = self.block.insert_arg(tensor_type, len(self.block.args))
        argument.name_hint = name
        return Input(name, tensor_type, value.dtype)

    def held_tensor(self, spec: InputSpec) -> Any:
        """A weight, buffer or lifted constant."""
        target = spec.target or spec.arg.name
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER) and target in self.program.state_dict:
            return self.parameter_value(target, self.program.state_dict[target])
        held = self.program.constants.get(target)
        if not isinstance(held, torch.Tensor):
            raise UnsupportedError(f"'{target}' is a {type(held).__name__}, not a tensor; the model cannot be compiled")
        if spec.kind == InputKind.CONSTANT_TENSOR:
            return self.constant_value(held, target)
        return self.parameter_value(target, held)

    def constant_value(self, tensor: torch.Tensor, name: str = "constant") -> SSAValue:
        """A tensor that the program holds: written into the text if small, else a global."""
        if tensor.numel() > LARGEST_CONSTANT:
            return self.parameter_value(name, tensor)
        return self.builder.value(constant_of(tensor))

    def parameter_value(self, name: str, tensor: torch.Tensor) -> SSAValue:
        """The use of a global, made when first asked for; tensors of the same memory share one."""
        key = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride()) if tensor.numel() else name
        symbol = self._symbols.get(key)
        if symbol is None:
            symbol = self._symbols[key] = self.unused_name(name)
            self.globals[symbol] = GlobalOp(symbol, type_of_value(tensor))
            self.parameters[symbol] = array_of_tensor(tensor)
        value = self._values.get(symbol)
        if value is None:
            value = self._values[symbol] = self.builder.value(ParameterOp(symbol, type_of_value(tensor)))
            value.name_hint = "w_" + "".join(letter if letter.isalnum() else "_" for letter in symbol)
        return value

    def unused_name(self, name: str) -> str:
        found, number = name, 0
        while found in self.globals or found == self.name:
            number += 1
            found = f"{name}_{number}"
        return found

    # -- outputs -----------------------------------------------------------------------------------------------------

    def results(self, values: Sequence[Any]) -> tuple[list[SSAValue], tuple[Output, ...]]:
        """The function's results, and what the program's outputs are."""
        nodes = next(node for node in self.program.graph.nodes if node.op == "output").args[0]
        results: list[SSAValue] = []
        outputs: list[Output] = []
        for spec, node, value in zip(self.program.graph_signature.output_specs, nodes, values, strict=True):
            if isinstance(spec.arg, ConstantArgument):
                outputs.append(Output(None, constant=spec.arg.value))
            elif isinstance(spec.arg, TensorArgument):
                outputs.append(Output(value.type, node.meta["val"].dtype))
                results.append(value)
            else:
                result = as_value(self.builder, value)
                outputs.append(Output(tensor_of(element_of(result), ()), dtype_of(element_of(result)), is_number=True))
                results.append(result)
        return results, tuple(outputs)


__all__ = ["ImportedModule", "Input", "Output", "Problem", "UnsupportedOpsError", "import_exported", "trace_model"]


def constant_of(tensor: torch.Tensor) -> ConstantOp:
    """A tensor's values, written into the text."""
    data = tensor.detach().cpu().contiguous()
    if data.dtype == torch.bool:
        data = -data.to(torch.int8)  # true is the signed one-bit integer -1
    # Contiguous ones of one element may have any stride, which a view of another element size does not take.
    flat = data.as_strided((data.numel(),), (1,))
    content = bytes(flat.view(torch.uint8).tolist()) if data.numel() else b""
    tensor_type: Any = type_of_value(tensor)
    return ConstantOp(DenseIntOrFPElementsAttr(tensor_type, BytesAttr(content)))
