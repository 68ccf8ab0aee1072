"""The LLVM instructions that xDSL's llvm dialect lacks, or takes for scalars only: `cuvil_llvm`.

Level: the llvm dialect, of which this is a part by meaning. Produced by `lower-loops-to-llvm`, consumed by
`module_to_text`. The prefix differs because a second dialect cannot share the name `llvm`: a context looks up an op
by its dialect's name and refuses to register one name twice. Each op carries the instruction's own name, so that it
can move upstream as it is.

`llvm.fcmp` and `llvm.select` exist upstream, but want scalars (an i1 result and an i1 condition); vectors use the ops
here. Everything that LLVM calls an intrinsic goes through `llvm.call_intrinsic`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    AnyFloatConstr,
    IntegerAttr,
    SignlessIntegerConstraint,
    VectorType,
    i1,
)
from xdsl.dialects.llvm import FastMathAttr, FCmpPredicateFlag
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
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

_FLOAT = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
_INTEGER = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
FCMP_PREDICATES = tuple(FCmpPredicateFlag)


def _lanes(value: SSAValue) -> tuple[int, ...]:
    """The shape of a vector, () of a scalar."""
    return value.type.get_shape() if isinstance(value.type, VectorType) else ()


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """A float comparison of vectors: `cuvil_llvm.fcmp "olt" %a, %b : vector<16xf32>`."""

    name = "cuvil_llvm.fcmp"

    T: ClassVar = VarConstraint("T", VectorType.constr(AnyFloatConstr))
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(VectorType[I1])
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> FCmpOp:
        start = parser.pos
        name = parser.parse_str_literal()
        if name not in FCMP_PREDICATES:
            parser.raise_error(f"unknown predicate '{name}': expected one of {', '.join(FCMP_PREDICATES)}", start)
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        flags = attributes.pop("fastmathFlags", FastMathAttr(None))
        parser.parse_punctuation(":")
        operand_type = parser.parse_type()
        if not isinstance(operand_type, VectorType):
            parser.raise_error(f"{cls.name}: expected a vector type, got {operand_type}")
        return cls.create(
            operands=parser.resolve_operands([lhs, rhs], [operand_type, operand_type], start),
            result_types=[VectorType(i1, operand_type.get_shape())],
            properties={"predicate": IntegerAttr(FCmpPredicateFlag(name).to_int(), 64), "fastmathFlags": flags},
            attributes=attributes,
        )

    def verify_(self) -> None:
        number = self.predicate.value.data
        if not 0 <= number < len(FCMP_PREDICATES):
            raise VerifyException(f"{self.name}: predicate {number} is not in 0..{len(FCMP_PREDICATES) - 1}")
        if _lanes(self.lhs) != _lanes(self.res):
            raise VerifyException(f"{self.name}: operands {self.lhs.type} and result {self.res.type} differ in lanes")

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{FCMP_PREDICATES[self.predicate.value.data]}" ')
        printer.print_ssa_value(self.lhs)
        printer.print_string(", ")
        printer.print_ssa_value(self.rhs)
        flags: dict[str, Attribute] = {}
        if self.fastmathFlags != FastMathAttr(None):
            flags["fastmathFlags"] = self.fastmathFlags
        printer.print_op_attributes(self.attributes | flags)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`condition ? lhs : rhs` in every lane of a vector."""

    name = "cuvil_llvm.select"

    T: ClassVar = VarConstraint("T", base(VectorType))
    cond = operand_def(VectorType[I1])
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($res)"

    def verify_(self) -> None:
        if _lanes(self.cond) != _lanes(self.res):
            raise VerifyException(f"{self.name}: condition {self.cond.type} and result {self.res.type} differ in lanes")


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """The lane `index` of a vector."""

    name = "cuvil_llvm.extractelement"

    T: ClassVar = VarConstraint("T", AnyAttr())
    vector = operand_def(VectorType.constr(T))
    index = operand_def(SignlessIntegerConstraint)
    res = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$vector `[` $index `:` type($index) `]` attr-dict `:` type($vector)"


class _Cast(IRDLOperation):
    arg = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())

    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[value], result_types=[result_type])

    def verify_(self) -> None:
        if _lanes(self.arg) != _lanes(self.result):
            raise VerifyException(f"{self.name}: operand {self.arg.type} and result {self.result.type} differ in lanes")


@irdl_op_definition
class FPToSIOp(_Cast):
    """Float to signed integer, towards zero; poison where it does not fit."""

    name = "cuvil_llvm.fptosi"
    arg = operand_def(_FLOAT)
    result = result_def(_INTEGER)


@irdl_op_definition
class FPToUIOp(_Cast):
    """Float to unsigned integer, towards zero; poison where it does not fit."""

    name = "cuvil_llvm.fptoui"
    arg = operand_def(_FLOAT)
    result = result_def(_INTEGER)


@irdl_op_definition
class UIToFPOp(_Cast):
    """Unsigned integer to float, rounded to nearest even."""

    name = "cuvil_llvm.uitofp"
    arg = operand_def(_INTEGER)
    result = result_def(_FLOAT)


CuvilLLVM = Dialect("cuvil_llvm", [ExtractElementOp, FCmpOp, FPToSIOp, FPToUIOp, SelectOp, UIToFPOp], [])
