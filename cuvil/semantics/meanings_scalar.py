"""Reference meaning of upstream's arith and math, on scalars (NumPy scalars) and on vectors and tensors (arrays) alike.

Integers of MLIR are signless: values are kept as signed NumPy integers, `i1` as bool; ops that read unsigned say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr, TensorType, VectorType
from xdsl.ir import Attribute, Operation

from cuvil.semantics.arrays import array_of_constant, dtype_of, from_bf16_bits, rounded, widened
from cuvil.semantics.interpreter import Frame, InterpretationError, Meaning

Values = Sequence[Any]


def element_type_of(value_type: Attribute) -> Attribute:
    """The element type of a tensor or vector type; a scalar type itself."""
    return value_type.element_type if isinstance(value_type, TensorType | VectorType) else value_type


def _as(value: Any, value_type: Attribute) -> Any:
    """`value` as what stands for `value_type`: a scalar stays a scalar, an array an array."""
    result = rounded(value, element_type_of(value_type))
    return result if isinstance(value_type, TensorType | VectorType) else result[()]


def _applied(function: Callable[..., Any]) -> Meaning:
    """A NumPy function of the operands, rounded to the result's type."""

    def meaning(frame: Frame, op: Operation, operands: Values) -> Values:
        return [_as(function(*(widened(np.asarray(value)) for value in operands)), op.results[0].type)]

    return meaning


def _unsigned(array: Any) -> Any:
    if array.dtype.kind == "i":
        return array.view(f"u{array.dtype.itemsize}")
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def _on_unsigned(function: Callable[..., Any]) -> Meaning:
    """A NumPy function of the operands' bits read as unsigned numbers."""
    return _applied(lambda *operands: function(*(_unsigned(value) for value in operands)))


def _nonzero(divisor: Any) -> Any:
    if np.any(divisor == 0):
        raise ZeroDivisionError("division by zero")
    return divisor


def _truncating_division(a: Any, b: Any) -> Any:
    quotient = np.floor_divide(a, _nonzero(b))
    return quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))


def _shift(function: Callable[..., Any]) -> Callable[..., Any]:
    def shifted(a: Any, b: Any) -> Any:
        if np.any((b < 0) | (b >= a.dtype.itemsize * 8)):
            raise ValueError("shift by a count outside the type's width")
        return function(a, b)

    return shifted


def _constant(frame: Frame, op: arith.ConstantOp, operands: Values) -> Values:
    value: Attribute = op.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        return [array_of_constant(value)]
    if isinstance(value, IntegerAttr | FloatAttr):
        return [_as(np.array(value.value.data), value.type)]
    raise InterpretationError(f"{op.name}: the value {value} is not a number or an array of numbers", op)


_INTEGER_COMPARISONS: tuple[tuple[Callable[..., Any], bool], ...] = (
    (np.equal, False),
    (np.not_equal, False),
    (np.less, False),
    (np.less_equal, False),
    (np.greater, False),
    (np.greater_equal, False),
    (np.less, True),
    (np.less_equal, True),
    (np.greater, True),
    (np.greater_equal, True),
)
"""By predicate number: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge; whether it reads unsigned."""


def _compare_integers(frame: Frame, op: arith.CmpiOp, operands: Values) -> Values:
    function, is_unsigned = _INTEGER_COMPARISONS[op.predicate.value.data]
    lhs, rhs = (np.asarray(value) for value in operands)
    if is_unsigned:
        lhs, rhs = _unsigned(lhs), _unsigned(rhs)
    return [_as(function(lhs, rhs), op.result.type)]


_FLOAT_COMPARISONS: tuple[Callable[[Any, Any], Any] | None, ...] = (
    None,
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    lambda a, b: a != b,
    None,
)
"""By predicate number: false, eq, gt, ge, lt, le, ne, ord (computed apart); the unordered ones from 8 on follow."""


def _compare_floats(frame: Frame, op: arith.CmpfOp, operands: Values) -> Values:
    lhs, rhs = (np.asarray(value) for value in operands)
    number = op.predicate.value.data
    unordered = np.isnan(lhs) | np.isnan(rhs)
    if number in (0, 15):
        result = np.full(np.shape(lhs), number == 15)
    elif number in (7, 14):
        result = unordered if number == 14 else ~unordered
    else:
        # Unordered predicates follow the ordered ones in the same order, from ueq = 8.
        function = _FLOAT_COMPARISONS[number if number < 7 else number - 7]
        assert function is not None
        result = (function(lhs, rhs) & ~unordered) if number < 7 else (function(lhs, rhs) | unordered)
    return [_as(result, op.result.type)]


def _select(frame: Frame, op: arith.SelectOp, operands: Values) -> Values:
    return [_as(np.where(*operands), op.result.type)]


def _cast(frame: Frame, op: Operation, operands: Values) -> Values:
    from cuvil.semantics.meanings_elementwise import cast

    source, target = (element_type_of(value.type) for value in (op.operands[0], op.results[0]))
    return [_as(cast(np.asarray(operands[0]), source, target), op.results[0].type)]


def _convert(frame: Frame, op: Operation, operands: Values) -> Values:
    """Integer and float conversions whose meaning is NumPy's."""
    value = np.asarray(operands[0])
    # A signless bool that is extended or converted by sign is 0 or -1.
    return [_as(-value.astype(np.int8) if value.dtype == np.bool_ else value, op.results[0].type)]


def _convert_unsigned(frame: Frame, op: Operation, operands: Values) -> Values:
    return [_as(_unsigned(np.asarray(operands[0])), op.results[0].type)]


def _truncate(frame: Frame, op: arith.TruncIOp, operands: Values) -> Values:
    value = np.asarray(operands[0])
    is_bool = dtype_of(element_type_of(op.result.type)) == np.bool_
    return [_as(value & 1 if is_bool else value, op.result.type)]


def _index_cast(frame: Frame, op: arith.IndexCastOp, operands: Values) -> Values:
    return [_as(np.asarray(operands[0]), op.result.type)]


def _bitcast(frame: Frame, op: arith.BitcastOp, operands: Values) -> Values:
    from cuvil.semantics.arrays import bf16_bits

    source, target = (str(element_type_of(value.type)) for value in (op.input, op.result))
    value = np.asarray(operands[0])
    bits = bf16_bits(value) if source == "bf16" else value
    if target == "bf16":
        return [_as(from_bf16_bits(bits.view(np.uint16)), op.result.type)]
    dtype = np.dtype(np.int64) if isinstance(op.result.type, IndexType) else dtype_of(element_type_of(op.result.type))
    return [_as(np.atleast_1d(bits).view(dtype).reshape(bits.shape), op.result.type)]


def _by_library(function: Callable[[float], float]) -> Meaning:
    """A float64 library function applied element by element."""
    return _applied(lambda x: np.asarray(np.frompyfunc(function, 1, 1)(np.asarray(x, np.float64)), np.float64))


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a.astype(np.float64) * b + c


def _bit_count(function: Callable[[int, int], int]) -> Callable[..., Any]:
    def counted(x: Any) -> Any:
        width = x.dtype.itemsize * 8
        return np.vectorize(lambda number: function(int(number), width), otypes=[x.dtype])(_unsigned(x))

    return counted


_ARITH: dict[str, Meaning] = {
    "constant": _constant,
    "addi": _applied(np.add),
    "subi": _applied(np.subtract),
    "muli": _applied(np.multiply),
    "divsi": _applied(_truncating_division),
    "divui": _on_unsigned(lambda a, b: np.floor_divide(a, _nonzero(b))),
    "floordivsi": _applied(lambda a, b: np.floor_divide(a, _nonzero(b))),
    "ceildivsi": _applied(lambda a, b: -np.floor_divide(-a, _nonzero(b))),
    "ceildivui": _on_unsigned(lambda a, b: np.floor_divide(a, _nonzero(b)) + (np.remainder(a, b) != 0)),
    "remsi": _applied(lambda a, b: np.fmod(a, _nonzero(b))),
    "remui": _on_unsigned(lambda a, b: np.remainder(a, _nonzero(b))),
    "minsi": _applied(np.minimum),
    "maxsi": _applied(np.maximum),
    "minui": _on_unsigned(np.minimum),
    "maxui": _on_unsigned(np.maximum),
    "andi": _applied(np.bitwise_and),
    "ori": _applied(np.bitwise_or),
    "xori": _applied(np.bitwise_xor),
    "shli": _applied(_shift(np.left_shift)),
    "shrsi": _applied(_shift(np.right_shift)),
    "shrui": _on_unsigned(_shift(np.right_shift)),
    "cmpi": _compare_integers,
    "cmpf": _compare_floats,
    "select": _select,
    "addf": _applied(np.add),
    "subf": _applied(np.subtract),
    "mulf": _applied(np.multiply),
    "divf": _applied(np.divide),
    "negf": _applied(np.negative),
    "maximumf": _applied(np.maximum),
    "minimumf": _applied(np.minimum),
    "maxnumf": _applied(np.fmax),
    "minnumf": _applied(np.fmin),
    "fptosi": _cast,
    "fptoui": _cast,
    "sitofp": _convert,
    "uitofp": _convert_unsigned,
    "extf": _convert,
    "truncf": _convert,
    "extsi": _convert,
    "extui": _convert_unsigned,
    "trunci": _truncate,
    "index_cast": _index_cast,
    "bitcast": _bitcast,
}

_MATH: dict[str, Meaning] = {
    "absf": _applied(np.abs),
    "absi": _applied(np.abs),
    "acos": _applied(np.arccos),
    "acosh": _applied(np.arccosh),
    "asin": _applied(np.arcsin),
    "asinh": _applied(np.arcsinh),
    "atan": _applied(np.arctan),
    "atan2": _applied(np.arctan2),
    "atanh": _applied(np.arctanh),
    "cbrt": _applied(np.cbrt),
    "ceil": _applied(np.ceil),
    "copysign": _applied(np.copysign),
    "cos": _applied(np.cos),
    "cosh": _applied(np.cosh),
    "ctlz": _applied(_bit_count(lambda number, width: width - number.bit_length())),
    "cttz": _applied(_bit_count(lambda number, width: (number & -number).bit_length() - 1 if number else width)),
    "ctpop": _applied(_bit_count(lambda number, _: number.bit_count())),
    "erf": _by_library(math.erf),
    "exp": _applied(np.exp),
    "exp2": _applied(np.exp2),
    "expm1": _applied(np.expm1),
    "floor": _applied(np.floor),
    "fma": _applied(_fma),
    "fpowi": _applied(np.power),
    "ipowi": _applied(np.power),
    "log": _applied(np.log),
    "log10": _applied(np.log10),
    "log1p": _applied(np.log1p),
    "log2": _applied(np.log2),
    "powf": _applied(np.power),
    "round": _applied(lambda x: np.trunc(x + np.copysign(np.nextafter(x.dtype.type(0.5), x.dtype.type(0)), x))),
    "roundeven": _applied(np.rint),
    "rsqrt": _applied(lambda x: 1 / np.sqrt(x)),
    "sin": _applied(np.sin),
    "sinh": _applied(np.sinh),
    "sqrt": _applied(np.sqrt),
    "tan": _applied(np.tan),
    "tanh": _applied(np.tanh),
    "trunc": _applied(np.trunc),
}

MEANINGS: dict[str, Meaning] = {
    **{f"arith.{name}": meaning for name, meaning in _ARITH.items()},
    **{f"math.{name}": meaning for name, meaning in _MATH.items()},
}
