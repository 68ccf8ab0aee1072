"""Norms that keep running statistics: what they leave in their buffers is a result."""

from __future__ import annotations

from typing import Any

from torch.fx import Node
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import element_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import ATEN_BUILDERS, GraphBuilder, aten, is_half
from cuvil.frontends.aten_movement import rank_of
from cuvil.frontends.aten_schema import op_name
from cuvil.frontends.aten_types import dtype_of
from cuvil.frontends.graph_memory import GraphMemory, changed_nodes


@aten("_native_batch_norm_legit_functional")
def batch_norm_functional(
    b: GraphBuilder,
    x: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    running_mean: SSAValue,
    running_var: SSAValue,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """The norm, and the statistics as they are afterwards."""
    kept = (None, None) if training else (running_mean, running_var)
    result = ATEN_BUILDERS["batch_norm"](b, x, weight, bias, *kept, False, momentum, eps)
    mean, variance = updated_statistics(b, x, running_mean, running_var, momentum) if training else kept
    return result, NotImplemented, NotImplemented, mean, variance


def updated_statistics(
    b: GraphBuilder, x: SSAValue, running_mean: SSAValue | None, running_var: SSAValue | None, momentum: float
) -> tuple[Any, Any]:
    """The running mean and (unbiased) variance, moved towards the batch's by `momentum`; None of what is not kept."""
    kept = running_mean if running_mean is not None else running_var
    if kept is None:
        return None, None
    wide = f32 if is_half(element_of(kept)) else element_of(kept)
    axes = [axis for axis in range(rank_of(x)) if axis != 1]
    shapes, dtypes = b.result_shapes, b.result_dtypes
    b.result_dtypes = (dtype_of(wide),) * 2
    variance, mean = ATEN_BUILDERS["var_mean.correction"](b, b.cast(x, wide), axes, correction=1)
    b.result_shapes, b.result_dtypes = shapes, dtypes
    moved: list[SSAValue | None] = []
    for old, new in ((running_mean, mean), (running_var, variance)):
        if old is None:
            moved.append(None)
            continue
        before = b.apply("mul", b.cast(old, wide), 1.0 - momentum)
        moved.append(b.cast(b.apply("add", before, b.apply("mul", new, momentum)), element_of(old)))
    return moved[0], moved[1]


def update_statistics(memory: GraphMemory, b: GraphBuilder, node: Node, arguments: list[Any]) -> list[Any] | None:
    """Write the running statistics that a norm in training mode leaves; the arguments of the norm that is left.

    None of a node that keeps none.
    """
    if op_name(node) != "aten.batch_norm.default":
        if changed_nodes(node) and op_name(node) == "aten.instance_norm.default":
            raise UnsupportedError("instance_norm updates its statistics in training mode; call eval() on the model")
        return None
    changed = changed_nodes(node)
    if not changed:
        return None
    x, weight, bias, *kept, _, momentum, eps = arguments[:8]
    for place, value in zip(node.args[3:5], updated_statistics(b, x, kept[0], kept[1], momentum), strict=True):
        if isinstance(place, Node):
            memory.write(place, value)
    return [x, weight, bias, None, None, True, momentum, eps]
