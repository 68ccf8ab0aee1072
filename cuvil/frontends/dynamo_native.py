"""Native code of one graph of dynamo: exported, checked for what shares memory, compiled whole or in parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.traceback import preserve_node_meta
from torch.utils import _pytree as pytree

from cuvil.aliasing import apart, storage_address
from cuvil.compiled_module import CompiledModule, native_runner
from cuvil.errors import InternalError, UnsupportedError, UserError
from cuvil.frontends.aten_graph import UnsupportedOpsError
from cuvil.frontends.aten_mutation import needs_functionalization
from cuvil.frontends.aten_schema import is_mutating
from cuvil.frontends.dynamic_export import violated_constraints
from cuvil.frontends.dynamo_effects import BoundWeightError, EffectfulRun, import_with_effects
from cuvil.frontends.dynamo_partition import (
    LeftOut,
    partition,
    parts_of,
    shared_views,
    unsupported,
)
from cuvil.frontends.dynamo_shapes import OpenGraph
from cuvil.frontends.export_errors import quiet
from cuvil.frontends.exported import ImportedModule, import_exported
from cuvil.frontends.exported_control import has_batching
from cuvil.frontends.exported_symbols import check_sizes
from cuvil.frontends.graph_memory import is_dense
from cuvil.instrument import remarks
from cuvil.lowering import Lowering, lower_to_native
from cuvil.options import Options

_CHANGES = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION)


class EagerGraphError(UnsupportedError):
    """The graph cannot be compiled, not even in parts: PyTorch must run all of it."""


@dataclass(frozen=True)
class Lowered:
    """A graph as native code: `run` takes the tensors that are not bound and gives the graph's results."""

    run: Callable[[Sequence[Tensor]], Any]
    parts: tuple[CompiledModule, ...]
    left_out: tuple[LeftOut, ...] = ()
    opened: OpenGraph | None = None

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the code is for tensors that overlap as these do. Raises `UserError` for sizes that no code fits."""
        if self.opened is not None:
            self.opened.check(tensors)
        return not isinstance(self.run, EffectfulRun) or self.run.fits(tensors)


def lower_graph(graph_module: GraphModule, args: Sequence[Any], inputs: Sequence[int], options: Options) -> Lowered:
    """Code of a graph for these arguments; those at `inputs` are passed at each call, the others are bound.

    Raises `EagerGraphError` for a graph that changes its inputs, or that torch.export cannot trace.
    """
    given = tuple(args[place] for place in inputs)
    with torch.inference_mode(False), torch.no_grad():
        model = _Bound(graph_module, args, inputs)
        try:
            lowered = _lowered(_exported(model, _apart(given)), options)
            if lowered.fits(given):
                return lowered
            made = _lowered(_exported(model, tuple(each.detach() for each in given)), options)
            if isinstance(made.run, EffectfulRun):
                made.run.expect(given)
            return made
        except BoundWeightError:
            raise
        except UserError as error:
            raise EagerGraphError(error.message, error.location) from error


def _apart(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors like these, none in memory of another's."""
    seen: set[int] = set()
    made: list[Tensor] = []
    for tensor in tensors:
        address = storage_address(tensor)
        made.append(apart(tensor) if address and address in seen else _traceable(tensor))
        seen.add(address)
    return tuple(made)


def _traceable(tensor: Tensor) -> Tensor:
    """The tensor, or one like it that may be changed outside of inference mode."""
    return tensor.clone() if tensor.is_inference() else tensor


def lower_open_graph(
    graph_module: GraphModule, args: Sequence[Any], inputs: Sequence[int], opened: OpenGraph, options: Options
) -> Lowered:
    """As `lower_graph`, code for all sizes of what is open in the graph. Raises `CuvilError` where that cannot be."""
    model = _Bound(graph_module, args, inputs, opened.numbers).eval()
    with torch.inference_mode(False), torch.no_grad(), quiet():
        given = tuple(_traceable(args[place]) for place in inputs)
        try:
            program = torch.export.export(model, given, dynamic_shapes={"tensors": opened.shapes}, strict=False)
        except Exception as error:
            message = violated_constraints(str(error)) or " ".join(str(error).split())[:200]
            raise EagerGraphError(f"torch.export cannot trace it for all sizes: {message}") from error
        _check_on_cpu(program)
        imported = import_with_effects(program)
        made = _whole(_functional(program), options) if imported is None else _effectful(program, imported, options)
        return replace(made, opened=opened)


def _lowered(program: ExportedProgram, options: Options) -> Lowered:
    _check_on_cpu(program)
    try:
        imported = import_with_effects(program)
        if imported is not None:
            return _effectful(program, imported, options)
        program = _functional(program)
        return _whole(program, options)
    except UnsupportedOpsError:
        program = _functional(program)
        return _in_parts(program, shared_views(program.graph), options)


def _effectful(program: ExportedProgram, imported: ImportedModule, options: Options) -> Lowered:
    compiled = _native(imported, options)
    assert imported.effects is not None
    run = EffectfulRun(imported.effects, compiled.run_tensors, program.call_spec.out_spec)
    return Lowered(run, (compiled,))


class _Bound(nn.Module):
    """A graph as a function of some of its arguments; the other tensors are its weights, other values constants."""

    def __init__(
        self,
        graph_module: GraphModule,
        args: Sequence[Any],
        inputs: Sequence[int],
        numbers: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        super().__init__()
        self.graph_module = graph_module
        self.inputs = tuple(inputs)
        self.numbers = dict(numbers or {})
        """Places of arguments that are sizes of inputs: position and axis."""
        self.values = [None if isinstance(arg, Tensor) else arg for arg in args]
        placeholders = [node.name for node in graph_module.graph.nodes if node.op == "placeholder"]
        self.names: dict[int, str] = {}
        for place, arg in enumerate(args):
            if isinstance(arg, Tensor) and place not in inputs:
                self.names[place] = f"{placeholders[place]}_{place}"
                self.register_buffer(self.names[place], arg.detach())

    def forward(self, *tensors: Tensor) -> Any:
        values: list[Any] = list(self.values)
        for place, tensor in zip(self.inputs, tensors, strict=True):
            values[place] = tensor
        for place, (position, axis) in self.numbers.items():
            values[place] = tensors[position].shape[axis]
        for place, name in self.names.items():
            values[place] = getattr(self, name)
        # Interpreted, not called: each node keeps the line of the user's source that it came from.
        with preserve_node_meta():
            return Interpreter(self.graph_module).run(*values)


def _exported(model: nn.Module, inputs: tuple[Tensor, ...]) -> ExportedProgram:
    try:
        return torch.export.export(model.eval(), inputs, strict=False)
    except Exception as error:
        raise EagerGraphError(f"torch.export cannot trace it: {' '.join(str(error).split())[:200]}") from error


def _functional(program: ExportedProgram) -> ExportedProgram:
    """The program without changes in place. Raises `EagerGraphError` if changes can be seen from outside."""
    graphs = [module.graph for module in program.graph_module.modules() if isinstance(module, GraphModule)]
    if any(needs_functionalization(graph) or has_batching(graph) for graph in graphs):
        program = program.run_decompositions({})
    if any(spec.kind in _CHANGES for spec in program.graph_signature.output_specs):
        raise EagerGraphError("it changes its inputs or buffers in place")
    return program


def _check_on_cpu(program: ExportedProgram) -> None:
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, Tensor) and (value.device.type != "cpu" or value.layout != torch.strided):
            raise EagerGraphError(f"it has a {value.layout} tensor on {value.device}; compiled are dense ones on cpu")


def _whole(program: ExportedProgram, options: Options) -> Lowered:
    compiled = _native(import_exported(program), options)
    last = next(node for node in reversed(program.graph.nodes) if node.op == "output")
    restrided = _restrider(last.args[0])
    return Lowered(lambda inputs: restrided(compiled(*inputs)), (compiled,))


def _native(imported: ImportedModule, options: Options) -> CompiledModule:
    started = time.perf_counter()
    imported.module.verify()
    check_sizes(imported.module, imported.name)
    with remarks.collect() as said:
        native = lower_to_native(Lowering(imported, "cpu", options))
    imported = replace(imported, parameters={})
    return CompiledModule(
        imported,
        native_runner(native.executable, imported),
        target="cpu",
        options=options,
        memory=native.memory,
        compile_seconds=time.perf_counter() - started,
        remarks=said,
        stage_text=Lowering(imported, "cpu", options).text,
    )


# -- parts -----------------------------------------------------------------------------------------------------------


class _Part(nn.Module):
    """The native code of a part, in the place of its graph; weights among its arguments are bound already."""

    def __init__(self, compiled: CompiledModule, inputs: Sequence[int], restrided: Callable[[Any], Any]) -> None:
        super().__init__()
        self.compiled = compiled
        self.inputs = tuple(inputs)
        self.restrided = restrided

    def forward(self, *args: Any) -> Any:
        return self.restrided(self.compiled(*(args[place] for place in self.inputs)))


def _in_parts(program: ExportedProgram, left_out: list[LeftOut], options: Options) -> Lowered:
    """The graph run node by node, with native code in place of what can be compiled."""
    if any(is_mutating(node) for node in program.graph.nodes):
        # Parts pass copies on; what is changed in place must not be in two of them.
        program = program.run_decompositions({})
        left_out = shared_views(program.graph)
    known = {each.node for each in left_out}
    left_out = [*left_out, *(each for each in unsupported(program.graph_module) if each.node not in known)]
    held = _held_values(program)
    graph_module = partition(program.graph_module, left_out)
    compiled = [_compile_part(graph_module, call, held, options) for call in parts_of(graph_module)]
    graph_module.recompile()
    places = [node.name for node in graph_module.graph.nodes if node.op == "placeholder"]
    spec: Any = program.call_spec.out_spec

    def run(inputs: Sequence[Tensor]) -> Any:
        remaining = iter(inputs)
        results = graph_module(*(held[name] if name in held else next(remaining) for name in places))
        return pytree.tree_unflatten(list(results), spec)

    return Lowered(run, tuple(compiled), tuple(left_out))


def _held_values(program: ExportedProgram) -> dict[str, Any]:
    """The weights and constants of a program by the name of their placeholder."""
    held: dict[str, Any] = {}
    for spec in program.graph_signature.input_specs:
        if spec.kind != InputKind.USER_INPUT:
            target = spec.target or spec.arg.name
            held[spec.arg.name] = program.state_dict.get(target, program.constants.get(target))
    return held


def _compile_part(graph_module: GraphModule, call: Node, held: Mapping[str, Any], options: Options) -> CompiledModule:
    name = str(call.target)
    part: Any = graph_module.get_submodule(name)
    nodes = [argument for argument in call.args if isinstance(argument, Node)]
    args = [held[node.name] if node.name in held else _example(node) for node in nodes]
    inputs = [place for place, node in enumerate(nodes) if node.name not in held and isinstance(args[place], Tensor)]
    program = _exported(_Bound(part, args, inputs), tuple(args[place] for place in inputs))
    try:
        compiled = _native(import_exported(program), options)
    except UnsupportedOpsError as error:
        raise InternalError(f"ops that could be imported alone cannot be together: {error.message}") from error
    last = next(node for node in reversed(part.graph.nodes) if node.op == "output")
    results = last.args[0] if isinstance(last.args[0], list | tuple) else [last.args[0]]
    setattr(graph_module, name, _Part(compiled, inputs, _restrider(results)))
    return compiled


def _example(node: Node) -> Any:
    """A tensor like the one that the node gives."""
    value = node.meta.get("val")
    return torch.zeros(value.shape, dtype=value.dtype, device=value.device) if isinstance(value, Tensor) else value


# -- results ---------------------------------------------------------------------------------------------------------


def _restrider(nodes: Sequence[Any]) -> Callable[[Any], Any]:
    """Gives results the strides that PyTorch's have, where those are not contiguous: code outside may need them."""
    strides = [_uncommon_strides(node) for node in nodes]
    if not any(strides):
        return lambda results: results
    if any(isinstance(step, torch.SymInt) for each in strides if each is not None for step in each):
        return _reorderer([None if each is None else _order_of(each) for each in strides])

    def restrided(results: Any) -> Any:
        leaves, tree = pytree.tree_flatten(results, is_leaf=lambda leaf: leaf is None)
        given = [
            leaf if stride is None else torch.empty_strided(leaf.shape, stride, dtype=leaf.dtype).copy_(leaf)
            for leaf, stride in zip(leaves, strides, strict=True)
        ]
        return pytree.tree_unflatten(given, tree)

    return restrided


def _reorderer(orders: Sequence[Sequence[int] | None]) -> Callable[[Any], Any]:
    """Gives results the order of strides that PyTorch's have, whatever their sizes are."""

    def reordered(results: Any) -> Any:
        leaves, tree = pytree.tree_flatten(results, is_leaf=lambda leaf: leaf is None)
        given = [
            leaf if order is None else leaf.permute(order).contiguous().permute(_inverse(order))
            for leaf, order in zip(leaves, orders, strict=True)
        ]
        return pytree.tree_unflatten(given, tree)

    return reordered


def _order_of(strides: Sequence[int | torch.SymInt]) -> list[int]:
    """The axes from the largest stride to the smallest."""
    sizes = [step if isinstance(step, int) else step.node.hint for step in strides]
    return sorted(range(len(strides)), key=lambda axis: -sizes[axis])


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=lambda axis: order[axis])


def _uncommon_strides(node: Any) -> tuple[int, ...] | None:
    """The strides of a dense tensor that is not contiguous; None of any other."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    if not isinstance(value, Tensor) or value.is_contiguous() or not is_dense(node):
        return None
    return tuple(value.stride())
