"""fmod: the remainder of a division that truncates, exact for all operands.

Below a bound on the quotient, x - trunc(x / y) y is exact under fma, but for one y where the rounded quotient reached
the next integer. If one lane lies beyond, a branch takes the whole vector through a long division in f64: each step
subtracts a multiple of y 2^k, whose exponent lies 51 below that of what remains, and is exact too.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f64

from cuvil.codegen.vector_math_lanes import INFINITY, Lanes, choose

# Up to this quotient the integer part is exact, with a bit to spare.
_MODERATE = {32: 2.0**22, 64: 2.0**51}
# The exponents of x and y differ by 276 (f32) or 2097 (f64) at most, of which each step removes 51.
_STEPS = {32: 6, 64: 42}
_STEP_BITS = 51
# Makes every subnormal f64 a normal number.
_NORMALIZING = 54


def fmod(x: Lanes, y: Lanes) -> Lanes:
    """x - trunc(x / y) y, with the sign of x; NaN where x is infinite or y is zero."""
    dividend, divisor = x.abs(), y.abs()
    near = _step(dividend, divisor)
    # An infinite divisor would be 0 * infinity.
    near = dividend.compare("olt", divisor).select(dividend, near)
    is_far = dividend.compare("oge", divisor * _MODERATE[x.bits])
    is_far = is_far & dividend.compare("olt", INFINITY) & divisor.compare("ogt", 0.0)
    result = choose(is_far.any(), lambda: is_far.select(_long_division(dividend, divisor), near), lambda: near, like=x)
    return result.copysign(x)


def _step(dividend: Lanes, divisor: Lanes) -> Lanes:
    """dividend - n * divisor in [0, divisor), for a moderate integer n."""
    rest = (dividend / divisor).trunc().fma(-divisor, dividend)
    return rest.compare("olt", 0.0).select(rest + divisor, rest)


def _long_division(x: Lanes, y: Lanes) -> Lanes:
    builder = x.builder
    dividend, divisor = x.extend(f64), y.extend(f64)
    # Scaled only where it is small: a large divisor would overflow.
    is_small = divisor.compare("olt", 1.0)
    normal = divisor * is_small.select(divisor.like(2.0**_NORMALIZING), 1.0)
    scale = is_small.select(_exponent(normal).like(_NORMALIZING), 0)
    exponent = _exponent(normal) - scale
    with builder.for_(0, _STEPS[x.bits], init=(dividend.value,)) as loop:
        rest = Lanes(builder, loop.carried[0])
        shift = (_exponent(rest) - exponent - _STEP_BITS).max_signed(0) - scale
        # Two factors: the difference of exponents may exceed what one float can hold.
        half = shift >> 1
        multiple = normal * half.power_of_two() * (shift - half).power_of_two()
        loop.yield_(_step(rest, multiple).value)
    result = Lanes(builder, loop.results[0])
    return result if x.bits == 64 else result.truncate(x.format.type)


def _exponent(x: Lanes) -> Lanes:
    """The exponent of a positive normal number."""
    form = x.format
    return x.as_bits().logical_right(form.mantissa_bits) - form.bias
