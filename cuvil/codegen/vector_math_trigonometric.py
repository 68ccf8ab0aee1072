"""sin, cos, tan.

Method: x = n pi + r (cos: (n + 1/2) pi + r; tan: n pi / 2 + r), sin(r) by a minimax polynomial on |r| <= pi / 2, the
sign from n's parity; tan(r) as a quotient of two polynomials. Up to a bound, pi in three parts under fma reduces
exactly enough (Cody and Waite). If one lane lies beyond, a branch takes the whole vector through Payne and Hanek's
reduction, which multiplies x by just those bits of 1 / pi that matter modulo 2.

Coefficients: relative minimax by Remez's exchange (tan: by reweighted least squares), rounded one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cuvil.codegen.vector_math_inverse_trigonometric import HALF_PI
from cuvil.codegen.vector_math_lanes import Lanes, choose
from cuvil.codegen.vector_math_reduction import turns_modulo_two

# sin(x) = x + x^3 P(x^2), |x| <= 1.578: relative error 2^-27.1 (f32), 2^-61.8 (f64).
_SIN = {
    32: (-0.166666597, 0.00833306648, -0.000198094422, 2.60514753e-06),
    64: (
        -0.16666666666666666,
        0.008333333333333217,
        -0.00019841269841219553,
        2.755731921342478e-06,
        -2.5052107153626792e-08,
        1.6058959821958786e-10,
        -7.643827862089682e-13,
        2.7398746997744233e-15,
        -1.7383945656446422e-18,
    ),
}

# tan(x) = x + x^3 P(x^2), |x| <= 0.789: relative error 2^-29.3.
_TAN_F32 = (0.333333522, 0.13332577, 0.0540699214, 0.0212293603, 0.0109756636, -9.12827163e-05, 0.00446712319)
# tan(x) = (x + x^3 P(x^2)) / (1 + x^2 Q(x^2)), |x| <= 0.789: relative error 2^-66.1.
_TAN_NUMERATOR_F64 = (-0.13338400895850044, 0.003424949580909316, -1.7862742405605494e-05)
_TAN_DENOMINATOR_F64 = (
    1.0,
    -0.46671734229183374,
    0.025664063678187316,
    -0.0003118256311451224,
    4.98244001328067e-07,
)

_PI_PARTS = {
    32: (3.1415925, 1.50995788e-07, 1.07806051e-14),
    64: (3.141592653589793, 1.224646799147353e-16, 2.1657133478438278e-32),
}
_INVERSE_PI = 0.3183098861837907
# Up to here n's product with the first part of pi is exact once x is subtracted, and the magic number rounds.
_MODERATE = {32: 2.0**17, 64: 2.0**30}


class Reduced(NamedTuple):
    """An argument less a multiple of pi or pi / 2, and integer lanes whose lowest bit is that multiple's parity."""

    rest: Lanes
    parity: Lanes


def sin(x: Lanes) -> Lanes:
    """The sine; NaN of an infinity."""
    return _by_magnitude(
        x, lambda: _keep_zero(x, _signed_sine(_reduce(x, 1.0))), lambda: _signed_sine(_reduce_huge(x, 1.0))
    )


def cos(x: Lanes) -> Lanes:
    """The cosine; NaN of an infinity."""
    return _by_magnitude(x, lambda: _signed_sine(_reduce_shifted(x)), lambda: _signed_sine(_reduce_huge_shifted(x)))


def tan(x: Lanes) -> Lanes:
    """The tangent; NaN of an infinity."""
    return _by_magnitude(x, lambda: _keep_zero(x, _tangent(_reduce(x, 0.5))), lambda: _tangent(_reduce_huge(x, 0.5)))


def _keep_zero(x: Lanes, result: Lanes) -> Lanes:
    """`result`, but -0 for -0, which the sums above turn into +0."""
    return x.compare("oeq", 0.0).select(x, result)


def _by_magnitude(x: Lanes, moderate: Callable[[], Lanes], huge: Callable[[], Lanes]) -> Lanes:
    """`moderate` everywhere, but `huge` in the lanes beyond its range; `huge` runs only if there are any."""
    result = moderate()
    is_huge = x.abs().compare("ogt", _MODERATE[x.bits])
    return choose(is_huge.any(), lambda: is_huge.select(huge(), result), lambda: result, like=x)


def _signed_sine(reduced: Reduced) -> Lanes:
    """sin(rest), negated where the parity is odd."""
    r, parity = reduced
    square = r * r
    sine = (square * r).fma(square.polynomial(_SIN[r.bits]), r)
    # The magic number's bits leave by the top: only the parity reaches the sign.
    return (sine.as_bits() ^ (parity << (r.bits - 1))).as_float()


def _tangent(reduced: Reduced) -> Lanes:
    """tan(rest), or -1 / tan(rest) where the parity is odd."""
    r, parity = reduced
    square = r * r
    is_odd = (parity & 1).compare("ne", 0)
    if r.bits == 32:
        tangent = (square * r).fma(square.polynomial(_TAN_F32), r)
        return is_odd.select(-1.0 / tangent, tangent)
    sine = (square * r).fma(square.polynomial(_TAN_NUMERATOR_F64), r)
    cosine = square.polynomial(_TAN_DENOMINATOR_F64)
    return is_odd.select(-cosine, sine) / is_odd.select(sine, cosine)


# -- moderate arguments ------------------------------------------------------------------------------------------------


def _reduce(x: Lanes, step: float) -> Reduced:
    """x - n * step * pi for the nearest integer n; `step` is a power of two."""
    magic = x.format.magic
    shifted = x.fma(_INVERSE_PI / step, magic)
    return Reduced(_less_multiple(x, shifted - magic, step), shifted.as_bits())


def _reduce_shifted(x: Lanes) -> Reduced:
    """x - (n + 1/2) pi for the nearest such, and the parity of n + 1: cos(x) = -(-1)^n sin(rest)."""
    magic = x.format.magic
    shifted = x.fma(_INVERSE_PI, -0.5) + magic
    return Reduced(_less_multiple(x, (shifted - magic) + 0.5, 1.0), shifted.as_bits() + 1)


def _less_multiple(x: Lanes, number: Lanes, step: float) -> Lanes:
    for part in _PI_PARTS[x.bits]:
        x = number.fma(-part * step, x)
    return x


# -- huge arguments ----------------------------------------------------------------------------------------------------


def _reduce_huge(x: Lanes, step: float) -> Reduced:
    """As `_reduce`, for any finite x."""
    high, low = turns_modulo_two(x)
    magic = x.format.magic
    shifted = high.fma(1 / step, magic)
    return Reduced(_times_pi((shifted - magic).fma(-step, high), low), shifted.as_bits())


def _reduce_huge_shifted(x: Lanes) -> Reduced:
    """As `_reduce_shifted`, for any finite x."""
    high, low = turns_modulo_two(x)
    magic = x.format.magic
    shifted = (high - 0.5) + magic
    # high - 1/2 alone could round where high is negative.
    return Reduced(_times_pi(high - ((shifted - magic) + 0.5), low), shifted.as_bits() + 1)


def _times_pi(high: Lanes, low: Lanes) -> Lanes:
    """(high + low) * pi; `high` may have cancelled, `low` brings the bits back."""
    turns = high + low
    pi = HALF_PI[turns.bits]
    return turns.fma(2 * pi.high, turns * (2 * pi.low))
