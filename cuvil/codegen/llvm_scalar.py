"""arith, math and lane-wise ops => llvm instructions; scalars and vectors alike.

| loop level                                   | llvm                                                              |
|----------------------------------------------|-------------------------------------------------------------------|
| `arith.addi`, `subi`, `muli`, `shli`, ...    | `llvm.add`, `sub`, `mul`, `shl` with the same overflow flags, ... |
| `arith.minsi`, `maxui`, ...                  | intrinsics `llvm.smin`, `llvm.umax`, ...                          |
| `arith.divsi`, `remui`, ...                  | a division by a divisor that cannot trap                          |
| `arith.floordivsi`, `ceildivsi`, `ceildivui` | the same and a correction                                         |
| `arith.addf`, ...                            | `llvm.fadd`, ... with the same fast-math flags                    |
| `arith.maximumf`, `maxnumf`, ...             | intrinsics `llvm.maximum`, `llvm.maxnum`, ...                     |
| `arith.cmpi`, `cmpf`, `select`               | `llvm.icmp`, `fcmp`, `select` (`cuvil_llvm` where vectors)        |
| casts                                        | the instruction of the same name                                  |
| `arith.index_cast`                           | `llvm.sext`, `llvm.trunc` or nothing                              |
| `math.sqrt`, `floor`, `fma`, `ctpop`, ...    | intrinsics                                                        |

A shift by the width or more is poison in arith as in LLVM, and so is a float that does not fit its integer type. A
division by zero is undefined in arith, and so is that of the least number by -1; here they give some number, since
the lanes that a mask leaves out divide as well, and a trap would end the process. A cast between f64 and a 16-bit
float goes through f32, as PyTorch's does and as x86 can without a library call. `math` functions that are no LLVM
instruction (exp, log, tanh ...) must have been expanded by `lower-math`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects import arith, llvm, math, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from cuvil.codegen.llvm_bfloat import bits_of_constant, is_bf16, narrow
from cuvil.codegen.llvm_build import NO_FLAGS
from cuvil.codegen.llvm_types import I64, element_of, llvm_type, with_element
from cuvil.dialects import llvm_extra
from cuvil.dialects import vector as lanes

if TYPE_CHECKING:
    from cuvil.codegen.llvm_function import FunctionLowering

Rule: TypeAlias = "Callable[[FunctionLowering, Any], None]"

_OVERFLOW = {arith.IntegerOverflowFlag.NSW: 1, arith.IntegerOverflowFlag.NUW: 2}
_OVERFLOW_FLAGS = [IntegerAttr(bits, i32) for bits in range(4)]
_FAST: dict[Attribute, llvm.FastMathAttr] = {arith.FastMathFlagsAttr("none"): NO_FLAGS}


def fast_math(flags: Attribute | None) -> llvm.FastMathAttr:
    """arith's fast-math flags as the llvm dialect's."""
    if flags is None or not flags.data:  # pyright: ignore
        return NO_FLAGS
    if (known := _FAST.get(flags)) is None:
        assert isinstance(flags, arith.FastMathFlagsAttr)
        known = _FAST[flags] = llvm.FastMathAttr(list(flags.data))
    return known


def _flags_of(op: Operation) -> llvm.FastMathAttr:
    return fast_math(op.properties.get("fastmath"))


# -- one instruction each ----------------------------------------------------------------------------------------------


def _plain(op_class: type[IRDLOperation]) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        result = llvm_type(op.results[0].type)
        f.set(op, f.b.op(op_class, *f.operands(op), result=result))

    return lower


def _wrapping(op_class: type[IRDLOperation]) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        flags = _overflow(op.properties.get("overflowFlags"))
        result = llvm_type(op.results[0].type)
        f.set(op, f.b.op(op_class, *f.operands(op), result=result, overflowFlags=flags))

    return lower


def _overflow(flags: Attribute | None) -> Attribute:
    bits = sum(_OVERFLOW[flag] for flag in flags.data) if isinstance(flags, arith.IntegerOverflowAttr) else 0
    return _OVERFLOW_FLAGS[bits]


def _float(op_class: type[IRDLOperation]) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        operands = f.float_operands(op)
        f.set_float(op, f.b.op(op_class, *operands, result=operands[0].type, fastmathFlags=_flags_of(op)))

    return lower


def _intrinsic(name: str) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        operands = f.float_operands(op)
        f.set_float(op, f.b.value_intrinsic(name, *operands, result=operands[0].type, flags=_flags_of(op)))

    return lower


def _intrinsic_with_false(name: str) -> Rule:
    """An intrinsic whose last argument says that a special input gives poison: it never does here."""

    def lower(f: FunctionLowering, op: Operation) -> None:
        operands = f.operands(op)
        f.set(op, f.b.value_intrinsic(name, *operands, f.b.constant(0, i1), result=operands[0].type))

    return lower


# -- constants, comparisons, selects -----------------------------------------------------------------------------------


def constant_value(value: Attribute) -> Attribute:
    """A constant's attribute with `index` as i64 and bf16 as its bits."""
    if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
        return IntegerAttr(value.value.data, I64)
    if isinstance(value, DenseIntOrFPElementsAttr) and isinstance(value.type.element_type, IndexType):
        numbers: list[Any] = list(value.get_values())
        return DenseIntOrFPElementsAttr.from_list(VectorType(I64, value.type.get_shape()), numbers)  # pyright: ignore
    return bits_of_constant(value)


def lower_constant(f: FunctionLowering, op: arith.ConstantOp) -> None:
    """`arith.constant` => `llvm.mlir.constant` in the prelude."""
    f.set(op, f.b.attribute_constant(constant_value(op.value), llvm_type(op.result.type)))


def _compare_integers(f: FunctionLowering, op: Any) -> None:
    lhs, rhs = f.operands(op)
    result = with_element(lhs.type, i1)
    f.set(op, f.b.op(llvm.ICmpOp, lhs, rhs, result=result, predicate=op.predicate))


def _compare_floats(f: FunctionLowering, op: Any) -> None:
    lhs, rhs = f.float_operands(op)
    result = with_element(lhs.type, i1)
    op_class = llvm_extra.FCmpOp if isinstance(lhs.type, VectorType) else llvm.FCmpOp
    # The scalar op's text form does not keep fast-math flags, so it gets none.
    flags = _flags_of(op) if op_class is llvm_extra.FCmpOp else NO_FLAGS
    f.set(op, f.b.op(op_class, lhs, rhs, result=result, predicate=op.predicate, fastmathFlags=flags))


def _select(f: FunctionLowering, op: Operation) -> None:
    condition, true, false = f.operands(op)
    f.set(op, f.b.select(condition, true, false))


# -- divisions that round otherwise ------------------------------------------------------------------------------------


def _constant_divisor(value: SSAValue) -> bool:
    """Whether a divisor is known to trap never: a constant without a 0 or a -1."""
    if not isinstance(value.owner, arith.ConstantOp):
        return False
    attribute = value.owner.value
    if isinstance(attribute, IntegerAttr):
        return attribute.value.data not in (0, -1)
    return isinstance(attribute, DenseIntOrFPElementsAttr) and not {0, -1}.intersection(attribute.get_values())


def _division_operands(f: FunctionLowering, op: Operation, *, is_signed: bool) -> tuple[SSAValue, SSAValue]:
    """Dividend and a divisor that does not trap: 1 for 0, and for -1 where the dividend is the least number."""
    lhs, rhs = f.operands(op)
    if _constant_divisor(op.operands[1]):
        return lhs, rhs
    traps = f.b.compare("eq", rhs, f.integer(0, rhs.type))
    if is_signed:
        is_least = f.b.compare("eq", lhs, f.integer(-(1 << (_bits(lhs.type) - 1)), lhs.type))
        is_minus_one = f.b.compare("eq", rhs, f.integer(-1, rhs.type))
        overflows = f.b.op(llvm.AndOp, is_least, is_minus_one, result=is_least.type)
        traps = f.b.op(llvm.OrOp, traps, overflows, result=traps.type)
    return lhs, f.b.select(traps, f.integer(1, rhs.type), rhs)


def _division(op_class: type[IRDLOperation], *, is_signed: bool) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        lhs, rhs = _division_operands(f, op, is_signed=is_signed)
        f.set(op, f.b.op(op_class, lhs, rhs, result=lhs.type))

    return lower


def _rounding_division(amount: int, sign: str) -> Rule:
    """The quotient plus `amount` where the remainder is not zero and remainder ^ divisor is `sign` zero."""

    def lower(f: FunctionLowering, op: Operation) -> None:
        lhs, rhs = _division_operands(f, op, is_signed=True)
        zero = f.integer(0, lhs.type)
        quotient = f.b.op(llvm.SDivOp, lhs, rhs, result=lhs.type)
        remainder = f.b.op(llvm.SRemOp, lhs, rhs, result=lhs.type)
        is_inexact = f.b.compare("ne", remainder, zero)
        has_sign = f.b.compare(sign, f.b.op(llvm.XOrOp, remainder, rhs, result=lhs.type), zero)
        is_off = f.b.op(llvm.AndOp, is_inexact, has_sign, result=has_sign.type)
        f.set(op, _add_where(f, quotient, is_off, amount))

    return lower


def _ceil_div_unsigned(f: FunctionLowering, op: Operation) -> None:
    """The quotient plus 1 where the remainder is not zero."""
    lhs, rhs = _division_operands(f, op, is_signed=False)
    quotient = f.b.op(llvm.UDivOp, lhs, rhs, result=lhs.type)
    remainder = f.b.op(llvm.URemOp, lhs, rhs, result=lhs.type)
    f.set(op, _add_where(f, quotient, f.b.compare("ne", remainder, f.integer(0, lhs.type)), 1))


def _add_where(f: FunctionLowering, value: SSAValue, condition: SSAValue, amount: int) -> SSAValue:
    other = f.b.op(llvm.AddOp, value, f.integer(amount, value.type), result=value.type)
    return f.b.select(condition, other, value)


# -- casts -------------------------------------------------------------------------------------------------------------


def _truncate(f: FunctionLowering, value: SSAValue, result: Attribute) -> SSAValue:
    return f.b.op(llvm.TruncOp, value, result=result, overflowFlags=llvm.OverflowAttr(None))


def _index_cast(f: FunctionLowering, op: Operation) -> None:
    value = f.value(op.operands[0])
    result = llvm_type(op.results[0].type)
    source_bits, result_bits = (_bits(t) for t in (value.type, result))
    if source_bits < result_bits:
        value = f.b.op(llvm.SExtOp, value, result=result)
    elif source_bits > result_bits:
        value = _truncate(f, value, result)
    f.set(op, value)


def _bits(integer: Attribute) -> int:
    element = element_of(integer)
    assert isinstance(element, IntegerType)
    return element.width.data


def _trunc_integer(f: FunctionLowering, op: Operation) -> None:
    f.set(op, _truncate(f, f.value(op.operands[0]), llvm_type(op.results[0].type)))


def _extend_float(f: FunctionLowering, op: Operation) -> None:
    (value,) = f.float_operands(op)
    result = op.results[0].type
    if isinstance(element_of(value.type), Float16Type) and isinstance(element_of(result), Float64Type):
        value = f.b.op(llvm.FPExtOp, value, result=with_element(result, f32))
    f.set(op, value if value.type == result else f.b.op(llvm.FPExtOp, value, result=result))


def _truncate_float(f: FunctionLowering, op: Operation) -> None:
    value = f.value(op.operands[0])
    result = op.results[0].type
    is_double = isinstance(element_of(value.type), Float64Type)
    if is_double and isinstance(element_of(result), Float16Type | BFloat16Type):
        value = f.b.op(llvm.FPTruncOp, value, result=with_element(result, f32))
    f.set(op, narrow(f, value) if is_bf16(result) else f.b.op(llvm.FPTruncOp, value, result=result))


def _float_to_integer(op_class: type[IRDLOperation]) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        f.set(op, f.b.op(op_class, *f.float_operands(op), result=llvm_type(op.results[0].type)))

    return lower


def _integer_to_float(op_class: type[IRDLOperation]) -> Rule:
    def lower(f: FunctionLowering, op: Operation) -> None:
        result = op.results[0].type
        computed = with_element(result, f32) if is_bf16(result) else result
        f.set_float(op, f.b.op(op_class, *f.operands(op), result=computed))

    return lower


def _bitcast(f: FunctionLowering, op: Operation) -> None:
    value, result = f.value(op.operands[0]), llvm_type(op.results[0].type)
    f.set(op, value if value.type == result else f.b.op(llvm.BitcastOp, value, result=result))


# -- math --------------------------------------------------------------------------------------------------------------


def _reciprocal_sqrt(f: FunctionLowering, op: Operation) -> None:
    (value,) = f.float_operands(op)
    root = f.b.op(llvm.FSqrtOp, value, result=value.type, fastmathFlags=_flags_of(op))
    one = f.b.attribute_constant(f.float_constant(1.0, value.type), value.type)
    f.set_float(op, f.b.op(llvm.FDivOp, one, root, result=value.type, fastmathFlags=_flags_of(op)))


_SIMILAR: Mapping[type[Operation], type[IRDLOperation]] = {
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.ShRSIOp: llvm.AShrOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    lanes.ExtSIOp: llvm.SExtOp,
    lanes.ExtUIOp: llvm.ZExtOp,
}
_FLOATS: Mapping[type[Operation], type[IRDLOperation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
    arith.NegfOp: llvm.FNegOp,
    math.AbsFOp: llvm.FAbsOp,
    math.CeilOp: llvm.FCeilOp,
    math.FloorOp: llvm.FFloorOp,
    math.SqrtOp: llvm.FSqrtOp,
    math.CopySignOp: llvm.FCopySignOp,
    math.FmaOp: llvm.FMAOp,
    vector.FMAOp: llvm.FMAOp,
}
_INTRINSICS: Mapping[type[Operation], str] = {
    arith.MinSIOp: "llvm.smin",
    arith.MaxSIOp: "llvm.smax",
    arith.MinUIOp: "llvm.umin",
    arith.MaxUIOp: "llvm.umax",
    arith.MaximumfOp: "llvm.maximum",
    arith.MinimumfOp: "llvm.minimum",
    arith.MaxnumfOp: "llvm.maxnum",
    arith.MinnumfOp: "llvm.minnum",
    math.TruncOp: "llvm.trunc",
    math.RoundOp: "llvm.round",
    math.RoundEvenOp: "llvm.roundeven",
    math.CtPopOp: "llvm.ctpop",
}

SCALAR_RULES: Mapping[type[Operation], Rule] = {
    **{source: _plain(target) for source, target in _SIMILAR.items()},
    **{source: _float(target) for source, target in _FLOATS.items()},
    **{source: _intrinsic(name) for source, name in _INTRINSICS.items()},
    arith.ConstantOp: lower_constant,
    arith.AddiOp: _wrapping(llvm.AddOp),
    arith.SubiOp: _wrapping(llvm.SubOp),
    arith.MuliOp: _wrapping(llvm.MulOp),
    arith.ShLIOp: _wrapping(llvm.ShlOp),
    arith.DivUIOp: _division(llvm.UDivOp, is_signed=False),
    arith.DivSIOp: _division(llvm.SDivOp, is_signed=True),
    arith.RemUIOp: _division(llvm.URemOp, is_signed=False),
    arith.RemSIOp: _division(llvm.SRemOp, is_signed=True),
    # Towards minus infinity: off by one where the signs differ; towards plus infinity: where they agree.
    arith.FloorDivSIOp: _rounding_division(-1, "slt"),
    arith.CeilDivSIOp: _rounding_division(1, "sge"),
    arith.CeilDivUIOp: _ceil_div_unsigned,
    arith.CmpiOp: _compare_integers,
    lanes.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_floats,
    lanes.CmpfOp: _compare_floats,
    arith.SelectOp: _select,
    lanes.SelectOp: _select,
    arith.IndexCastOp: _index_cast,
    lanes.IndexCastOp: _index_cast,
    arith.TruncIOp: _trunc_integer,
    lanes.TruncIOp: _trunc_integer,
    arith.FPToSIOp: _float_to_integer(llvm_extra.FPToSIOp),
    arith.FPToUIOp: _float_to_integer(llvm_extra.FPToUIOp),
    arith.SIToFPOp: _integer_to_float(llvm.SIToFPOp),
    arith.UIToFPOp: _integer_to_float(llvm_extra.UIToFPOp),
    lanes.FPToSIOp: _float_to_integer(llvm_extra.FPToSIOp),
    lanes.FPToUIOp: _float_to_integer(llvm_extra.FPToUIOp),
    lanes.SIToFPOp: _integer_to_float(llvm.SIToFPOp),
    lanes.UIToFPOp: _integer_to_float(llvm_extra.UIToFPOp),
    arith.BitcastOp: _bitcast,
    vector.BitcastOp: _bitcast,
    arith.ExtFOp: _extend_float,
    arith.TruncFOp: _truncate_float,
    math.RsqrtOp: _reciprocal_sqrt,
    math.AbsIOp: _intrinsic_with_false("llvm.abs"),
    math.CountLeadingZerosOp: _intrinsic_with_false("llvm.ctlz"),
    math.CountTrailingZerosOp: _intrinsic_with_false("llvm.cttz"),
}
"""Op class => how it is lowered."""
