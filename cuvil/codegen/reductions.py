"""The arithmetic of reductions: neutral elements, combining, and the type that partial results are kept in."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerType, f32, i1
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import LoopBuilder
from cuvil.codegen.scalar_lowering import emit_cast, is_float, is_unsigned, storage_type


def accumulator_type(element: Attribute) -> Attribute:
    """What a reduction of `element` is kept in: f32 for the 16-bit floats, else the (signless) type itself."""
    return f32 if isinstance(element, Float16Type | BFloat16Type) else storage_type(element)


def neutral(b: LoopBuilder, kind: str, element: Attribute, width: int) -> SSAValue:
    """The neutral element of a reduction, in the accumulator's type."""
    kept = accumulator_type(element)
    if is_float(element):
        number = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}[kind]
        return b.constant(number, kept, width)
    assert isinstance(kept, IntegerType)
    bits = kept.width.data
    top = (1 << bits) - 1 if is_unsigned(element) or element == i1 else (1 << (bits - 1)) - 1
    bottom = 0 if is_unsigned(element) or element == i1 else -(1 << (bits - 1))
    number = {"add": 0, "mul": 1, "max": bottom, "min": top, "and": -1, "or": 0, "xor": 0}[kind]
    if element == i1:
        number &= 1
    elif is_unsigned(element) and number >= 1 << (bits - 1):
        number -= 1 << bits
    return b.constant(number, kept, width)


_FLOAT_OPS = {"add": arith.AddfOp, "mul": arith.MulfOp, "max": arith.MaximumfOp, "min": arith.MinimumfOp}
_INT_OPS = {
    "add": arith.AddiOp,
    "mul": arith.MuliOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
}


def combine(b: LoopBuilder, kind: str, element: Attribute, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Two partial results of a reduction as one; bools are added by `or` and multiplied by `and`."""
    if element == i1:
        kind = {"add": "or", "mul": "and"}.get(kind, kind)
    if is_float(element):
        return b.float_op(_FLOAT_OPS[kind], lhs, rhs)
    if is_unsigned(element) or element == i1:
        return b.int_op({"max": arith.MaxUIOp, "min": arith.MinUIOp}.get(kind, _INT_OPS[kind]), lhs, rhs)
    return b.int_op(_INT_OPS[kind], lhs, rhs)


def across_lanes(b: LoopBuilder, kind: str, element: Attribute, value: SSAValue) -> SSAValue:
    """The lanes of a partial result combined."""
    if is_float(element):
        return b.reduce({"max": "maximumf", "min": "minimumf"}.get(kind, kind), value)
    unsigned = is_unsigned(element) or element == i1
    names = {"max": "maxui", "min": "minui"} if unsigned else {"max": "maxsi", "min": "minsi"}
    return b.reduce(names.get(kind, kind), value)


def widened(b: LoopBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """A value in the accumulator's type."""
    return emit_cast(b, value, element, f32) if isinstance(element, Float16Type | BFloat16Type) else value


def narrowed(b: LoopBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """An accumulator back in the element type."""
    return emit_cast(b, value, f32, element) if isinstance(element, Float16Type | BFloat16Type) else value
