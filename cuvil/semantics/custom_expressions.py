"""Scalar expressions of custom ops: `max(x + y, 0)` as core element-wise ops on tensors.

Names are the op's arguments; functions are the scalar functions of `cuvil.semantics.scalars` by name, `where(c, a, b)`
and what Python's operators mean. Tensors are repeated to the result's shape and cast to its element type; f16 and bf16
are computed in f32 and rounded once, at the end.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType, f32
from xdsl.ir import Attribute, SSAValue

from cuvil.custom_ops import CustomOpError
from cuvil.dialects.tensor import BinaryOp, TernaryOp, UnaryOp, element_domain, element_of, shape_of
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.scalars import SCALAR_FUNCTIONS

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.FloorDiv: "floor_div",
    ast.Mod: "rem",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}


def parse(name: str, text: str, parameters: Sequence[str]) -> ast.expr:
    """The tree of an expression. Raises `CustomOpError` where it is none, or uses what there is not."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise CustomOpError(f"op '{name}': the expression '{text}' cannot be read: {error.msg}") from None
    callees = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        problem = _problem(node, parameters, id(node) in callees)
        if problem:
            raise CustomOpError(f"op '{name}': the expression '{text}' {problem}")
    return tree


def _problem(node: ast.AST, parameters: Sequence[str], is_callee: bool) -> str | None:
    match node:
        case ast.Name(id=name) if not is_callee and name not in parameters:
            return f"uses '{name}'; its arguments are {', '.join(parameters)}"
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
            arity = 3 if function == "where" else getattr(SCALAR_FUNCTIONS.get(function), "arity", None)
            if arity is None:
                return f"calls '{function}', which is no scalar function; they are {', '.join(SCALAR_FUNCTIONS)}"
            return (
                None if arity == len(arguments) else f"calls '{function}' with {len(arguments)} operands, not {arity}"
            )
        case ast.Constant(value=bool() | int() | float()) | ast.Name() | ast.BinOp() | ast.UnaryOp(op=ast.USub()):
            return None
        case ast.Compare(ops=[_]) | ast.operator() | ast.cmpop() | ast.unaryop() | ast.expr_context():
            return None
        case _:
            return f"uses what is no scalar expression: {type(node).__name__.lower()}"


def build(
    b: CoreBuilder,
    tree: ast.expr,
    operands: Mapping[str, SSAValue],
    numbers: Mapping[str, Any],
    result: TensorType[Any],
) -> SSAValue:
    """Core ops that compute an expression; its tensors are `operands`, its other arguments `numbers`."""
    element = result.element_type
    if element_domain(element) == "b" and operands:
        element = element_of(next(iter(operands.values())))  # what is compared, not what comes of it
    wide: Attribute = f32 if isinstance(element, Float16Type | BFloat16Type) else element
    shape = shape_of(result)
    values: dict[str, SSAValue] = {}
    for name, value in operands.items():
        rank = len(shape_of(value.type))
        is_condition = element_domain(element_of(value)) == "b"
        cast = value if is_condition else b.cast(value, wide)
        values[name] = b.broadcast(cast, range(len(shape) - rank, len(shape)), shape)
    built = _Expression(b, wide, values, numbers, result).value(tree)
    return b.cast(built, result.element_type)


@dataclass(frozen=True)
class _Expression:
    b: CoreBuilder
    element: Attribute
    operands: Mapping[str, SSAValue]
    numbers: Mapping[str, Any]
    result: TensorType[Any]

    def value(self, node: ast.expr) -> SSAValue:
        """The value of a part of the expression."""
        match node:
            case ast.Name(id=name) if name in self.operands:
                return self.operands[name]
            case ast.Name(id=name) if name in self.numbers:
                return self.number(self.numbers[name])
            case ast.Constant(value=number):
                return self.number(number)  # pyright: ignore[reportArgumentType]
            case ast.UnaryOp(operand=operand):
                return self.b.unary("neg", self.value(operand))
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.apply(_OPERATORS[type(op)], [left, right])
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return self.apply("select" if function == "where" else function, arguments)
            case _:
                raise CustomOpError(f"'{ast.unparse(node)}' has no value among the op's arguments")

    def apply(self, kind: str, arguments: Sequence[ast.expr]) -> SSAValue:
        values = [self.value(argument) for argument in arguments]
        match values:
            case [one]:
                return self.b.add(UnaryOp(kind, one))
            case [one, two]:
                return self.b.add(BinaryOp(kind, one, two))
            case _:
                return self.b.add(TernaryOp(kind, *values))

    def number(self, number: float) -> SSAValue:
        return self.b.full(number, self.element, shape_of(self.result))
