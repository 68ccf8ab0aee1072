"""What the schemas of torch ops say of a graph's nodes: names, results, which argument an op changes or shares."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Node

_ops: Any = getattr(torch, "_ops")  # noqa: B009  the op classes have no public name
OpOverload: Any = _ops.OpOverload
HigherOrderOperator: Any = _ops.HigherOrderOperator

_OPERATORS = {
    "__iand__": "bitwise_and",
    "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor",
    "__ilshift__": "bitwise_left_shift",
    "__irshift__": "bitwise_right_shift",
}
"""In-place ops that are Python's operators, and the ops that compute what they do."""

_MAYBE_IDENTITY = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "pad", "expand_as")
"""Ops that may give their operand itself although their schemas do not say so."""


def op_name(node: Node) -> str:
    """The name of the op that a node calls: `aten.add.Tensor`."""
    target = node.target
    return str(target) if isinstance(target, OpOverload) else str(getattr(target, "__name__", target))


def tensor_results(node: Node) -> list[torch.Tensor]:
    """The (fake) tensors that a node gives."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return [value]
    return [part for part in value if isinstance(part, torch.Tensor)] if isinstance(value, list | tuple) else []


def is_mutating(node: Node) -> bool:
    """True if the node's op changes one of its arguments."""
    schema = _schema_of(node)
    return schema is not None and schema.is_mutable


def changed_argument(node: Node) -> Node | None:
    """The tensor that an in-place op such as `add_` changes and gives; None of any other op."""
    schema = _schema_of(node)
    if schema is None or not schema.is_mutable:
        return None
    name = _plain_name(schema)
    if not name.endswith("_") or (name.endswith("__") and name not in _OPERATORS):
        return None
    first = node.args[0] if node.args else None
    return first if isinstance(first, Node) else None


def functional_op(target: Any) -> Any:
    """The op that gives as a new tensor what an in-place op or one with `out=` leaves; the op itself if none does."""
    if any(argument.name == "out" for argument in target._schema.arguments):
        return _without_out(target)
    name = _plain_name(target._schema)
    plain = _OPERATORS.get(name, name.removesuffix("_"))
    packet = getattr(torch.ops.aten, plain, None) if target.namespace == "aten" and target._schema.is_mutable else None
    if plain == name or packet is None:
        return target
    return _with_arguments_of(packet, target) or getattr(packet, target._overloadname, None) or target


def _without_out(target: Any) -> Any:
    """The overload that gives what another one puts into its argument `out`."""
    return _with_arguments_of(target.overloadpacket, target) or target


def _with_arguments_of(packet: Any, target: Any) -> Any | None:
    """The overload among a packet's that takes what `target` takes but for `out`: overloads' names do not tell."""
    wanted = [(each.name, str(each.type)) for each in target._schema.arguments if each.name != "out"]
    overloads = (getattr(packet, name) for name in packet.overloads())
    found = (each for each in overloads if [(arg.name, str(arg.type)) for arg in each._schema.arguments] == wanted)
    return next(found, None)


def shared_argument(node: Node) -> Node | None:
    """The argument whose memory a node's result may be, as far as the schema tells."""
    first = node.args[0] if node.op == "call_function" and node.args else None
    if not isinstance(first, Node):
        return None
    if node.target is operator.getitem:
        return first
    schema = _schema_of(node)
    if schema is None:
        return None
    shares = any(result.alias_info is not None for result in schema.returns)
    return first if shares or _plain_name(schema) in _MAYBE_IDENTITY else None


def _schema_of(node: Node) -> Any:
    target: Any = node.target
    return target._schema if node.op == "call_function" and isinstance(target, OpOverload) else None


def _plain_name(schema: Any) -> str:
    return schema.name.partition("::")[2]
