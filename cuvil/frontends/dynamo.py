"""The backend of torch.compile: `torch.compile(model, backend="cuvil")`, found by torch through its entry point.

Dynamo hands over a graph of torch calls. At its first call the graph is exported on the tensors it is called with, so
that it takes the way of every exported model. Sizes that dynamo left symbolic stay so, and one compilation serves all
of them; where that cannot be, what comes out is kept for calls with the same sizes, and a remark says why. Tensors that
belong to modules are bound as weights, as long as they stay as they are: another tensor, or one changed in place,
compiles again, and one that changes becomes an input.

Nothing is refused. What Cuvil cannot do, PyTorch does: single ops (`dynamo_partition`), or the whole graph where
autograd is needed or the graph changes its inputs. Each such case is a remark, a warning and a line of
`cuvil.explain`.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.convert_frame import compile_lock
from torch.fx import GraphModule, Node

from cuvil.errors import CuvilError, Locatable, SourceLocation, UserError, source_location
from cuvil.frontends.dynamo_effects import BoundWeightError
from cuvil.frontends.dynamo_native import EagerGraphError, Lowered, lower_graph, lower_open_graph
from cuvil.frontends.dynamo_shapes import ConstantFloat, float_places, layout_of, open_graph
from cuvil.frontends.sources import location_of_node
from cuvil.instrument import remarks, warnings
from cuvil.options import Options

PASS_NAME = "torch.compile"
MAXIMUM_BINDINGS = 16
"""Sets of weights that one graph is compiled for before its weights become inputs (layers may share a graph)."""
MAXIMUM_SIZES = 64
"""Sizes of inputs that the code of one graph is kept for; the oldest is dropped first."""

_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")


def backend(graph_module: GraphModule, example_inputs: Sequence[Any], **settings: Any) -> Callable[..., Any]:
    """The function that dynamo calls in place of the graph; `torch.compile`'s `options` are those of `cuvil.compile`.

    Raises `OptionError` for wrong options, and `UserError` for a `mode`.
    """
    unknown = [name for name, value in settings.items() if name != "options" and value is not None]
    if unknown:
        raise UserError(f"the backend 'cuvil' has no '{unknown[0]}'; give it options={{...}}, as cuvil.compile")
    graph = CompiledGraph(graph_module, Options.of(settings.get("options")), _frame_code(), _compile_id())
    _graphs.add(graph)
    if _needs_grad(graph_module, example_inputs):
        graph.leave_to_torch("autograd needs its gradients; call it under torch.no_grad() to have it compiled")
    return graph


@dataclass(frozen=True)
class Left:
    """What PyTorch runs: an op, or the whole graph where `op` is None."""

    op: str | None
    reason: str
    location: SourceLocation | None = None

    def __str__(self) -> str:
        place = f" ({self.location.file}:{self.location.line})" if self.location else ""
        return f"{self.op or 'the whole graph'}: {self.reason}{place}"


@dataclass(frozen=True)
class Specialization:
    """The code of a graph for sizes of its inputs and for weights."""

    sizes: str
    bound: tuple[tuple[int, Tensor, int], ...]
    """Weights that the code holds: position among the graph's inputs, tensor, and its version when it was taken."""
    inputs: tuple[int, ...]
    lowered: Lowered | None
    """None where PyTorch runs the whole graph."""

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether the weights are those that the code was made with."""
        if not all(args[place] is tensor and tensor._version == version for place, tensor, version in self.bound):
            return False
        return self.lowered is None or self.lowered.fits([args[place] for place in self.inputs])


@dataclass(eq=False)
class CompiledGraph:
    """One graph of dynamo, and the code that was made of it. Several threads may call it."""

    graph_module: GraphModule
    options: Options
    code: CodeType | None
    """Of the Python frame that dynamo made the graph from."""
    compile_id: str
    specializations: list[Specialization] = field(default_factory=list[Specialization])
    left: list[Left] = field(default_factory=list[Left])
    compilations: int = 0
    closed: str = ""
    """Why sizes that dynamo left symbolic are compiled one by one; empty where they are not."""
    _whole: bool = False
    _unbound: set[int] = field(default_factory=set[int])
    _known: dict[Any, list[Specialization]] = field(default_factory=dict[Any, "list[Specialization]"])

    def __post_init__(self) -> None:
        placeholders = [node for node in self.graph_module.graph.nodes if node.op == "placeholder"]
        self.weights = tuple(place for place, node in enumerate(placeholders) if _is_of_module(node))
        self.floats = float_places(self.graph_module)
        self.is_dynamic = bool(self.floats) or any(_is_symbolic(node) for node in placeholders)

    def __call__(self, *args: Any) -> Any:
        if self._whole:
            return self.graph_module(*args)
        for each in self._known.get(self._key(args), ()):
            if each.holds(args):
                return self._run(each, args)
        return self._run(self._specialized(args), args)

    def _key(self, args: Sequence[Any]) -> Any:
        """What of the arguments the code depends on, but for weights."""
        if not self.is_dynamic:
            return None  # dynamo guards the sizes that it took as constants
        sizes = tuple(_size_of(arg) if self.closed else layout_of(arg) for arg in args)
        return (sizes, tuple(args[place].item() for place in self.floats)) if self.floats else sizes

    def leave_to_torch(self, reason: str, location: Locatable = None) -> None:
        """Let PyTorch run the whole graph."""
        self._whole = True
        self._say(Left(None, reason, source_location(location) or self._location()))

    def _run(self, chosen: Specialization, args: Sequence[Any]) -> Any:
        if chosen.lowered is None:
            return self.graph_module(*args)
        return chosen.lowered.run([args[place] for place in chosen.inputs])

    def _specialized(self, args: Sequence[Any]) -> Specialization:
        # Dynamo's own lock: torch.export changes what dynamo reads in another thread.
        with compile_lock:
            known = self._known.setdefault(self._key(args), [])
            for each in known:
                if each.holds(args):
                    return each
            self._unbind(known, args)
            made = self._compiled(args)
            self.specializations.append(made)
            # The key is another one if code for all sizes could not be had.
            self._known.setdefault(self._key(args), []).append(made)
            while len(self._known) > MAXIMUM_SIZES:
                dropped = self._known.pop(next(iter(self._known)))
                self.specializations = [each for each in self.specializations if each not in dropped]
            return made

    def _unbind(self, known: list[Specialization], args: Sequence[Any]) -> None:
        """Weights that changed in place are inputs from now on, and all are where too many sets of them are met."""
        for each in list(known):
            changed = [place for place, tensor, version in each.bound if tensor._version != version]
            self._unbound.update(changed)
            if changed:
                known.remove(each)
                self.specializations = [other for other in self.specializations if other is not each]
        if len(known) >= MAXIMUM_BINDINGS:
            self._unbound.update(self.weights)

    def _compiled(self, args: Sequence[Any]) -> Specialization:
        args = [ConstantFloat(arg) if place in self.floats else arg for place, arg in enumerate(args)]
        bound = {
            place: args[place]
            for place in self.weights
            # Tensors made in inference mode do not tell of changes.
            if place not in self._unbound and isinstance(args[place], Tensor) and not args[place].is_inference()
        }
        places = tuple(place for place, arg in enumerate(args) if isinstance(arg, Tensor) and place not in bound)
        versions = tuple((place, tensor, tensor._version) for place, tensor in bound.items())
        sizes = ", ".join(_shown(args[place]) for place in places if place not in self.weights)
        self.compilations += 1
        try:
            if self.is_dynamic and not self.closed:
                found = self._open_code(args, places)
                if found is not None:
                    return Specialization(found[0], versions, places, found[1])
            lowered = lower_graph(self.graph_module, args, places, self.options)
        except BoundWeightError as error:
            self._unbound.update(int(name.rpartition("_")[2]) for name in error.names)
            return self._compiled(args)
        except EagerGraphError as error:
            self._say(Left(None, error.message, error.location or self._location()))
            return Specialization(sizes, (), places, None)
        for each in lowered.left_out:
            self._say(Left(each.op, each.reason, source_location(each.location)))
        return Specialization(sizes, versions, places, lowered)

    def _open_code(self, args: Sequence[Any], places: Sequence[int]) -> tuple[str, Lowered] | None:
        """Code for all sizes, and the inputs as text; None, and `closed` says why, where there is none."""
        opened = open_graph(self.graph_module, places)
        reason = "a number that it takes is no size of its inputs"
        if opened is not None:
            try:
                return opened.text, lower_open_graph(self.graph_module, args, places, opened, self.options)
            except BoundWeightError:
                raise
            except CuvilError as error:
                reason = error.message
        self.closed = reason
        message = f"one compilation for each size of inputs: {reason}"
        remarks.emit("missed", pass_name=PASS_NAME, message=message, location=self._location())
        return None

    def _say(self, left: Left) -> None:
        if left in self.left:
            return
        self.left.append(left)
        what = "the whole graph" if left.op is None else left.op
        message = f"{what} is left to PyTorch: {left.reason}"
        remarks.emit("missed", pass_name=PASS_NAME, message=message, op_name=left.op, location=left.location)
        warnings.warn(f"{PASS_NAME}: {message}", left.location)

    def _location(self) -> SourceLocation | None:
        """The first line of the graph that is known."""
        places = (source_location(location_of_node(node.meta)) for node in self.graph_module.graph.nodes)
        return next((place for place in places if place is not None), None)


@dataclass(frozen=True)
class GraphsExplanation:
    """What torch.compile made of a model or function by this backend."""

    name: str
    graphs: tuple[CompiledGraph, ...]

    @property
    def recompiles(self) -> int:
        """How often dynamo compiled a frame again, because a guard did not hold."""
        frames = {graph.compile_id.partition("/")[0] for graph in self.graphs}
        return len(self.graphs) - len(frames)

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.graphs)} graph(s), {self.recompiles} recompile(s) by dynamo"]
        for graph in self.graphs:
            name = _frame_name(graph.code)
            lines.append(f"  graph {graph.compile_id} of {name}: compiled {graph.compilations} time(s)")
            for each in graph.specializations:
                parts = "by PyTorch" if each.lowered is None else f"{len(each.lowered.parts)} part(s)"
                lines.append(f"    {each.sizes or 'no inputs'}: {parts}, {len(each.bound)} weight(s) bound")
            lines += [f"    one compilation for each size: {graph.closed}"] if graph.closed else []
            lines += [f"    left to PyTorch: {left}" for left in graph.left]
        lines.append("  guards: TORCH_LOGS=guards,recompiles has torch print them")
        return "\n".join(lines)


def explain_graphs(compiled: Any) -> GraphsExplanation:
    """The graphs of a model or function that `torch.compile(..., backend="cuvil")` gave, in the order of compilation.

    They are found by their weights; those without any by the code of their frames, which models of a class share.
    """
    original = getattr(compiled, "_orig_mod", None) or getattr(compiled, "_torchdynamo_orig_callable", compiled)
    codes: set[tuple[str, str]] = set()
    tensors: set[int] = set()
    if isinstance(original, torch.nn.Module):
        codes = {_place(code) for module in original.modules() if (code := _code_of(type(module).forward)) is not None}
        tensors = {id(tensor) for tensor in (*original.parameters(), *original.buffers())}
    elif (code := _code_of(original)) is not None:
        codes = {_place(code)}
    found = [graph for graph in _graphs if _is_of(graph, tensors, codes)]
    name = getattr(original, "__qualname__", type(original).__name__)
    return GraphsExplanation(name, tuple(sorted(found, key=lambda graph: _order(graph.compile_id))))


_graphs: weakref.WeakSet[CompiledGraph] = weakref.WeakSet()


def _is_of(graph: CompiledGraph, tensors: set[int], codes: set[tuple[str, str]]) -> bool:
    bound = {id(tensor) for each in graph.specializations for _, tensor, _ in each.bound}
    if bound and tensors:
        return not bound.isdisjoint(tensors)
    return graph.code is not None and _place(graph.code) in codes


def _needs_grad(graph_module: GraphModule, example_inputs: Sequence[Any]) -> bool:
    """Whether autograd would record the graph; one that enables it within counts too."""
    enables = any(
        getattr(node.target, "__name__", "") == "_set_grad_enabled" and node.args[0] is True
        for node in graph_module.graph.nodes
    )
    tensors = (*example_inputs, *graph_module.parameters(), *graph_module.buffers())
    return (torch.is_grad_enabled() or enables) and any(getattr(tensor, "requires_grad", False) for tensor in tensors)


def _is_of_module(node: Node) -> bool:
    """Whether a placeholder is a parameter or buffer; dynamo says where it had it from."""
    source = getattr(node, "_dynamo_source", None)
    if source is None:
        return False
    return "NN_MODULE" in source.guard_source.name and isinstance(node.meta.get("example_value"), Tensor)


def _is_symbolic(node: Node) -> bool:
    value = node.meta.get("example_value")
    if isinstance(value, Tensor):
        return any(isinstance(size, torch.SymInt) for size in value.shape)
    return True


def _size_of(arg: Any) -> Any:
    return (arg.shape, arg.stride()) if isinstance(arg, Tensor) else arg


def _shown(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"


def _frame_code() -> CodeType | None:
    from torch._dynamo.symbolic_convert import InstructionTranslator

    try:
        translator: Any = InstructionTranslator.current_tx()
    except AttributeError:  # the backend is called by hand, not by dynamo
        return None
    return translator.f_code


def _compile_id() -> str:
    from torch._guards import CompileContext

    return str(CompileContext.current_compile_id() or "0/0")


def _order(compile_id: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", compile_id)]


def _code_of(function: Any) -> CodeType | None:
    return getattr(getattr(function, "__wrapped__", function), "__code__", None)


def _place(code: CodeType) -> tuple[str, str]:
    """The file and name of a function; what runs after a graph break has the name of the function it is part of."""
    resumed = _RESUMED.fullmatch(code.co_name)
    return code.co_filename, resumed[1] if resumed else code.co_name


def _frame_name(code: CodeType | None) -> str:
    return "?" if code is None else code.co_name


__all__ = ["CompiledGraph", "GraphsExplanation", "backend", "explain_graphs"]
