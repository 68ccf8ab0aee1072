"""erf and erfc."""

from __future__ import annotations

from cuvil.codegen.vector_math_exponential import round_to_integer
from cuvil.codegen.vector_math_lanes import Lanes

# erf(x) = x + x P(x^2), |x| <= 1: relative error 2^-29.3.
_ERF_SMALL_F32 = (0.128379166, -0.37612626, 0.112835787, -0.0268533472, 0.0051871622, -0.000799785252, 7.80689807e-05)
# erfc(x) = 2^-P(x), 1 <= x <= 3.95: absolute error 2^-29.3 in erfc.
_ERFC_LOG2_F32 = (0.000510385027, 1.62597477, 0.920765519, 0.148651034, -0.0314581692, 0.00424088025, -0.000267716969)
# 2^r = 1 + r P(r), |r| <= 0.5: relative error 2^-23.2, which counts for an eighth at most in 1 - erfc.
_EXP2_F32 = (1.0, 0.693147004, 0.240222216, 0.055506479, 0.00967284571, 0.0013305638)
# erf is 1 in f32 from here on.
_ERF_ONE_F32 = 3.95


def erf(x: Lanes) -> Lanes:
    """The error function."""
    return _erf_f32(x)


def _erf_f32(x: Lanes) -> Lanes:
    """A polynomial below 1, above it 1 - 2^-P(|x|)."""
    small = x.fma((x * x).polynomial(_ERF_SMALL_F32), x)
    magnitude = x.abs()
    exponent = -magnitude.at_most(_ERF_ONE_F32).polynomial(_ERFC_LOG2_F32)
    nearest = round_to_integer(exponent, 1.0, x.format.bias)
    scale = (nearest.biased << x.format.mantissa_bits).as_float()
    large = 1.0 - scale * (exponent - nearest.number).polynomial(_EXP2_F32)
    return magnitude.compare("olt", 1.0).select(small, large.copysign(x))
