"""log, log2, log10, log1p.

Method: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), so that e is 0 near 1 and nothing cancels there. Then
log(1 + f) = f + tail(f), where `tail` is small against f, and e ln 2 is added in two parts. In f32 the tail is
-f^2/2 + f^3 P(f); in f64 it goes through s = f / (2 + f), log(1 + f) = 2 atanh(s), which needs half as many terms.

Coefficients: relative minimax (of the whole logarithm) by Remez's exchange, rounded one at a time.
"""

from __future__ import annotations

from typing import NamedTuple

from cuvil.codegen.vector_math_exponential import LN2, Split
from cuvil.codegen.vector_math_lanes import INFINITY, NAN, Lanes, float_bits

_SQRT_HALF = 0.7071067811865476
LOG2_E = {32: Split(1.44269502, 1.92596303e-08), 64: Split(1.4426950408889634, 2.0355273740931033e-17)}
_LOG10_E = {32: Split(0.434294492, -1.010305e-08), 64: Split(0.4342944819032518, 1.098319650216765e-17)}
_LOG10_2 = {32: Split(0.30103001, -1.43209888e-08), 64: Split(0.3010299956639812, -2.8037281277851704e-18)}

# log(1 + f) = f - f^2 / 2 + f^3 P(f): relative error 2^-26.6.
_LOG1P_F32 = (
    0.333333313,
    -0.250008285,
    0.200012684,
    -0.166231126,
    0.141990021,
    -0.131610647,
    0.127953216,
    -0.0768098831,
)
# 2 atanh(s) = 2 s + s^3 P(s^2), |s| <= 0.1718: relative error 2^-59.4.
_ATANH_F64 = (
    0.6666666666666735,
    0.3999999999940915,
    0.28571428743779786,
    0.22222198414436733,
    0.18183573360855868,
    0.15313800256613222,
    0.1479863759234453,
)


class Decomposed(NamedTuple):
    """x = 2^exponent * (1 + fraction): both as floats, and the exponent in integer lanes."""

    fraction: Lanes
    exponent: Lanes
    exponent_bits: Lanes


def decompose(x: Lanes) -> Decomposed:
    """The fraction in [sqrt(1/2) - 1, sqrt(2) - 1) and the exponent of a positive normal number."""
    form = x.format
    bits = x.as_bits()
    exponent = (bits - float_bits(_SQRT_HALF, form)) >> form.mantissa_bits
    mantissa = (bits - (exponent << form.mantissa_bits)).as_float()
    return Decomposed(mantissa - 1.0, exponent.small_int_as_float(), exponent)


def decompose_any(x: Lanes) -> Decomposed:
    """As `decompose`, for subnormals too."""
    form = x.format
    shift = form.mantissa_bits + 1
    is_subnormal = x.compare("olt", form.smallest_normal)
    parts = decompose(is_subnormal.select(x * 2.0**shift, x))
    correction = is_subnormal.select(x.like(shift), 0.0)
    return parts._replace(exponent=parts.exponent - correction)


def log1p_tail(f: Lanes) -> Lanes:
    """log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1)."""
    if f.bits == 32:
        return f * f * f.fma(f.polynomial(_LOG1P_F32), -0.5)
    s = f / (f + 2.0)
    square = s * s
    half_square = f * f * 0.5
    return s.fma(square.fma(square.polynomial(_ATANH_F64), half_square), -half_square)


def log(x: Lanes) -> Lanes:
    """The natural logarithm."""
    return _with_specials(x, _natural(decompose_any(x)))


def log1p(x: Lanes) -> Lanes:
    """log(1 + x), precise near zero."""
    form = x.format
    sum_ = x + 1.0
    parts = decompose(sum_)
    # 1 + f = (1 + x) / 2^e, taken from x and not from the rounded sum: exact where e is 0. From e = bias on 2^-e counts
    # for nothing, and its bits would turn negative.
    shift = parts.exponent_bits << form.mantissa_bits
    scaled = (x.as_bits() - shift).as_float()
    power = (float_bits(1.0, form) - shift).max_signed(0).as_float()
    result = _with_specials(sum_, _natural(parts._replace(fraction=scaled + (power - 1.0))))
    return x.abs().compare("olt", form.smallest_normal).select(x, result)


def log2(x: Lanes) -> Lanes:
    """The logarithm to base 2; exact where x is a power of two."""
    f, exponent, _ = decompose_any(x)
    high, low = LOG2_E[x.bits]
    return _with_specials(x, f.fma(high, log1p_tail(f).fma(high, f * low)) + exponent)


def log10(x: Lanes) -> Lanes:
    """The logarithm to base 10."""
    f, exponent, _ = decompose_any(x)
    high, low = _LOG10_E[x.bits]
    base_high, base_low = _LOG10_2[x.bits]
    small = log1p_tail(f).fma(high, f.fma(low, exponent * base_low))
    return _with_specials(x, exponent.fma(base_high, f.fma(high, small)))


def _natural(parts: Decomposed) -> Lanes:
    """log of a decomposed number; the small terms are summed first."""
    f, exponent, _ = parts
    high, low = LN2[f.bits]
    return exponent.fma(high, f + exponent.fma(low, log1p_tail(f)))


def _with_specials(x: Lanes, result: Lanes) -> Lanes:
    """`result` where x is positive and finite; infinity and NaN stay, zero gives -infinity, a negative number NaN."""
    at_most_zero = x.compare("oeq", 0.0).select(x.like(-INFINITY), NAN)
    finite = x.compare("olt", INFINITY).select(result, x)
    return x.compare("ugt", 0.0).select(finite, at_most_zero)
