"""rsqrt, cbrt and powers.

pow is exp2(y * log2|x|) with C's special cases around it. The product's absolute error becomes the result's relative
error, so the logarithm needs more bits than the type has: f32 computes it in f64; f64 as an unevaluated sum of two f64
(Dekker, Numer. Math. 18, 1971) through log(m) = 2 atanh(s), s = (m - 1) / (m + 1), where only the first two terms of
the series need both parts. Small constant exponents become multiplications.

Coefficients: relative minimax by Remez's exchange, rounded one at a time.
"""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, f32, f64
from xdsl.ir import SSAValue

from cuvil.codegen.vector_math_exponential import Split, exp2_of_sum
from cuvil.codegen.vector_math_lanes import INFINITY, NAN, Lanes
from cuvil.codegen.vector_math_logarithm import LOG2_E, decompose_any

# log2(1 + f) = f P(f) in f64 for f32's power: relative error 2^-34.7.
_LOG2_F32 = (
    1.4426950408686894,
    -0.7213475213795784,
    0.48089836100191363,
    -0.3606735702789049,
    0.28853731923579823,
    -0.24045918985113743,
    0.20617705852991342,
    -0.1801568595356847,
    0.15865728643926508,
    -0.14468396761557353,
    0.1466303783034067,
    -0.136830128568075,
    0.06765281735974488,
)
# 2^r = P(r), |r| <= 0.5, in f64: relative error 2^-28.9.
_EXP2_F32 = (
    1.000000000558681,
    0.6931472058862153,
    0.2402264686695695,
    0.05550328452128718,
    0.009618490592275573,
    0.001340006735850905,
    0.00015345661132177668,
)
# 2 atanh(s) = 2 s + 2/3 s^3 + s^5 P(s^2), |s| <= 0.1718: relative error 2^-66.2.
_ATANH_F64 = (
    0.4000000000000228,
    0.28571428570087837,
    0.22222222522199994,
    0.18181784153417624,
    0.1538676778435355,
    0.13256561301428443,
    0.13198820693884245,
)


_TWO_THIRDS = Split(0.6666666666666666, 3.700743415417188e-17)
_EXP2_RANGE_F32 = Split(130.0, -152.0)
_LARGEST = {32: 3.4028234663852886e38, 64: 1.7976931348623157e308}


def rsqrt(x: Lanes) -> Lanes:
    """1 / sqrt(x), each step correctly rounded."""
    return 1.0 / x.sqrt()


def cbrt(x: Lanes) -> Lanes:
    """The cube root: an estimate through the exponent bits, then Halley's iteration."""
    magnitude = x.abs()
    # Scaled so that neither the smallest nor the largest numbers leave the normal range on the way.
    is_small = magnitude.compare("olt", 2.0**-100)
    scaled = magnitude * is_small.select(x.like(2.0**60), 0.125)
    root = _cube_root_estimate(scaled)
    # Each step triples the digits: 4 % => 4e-5 => 6e-14 => below f64's.
    for _ in range(2 if x.bits == 32 else 3):
        excess = (root * root).fma(root, -scaled)
        root = root - root * (1 / 3) * (excess / excess.fma(2 / 3, scaled))
    root = root * is_small.select(x.like(2.0**-20), 2.0)
    root = magnitude.compare("olt", INFINITY).select(root, magnitude)
    return magnitude.compare("oeq", 0.0).select(x, root.copysign(x))


def _cube_root_estimate(x: Lanes) -> Lanes:
    """The cube root of a positive normal number within 4 %: its bits are nearly its logarithm, so divide them by 3."""
    form = x.format
    # Few enough bits for the magic number, whose own bits the shift back drops.
    fraction_bits = 13
    shift = form.mantissa_bits - fraction_bits
    logarithm = x.as_bits().logical_right(shift).small_int_as_float()
    # The bias counts once, not a third of it; the last term centres the error.
    offset = round(form.bias * 2**fraction_bits * 2 / 3 - 0.0287 * 2**fraction_bits)
    return (logarithm.fma(1 / 3, form.magic + offset).as_bits() << shift).as_float()


def pow(x: Lanes, y: Lanes) -> Lanes:
    """x to the power y, with C's special cases."""
    exponent = _constant_of(y.value)
    if exponent is not None and (simple := _simple_power(x, exponent)) is not None:
        return simple
    magnitude = x.abs()
    largest = _LARGEST[x.bits]
    # A finite y keeps 1 to the power infinity from being 0 * infinity.
    result = _power_of_positive(magnitude, y.at_most(largest).at_least(-largest))
    half = y * 0.5
    is_fractional = y.trunc().compare("une", y)
    is_even = is_fractional | half.trunc().compare("oeq", half)
    result = is_even.select(result, result.copysign(x))
    is_undefined = x.compare("olt", 0.0) & magnitude.compare("olt", INFINITY) & is_fractional
    result = is_undefined.select(x.like(NAN), result)
    is_one = x.compare("oeq", 1.0) | y.compare("oeq", 0.0)
    return is_one.select(x.like(1.0), result)


def fpowi(x: Lanes, n: Lanes) -> Lanes:
    """x to the power of an integer."""
    exponent = _constant_of(n.value)
    if exponent is not None and (simple := _simple_power(x, exponent)) is not None:
        return simple
    result = _power_of_positive(x.abs(), n.int_as_float_of(f64))
    result = (n & 1).compare("ne", 0).select(result.copysign(x), result)
    return n.compare("eq", 0).select(x.like(1.0), result)


def ipowi(x: Lanes, n: Lanes) -> Lanes:
    """An integer to the power of an integer, wrapping around; a negative power of anything but +-1 is 0."""
    exponent = _constant_of(n.value)
    if exponent is not None and 0 <= exponent <= 64:
        return _repeated_product(x, int(exponent))
    builder = x.builder
    with builder.for_(0, x.bits, init=(x.like(1).value, x.value, n.value)) as loop:
        result, base, rest = (Lanes(builder, value) for value in loop.carried)
        result = (rest & 1).compare("ne", 0).select(result * base, result)
        loop.yield_(result.value, (base * base).value, rest.logical_right(1).value)
    # Base -1, 0 or 1 came out right already.
    is_reciprocal = n.compare("slt", 0) & (x + 1).compare("ugt", 2)
    return is_reciprocal.select(x.like(0), Lanes(builder, loop.results[0]))


# -- constant exponents ------------------------------------------------------------------------------------------------


def _constant_of(value: SSAValue) -> float | None:
    """The number that a constant has in all its lanes, or None."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        return _constant_of(owner.source)
    attribute = owner.value if isinstance(owner, arith.ConstantOp) else None
    if isinstance(attribute, FloatAttr | IntegerAttr):
        return attribute.value.data
    if isinstance(attribute, DenseIntOrFPElementsAttr) and attribute.is_splat():
        return next(iter(attribute.get_values()))  # pyright: ignore
    return None


def _simple_power(x: Lanes, exponent: float) -> Lanes | None:
    """x to a power that takes a few operations and stays within 2 ulp, or None."""
    if exponent in (0, 1, 2, 3, 4):
        return _repeated_product(x, int(exponent))
    if exponent == -1:
        return 1.0 / x
    if abs(exponent) == 0.5:
        # sqrt(-0) is -0 and sqrt(-infinity) is NaN, where pow has +0 and infinity.
        root = x.compare("oeq", -INFINITY).select(x.like(INFINITY), (x + 0.0).sqrt())
        return root if exponent > 0 else 1.0 / root
    return None


def _repeated_product(x: Lanes, exponent: int) -> Lanes:
    """x to a non-negative power by squaring."""
    result: Lanes | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        if exponent:
            x = x * x
    return result if result is not None else x.like(1)


# -- the positive base -------------------------------------------------------------------------------------------------


def _power_of_positive(x: Lanes, y: Lanes) -> Lanes:
    """exp2(y * log2(x)) for x >= 0 (or NaN) and finite y; of y = 0 and x = 0 or infinity it is NaN."""
    return _power_f32(x, y) if x.bits == 32 else _power_f64(x, y)


def _with_log2_specials(x: Lanes, result: Lanes) -> Lanes:
    """`result` where x is positive and finite; x itself where it is infinite or NaN, -infinity at zero."""
    finite = x.compare("olt", INFINITY).select(result, x.extend(f64))
    return x.compare("oeq", 0.0).select(result.like(-INFINITY), finite)


def _power_f32(x: Lanes, y: Lanes) -> Lanes:
    """In f64 throughout; its range leaves overflow and underflow to the rounding at the end."""
    fraction, exponent, _ = decompose_any(x)
    fraction = fraction.extend(f64)
    logarithm = fraction.fma(fraction.polynomial(_LOG2_F32), exponent.extend(f64))
    product = y.extend(f64) * _with_log2_specials(x, logarithm)
    product = product.at_most(_EXP2_RANGE_F32.high).at_least(_EXP2_RANGE_F32.low)
    form = product.format
    shifted = product + (form.magic + form.bias)
    scale = (shifted.as_bits() << form.mantissa_bits).as_float()
    rest = product - (shifted - (form.magic + form.bias))
    return (rest.polynomial(_EXP2_F32) * scale).truncate(f32)


def _power_f64(x: Lanes, y: Lanes) -> Lanes:
    fraction, exponent, _ = decompose_any(x)
    log_high, log_low = _log2_sum(fraction, exponent)
    log_high = _with_log2_specials(x, log_high)
    high = y * log_high
    low = y.fma(log_low, y.fma(log_high, -high))
    return exp2_of_sum(high, low)


def _log2_sum(f: Lanes, exponent: Lanes) -> tuple[Lanes, Lanes]:
    """exponent + log2(1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1), to about 2^-66, as high + low."""
    # s = f / (2 + f) and the rest that its rounding left.
    divisor = f + 2.0
    divisor_rest = f - (divisor - 2.0)
    reciprocal = 1.0 / divisor
    s = f * reciprocal
    s_rest = (s.fma(-divisor, f) - s * divisor_rest) * reciprocal
    square = s * s
    square_rest = s.fma(s, -square) + (s + s) * s_rest
    cube = s * square
    cube_rest = s.fma(square, -cube) + s.fma(square_rest, s_rest * square)
    # 2/3 + s^2 P(s^2), then times s^3.
    series = square * square.polynomial(_ATANH_F64)
    factor = series + _TWO_THIRDS.high
    factor_rest = (series - (factor - _TWO_THIRDS.high)) + _TWO_THIRDS.low
    tail = cube * factor
    tail_rest = cube.fma(factor, -tail) + cube.fma(factor_rest, cube_rest * factor)
    # log(1 + f) = 2 s + tail, then times log2(e), then the exponent: each sum has its larger term first.
    twice = s + s
    natural = twice + tail
    natural_rest = ((twice - natural) + tail) + ((s_rest + s_rest) + tail_rest)
    binary = natural * LOG2_E[64].high
    binary_rest = natural.fma(LOG2_E[64].high, -binary) + natural.fma(LOG2_E[64].low, natural_rest * LOG2_E[64].high)
    total = exponent + binary
    total_rest = ((exponent - total) + binary) + binary_rest
    # Where the exponent is 0 the sum is exact but its order is the wrong one, harmlessly: the difference is 0.
    return total, total_rest
