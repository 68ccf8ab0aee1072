"""asin, acos, atan, atan2.

Method: asin(x) is a polynomial up to 0.55 and pi/2 - 2 asin(sqrt((1 - x) / 2)) above; atan(x) is a polynomial up to 1
and pi/2 - atan(1/x) above, where the division serves atan2 too. pi comes in two parts.

Coefficients: relative minimax by Remez's exchange, rounded one at a time.
"""

from __future__ import annotations

from cuvil.codegen.vector_math_exponential import Split
from cuvil.codegen.vector_math_lanes import Lanes

HALF_PI = {32: Split(1.57079637, -4.37113883e-08), 64: Split(1.5707963267948966, 6.123233995736766e-17)}

# asin(x) = x + x^3 P(x^2), |x| <= 0.551: relative error 2^-29.4 (f32), 2^-55.2 (f64).
_ASIN = {
    32: (0.166666403, 0.0750162899, 0.0443103798, 0.0334492028, 0.00855476782, 0.0453260913),
    64: (
        0.1666666666666851,
        0.07499999999529369,
        0.04464285756269416,
        0.03038192561581256,
        0.022372655825462825,
        0.017344375453368775,
        0.014060031505174153,
        0.010807194729364842,
        0.013809769575779599,
        -0.006756775469766925,
        0.04501665448416614,
        -0.05125080400443061,
        0.05001129605277638,
    ),
}
# Above, asin(x) is the difference of pi/2 and twice a value below 1/2, whose error doubles less of the result's.
_ASIN_LARGE = 0.55

# atan(x) = x + x^3 P(x^2), |x| <= 1: relative error 2^-25.8 (f32), 2^-57.5 (f64).
_ATAN = {
    32: (
        -0.333331525,
        0.199937671,
        -0.14210999,
        0.106657423,
        -0.0755156949,
        0.0432032645,
        -0.0163620524,
        0.00291907974,
    ),
    64: (
        -0.3333333333333307,
        0.19999999999951745,
        -0.14285714282587794,
        0.11111111007333874,
        -0.09090907007675522,
        0.07692279887763442,
        -0.06666404416377664,
        0.058805297811832115,
        -0.05253526725277461,
        0.04722348384598738,
        -0.042192441749285436,
        0.03664318258841229,
        -0.02990579869165736,
        0.021987157889216943,
        -0.013902666801201866,
        0.007197955658707928,
        -0.002885648518141667,
        0.0008315741783792647,
        -0.0001522144602194583,
        1.323034744268521e-05,
    ),
}


def asin(x: Lanes) -> Lanes:
    """The arc sine; NaN outside [-1, 1]."""
    is_large, value = _asin_core(x)
    high, low = HALF_PI[x.bits]
    large = high - ((value + value) - low)
    return is_large.select(large, value).copysign(x)


def acos(x: Lanes) -> Lanes:
    """The arc cosine; NaN outside [-1, 1]."""
    is_large, value = _asin_core(x)
    high, low = HALF_PI[x.bits]
    signed = value.copysign(x)
    doubled = signed + signed
    # |x| <= 0.55: pi/2 - asin(x); above: 2 asin(...); below: pi - 2 asin(...).
    small = high - (signed - low)
    negative = 2 * high + (doubled + 2 * low)
    large = x.compare("olt", 0.0).select(negative, doubled)
    return is_large.select(large, small)


def _asin_core(x: Lanes) -> tuple[Lanes, Lanes]:
    """Whether |x| exceeds 0.55, and asin of |x| or else of sqrt((1 - |x|) / 2)."""
    magnitude = x.abs()
    is_large = magnitude.compare("ogt", _ASIN_LARGE)
    square = is_large.select(magnitude.fma(-0.5, 0.5), magnitude * magnitude)
    root = is_large.select(square.sqrt(), magnitude)
    return is_large, (root * square).fma(square.polynomial(_ASIN[x.bits]), root)


def atan(x: Lanes) -> Lanes:
    """The arc tangent."""
    magnitude = x.abs()
    is_large = magnitude.compare("ogt", 1.0)
    ratio = is_large.select(x.like(1.0), magnitude) / is_large.select(magnitude, 1.0)
    value = _atan_below_one(ratio)
    high, low = HALF_PI[x.bits]
    return is_large.select(high - (value - low), value).copysign(x)


def atan2(y: Lanes, x: Lanes) -> Lanes:
    """The angle of the point (x, y) in [-pi, pi]; C's rules for zeros and infinities."""
    rise, run = y.abs(), x.abs()
    is_steep = rise.compare("ogt", run)
    smaller, larger = is_steep.select(run, rise), is_steep.select(rise, run)
    # Equal infinities count as 1, two zeros as 0.
    of_equals = larger.compare("ogt", 0.0).select(x.like(1.0), larger)
    value = _atan_below_one(smaller.compare("oeq", larger).select(of_equals, smaller / larger))
    high, low = HALF_PI[x.bits]
    is_left = x.as_bits().compare("slt", 0)
    base_if_left = is_steep.select(x.like(high), 2 * high)
    base_if_right = is_steep.select(x.like(high), 0.0)
    base = is_left.select(base_if_left, base_if_right)
    rest = base * (low / high)
    is_subtracted = is_left.compare("ne", is_steep)
    signed = is_subtracted.select(-value, value)
    return (base + (signed + rest)).copysign(y)


def _atan_below_one(x: Lanes) -> Lanes:
    square = x * x
    return (square * x).fma(square.polynomial(_ATAN[x.bits]), x)
