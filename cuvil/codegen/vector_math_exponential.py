"""exp, exp2, expm1, and the exponential with a built-in scale that other families use.

Method: x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite: ln 2 in two parts), exp(r) by a minimax polynomial, then
2^n through the exponent bits. The scale is two factors of about 2^(n/2), so that subnormal results round once and
results just below the largest float do not overflow early.

Coefficients: minimax in the relative error by Remez's exchange in 50 digits; they are rounded to the type one at a
time, lowest degree first, and those left are fitted anew.
"""

from __future__ import annotations

from typing import NamedTuple

from cuvil.codegen.vector_math_lanes import Lanes

LOG2_E = 1.4426950408889634


class Split(NamedTuple):
    """A real number as the sum of two floats of one type."""

    high: float
    low: float


LN2 = {32: Split(0.693147182, -1.90465421e-09), 64: Split(0.6931471805599453, 2.3190468138462996e-17)}

# exp(r) = 1 + r + r^2 Q(r), |r| <= 0.3473: relative error 2^-28.1 (f32), 2^-57.3 (f64).
_EXP = {
    32: (1.0, 1.0, 0.49999994, 0.166665152, 0.0416680835, 0.00836934894, 0.00138403219),
    64: (
        1.0,
        1.0,
        0.5000000000000011,
        0.16666666666666421,
        0.04166666666652555,
        0.008333333333485635,
        0.0013888888944973816,
        0.00019841269532294353,
        2.4801491589146717e-05,
        2.755755773621285e-06,
        2.763083054959849e-07,
        2.501103420779566e-08,
    ),
}

# expm1(r) = r + r^2 Q(r), |r| <= 0.3473: relative error 2^-26.0 (f32), 2^-60.6 (f64).
_EXPM1 = {
    32: (0.49999997, 0.166665375, 0.0416677408, 0.0083673168, 0.00138381496),
    64: (
        0.5,
        0.16666666666666677,
        0.041666666666666685,
        0.008333333333321827,
        0.0013888888888895761,
        0.00019841269885199374,
        2.4801587269284257e-05,
        2.755724530271179e-06,
        2.7557344164781896e-07,
        2.5108656336847195e-08,
        2.088733422152189e-09,
    ),
}

# 2^r = 1 + r Q(r), |r| <= 0.5: relative error 2^-27.3 (f32), 2^-56.4 (f64).
_EXP2 = {
    32: (1.0, 0.693147242, 0.240226552, 0.0555027276, 0.00961706135, 0.00134171592, 0.000158052426),
    64: (
        1.0,
        0.6931471805599453,
        0.24022650695910172,
        0.05550410866482456,
        0.009618129107577216,
        0.0013333558145576891,
        0.0001540353047847163,
        1.5252734721000977e-05,
        1.321542475557367e-06,
        1.0177669957666926e-07,
        7.07555746690169e-09,
        4.515707116317119e-10,
    ),
}

# Outside these bounds all results are infinite, or all round to zero (expm1: to -1).
_EXP_RANGE = {32: Split(89.0, -104.0), 64: Split(710.0, -746.0)}
_EXP2_RANGE = {32: Split(129.0, -151.0), 64: Split(1025.0, -1076.0)}
_EXPM1_RANGE = {32: Split(89.0, -18.0), 64: Split(710.0, -38.0)}


class Rounded(NamedTuple):
    """The integer n nearest to a float: as a float, and as n + bias in the low bits of an integer."""

    number: Lanes
    biased: Lanes


def round_to_integer(x: Lanes, factor: float, bias: int) -> Rounded:
    """round(x * factor), for |x * factor| below 2^(mantissa bits - 2); `biased` holds n + bias in its low bits."""
    magic = x.format.magic + bias
    shifted = x.fma(factor, magic)
    return Rounded(shifted - magic, shifted.as_bits())


def scaled_by_power(x: Lanes, biased: Lanes, scale: int = 0) -> Lanes:
    """x * 2^(n + scale), where the low bits of `biased` hold n + 2 * bias of the format; rounds only if subnormal."""
    mantissa_bits = x.format.mantissa_bits
    half = biased.logical_right(1)
    rest = biased - half
    if scale:
        rest = rest + scale
    # The magic number's own bits leave by the top: only the exponent fields remain, and the sign is clear.
    return x * (half << mantissa_bits).as_float() * (rest << mantissa_bits).as_float()


def reduced_by_ln2(x: Lanes, number: Lanes) -> Lanes:
    """x - number * ln 2, rounded once."""
    ln2 = LN2[x.bits]
    return number.fma(-ln2.low, number.fma(-ln2.high, x))


def exp(x: Lanes, scale: int = 0) -> Lanes:
    """exp(x) * 2^scale; for a small scale, overflow is that of the result."""
    bounds = _EXP_RANGE[x.bits]
    x = x.at_most(bounds.high - scale).at_least(bounds.low)
    nearest = round_to_integer(x, LOG2_E, 2 * x.format.bias)
    result = reduced_by_ln2(x, nearest.number).polynomial(_EXP[x.bits])
    return scaled_by_power(result, nearest.biased, scale)


def exp2(x: Lanes) -> Lanes:
    """2^x; exact where x is an integer."""
    bounds = _EXP2_RANGE[x.bits]
    x = x.at_most(bounds.high).at_least(bounds.low)
    nearest = round_to_integer(x, 1.0, 2 * x.format.bias)
    return scaled_by_power((x - nearest.number).polynomial(_EXP2[x.bits]), nearest.biased)


def exp2_of_sum(high: Lanes, low: Lanes) -> Lanes:
    """2^(high + low), for a low part that is small against 1 wherever the result is finite and not zero."""
    bounds = _EXP2_RANGE[high.bits]
    bounded = high.at_most(bounds.high).at_least(bounds.low)
    # Out of range, `low` may be NaN.
    low = bounded.compare("oeq", high).select(low, 0.0)
    nearest = round_to_integer(bounded, 1.0, 2 * high.format.bias)
    return scaled_by_power(((bounded - nearest.number) + low).polynomial(_EXP2[high.bits]), nearest.biased)


def expm1(x: Lanes) -> Lanes:
    """exp(x) - 1, precise near zero."""
    bounds = _EXPM1_RANGE[x.bits]
    result = expm1_halved(x.at_most(bounds.high).at_least(bounds.low))
    # Halving loses the last bit of a subnormal, and the polynomial the sign of zero.
    return (x.abs().compare("olt", 4 * x.format.smallest_normal)).select(x, result + result)


def expm1_halved(x: Lanes) -> Lanes:
    """(exp(x) - 1) / 2, for x within a few units of the range of finite results; the half keeps 2^n finite."""
    form = x.format
    nearest = round_to_integer(x, LOG2_E, form.bias - 1)
    r = reduced_by_ln2(x, nearest.number)
    reduced = (r * r).fma(r.polynomial(_EXPM1[x.bits]), r)
    half_scale = (nearest.biased << form.mantissa_bits).as_float()
    return half_scale.fma(reduced, half_scale - 0.5)
