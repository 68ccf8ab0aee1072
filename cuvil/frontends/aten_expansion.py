"""Takes apart a node for which there is no builder, by PyTorch's own decomposition of its op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch.fx import GraphModule, Node

from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_mutation import needs_functionalization
from cuvil.frontends.aten_schema import OpOverload, functional_op

_REASON = "there is no lowering and PyTorch has no decomposition for it; write it with other ops"


@dataclass(frozen=True)
class Expansion:
    """A graph that computes what a node computes, of its tensor arguments `inputs` in order."""

    graph: GraphModule
    inputs: tuple[Node, ...]
    single: bool


def expanded(node: Node, builder_of: Callable[[str], Any]) -> Expansion:
    """The decomposition of a node into ops with builders, as far as there are.

    Raises `UnsupportedError` where PyTorch has none, and for what depends on data or chance.
    """
    target: Any = node.target
    if not isinstance(target, OpOverload):
        raise UnsupportedError("only aten ops can be taken apart")
    # Recurrent layers have the tag for the dropout between them: what they come apart into says whether it is there.
    if torch.Tag.nondeterministic_seeded in target.tags and target not in _all_decompositions():
        raise UnsupportedError("random numbers are not supported in inference")
    if torch.Tag.data_dependent_output in target.tags or torch.Tag.dynamic_output_shape in target.tags:
        raise UnsupportedError("its result's size or value depends on data; it cannot be compiled ahead")
    target = functional_op(target)
    inputs: list[Node] = []
    build = _rebuilder((node.args, node.kwargs), inputs)
    single = isinstance(node.meta.get("val"), torch.Tensor)

    def compute(*tensors: torch.Tensor) -> Any:
        arguments, options = build(tensors)
        result = target(*arguments, **options)
        return [result] if single else list(result)

    values, table = [argument.meta["val"] for argument in inputs], _table(target, builder_of)
    open_sizes = _open_sizes(values)
    graph = _traced(compute, values, table)
    if _open_sizes(values) != open_sizes:
        raise UnsupportedError("PyTorch's decomposition of it fixes sizes that are open; compile for known sizes")
    if needs_functionalization(graph.graph):
        # Of the graph, not of the op: kernels of composite ops would run beneath functionalization.
        graph = _traced(torch.func.functionalize(graph, remove="mutations_and_views"), values, table)
    calls = [inner for inner in graph.graph.nodes if inner.op == "call_function"]
    if any(inner.target is target for inner in calls):
        is_custom = target.namespace not in ("aten", "prims")
        raise UnsupportedError(f"{_REASON}, or say what it means by cuvil.register_op" if is_custom else _REASON)
    return Expansion(graph, tuple(inputs), single)


def _open_sizes(values: Sequence[Any]) -> list[str]:
    """The expressions of symbolic sizes, as PyTorch has them now: what it takes for a number becomes one."""
    sizes = [size for value in values if isinstance(value, torch.Tensor) for size in value.shape]
    return [str(size.node.expr) for size in sizes if isinstance(size, torch.SymInt)]


def _traced(compute: Callable[..., Any], values: Sequence[Any], table: dict[Any, Any]) -> GraphModule:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    mode = next((value.fake_mode for value in values if hasattr(value, "fake_mode")), None) or FakeTensorMode()
    try:
        # oneDNN's recurrent layers are ops of their own; without them a layer comes apart into its steps.
        with mode, torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
            return make_fx(compute, decomposition_table=table, tracing_mode="real")(*values)
    except Exception as error:
        raise UnsupportedError(f"{_REASON} ({type(error).__name__}: {' '.join(str(error).split())[:200]})") from error


def _rebuilder(arguments: Any, inputs: list[Node]) -> Callable[[Sequence[Any]], Any]:
    """A function that puts tensors back where the nodes that hold them stood; those nodes are added to `inputs`."""
    from torch.utils._pytree import tree_flatten, tree_unflatten

    leaves, tree = tree_flatten(arguments)
    places: dict[int, int] = {}
    plain: list[Any] = []
    for number, leaf in enumerate(leaves):
        if not isinstance(leaf, Node):
            plain.append(leaf)
            continue
        value = leaf.meta["val"]
        plain.append(value)
        if isinstance(value, torch.Tensor):
            places[number] = inputs.index(leaf) if leaf in inputs else len(inputs)
            if leaf not in inputs:
                inputs.append(leaf)

    def build(tensors: Sequence[Any]) -> Any:
        filled = [tensors[places[number]] if number in places else leaf for number, leaf in enumerate(plain)]
        return tree_unflatten(filled, tree)

    return build


def _table(target: Any, builder_of: Callable[[str], Any]) -> dict[Any, Any]:
    """PyTorch's decompositions of ops without a builder, and of the op that is taken apart."""
    every = _all_decompositions()
    table = {op: how for op, how in every.items() if builder_of(str(op).partition(".")[2]) is None}
    if target in every:
        table[target] = every[target]
    return table


@lru_cache(maxsize=1)
def _all_decompositions() -> dict[Any, Any]:
    from torch._decomp import core_aten_decompositions, decomposition_table

    return {**decomposition_table, **core_aten_decompositions()}
