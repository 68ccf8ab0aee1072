"""`math` functions as arithmetic: one table, op class => expansion.

An expansion takes the operands' lanes (a scalar or a rank-1 vector of f32 or f64) and returns the result's, writing
`arith`, `vector.fma` and the few `math` operations that targets have as instructions. CPU and GPU share the table;
`lower-math` applies it to a module, and code generators may call `expand` directly. f16 and bf16 are computed in f32.

Errors in ulp and the special values are in docs/vector-math.md; tests/test_vector_math.py measures them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.codegen import (
    vector_math_error_function,
    vector_math_exponential,
    vector_math_hyperbolic,
    vector_math_inverse_trigonometric,
    vector_math_logarithm,
    vector_math_power,
    vector_math_remainder,
    vector_math_trigonometric,
)
from cuvil.codegen.loops import LoopBuilder, element_type_of
from cuvil.codegen.vector_math_lanes import Lanes

Expansion: TypeAlias = Callable[..., Lanes]
"""Operands' lanes => result's lanes; the builder travels in the operands."""

EXPANSIONS: Mapping[type[Operation], Expansion] = {
    math.ExpOp: vector_math_exponential.exp,
    math.Exp2Op: vector_math_exponential.exp2,
    math.ExpM1Op: vector_math_exponential.expm1,
    math.LogOp: vector_math_logarithm.log,
    math.Log2Op: vector_math_logarithm.log2,
    math.Log10Op: vector_math_logarithm.log10,
    math.Log1pOp: vector_math_logarithm.log1p,
    math.TanhOp: vector_math_hyperbolic.tanh,
    math.SinhOp: vector_math_hyperbolic.sinh,
    math.CoshOp: vector_math_hyperbolic.cosh,
    math.AsinhOp: vector_math_hyperbolic.asinh,
    math.AcoshOp: vector_math_hyperbolic.acosh,
    math.AtanhOp: vector_math_hyperbolic.atanh,
    math.SinOp: vector_math_trigonometric.sin,
    math.CosOp: vector_math_trigonometric.cos,
    math.TanOp: vector_math_trigonometric.tan,
    math.AsinOp: vector_math_inverse_trigonometric.asin,
    math.AcosOp: vector_math_inverse_trigonometric.acos,
    math.AtanOp: vector_math_inverse_trigonometric.atan,
    math.Atan2Op: vector_math_inverse_trigonometric.atan2,
    math.ErfOp: vector_math_error_function.erf,
    math.RsqrtOp: vector_math_power.rsqrt,
    math.CbrtOp: vector_math_power.cbrt,
    math.PowFOp: vector_math_power.pow,
    math.FPowIOp: vector_math_power.fpowi,
    math.IPowIOp: vector_math_power.ipowi,
}
"""The op classes that have an expansion => the expansion on f32 and f64 lanes."""


def expand(b: LoopBuilder, op_class: type[Operation], operands: Sequence[SSAValue]) -> SSAValue:
    """Append the expansion of `op_class` on `operands`; its result has the first operand's type."""
    return expand_function(b, EXPANSIONS[op_class], operands)


def expand_function(b: LoopBuilder, function: Expansion, operands: Sequence[SSAValue]) -> SSAValue:
    """Append `function` of `operands`, computed in f32 where they are f16 or bf16."""
    element_type = element_type_of(operands[0].type)
    lanes = [Lanes(b, operand) for operand in operands]
    if isinstance(element_type, Float16Type | BFloat16Type):
        wide = function(*(lane.extend(f32) if lane.is_float else lane for lane in lanes))
        return wide.truncate(element_type).value
    return function(*lanes).value


def is_supported(op_class: type[Operation], element_type: Attribute) -> bool:
    """Whether `op_class` can be expanded on results of this element type."""
    if op_class is math.IPowIOp:
        return isinstance(element_type, IntegerType) and element_type.width.data in (8, 16, 32, 64)
    return isinstance(element_type, Float16Type | BFloat16Type | Float32Type | Float64Type)


def erfc(b: LoopBuilder, value: SSAValue) -> SSAValue:
    """1 - erf(value) without cancellation; `math` has no operation for it."""
    return expand_function(b, vector_math_error_function.erfc, (value,))


def fmod(b: LoopBuilder, dividend: SSAValue, divisor: SSAValue) -> SSAValue:
    """The remainder of a division that truncates, exactly, as C's fmod; `arith` has no operation for it."""
    return expand_function(b, vector_math_remainder.fmod, (dividend, divisor))
