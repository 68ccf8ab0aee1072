"""What of an exported graph is compiled, and what PyTorch runs: the parts of it, and why.

Left to PyTorch are the nodes that the importer cannot build, and views by which a result shares memory with an input
or with another result, or is no dense tensor: compiled code gives new, dense ones, so the views are made by PyTorch of
what the compiled code gives. All else is grouped into parts as large as the order of the nodes allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block

from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder
from cuvil.frontends.aten_graph import GraphImporter
from cuvil.frontends.aten_schema import op_name, shared_argument
from cuvil.frontends.aten_types import element_type_of, shape_of_value, type_of_value
from cuvil.frontends.graph_memory import is_dense
from cuvil.frontends.sources import location_of_node

PART = "compiled"
"""Parts are submodules of this name and a number."""


@dataclass(frozen=True)
class LeftOut:
    """A node that PyTorch runs."""

    node: Node
    reason: str

    @property
    def op(self) -> str:
        return op_name(self.node)

    @property
    def location(self) -> LocationAttr:
        return location_of_node(self.node.meta)


def shared_views(graph: Graph) -> list[LeftOut]:
    """The views between results and the inputs or other results whose memory they share, or whose strides they have."""
    results = [node for node in _results(graph) if isinstance(node.meta.get("val"), torch.Tensor)]
    chains = [_views_up(node) for node in results]
    owners = [chain[-1] for chain in chains]
    found: dict[Node, LeftOut] = {}
    for *views, owner in chains:
        if owner.op == "placeholder":
            reason = "its result shares the memory of an input"
        elif owners.count(owner) > 1:
            reason = "results share its memory"
        elif not is_dense(views[0] if views else owner):
            reason = "its result has the strides of a larger or smaller tensor"
        else:
            continue
        found |= {view: LeftOut(view, reason) for view in views}
    return list(found.values())


def unsupported(graph_module: GraphModule) -> list[LeftOut]:
    """The nodes of a graph that the importer cannot build, each tried alone."""
    found: list[LeftOut] = []
    for node in graph_module.graph.nodes:
        if node.op == "call_function" and not _is_part_of_result(node):
            reason = _reason_against(graph_module, node)
            if reason is not None:
                found.append(LeftOut(node, reason))
    return found


def partition(graph_module: GraphModule, left_out: Sequence[LeftOut]) -> GraphModule:
    """The graph with submodules in place of what is compiled; PyTorch runs the rest."""
    eager = {each.node for each in left_out}
    for node in graph_module.graph.nodes:
        if _is_part_of_result(node) and node.args[0] in eager:
            eager.add(node)
    partitioner = CapabilityBasedPartitioner(graph_module, _Supported(eager), allows_single_node_partition=True)
    return partitioner.fuse_partitions(partitioner.propose_partitions(), prefix=PART + "_")


def parts_of(graph_module: GraphModule) -> list[Node]:
    """The calls of the parts."""
    return [node for node in graph_module.graph.nodes if node.op == "call_module" and PART in str(node.target)]


class _Supported(OperatorSupportBase):
    """Every op that is not left out; what is no tensor is not worth a part."""

    def __init__(self, eager: set[Node]) -> None:
        self.eager = eager

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        if node.op != "call_function" or node in self.eager:
            return False
        value = node.meta.get("val")
        parts = value if isinstance(value, list | tuple) else [value]
        return bool(parts) and all(isinstance(part, torch.Tensor) for part in parts)


def _results(graph: Graph) -> list[Node]:
    last = next(node for node in reversed(graph.nodes) if node.op == "output")
    return list(last.all_input_nodes)


def _views_up(node: Node) -> list[Node]:
    """A node, what it is a view of, and so on, up to the node that made the memory."""
    chain = [node]
    while (source := shared_argument(chain[-1])) is not None and isinstance(source.meta.get("val"), torch.Tensor):
        chain.append(source)
    return chain


def _is_part_of_result(node: Node) -> bool:
    return getattr(node.target, "__name__", "") == "getitem"


def _reason_against(graph_module: GraphModule, node: Node) -> str | None:
    """Why the importer cannot build a node, or None."""
    graph, values, copies = Graph(), [], dict[Node, Node]()
    block = Block()
    for source in node.all_input_nodes:
        if source.op == "get_attr":
            copies[source] = graph.node_copy(source)
            continue
        value = source.meta.get("val")
        copies[source] = graph.placeholder(source.name)
        copies[source].meta = dict(source.meta)
        try:
            values.append(_argument(block, value))
        except UnsupportedError as error:
            return error.message
    copy = graph.node_copy(node, copies.__getitem__)
    graph.output((copy,))
    builder = GraphBuilder(block, UNKNOWN_LOC)
    importer = GraphImporter(builder, _constant_in(builder))
    try:
        importer.run(GraphModule(graph_module, graph), values)
    except UnsupportedError as error:
        return importer.problems[0].reason if importer.problems else error.message
    return importer.problems[0].reason if importer.problems else None


def _argument(block: Block, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return block.insert_arg(type_of_value(value), len(block.args))
    if isinstance(value, list | tuple):
        return tuple(_argument(block, part) for part in value)
    return value


def _constant_in(builder: GraphBuilder) -> Callable[[torch.Tensor], Any]:
    """Stands for tensors that a graph holds: the trial needs their types alone."""

    def constant(tensor: torch.Tensor) -> Any:
        return builder.full(0, element_type_of(tensor.dtype), shape_of_value(tensor))

    return constant
