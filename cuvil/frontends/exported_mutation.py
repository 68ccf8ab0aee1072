"""Exported programs that change tensors from outside, or give them or views of them back.

What the program changes, an input, a buffer, whatever shares their memory, is an input of the function, and its new
value a result that is written back after the call (`cuvil.write_back`). Placeholders that share memory which is changed
are views of one input, the run of elements that all of them lie in. A result that is an input, a buffer, or a view of
one, is not computed: it is a recipe. Results that share memory with one another are views of one computed tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, TensorArgument
from torch.fx import Graph, Node
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import element_of
from cuvil.dialects.types import tensor_of as tensor_type
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_graph import GraphImporter
from cuvil.frontends.aten_mutation import needs_functionalization
from cuvil.frontends.aten_schema import changed_argument, is_mutating, op_name
from cuvil.frontends.aten_types import dtype_of, element_type_of
from cuvil.frontends.exported import ImportedModule, Input, Output, ProgramImport
from cuvil.frontends.exported_numbers import as_value
from cuvil.frontends.graph_memory import (
    GraphMemory,
    changed_nodes,
    flat_owner,
    is_dense,
    is_reshaping,
    memory_of,
    nodes_by_memory,
    tensor_of,
    written_memories,
)
from cuvil.frontends.strided import Geometry, read_view
from cuvil.semantics.dims import DimExpr, symbols_in
from cuvil.semantics.symbol_binding import linear_in
from cuvil.write_back import (
    Computed,
    Constant,
    Effects,
    Given,
    Recipe,
    Replacement,
    SizeSource,
    Source,
    State,
    Update,
    View,
)

_MAYBE_ITSELF = frozenset(
    f"aten.{name}"
    for name in (
        "contiguous", "to", "type_as", "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
        "flatten", "positive", "real", "resolve_conj", "resolve_neg", "conj", "atleast_1d", "atleast_2d", "atleast_3d",
        "ravel", "_to_copy", "lift_fresh", "expand_as",
    )
)  # fmt: skip
"""Ops that give their operand itself where there is nothing to do."""

_DROPOUTS = tuple(
    getattr(torch.ops.aten, name).default
    for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
)

_COPYING = frozenset(
    getattr(torch.ops.aten, name)
    for name in ("contiguous", "to", "type_as", "flatten", "reshape", "ravel", "reshape_as")
)
"""Ops that give a view of their operand, or a copy, as strides have it."""


@dataclass(frozen=True)
class Sharing:
    """Which memories from outside a program changes and gives back."""

    placeholders: tuple[Node, ...]
    by_memory: dict[int, list[Node]]
    written: frozenset[int]
    """Memories of placeholders that the program writes into."""
    replaced: dict[Node, Node]
    """Buffers that become another tensor (`self.buffer = new`), and that tensor."""
    skipped: frozenset[Node]
    """The copies that torch.export has in their place."""
    is_sensitive: bool
    """Whether anything of this shows outside, or would with other strides of the inputs."""

    @property
    def writes(self) -> bool:
        """Whether something from outside is changed."""
        return bool(self.written or self.replaced)

    @staticmethod
    def of(program: ExportedProgram, assigned: Mapping[str, Tensor]) -> Sharing:
        """The sharing of a program as torch.export gives it; `assigned` are buffers that the model replaces."""
        graph = program.graph
        _join_dropouts(graph)
        placeholders = tuple(node for node in graph.nodes if node.op == "placeholder")
        by_memory = nodes_by_memory(placeholders)
        copies = [node for node in graph.nodes if _is_replacement(node)]
        replaced: dict[Node, Any] = {node.args[0]: node.args[1] for node in copies}
        for spec, node in zip(program.graph_signature.input_specs, placeholders, strict=True):
            if spec.target is not None and spec.target in assigned and node not in replaced:
                replaced[node] = _node_of(graph, assigned[spec.target])
        written = (_written(graph, set(copies))) & by_memory.keys()
        results = nodes_by_memory(output_nodes(graph))
        shared = any(len(nodes) > 1 for nodes in results.values())
        touched = bool(written or replaced or shared or results.keys() & by_memory.keys())
        return Sharing(
            placeholders,
            by_memory,
            frozenset(written),
            replaced,
            frozenset(copies),
            touched or _depends_on_strides(graph, by_memory, results),
        )


def needs_memory(graph: Graph) -> bool:
    """Whether a graph's values must be followed through memory: it changes tensors as no renaming tells."""
    return needs_functionalization(graph) or any(changed_nodes(node) for node in graph.nodes if not is_mutating(node))


def output_nodes(graph: Graph) -> list[Any]:
    """The graph's results: nodes and constants."""
    return list(next(node for node in reversed(graph.nodes) if node.op == "output").args[0])


def _written(graph: Graph, skipped: set[Node]) -> set[int]:
    return written_memories(node for node in graph.nodes if node not in skipped)


def _is_replacement(node: Node) -> bool:
    """Whether a node stands for the assignment of a buffer: its result lies where the copied tensor does."""
    if node.target is not torch.ops.aten.copy_.default or node.users:
        return False
    target, result = node.args[0], tensor_of(node)
    old = tensor_of(target)
    return (
        isinstance(target, Node)
        and target.op == "placeholder"
        and old is not None
        and result is not None
        and memory_of(old) != memory_of(result)
    )


def _node_of(graph: Graph, tensor: Tensor) -> Node:
    """The node whose (fake) tensor this is."""
    memory, geometry = memory_of(tensor), Geometry.of(tensor)
    for node in graph.nodes:
        value = tensor_of(node)
        if value is not None and memory_of(value) == memory and Geometry.of(value).is_same(geometry):
            return node
    raise UnsupportedError("a buffer is assigned a tensor that no op of the model gives; copy_() into it instead")


def _join_dropouts(graph: Graph) -> None:
    """Let a dropout that does nothing give its operand itself, as in eager PyTorch; fake tensors have it a copy."""
    same: dict[int, Tensor] = {}
    shown = {*nodes_by_memory(output_nodes(graph)), *_written(graph, set())}
    for node in graph.nodes:
        if node.target not in _DROPOUTS or len(node.args) < 3 or node.args[2] is not False:
            continue
        source, tensor = tensor_of(node.args[0]), tensor_of(node)
        if source is not None and tensor is not None and Geometry.of(source).is_same(Geometry.of(tensor)):
            same[memory_of(tensor)] = source
    for old, new in same.items():
        if old not in shown and memory_of(new) not in shown:
            continue
        for node in graph.nodes:
            tensor = tensor_of(node)
            if tensor is not None and memory_of(tensor) == old:
                with cast(Any, new).fake_mode:
                    node.meta["val"] = new.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _itself(node: Node) -> Node:
    """The node whose very tensor this one is; one whose shape changes in place is another from then on."""
    while True:
        changed = changed_argument(node)
        if changed is not None and is_reshaping(node):
            if not Geometry.of(tensors_of(node)).is_same(Geometry.of(tensors_of(changed))):
                return node
        if changed is None and isinstance(out := node.kwargs.get("out"), Node):
            changed = out
        source = changed if changed is not None else _unchanged(node)
        if source is None:
            return node
        node = source


def _unchanged(node: Node) -> Node | None:
    source = node.args[0] if node.op == "call_function" and node.args else None
    if not isinstance(source, Node) or op_name(node).rpartition(".")[0] not in _MAYBE_ITSELF:
        return None
    tensor, operand = tensor_of(node), tensor_of(source)
    if tensor is None or operand is None or memory_of(tensor) != memory_of(operand):
        return None
    return source if Geometry.of(tensor).is_same(Geometry.of(operand)) else None


def _depends_on_strides(graph: Graph, inputs: dict[int, Any], results: dict[int, Any]) -> bool:
    """Whether an op that copied an input here would give a view of it with other strides, and that would show."""
    shown = results.keys() | _written(graph, set())
    for node in graph.nodes:
        if node.op != "call_function" or getattr(node.target, "overloadpacket", None) not in _COPYING:
            continue
        tensor, source = tensor_of(node), tensor_of(node.args[0] if node.args else None)
        if tensor is None or source is None:
            continue
        copied = memory_of(tensor) != memory_of(source) and tensor.dtype == source.dtype
        if copied and memory_of(source) in inputs and memory_of(tensor) in shown:
            return True
    return False


@dataclass
class SharingImport(ProgramImport):
    """One program on its way, with the effects that calls of it have."""

    sharing: Sharing = field(kw_only=True)
    model: nn.Module | None = field(kw_only=True, default=None)
    is_called: bool = field(kw_only=True, default=True)
    """Whether results that share memory are recipes; else each is a value of the function's."""
    is_strided: bool = field(kw_only=True, default=False)
    """Whether results have the strides that eager PyTorch's have."""
    leaves: list[Input] = field(default_factory=list[Input])
    natives: list[Input] = field(default_factory=list[Input])
    sources: list[Source] = field(default_factory=list[Source])
    state: list[State] = field(default_factory=list[State])
    _given: dict[Node, int] = field(default_factory=dict[Node, int])
    _spans: dict[int, Geometry] = field(default_factory=dict[int, Geometry])
    _views: dict[Node, int] = field(default_factory=dict[Node, int])
    _native_of: dict[int, int] = field(default_factory=dict[int, int])
    """The native input that a written memory is."""

    def run(self) -> ImportedModule:
        imported = super().run()
        if not (self.is_called or self.sharing.writes):
            return replace(imported, inputs=tuple(self.leaves), outputs=tuple(self._plain_outputs()))
        return replace(imported, inputs=tuple(self.natives), effects=self.effects, arguments=tuple(self.leaves))

    # -- inputs ------------------------------------------------------------------------------------------------------

    def arguments(self, importer: GraphImporter) -> tuple[list[Any], tuple[Input, ...]]:
        memory = self.memory = GraphMemory(self.builder, self.program.graph, self.constant_value)
        memory.skipped.update(self.sharing.skipped)
        importer.memory = memory
        self._specs = dict(zip(self.sharing.placeholders, self.program.graph_signature.input_specs, strict=True))
        users = [node for node, spec in self._specs.items() if spec.kind == InputKind.USER_INPUT]
        for node in users:
            if isinstance(tensor_of(node), Tensor) and not isinstance(self._specs[node].arg, ConstantArgument):
                self._given[node] = len(self._given)
        values = {node: self.user_value(node, importer) for node in users}
        for node in self.sharing.placeholders:
            if node not in values:
                values[node] = self.outer_value(node)
        return [values[node] for node in self.sharing.placeholders], ()

    def user_value(self, node: Node, importer: GraphImporter) -> Any:
        """A user's input, as the value that the graph reads."""
        memory = self.shared_memory(node)
        if memory is None:
            leaf = self.user_input(self._specs[node], node.meta.get("val"), importer)
            self.leaves.append(leaf)
            if leaf.type is None:
                return leaf.constant
            return self.native(leaf, node)
        tensor = tensor_of(node)
        assert tensor is not None
        leaf_type = tensor_type(element_type_of(tensor.dtype), tuple(tensor.shape))
        self.leaves.append(Input(self._specs[node].arg.name, leaf_type, tensor.dtype))
        return self.member_value(node, memory)

    def outer_value(self, node: Node) -> Any:
        """A weight, or state that is read at each call."""
        tensor = tensor_of(node)
        if tensor is None or not (memory_of(tensor) in self.sharing.written or node in self.sharing.replaced):
            return self.held_tensor(self._specs[node]) if node.users else None
        memory = self.shared_memory(node)
        self.given_of(node)
        if memory is not None:
            return self.member_value(node, memory)
        declared = tensor_type(element_type_of(tensor.dtype), tuple(tensor.shape))
        value = self.block.insert_arg(declared, len(self.block.args))
        value.name_hint = self._specs[node].arg.name
        return self.native(Input(self._specs[node].arg.name, declared, tensor.dtype), node)

    def native(self, declared: Input, node: Node) -> SSAValue:
        """Note that the last argument of the function is a tensor that is given."""
        tensor = tensor_of(node)
        assert tensor is not None
        self._native_of[memory_of(tensor)] = len(self.natives)
        self.natives.append(declared)
        self.sources.append(Source(self._given[node]))
        return self.block.args[-1]

    def shared_memory(self, node: Node) -> int | None:
        """The memory of a placeholder, if it is changed and another placeholder lies there too."""
        tensor = tensor_of(node)
        memory = None if tensor is None else memory_of(tensor)
        if memory is None or memory not in self.sharing.written or len(self.sharing.by_memory[memory]) < 2:
            return None
        return memory

    def member_value(self, node: Node, memory: int) -> SSAValue:
        """One of several placeholders on one memory, read out of it."""
        members = self.sharing.by_memory[memory]
        tensors = [tensor for member in members if (tensor := tensor_of(member)) is not None]
        if memory not in self._spans:
            span = self._spans[memory] = flat_owner(tensors)
            declared = tensor_type(element_type_of(span.dtype), span.shape)
            value = self.block.insert_arg(declared, len(self.block.args))
            self.memory.share(node, span, value)
            self._native_of[memory] = len(self.natives)
            self.natives.append(Input(f"memory_of_{self._specs[node].arg.name}", declared, span.dtype))
            self.sources.append(
                Source(self._given[node], span.count, span.offset - Geometry.of(tensors_of(node)).offset)
            )
        span, value = self._spans[memory], self.memory.final(node)
        return read_view(self.builder, span, value, Geometry.of(tensors_of(node)), self.constant_value)

    def given_of(self, node: Node) -> int:
        """The place of a placeholder's tensor among those given to a call; what is no argument is state."""
        if node not in self._given:
            self._given[node] = len(self._given)
            self.state.append(self.state_of(self._specs[node]))
        return self._given[node]

    def state_of(self, spec: InputSpec) -> State:
        """How a call reads a buffer: from the module where there is one, for it may have another by then."""
        target = spec.target or spec.arg.name
        held = self.program.state_dict.get(target, self.program.constants.get(target))
        owner_name, _, name = target.rpartition(".")
        try:
            owner = self.model.get_submodule(owner_name) if self.model is not None else None
        except AttributeError:
            owner = None
        if owner is not None and isinstance(getattr(owner, name, None), Tensor):
            return State(target, lambda: getattr(owner, name), lambda value: setattr(owner, name, value))
        if not isinstance(held, Tensor):
            raise UnsupportedError(f"'{target}' is changed and is a {type(held).__name__}, not a tensor")
        return State(target, lambda: held, lambda value: _refuse_assignment(target))

    # -- results -----------------------------------------------------------------------------------------------------

    def results(self, values: Sequence[Any]) -> tuple[list[SSAValue], tuple[Output, ...]]:
        self._results: list[SSAValue] = []
        self._outputs: list[Output] = []
        self._computed: dict[Any, Computed] = {}
        nodes = output_nodes(self.program.graph)
        self._shown = nodes_by_memory([*nodes, *self.sharing.replaced.values()])
        updates = [self.update(memory) for memory in sorted(self.sharing.written, key=self._native_of.__getitem__)]
        specs = self.program.graph_signature.output_specs
        recipes = [self.recipe(node, value, spec) for node, value, spec in zip(nodes, values, specs, strict=True)]
        replacements = [
            Replacement(self.given_of(node) - self._first_state, self.tensor_recipe(value))
            for node, value in self.sharing.replaced.items()
        ]
        written = {self._given[node] for memory in self.sharing.written for node in self.sharing.by_memory[memory]}
        self.effects = Effects(
            tuple(self.sources),
            tuple(updates),
            tuple(replacements),
            tuple(recipes),
            tuple(self.state),
            tuple(self.frozen()),
            frozenset(written),
            self.symbols(),
        )
        return self._results, tuple(self._outputs)

    def _plain_outputs(self) -> Iterator[Output]:
        """The program's outputs, where the function gives each as a value."""
        for recipe in self.effects.results:
            if isinstance(recipe, Constant):
                yield Output(None, constant=recipe.value)
            elif isinstance(recipe, Computed):
                yield replace(self._outputs[recipe.index], is_number=recipe.is_number)

    @property
    def _first_state(self) -> int:
        return len(self._given) - len(self.state)

    def update(self, memory: int) -> Update:
        """A memory's new value as a result, for it to be written back."""
        node = self.sharing.by_memory[memory][0]
        tensor = tensors_of(node)
        result = self.computed(("memory", memory), self.memory.final(node), tensor.dtype)
        return Update(self.sources[self._native_of[memory]], result.index)

    def recipe(self, node: Any, value: Any, spec: Any) -> Recipe:
        """How a result of the program is made."""
        if isinstance(spec.arg, ConstantArgument):
            return Constant(spec.arg.value)
        if isinstance(spec.arg, TensorArgument):
            return self.tensor_recipe(node)
        number = as_value(self.builder, value)
        made = self.computed(("number", node), number, dtype_of(element_of(number)))
        return replace(made, is_number=True)

    def tensor_recipe(self, node: Node) -> Recipe:
        """How a tensor of the program is made."""
        itself, memory = _itself(node), memory_of(tensors_of(node))
        self.check_shapes_stay(node)
        if not self.is_called:
            return self.computed(("result", len(self._results)), self.memory.value(node), tensors_of(node).dtype)
        if itself in self._specs:
            return Given(self.given_of(itself))
        members = self.sharing.by_memory.get(memory)
        if members:
            return self.view(Given(self.given_of(members[0])), tensors_of(members[0]), itself)
        is_alone = len({_itself(each) for each in self._shown[memory]}) == 1
        if is_alone and self.is_strided and not tensors_of(itself).is_contiguous():
            return self.strided_result(itself, memory)
        if is_alone:
            return self.computed(itself, self.memory.value(itself), tensors_of(itself).dtype)
        return self.shared_result(node, memory)

    def strided_result(self, node: Node, memory: int) -> Recipe:
        """A result that shares memory with nothing, in the strides that it has."""
        if not is_dense(node):
            return self.shared_result(node, memory)
        made = self.computed(node, self.memory.value(node), tensors_of(node).dtype)
        return replace(made, strides=Geometry.of(tensors_of(node)).strides)

    def shared_result(self, node: Node, memory: int) -> Recipe:
        """One of several results on the memory of a tensor that the program made."""
        owner = next(each for each in self.program.graph.nodes if tensor_of(each) is not None and _lies(each, memory))
        tensor = tensors_of(owner)
        made = self.computed(("memory", memory), self.memory.final(owner), tensor.dtype)
        if not tensor.is_contiguous():
            made = replace(made, strides=Geometry.of(tensor).strides)
        return made if _itself(node) is _itself(owner) else self.view(made, tensor, _itself(node))

    def view(self, of: Recipe, base: Tensor, node: Node) -> Recipe:
        """A view of a tensor that a call has."""
        one, other = Geometry.of(base), Geometry.of(tensors_of(node))
        if one.dtype != other.dtype:
            raise UnsupportedError("a result shows the memory of another tensor as another dtype; return a clone()")
        if symbols_in((*other.shape, *other.strides, other.offset - one.offset)) - set(self.symbols()):
            # Where it lies depends on values (x[i] of a tensor i), which a call does not know: a copy.
            return self.computed(node, self.memory.value(node), tensors_of(node).dtype)
        number = self._views.setdefault(node, len(self._views))
        return View(of, other.shape, other.strides, other.offset - one.offset, number)

    def symbols(self) -> dict[str, SizeSource]:
        """Where a call reads the sizes that are symbolic."""
        found: dict[str, SizeSource] = {}
        for node, place in self._given.items():
            for axis, size in enumerate(Geometry.of(tensors_of(node)).shape):
                if not isinstance(size, DimExpr) or len(size.symbols()) != 1:
                    continue
                (name,) = size.symbols()
                linear = linear_in(size, name)
                if linear is not None and isinstance(linear[1], int):
                    found.setdefault(name, SizeSource(place, axis, linear[0], linear[1]))
        return found

    def computed(self, key: Any, value: SSAValue, dtype: torch.dtype) -> Computed:
        """A result of the function, once for each tensor."""
        if key not in self._computed:
            declared: Any = value.type
            self._computed[key] = Computed(len(self._results))
            self._results.append(value)
            self._outputs.append(Output(declared, dtype))
        return self._computed[key]

    def check_shapes_stay(self, node: Node) -> None:
        """Refuse what changes the shape of a tensor of the caller's."""
        *_, made = _chain(node)
        for each in _chain(node):
            if is_reshaping(each) and _itself(made) in self._specs:
                raise UnsupportedError("the shape of an input is changed in place; use the form that returns a view")

    def frozen(self) -> Iterator[tuple[str, Tensor]]:
        """The weights whose values the code holds."""
        for node, spec in self._specs.items():
            target = spec.target
            if target is not None and node.users and node not in self._given:
                held = self.program.state_dict.get(target, self.program.constants.get(target))
                if isinstance(held, Tensor):
                    yield target, held


def tensors_of(node: Node) -> Tensor:
    """The fake tensor of a node that is one."""
    tensor = tensor_of(node)
    assert tensor is not None
    return tensor


def _chain(node: Node) -> Iterator[Node]:
    while True:
        yield node
        changed = changed_argument(node)
        if changed is None:
            return
        node = changed


def _lies(node: Node, memory: int) -> bool:
    return memory_of(tensors_of(node)) == memory


def _refuse_assignment(target: str) -> None:
    raise UnsupportedError(f"'{target}' is assigned, and the program has no module that it belongs to")


__all__ = ["Sharing", "SharingImport", "needs_memory", "output_nodes"]
