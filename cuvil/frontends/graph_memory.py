"""The memory of an exported graph's tensors, for graphs that change tensors in place.

In such a graph a node names a tensor, not a value. Which tensors share memory, and where each lies in it, PyTorch's
fake tensors (`node.meta["val"]`) tell: they share storages as the real ones do, those of aliasing inputs included.
Each memory has a value, that of the tensor that it was made for; an in-place op gives it a new one, and what else lies
there is read out of it from then on. So views write through, and whatever changed at the end is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node
from xdsl.ir import SSAValue

from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder
from cuvil.frontends.aten_schema import changed_argument, is_mutating, op_name
from cuvil.frontends.strided import Geometry, Hold, read_view, write_view

RESHAPING = frozenset(
    f"aten.{name}_"
    for name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze", "detach", "as_strided")
)
"""In-place ops that change a tensor's shape or strides, and no memory."""

_STATISTICS = (torch.ops.aten.batch_norm.default, torch.ops.aten.instance_norm.default)
"""Ops that change running statistics without saying so: by arguments 3 and 4 if argument 5 is true."""


def memory_of(tensor: torch.Tensor) -> int:
    """What tensors that share elements have in common. Raises `UnsupportedError` for sparse ones."""
    if tensor.layout != torch.strided:
        raise UnsupportedError(f"there are no tensors of {tensor.layout}; make it dense: x.to_dense()")
    return tensor.untyped_storage()._cdata  # pyright: ignore[reportPrivateUsage]


def tensor_of(node: Any) -> torch.Tensor | None:
    """The fake tensor that a node is."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return value if isinstance(value, torch.Tensor) else None


def changed_nodes(node: Node) -> list[Node]:
    """The tensors that a node's op writes into."""
    if node.target in _STATISTICS:
        updates = len(node.args) > 5 and node.args[5] is True
        return [each for each in node.args[3:5] if updates and isinstance(each, Node)]
    if not is_mutating(node) or is_reshaping(node):
        return []
    schema: Any = getattr(node.target, "_schema")  # noqa: B009
    found: list[Node] = []
    for place, argument in enumerate(schema.arguments):
        given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write:
            found += [
                each for each in (given if isinstance(given, list | tuple) else [given]) if isinstance(each, Node)
            ]
    return found


def is_reshaping(node: Node) -> bool:
    """Whether a node's op changes how a tensor sees its memory, in place."""
    return op_name(node).rpartition(".")[0] in RESHAPING


@dataclass
class _Memory:
    """The value of a memory, as the tensor `owner` that it was made for."""

    owner: Geometry
    value: SSAValue
    written_at: int = 0


class GraphMemory:
    """The values of one graph's nodes where tensors change."""

    def __init__(self, builder: GraphBuilder, graph: Graph, hold: Hold) -> None:
        self.graph = graph
        self._builder = builder
        self._hold = hold
        self._memories: dict[int, _Memory] = {}
        self._values: dict[Node, tuple[int, Any]] = {}
        self._clock = 0
        self.skipped: set[Node] = set()
        """Nodes whose op is not done: it stands for something else."""

    def share(self, node: Node, owner: Geometry, value: SSAValue) -> None:
        """Say that a memory is this value, of which the tensors that lie there are read."""
        tensor = tensor_of(node)
        if tensor is not None:
            self._memories[memory_of(tensor)] = _Memory(owner, value)

    def store(self, node: Node, value: Any) -> None:
        """Note what a node gave: a value of its own, a view, or the new value of what it changes."""
        changed = changed_argument(node)
        tensor = tensor_of(node)
        if node in self.skipped:
            self._values[node] = (self._clock, value)
            return
        if changed is not None and not is_reshaping(node) and isinstance(value, SSAValue):
            self.write(changed, value)
            self._values[node] = (self._clock, value)
            return
        made_at = self._clock
        source = node.args[0] if node.args else None
        if tensor is not None and isinstance(source, Node) and isinstance(source.meta.get("val"), list | tuple):
            made_at = self._values[source][0] if source in self._values else made_at
        self._values[node] = (made_at, value)
        if tensor is not None and isinstance(value, SSAValue):
            self._memories.setdefault(memory_of(tensor), _Memory(Geometry.of(tensor), value))
            if isinstance(out := node.kwargs.get("out"), Node):
                self.write(out, value)

    def write(self, node: Node, value: SSAValue) -> None:
        """Give a tensor's elements a new value, wherever else they are seen."""
        tensor = tensor_of(node)
        if tensor is None:
            raise UnsupportedError("what is changed in place is no tensor")
        memory = self._memories[memory_of(tensor)]
        memory.value = write_view(self._builder, memory.owner, memory.value, Geometry.of(tensor), value, self._hold)
        self._clock += 1
        memory.written_at = self._clock
        self._values[node] = (self._clock, value)

    def value(self, node: Node) -> Any:
        """The present value of a node."""
        made_at, value = self._values[node]
        tensor = tensor_of(node)
        if tensor is None or not isinstance(value, SSAValue):
            return value
        memory = self._memories.get(memory_of(tensor))
        if memory is None or made_at >= memory.written_at:
            return value
        value = read_view(self._builder, memory.owner, memory.value, Geometry.of(tensor), self._hold)
        self._values[node] = (self._clock, value)
        return value

    def final(self, node: Node) -> SSAValue:
        """The value of the memory that a node lies in, as that of its owner."""
        tensor = tensor_of(node)
        assert tensor is not None
        return self._memories[memory_of(tensor)].value


def written_memories(nodes: Iterable[Node]) -> set[int]:
    """The memories that nodes write into."""
    changed = (each for node in nodes for each in changed_nodes(node))
    return {memory_of(tensor) for tensor in map(tensor_of, changed) if tensor is not None}


def nodes_by_memory(nodes: Iterable[Node]) -> dict[int, list[Node]]:
    """Tensors by the memory that they lie in."""
    found: dict[int, list[Node]] = {}
    for node in nodes:
        tensor = tensor_of(node)
        if tensor is not None:
            found.setdefault(memory_of(tensor), []).append(node)
    return found


def is_dense(node: Node) -> bool:
    """Whether a node's tensor has each element of its memory once, in whatever order of dims."""
    value: torch.Tensor = node.meta["val"]
    expected = 1
    for stride, size in sorted(zip(value.stride(), value.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return value.numel() == 0
            expected *= size
    return True


def flat_owner(tensors: Sequence[torch.Tensor]) -> Geometry:
    """All that tensors reach of the memory that they share, as elements in a row."""
    shapes = [Geometry.of(tensor) for tensor in tensors]
    if not all(each.is_known for each in shapes) or len({each.dtype for each in shapes}) != 1:
        raise UnsupportedError("inputs share memory that is changed, and are of other dtypes or of symbolic sizes")
    first = min(each.offset for each in shapes)
    return Geometry.flat(max(each.end for each in shapes) - first, first, shapes[0].dtype)


__all__ = [
    "GraphMemory",
    "changed_nodes",
    "flat_owner",
    "is_dense",
    "is_reshaping",
    "memory_of",
    "nodes_by_memory",
    "tensor_of",
    "written_memories",
]
