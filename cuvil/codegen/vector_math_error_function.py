"""erf and erfc.

Method: near zero erf(x) = x + x P(x^2). Elsewhere erfc(x) = exp(-x^2) erfcx(x), where (1 + 2x) erfcx(x) is nearly flat
and is a polynomial in t = (x - k) / (x + k), which maps [0, inf) to [-1, 1) (Shepherd and Laframboise, Math. Comp. 36,
1981); x^2 is taken to twice the precision, since exp multiplies its error by x^2. f32's erf, the one that inference
needs fast, is 1 - 2^-P(x) instead and does without a division.

Coefficients: minimax by Remez's exchange in 50 digits.
"""

from __future__ import annotations

from cuvil.codegen.vector_math_exponential import exp, round_to_integer
from cuvil.codegen.vector_math_lanes import Lanes

# erf(x) = x + x P(x^2), |x| <= 1: relative error 2^-29.3 (f32), 2^-56.0 (f64).
_ERF_SMALL = {
    32: (0.128379166, -0.37612626, 0.112835787, -0.0268533472, 0.0051871622, -0.000799785252, 7.80689807e-05),
    64: (
        0.12837916709551256,
        -0.37612638903183343,
        0.11283791670936955,
        -0.026866170641960584,
        0.005223977596754516,
        -0.0008548325486227837,
        0.00012055280543517809,
        -1.4924466737183358e-05,
        1.6444166491830813e-06,
        -1.618413087050087e-07,
        1.3617377642445324e-08,
        -7.609210795296673e-10,
    ),
}

# erfc(x) = 2^-P(x), 1 <= x <= 3.95: absolute error 2^-29.3 in erfc.
_ERFC_LOG2_F32 = (0.000510385027, 1.62597477, 0.920765519, 0.148651034, -0.0314581692, 0.00424088025, -0.000267716969)
# 2^r = 1 + r P(r), |r| <= 0.5: relative error 2^-23.2, which counts for an eighth at most in 1 - erfc.
_EXP2_F32 = (1.0, 0.693147004, 0.240222216, 0.055506479, 0.00967284571, 0.0013305638)
# erf is 1 in f32 from here on.
_ERF_ONE_F32 = 3.95

# (1 + 2x) erfcx(x) = P((x - k) / (x + k)), 0 <= x <= 11 (f32), 28 (f64): relative error 2^-25.0, 2^-54.7.
_ERFCX_CENTER = {32: 2.0, 64: 3.5}
_ERFCX = {
    32: (
        1.27697837,
        -0.0927638784,
        -0.166031569,
        0.164052591,
        -0.0542028658,
        -0.00803920534,
        0.00863161962,
        0.00125450816,
        -0.00125180942,
        -0.000343062333,
        3.71963288e-05,
    ),
    64: (
        1.2423492448711544,
        -0.14000918013761926,
        -0.010555596332215368,
        0.09751909515324074,
        -0.11508959816036653,
        0.08798315382549048,
        -0.04882332582375013,
        0.019099330932538853,
        -0.004215019959444429,
        -0.0003022677929617884,
        0.0005643847992858799,
        -0.00012151285122684613,
        -4.278401330800212e-05,
        2.4262293534161684e-05,
        2.333706666485386e-06,
        -3.8170959090418025e-06,
        -5.4806339406360907e-08,
        6.034623875248672e-07,
        4.973465764821714e-09,
        -9.527264914439103e-08,
        -8.357556775922626e-09,
        1.105637989616073e-08,
        2.675613684125051e-09,
    ),
}
# erfc rounds to zero from here on.
_ERFC_ZERO = {32: 10.2, 64: 27.3}


def erf(x: Lanes) -> Lanes:
    """The error function."""
    magnitude = x.abs()
    small = x.fma((x * x).polynomial(_ERF_SMALL[x.bits]), x)
    large = _erf_above_one_f32(magnitude) if x.bits == 32 else 1.0 - _erfc_positive(magnitude)
    return magnitude.compare("olt", 1.0).select(small, large.copysign(x))


def erfc(x: Lanes) -> Lanes:
    """1 - erf(x), to the type's relative precision down to the smallest result."""
    positive = _erfc_positive(x.abs())
    return x.compare("olt", 0.0).select(2.0 - positive, positive)


def _erf_above_one_f32(magnitude: Lanes) -> Lanes:
    """1 - 2^-P(x) for x >= 1."""
    exponent = -magnitude.at_most(_ERF_ONE_F32).polynomial(_ERFC_LOG2_F32)
    nearest = round_to_integer(exponent, 1.0, magnitude.format.bias)
    scale = (nearest.biased << magnitude.format.mantissa_bits).as_float()
    return 1.0 - scale * (exponent - nearest.number).polynomial(_EXP2_F32)


def _erfc_positive(x: Lanes) -> Lanes:
    """exp(-x^2) erfcx(x) for x >= 0."""
    center = _ERFCX_CENTER[x.bits]
    x = x.at_most(_ERFC_ZERO[x.bits])
    t = (x - center) / (x + center)
    scaled = t.polynomial(_ERFCX[x.bits]) / x.fma(2.0, 1.0)
    square = x * x
    rest = x.fma(x, -square)
    # exp(-(square + rest)) = exp(-square) (1 - rest)
    return exp(-square) * scaled.fma(-rest, scaled)
