"""Which graphs may change tensors in place as if they made new ones.

`y.add_(z)` gives a new value under y's name if nothing else that is read later shares y's memory: most in-place ops are
so (`relu_`, a residual's `+=`). Where a view is changed, or is read after its base was, the graph is functionalized by
PyTorch first, at the cost of tracing it again.
"""

from __future__ import annotations

from torch.fx import Graph, Node

from cuvil.frontends.aten_schema import changed_argument, is_mutating, shared_argument


def needs_functionalization(graph: Graph) -> bool:
    """True if the graph changes an input, or memory that is read under another name afterwards."""
    nodes = list(graph.nodes)
    changes = [node for node in nodes if is_mutating(node)]
    if not changes:
        return False
    owners = _owners(nodes)
    order = {node: number for number, node in enumerate(nodes)}
    return any(not _is_simple(change, owners, order) for change in changes)


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
        source = shared_argument(node)
        owners[node] = node if source is None else owners[source]
    return owners
