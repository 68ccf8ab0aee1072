"""Walks an fx graph of aten ops and emits `cuvil_tensor` ops for it.

Every node is looked up in the table of builders (`aten_builder.ATEN_BUILDERS`, filled by the `aten_*` families); one
that is not there is taken apart by PyTorch's own decomposition (`aten_expansion`), and what comes out is walked in
its place. What cannot be built is collected, so that the user hears of all of it at once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import element_of, format_shape, shape_of
from cuvil.errors import CuvilError, InternalError, UnsupportedError, source_location
from cuvil.frontends import (
    aten_activation,
    aten_contraction,
    aten_creation,
    aten_grouping,
    aten_indexing,
    aten_losses,
    aten_movement,
    aten_norm,
    aten_order,
    aten_pointwise,
    aten_pooling,
    aten_reduction,
    aten_running,
    aten_special,
)
from cuvil.frontends.aten_builder import ATEN_BUILDERS, Builder, Deferred, GraphBuilder
from cuvil.frontends.aten_expansion import expanded
from cuvil.frontends.aten_mutation import needs_functionalization
from cuvil.frontends.aten_running import update_statistics
from cuvil.frontends.aten_schema import HigherOrderOperator, changed_argument, functional_op, op_name, tensor_results
from cuvil.frontends.aten_types import dim_of, element_type_of, shape_of_value
from cuvil.frontends.custom_import import custom_builder
from cuvil.frontends.exported_control import build_control
from cuvil.frontends.exported_numbers import RUN_TIME_NUMBER, check_sizes, has_run_time_numbers, number_of
from cuvil.frontends.graph_memory import GraphMemory
from cuvil.frontends.sources import location_of_node

FAMILIES = (
    aten_pointwise,
    aten_activation,
    aten_movement,
    aten_creation,
    aten_grouping,
    aten_indexing,
    aten_reduction,
    aten_order,
    aten_losses,
    aten_contraction,
    aten_pooling,
    aten_norm,
    aten_running,
    aten_special,
)
"""The modules whose import fills the table of builders."""

_CHECKS = ("_assert_tensor_metadata", "_assert_async", "_assert_scalar", "sym_constrain_range", "_assert_shape")
"""Ops that only check; sizes are checked when the compiled module is called."""

_REGION_CALLS = ("wrap_with_set_grad_enabled", "wrap_with_autocast", "invoke_subgraph")


@dataclass(frozen=True)
class Problem:
    """An op of the graph that cannot be compiled."""

    op: str
    reason: str
    location: LocationAttr


class UnsupportedOpsError(UnsupportedError):
    """Ops of a model that Cuvil cannot compile: all of them, with the source lines that use them."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        places: dict[tuple[str, str], dict[str, None]] = {}
        for problem in problems:
            place = source_location(problem.location)
            places.setdefault((problem.op, problem.reason), {})[f"{place.file}:{place.line}" if place else "?"] = None
        lines = [f"  {op}: {reason} (at {', '.join(found)})" for (op, reason), found in places.items()]
        message = "\n".join(["the model uses what cannot be compiled:", *lines])
        super().__init__(message, problems[0].location)


def builder_of(op: str) -> Builder | None:
    """The builder of an aten overload such as `add.Tensor`: its own row, else that of all overloads."""
    return ATEN_BUILDERS.get(op) or ATEN_BUILDERS.get(op.partition(".")[0])


@dataclass
class GraphImporter:
    """Emits the ops of graphs into one block; `attribute` gives the value of a tensor that a graph holds by name."""

    builder: GraphBuilder
    attribute: Callable[[torch.Tensor], SSAValue]
    problems: list[Problem] = field(default_factory=list[Problem])
    memory: GraphMemory | None = None
    """The memory of the tensors of one graph, where they change."""

    def run(self, graph_module: GraphModule, inputs: Sequence[Any], location: LocationAttr | None = None) -> list[Any]:
        """The values of the graph's outputs; all ops are at `location` if one is given, else where their nodes are."""
        memory = self.memory if self.memory is not None and self.memory.graph is graph_module.graph else None
        if memory is None and needs_functionalization(graph_module.graph):
            raise UnsupportedError("a region changes tensors of its surroundings in place; return new values instead")
        walk = _Walk(self, graph_module, dict[Node, Any](), location, memory)
        remaining = iter(inputs)
        for node in graph_module.graph.nodes:
            if node.op == "placeholder":
                walk.store(node, next(remaining))
            elif node.op == "output":
                return [walk.resolved(part) for part in _several(node.args[0])]
            else:
                walk.store(node, walk.node(node))
        raise InternalError("a graph without an output node")


def _several(results: Any) -> Sequence[Any]:
    return results if isinstance(results, list | tuple) else [results]


@dataclass
class _Walk:
    """One graph on its way."""

    importer: GraphImporter
    graph_module: GraphModule
    values: dict[Node, Any]
    location: LocationAttr | None
    memory: GraphMemory | None = None

    def store(self, node: Node, value: Any) -> None:
        """Note the value that a node gave."""
        self.values[self.identity(node)] = value
        if self.memory is not None:
            self.values[node] = value
            self.memory.store(node, value)

    def identity(self, node: Node) -> Node:
        """The node whose tensor this one is: an in-place op gives the tensor that it changed."""
        while (changed := changed_argument(node)) is not None:
            node = changed
        return node

    def resolved(self, argument: Any) -> Any:
        """An argument with values in place of nodes."""
        if isinstance(argument, Node):
            value = self.values[self.identity(argument)] if self.memory is None else self.memory.value(argument)
            if value is NotImplemented:
                if self.importer.problems:
                    raise UnsupportedOpsError(self.importer.problems)
                raise UnsupportedError(f"'{argument.name}', one of several results of an op, is not computed")
            return value
        if isinstance(argument, list | tuple):
            return [self.resolved(part) for part in argument]
        if isinstance(argument, Mapping):
            return {key: self.resolved(part) for key, part in argument.items()}
        return argument

    def node(self, node: Node) -> Any:
        """The value of a node; where it cannot be built, a stand-in of the right type."""
        builder = self.importer.builder
        builder.location = location = self.location or location_of_node(node.meta)
        try:
            return self.built(node)
        except UnsupportedError as error:
            self.importer.problems.append(Problem(op_name(node), error.message, location))
            return self.stand_in(node)
        except CuvilError:
            raise
        except Exception as error:  # a builder met arguments that it was not written for
            if has_run_time_numbers(node, self.values):
                self.importer.problems.append(Problem(op_name(node), RUN_TIME_NUMBER, location))
                return self.stand_in(node)
            raise InternalError(f"{op_name(node)} cannot be imported: {error}", location) from error

    def built(self, node: Node) -> Any:
        if node.op == "get_attr":
            value: Any = operator.attrgetter(str(node.target))(self.graph_module)
            return value if isinstance(value, GraphModule) else self.importer.attribute(value)
        target = node.target
        if target is operator.getitem:
            return self.part(node, self.resolved(node.args[0])[node.args[1]])
        if isinstance(target, HigherOrderOperator):
            return self.region_call(node)
        results = tensor_results(node)
        if not results:
            return self.size(node)
        return self.call(node, results)

    def part(self, node: Node, value: Any) -> Any:
        """One of several results, built now if it was left until something reads it."""
        if not isinstance(value, Deferred):
            return value
        self.announce(tensor_results(node))
        return self.finished(node, value.build(), 0)

    def announce(self, results: Sequence[torch.Tensor]) -> None:
        """Tell builders what PyTorch says that comes out."""
        builder = self.importer.builder
        builder.result_dtypes = tuple(result.dtype for result in results)
        for dtype in builder.result_dtypes:
            element_type_of(dtype)
        builder.result_shapes = tuple(shape_of_value(result) for result in results)

    def size(self, node: Node) -> Any:
        """The result of an op on sizes, or None of a mere check."""
        value = node.meta.get("val")
        number = number_of(self.importer.builder, node.target, self.resolved(node.args), value)
        if number is not NotImplemented:
            return number
        if isinstance(value, torch.SymInt | int):
            return dim_of(value)
        if value is None and any(op_name(node).startswith(f"aten.{check}") for check in _CHECKS):
            return None
        if isinstance(value, float | bool | str):
            return value
        raise UnsupportedError("no tensor and no size comes of it")

    def call(self, node: Node, results: Sequence[torch.Tensor]) -> Any:
        builder = self.importer.builder
        builder.result_dtypes = tuple(result.dtype for result in results)
        for dtype in builder.result_dtypes:
            element_type_of(dtype)
        check_sizes(results)
        builder.result_shapes = tuple(shape_of_value(result) for result in results)
        build = self.builder_of(node)
        arguments, options = self.resolved(node.args), self.resolved(node.kwargs)
        if self.memory is not None:
            arguments = update_statistics(self.memory, builder, node, arguments) or arguments
            if "out" in options:
                options.pop("out")
        value = NotImplemented
        if build is not None:
            value = build(builder, *arguments, **options)
        if value is NotImplemented:
            return self.expansion(node)
        if isinstance(value, tuple):
            return tuple(self.finished(node, part, place) for place, part in enumerate(value))
        return self.finished(node, value, 0)

    def builder_of(self, node: Node) -> Builder | None:
        name = op_name(node)
        if not name.startswith(("aten.", "prims.")):
            return ATEN_BUILDERS.get(name.rpartition(".")[0]) or custom_builder(node)
        name = name.partition(".")[2]
        if changed_argument(node) is not None:
            name = str(functional_op(node.target)).partition(".")[2]
            op, _, overload = name.partition(".")
            name = f"{op.removesuffix('_')}.{overload}"
        return builder_of(name)

    def finished(self, node: Node, value: Any, place: int) -> Any:
        """A result in the element type that PyTorch gives it, of the shape that it must have."""
        builder = self.importer.builder
        if value is NotImplemented or isinstance(value, Deferred):
            return value
        wanted = builder.result_shapes[place]
        if shape_of(value.type) != wanted:
            raise InternalError(
                f"{op_name(node)} was built with the shape {format_shape(shape_of(value.type))}, "
                f"PyTorch gives {format_shape(wanted)}",
                builder.location,
            )
        element_type = element_type_of(builder.result_dtypes[place])
        return value if element_of(value) == element_type else builder.cast(value, element_type)

    def expansion(self, node: Node) -> Any:
        """The node taken apart by PyTorch, and what comes out walked in its place."""
        if has_run_time_numbers(node, self.values):
            raise UnsupportedError(RUN_TIME_NUMBER)
        inner = expanded(node, builder_of)
        inputs = [self.resolved(argument) for argument in inner.inputs]
        results = self.importer.run(inner.graph, inputs, self.importer.builder.location)
        return results[0] if inner.single else tuple(results)

    def region_call(self, node: Node) -> Any:
        """Control flow, or a region in which autograd or autocast is set: its graph is walked in place."""
        arguments = self.resolved(node.args)
        name = op_name(node)
        if name not in _REGION_CALLS:
            results = build_control(self.importer, name, arguments, node.meta.get("val") or ())
            if results is NotImplemented:
                raise UnsupportedError("there is no lowering for this higher-order op; call what it wraps directly")
            return results
        if name == "wrap_with_autocast" and arguments[2]:
            raise UnsupportedError("autocast changes dtypes; cast the model instead: model.to(torch.bfloat16)")
        place = next(place for place, argument in enumerate(arguments) if isinstance(argument, GraphModule))
        skipped = 2 if name == "invoke_subgraph" else 1
        return tuple(self.importer.run(arguments[place], arguments[place + skipped :]))

    def stand_in(self, node: Node) -> Any:
        """A value of the node's type, so that the walk goes on to find what else is unsupported."""
        results = tensor_results(node)
        try:
            parts = [
                self.importer.builder.full(0, element_type_of(result.dtype), shape_of_value(result))
                for result in results
            ]
        except UnsupportedError:
            return NotImplemented
        return parts[0] if isinstance(node.meta.get("val"), torch.Tensor) else tuple(parts)
