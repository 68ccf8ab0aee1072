"""Numbers of exported programs that only the running program knows: `.item()`, an int that a loop carries.

They are 0-d tensors (int64, float64, bool), and what PyTorch's graphs compute with them are ops on such tensors.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from xdsl.dialects.builtin import f64, i1, i64
from xdsl.ir import Attribute, SSAValue

from cuvil.dialects.tensor import element_domain, element_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import ATEN_BUILDERS, GraphBuilder
from cuvil.frontends.aten_types import dtype_of
from cuvil.semantics.dims import DimExpr

RUN_TIME_NUMBER = "a number that only the running program knows is its size or index; use torch.where or a mask instead"

_NUMBERS: dict[type, Attribute] = {bool: i1, int: i64, DimExpr: i64, float: f64}


def as_value(b: GraphBuilder, value: Any) -> SSAValue:
    """A tensor, or a number as a 0-d tensor."""
    if isinstance(value, SSAValue):
        return value
    element_type = _NUMBERS.get(type(value))
    if element_type is None:
        raise UnsupportedError(
            f"a {type(value).__name__} is carried through control flow; only tensors and numbers are"
        )
    return b.constant(value, element_type)


def has_run_time_numbers(node: Node, values: Mapping[Node, Any]) -> bool:
    """Whether a node takes a number that is known at run time only, where `values` are those of nodes."""
    return any(
        isinstance(values.get(source), SSAValue) and not isinstance(source.meta.get("val"), torch.Tensor)
        for source in node.all_input_nodes
    )


def check_sizes(results: Sequence[torch.Tensor]) -> None:
    """Refuse tensors whose sizes depend on the values of others."""
    for result in results:
        if any(isinstance(size, torch.SymInt) and free_unbacked_symbols(size) for size in result.shape):
            raise UnsupportedError("the result's size depends on the values of tensors; use torch.where or a mask")


def number_of(b: GraphBuilder, target: Any, arguments: Sequence[Any], like: Any) -> Any:
    """What a function of numbers gives where one is known at run time only, as `like` is; else NotImplemented."""
    is_size = isinstance(like, int | torch.SymInt) and not isinstance(like, bool)
    if target in _FUNCTIONS and all(isinstance(argument, int | float) for argument in arguments):
        return target(*arguments)  # torch keeps symbols whose value it knows by now
    if not any(isinstance(argument, SSAValue if is_size else SSAValue | DimExpr) for argument in arguments):
        return NotImplemented
    kind = next((kind for symbol, kind in _KINDS.items() if isinstance(like, symbol)), None)
    name = _FUNCTIONS.get(target)
    if kind is None or name is None:
        return NotImplemented
    values = [as_value(b, argument) for argument in arguments]
    if name == "item":
        return b.cast(b.reshape(values[0], []), kind)
    if name == "pos":
        return b.cast(values[0], kind)
    is_float = name in ("div", "sqrt") or any(element_domain(element_of(value)) == "f" for value in values)
    if not (name.startswith(("logical", "bitwise"))):
        values = [b.cast(value, f64 if is_float else i64) for value in values]
    b.result_shapes, b.result_dtypes = ((),), (dtype_of(kind),)
    result = ATEN_BUILDERS[name](b, values[0], *values[1:])
    return b.cast(result, kind)


_KINDS: dict[type, Attribute] = {
    torch.SymBool: i1,
    torch.SymInt: i64,
    torch.SymFloat: f64,
    **{kind: element_type for kind, element_type in _NUMBERS.items() if kind is not DimExpr},
}
_FUNCTIONS: dict[Any, str] = {
    torch.ops.aten.item.default: "item",
    torch.ops.aten._local_scalar_dense.default: "item",
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "div",
    operator.floordiv: "floor_divide",
    operator.mod: "remainder",
    operator.pow: "pow",
    operator.neg: "neg",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.eq: "eq",
    operator.ne: "ne",
    operator.and_: "bitwise_and",
    operator.or_: "bitwise_or",
    torch.sym_not: "logical_not",
    torch.sym_max: "maximum",
    torch.sym_min: "minimum",
    torch.sym_int: "trunc",
    torch.sym_float: "pos",
    math.floor: "floor",
    math.ceil: "ceil",
    math.trunc: "trunc",
    torch.sym_sqrt: "sqrt",
}
"""Functions of numbers, and the aten ops that compute as they do on 0-d tensors of 64 bits."""
