"""Which graphs may change tensors in place as if they made new ones.

`y.add_(z)` gives a new value under y's name if nothing else that is read later shares y's memory: most in-place ops are so
(`relu_`, a residual's `+=`). Where a view is changed, or is read after its base was, the graph is functionalized by PyTorch
first, at the cost of tracing it again.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import Graph, Node

from cuvil.frontends.aten_graph import changed_argument

_MAYBE_IDENTITY = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "pad", "expand_as")
"""Ops that may give their operand itself although their schemas do not say so."""


def needs_functionalization(graph: Graph) -> bool:
    """True if the graph changes an input, or memory that is read under another name afterwards."""
    nodes = list(graph.nodes)
    changes = [node for node in nodes if is_mutating(node)]
    if not changes:
        return False
    owners = _owners(nodes)
    order = {node: number for number, node in enumerate(nodes)}
    return any(not _is_simple(change, owners, order) for change in changes)


def is_mutating(node: Node) -> bool:
    """True if the node's op changes one of its arguments."""
    target = node.target
    return node.op == "call_function" and isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable


def _is_simple(change: Node, owners: dict[Node, Node], order: dict[Node, int]) -> bool:
    changed = changed_argument(change)
    if changed is None:
        return False
    owner = owners[changed]
    if owner.op != "call_function":
        return False
    tensor = _tensor(changed)
    others = [node for node in owners if owners[node] is owner and _tensor(node) is not tensor]
    return all(order[node] > order[change] or _last_use(node, order) < order[change] for node in others)


def _tensor(node: Node) -> Node:
    while (changed := changed_argument(node)) is not None:
        node = changed
    return node


def _last_use(node: Node, order: dict[Node, int]) -> int:
    return max((order[user] for user in node.users), default=-1)


def _owners(nodes: list[Node]) -> dict[Node, Node]:
    """For each node the one that made its memory, as far as schemas tell."""
    owners: dict[Node, Node] = {}
    for node in nodes:
        source = _shared_argument(node)
        owners[node] = owners[source] if source is not None else node
    return owners


def _shared_argument(node: Node) -> Node | None:
    """The argument whose memory a node's result may be."""
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return None
    target = node.target
    if target is operator.getitem:
        return node.args[0]
    if not isinstance(target, torch._ops.OpOverload):
        return None
    schema = target._schema
    name = schema.name.partition("::")[2]
    shares = any(result.alias_info is not None for result in schema.returns) or name in _MAYBE_IDENTITY
    return node.args[0] if shares else None
