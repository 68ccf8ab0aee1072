"""Element-wise ops of `cuvil_tensor`: scalar functions applied at every point, and casts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import Pure

from cuvil.dialects.base import TensorOp, shapes_of
from cuvil.dialects.types import element_domain, shape_of, tensor_of
from cuvil.semantics.scalars import SCALAR_FUNCTIONS, ScalarFunction, names_of_arity, scalar_function


def _nearest_kind(kind: str, arity: int) -> str:
    import difflib

    close = difflib.get_close_matches(kind, names_of_arity(arity), 1)
    other = SCALAR_FUNCTIONS.get(kind)
    if other is not None:
        return f"; '{kind}' takes {other.arity} operands"
    return f"; did you mean '{close[0]}'?" if close else ""


class ElementwiseOp(TensorOp):
    """A scalar function at every point of operands of one shape. Nothing is broadcast: `broadcast` first."""

    SAME_TYPE: ClassVar[bool] = True
    ARITY: ClassVar[int]

    kind = prop_def(StringAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    @property
    def function(self) -> ScalarFunction:
        """The row of the scalar-function table that this op carries."""
        return SCALAR_FUNCTIONS[self.kind.data]

    def check(self) -> None:
        row = scalar_function(self.kind.data, self.ARITY)
        if row is None:
            raise self.fault(f"unknown kind '{self.kind.data}'{_nearest_kind(self.kind.data, self.ARITY)}")
        data = self.operands[1:] if row.rule == "second" else self.operands
        if len({shape_of(operand.type) for operand in self.operands}) > 1:
            raise self.fault(f"operands differ in shape: {shapes_of(self.operands)}; broadcast first")
        if len({_element(operand) for operand in data}) > 1:
            types = ", ".join(str(_element(operand)) for operand in data)
            raise self.fault(f"operands differ in element type: {types}; cast first")
        domain = element_domain(_element(data[0]))
        if domain is None or domain not in row.domain:
            raise self.fault(f"kind '{row.name}' is not defined on {_element(data[0])}")

    def infer_types(self) -> Sequence[Attribute]:
        return [elementwise_result(self.kind.data, [operand.type for operand in self.operands])]

    @classmethod
    def result_types_for_text(
        cls, parser: Parser, start: int, operands: Sequence[SSAValue], properties: dict[str, Attribute]
    ) -> Sequence[Attribute]:
        kind = properties["kind"]
        assert isinstance(kind, StringAttr)
        if scalar_function(kind.data, cls.ARITY) is None:
            parser.raise_error(f"{cls.name}: unknown kind '{kind.data}'{_nearest_kind(kind.data, cls.ARITY)}", start)
        for operand in operands:
            if not isinstance(operand.type, TensorType):
                parser.raise_error(f"{cls.name}: expected tensor operands, got {operand.type}", start)
        return [elementwise_result(kind.data, [operand.type for operand in operands])]


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    return value.type.element_type


def elementwise_result(kind: str, operand_types: Sequence[Attribute]) -> Attribute:
    """The type rule of the scalar-function table applied to tensor types."""
    rule = SCALAR_FUNCTIONS[kind].rule
    source = operand_types[1] if rule == "second" else operand_types[0]
    return tensor_of(i1, shape_of(source)) if rule == "bool" else source


@irdl_op_definition
class UnaryOp(ElementwiseOp):
    """`kind(x)` at every point: `%1 = cuvil_tensor.unary exp %0 : tensor<4xf32>`."""

    name = "cuvil_tensor.unary"
    ARITY: ClassVar[int] = 1

    input = operand_def(TensorType)

    def __init__(self, kind: str, input: SSAValue | Operation):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value],
            properties={"kind": StringAttr(kind)},
            result_types=[elementwise_result(kind, [value.type])],
        )


@irdl_op_definition
class BinaryOp(ElementwiseOp):
    """`kind(lhs, rhs)` at every point: `%2 = cuvil_tensor.binary add %0, %1 : tensor<4xf32>`."""

    name = "cuvil_tensor.binary"
    ARITY: ClassVar[int] = 2

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)

    def __init__(self, kind: str, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        values = [SSAValue.get(lhs), SSAValue.get(rhs)]
        super().__init__(
            operands=values,
            properties={"kind": StringAttr(kind)},
            result_types=[elementwise_result(kind, [value.type for value in values])],
        )


@irdl_op_definition
class TernaryOp(ElementwiseOp):
    """`kind(a, b, c)` at every point; `select` takes a bool tensor first.

    `%3 = cuvil_tensor.ternary select %c, %0, %1 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>`
    """

    name = "cuvil_tensor.ternary"
    ARITY: ClassVar[int] = 3

    first = operand_def(TensorType)
    second = operand_def(TensorType)
    third = operand_def(TensorType)

    def __init__(
        self, kind: str, first: SSAValue | Operation, second: SSAValue | Operation, third: SSAValue | Operation
    ):
        values = [SSAValue.get(first), SSAValue.get(second), SSAValue.get(third)]
        super().__init__(
            operands=values,
            properties={"kind": StringAttr(kind)},
            result_types=[elementwise_result(kind, [value.type for value in values])],
        )

    def check(self) -> None:
        super().check()
        if self.kind.data == "select" and _element(self.first) != i1:
            raise self.fault(f"select chooses by i1, got {_element(self.first)}")


@irdl_op_definition
class CastOp(TensorOp):
    """The elements converted to another type, as `Tensor.to` does.

    To bool by `!= 0`, from float to integer towards zero, between integers wrapping.

    `%1 = cuvil_tensor.cast %0 : tensor<4xf32> -> tensor<4xi64>`
    """

    name = "cuvil_tensor.cast"

    input = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(self, input: SSAValue | Operation, element_type: Attribute):
        value = SSAValue.get(input)
        super().__init__(operands=[value], result_types=[tensor_of(element_type, shape_of(value.type))])

    def check(self) -> None:
        for value in (self.input, self.result):
            if element_domain(_element(value)) is None:
                raise self.fault(f"element type {_element(value)} is not a number or bool")

    def infer_types(self) -> Sequence[Attribute]:
        return [tensor_of(_element(self.result), shape_of(self.input.type))]
