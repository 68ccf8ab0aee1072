"""tanh, sinh, cosh and their inverses.

All go through exp, expm1 or log1p of |x|; what would cancel near zero is rewritten so that it does not.
Coefficients: relative minimax by Remez's exchange, rounded one at a time.
"""

from __future__ import annotations

from cuvil.codegen.vector_math_exponential import LN2, exp, expm1_halved
from cuvil.codegen.vector_math_lanes import NAN, Lanes
from cuvil.codegen.vector_math_logarithm import log1p

# tanh is 1 in the type from half of this on.
_TANH_RANGE = {32: 18.1, 64: 38.2}

# sinh(x) = x + x^3 P(x^2), |x| <= 1: relative error 2^-25.3 (f32), 2^-61.7 (f64).
_SINH_SMALL = {
    32: (0.166667163, 0.00833027065, 0.000203733405),
    64: (
        0.16666666666666669,
        0.008333333333332912,
        0.00019841269841593408,
        2.7557319106758273e-06,
        2.505213099834349e-08,
        1.6056659208110254e-10,
        7.776598541357496e-13,
    ),
}

# From here on log1p(x) is log(x) and x^2 + 1 is x^2, with room before x^2 overflows.
_ONE_ROUNDS = {32: 2.0**40, 64: 2.0**80}


def tanh(x: Lanes) -> Lanes:
    """(exp(2|x|) - 1) / (exp(2|x|) + 1), which does not cancel near zero."""
    magnitude = x.abs()
    half = expm1_halved((magnitude + magnitude).at_most(_TANH_RANGE[x.bits]))
    return (half / (half + 1.0)).copysign(x)


def sinh(x: Lanes) -> Lanes:
    """(exp(x) - exp(-x)) / 2; below 1 a polynomial."""
    magnitude = x.abs()
    square = x * x
    small = (square * x).fma(square.polynomial(_SINH_SMALL[x.bits]), x)
    half = exp(magnitude, scale=-1)
    large = half - 0.25 / half
    return magnitude.compare("olt", 1.0).select(small, large.copysign(x))


def cosh(x: Lanes) -> Lanes:
    """(exp(x) + exp(-x)) / 2."""
    half = exp(x.abs(), scale=-1)
    return half + 0.25 / half


def asinh(x: Lanes) -> Lanes:
    """log(|x| + sqrt(x^2 + 1)), as log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))."""
    magnitude = x.abs()
    is_huge = magnitude.compare("oge", _ONE_ROUNDS[x.bits])
    square = magnitude * magnitude
    argument = magnitude + square / ((square + 1.0).sqrt() + 1.0)
    # There asinh(x) = log(2x) = log(x) + ln 2.
    result = log1p(is_huge.select(magnitude, argument))
    return is_huge.select(result + LN2[x.bits].high, result).copysign(x)


def acosh(x: Lanes) -> Lanes:
    """log(x + sqrt(x^2 - 1)), as log1p(t + sqrt(2t + t^2)) with t = x - 1; NaN below 1."""
    is_huge = x.compare("oge", _ONE_ROUNDS[x.bits])
    t = x - 1.0
    argument = t + t.fma(t, t + t).sqrt()
    result = log1p(is_huge.select(x, argument))
    result = is_huge.select(result + LN2[x.bits].high, result)
    return x.compare("olt", 1.0).select(x.like(NAN), result)


def atanh(x: Lanes) -> Lanes:
    """log((1 + x) / (1 - x)) / 2; infinite at +-1, NaN beyond."""
    magnitude = x.abs()
    result = log1p((magnitude + magnitude) / (1.0 - magnitude)) * 0.5
    tiny = magnitude.compare("olt", 4 * x.format.smallest_normal)
    return tiny.select(x, result.copysign(x))
