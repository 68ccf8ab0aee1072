"""The scalar-function table: one row per function that `cuvil_tensor.unary`, `binary` and `ternary` can carry.

A row holds everything that any part of the compiler needs to know of the function, so that adding one is one row and
its test:

- `arity` and `domain`: how many operands, and of which element types (`f` float, `i` signed or unsigned integer, `b`
  bool).
- `rule`: the result's element type: `same` as the operands', `bool`, or `second` (select: that of the second operand).
- `meaning(np, *operands)`: the exact meaning in NumPy on arrays of the operands' dtype. NumPy is passed in, so that
  this file costs nothing at start-up. Wrap-around of integers and NaN, infinities and signed zeros are part of the
  meaning.
- `flops`: floating-point operations an element, as the cost model counts them (a transcendental counts as its
  polynomial).
- `lowering`: the upstream op for each domain letter (`f`, `i` signed, `u` unsigned, `b`), the same on every back end; a
  function without an entry is composed of others in `cuvil.codegen.scalar_lowering`.

Facts that the rows state, from PyTorch's documented behaviour: `max`/`min`/`relu` propagate NaN; `sign` of NaN is 0;
integer `floor_div`/`trunc_div`/`rem`/`fmod` by zero are undefined in PyTorch (it raises), here they give 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Meaning = Callable[..., Any]


@dataclass(frozen=True)
class ScalarFunction:
    """One row of the table; see the module's docstring for the columns."""

    name: str
    arity: int
    domain: str
    rule: str
    meaning: Meaning
    flops: int = 1
    lowering: Mapping[str, str] = field(default_factory=dict[str, str])
    commutative: bool = False


SCALAR_FUNCTIONS: dict[str, ScalarFunction] = {}


def _row(
    name: str,
    arity: int,
    domain: str,
    meaning: Meaning,
    rule: str = "same",
    flops: int = 1,
    commutative: bool = False,
    **lowering: str,
) -> None:
    SCALAR_FUNCTIONS[name] = ScalarFunction(name, arity, domain, rule, meaning, flops, lowering, commutative)


def scalar_function(name: str, arity: int) -> ScalarFunction | None:
    """The row of `name` if it takes `arity` operands."""
    row = SCALAR_FUNCTIONS.get(name)
    return row if row is not None and row.arity == arity else None


def names_of_arity(arity: int) -> list[str]:
    """The names of all functions that take `arity` operands."""
    return [row.name for row in SCALAR_FUNCTIONS.values() if row.arity == arity]


# -- meanings that NumPy lacks -----------------------------------------------------------------------------------------


def _elementwise(function: Callable[[float], float]) -> Meaning:
    """A float64 library function applied to each element, result in the operand's dtype."""

    def meaning(np: Any, x: Any) -> Any:
        wide = np.asarray(x, dtype=np.float64)
        return np.asarray(np.frompyfunc(function, 1, 1)(wide), np.float64).astype(x.dtype)

    return meaning


def _sigmoid(np: Any, x: Any) -> Any:
    wide = x.astype(np.float64)
    return (1.0 / (1.0 + np.exp(-wide))).astype(x.dtype)


def _round(np: Any, x: Any) -> Any:
    return np.rint(x) if x.dtype.kind == "f" else x


def _sign(np: Any, x: Any) -> Any:
    if x.dtype.kind == "b":
        return x
    return np.where(np.isnan(x), np.zeros_like(x), np.sign(x)) if x.dtype.kind == "f" else np.sign(x)


def _is(test: str) -> Meaning:
    def meaning(np: Any, x: Any) -> Any:
        if x.dtype.kind == "f":
            return getattr(np, test)(x)
        return np.full(x.shape, test == "isfinite")

    return meaning


def _integer_division(function: str) -> Meaning:
    """Division on integers with 0 for a zero divisor; on floats NumPy's own (C-like) function of that name."""

    def meaning(np: Any, a: Any, b: Any) -> Any:
        if a.dtype.kind == "f":
            return _float_division(np, function, a, b)
        safe = np.where(b == 0, np.ones_like(b), b)
        if function == "trunc_div":
            quotient = np.floor_divide(a, safe)
            inexact = (np.remainder(a, safe) != 0) & ((a < 0) != (b < 0))
            result = quotient + inexact.astype(a.dtype)
        else:
            result = getattr(np, {"floor_div": "floor_divide", "rem": "remainder", "fmod": "fmod"}[function])(a, safe)
        return np.where(b == 0, np.zeros_like(a), result).astype(a.dtype)

    return meaning


def _float_division(np: Any, function: str, a: Any, b: Any) -> Any:
    if function == "trunc_div":
        return np.trunc(a / b)
    if function == "fmod":
        return np.fmod(a, b)
    rest = np.fmod(a, b)
    if function == "rem":
        return np.where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest).astype(a.dtype)
    # c10::div_floor_floating: exact quotient of (a - rest), moved down where the signs differ, then rounded.
    quotient = (a - rest) / b
    quotient = np.where((rest != 0) & ((b < 0) != (rest < 0)), quotient - 1, quotient)
    floored = np.floor(quotient)
    floored = np.where(quotient - floored > 0.5, floored + 1, floored)
    result = np.where(quotient != 0, floored, np.copysign(np.zeros_like(a), a / b))
    return np.where(b == 0, a / b, result).astype(a.dtype)


def _shift(function: str) -> Meaning:
    """Shifts by a count outside [0, bits) give what PyTorch gives: 0 on the left, the sign (0 if unsigned) on the
    right."""

    def meaning(np: Any, a: Any, b: Any) -> Any:
        bits = a.dtype.itemsize * 8
        out_of_range = (b < 0) | (b >= bits)
        count = np.where(out_of_range, np.zeros_like(b), b)
        if function == "shl":
            return np.where(out_of_range, np.zeros_like(a), np.left_shift(a, count)).astype(a.dtype)
        filled = np.right_shift(a, np.full_like(a, bits - 1)) if a.dtype.kind == "i" else np.zeros_like(a)
        return np.where(out_of_range, filled, np.right_shift(a, count)).astype(a.dtype)

    return meaning


def _power(np: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return np.power(a, b)
    magnitude = np.power(a, np.where(b < 0, np.zeros_like(b), b))
    # An integer base with a negative exponent: 1 for 1, +-1 for -1, else 0, as PyTorch.
    inverse = np.where(a == 1, 1, np.where(a == np.array(-1).astype(a.dtype), np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, inverse, magnitude).astype(a.dtype)


def _clamp(np: Any, x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


# -- rows: one operand ----------------------------------------------------------------------------------------------

_row("abs", 1, "fi", lambda np, x: np.abs(x), f="math.absf", i="math.absi")
_row("neg", 1, "fi", lambda np, x: np.negative(x), f="arith.negf")
_row("sign", 1, "fib", _sign)
_row("exp", 1, "f", lambda np, x: np.exp(x), flops=12, f="math.exp")
_row("exp2", 1, "f", lambda np, x: np.exp2(x), flops=12, f="math.exp2")
_row("expm1", 1, "f", lambda np, x: np.expm1(x), flops=16, f="math.expm1")
_row("log", 1, "f", lambda np, x: np.log(x), flops=14, f="math.log")
_row("log2", 1, "f", lambda np, x: np.log2(x), flops=14, f="math.log2")
_row("log10", 1, "f", lambda np, x: np.log10(x), flops=14, f="math.log10")
_row("log1p", 1, "f", lambda np, x: np.log1p(x), flops=16, f="math.log1p")
_row("sqrt", 1, "f", lambda np, x: np.sqrt(x), f="math.sqrt")
_row("rsqrt", 1, "f", lambda np, x: np.ones_like(x) / np.sqrt(x), flops=2, f="math.rsqrt")
_row("reciprocal", 1, "f", lambda np, x: np.ones_like(x) / x)
_row("sin", 1, "f", lambda np, x: np.sin(x), flops=18, f="math.sin")
_row("cos", 1, "f", lambda np, x: np.cos(x), flops=18, f="math.cos")
_row("tan", 1, "f", lambda np, x: np.tan(x), flops=24, f="math.tan")
_row("asin", 1, "f", lambda np, x: np.arcsin(x), flops=16, f="math.asin")
_row("acos", 1, "f", lambda np, x: np.arccos(x), flops=16, f="math.acos")
_row("atan", 1, "f", lambda np, x: np.arctan(x), flops=16, f="math.atan")
_row("sinh", 1, "f", lambda np, x: np.sinh(x), flops=20, f="math.sinh")
_row("cosh", 1, "f", lambda np, x: np.cosh(x), flops=20, f="math.cosh")
_row("tanh", 1, "f", lambda np, x: np.tanh(x), flops=16, f="math.tanh")
_row("asinh", 1, "f", lambda np, x: np.arcsinh(x), flops=20, f="math.asinh")
_row("acosh", 1, "f", lambda np, x: np.arccosh(x), flops=20, f="math.acosh")
_row("atanh", 1, "f", lambda np, x: np.arctanh(x), flops=20, f="math.atanh")
_row("erf", 1, "f", _elementwise(math.erf), flops=16, f="math.erf")
_row("erfc", 1, "f", _elementwise(math.erfc), flops=20)
_row("sigmoid", 1, "f", _sigmoid, flops=14)
_row("relu", 1, "fi", lambda np, x: np.where(x < 0, np.zeros_like(x), x))
_row("floor", 1, "fi", lambda np, x: np.floor(x) if x.dtype.kind == "f" else x, f="math.floor")
_row("ceil", 1, "fi", lambda np, x: np.ceil(x) if x.dtype.kind == "f" else x, f="math.ceil")
_row("round", 1, "fi", _round, f="math.roundeven")
_row("trunc", 1, "fi", lambda np, x: np.trunc(x) if x.dtype.kind == "f" else x, f="math.trunc")
_row("not", 1, "ib", lambda np, x: np.invert(x))
_row("isnan", 1, "fi", _is("isnan"), rule="bool")
_row("isinf", 1, "fi", _is("isinf"), rule="bool")
_row("isfinite", 1, "fi", _is("isfinite"), rule="bool")

# -- rows: two operands ---------------------------------------------------------------------------------------------

_row("add", 2, "fib", lambda np, a, b: np.add(a, b), commutative=True, f="arith.addf", i="arith.addi", b="arith.ori")
_row("sub", 2, "fi", lambda np, a, b: np.subtract(a, b), f="arith.subf", i="arith.subi")
_row(
    "mul",
    2,
    "fib",
    lambda np, a, b: np.multiply(a, b),
    commutative=True,
    f="arith.mulf",
    i="arith.muli",
    b="arith.andi",
)
_row("div", 2, "f", lambda np, a, b: np.divide(a, b), flops=4, f="arith.divf")
_row("floor_div", 2, "fi", _integer_division("floor_div"), flops=6)
_row("trunc_div", 2, "fi", _integer_division("trunc_div"), flops=6)
_row("rem", 2, "fi", _integer_division("rem"), flops=6)
_row("fmod", 2, "fi", _integer_division("fmod"), flops=6)
_row("pow", 2, "fi", _power, flops=30, f="math.powf")
_row(
    "max",
    2,
    "fib",
    lambda np, a, b: np.maximum(a, b),
    commutative=True,
    f="arith.maximumf",
    i="arith.maxsi",
    u="arith.maxui",
    b="arith.ori",
)
_row(
    "min",
    2,
    "fib",
    lambda np, a, b: np.minimum(a, b),
    commutative=True,
    f="arith.minimumf",
    i="arith.minsi",
    u="arith.minui",
    b="arith.andi",
)
_row("fmax", 2, "f", lambda np, a, b: np.fmax(a, b), commutative=True, f="arith.maxnumf")
_row("fmin", 2, "f", lambda np, a, b: np.fmin(a, b), commutative=True, f="arith.minnumf")
_row("atan2", 2, "f", lambda np, a, b: np.arctan2(a, b), flops=24, f="math.atan2")
_row("copysign", 2, "f", lambda np, a, b: np.copysign(a, b), f="math.copysign")
_row("and", 2, "ib", lambda np, a, b: np.bitwise_and(a, b), commutative=True, i="arith.andi", b="arith.andi")
_row("or", 2, "ib", lambda np, a, b: np.bitwise_or(a, b), commutative=True, i="arith.ori", b="arith.ori")
_row("xor", 2, "ib", lambda np, a, b: np.bitwise_xor(a, b), commutative=True, i="arith.xori", b="arith.xori")
_row("shl", 2, "i", _shift("shl"))
_row("shr", 2, "i", _shift("shr"))
_row(
    "eq",
    2,
    "fib",
    lambda np, a, b: np.equal(a, b),
    "bool",
    commutative=True,
    f="arith.cmpf oeq",
    i="arith.cmpi eq",
    b="arith.cmpi eq",
)
_row(
    "ne",
    2,
    "fib",
    lambda np, a, b: np.not_equal(a, b),
    "bool",
    commutative=True,
    f="arith.cmpf une",
    i="arith.cmpi ne",
    b="arith.cmpi ne",
)
_row(
    "lt",
    2,
    "fib",
    lambda np, a, b: np.less(a, b),
    "bool",
    f="arith.cmpf olt",
    i="arith.cmpi slt",
    u="arith.cmpi ult",
    b="arith.cmpi ult",
)
_row(
    "le",
    2,
    "fib",
    lambda np, a, b: np.less_equal(a, b),
    "bool",
    f="arith.cmpf ole",
    i="arith.cmpi sle",
    u="arith.cmpi ule",
    b="arith.cmpi ule",
)
_row(
    "gt",
    2,
    "fib",
    lambda np, a, b: np.greater(a, b),
    "bool",
    f="arith.cmpf ogt",
    i="arith.cmpi sgt",
    u="arith.cmpi ugt",
    b="arith.cmpi ugt",
)
_row(
    "ge",
    2,
    "fib",
    lambda np, a, b: np.greater_equal(a, b),
    "bool",
    f="arith.cmpf oge",
    i="arith.cmpi sge",
    u="arith.cmpi uge",
    b="arith.cmpi uge",
)

# -- rows: three operands -------------------------------------------------------------------------------------------

_row(
    "select",
    3,
    "fib",
    lambda np, c, a, b: np.where(c, a, b),
    "second",
    f="arith.select",
    i="arith.select",
    b="arith.select",
)
_row("clamp", 3, "fi", _clamp, flops=2)
_row("fma", 3, "f", lambda np, a, b, c: (a.astype(np.float64) * b + c).astype(a.dtype), flops=2, f="math.fma")
