"""Registered custom ops in torch's graphs: `mylib.add_relu.default` becomes `cuvil_tensor.custom`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.fx import Node
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, NoneAttr, StringAttr, f64, i64
from xdsl.ir import Attribute, SSAValue

from cuvil.custom_ops import RegisteredOp, check_arguments, find_op
from cuvil.dialects.tensor import CustomOp, tensor_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder
from cuvil.frontends.aten_types import element_type_of
from cuvil.semantics.dims import DimExpr


def custom_builder(node: Node) -> Callable[..., Any] | None:
    """The builder of a node that calls a registered op; None of any other."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return None
    found = find_op(schema.name) or find_op(f"{schema.name}.{schema.overload_name}")
    return None if found is None else partial(_build, found, schema)


def _build(op: RegisteredOp, schema: Any, builder: GraphBuilder, *args: Any, **kwargs: Any) -> Any:
    if schema.is_mutable:
        raise UnsupportedError("it changes its arguments; only ops that return new tensors are compiled")
    given = dict(zip((argument.name for argument in schema.arguments), args, strict=False)) | kwargs
    operands: list[SSAValue] = []
    numbers: dict[str, Attribute] = {}
    for argument in schema.arguments:
        value = given.get(argument.name, argument.default_value)
        if isinstance(value, SSAValue):
            operands.append(value)
        elif value is None and "Tensor" in str(argument.type):
            raise UnsupportedError(f"its tensor '{argument.name}' is left out; pass every tensor of a custom op")
        else:
            numbers[argument.name] = _attribute(argument.name, value)
    check_arguments(op, len(operands), list(numbers))
    shapes, dtypes = builder.result_shapes, builder.result_dtypes
    results = [tensor_of(element_type_of(dtype), shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
    made = builder.emit(CustomOp(op.name, operands, results, numbers))
    return made.results[0] if len(results) == 1 else tuple(made.results)


def _attribute(name: str, value: Any) -> Attribute:
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case None:
            return NoneAttr()
        case torch.dtype():
            return StringAttr(str(value).removeprefix("torch."))
        case list() | tuple() if not any(isinstance(part, SSAValue) for part in value):
            return ArrayAttr([_attribute(name, part) for part in value])
        case list() | tuple():
            raise UnsupportedError(f"its argument '{name}' is a list of tensors; pass them one by one")
        case DimExpr():
            raise UnsupportedError(f"its argument '{name}' is the symbolic size {value}; pass a number")
        case _:
            raise UnsupportedError(f"its argument '{name}' is a {type(value).__name__}; numbers and strings are passed")
