"""Special functions: lgamma, digamma, erfinv and the modified Bessel functions i0 and i1.

They are composed of scalar functions in float64 and rounded once, which costs little where they are used at all and
keeps every dtype within a rounding of the true value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps

from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from cuvil.frontends.aten_builder import GraphBuilder, aten, element_type

Special = Callable[[GraphBuilder, SSAValue], SSAValue]


def _special(*names: str) -> Callable[[Special], Special]:
    """Put a function in the table that is computed in float64."""

    def put(build: Special) -> Special:
        @wraps(build)
        def wide(b: GraphBuilder, x: SSAValue) -> SSAValue:
            return b.cast(build(b, b.cast(x, f64)), element_type(b))

        aten(*names)(wide)
        return build

    return put


def _polynomial(b: GraphBuilder, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """The coefficient of the highest power first."""
    result = b.apply("add", b.apply("mul", x, coefficients[0]), coefficients[1])
    for coefficient in coefficients[2:]:
        result = b.apply("add", b.apply("mul", result, x), coefficient)
    return result


# Lanczos' approximation with g = 7 and 9 terms (P. Godfrey's coefficients): relative error below 1e-15.
_LANCZOS = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


@_special("lgamma", "special_gammaln")
def lgamma(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """log |gamma(x)|; reflected below 1/2."""
    is_low = b.apply("lt", x, 0.5)
    y = b.apply("sub", b.apply("select", is_low, b.apply("add", b.apply("neg", x), 1.0), x), 1.0)
    total = b.full(0.99999999999980993, f64, b.shape)
    for number, coefficient in enumerate(_LANCZOS, 1):
        quotient = b.apply("div", b.full(coefficient, f64, b.shape), b.apply("add", y, float(number)))
        total = b.apply("add", total, quotient)
    t = b.apply("add", y, 7.5)
    result = b.apply("sub", b.apply("mul", b.apply("add", y, 0.5), b.apply("log", t)), t)
    result = b.apply("add", b.apply("add", result, b.apply("log", total)), 0.5 * math.log(2.0 * math.pi))
    rest = b.apply("sub", x, b.apply("round", x))
    sine = b.apply("abs", b.apply("sin", b.apply("mul", rest, math.pi)))
    reflected = b.apply("sub", b.apply("sub", b.full(math.log(math.pi), f64, b.shape), b.apply("log", sine)), result)
    result = b.apply("select", is_low, reflected, result)
    is_zero = b.apply("or", b.apply("eq", x, 1.0), b.apply("eq", x, 2.0))
    result = b.apply("select", is_zero, b.full(0.0, f64, b.shape), result)
    return b.apply("select", b.apply("isinf", x), b.full(math.inf, f64, b.shape), result)


_BERNOULLI_OVER_2K = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
_SHIFT = 10


@_special("digamma", "special_digamma", "special_psi")
def digamma(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """The derivative of lgamma: infinite at 0, NaN at negative integers."""
    is_low = b.apply("lt", x, 0.0)
    y = b.apply("select", is_low, b.apply("add", b.apply("neg", x), 1.0), x)
    z = b.apply("add", y, float(_SHIFT))
    square = b.apply("reciprocal", b.apply("mul", z, z))
    series = b.apply("mul", _polynomial(b, square, _BERNOULLI_OVER_2K), square)
    result = b.apply("sub", b.apply("log", z), b.apply("mul", b.apply("reciprocal", z), 0.5))
    result = b.apply("sub", result, series)
    for step in range(_SHIFT):
        result = b.apply("sub", result, b.apply("reciprocal", b.apply("add", y, float(step))))
    rest = b.apply("sub", x, b.apply("trunc", x))
    tangent = b.apply("tan", b.apply("mul", rest, math.pi))
    reflected = b.apply("sub", result, b.apply("mul", b.apply("reciprocal", tangent), math.pi))
    reflected = b.apply("select", b.apply("eq", rest, 0.0), b.full(math.nan, f64, b.shape), reflected)
    result = b.apply("select", is_low, reflected, result)
    at_zero = b.apply("copysign", b.full(math.inf, f64, b.shape), b.apply("neg", x))
    return b.apply("select", b.apply("eq", x, 0.0), at_zero, result)


@_special("erfinv", "special_erfinv", "erf_inv")
def erfinv(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """A rational approximation, and steps of Newton's method; infinite at -1 and 1, NaN beyond."""
    size = b.apply("abs", x)
    z = b.apply("mul", x, x)
    top = _polynomial(b, z, (-0.140543331, 0.914624893, -1.645349621, 0.886226899))
    bottom = _polynomial(b, z, (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0))
    central = b.apply("div", b.apply("mul", x, top), bottom)
    distance = b.apply("mul", b.apply("add", b.apply("neg", size), 1.0), 0.5)
    z = b.apply("sqrt", b.apply("neg", b.apply("log", distance)))
    top = _polynomial(b, z, (1.641345311, 3.429567803, -1.624906493, -1.970840454))
    bottom = _polynomial(b, z, (1.637067800, 3.543889200, 1.0))
    tail = b.apply("div", b.apply("copysign", top, x), bottom)
    result = b.apply("select", b.apply("le", size, 0.7), central, tail)
    for _ in range(3):
        slope = b.apply("mul", b.apply("exp", b.apply("neg", b.apply("mul", result, result))), 2 / math.sqrt(math.pi))
        result = b.apply("sub", result, b.apply("div", b.apply("sub", b.apply("erf", result), x), slope))
    infinite = b.apply("copysign", b.full(math.inf, f64, b.shape), x)
    result = b.apply("select", b.apply("eq", size, 1.0), infinite, result)
    return b.apply("select", b.apply("gt", size, 1.0), b.full(math.nan, f64, b.shape), result)


_LARGEST_BY_SERIES = 30.0
_SERIES_TERMS = 70
_ASYMPTOTIC_TERMS = 18


def _bessel(b: GraphBuilder, x: SSAValue, order: int, scaled: bool) -> SSAValue:
    """The power series up to 30, beyond it the asymptotic one; `scaled`: times exp(-|x|)."""
    size = b.apply("abs", x)
    near = b.apply("min", size, _LARGEST_BY_SERIES)
    quarter = b.apply("mul", b.apply("mul", near, near), 0.25)
    terms = [1.0 / (math.factorial(k) * math.factorial(k + order)) for k in reversed(range(_SERIES_TERMS))]
    series = _polynomial(b, quarter, terms)
    if order == 1:
        series = b.apply("mul", series, b.apply("mul", near, 0.5))
    decay = b.apply("exp", b.apply("neg", near))
    far = b.apply("max", size, _LARGEST_BY_SERIES)
    factors = [1.0]
    for k in range(1, _ASYMPTOTIC_TERMS):
        factors.append(-factors[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8.0 * k))
    inverse = b.apply("reciprocal", far)
    beyond = _polynomial(b, inverse, factors[::-1])
    beyond = b.apply("mul", beyond, b.apply("rsqrt", b.apply("mul", far, 2 * math.pi)))
    if scaled:
        series = b.apply("mul", series, decay)
    else:
        beyond = b.apply("mul", beyond, b.apply("exp", far))
    result = b.apply("select", b.apply("gt", size, _LARGEST_BY_SERIES), beyond, series)
    result = b.apply("select", b.apply("isnan", x), x, result)
    return b.apply("mul", result, b.apply("sign", x)) if order == 1 else result


@_special("i0", "special_i0", "bessel_i0")
def i0(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """The modified Bessel function of order 0."""
    return _bessel(b, x, 0, False)


@_special("special_i0e", "bessel_i0e")
def i0e(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """i0(x) * exp(-|x|)."""
    return _bessel(b, x, 0, True)


@_special("special_i1", "bessel_i1")
def i1(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """The modified Bessel function of order 1."""
    return _bessel(b, x, 1, False)


@_special("special_i1e", "bessel_i1e")
def i1e(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """i1(x) * exp(-|x|)."""
    return _bessel(b, x, 1, True)
