"""Element-wise aten ops: arithmetic, comparisons, logic, clamps, casts."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import f16, i1
from xdsl.ir import SSAValue

from cuvil.dialects.tensor import element_domain, element_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import ATEN_BUILDERS, Builder, GraphBuilder, Number, Operand, aten, element_type
from cuvil.semantics.dims import DimExpr

_FLOAT_FUNCTIONS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "erf": "erf", "erfc": "erfc", "sigmoid": "sigmoid", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "special_exp2": "exp2", "special_expm1": "expm1", "special_log1p": "log1p", "special_erf": "erf",
    "special_erfc": "erfc", "special_expit": "sigmoid",
}  # fmt: skip
"""Functions of floats, of which integers are cast to first."""

_KEEPING_FUNCTIONS = {
    "abs": "abs", "absolute": "abs", "neg": "neg", "negative": "neg", "sign": "sign", "sgn": "sign", "floor": "floor",
    "ceil": "ceil", "trunc": "trunc", "fix": "trunc", "bitwise_not": "not", "relu": "relu",
}  # fmt: skip
"""Functions whose result has the operand's type."""

_PROMOTING_FUNCTIONS = {
    "mul": "mul", "multiply": "mul", "remainder": "rem", "fmod": "fmod", "floor_divide": "floor_div", "maximum": "max",
    "minimum": "min", "max.other": "max", "min.other": "min", "bitwise_and": "and", "__and__": "and",
    "bitwise_or": "or", "__or__": "or", "bitwise_xor": "xor", "__xor__": "xor", "bitwise_left_shift": "shl",
    "__lshift__": "shl", "bitwise_right_shift": "shr", "__rshift__": "shr", "eq": "eq", "ne": "ne", "lt": "lt",
    "le": "le", "gt": "gt", "ge": "ge", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge",
}  # fmt: skip
"""Functions of two operands of their common type."""


def _float_function(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue) -> SSAValue:
        (value,) = b.promoted(x, as_float=True)
        return b.apply(kind, value)

    return build


def _keeping_function(kind: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue) -> SSAValue:
        if element_domain(element_of(x)) == "b" and kind in ("abs", "relu", "floor", "ceil", "trunc"):
            return x
        return b.apply(kind, x)

    return build


def _promoting_function(kind: str) -> Builder:
    def build(b: GraphBuilder, x: Operand, y: Operand) -> SSAValue:
        return b.apply(kind, *b.promoted(x, y))

    return build


def _float_promoting_function(kind: str) -> Builder:
    def build(b: GraphBuilder, x: Operand, y: Operand) -> SSAValue:
        return b.apply(kind, *b.promoted(x, y, as_float=True))

    return build


for _name, _kind in _FLOAT_FUNCTIONS.items():
    ATEN_BUILDERS[_name] = _float_function(_kind)
for _name, _kind in _KEEPING_FUNCTIONS.items():
    ATEN_BUILDERS[_name] = _keeping_function(_kind)
for _name, _kind in _PROMOTING_FUNCTIONS.items():
    ATEN_BUILDERS[_name] = _promoting_function(_kind)
for _name, _kind in {"atan2": "atan2", "arctan2": "atan2", "copysign": "copysign"}.items():
    ATEN_BUILDERS[_name] = _float_promoting_function(_kind)


@aten("add")
def add(b: GraphBuilder, x: Operand, y: Operand, *, alpha: Number = 1) -> SSAValue:
    """x + alpha * y."""
    left, right = b.promoted(x, y)
    return b.apply("add", left, _scaled(b, right, alpha))


@aten("sub", "subtract")
def sub(b: GraphBuilder, x: Operand, y: Operand, *, alpha: Number = 1) -> SSAValue:
    """x - alpha * y."""
    left, right = b.promoted(x, y)
    return b.apply("sub", left, _scaled(b, right, alpha))


@aten("rsub")
def rsub(b: GraphBuilder, x: Operand, y: Operand, alpha: Number = 1) -> SSAValue:
    """y - alpha * x."""
    return sub(b, y, x, alpha=alpha)


def _scaled(b: GraphBuilder, value: SSAValue, alpha: Number) -> SSAValue:
    return value if alpha == 1 else b.apply("mul", value, alpha)


@aten("div", "divide", "true_divide")
def div(b: GraphBuilder, x: Operand, y: Operand, *, rounding_mode: str | None = None) -> SSAValue:
    """True division gives floats; `floor` and `trunc` keep integers."""
    if rounding_mode is None:
        return b.apply("div", *b.promoted(x, y, as_float=True))
    return b.apply({"floor": "floor_div", "trunc": "trunc_div"}[rounding_mode], *b.promoted(x, y))


def _ignoring_nan(kind: str, whole: str) -> Builder:
    def build(b: GraphBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        values = b.promoted(x, y)
        return b.apply(kind if element_domain(element_of(values[0])) == "f" else whole, *values)

    return build


ATEN_BUILDERS["fmax"] = _ignoring_nan("fmax", "max")
ATEN_BUILDERS["fmin"] = _ignoring_nan("fmin", "min")


@aten("pow")
def pow_(b: GraphBuilder, x: Operand, exponent: Operand) -> SSAValue:
    """Powers by small constants are the products and roots that PyTorch computes them by."""
    if isinstance(x, SSAValue) and not isinstance(exponent, SSAValue | DimExpr):
        (base, _) = b.promoted(x, exponent)
        base = b.cast(base, element_type(b)) if element_domain(element_of(base)) != "f" else base
        short = _short_power(b, base, float(exponent))
        if short is not None:
            return short
        return b.apply("pow", base, exponent)
    return b.apply("pow", *b.promoted(x, exponent))


def _short_power(b: GraphBuilder, x: SSAValue, exponent: float) -> SSAValue | None:
    if exponent == 1:
        return x
    if exponent in (2, 3):
        square = b.apply("mul", x, x)
        return square if exponent == 2 else b.apply("mul", square, x)
    if element_domain(element_of(x)) != "f":
        return None
    if element_of(x) == f16 and exponent in (0.5, -0.5):
        return None  # eager computes these powers of halves as any other: that of -inf is a number
    if exponent in (0.5, -0.5, -1):
        return b.apply({0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}[exponent], x)
    return b.apply("reciprocal", b.apply("mul", x, x)) if exponent == -2 else None


@aten("hypot")
def hypot(b: GraphBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """sqrt(x^2 + y^2) without overflow on the way; infinite where either is."""
    one, two = (b.apply("abs", value) for value in b.promoted(x, y))
    larger, smaller = b.apply("max", one, two), b.apply("min", one, two)
    ratio = b.apply("select", b.apply("eq", larger, 0.0), larger, b.apply("div", smaller, larger))
    length = b.apply("mul", larger, b.apply("sqrt", b.apply("add", b.apply("mul", ratio, ratio), 1.0)))
    is_infinite = b.apply("or", b.apply("isinf", one), b.apply("isinf", two))
    return b.apply("select", is_infinite, b.constant(math.inf, element_of(length)), length)


@aten("square")
def square(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x * x."""
    return b.apply("mul", x, x)


@aten("round")
def round_(b: GraphBuilder, x: SSAValue, *, decimals: int = 0) -> SSAValue:
    """To even; with decimals: of x scaled by their power of ten."""
    if decimals == 0 or element_domain(element_of(x)) != "f":
        return x if element_domain(element_of(x)) == "b" else b.apply("round", x)
    scale = 10.0 ** abs(decimals)
    there, back = ("mul", "div") if decimals > 0 else ("div", "mul")
    return b.apply(back, b.apply("round", b.apply(there, x, scale)), scale)


def _test(kind: str, of_bool: bool) -> Builder:
    def build(b: GraphBuilder, x: SSAValue) -> SSAValue:
        if element_domain(element_of(x)) == "b":
            return b.full(of_bool, i1, b.shape)
        return b.apply(kind, x)

    return build


for _name in ("isnan", "isinf", "isfinite"):
    ATEN_BUILDERS[_name] = _test(_name, _name == "isfinite")


@aten("logical_not")
def logical_not(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x == 0."""
    return b.apply("not", b.condition(x))


def _logical(kind: str) -> Builder:
    def build(b: GraphBuilder, x: Operand, y: Operand) -> SSAValue:
        return b.apply(kind, b.condition(x), b.condition(y))

    return build


for _name, _kind in {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}.items():
    ATEN_BUILDERS[_name] = _logical(_kind)


@aten("where")
def where(b: GraphBuilder, condition: SSAValue, x: Operand, y: Operand) -> SSAValue:
    """x where the condition holds, else y."""
    return b.apply("select", b.condition(condition), *b.promoted(x, y))


@aten("masked_fill")
def masked_fill(b: GraphBuilder, x: SSAValue, mask: SSAValue, value: Operand) -> SSAValue:
    """`value` where the mask holds, in x's dtype."""
    wanted = element_of(x)
    fill = b.cast(value, wanted) if isinstance(value, SSAValue) else b.constant(value, wanted)
    return b.apply("select", b.condition(mask), fill, x)


@aten("clamp", "clip")
def clamp(b: GraphBuilder, x: SSAValue, min: Operand | None = None, max: Operand | None = None) -> SSAValue:
    """min(max(x, low), high); NaN stays."""
    present = [bound for bound in (min, max) if bound is not None]
    values = b.promoted(x, *present)
    bounds = iter(values[1:])
    result = values[0]
    for kind, bound in (("max", min), ("min", max)):
        if bound is not None:
            result = _bounded(b, kind, result, next(bounds), is_zero=not isinstance(bound, SSAValue) and bound == 0)
    return result


def _bounded(b: GraphBuilder, kind: str, x: SSAValue, bound: SSAValue, is_zero: bool) -> SSAValue:
    """max(x, bound) or min(x, bound); of two zeros x, whatever its sign: a maximum would give the positive one."""
    if not is_zero or element_domain(element_of(x)) != "f":
        return b.apply(kind, x, bound)
    return b.apply("select", b.apply("lt" if kind == "max" else "gt", x, bound), bound, x)


@aten("clamp_min")
def clamp_min(b: GraphBuilder, x: SSAValue, min: Operand) -> SSAValue:
    """max(x, low)."""
    return clamp(b, x, min=min)


@aten("clamp_max")
def clamp_max(b: GraphBuilder, x: SSAValue, max: Operand) -> SSAValue:
    """min(x, high)."""
    return clamp(b, x, max=max)


@aten("addcmul")
def addcmul(b: GraphBuilder, x: SSAValue, y: SSAValue, z: SSAValue, *, value: Number = 1) -> SSAValue:
    """x + value * y * z."""
    first, second, third = b.promoted(x, y, z)
    return b.apply("add", first, b.apply("mul", _scaled(b, second, value), third))


@aten("addcdiv")
def addcdiv(b: GraphBuilder, x: SSAValue, y: SSAValue, z: SSAValue, *, value: Number = 1) -> SSAValue:
    """x + value * y / z."""
    first, second, third = b.promoted(x, y, z)
    return b.apply("add", first, b.apply("div", _scaled(b, second, value), third))


@aten("nan_to_num")
def nan_to_num(
    b: GraphBuilder, x: SSAValue, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> SSAValue:
    """NaN and infinities replaced by numbers; without them, 0 and the dtype's extremes."""
    import torch

    if element_domain(element_of(x)) != "f":
        return x
    limits = torch.finfo(b.dtype)
    result = b.apply("select", b.apply("isnan", x), 0.0 if nan is None else nan, x)
    result = b.apply("select", b.apply("eq", x, math.inf), limits.max if posinf is None else posinf, result)
    return b.apply("select", b.apply("eq", x, -math.inf), limits.min if neginf is None else neginf, result)


@aten(
    "to", "_to_copy", "type_as", "float", "double", "half", "bfloat16", "int", "long", "bool", "convert_element_type",
    "alias", "clone", "contiguous", "detach", "lift_fresh_copy", "lift_fresh", "lift", "positive", "resolve_conj",
    "resolve_neg", "cpu", "alias_copy", "detach_copy",
)  # fmt: skip
def identity(b: GraphBuilder, x: Operand, *_: Any, **__: Any) -> SSAValue:
    """The same values in the dtype of the result; a number is one too where vmap made a tensor of it."""
    return b.cast(x, element_type(b)) if isinstance(x, SSAValue) else b.constant(x, element_type(b))


@aten("copy")
def copy(b: GraphBuilder, x: SSAValue, source: SSAValue, non_blocking: bool = False) -> SSAValue:
    """The source's values in x's shape and dtype."""
    return b.broadcast(b.cast(source, element_of(x)), b.shape)


@aten("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout(b: GraphBuilder, x: SSAValue, p: float, train: bool) -> SSAValue:
    """The identity in inference."""
    if train and p > 0:
        raise UnsupportedError("dropout is active in training mode; call model.eval() before compiling")
    return x


@aten("native_dropout")
def native_dropout(b: GraphBuilder, x: SSAValue, p: float, train: bool | None) -> tuple[SSAValue, SSAValue]:
    """The identity in inference, and a mask that keeps everything."""
    return dropout(b, x, p, bool(train)), b.full(True, i1, b.shape)
