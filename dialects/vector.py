"""The lane-wise operations that upstream's arith keeps for scalars: `cuvil_vector`.

Level: the loop level, beside arith and vector. Produced by `LoopBuilder`, which puts these in place of the arith op
of the same name wherever the values are vectors; consumed by `lower-loops-to-llvm`. MLIR's arith takes vectors in all
of them; xDSL's definitions of compare, select and most casts accept scalars only, and neither verify nor parse
otherwise.

And `prefetch`, which is MLIR's `memref.prefetch` for reading; xDSL has none.

Every other op means what the arith op of its name means, in each lane. Not checked: that a cast widens or narrows as
its name says for floats (LLVM's verifier does).
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS, FastMathFlagsAttr
from xdsl.dialects.builtin import I1, AnyFloatConstr, IndexType, IntegerAttr, IntegerType, MemRefType, VectorType, i1
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_FLOATS = VectorType.constr(AnyFloatConstr)
_INTEGERS = VectorType.constr(base(IntegerType) | base(IndexType))
_MASK = VectorType.constr(base(IntegerType))


def _shape(vector_type: Attribute) -> tuple[int, ...]:
    assert isinstance(vector_type, VectorType)
    return vector_type.get_shape()


class _Compare(IRDLOperation):
    """`lhs predicate rhs` in every lane; predicates are numbered and spelled as in arith."""

    PREDICATES: ClassVar[tuple[str, ...]]

    predicate = prop_def(IntegerAttr)
    result = result_def(VectorType[I1])

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> _Compare:
        start = parser.pos
        name = parser.parse_identifier()
        if name not in cls.PREDICATES:
            parser.raise_error(f"unknown predicate '{name}': expected one of {', '.join(cls.PREDICATES)}", start)
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand_type = parser.parse_type()
        if not isinstance(operand_type, VectorType):
            parser.raise_error(f"{cls.name}: expected a vector type, got {operand_type}")
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(cls.PREDICATES.index(name), 64)}
        return cls.create(
            operands=parser.resolve_operands([lhs, rhs], [operand_type, operand_type], start),
            result_types=[VectorType(i1, operand_type.get_shape())],
            properties=properties | _extra_properties(cls),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.PREDICATES[self.predicate.value.data]}, ")
        printer.print_operand(self.operands[0])
        printer.print_string(", ")
        printer.print_operand(self.operands[1])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(self.PREDICATES):
            raise VerifyException(
                f"{self.name}: predicate {self.predicate.value.data} is not in 0..{len(self.PREDICATES) - 1}"
            )
        if _shape(self.operands[0].type) != self.result.type.get_shape():
            raise VerifyException(
                f"{self.name}: operands {self.operands[0].type} and result {self.result.type} differ in lanes"
            )


def _extra_properties(op_class: type[Operation]) -> dict[str, Attribute]:
    return {"fastmath": FastMathFlagsAttr("none")} if op_class is CmpfOp else {}


@irdl_op_definition
class CmpfOp(_Compare):
    """A float comparison in every lane: `cuvil_vector.cmpf olt, %a, %b : vector<16xf32>`."""

    name = "cuvil_vector.cmpf"
    PREDICATES: ClassVar[tuple[str, ...]] = tuple(CMPF_COMPARISON_OPERATIONS)

    T: ClassVar = VarConstraint("T", _FLOATS)
    lhs = operand_def(T)
    rhs = operand_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))


@irdl_op_definition
class CmpiOp(_Compare):
    """An integer comparison in every lane: `cuvil_vector.cmpi slt, %a, %b : vector<16xi32>`."""

    name = "cuvil_vector.cmpi"
    PREDICATES: ClassVar[tuple[str, ...]] = tuple(CMPI_COMPARISON_OPERATIONS)

    T: ClassVar = VarConstraint("T", _INTEGERS)
    lhs = operand_def(T)
    rhs = operand_def(T)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`condition ? lhs : rhs` in every lane."""

    name = "cuvil_vector.select"

    T: ClassVar = VarConstraint("T", base(VectorType))
    cond = operand_def(VectorType[I1])
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($result)"

    def verify_(self) -> None:
        if _shape(self.cond.type) != _shape(self.result.type):
            raise VerifyException(
                f"{self.name}: condition {self.cond.type} and result {self.result.type} differ in lanes"
            )


class _Cast(IRDLOperation):
    """A conversion of every lane."""

    input = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[value], result_types=[result_type])

    def verify_(self) -> None:
        if _shape(self.input.type) != _shape(self.result.type):
            raise VerifyException(f"{self.name}: input {self.input.type} and result {self.result.type} differ in lanes")


class _IntegerCast(_Cast):
    input = operand_def(_MASK)
    result = result_def(_MASK)

    WIDENS: ClassVar[bool]

    def verify_(self) -> None:
        super().verify_()
        source, target = (value.type.element_type.width.data for value in (self.input, self.result))  # pyright: ignore
        if source == target or (source < target) != self.WIDENS:
            raise VerifyException(
                f"{self.name}: cannot {'widen' if self.WIDENS else 'narrow'} {self.input.type} to {self.result.type}"
            )


@irdl_op_definition
class ExtSIOp(_IntegerCast):
    """Sign extension."""

    name = "cuvil_vector.extsi"
    WIDENS: ClassVar[bool] = True


@irdl_op_definition
class ExtUIOp(_IntegerCast):
    """Zero extension."""

    name = "cuvil_vector.extui"
    WIDENS: ClassVar[bool] = True


@irdl_op_definition
class TruncIOp(_IntegerCast):
    """Truncation to fewer bits."""

    name = "cuvil_vector.trunci"
    WIDENS: ClassVar[bool] = False


@irdl_op_definition
class IndexCastOp(_Cast):
    """Between `index` and an integer: sign-extends or truncates."""

    name = "cuvil_vector.index_cast"
    input = operand_def(_INTEGERS)
    result = result_def(_INTEGERS)


@irdl_op_definition
class FPToSIOp(_Cast):
    """Float to signed integer, towards zero; unspecified where it does not fit."""

    name = "cuvil_vector.fptosi"
    input = operand_def(_FLOATS)
    result = result_def(_MASK)


@irdl_op_definition
class FPToUIOp(_Cast):
    """Float to unsigned integer, towards zero; unspecified where it does not fit."""

    name = "cuvil_vector.fptoui"
    input = operand_def(_FLOATS)
    result = result_def(_MASK)


@irdl_op_definition
class SIToFPOp(_Cast):
    """Signed integer to float, rounded to nearest even."""

    name = "cuvil_vector.sitofp"
    input = operand_def(_MASK)
    result = result_def(_FLOATS)


@irdl_op_definition
class UIToFPOp(_Cast):
    """Unsigned integer to float, rounded to nearest even."""

    name = "cuvil_vector.uitofp"
    input = operand_def(_MASK)
    result = result_def(_FLOATS)


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """A hint that an element will be read soon: its cache line is brought into the second level.

    `cuvil_vector.prefetch %buffer[%position] : memref<64xf32>`. The position may lie outside the buffer.
    """

    name = "cuvil_vector.prefetch"

    buffer = operand_def(MemRefType)
    position = operand_def(IndexType)

    assembly_format = "$buffer `[` $position `]` attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue, position: SSAValue) -> None:
        super().__init__(operands=[buffer, position])


CuvilVector = Dialect(
    "cuvil_vector",
    [
        CmpfOp,
        CmpiOp,
        ExtSIOp,
        ExtUIOp,
        FPToSIOp,
        FPToUIOp,
        IndexCastOp,
        PrefetchOp,
        SIToFPOp,
        SelectOp,
        TruncIOp,
        UIToFPOp,
    ],
    [],
)
