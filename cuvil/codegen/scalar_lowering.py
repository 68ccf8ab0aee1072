"""Scalar functions as loop-level IR: rows of the scalar-function table on vectors or scalars.

`emit_scalar(b, kind, element_type, operands)` gives `kind` of the operands, which are vectors (or scalars) of
`element_type`, or bool where the function says so. A row's `lowering` names the op for its domain; functions without
one are composed here. f16 and bf16 are computed in f32 and rounded once, as eager PyTorch does. Bools are i1.
"""

from __future__ import annotations

import math as pymath
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, Float64Type, IntegerType, Signedness, f32, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from cuvil.codegen.loops import LoopBuilder, element_type_of, vector_of, width_of
from cuvil.semantics.scalars import SCALAR_FUNCTIONS

Compose = Callable[[LoopBuilder, Sequence[SSAValue], bool], SSAValue]

_OPS: dict[str, type[IRDLOperation]] = {
    op.name: op for op in (*arith.Arith.operations, *math.Math.operations) if issubclass(op, IRDLOperation)
}


def storage_type(element_type: Attribute) -> Attribute:
    """The signless type that values of `element_type` have at the loop level."""
    if isinstance(element_type, IntegerType) and element_type.signedness.data != Signedness.SIGNLESS:
        return IntegerType(element_type.width.data)
    return element_type


def is_unsigned(element_type: Attribute) -> bool:
    """Whether an element type is an unsigned integer."""
    return isinstance(element_type, IntegerType) and element_type.signedness.data == Signedness.UNSIGNED


def is_float(element_type: Attribute) -> bool:
    """Whether an element type is a float."""
    return isinstance(element_type, AnyFloat)


def emit_scalar(b: LoopBuilder, kind: str, element_type: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    """`kind` of operands whose data have `element_type` (of a select: that of its second operand)."""
    if isinstance(element_type, Float16Type | BFloat16Type) and kind != "select":
        wide = [emit_cast(b, operand, element_type, f32) for operand in operands]
        result = _emit(b, kind, f32, wide)
        is_bool = SCALAR_FUNCTIONS[kind].rule == "bool"
        return result if is_bool else emit_cast(b, result, f32, element_type)
    return _emit(b, kind, element_type, operands)


def _emit(b: LoopBuilder, kind: str, element_type: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    unsigned = is_unsigned(element_type)
    domain = "f" if is_float(element_type) else "b" if element_type == i1 else "i"
    lowering = SCALAR_FUNCTIONS[kind].lowering
    text = lowering.get("u" if unsigned and "u" in lowering else domain)
    if kind == "abs" and unsigned:
        return operands[0]
    if text is None:
        return _COMPOSED[(kind, domain)](b, operands, unsigned)
    name, _, predicate = text.partition(" ")
    if name == "arith.cmpf":
        return b.compare_float(predicate, *operands)
    if name == "arith.cmpi":
        return b.compare_int(predicate, *operands)
    if name == "arith.select":
        return b.select(*operands)
    op_class = _OPS[name]
    return b.float_op(op_class, *operands) if domain == "f" else b.int_op(op_class, *operands)


def emit_cast(b: LoopBuilder, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    """`value` of element type `source` converted to `target` as `Tensor.to` does."""
    if source == target:
        return value
    width = width_of(value.type)
    result = vector_of(storage_type(target), width)
    if target == i1:
        zero = b.constant(0, storage_type(source), width)
        return b.compare_float("une", value, zero) if is_float(source) else b.compare_int("ne", value, zero)
    if is_float(source) and is_float(target):
        return _cast_float(b, value, source, target, result)
    if is_float(source):
        # Towards zero through i64, then wrapped: what a C cast on x86-64 and PyTorch's vectorised casts give.
        wide = b.float_to_integer(value, vector_of(IntegerType(64), width))
        return _cast_int(b, wide, IntegerType(64), target)
    if is_float(target):
        op_class = arith.UIToFPOp if source == i1 or is_unsigned(source) else arith.SIToFPOp
        return b.op(op_class, value, result=result)
    return _cast_int(b, value, source, target)


def _cast_float(b: LoopBuilder, value: SSAValue, source: Attribute, target: Attribute, result: Attribute) -> SSAValue:
    assert isinstance(source, AnyFloat)
    assert isinstance(target, AnyFloat)
    if source.bitwidth == target.bitwidth:
        wide = b.op(arith.ExtFOp, value, result=vector_of(f32, width_of(value.type)))
        return b.op(arith.TruncFOp, wide, result=result)
    if isinstance(source, Float64Type) and target.bitwidth == 16:
        # Through f32, as PyTorch's double to half conversions go.
        value = b.op(arith.TruncFOp, value, result=vector_of(f32, width_of(value.type)))
    return b.op(arith.ExtFOp if target.bitwidth > source.bitwidth else arith.TruncFOp, value, result=result)


def _cast_int(b: LoopBuilder, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    assert isinstance(source, IntegerType)
    assert isinstance(target, IntegerType)
    result = vector_of(storage_type(target), width_of(value.type))
    if source.width.data == target.width.data:
        return value
    if source.width.data > target.width.data:
        return b.op(arith.TruncIOp, value, result=result)
    extends_by_zero = source == i1 or is_unsigned(source)
    return b.op(arith.ExtUIOp if extends_by_zero else arith.ExtSIOp, value, result=result)


# -- composed functions: (builder, operands, unsigned) -> value ------------------------------------------------------


def _number(b: LoopBuilder, like: SSAValue, number: float) -> SSAValue:
    return b.constant(number, element_type_of(like.type), width_of(like.type))


def _negate_int(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.int_op(arith.SubiOp, _number(b, x[0], 0), x[0])


def _invert(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    ones = 1 if element_type_of(x[0].type) == i1 else -1
    return b.int_op(arith.XOrIOp, x[0], _number(b, x[0], ones))


def _sign_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    zero, one = _number(b, x[0], 0), _number(b, x[0], 1)
    above = b.select(b.compare_float("ogt", x[0], zero), one, zero)
    below = b.select(b.compare_float("olt", x[0], zero), one, zero)
    return b.sub_float(above, below)


def _sign_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    zero, one = _number(b, x[0], 0), _number(b, x[0], 1)
    above = b.select(b.compare_int("ugt" if unsigned else "sgt", x[0], zero), one, zero)
    if unsigned:
        return above
    below = b.select(b.compare_int("slt", x[0], zero), one, zero)
    return b.int_op(arith.SubiOp, above, below)


def _identity(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return x[0]


def _reciprocal(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.div_float(_number(b, x[0], 1), x[0])


def _sigmoid(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    one = _number(b, x[0], 1)
    return b.div_float(one, b.add_float(one, b.float_op(math.ExpOp, b.float_op(arith.NegfOp, x[0]))))


def _relu_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    # A compare and select rather than maximumf: NaN (unordered) and -0 stay, as in PyTorch, and it is two instructions.
    zero = _number(b, x[0], 0)
    return b.select(b.compare_float("olt", x[0], zero), zero, x[0])


def _relu_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    return x[0] if unsigned else b.int_op(arith.MaxSIOp, x[0], _number(b, x[0], 0))


def _erfc(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    from cuvil.codegen.vector_math import erfc

    return erfc(b, x[0])


def _is_nan(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.compare_float("uno", x[0], x[0])


def _is_inf(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.compare_float("oeq", b.float_op(math.AbsFOp, x[0]), _number(b, x[0], pymath.inf))


def _is_finite(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.compare_float("olt", b.float_op(math.AbsFOp, x[0]), _number(b, x[0], pymath.inf))


def _always(truth: bool) -> Compose:
    def compose(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
        return b.constant(int(truth), i1, width_of(x[0].type))

    return compose


def _fmod_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    from cuvil.codegen.vector_math import fmod

    return fmod(b, x[0], x[1])


def _signs_differ(b: LoopBuilder, rest: SSAValue, divisor: SSAValue) -> SSAValue:
    zero = _number(b, rest, 0)
    different = b.int_op(arith.XOrIOp, b.compare_float("olt", rest, zero), b.compare_float("olt", divisor, zero))
    return b.int_op(arith.AndIOp, different, b.compare_float("une", rest, zero))


def _rem_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    rest = _fmod_float(b, x, False)
    return b.select(_signs_differ(b, rest, x[1]), b.add_float(rest, x[1]), rest)


def _floor_div_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    """c10::div_floor_floating: the exact quotient of (a - rest), one less where the signs differ, rounded to
    integral.
    """
    a, divisor = x
    zero, one, half = _number(b, a, 0), _number(b, a, 1), _number(b, a, 0.5)
    rest = _fmod_float(b, x, False)
    quotient = b.div_float(b.sub_float(a, rest), divisor)
    quotient = b.select(_signs_differ(b, rest, divisor), b.sub_float(quotient, one), quotient)
    floored = b.float_op(math.FloorOp, quotient)
    up = b.compare_float("ogt", b.sub_float(quotient, floored), half)
    floored = b.select(up, b.add_float(floored, one), floored)
    plain = b.div_float(a, divisor)
    signed_zero = b.float_op(math.CopySignOp, zero, plain)
    result = b.select(b.compare_float("une", quotient, zero), floored, signed_zero)
    return b.select(b.compare_float("oeq", divisor, zero), plain, result)


def _trunc_div_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.float_op(math.TruncOp, b.div_float(*x))


def _guarded(
    b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool, op_class: type[IRDLOperation]
) -> tuple[SSAValue, SSAValue]:
    """`op_class` with a divisor that cannot trap (0 and, where signed, -1 replaced by 1), and the mask of zero
    divisors.
    """
    zero, one = _number(b, x[1], 0), _number(b, x[1], 1)
    by_zero = b.compare_int("eq", x[1], zero)
    divisor = b.select(by_zero, one, x[1])
    if not unsigned:
        divisor = b.select(b.compare_int("eq", x[1], _number(b, x[1], -1)), one, divisor)
    return b.int_op(op_class, x[0], divisor), by_zero


def _trunc_div_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    quotient, by_zero = _guarded(b, x, unsigned, arith.DivUIOp if unsigned else arith.DivSIOp)
    zero = _number(b, x[0], 0)
    if not unsigned:
        by_minus_one = b.compare_int("eq", x[1], _number(b, x[1], -1))
        quotient = b.select(by_minus_one, b.int_op(arith.SubiOp, zero, x[0]), quotient)
    return b.select(by_zero, zero, quotient)


def _fmod_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    rest, by_zero = _guarded(b, x, unsigned, arith.RemUIOp if unsigned else arith.RemSIOp)
    return b.select(by_zero, _number(b, x[0], 0), rest)


def _int_signs_differ(b: LoopBuilder, rest: SSAValue, divisor: SSAValue) -> SSAValue:
    zero = _number(b, rest, 0)
    different = b.int_op(arith.XOrIOp, b.compare_int("slt", rest, zero), b.compare_int("slt", divisor, zero))
    return b.int_op(arith.AndIOp, different, b.compare_int("ne", rest, zero))


def _rem_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    rest = _fmod_int(b, x, unsigned)
    if unsigned:
        return rest
    zero = _number(b, rest, 0)
    moved = b.select(_int_signs_differ(b, rest, x[1]), b.int_op(arith.AddiOp, rest, x[1]), rest)
    return b.select(b.compare_int("eq", x[1], zero), zero, moved)


def _floor_div_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    quotient = _trunc_div_int(b, x, unsigned)
    if unsigned:
        return quotient
    rest = _fmod_int(b, x, unsigned)
    zero, one = _number(b, rest, 0), _number(b, rest, 1)
    moved = b.select(_int_signs_differ(b, rest, x[1]), b.int_op(arith.SubiOp, quotient, one), quotient)
    return b.select(b.compare_int("eq", x[1], zero), zero, moved)


def _shift(op_signed: type[IRDLOperation], op_unsigned: type[IRDLOperation], fills: bool) -> Compose:
    def compose(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
        element = element_type_of(x[0].type)
        assert isinstance(element, IntegerType)
        outside = b.compare_int("uge", x[1], _number(b, x[1], element.width.data))
        count = b.select(outside, _number(b, x[1], 0), x[1])
        op_class = op_unsigned if unsigned else op_signed
        shifted = b.int_op(op_class, x[0], count)
        empty = _number(b, x[0], 0)
        if fills and not unsigned:
            empty = b.int_op(op_class, x[0], _number(b, x[0], element.width.data - 1))
        return b.select(outside, empty, shifted)

    return compose


def _power_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    """Square and multiply over the exponent's bits; negative exponents as PyTorch (1, +-1, or 0)."""
    base, exponent = x
    zero, one, minus_one = (_number(b, base, number) for number in (0, 1, -1))
    element = element_type_of(base.type)
    assert isinstance(element, IntegerType)
    result, square = one, base
    # Exponents of 2^k with k beyond the width only matter for bases 0, 1 and -1, which a few squarings settle.
    for bit in range(min(element.width.data, 64)):
        mask = _number(b, exponent, 1 << bit if bit < element.width.data - 1 else -(1 << bit))
        is_set = b.compare_int("ne", b.int_op(arith.AndIOp, exponent, mask), zero)
        result = b.select(is_set, b.int_op(arith.MuliOp, result, square), result)
        square = b.int_op(arith.MuliOp, square, square)
    if unsigned:
        return result
    odd = b.compare_int("ne", b.int_op(arith.AndIOp, exponent, one), zero)
    of_minus_one = b.select(odd, minus_one, one)
    inverse = b.select(
        b.compare_int("eq", base, one), one, b.select(b.compare_int("eq", base, minus_one), of_minus_one, zero)
    )
    return b.select(b.compare_int("slt", exponent, zero), inverse, result)


def _clamp_float(b: LoopBuilder, x: Sequence[SSAValue], _: bool) -> SSAValue:
    return b.float_op(arith.MinimumfOp, b.float_op(arith.MaximumfOp, x[0], x[1]), x[2])


def _clamp_int(b: LoopBuilder, x: Sequence[SSAValue], unsigned: bool) -> SSAValue:
    low, high = (arith.MaxUIOp, arith.MinUIOp) if unsigned else (arith.MaxSIOp, arith.MinSIOp)
    return b.int_op(high, b.int_op(low, x[0], x[1]), x[2])


_COMPOSED: dict[tuple[str, str], Compose] = {
    ("neg", "i"): _negate_int,
    ("not", "i"): _invert,
    ("not", "b"): _invert,
    ("sign", "f"): _sign_float,
    ("sign", "i"): _sign_int,
    ("sign", "b"): _identity,
    ("reciprocal", "f"): _reciprocal,
    ("sigmoid", "f"): _sigmoid,
    ("relu", "f"): _relu_float,
    ("relu", "i"): _relu_int,
    ("erfc", "f"): _erfc,
    ("floor", "i"): _identity,
    ("ceil", "i"): _identity,
    ("round", "i"): _identity,
    ("trunc", "i"): _identity,
    ("isnan", "f"): _is_nan,
    ("isinf", "f"): _is_inf,
    ("isfinite", "f"): _is_finite,
    ("isnan", "i"): _always(False),
    ("isinf", "i"): _always(False),
    ("isfinite", "i"): _always(True),
    ("fmod", "f"): _fmod_float,
    ("rem", "f"): _rem_float,
    ("floor_div", "f"): _floor_div_float,
    ("trunc_div", "f"): _trunc_div_float,
    ("fmod", "i"): _fmod_int,
    ("rem", "i"): _rem_int,
    ("floor_div", "i"): _floor_div_int,
    ("trunc_div", "i"): _trunc_div_int,
    ("shl", "i"): _shift(arith.ShLIOp, arith.ShLIOp, fills=False),
    ("shr", "i"): _shift(arith.ShRSIOp, arith.ShRUIOp, fills=True),
    ("pow", "i"): _power_int,
    ("clamp", "f"): _clamp_float,
    ("clamp", "i"): _clamp_int,
}
