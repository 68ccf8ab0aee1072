"""The symbolic sizes of a dynamo graph: how they reach torch.export, so that one compilation serves all of them.

Dynamo passes sizes that it left open as numbers beside the tensors. Here each is the size of a tensor's dim again, that
dim is declared open over the range that dynamo guards, and dims that follow from others are left to torch.export.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from cuvil.errors import UserError

_LARGEST = 2**62
"""From here on, dynamo means that there is no greatest size."""


@dataclass(frozen=True)
class OpenGraph:
    """What is open in a graph: of each tensor input dims for torch.export, and where number inputs come from."""

    shapes: tuple[dict[int, Any], ...]
    """In the order of the inputs that are passed at each call."""
    numbers: dict[int, tuple[int, int]]
    """Place of a number among the graph's arguments => position of an input and its axis."""
    equal: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    """Pairs of positions of an input and an axis: sizes that must be equal, which dynamo does not guard."""
    text: str
    """The inputs as `cuvil.explain` shows them."""

    def check(self, tensors: Sequence[Tensor]) -> None:
        """Raise `UserError` for inputs whose sizes differ where the graph needs equal ones."""
        for (one, axis), (other, place) in self.equal:
            if tensors[one].shape[axis] != tensors[other].shape[place]:
                raise UserError(
                    f"attention over keys and values of different lengths: {list(tensors[one].shape)} "
                    f"and {list(tensors[other].shape)}"
                )


def open_graph(graph_module: GraphModule, inputs: Sequence[int]) -> OpenGraph | None:
    """What is open in a graph whose arguments at `inputs` are passed; None where a number is no size of these."""
    nodes = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    same = _lengths_of_attention(graph_module)
    dims: dict[str, Any] = {}
    sources: dict[str, tuple[int, int]] = {}
    shapes: list[dict[int, Any]] = []
    texts: list[str] = []
    for position, place in enumerate(inputs):
        value = _value(nodes[place])
        if not isinstance(value, Tensor):
            return None
        opened: dict[int, Any] = {}
        for axis, size in enumerate(value.shape):
            if not isinstance(size, torch.SymInt):
                continue
            symbol = size.node.expr
            if symbol.is_Symbol:
                sources.setdefault(str(symbol), (position, axis))
                opened[axis] = dims.setdefault(str(same.get(symbol, symbol)), _dim_of(size))
            elif not symbol.is_number:
                opened[axis] = torch.export.Dim.AUTO
        shapes.append(opened)
        texts.append(f"{str(value.dtype).removeprefix('torch.')} [{', '.join(map(str, value.shape))}]")
    numbers: dict[int, tuple[int, int]] = {}
    for place, node in enumerate(nodes):
        value = _value(node)
        if isinstance(value, torch.SymInt) and not value.node.expr.is_number:
            source = sources.get(str(value.node.expr))
            if source is not None:
                numbers[place] = source
            elif node.users:  # one that nothing reads is a stride
                return None
        elif isinstance(value, torch.SymFloat | torch.SymBool):
            return None
    pairs = [(str(symbol), str(leader)) for symbol, leader in same.items()]
    equal = tuple((sources[one], sources[other]) for one, other in pairs if one in sources and other in sources)
    return OpenGraph(tuple(shapes), numbers, equal, ", ".join(texts))


def _lengths_of_attention(graph_module: GraphModule) -> dict[Any, Any]:
    """Symbols that are another's, for keys and values are equally long: PyTorch does not say so as it traces them."""
    same: dict[Any, Any] = {}
    for node in graph_module.graph.nodes:
        if getattr(node.target, "__name__", "") != "scaled_dot_product_attention" or len(node.args) < 3:
            continue
        keys, values = (_value(argument) for argument in node.args[1:3])
        key, value = (tensor.shape[-2] for tensor in (keys, values))
        if not (isinstance(key, torch.SymInt) and isinstance(value, torch.SymInt)):
            continue
        one, other = (size.node.expr.xreplace(same) for size in (key, value))
        if one != other and len(one.free_symbols) == 1 == len(other.free_symbols):
            (symbol,), (leader,) = one.free_symbols, other.free_symbols
            if one.xreplace({symbol: leader}) == other:
                same = {each: leader if target == symbol else target for each, target in same.items()}
                same[symbol] = leader
    return same


class ConstantFloat(float):
    """A number in the place of a 0-d tensor of which a graph wants the number."""

    def item(self) -> float:
        """The number."""
        return float(self)


def float_places(graph_module: GraphModule) -> tuple[int, ...]:
    """Places of the arguments that are Python floats, which dynamo wraps in tensors of float64 (a norm's `eps`)."""
    nodes = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    return tuple(place for place, node in enumerate(nodes) if _is_wrapped_float(node))


def _is_wrapped_float(node: Node) -> bool:
    value = _value(node)
    if not isinstance(value, Tensor) or value.dtype != torch.float64 or value.dim() or not node.users:
        return False
    return all(user.op == "call_method" and user.target == "item" for user in node.users)


def layout_of(arg: Any) -> Any:
    """What the code of an open graph depends on in an argument besides its size: the order of its strides."""
    if not isinstance(arg, Tensor):
        return None if isinstance(arg, int) else arg
    if arg.is_contiguous():
        return True
    strides = arg.stride()
    return tuple(sorted(range(arg.dim()), key=lambda axis: strides[axis]))


def _dim_of(size: torch.SymInt) -> Any:
    """The torch Dim of a lone symbol over the range that dynamo guards."""
    known: Any = size.node.shape_env.bound_sympy(size.node.expr)
    low = int(known.lower) if known.lower.is_Integer else 0
    high = int(known.upper) if known.upper.is_Integer else _LARGEST
    return torch.export.Dim(f"_{size.node.expr}", min=max(low, 0), max=None if high >= _LARGEST else high)


def _value(node: Node) -> Any:
    return node.meta.get("example_value", node.meta.get("val"))
